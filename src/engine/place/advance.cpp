#include "engine/place/advance.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "engine/explain/explain.h"
#include "engine/explain/never_fits.h"
#include "engine/explain/refusals.h"
#include "engine/explain/verdicts.h"
#include "engine/pending/impossible_heads.h"
#include "engine/pending/rekey.h"
#include "engine/pending/requeue.h"
#include "engine/pending/wake_in_turn.h"
#include "engine/place/lifted_holds.h"
#include "engine/place/nomination.h"
#include "engine/place/placement.h"
#include "engine/published/newcomers.h"
#include "engine/quota.h"
#include "engine/reserve/backfill.h"
#include "engine/reserve/held.h"
#include "engine/victims/borrowing.h"
#include "engine/victims/make_room.h"
#include "state/holds/kept.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

/// This many active classes may stay active behind a blocked head if reasons are not requested: looking at each costs
/// less than parking and activating it.
constexpr std::size_t kActiveBehindHeads = 64;

/// Whether searches for the class have a share of the time: those that may cost much, of gangs and of pods with rules
/// or wishes about others. No job of a strict queue passes one that is put off.
bool has_share(const EngineData& e, const State& state, const Cycle& cycle, const PendingQueue::Class& job_class) {
  const bool may_cost_much = job_class.key.is_gang() || job_class.has_company ||
                             state.cluster().constraint(job_class.key.constraint).acts_on_others();
  return may_cost_much && !cycle.is_listed_whole && !backfill_rule(*e.profile).is_strict;
}

/// A start costs its tenant nothing of that share, but for what is counted for its terms beyond this for each member.
constexpr std::uint64_t kCountsOfAMember = 4096;
/// The member is taken off again later, and the readers' copy follows.
constexpr std::uint64_t kTimesCounted = 3;

void note_started(EngineData& e, const State& state, JobId job, std::uint64_t counted, std::uint64_t members) {
  if (counted <= kCountsOfAMember * members) return;
  e.costly.note_failed(state, job, kLooksOfACount * kTimesCounted * (counted - kCountsOfAMember * members));
  e.costly.forget(job);
}

/// It was not settled whether the job could run on the empty cluster.
bool is_unproven(const Reason& reason) {
  return reason.code == ReasonCode::kLimitReached && reason.subject == kLimitOfProof;
}

/// What following the rules of a single pod costs at each node: in its search, its reason, and where it could ever run.
constexpr std::size_t kLooksForRules = 4;

/// What a search and its reason look at besides what is noted: each kind of members is compared with each node.
std::size_t looked_at_for(const State& state, const PendingQueue::Class& job_class) {
  const EquivalenceClass& key = job_class.key;
  const bool has_rules = job_class.has_company && !key.is_gang();
  const auto of = [&](ConstraintId id) { return looks_of_selection(state.cluster().constraint(id)); };
  std::uint64_t kinds = 0;
  for (const MemberRun& run : key.runs) kinds += of(run.constraint);
  if (key.runs.empty()) kinds = of(key.constraint) - 1 + (has_rules ? kLooksForRules : 1);
  return state.cluster().live_count() * kinds;
}

/// What has been looked at, and counted, up to now.
std::uint64_t looks_of(const EngineData& e, const State& state) {
  return e.fit_tables.looks() + kLooksOfACount * state.cluster().counts().work();
}

/// No place was found for the class's first job: it waits, or never fits, and the verdict gives the reason.
void park_for_shortage(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head,
                       const std::optional<Reason>& limit) {
  Verdict verdict{VerdictKind::kWaits, WakeOn::kCapacity, cycle.plan.at, {}};
  if (e.options.has_verdicts) {
    verdict = explain_shortage(state, e.fit_tables, *e.profile, head.entry.job, cycle.plan.at);
    if (!cycle.has_share) cycle.nodes_explained += looked_at_for(state, e.pending.class_at(head.job_class));
    if (limit) verdict.reasons.push_back(*limit);
    e.unproven += std::ranges::any_of(verdict.reasons, is_unproven) ? 1 : 0;
  }
  park(e, state, cycle, head.job_class, verdict);
}

