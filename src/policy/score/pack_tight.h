// pack-tight: prefer nodes that a member fills exactly, so that whole nodes stay free for gangs. Points of whole
// devices: 1000 - 125 x (idle devices left over), not below 0. Shares take a device that is already shared before an
// idle one, the least left over first; members without devices prefer nodes without any, then those with fewer idle.
// Example: 2 devices requested: nodes with 2, 4 and 8 idle devices get 1000, 750 and 250.
// Cost: one subtraction per node for whole devices, O(devices of the node) for shares.
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void add_pack_tight(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
