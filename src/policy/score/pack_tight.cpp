#include "policy/score/pack_tight.h"

#include <algorithm>

#include "policy/node/device_fit.h"

namespace ashlar {
namespace {

constexpr Points kPerIdleCard = 125;        ///< an empty node of 8 cards gets nothing for the first of them
constexpr Points kShareOnIdleMax = 400;     ///< below every card that is already shared (those get 500 at least)
constexpr Points kPerIdleCardShared = 25;   ///< nodes with 16 idle cards still differ
constexpr Points kNoCardsOnCardsMax = 900;  ///< below every node without cards
constexpr Points kPerIdleCardUnused = 50;

void add_for_whole_cards(std::span<const std::int32_t> idle, std::int32_t asked, std::span<Points> points) {
  for (std::size_t i = 0; i < points.size(); ++i) points[i] += std::max(kPointsMax - kPerIdleCard * (idle[i] - asked), 0);
}

void add_for_no_cards(std::span<const std::int32_t> cards, std::span<const std::int32_t> idle, std::span<Points> points) {
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] += cards[i] == 0 ? kPointsMax : std::max(kNoCardsOnCardsMax - kPerIdleCardUnused * std::max(idle[i], 0), 0);
}

/// 500..1000 by what stays free on the best shared card; 0..400 where an idle card must be opened.
Points points_for_share(const NodeView& view, NodeId node) {
  const CardAsk& ask = view.demand.cards;
  const auto milli = view.cluster.card_free_milli(node);
  const auto mib = view.cluster.card_free_mib(node);
  const std::int64_t full_mib = view.cluster.facts(node).memory_per_card.value;
  std::int32_t least = kWholeCard;
  bool has_shared = false;
  for (std::size_t c = 0; c < milli.size(); ++c) {
    const bool is_idle = milli[c] == kWholeCard && mib[c] == full_mib;
    if (is_idle || shares_in_card(ask, milli[c], mib[c], full_mib != 0) == 0) continue;
    has_shared = true;
    least = std::min(least, milli[c]);
  }
  if (has_shared) return kPointsMax - (least - ask.milli_each.value) / 2;
  return std::max(kShareOnIdleMax - kPerIdleCardShared * (view.cluster.idle_cards()[node.row()] - 1), 0);
}

}  // namespace

void add_pack_tight(const NodeView& view, NodeRange rows, std::span<Points> points) {
  const CardAsk& ask = view.demand.cards;
  const auto idle = view.cluster.idle_cards().subspan(rows.first, rows.count);
  if (ask.count == 0) return add_for_no_cards(view.cluster.cards().subspan(rows.first, rows.count), idle, points.first(rows.count));
  if (ask.is_whole()) return add_for_whole_cards(idle, ask.count, points.first(rows.count));
  for (std::size_t i = 0; i < rows.count; ++i) points[i] += points_for_share(view, NodeId(rows.first + i));
}

}  // namespace ashlar
