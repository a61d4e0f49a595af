#include "live/read/queue_limits.h"

#include <set>

#include "base/grown.h"
#include "live/track/translate.h"

namespace ashlar::kube {

std::string_view ReadLimit::unit() const {
  if (of.resource.is_none()) return "milliGpu";
  if (of.resource == resource::kCpu) return "milliCores";
  return of.resource == resource::kMemory || of.resource == resource::kEphemeralStorage ? "bytes" : "count";
}

double ReadLimit::in_whole_units(std::int64_t amount) const {
  const bool is_milli = of.resource.is_none() || of.resource == resource::kCpu;
  return static_cast<double>(amount) / (is_milli ? 1000 : 1);
}

namespace {

ReadLimit named(const ObjectNames& names, const QuotaKey& of, std::int64_t used, std::int64_t limit) {
  return {.of = of,
          .resource = of.resource.is_none() ? std::string(kGpuResource) : names.resource_name(of.resource).str(),
          .model = of.device_class.is_none() ? std::string() : names.models.name(of.device_class).str(),
          .used = used,
          .limit = limit};
}

}  // namespace

std::vector<ReadLimit> limits_of(const State& state, const ObjectNames& names, QueueId queue) {
  const QueueTree& tree = state.queues();
  std::vector<ReadLimit> limits;
  const auto add = [&](const QuotaKey& of, std::int64_t used, std::int64_t limit) {
    if (limit != kUnlimited) limits.push_back(named(names, of, used, limit));
  };
  for (std::size_t d = 0; d < kQuotaDimensions; ++d)
    add(quota_key(static_cast<std::int64_t>(d)), tree.used(queue)[d], tree.quota(queue)[d]);
  for (std::size_t k = 0; k < tree.keys().size(); ++k) add(tree.keys()[k], tree.used(k, queue), tree.limit(k, queue));
  return limits;
}

std::vector<ReadGuarantee> guarantees_of(const State& state, const ObjectNames& names, QueueId queue) {
  const QueueTree& tree = state.queues();
  std::vector<ReadGuarantee> guarantees;
  for (const QueueShares::Column& column : tree.shares().columns()) {
    const std::int64_t stated = QueueShares::stated(column, queue), borrows = QueueShares::borrows(column, queue);
    const bool is_all = tree.parent(queue).is_none() && stated == QuotaShare::kNotNamed;  // what the nodes have
    const std::int64_t in_force = is_all ? 0 : QueueShares::guarantee(column, queue);
    if (in_force == 0 && stated == QuotaShare::kNotNamed && borrows == kUnlimited) continue;
    guarantees.push_back(
        {.counted = named(names, column.of, tree.used(column.of, queue), QueueShares::limit(column, queue)),
         .stated = stated,
         .in_force = in_force,
         .borrows = borrows,
         .lends = QueueShares::lends(column, queue)});
  }
  return guarantees;
}

void write_guarantees(JsonWriter& w, std::span<const ReadGuarantee> guarantees) {
  w.key("guarantees").begin_array();
  for (const ReadGuarantee& guarantee : guarantees) {
    w.begin_object()
        .member("resource", guarantee.counted.resource)
        .member("model", guarantee.counted.model)
        .member("unit", guarantee.counted.unit())
        .member("used", guarantee.counted.used)
        .member("inForce", guarantee.in_force);
    if (guarantee.stated != QuotaShare::kNotNamed) w.member("stated", guarantee.stated);
    if (guarantee.borrows != kUnlimited) w.member("borrowLimit", guarantee.borrows);
    if (guarantee.lends != kUnlimited) w.member("lendLimit", guarantee.lends);
    w.end_object();
  }
  w.end_array();
}

std::vector<std::int64_t> nodes_by_model(const Cluster& cluster) {
  std::vector<std::int64_t> counts;
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    if (!cluster.is_live(NodeId(row)) || cluster.devices()[row] == 0) continue;
    std::set<DeviceClassId> classes;
    if (const DeviceLayout* mixed = cluster.mixed_layout(NodeId(row)); mixed != nullptr)
      for (const DeviceFacts& device : mixed->devices) classes.insert(device.device_class);
    else
      classes.insert(cluster.models()[row]);
    for (const DeviceClassId device_class : classes)
      if (!device_class.is_none()) ++grown(counts, device_class.row());
  }
  return counts;
}

void write_limits(JsonWriter& w, std::span<const ReadLimit> limits, std::span<const std::int64_t> nodes_by_model) {
  w.key("limits").begin_array();
  for (const ReadLimit& limit : limits) {
    w.begin_object()
        .member("resource", limit.resource)
        .member("model", limit.model)
        .member("unit", limit.unit())
        .member("used", limit.used)
        .member("limit", limit.limit);
    if (const std::size_t row = limit.of.device_class.row(); !limit.of.device_class.is_none())
      w.member("nodes", row < nodes_by_model.size() ? nodes_by_model[row] : 0);
    w.end_object();
  }
  w.end_array();
}

void write_gate(JsonWriter& w, const QueueGate& gate) {
  switch (gate.is) {
    case QueueGate::Is::kOpen:
      return;
    case QueueGate::Is::kHeld:
      w.member("gate", "Held");
      return;
    case QueueGate::Is::kDraining:
      w.member("gate", "Draining");
      return;
    case QueueGate::Is::kStopped:
      w.member("gate", "Stopped");
      return;
  }
}

}  // namespace ashlar::kube
