// ready: the node takes new pods (Ready, not cordoned).
// Example: a cordoned node keeps its pods and gets no more. By facts. Cost: a byte per node.
#pragma once

#include "model/constraint.h"

namespace ashlar {

bool is_ready(const Constraint& constraint, const NodeFacts& facts);

}  // namespace ashlar
