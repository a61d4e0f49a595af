// anti-affinity: no pod in a domain of the node excludes the member by required anti-affinity of its own.
// Example: a pod in rack r0 keeps pods with app=web out of its rack; a member with app=web fits no node of r0. By
// facts. Cost: as the selector's.
#pragma once

#include "model/constraint.h"

namespace ashlar {

bool anti_affinity_holds(const Constraint& constraint, const NodeFacts& facts);

}  // namespace ashlar