/// Whether what others keep of the cluster is not why the job waits: it requests more than all nodes have.
bool exceeds_the_cluster(const State& state, JobId job, const Reason& refusal) {
  if (refusal.code != ReasonCode::kKeptByGuarantees || QueueId(refusal.subject) != QueueTree::kRoot) return false;
  const auto number = static_cast<std::size_t>(refusal.numbers[0]);
  return number < kQuotaDimensions && quota_needed(state, job)[number] > refusal.numbers[2];
}

/// Its queue does not admit the class's first job: others are stopped for it, or it waits, or never runs, and the
/// verdict gives the reason. False if the queue admits it.
bool close_for_quota(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head) {
  const std::optional<Reason> refusal = quota_refusal(state, head.entry.job);
  if (!refusal) return false;
  const bool is_never = refusal->code == ReasonCode::kExceedsQuota;
  const bool is_held = is_of_gate(refusal->code);
  if (!is_never && !is_held && make_room(e, state, cycle, head)) return true;
  if (!is_never && (cycle.impossible.contains(head.job_class) || exceeds_the_cluster(state, head.entry.job, *refusal)))
    park_for_shortage(e, state, cycle, head, std::nullopt);
  else
    park(e, state, cycle, head.job_class, {kind_of_refusal(*refusal), WakeOn::kQuota, cycle.plan.at, {*refusal}});
  return true;
}

/// Jobs ahead have taken the room for which the class was woken: it waits as before, without a search. The first few in
/// a decision are searched and explained anew, so that their reasons have today's numbers.
bool stays_parked(EngineData& e, State& state, Cycle& cycle, ClassId id) {
  if (cycle.is_listed_whole || !is_room_taken(e, state, cycle, id)) return false;
  if (e.options.has_verdicts && cycle.explained_again++ < kExplainedAgainMax) return false;
  e.pending.park_again(id);
  return true;
}

/// A gang that has lost members keeps its other places until it has these again, and the head may need them.
bool is_broken(const Job& job) { return job.members_placed > 0 && job.members_lacking() > 0; }

/// Behind the blocked head of a strict queue: the job gets the verdict of those that wait there.
bool stays_behind_head(EngineData& e, const State& state, Cycle& cycle, const PendingQueue::Head& head, QueueId queue) {
  if (is_broken(state.job(head.entry.job))) return false;
  const PendingQueue::Head* blocked = e.pending.first_blocked(queue);
  if (blocked == nullptr || !(cycle.is_listed_whole || blocked->entry < head.entry)) return false;
  Verdict behind{VerdictKind::kWaits, WakeOn::kHeadOfQueue, cycle.plan.at, {}};
  if (e.options.has_verdicts) behind.reasons.push_back({ReasonCode::kBehindHead, 0, {1, 0, 0}});
  if (cycle.is_listed_whole)  // in this decision's own order, so it does not stay behind the head for good
    report(e, cycle, head.entry.job, behind);
  else if (e.options.has_verdicts || e.pending.active_heads().size() > kActiveBehindHeads)
    park(e, state, cycle, head.job_class, behind);
  return true;
}

/// Where the job has found a place: whether others that were put off are looked at before it, since it may take what
/// they wait for. It is looked at again after them.
bool lets_others_go_first(EngineData& e, const State& state, Cycle& cycle, const PendingQueue::Head& head) {
  bool is_any = false;
  for (const JobId other : e.costly.take_ahead_of(state, head.entry.job)) {
    if (!e.pending.contains(other)) continue;
    cycle.work.add(e.pending.head_of(other));
    is_any = true;
  }
  if (!is_any) return false;
  cycle.work.add(head);
  cycle.has_searched = false;  // it was not in vain
  return true;
}

/// The trial has a place for the job: it starts, also where others are stopped for it, or is held.
void start_beside_reservations(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head, Trial& trial,
                               RoomBeside room) {
  const Reservation* broken =
      room == RoomBeside::kPlaced ? nullptr : place_beside_reservations(e, state, cycle, head, trial, room);
  if (broken == nullptr)
    commit(e, state, cycle, trial, head.entry);
  else if (!make_room(e, state, cycle, head))
    hold_behind(e, cycle, head, *broken);
}

