// Which waiting shapes could the last events have helped? Only rises matter (a node that got freer, came or changed), and only for shapes whose demand
// the risen node can take at all; a gang besides needs room for all its members in one of its domains. Everything else stays closed unexamined.
// Cost: O(risen nodes x classes that wait) of a few comparisons each.
#include <algorithm>

#include "engine/engine.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

/// Could this node take one such member now?
bool could_take(State& state, const Profile& profile, DemandId demand_id, ConstraintId constraint, NodeId n) {
  const Cluster& cluster = state.cluster;
  const Demand& demand = state.demand(demand_id);
  if (!cluster.is_live(n)) return false;
  if (demand.cards.count > 0) {
    if (demand.cards.is_whole() ? cluster.idle_cards()[n.row()] < demand.cards.count : cluster.free_milli()[n.row()] < demand.cards.milli_each.value)
      return false;
  }
  if (!state.cluster.allowed(constraint).test(n.row())) return false;
  const NodeView view{cluster, demand, cluster.constraint(constraint), &profile.mix, 0};
  std::uint16_t fits = kFitsMax;
  for (const FeasiblePolicy* policy : profile.feasible)
    if (!policy->is_static) policy->lower(view, {n.row(), 1}, {&fits, 1});
  return fits > 0;
}

}  // namespace

void Engine::wake(State& state) {
  std::vector<NodeId>& rises = state.rises();
  const bool has_quota_news = queue_changes_seen_ != state.queues.change_count();
  if (rises.empty() && !has_quota_news) return;
  queue_changes_seen_ = state.queues.change_count();
  std::sort(rises.begin(), rises.end());
  rises.erase(std::unique(rises.begin(), rises.end()), rises.end());
  std::vector<ShapeId> opened;
  for (const ShapeId id : agenda_.waiting_for_quota())
    if (!quota_refusal(state, agenda_.shape(id).jobs.begin()->job)) opened.push_back(id);
  for (const auto& [of, shapes] : agenda_.waiting_for_capacity()) {
    const DemandId demand = of.first;
    const ConstraintId constraint = of.second;
    if (std::none_of(rises.begin(), rises.end(), [&](NodeId n) { return could_take(state, *profile_, demand, constraint, n); })) continue;
    const bool is_room_exact = profile_->placement == PlacementRule::kScored;
    ClassView* view = is_room_exact ? &views_.get(state, demand, constraint, 0) : nullptr;
    for (const ShapeId id : shapes)
      if (view == nullptr || has_room(state, *view, agenda_.shape(id).key)) opened.push_back(id);
  }
  for (const ShapeId id : agenda_.waiting_for_anything()) {
    bool is_helped = false;
    state.each_member(agenda_.shape(id).key.only, [&](MemberId, const Member& m) {
      if (is_helped) return;
      // A node under a placed member may have moved to another domain, and with it the place where the others must go.
      if (m.is_placed())
        is_helped = std::binary_search(rises.begin(), rises.end(), m.node);
      else
        is_helped = std::any_of(rises.begin(), rises.end(), [&](NodeId n) { return could_take(state, *profile_, m.demand, m.constraint, n); });
    });
    if (is_helped) opened.push_back(id);
  }
  for (const ShapeId id : opened) agenda_.open(id);
  rises.clear();
}

bool Engine::has_room(const State& state, ClassView& view, const ShapeKey& key) const {
  if (key.within.is_none()) return view.room_everywhere() >= key.members_needed;
  const auto room = view.room(state, key.within);
  return std::any_of(room.begin(), room.end(), [&](std::uint32_t r) { return r >= key.members_needed; });
}

}  // namespace ashlar
