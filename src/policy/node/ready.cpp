#include "policy/node/ready.h"

namespace ashlar {

void lower_by_ready(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) {
  for (std::size_t i = 0; i < rows.count; ++i) {
    const NodeId node(rows.first + i);
    if (!view.cluster.is_live(node) || !view.cluster.facts(node).is_ready) fits[i] = 0;
  }
}

}  // namespace ashlar
