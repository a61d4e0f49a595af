// volumes: the node is one where each of the member's volumes can be used: by labels, one term of each list.
// Example: lists {[zone in (a)]} and {[zone in (a)], [zone in (b)]}: a node of zone a fits, one of zone b does not. By
// facts. Cost: O(expressions x log labels) per node.
#pragma once

#include "model/constraint.h"

namespace ashlar {

bool are_volumes_usable(const Constraint& constraint, const NodeFacts& facts);

}  // namespace ashlar
