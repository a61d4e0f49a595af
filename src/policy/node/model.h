// model: the node's accelerator, or one of them, is of one of the device classes that the member accepts; a member that
// names none accepts every node.
// Example: classes {V100, T4} on a T4 node: fits. On a node of unknown class: does not.
// By facts. Cost: O(classes named) per node; device-fit asks which devices of a mixed node they are.
#pragma once

#include "model/constraint.h"

namespace ashlar {

bool has_accepted_model(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context);

}  // namespace ashlar
