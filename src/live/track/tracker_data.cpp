#include "live/track/tracker_data.h"

namespace ashlar::kube {

TrackerData::TrackerData(TrackerOptions with, EventBuffer& to, TrackerListeners reported)
    : Tables(with.levels),
      options(std::move(with)),
      out(to),
      listeners(std::move(reported)),
      translator(names, out, [this](const PooledString& ns) { return labels_of_namespace(ns); }),
      anti_affinity([this](const PooledString& ns) { return labels_of_namespace(ns); }),
      exclusion_constraints(anti_affinity, translator),
      default_spread(options.spread_defaults),
      queue_book(options.queues, options.read_queue) {
  if (options.has_readers) start_journal();
  for (const std::string& name : options.scheduler_names) scheduler_names.emplace_back(name);
  for (const StatedClass& stated : options.device_classes) device_classes.push_back(names.define_class(stated));
  for (const std::string& model : options.models) names.configured_model(PooledString(model));
  names.queues.of(PooledString("root"));
}
TrackerData::~TrackerData() = default;

}  // namespace ashlar::kube
