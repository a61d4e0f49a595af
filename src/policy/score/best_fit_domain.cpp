#include "policy/score/best_fit_domain.h"

#include <algorithm>

namespace ashlar {

void add_best_fit_domain(const NodeView& view, std::span<Points> points) {
  const auto idle = view.nodes.group_idle_devices();
  for (std::size_t g = 0; g < points.size(); ++g) {
    const std::int64_t devices = g < idle.size() ? idle[g] : 0;
    points[g] += kDomainPointsMax - static_cast<Points>(std::clamp<std::int64_t>(devices, 0, kDomainPointsMax));
  }
}

}  // namespace ashlar
