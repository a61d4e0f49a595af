// best-fit: see card.h.
#include "policy/device/device.h"

namespace ashlar {

CardMask choose_best_fit_card(const NodeView& view, NodeId node) {
  const CardAsk& ask = view.demand.cards;
  if (ask.count == 0 || ask.is_whole()) return first_idle_cards(view, node);
  const auto milli = view.cluster.card_free_milli(node);
  std::size_t best = milli.size();
  for (std::size_t c = 0; c < milli.size(); ++c)
    if (share_fits_card(view, node, c) && (best == milli.size() || milli[c] < milli[best])) best = c;
  CardMask mask;
  if (best < milli.size()) mask.set(static_cast<int>(best));
  return mask;
}

}  // namespace ashlar
