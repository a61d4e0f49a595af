// Selects the waiting classes that the last events could have helped. Only freed nodes matter (a node that has more
// free, is new or has changed), and only for classes whose demand that node can take at all; a gang also needs capacity
// for all its members in one of its domains. Everything else stays closed unexamined, but when nodes are added, removed
// or changed, the classes that could never run and the blocked heads, which hold up other jobs, are re-evaluated. Cost:
// O(freed nodes x waiting kinds) of a few comparisons each, and those classes that may start or are gangs.
#include "engine/pending/requeue.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/grown.h"
#include "engine/explain/never_fits.h"
#include "engine/pending/class_room.h"
#include "engine/pending/impossible_heads.h"
#include "engine/pending/quota_news.h"
#include "engine/pending/room_on_freed.h"
#include "engine/pending/wake_in_turn.h"
#include "engine/place/lifted_holds.h"
#include "engine/place/nomination.h"
#include "engine/place/placement.h"
#include "engine/quota.h"
#include "engine/reserve/backfill.h"
#include "engine/victims/candidates.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

constexpr std::size_t kProofsMax = 16;  ///< per decision, for classes found never to fit

std::int32_t most_devices(const Cluster& cluster, const std::vector<NodeId>& nodes) {
  std::int32_t most = 0;
  for (const NodeId n : nodes) most = std::max(most, cluster.is_live(n) ? cluster.devices()[n.row()] : 0);
  return most;
}

/// Adds the classes that were found never to fit but might on the present nodes. Cost: kProofsMax proofs; the rest
/// follows in the next decisions.
void find_possible(EngineData& e, const State& state, Cycle& cycle, std::vector<ClassId>& found) {
  std::size_t proofs = 0;
  while (!e.to_prove.empty() && proofs < kProofsMax) {
    const ClassId id = *e.to_prove.begin();
    e.to_prove.erase(e.to_prove.begin());
    ++cycle.plan.examined;  // so that the step is recorded and handed over, even without events and actions
    if (!e.pending.never_fits(id)) continue;
    ++proofs;
    if (ever_fits(state, e.pending.class_at(id).jobs.begin()->job) != EverFits::kNo) found.push_back(id);
  }
  if (!e.to_prove.empty()) cycle.plan.look_again_at = cycle.plan.at;
}

}  // namespace

void absorb_changes(EngineData& e, State& state, Cycle& cycle) {
  for (const BacklogChange& change : state.backlog_changes()) {
    e.pending.leave(change.job);
    if (change.job.row() < e.reported.size()) e.reported[change.job.row()] = {};
    if (!state.is_live(change.job)) e.costly.forget(change.job);
    // A row may have been reused or updated since; only the latest value counts, and it is read from the state.
    if (!change.has_entered || !state.is_live(change.job) || !state.job(change.job).is_in_backlog) continue;
    e.pending.enter(state, change.job);
    // Its class may be closed for jobs of lower priority than nominations that it outranks, or than jobs that may be
    // stopped for it, or for which less is held.
    const ClassId id = e.pending.class_id(change.job);
    const PendingQueue::Class& job_class = e.pending.class_at(id);
    const bool may_stop_more =
        e.profile->stops_for_a_place() && !job_class.jobs.empty() && job_class.jobs.begin()->job == change.job;
    if (!state.nominations().empty() || may_use_more_than_its_like(state, change.job, cycle.plan.at) || may_stop_more)
      e.pending.activate(id);
  }
  Ledger(state).forget_backlog_changes();
}

