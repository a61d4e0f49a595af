// The consolidate rule of the Helios simulator (SC'21), on which the published queueing tables are based. A job of up
// to one node's devices takes the node with the fewest idle devices that suffices, lowest row on ties. A larger job
// walks the nodes by idle devices, most first, stable by row: as many wholly idle nodes as it has full-node members,
// and the very next node must have capacity for the remainder; anything else fails. Feasible policies bind as
// everywhere. What the rule does not cover (shares of a device, members without devices or of less than a node,
// topology) is placed by the scored rule.
#include <algorithm>

#include "engine/place/placement.h"

namespace ashlar {
namespace {

void take(const PlacementContext& context, MemberId member, NodeId node) {
  State& state = context.trial.state();
  const Member& m = state.member(member);
  const NodeView view{state.cluster(), state.demand(m.demand), state.cluster().constraint(m.constraint),
                      &context.profile.mix, 0};
  context.trial.place(member, node, context.profile.device->choose(view, node));
}

/// The node with fewest idle devices among those that can take the member at all.
NodeId tightest(const PlacementContext& context, MemberId member) {
  State& state = context.trial.state();
  const Member& m = state.member(member);
  const FitTable& view = context.fit_tables.counted(state, m.demand, m.constraint, 0);
  const auto idle = state.cluster().idle_devices();
  NodeId best;
  for (std::size_t n = 0; n < idle.size(); ++n)
    if (view.fits(NodeId(n)) > 0 && (best.is_none() || idle[n] < idle[best.row()])) best = NodeId(n);
  return best;
}

bool fits(const PlacementContext& context, MemberId member, NodeId node) {
  State& state = context.trial.state();
  const Member& m = state.member(member);
  return context.fit_tables.counted(state, m.demand, m.constraint, 0).fits(node) > 0;
}

/// Nodes with idle devices, most first, stable by row.
std::vector<NodeId> walk_of(const State& state) {
  const auto idle = state.cluster().idle_devices();
  std::vector<NodeId> walk;
  for (std::size_t n = 0; n < idle.size(); ++n)
    if (idle[n] > 0 && state.cluster().is_live(NodeId(n))) walk.emplace_back(n);
  std::stable_sort(walk.begin(), walk.end(), [&](NodeId a, NodeId b) { return idle[a.row()] > idle[b.row()]; });
  return walk;
}

}  // namespace

bool is_consolidated(const State& state, JobId job) {
  const Job& j = state.job(job);
  if (!j.within.is_none() || !j.prefer.is_none() || !j.spec.is_none()) return false;
  const auto devices = state.cluster().devices();
  const std::int32_t largest = devices.empty() ? 0 : *std::max_element(devices.begin(), devices.end());
  const std::uint32_t waiting = j.members_present - j.members_placed;
  std::uint32_t seen = 0;
  bool is_so = true;
  state.each_member(job, [&](MemberId, const Member& m) {
    if (m.is_placed()) return;
    is_so = is_so && !state.cluster().constraint(m.constraint).has_company();
    const DeviceRequest& request = state.demand(m.demand).devices;
    const bool is_last = ++seen == waiting;
    is_so = is_so && request.count > 0 && request.is_whole() && (is_last || request.count >= largest);
  });
  return is_so;
}

PlacementOutcome place_consolidated(const PlacementContext& context, JobId job) {
  State& state = context.trial.state();
  std::vector<MemberId> members;
  state.each_member(job, [&](MemberId id, const Member& m) {
    if (!m.is_placed() && members.size() < context.members_max) members.push_back(id);
  });
  if (members.size() == 1) {
    const NodeId node = tightest(context, members[0]);
    if (node.is_none()) return {};
    take(context, members[0], node);
    return {.is_placed = true};
  }
  const std::vector<NodeId> walk = walk_of(state);
  std::size_t count = 0;  // members, in rank order, for which the walk has capacity
  while (count < std::min(walk.size(), members.size()) && fits(context, members[count], walk[count])) ++count;
  const Job& j = state.job(job);
  if (count == 0 || count < j.members_needed()) return {};
  // the others follow when every minimum has had its turn
  if (j.members_placed < j.members_min) count = j.members_needed();
  for (std::size_t i = 0; i < count; ++i) take(context, members[i], walk[i]);
  return {.is_placed = true};
}

}  // namespace ashlar
