// selector: the node's labels satisfy the selector (nodeSelector, nodeName) and one of the required node affinity
// terms, as Kubernetes reads them.
// Example: selector pool=a and terms [zone in (x, y)], [zone not exists]: a node pool=a, zone=x fits; pool=a, zone=z
// does not. By facts. Cost: O(expressions x log labels) per node.
#pragma once

#include "model/constraint.h"

namespace ashlar {

/// Whether this label term holds on these facts. Semantics of Kubernetes node affinity: a missing key satisfies kNotIn
/// and kDoesNotExist only.
bool term_holds(const NodeTerm& term, const NodeFacts& facts);
bool is_selected(const Constraint& constraint, const NodeFacts& facts);

}  // namespace ashlar
