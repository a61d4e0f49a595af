// pack-tight: prefer nodes that a member fills exactly, so that whole nodes stay free for gangs.
// Whole cards: 1000 - 125 x (idle cards left over), not below 0. Shares: a card that is already shared before an idle one, the least left over first.
// No cards: nodes without cards first, then those with fewer idle cards.
// Example: 2 cards asked: nodes with 2, 4 and 8 idle cards get 1000, 750 and 250.
// Cost: one subtraction a node for whole cards, O(cards of the node) for shares.
#pragma once

#include "policy/policy.h"

namespace ashlar {

void add_pack_tight(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
