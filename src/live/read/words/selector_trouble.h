// selector_trouble: which part of a node selector or of a required node affinity no node has, and what was probably
// meant. Cost: O(nodes x expressions).
#pragma once

#include <string>

#include "live/read/pod_text.h"

namespace ashlar::kube {

/// ": no node has zone=c; did you mean "a"?", of the node selector, or of the terms of the affinity if each has such a
/// part; empty if nodes have each part alone.
std::string selector_trouble(const TextContext& context, ConstraintId constraint);

}  // namespace ashlar::kube
