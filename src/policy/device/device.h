// Card policies: which cards of a chosen node a member takes. Whole cards: always the first idle ones (neighbours by index). They differ for shares.
//   best-fit  the fitting card with the least free compute, first on ties. Example: 300, 600, 1000 free, asked 250: the first card.
//   random    any fitting card, each as likely. Example: the same: one of the three.
//   fgd       the first card with the best integer FGD score (score/fgd.h).
// The node fits the demand: the caller has looked. Cost: O(cards of the node).
#pragma once

#include "policy/policy.h"

namespace ashlar {

CardMask choose_best_fit_card(const NodeView& view, NodeId node);
CardMask choose_random_card(const NodeView& view, NodeId node);
CardMask choose_fgd_card(const NodeView& view, NodeId node);

/// The first idle cards, as many as asked.
CardMask first_idle_cards(const NodeView& view, NodeId node);
/// Can this card take the asked share? Idle cards that are all owed to others cannot, and none of a node that owes more than it has (see
/// Cluster::idle_cards).
bool share_fits_card(const NodeView& view, NodeId node, std::size_t card);

}  // namespace ashlar
