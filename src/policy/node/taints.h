// taints: every NoSchedule and NoExecute taint of the node is tolerated. PreferNoSchedule is left to the score policy
// `prefer`.
// Example: taint gpu=true:NoSchedule and toleration {key gpu, operator Exists}: fits.
// By facts. Cost: O(taints x tolerations) per node, negligible on nodes without taints.
#pragma once

#include "model/constraint.h"

namespace ashlar {

bool taints_tolerated(const Constraint& constraint, const NodeFacts& facts);

}  // namespace ashlar
