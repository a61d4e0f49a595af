// taints: every NoSchedule and NoExecute taint of the node is tolerated. PreferNoSchedule is the score policy `prefer`'s business.
// Example: taint gpu=true:NoSchedule and toleration {key gpu, operator Exists}: fits.
// Static. Cost: O(taints x tolerations) a node, nothing to speak of on nodes without taints.
#pragma once

#include "policy/policy.h"

namespace ashlar {

void lower_by_taints(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits);

}  // namespace ashlar
