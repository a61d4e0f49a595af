// Which waiting classes could the last events have helped? Only rises matter (a node that got freer, came or changed), and only for classes whose demand
// the risen node can take at all; a gang besides needs room for all its members in one of its domains. Everything else stays closed unexamined, but
// when nodes come, go or change it is asked anew who could ever run: of those that could not, and of the blocked heads, which stand in others' way.
// Cost: O(risen nodes x classes that wait) of a few comparisons each.
#include <algorithm>
#include <iterator>
#include <utility>

#include "base/grown.h"
#include "engine/cycle.h"
#include "engine/engine.h"
#include "engine/place/never_fits.h"
#include "engine/quota.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

/// Could this node take one such member now?
bool could_take(State& state, const Profile& profile, DemandId demand_id, ConstraintId constraint, NodeId n) {
  const Cluster& cluster = state.cluster();
  const Demand& demand = state.demand(demand_id);
  if (!cluster.is_live(n)) return false;
  if (demand.devices.count > 0) {
    if (demand.devices.is_whole() ? cluster.idle_devices()[n.row()] < demand.devices.count
                                  : cluster.free_milli()[n.row()] < demand.devices.milli_each.value)
      return false;
  }
  if (!state.cluster().allowed(constraint, is_allowed_by_facts).test(n.row())) return false;
  const NodeView view{cluster, demand, cluster.constraint(constraint), &profile.mix, 0};
  std::uint16_t fits = kFitsMax;
  profile.lower_by_what_is_free(view, {n.row(), 1}, {&fits, 1});
  return fits > 0;
}

/// How many devices a node must have for it, free or not.
std::int32_t devices_of_a_node(const DeviceRequest& ask) { return ask.is_whole() ? ask.count : std::min(ask.count, 1); }

std::int32_t most_devices(const Cluster& cluster, const std::vector<NodeId>& nodes) {
  std::int32_t most = 0;
  for (const NodeId n : nodes) most = std::max(most, cluster.is_live(n) ? cluster.devices()[n.row()] : 0);
  return most;
}

/// Is there room in its quota now, or has a limit changed so that it can, or cannot, ever be within it?
bool is_quota_news_for(const State& state, const PendingQueue::Class& job_class) {
  const std::optional<Reason> refusal = quota_refusal(state, job_class.jobs.begin()->job);
  return !refusal || (refusal->code == ReasonCode::kExceedsQuota) != (job_class.verdict.kind == VerdictKind::kNeverFits);
}

bool exceeds_quota(const State& state, const PendingQueue::Class& job_class) {
  const std::optional<Reason> refusal = quota_refusal(state, job_class.jobs.begin()->job);
  return refusal && refusal->code == ReasonCode::kExceedsQuota;
}

}  // namespace

void Engine::requeue(State& state, Cycle& cycle) {
  std::vector<NodeId> freed_nodes(state.freed_nodes().begin(), state.freed_nodes().end());
  Ledger(state).forget_freed_nodes();
  const bool has_quota_news = queue_changes_seen_ != state.queues().change_count();
  const bool has_other_nodes = facts_seen_ != state.cluster().facts_change_count();
  if (freed_nodes.empty() && !has_quota_news && !has_other_nodes && to_prove_.empty()) return;
  facts_seen_ = state.cluster().facts_change_count();
  queue_changes_seen_ = state.queues().change_count();
  std::sort(freed_nodes.begin(), freed_nodes.end());
  freed_nodes.erase(std::unique(freed_nodes.begin(), freed_nodes.end()), freed_nodes.end());
  std::vector<ClassId> activated;
  // Of those found never to fit, the ones that might on a node that came or changed.
  const auto could_ever = [&](DemandId demand, ConstraintId constraint) {
    return std::any_of(freed_nodes.begin(), freed_nodes.end(),
                       [&](NodeId n) { return state.cluster().is_live(n) && could_ever_take(state, demand, constraint, n); });
  };
  for (const ClassId id : pending_.waiting_for_quota())
    if (is_quota_news_for(state, pending_.class_at(id))) activated.push_back(id);
  if (has_quota_news)  // a limit has changed: whoever waits for room may now ask for more than its queue can ever have
    pending_.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
      if (!job_class.is_active && job_class.verdict.wake_on == WakeOn::kCapacity && exceeds_quota(state, job_class)) activated.push_back(id);
    });
  const std::int32_t devices_max = most_devices(state.cluster(), freed_nodes);
  for (const auto& [of, classes] : pending_.waiting_for_capacity()) {
    const DemandId demand = of.first;
    const ConstraintId constraint = of.second;
    if (devices_of_a_node(state.demand(demand).devices) > devices_max) continue;  // neither now nor ever
    const auto never_fits = [&](ClassId id) { return pending_.never_fits(id); };
    if (has_other_nodes && could_ever(demand, constraint))
      std::copy_if(classes.begin(), classes.end(), std::inserter(to_prove_, to_prove_.end()), never_fits);
    if (std::none_of(freed_nodes.begin(), freed_nodes.end(), [&](NodeId n) { return could_take(state, *profile_, demand, constraint, n); })) continue;
    if (std::all_of(classes.begin(), classes.end(), never_fits)) continue;
    const bool is_room_exact = profile_->placement == PlacementRule::kScored;
    FitTable* view = is_room_exact ? &fit_tables_.get(state, demand, constraint, 0) : nullptr;
    for (const ClassId id : classes)
      if (!never_fits(id) && (view == nullptr || has_room(state, *view, pending_.class_at(id).key))) activated.push_back(id);
  }
  for (const ClassId id : pending_.waiting_for_anything()) {
    bool is_helped = false;
    state.each_member(pending_.class_at(id).key.only, [&](MemberId, const Member& m) {
      if (is_helped) return;
      // A node under a placed member may have moved to another domain, and with it the place where the others must go.
      if (m.is_placed())
        is_helped = std::binary_search(freed_nodes.begin(), freed_nodes.end(), m.node);
      else
        is_helped =
            std::any_of(freed_nodes.begin(), freed_nodes.end(), [&](NodeId n) { return could_take(state, *profile_, m.demand, m.constraint, n); });
    });
    if (is_helped)
      activated.push_back(id);
    else if (has_other_nodes && !freed_nodes.empty() && pending_.never_fits(id))
      to_prove_.insert(id);
  }
  // No view shows what is free for a job without the nominations that it outranks.
  if (!freed_nodes.empty() && !state.nominations().empty())
    pending_.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
      const bool may_fit =
          !job_class.is_active && job_class.verdict.wake_on == WakeOn::kCapacity && job_class.verdict.kind != VerdictKind::kNeverFits;
      const auto outranks = [&](const PendingQueue::Entry& e) { return outranks_a_nomination(state, e.job); };
      if (may_fit && std::any_of(job_class.jobs.begin(), job_class.jobs.end(), outranks)) activated.push_back(id);
    });
  find_possible(state, cycle, activated);
  for (const ClassId id : activated) pending_.activate(id);
  if (has_other_nodes) activate_impossible_heads(state, cycle);
}