namespace {

/// What changed since the last cycle, and the classes that it may help.
struct News {
  Millis now;
  std::vector<NodeId> freed_nodes;  ///< ascending
  bool has_quota = false, has_other_nodes = false;
  std::vector<ClassId> activated;
  std::vector<ClassId> with_room;  ///< may fit on the freed nodes
};

/// Whether any of the jobs outranks another scheduler's nomination: no table shows the room that it would leave.
bool any_outranks_a_nomination(const State& state, const std::set<PendingQueue::Entry>& jobs) {
  return !state.nominations().empty() && std::any_of(jobs.begin(), jobs.end(), [&](const PendingQueue::Entry& entry) {
    return outranks_a_nomination(state, entry.job);
  });
}

/// Whether a freed node could take a member of the job, or a limit may have been lowered or freed by what left it: a
/// node that is gone or of a class that the queue, or one above it, limits.
bool is_node_news_for(State& state, const Profile& profile, const News& news, QueueId queue,
                      std::span<const MemberRun> needed) {
  return news.has_other_nodes || std::any_of(news.freed_nodes.begin(), news.freed_nodes.end(), [&](NodeId n) {
           return !state.cluster().is_live(n) || is_class_limited(state, queue, n) ||
                  could_take_any(state, profile, needed, n);
         });
}

/// Whether the queue, or one above it, limits anything wherever it is used.
bool is_limited_on_all_nodes(const State& state, QueueId queue) {
  const QueueTree& queues = state.queues();
  for (QueueId q = queue; !q.is_none() && q.row() < queues.rows(); q = queues.parent(q)) {
    const QuotaVector& quota = queues.quota(q);
    if (std::any_of(quota.begin(), quota.end(), [](std::int64_t limit) { return limit != kUnlimited; })) return true;
    for (std::size_t k = 0; k < queues.keys().size(); ++k)
      if (queues.keys()[k].device_class.is_none() && queues.limit(k, q) != kUnlimited) return true;
  }
  return false;
}

/// For a class that a limit by device class refused, and no other limit would. It is looked at again if it may have
/// room within all limits; and so that its verdict stays true, if there is no capacity even without them, or the limit
/// has changed.
bool is_class_quota_news_for(EngineData& e, State& state, const News& news, const PendingQueue::Class& job_class) {
  if (any_outranks_a_nomination(state, job_class.jobs) ||
      may_use_holds(e.pending, state, e.pending.class_id(job_class.jobs.begin()->job), news.now))
    return true;
  const Reason& reported = job_class.verdict.reasons.front();
  // Perhaps changed long ago, while another limit refused it.
  if (with_usage_of_now(state, reported).numbers[2] != reported.numbers[2]) return true;
  const std::vector<MemberRun> needed = needed_runs(job_class.key);
  // Where another limit has refused it meanwhile, what that one left unnoticed counts once it refuses it no more.
  const QueueId queue = job_class.key.queue;
  if (!news.has_quota && !is_limited_on_all_nodes(state, queue) &&
      !is_node_news_for(state, *e.profile, news, queue, needed))
    return false;
  // the limits are not counted by domains of groups
  return job_class.key.has_choice() || !placement_rule(*e.profile).is_room_exact || !job_class.key.spec.is_none() ||
         lacking_within_class_quota(e.fit_tables, state, job_class.key, needed) != Lacking::kQuota;
}

void help_those_short_of_quota(EngineData& e, State& state, News& news) {
  for (const ClassId id : e.pending.waiting_for_quota()) {
    const PendingQueue::Class& job_class = e.pending.class_at(id);
    if ((!news.has_quota && is_refused_as_before(state, job_class)) || !is_quota_news_for(state, job_class)) continue;
    if (!waits_for_class_quota(job_class.verdict) || quota_refusal(state, job_class.jobs.begin()->job) ||
        is_class_quota_news_for(e, state, news, job_class))
      news.activated.push_back(id);
  }
  if (!news.has_quota) return;
  // A limit has changed: a job that waits for capacity may now request more than its queue can ever have, or its queue
  // is held. One that
  // finds none without the nominations that it outranks may be within a limit by device class where those are.
  e.pending.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
    const bool waits_for_capacity = !job_class.is_active && job_class.verdict.wake_on == WakeOn::kCapacity;
    const bool may_be_within = waits_for_capacity && !state.queues().keys().empty() &&  // the limit may be lifted
                               any_outranks_a_nomination(state, job_class.jobs);
    const bool is_held = job_class.waits_for_capacity() && !state.queues().held_above(job_class.key.queue).is_none();
    if (may_be_within || is_held || (waits_for_capacity && exceeds_quota(state, job_class)))
      news.activated.push_back(id);
  });
}

