#include "policy/score/fgd.h"

#include "policy/score/fgd/mix.h"

namespace ashlar {
namespace {

constexpr Points kPointsWithoutMix = 50;  ///< int(100 x sigmoid(0)): nothing is expected, so nothing is lost

}  // namespace

void add_fgd(const NodeView& view, NodeRange rows, std::span<Points> points) {
  if (view.mix == nullptr || view.mix->is_empty()) {
    for (Points& p : points.first(rows.count)) p += kPointsWithoutMix;
    return;
  }
  FgdEvaluator& evaluator = view.mix->evaluator();
  const DeviceRequest& request = view.demand.devices;
  const std::int64_t cpu_asked = amount_of(view.demand, resource::kCpu);
  const auto cpu = view.nodes.free(resource::kCpu).subspan(rows.first, rows.count);
  const auto idle = view.nodes.idle_devices().subspan(rows.first, rows.count);
  const auto models = view.nodes.models().subspan(rows.first, rows.count);
  for (std::size_t i = 0; i < rows.count; ++i) {
    // does not fit: its points are ignored
    if (cpu[i] < cpu_asked || (request.is_whole() && idle[i] < request.count)) continue;
    points[i] +=
        evaluator.best({cpu[i], models[i], view.nodes.device_free_milli(NodeId(rows.first + i))}, cpu_asked, request)
            .score;
  }
}

}  // namespace ashlar
