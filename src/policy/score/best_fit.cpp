#include "policy/score/best_fit.h"

#include "policy/score/published.h"

namespace ashlar {

void add_best_fit(const NodeView& view, NodeRange rows, std::span<Points> points) {
  const auto cpu = view.nodes.free(resource::kCpu).subspan(rows.first, rows.count);
  const auto gpu = view.nodes.free_milli().subspan(rows.first, rows.count);
  const std::int64_t cpu_asked = amount_of(view.demand, resource::kCpu);
  const auto gpu_asked = static_cast<std::int32_t>(view.demand.devices.milli_total());
  for (std::size_t i = 0; i < rows.count; ++i) {
    double left = 0;
    left += static_cast<double>(cpu[i] - cpu_asked) / kPublishedCpuMilliMax * 0.5;
    left += static_cast<double>(gpu[i] - gpu_asked) / kPublishedGpuMilliMax * 0.5;
    points[i] += truncated((1.0 - left) * kPublishedScoreMax);
  }
}

}  // namespace ashlar
