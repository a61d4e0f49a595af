#include "policy/node/taints.h"

namespace ashlar {

void lower_by_taints(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) {
  for (std::size_t i = 0; i < rows.count; ++i)
    if (fits[i] != 0 && !taints_tolerated(view.constraint, view.cluster.facts(NodeId(rows.first + i)))) fits[i] = 0;
}

}  // namespace ashlar
