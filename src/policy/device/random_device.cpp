// random: see card.h.
#include "base/digest.h"
#include "policy/device/device.h"

namespace ashlar {

CardMask choose_random_card(const NodeView& view, NodeId node) {
  const CardAsk& ask = view.demand.cards;
  if (ask.count == 0 || ask.is_whole()) return first_idle_cards(view, node);
  const std::size_t cards = view.cluster.card_free_milli(node).size();
  std::uint64_t fitting = 0;
  for (std::size_t c = 0; c < cards; ++c) fitting += share_fits_card(view, node, c) ? 1 : 0;
  CardMask mask;
  if (fitting == 0) return mask;
  // A stream of its own, so that the card does not depend on the bits that chose the node.
  std::uint64_t skip = Rng(hash_combine(view.draw, 0x6361726473ull)).below(fitting);
  for (std::size_t c = 0; c < cards; ++c) {
    if (!share_fits_card(view, node, c) || skip-- != 0) continue;
    mask.set(static_cast<int>(c));
    break;
  }
  return mask;
}

}  // namespace ashlar
