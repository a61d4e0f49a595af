// anti-affinity: no pod in a domain of the node keeps the member away by required anti-affinity of its own.
// Example: a pod in rack r0 keeps pods with app=web out of its rack; a member with app=web fits no node of r0. By
// the counts of placed pods. Cost: a search among the node's labels for each topology label by which it is kept away.
#pragma once

#include "model/constraint.h"
#include "state/counts/kept_away.h"

namespace ashlar {

/// Whether the node takes one member of its like at most, since they keep each other away. A node without one of the
/// labels may take more: there the rule that they match may not concern them.
bool takes_one_of_its_like(const Constraint& constraint, const NodeFacts& facts);

bool is_kept_away_by_none(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context);

}  // namespace ashlar
