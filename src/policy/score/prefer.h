// prefer: nodes that satisfy the member's soft wishes: preferred node affinity terms by weight, and no untolerated PreferNoSchedule taints.
// Points = 1000 x (weights that hold + 100 for each of 4 taints that the node has not) / (all weights + 400): a taint counts like a missed
// wish of the highest weight, more than 4 are not told apart. Equal everywhere for a member without wishes on nodes without such taints.
// Example: wishes {ssd: 80, zone-a: 20}; a node with ssd in zone b, no taints: 1000 x (80 + 400) / 500 = 960.
// Cost: O(terms x log labels + taints) a node; static facts only, so the engine computes it once per node and change.
#pragma once

#include "policy/policy.h"

namespace ashlar {

void add_prefer(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
