// preferred: what a node has of the facts that a member prefers: preferred node affinity, soft taints.
// Example: preferences {ssd: 80, zone-a: 20} and a node with ssd in zone b: 80. By facts. Cost: O(terms x log labels +
// taints x tolerations) per node.
#pragma once

#include "model/constraint.h"

namespace ashlar {

/// Sum of the weights of the preferred terms that hold.
std::int32_t weights_held(const Constraint& constraint, const NodeFacts& facts);
/// Number of PreferNoSchedule taints that are not tolerated.
std::int32_t untolerated_soft_taints(const Constraint& constraint, const NodeFacts& facts);

}  // namespace ashlar
