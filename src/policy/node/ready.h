// ready: the node exists and takes new pods (Ready, not cordoned).
// Example: a cordoned node keeps its pods and gets no more. Static. Cost: two bytes a node.
#pragma once

#include "policy/policy.h"

namespace ashlar {

void lower_by_ready(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits);

}  // namespace ashlar
