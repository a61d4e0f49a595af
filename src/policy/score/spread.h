// spread: prefer nodes with the largest free share, so that load and heat are even and a lost node affects few jobs.
// Points = 1000 x free milli-GPU / (1000 x devices) for members with devices, 1000 x free CPU / allocatable CPU for the
// others.
// Example: 6 of 8 devices free: 750. Cost: one division per node.
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void add_spread(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
