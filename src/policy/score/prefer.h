// prefer: nodes that satisfy the member's preferences: preferred node affinity terms by weight, and no untolerated
// PreferNoSchedule taints. Points = 1000 x (weights that hold + 100 for each of 4 taints that the node does not have) /
// (all weights + 400): a taint counts like a missed preference of the highest weight, more than 4 are not
// distinguished. Equal everywhere for a member without preferences on nodes without such taints.
// Example: preferences {ssd: 80, zone-a: 20}; a node with ssd in zone b, no taints: 1000 x (80 + 400) / 500 = 960.
// Cost: O(terms x log labels + taints) per node; static facts only, so the engine computes it once per node and change.
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void add_prefer(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
