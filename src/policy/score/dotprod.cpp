#include "policy/score/dotprod.h"

#include "policy/score/published.h"

namespace ashlar {

void add_dotprod(const NodeView& view, NodeRange rows, std::span<Points> points) {
  const auto cpu = view.nodes.free(resource::kCpu).subspan(rows.first, rows.count);
  const auto gpu = view.nodes.free_milli().subspan(rows.first, rows.count);
  const double cpu_asked = static_cast<double>(amount_of(view.demand, resource::kCpu)) / kPublishedCpuMilliMax;
  const double gpu_asked = static_cast<double>(view.demand.devices.milli_total()) / kPublishedGpuMilliMax;
  for (std::size_t i = 0; i < rows.count; ++i) {
    double product = 0;
    product += static_cast<double>(cpu[i]) / kPublishedCpuMilliMax * cpu_asked;
    product += static_cast<double>(gpu[i]) / kPublishedGpuMilliMax * gpu_asked;
    points[i] += truncated(kPublishedScoreMax * (1.0 - product / 2.0));
  }
}

}  // namespace ashlar
