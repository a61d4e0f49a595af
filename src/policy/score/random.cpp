#include "policy/score/random.h"

#include "base/digest.h"

namespace ashlar {

void add_random(const NodeView& view, NodeRange rows, std::span<Points> points) {
  for (std::size_t i = 0; i < rows.count; ++i) {
    const std::uint64_t bits = mix64(view.draw ^ mix64(rows.first + i + 1));
    points[i] += static_cast<Points>(((bits >> 32) * static_cast<std::uint64_t>(kDomainPointsMax)) >> 32);
  }
}

}  // namespace ashlar
