// model: the node's accelerator is one of the models that the member accepts; a member that names none accepts every node.
// Example: models {V100, T4} on a T4 node: fits. On a node of unknown model: does not.
// Static: depends on node facts only. Cost: O(models named) a node.
#pragma once

#include "policy/policy.h"

namespace ashlar {

void lower_by_model(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits);

}  // namespace ashlar
