#include "policy/score/best_fit_domain.h"

#include <algorithm>

namespace ashlar {

void add_best_fit_domain(const NodeView& view, std::span<Points> points) {
  const auto idle = view.nodes.group_idle_devices();
  const std::size_t counted = std::min(points.size(), idle.size());
  for (std::size_t g = 0; g < counted; ++g)
    points[g] += kDomainPointsMax - static_cast<Points>(std::clamp<std::int64_t>(idle[g], 0, kDomainPointsMax));
  for (std::size_t g = counted; g < points.size(); ++g) points[g] += kDomainPointsMax;
}

}  // namespace ashlar
