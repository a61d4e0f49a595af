// The consolidate rule of the Helios simulator (SC'21), on which the published queueing tables rest. A job of up to one node's cards takes the node
// with fewest idle cards that suffices, lowest row on ties. A larger job walks the nodes by idle cards, most first, stable by row: as many wholly idle
// nodes as it has full-node members, and the very next node must have room for the remainder; anything else fails.
#include <algorithm>

#include "engine/placement.h"

namespace ashlar {
namespace {

void take(const PlacementContext& context, MemberId member, NodeId node) {
  State& state = context.trial.state();
  const Member& m = state.member(member);
  const NodeView view{state.cluster, state.demand(m.demand), state.cluster.constraint(m.constraint), &context.profile.mix, 0};
  context.trial.take(member, node, context.profile.card->choose(view, node));
}

NodeId tightest(const State& state, std::int32_t cards) {
  const auto idle = state.cluster.idle_cards();
  NodeId best;
  for (std::size_t n = 0; n < idle.size(); ++n)
    if (idle[n] >= cards && state.cluster.is_live(NodeId(n)) && (best.is_none() || idle[n] < idle[best.row()])) best = NodeId(n);
  return best;
}

}  // namespace

PlacementOutcome place_consolidated(const PlacementContext& context, JobId job) {
  State& state = context.trial.state();
  std::vector<MemberId> members;
  state.each_member(job, [&](MemberId id, const Member& m) { if (!m.is_placed() && members.size() < context.members_max) members.push_back(id); });
  const auto cards_of = [&](MemberId id) { return state.demand(state.member(id).demand).cards.count; };
  if (members.size() == 1) {
    const NodeId node = tightest(state, cards_of(members[0]));
    if (node.is_none()) return {};
    take(context, members[0], node);
    return {.is_placed = true};
  }
  const auto idle = state.cluster.idle_cards();
  std::vector<NodeId> walk;
  for (std::size_t n = 0; n < idle.size(); ++n) if (idle[n] > 0 && state.cluster.is_live(NodeId(n))) walk.emplace_back(n);
  if (walk.size() < members.size()) return {};
  // Only the first members.size() places of the stable order matter.
  std::stable_sort(walk.begin(), walk.end(), [&](NodeId a, NodeId b) { return idle[a.row()] > idle[b.row()]; });
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::int32_t asked = cards_of(members[i]);
    const std::int32_t whole = state.cluster.cards()[walk[i].row()];
    const bool is_remainder = i + 1 == members.size() && asked < whole;
    if (is_remainder ? idle[walk[i].row()] < asked : idle[walk[i].row()] < whole) return {};
  }
  for (std::size_t i = 0; i < members.size(); ++i) take(context, members[i], walk[i]);
  return {.is_placed = true};
}

}  // namespace ashlar