void advance_job(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head) {
  const JobId job = head.entry.job;
  const BackfillRule& rule = backfill_rule(*e.profile);
  if (!e.pending.contains(job) || e.pending.class_id(job) != head.job_class ||
      !e.pending.class_at(head.job_class).is_active ||
      !e.pending.class_at(head.job_class).jobs.contains(e.pending.entry_of(job)))
    return;
  const PendingQueue::Class& job_class = e.pending.class_at(head.job_class);
  const QueueId queue = job_class.key.queue;
  const auto held = cycle.held.find(head.job_class);
  // nothing was started since
  const bool is_unchanged = held != cycle.held.end() && held->second == cycle.plan.actions.size();
  const auto next_of_class = [&]() -> std::optional<PendingQueue::Head> {
    if (cycle.is_listed_whole) return std::nullopt;
    const auto it = job_class.jobs.upper_bound(head.entry);
    return it == job_class.jobs.end() ? std::nullopt : std::optional(e.pending.head_of(head.job_class, *it));
  };
  // A job that starts or is held leaves the class's list, and others may enter.
  const std::optional<PendingQueue::Head> next = next_of_class();
  // Heads that can never run any more are looked at before the jobs that they block.
  if (rule.is_strict ? activate_impossible_heads(e, state, cycle, queue) : activate_impossible_heads(e, state, cycle)) {
    cycle.work.add(head);
    return;
  }
  if (rule.is_strict && stays_behind_head(e, state, cycle, head, queue)) return;
  if (cycle.has_share && !e.costly.take_turn(state, job)) return report_put_off(e, cycle, head.job_class);
  // Jobs of a class need the same, so the quota that was enough for another one is enough for this one too.
  if (!is_unchanged && close_for_quota(e, state, cycle, head)) return;
  cycle.has_searched = rule.may_start != nullptr;
  if (rule.may_start != nullptr && !rule.may_start(e, state, cycle, head)) {
    if (const auto other = next ? hold_its_like(e, state, cycle, head) : std::nullopt) cycle.work.add(*other);
    return;
  }
  if (stays_parked(e, state, cycle, head.job_class)) return;
  cycle.has_searched = true;
  Trial trial(state);
  PlacementOutcome outcome;
  const RoomBeside room = place_in_room_beside(e, state, cycle, job, trial);
  if (room != RoomBeside::kPlaced)
    outcome =
        place_job({trial, e.fit_tables, *e.profile, e.draws, members_within_quota(state, job), cycle.plan.at}, job);
  else
    outcome.is_placed = true;
  const bool is_over_nominations =
      !outcome.is_placed && place_over_nominations(e, state, trial, head.entry.job, cycle.plan.at);
  if (outcome.is_placed || is_over_nominations) {
    if (lets_others_go_first(e, state, cycle, head)) return;
    start_beside_reservations(e, state, cycle, head, trial, is_over_nominations ? RoomBeside::kUnknown : room);
    const bool is_held = cycle.holds_like_beyond.has_value();
    if (const auto other = next && is_held ? hold_its_like(e, state, cycle, head) : next) cycle.work.add(*other);
    return;
  }
  if (make_room(e, state, cycle, head)) return;
  if (rule.passes_its_like)
    if (const auto higher = first_that_outranks_more(state, job_class, head.entry); higher) {
      cycle.work.add(e.pending.head_of(head.job_class, *higher));
      return;
    }
  if (!rule.is_strict)
    if (const auto other = first_that_may_use_more(e.pending, state, head, cycle.plan.at); other) {
      cycle.work.add(*other);
      return;
    }
  if (outcome.over_quota)
    park(e, state, cycle, head.job_class,
         {VerdictKind::kOverQuota, WakeOn::kQuota, cycle.plan.at, {*outcome.over_quota}});
  else
    park_for_shortage(e, state, cycle, head, outcome.limit);
}

}  // namespace