void Engine::find_possible(const State& state, Cycle& cycle, std::vector<ClassId>& found) {
  std::size_t proofs = 0;
  while (!to_prove_.empty() && proofs < kProofsMax) {
    const ClassId id = *to_prove_.begin();
    to_prove_.erase(to_prove_.begin());
    if (!pending_.never_fits(id)) continue;
    ++proofs;
    if (ever_fits(state, pending_.class_at(id).jobs.begin()->job) != EverFits::kNo) found.push_back(id);
  }
  if (!to_prove_.empty()) cycle.plan.look_again_at = cycle.plan.at;
}

bool Engine::is_outdated(const State& state, const PendingQueue::Head& head) const {
  if (state.cluster().live_count() == 0) return false;  // everybody waits for the first node
  const std::size_t row = head.job_class.row();
  const bool is_judged = row < judged_on_.size() && judged_on_[row] == state.cluster().facts_change_count();
  const WakeOn wake_on = pending_.class_at(head.job_class).verdict.wake_on;
  return !is_judged && (wake_on == WakeOn::kCapacity || wake_on == WakeOn::kQuota);
}

bool Engine::activate_impossible_heads(const State& state, Cycle& cycle, QueueId queue) {
  bool has_activated = false;
  if (!options_.has_verdicts) return has_activated;  // nothing is found never to fit then
  for (const PendingQueue::Head* first = pending_.first_blocked(queue); first != nullptr; first = pending_.first_blocked(queue)) {
    const PendingQueue::Head head = *first;
    if (!is_outdated(state, head)) return has_activated;
    grown(judged_on_, head.job_class.row()) = state.cluster().facts_change_count();
    if (ever_fits(state, head.entry.job) != EverFits::kNo) return has_activated;
    cycle.impossible.insert(head.job_class);
    pending_.activate(head.job_class);
    cycle.add_work(head);
    has_activated = true;
  }
  return has_activated;
}

bool Engine::activate_impossible_heads(const State& state, Cycle& cycle) {
  bool has_activated = false;
  if (profile_->blocking == Blocking::kSkip || !options_.has_verdicts) return has_activated;
  std::set<QueueId> changed = pending_.take_changed_queues();
  if (std::exchange(heads_walked_on_, state.cluster().facts_change_count()) != state.cluster().facts_change_count())
    for (const auto& [queue, heads] : pending_.blocked_heads()) changed.insert(queue);
  for (const QueueId queue : changed) has_activated = activate_impossible_heads(state, cycle, queue) || has_activated;
  return has_activated;
}

bool Engine::has_room(const State& state, FitTable& view, const EquivalenceClass& key) const {
  if (key.within.is_none()) return view.room_everywhere() >= key.members_needed;
  const auto room = view.room(state, key.within);
  return std::any_of(room.begin(), room.end(), [&](std::uint32_t r) { return r >= key.members_needed; });
}

}  // namespace ashlar
