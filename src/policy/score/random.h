// random: every feasible node is as likely as any other. Points are 16 random bits of (draw, row): ties are rare, and
// go to the lower row. It has its tier to itself (it uses the whole range 0..65534) and is never kept between
// decisions.
// Example: of 4 feasible nodes, each is chosen in about a quarter of the decisions. Cost: one 64-bit mix per node.
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void add_random(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
