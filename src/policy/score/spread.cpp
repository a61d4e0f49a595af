#include "policy/score/spread.h"

#include <algorithm>

namespace ashlar {

void add_spread(const NodeView& view, NodeRange rows, std::span<Points> points) {
  if (view.demand.devices.count > 0) {
    const auto free = view.nodes.free_milli().subspan(rows.first, rows.count);
    const auto devices = view.nodes.devices().subspan(rows.first, rows.count);
    for (std::size_t i = 0; i < rows.count; ++i)
      points[i] += std::clamp(free[i] / std::max(devices[i], 1), 0, kPointsMax);
    return;
  }
  const auto free = view.nodes.free(resource::kCpu).subspan(rows.first, rows.count);
  const auto total = view.nodes.allocatable(resource::kCpu).subspan(rows.first, rows.count);
  for (std::size_t i = 0; i < rows.count; ++i) {
    const double share = static_cast<double>(std::max<std::int64_t>(free[i], 0)) /
                         static_cast<double>(std::max<std::int64_t>(total[i], 1));
    points[i] += static_cast<Points>(std::min(share, 1.0) * kPointsMax);
  }
}

}  // namespace ashlar