/// Those that nodes may help which were freed; of those found never to fit, the ones that might on a new or changed
/// node are to be proven again.
void help_those_short_of_capacity(EngineData& e, State& state, Cycle& cycle, News& news) {
  news.with_room = list_those_with_room(e, state, cycle, news.freed_nodes);
  if (!news.has_other_nodes) return;
  const std::int32_t devices_max = most_devices(state.cluster(), news.freed_nodes);
  for (const auto& [devices, kinds] : e.pending.never_fitting().levels()) {
    if (devices > devices_max) break;  // ascending
    for (const auto& [kind, heads] : kinds.listed) {
      const auto could_ever = [&, &of = kind](NodeId n) {
        return state.cluster().is_live(n) && could_ever_take(state, of.demand, of.constraint, n);
      };
      if (std::none_of(news.freed_nodes.begin(), news.freed_nodes.end(), could_ever)) continue;
      for (const PendingQueue::Head& head : heads) e.to_prove.insert(head.job_class);
    }
  }
}

/// Gangs of unlike members, and jobs placed in part.
void help_those_in_parts(EngineData& e, State& state, News& news) {
  const std::vector<NodeId>& freed = news.freed_nodes;
  for (const ClassId id : e.pending.waiting_in_parts()) {
    const EquivalenceClass& key = e.pending.class_at(id).key;
    // A node under a placed member may have moved to another domain, and with it the place where the other members
    // must go.
    bool has_moved = false;
    if (!key.only.is_none())
      state.each_member(key.only, [&](MemberId, const Member& m) {
        has_moved = has_moved || (m.is_placed() && std::binary_search(freed.begin(), freed.end(), m.node));
      });
    if (has_moved)
      news.activated.push_back(id);
    else if (are_parts_helped(e, state, freed, key))
      news.with_room.push_back(id);
    else if (news.has_other_nodes && !freed.empty() && e.pending.never_fits(id))
      e.to_prove.insert(id);
  }
}

/// What the reservations that hold jobs of the class keep from all of them. Nothing is kept from a job for itself, so
/// none is known of a class in which a job has a reservation.
FitsLimit limit_of_holders(const EngineData& e, ClassId id) {
  const auto reservations = e.reservations.all();
  const bool has_own = std::any_of(reservations.begin(), reservations.end(), [&](const Reservation& p) {
    return e.pending.contains(p.entry.job) && e.pending.class_id(p.entry.job) == id;
  });
  if (has_own) return limit_of(e.reservations, {});
  return limit_of(e.reservations, e.pending.class_at(id).holders_seen);
}

/// Jobs that reservations hold. A freed node helps those of which it could take a member beside the reservations. Where
/// a limit by device class keeps them off other nodes, that limit may have been raised, or freed by what left the node;
/// and those that outrank a nomination may have room that no table shows.
void help_those_held(EngineData& e, State& state, const News& news) {
  if (news.freed_nodes.empty() && !news.has_quota) return;
  std::vector<ClassId> woken;
  for (const PendingQueue::Head& head : e.pending.held_classes()) {
    const PendingQueue::Class& job_class = e.pending.class_at(head.job_class);
    const QueueId queue = job_class.key.queue;
    const bool is_class_limited = state.queues().is_limited_by_key(queue);
    std::optional<FitsLimit> limit;  // of most classes no freed node could take a member anyway
    const auto has_room = [&](const MemberRun& run, NodeId n) {
      if (!could_take(state, *e.profile, run, n, job_class.key.members_needed > 1)) return false;
      if (!limit) limit = limit_of_holders(e, head.job_class);
      const Cluster& cluster = state.cluster();
      const NodeView view{cluster, state.demand(run.demand), cluster.constraint(run.constraint), &e.profile->mix, 0};
      std::uint16_t fits = kFitsMax;
      limit->lower(view, {n.row(), 1}, {&fits, 1});
      return fits > 0;
    };
    const std::vector<MemberRun> needed = needed_runs(job_class.key);
    const auto helps = [&](NodeId n) {
      return (is_class_limited && (!state.cluster().is_live(n) || ashlar::is_class_limited(state, queue, n))) ||
             std::any_of(needed.begin(), needed.end(), [&](const MemberRun& run) { return has_room(run, n); });
    };
    if ((is_class_limited && (news.has_quota || news.has_other_nodes)) ||
        std::any_of(news.freed_nodes.begin(), news.freed_nodes.end(), helps) ||
        any_outranks_a_nomination(state, job_class.held))
      woken.push_back(head.job_class);
  }
  for (const ClassId id : woken) e.pending.wake_held(id);
}

