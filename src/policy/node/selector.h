// selector: the node's labels satisfy the selector (nodeSelector, nodeName) and one of the required node affinity terms, as Kubernetes reads them.
// Example: selector pool=a and terms [zone in (x, y)], [zone not exists]: a node pool=a, zone=x fits; pool=a, zone=z does not.
// Static. Cost: O(expressions x log labels) a node.
#pragma once

#include "policy/policy.h"

namespace ashlar {

void lower_by_selector(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits);

}  // namespace ashlar
