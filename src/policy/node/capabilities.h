// capabilities: a device that the member may have by its class, or one of several on the node, has each capability that
// the member names; a member that names none accepts every node.
// Example: fp8 and nvlink on a node of the class H100, which has fp8, nvlink and mig: fits. On one of a class that
// nobody defined: does not.
// By facts. Cost: O(capabilities named) per node; device-fit asks which devices of a mixed node they are.
#pragma once

#include "model/constraint.h"

namespace ashlar {

bool has_capabilities(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context);
/// The first capability named that no such device of the node has, or else that keeps the first one from being taken;
/// none if the rule holds. For explanations.
CapabilityId missing_capability(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context);

}  // namespace ashlar