/// No table has the capacity that is held for a job: those are looked at of which a freed node could take a member with
/// all that is held there.
void help_those_with_holds(EngineData& e, State& state, News& news) {
  if (news.freed_nodes.empty() || state.yielding().empty()) return;
  Trial trial(state);
  std::vector<MemberId> held;
  for (const NodeId n : news.freed_nodes)
    for (const HeldPlace& place : state.yielding_on(n)) held.push_back(place.member);
  const LiftedHolds lifted(trial, held);
  std::vector<ClassId> woken;
  e.pending.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
    const bool waits_for_capacity = job_class.waits_for_capacity();
    if ((!waits_for_capacity && job_class.held.empty()) || !may_use_holds(e.pending, state, id, news.now)) return;
    const std::vector<MemberRun> needed = needed_runs(job_class.key);
    const bool could_any = std::any_of(news.freed_nodes.begin(), news.freed_nodes.end(),
                                       [&](NodeId n) { return could_take_any(state, *e.profile, needed, n); });
    if (could_any) (waits_for_capacity ? news.activated : woken).push_back(id);
  });
  for (const ClassId id : woken) e.pending.wake_held(id);
}

/// The constraints with a rule about pods that have come or gone; none alone: any.
std::vector<ConstraintId> concerned_constraints(const State& state) {
  std::vector<ConstraintId> concerned;
  for (const PodSelectorId selector : state.cluster().rules_concerned()) {
    if (selector.is_none()) return {ConstraintId::none()};
    const auto constraints = state.cluster().counts().constraints_of(selector);
    concerned.insert(concerned.end(), constraints.begin(), constraints.end());
  }
  std::sort(concerned.begin(), concerned.end());
  concerned.erase(std::unique(concerned.begin(), concerned.end()), concerned.end());
  return concerned;
}

/// Classes of such constraints: the rule may leave other nodes open now. Of those for which no open node has room the
/// first few are looked at, so that their reasons have today's numbers.
void help_those_with_company(EngineData& e, State& state, News& news) {
  std::vector<ClassId> held;
  std::size_t explained_again = 0;
  for (const ConstraintId constraint : concerned_constraints(state))
    e.pending.each_with_company(constraint, [&](ClassId id) {
      const PendingQueue::Class& job_class = e.pending.class_at(id);
      if (job_class.waits_for_capacity() &&
          (has_room_where_open(state, *e.profile, job_class.key) || explained_again++ < kExplainedAgainMax))
        news.activated.push_back(id);
      if (!job_class.held.empty()) held.push_back(id);
    });
  for (const ClassId id : held) e.pending.wake_held(id);
}

/// No view has the free capacity for a job without the nominations that it outranks.
void help_those_that_outrank_a_nomination(const EngineData& e, const State& state, News& news) {
  if (news.freed_nodes.empty() || state.nominations().empty()) return;
  e.pending.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
    if (job_class.waits_for_capacity() && any_outranks_a_nomination(state, job_class.jobs))
      news.activated.push_back(id);
  });
}

