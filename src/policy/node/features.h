// features: the node declares each feature that the member needs.
// Example: features {user-namespaces}: a node whose kubelet lists it fits, one of an older release does not. By facts.
// Cost: O(features x log labels) per node.
#pragma once

#include "model/constraint.h"

namespace ashlar {

bool has_features(const Constraint& constraint, const NodeFacts& facts);

}  // namespace ashlar
