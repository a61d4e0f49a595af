// best-fit-domain: among the topology groups (innermost domains) that can take a member, prefer the one with the fewest
// idle devices, so that whole racks and islands stay free for gangs. Points = 65535 - idle devices of the group.
// Example: racks with 3 and 60 idle devices: a member of one device goes to the first. Cost: O(groups).
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void add_best_fit_domain(const NodeView& view, std::span<Points> points);

}  // namespace ashlar