void commit(EngineData& e, State& state, Cycle& cycle, Trial& trial, const PendingQueue::Entry& entry) {
  const JobId job = entry.job;
  const bool is_within_one_domain = stays_within(state, job, trial.steps());
  if (!is_within_one_domain && e.before_stop) e.before_stop(job);
  ASHLAR_CHECK(is_within_one_domain);
  for (const Trial::Step& step : trial.steps()) {
    if (const auto* claim = std::get_if<Trial::Eviction>(&step)) {  // another scheduler's, outranked by the job
      Ledger(state).drop_nomination(claim->member, claim->node);
      cycle.plan.look_again_at = cycle.plan.at;  // waiting jobs were requeued before
    } else if (const auto* placement = std::get_if<Trial::Placement>(&step)) {
      const DeviceRequest& request = state.demand(state.member(placement->member).demand).devices;
      const DeviceShare each = placement->devices.is_empty() ? DeviceShare{} : requested_share(request);
      cycle.plan.actions.push_back(Bind{placement->member, job, placement->node, placement->devices, each});
    }
  }
  const std::vector<Trial::Step> steps = trial.commit();
  each_placement(steps, [&](const Trial::Placement& placed) {
    if (!tells_devices_apart(state, placed.node, placed.member)) return;
    Ledger(state).note_freed(placed.node);
    cycle.plan.look_again_at = cycle.plan.at;
  });
  note_new_borrowers(e, state, cycle, job, steps);
  note_nothing_kept(e, state, cycle, job, steps);
  Ledger(state).start(job, cycle.plan.at);
  e.costly.forget(job);
  cycle.started.insert(job);
  cycle.account(state, job);
  e.reservations.account(state, e.pending, entry, state.job(job).late_end_if_started(cycle.plan.at), steps);
  rekey(e, state, cycle);
  if (state.job(job).is_in_backlog) {  // elastic members are left over: a class of its own, looked at next
    Ledger(state).refresh_backlog(job);
    cycle.plan.look_again_at = cycle.plan.at;
  }
  report(e, cycle, job, {VerdictKind::kPlaced, WakeOn::kNothing, cycle.plan.at, {}});
  absorb_changes(e, state, cycle);
  wake_held(e, state, cycle);
}

void advance(EngineData& e, State& state, Cycle& cycle) {
  if (std::exchange(e.is_cut, false)) cycle.plan.look_again_at = cycle.plan.at;  // for what was not requeued
  if (!list_newcomers(e, state, cycle)) cycle.work.assign(e.pending.active_heads());
  cycle.has_begun = true;
  e.costly.refill(cycle.plan.at, e.costly_limits);
  wake_in_turn(e, state, cycle);
  while (!cycle.work.is_empty()) {
    const bool has_explained_enough = cycle.nodes_explained >= e.nodes_explained_max && !cycle.is_listed_whole;
    if (cycle.plan.actions.size() >= e.options.binds_per_step_max || has_explained_enough) {
      cycle.plan.look_again_at = cycle.plan.at;
      e.is_cut = has_explained_enough;
      break;
    }
    const PendingQueue::Head head = cycle.work.take();
    ++cycle.plan.examined;
    const std::uint64_t reservations_before = e.reservations.changes();
    const std::size_t actions_before = cycle.plan.actions.size();
    const std::size_t freed_before = state.freed_nodes().size();
    const bool was_holder = e.pending.holders().contains(head.entry.job);
    const std::uint64_t looks_before = looks_of(e, state);
    const PendingQueue::Class& job_class = e.pending.class_at(head.job_class);
    const std::uint64_t counted_before = state.cluster().counts().work();
    cycle.has_share = has_share(e, state, cycle, job_class);
    e.fit_tables.note_looks(looked_at_for(state, job_class));
    cycle.has_searched = false;
    advance_job(e, state, cycle, head);
    const std::size_t started = cycle.plan.actions.size() - actions_before;
    if (cycle.has_share && cycle.has_searched && started == 0)
      e.costly.note_failed(state, head.entry.job, looks_of(e, state) - looks_before);
    else if (cycle.has_share)
      note_started(e, state, head.entry.job, state.cluster().counts().work() - counted_before, started);
    if (e.reservations.changes() != reservations_before || cycle.plan.actions.size() != actions_before)
      look_at_those_set_aside(e, cycle, head);
    // A nomination that fell, a job that was stopped, or a hold of which it is known now which devices it has, leaves
    // more than the job takes, for jobs that are parked and ahead of those still to be looked at.
    if (state.freed_nodes().size() != freed_before) break;
    // Jobs that it holds no more come before those behind them. After a start they were woken already.
    if (was_holder && cycle.plan.actions.size() == actions_before) wake_held_by(e, state, cycle, head.entry.job);
    wake_in_turn(e, state, cycle);
    if (!cycle.work.is_empty()) continue;
    cycle.set_aside.clear();
    wake_held(e, state, cycle);  // behind heads that have changed
  }
  if (cycle.work.is_empty()) cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, e.costly.next_turn());
}

}  // namespace ashlar
