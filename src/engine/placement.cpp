#include "engine/placement.h"

#include "base/check.h"

namespace ashlar {

PlacementOutcome place_job(const PlacementContext& context, JobId job) {
  State& state = context.trial.state();
  const Job& j = state.job(job);
  if (context.profile.placement == PlacementRule::kConsolidate && is_consolidated(state, job)) return place_consolidated(context, job);
  const bool is_single = j.members_present - j.members_placed == 1 && (j.members_placed == 0 || j.within.is_none());
  if (!is_single || !j.within.is_none() || !j.prefer.is_none()) return place_gang(context, job);
  const MemberId member = state.first_waiting_member(job);
  ASHLAR_CHECK(!member.is_none());
  const Member& m = state.member(member);
  const std::uint64_t draw = context.draws.next();
  ClassView& view = context.views.get(state, m.demand, m.constraint, draw);
  const NodeId node = view.best(state);
  if (node.is_none()) return {};
  context.trial.take(member, node, context.profile.card->choose(view.node_view(state, draw), node));
  return {.is_placed = true};
}

}  // namespace ashlar
