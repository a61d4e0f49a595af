// fgd: see card.h.
#include "policy/device/device.h"
#include "policy/score/fgd_mix.h"

namespace ashlar {

CardMask choose_fgd_card(const NodeView& view, NodeId node) {
  const CardAsk& ask = view.demand.cards;
  if (ask.count == 0 || ask.is_whole()) return first_idle_cards(view, node);
  if (view.mix == nullptr || view.mix->is_empty()) return choose_best_fit_card(view, node);
  const FgdNode facts{view.cluster.free(resource::kCpu)[node.row()], view.cluster.models()[node.row()], view.cluster.card_free_milli(node)};
  const auto answer = view.mix->evaluator().best(facts, amount_of(view.demand, resource::kCpu), ask);
  if (answer.card < 0 || !share_fits_card(view, node, static_cast<std::size_t>(answer.card))) return choose_best_fit_card(view, node);
  CardMask mask;
  mask.set(answer.card);
  return mask;
}

}  // namespace ashlar