/// Those for which others may be stopped find more than what is free, or than what a limit leaves.
void help_those_that_may_stop_others(EngineData& e, const State& state, News& news) {
  if (!e.profile->stops_for_a_place()) return;
  const bool has_victims = e.more_victims_at <= news.now;
  if (news.freed_nodes.empty() && !news.has_quota && !news.has_other_nodes && !has_victims) return;
  if (has_victims) e.more_victims_at = Millis::max();  // those that still wait for one look when
  const AnyCandidate candidates(state, *e.profile->order, news.now);
  e.pending.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
    const bool waits = job_class.waits_for_capacity() || e.pending.waiting_for_quota().contains(id);
    if (waits && !job_class.jobs.empty() && candidates.exists_for(job_class.jobs.begin()->job))
      news.activated.push_back(id);
  });
}

}  // namespace

void requeue(EngineData& e, State& state, Cycle& cycle) {
  if (e.is_cut) return;
  News news{.now = cycle.plan.at,
            .freed_nodes = {},
            .has_quota = e.queue_changes_seen != state.queues().change_count(),
            .has_other_nodes = e.facts_seen != state.cluster().facts_change_count(),
            .activated = {},
            .with_room = {}};
  const bool is_company_concerned = !state.cluster().rules_concerned().empty();
  const bool are_none_helped = (state.freed_nodes().empty() && !is_company_concerned) || e.pending.size() == 0;
  const bool has_victims = e.more_victims_at <= news.now;
  if (!has_victims) cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, e.more_victims_at);
  if (are_none_helped && !news.has_quota && !news.has_other_nodes && !has_victims && e.to_prove.empty())
    return Ledger(state).forget_news_of_nodes();
  news.freed_nodes.assign(state.freed_nodes().begin(), state.freed_nodes().end());
  if (is_company_concerned) help_those_with_company(e, state, news);
  Ledger(state).forget_news_of_nodes();
  e.facts_seen = state.cluster().facts_change_count();
  e.queue_changes_seen = state.queues().change_count();
  std::sort(news.freed_nodes.begin(), news.freed_nodes.end());
  news.freed_nodes.erase(std::unique(news.freed_nodes.begin(), news.freed_nodes.end()), news.freed_nodes.end());
  help_those_short_of_quota(e, state, news);
  help_those_short_of_capacity(e, state, cycle, news);
  help_those_in_parts(e, state, news);
  help_those_held(e, state, news);
  help_those_with_holds(e, state, news);
  help_those_that_outrank_a_nomination(e, state, news);
  help_those_that_may_stop_others(e, state, news);
  find_possible(e, state, cycle, news.activated);
  // What outranks a nomination, or may use a hold, finds more than what is free.
  if (state.nominations().empty() && state.yielding().empty()) {
    std::vector<ClassId> others = news.activated;
    std::sort(others.begin(), others.end());
    for (const ClassId id : news.with_room)
      if (!e.pending.never_fits(id) && !std::binary_search(others.begin(), others.end(), id))
        cycle.woken_by_room.push_back(id);
    std::sort(cycle.woken_by_room.begin(), cycle.woken_by_room.end());
    cycle.freed_nodes = news.freed_nodes;
  }
  for (const ClassId id : news.with_room) e.pending.activate(id);
  for (const ClassId id : news.activated) e.pending.activate(id);
  if (news.has_other_nodes) activate_impossible_heads(e, state, cycle);
}

void pass_over_own_changes(EngineData& e, State& state, Cycle& cycle) {
  e.facts_seen = state.cluster().facts_change_count();
  // A pod that was placed may have opened nodes for others by their affinity or spread.
  for (const Action& action : cycle.plan.actions)
    if (const auto* bind = std::get_if<Bind>(&action)) Ledger(state).note_company_of(bind->member);
  for (const ConstraintId constraint : concerned_constraints(state))
    e.pending.each_with_company(constraint, [&](ClassId) { cycle.plan.look_again_at = cycle.plan.at; });
}

void activate_behind_moved_heads(EngineData& e, State&, Cycle&) { e.pending.activate_behind_moved_heads(); }

}  // namespace ashlar
