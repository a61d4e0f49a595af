#include "policy/device/device.h"

#include "policy/node/device_fit.h"

namespace ashlar {
namespace {

constexpr CardPolicy kCards[] = {
    {"best-fit", choose_best_fit_card},
    {"random", choose_random_card},
    {"fgd", choose_fgd_card},
};

}  // namespace

std::span<const CardPolicy> card_policies() { return kCards; }

const CardPolicy* find_card(std::string_view name) {
  for (const CardPolicy& policy : kCards)
    if (policy.name == name) return &policy;
  return nullptr;
}

CardMask first_idle_cards(const NodeView& view, NodeId node) {
  const auto milli = view.cluster.card_free_milli(node);
  const auto mib = view.cluster.card_free_mib(node);
  const std::int64_t full_mib = view.cluster.facts(node).memory_per_card.value;
  CardMask mask;
  std::int32_t missing = view.demand.cards.count;
  for (std::size_t c = 0; c < milli.size() && missing > 0; ++c) {
    if (milli[c] != kWholeCard || mib[c] != full_mib) continue;
    mask.set(static_cast<int>(c));
    --missing;
  }
  return mask;
}

bool share_fits_card(const NodeView& view, NodeId node, std::size_t card) {
  const std::int32_t milli = view.cluster.card_free_milli(node)[card];
  const std::int64_t mib = view.cluster.card_free_mib(node)[card];
  const std::int64_t full_mib = view.cluster.facts(node).memory_per_card.value;
  const bool is_idle = milli == kWholeCard && mib == full_mib;
  const std::int32_t idle_cards = view.cluster.idle_cards()[node.row()];
  if (idle_cards < 0 || (is_idle && idle_cards == 0)) return false;
  return shares_in_card(view.demand.cards, milli, mib, full_mib != 0) > 0;
}

}  // namespace ashlar
