#include "engine/engine.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "base/check.h"
#include "base/grown.h"
#include "engine/cycle.h"
#include "engine/explain/explain.h"
#include "engine/place/placement.h"
#include "engine/quota.h"
#include "state/ledger.h"

namespace ashlar {

namespace {
constexpr std::size_t kRedefinitionsMin = 16;
/// So few active classes may stay open behind a blocked head where nobody asks why they wait: a look at each costs less than to close and open it.
constexpr std::size_t kActiveBehindHeads = 64;
}  // namespace

Engine::Engine(Profile profile, EngineOptions options)
    : profile_(std::make_unique<Profile>(std::move(profile))),
      options_(options),
      pending_(*profile_->order),
      fit_tables_(*profile_),
      draws_(profile_->seed) {}

Plan Engine::decide(State& state, Millis now) {
  Cycle cycle;
  cycle.plan.based_on = state.revision();
  cycle.plan.at = now;
  absorb_changes(state);
  // Looked for when a part of them may be outdated, so that a row that is used again costs little.
  if (state.redefinitions() - redefinitions_seen_ > kRedefinitionsMin + fit_tables_.size() / 4) {
    fit_tables_.forget_outdated(state);
    redefinitions_seen_ = state.redefinitions();
  }
  pending_.forget_held();
  reservations_.refresh(state, pending_, state.changed_nodes());
  Ledger(state).forget_changed_nodes();
  requeue(state, cycle);
  pending_.activate_behind_moved_heads();
  const bool is_on_beat = profile_->cadence.value == 0 || now.value % profile_->cadence.value == 0;
  if (!is_on_beat) {
    const std::int64_t beat = profile_->cadence.value;
    cycle.plan.look_again_at = Millis((now.value / beat + 1) * beat);
  } else if (profile_->victim == VictimRule::kByQuotaUnverified) {
    preempt_by_count(state, cycle);
  } else {
    advance(state, cycle);
  }
  absorb_changes(state);
  if (options_.has_verdicts)
    report_newcomers(state, cycle.plan);
  else
    pending_.take_newcomers_of_parked();
  return std::move(cycle.plan);
}

void Engine::absorb_changes(State& state) {
  for (const BacklogChange& change : state.backlog_changes()) {
    pending_.leave(change.job);
    if (change.job.row() < told_.size()) told_[change.job.row()] = {};
    // A row may have been reused or refreshed since; only the last word counts, and it is read from the state.
    if (!change.has_entered || !state.is_live(change.job) || !state.job(change.job).is_in_backlog) continue;
    pending_.enter(state, change.job);
    // Its class may be closed for jobs of less priority than nominations that it outranks.
    if (!state.nominations().empty()) pending_.activate(pending_.class_id(change.job));
  }
  Ledger(state).forget_backlog_changes();
}

void Cycle::add_work(const PendingQueue::Head& head) {
  if (!std::exchange(is_top_taken, false)) {
    work.push_back(head);
    std::push_heap(work.begin(), work.end(), std::greater<>());
    return;
  }
  std::size_t hole = 0;
  for (std::size_t child = 1; child < work.size(); child = 2 * hole + 1) {
    if (child + 1 < work.size() && work[child + 1] < work[child]) ++child;
    if (!(work[child] < head)) break;
    work[hole] = work[child];
    hole = child;
  }
  work[hole] = head;
}

PendingQueue::Head Cycle::take_work() {
  if (is_top_taken) {
    std::pop_heap(work.begin(), work.end(), std::greater<>());
    work.pop_back();
  }
  is_top_taken = true;
  return work.front();
}

void Engine::advance(State& state, Cycle& cycle) {
  const bool has_only_newcomers = profile_->order->newcomers != nullptr &&
                                  std::all_of(pending_.active_heads().begin(), pending_.active_heads().end(),
                                              [&](const PendingQueue::Head& h) { return state.job(h.entry.job).submitted == cycle.plan.at; }) &&
                                  all_waiting_came(state, cycle.plan.at);
  if (has_only_newcomers) {
    pending_.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
      for (const PendingQueue::Entry& e : job_class.jobs)
        cycle.add_work({{e.is_surplus, profile_->order->newcomers(state, e.job), e.turn, e.job}, id});
    });
    cycle.is_listed_whole = true;
  } else {
    cycle.work.assign(pending_.active_heads().begin(), pending_.active_heads().end());  // ascending, so a heap
  }
  while (cycle.has_work()) {
    if (cycle.plan.actions.size() >= options_.binds_per_step_max) {
      cycle.plan.look_again_at = cycle.plan.at;
      break;
    }
    const PendingQueue::Head head = cycle.take_work();
    ++cycle.plan.examined;
    advance_job(state, cycle, head);
  }
}

bool Engine::all_waiting_came(const State& state, Millis now) const {
  bool is_so = true;
  pending_.each_class([&](ClassId, const PendingQueue::Class& job_class) {
    for (const PendingQueue::Entry& e : job_class.jobs) {
      is_so = is_so && state.job(e.job).submitted == now;
      if (!is_so) return;
    }
  });
  return is_so;
}

void Engine::advance_job(State& state, Cycle& cycle, const PendingQueue::Head& head) {
  const JobId job = head.entry.job;
  if (!pending_.contains(job) || pending_.class_id(job) != head.job_class || !pending_.class_at(head.job_class).is_active) return;
  const PendingQueue::Class& job_class = pending_.class_at(head.job_class);
  const QueueId queue = job_class.key.queue;
  const auto held = cycle.held.find(head.job_class);
  const bool is_unchanged = held != cycle.held.end() && held->second.actions == cycle.plan.actions.size();  // nothing was started since
  const auto next_of_class = [&] {
    if (cycle.is_listed_whole) return;
    const auto it = is_unchanged && held->second.next && **held->second.next == head.entry ? std::next(*held->second.next)
                                                                                           : job_class.jobs.upper_bound(head.entry);
    if (it == job_class.jobs.end()) return;
    if (const auto now_held = is_unchanged ? held : cycle.held.find(head.job_class); now_held != cycle.held.end()) {
      now_held->second.actions = cycle.plan.actions.size();
      now_held->second.next = it;
    }
    cycle.add_work({*it, head.job_class});
  };
  // Heads that can never run any more have their turn before those whom they block.
  if (profile_->blocking == Blocking::kStrict ? activate_impossible_heads(state, cycle, queue) : activate_impossible_heads(state, cycle)) {
    cycle.add_work(head);
    return;
  }
  if (profile_->blocking == Blocking::kStrict) {
    const PendingQueue::Head* blocked = pending_.first_blocked(queue);
    if (blocked != nullptr && (cycle.is_listed_whole || blocked->entry < head.entry)) {
      Verdict behind{VerdictKind::kWaits, WakeOn::kHeadOfQueue, cycle.plan.at, {}, {}};
      if (options_.has_verdicts) behind.reasons.push_back({ReasonCode::kBehindHead, 0, {1, 0, 0}});
      if (cycle.is_listed_whole)  // in this decision's own order, so it does not stand behind the head for good
        report(cycle, job, behind);
      else if (options_.has_verdicts || pending_.active_heads().size() > kActiveBehindHeads)
        park(state, cycle, head.job_class, behind);
      return;
    }
  }
  // Jobs of a class need the same, so another's quota was enough for this one too.
  if (!is_unchanged && close_for_quota(state, cycle, head)) return;
  if (profile_->blocking == Blocking::kEasyByCount && !may_backfill_by_count(state, cycle, head)) {
    next_of_class();
    return;
  }
  if (profile_->blocking == Blocking::kEasy && !find_binding_reservations(state, cycle, head)) {
    next_of_class();
    return;
  }
  // The iterator's neighbour is taken before the job leaves the class.
  std::optional<PendingQueue::Head> next;
  if (!cycle.is_listed_whole)
    if (const auto it = job_class.jobs.upper_bound(head.entry); it != job_class.jobs.end()) next = PendingQueue::Head{*it, head.job_class};
  Trial trial(state);
  PlacementOutcome outcome = place_job({trial, fit_tables_, *profile_, draws_, members_within_quota(state, job)}, job);
  if (!outcome.is_placed) outcome.is_placed = place_over_nominations(state, trial, job);
  if (outcome.is_placed) {
    if (!place_beside_reservations(state, cycle, head, trial)) {
      if (next) cycle.add_work(*next);
      return;
    }
    commit(state, cycle, trial, head.entry);
    if (next) cycle.add_work(*next);
    return;
  }
  if (const auto higher = first_that_outranks_more(state, job_class, head.entry); higher) {
    cycle.add_work({*higher, head.job_class});
    return;
  }
  park_for_shortage(state, cycle, head, outcome.is_limit_reached);
}

std::optional<PendingQueue::Entry> Engine::first_that_outranks_more(const State& state, const PendingQueue::Class& job_class,
                                                                    const PendingQueue::Entry& than) const {
  if (profile_->blocking != Blocking::kSkip || state.nominations().empty()) return std::nullopt;  // elsewhere nobody of a class passes its head
  const std::size_t outranked = outranked_nominations(state, than.job).size();
  for (auto it = job_class.jobs.upper_bound(than); it != job_class.jobs.end(); ++it)
    if (state.job(it->job).priority > state.job(than.job).priority && outranked_nominations(state, it->job).size() > outranked) return *it;
  return std::nullopt;
}

bool Engine::close_for_quota(State& state, Cycle& cycle, const PendingQueue::Head& head) {
  const std::optional<Reason> refusal = quota_refusal(state, head.entry.job);
  if (!refusal) return false;
  const bool is_never = refusal->code == ReasonCode::kExceedsQuota;
  if (!is_never && cycle.impossible.contains(head.job_class))
    park_for_shortage(state, cycle, head, false);
  else
    park(state, cycle, head.job_class, {is_never ? VerdictKind::kNeverFits : VerdictKind::kOverQuota, WakeOn::kQuota, cycle.plan.at, {}, {*refusal}});
  return true;
}

void Engine::park_for_shortage(State& state, Cycle& cycle, const PendingQueue::Head& head, bool is_limit_reached) {
  Verdict verdict{VerdictKind::kWaits, WakeOn::kCapacity, cycle.plan.at, {}, {}};
  if (options_.has_verdicts) {
    verdict = explain_shortage(state, fit_tables_, *profile_, head.entry.job, cycle.plan.at);
    if (is_limit_reached) verdict.reasons.push_back({ReasonCode::kLimitReached, kLimitOfSearch, {kRunsTriedMax, 0, 0}});
    for (const Reason& reason : verdict.reasons) unproven_ += reason.code == ReasonCode::kLimitReached && reason.subject == kLimitOfProof ? 1 : 0;
  }
  park(state, cycle, head.job_class, verdict);
}

void Engine::commit(State& state, Cycle& cycle, Trial& trial, const PendingQueue::Entry& entry) {
  const JobId job = entry.job;
  const bool is_within_one_domain = stays_within(state, job, trial.steps());
  if (!is_within_one_domain && before_stop_) before_stop_(job);
  ASHLAR_CHECK(is_within_one_domain);
  for (const Trial::Step& step : trial.steps()) {
    if (const auto* claim = std::get_if<Trial::Eviction>(&step)) {  // another scheduler's, which the job outranks
      Ledger(state).drop_nomination(claim->member, claim->node);
      cycle.plan.look_again_at = cycle.plan.at;  // those who wait were woken before
    } else if (const auto* placement = std::get_if<Trial::Placement>(&step)) {
      cycle.plan.actions.push_back(Bind{placement->member, job, placement->node, placement->devices});
    }
  }
  const std::vector<Trial::Step> steps = trial.commit();
  Ledger(state).start(job, cycle.plan.at);
  cycle.account(state, job);
  reservations_.account(state, entry, state.job(job).late_end_if_started(cycle.plan.at), steps);
  if (state.job(job).is_in_backlog) {  // elastic members are left over: a class of its own, looked at next
    Ledger(state).refresh_backlog(job);
    cycle.plan.look_again_at = cycle.plan.at;
  }
  report(cycle, job, {VerdictKind::kPlaced, WakeOn::kNothing, cycle.plan.at, {}, {}});
  absorb_changes(state);
}

void Engine::park(const State& state, Cycle& cycle, ClassId id, const Verdict& verdict) {
  pending_.park(id, verdict);
  if (!options_.has_verdicts) return;
  // What is closed for its quota was not looked at on the nodes.
  grown(judged_on_, id.row()) = verdict.wake_on == WakeOn::kQuota ? 0 : state.cluster().facts_change_count();
  for (const PendingQueue::Entry& e : pending_.class_at(id).jobs) report(cycle, e.job, verdict);
}

void Engine::report(Cycle& cycle, JobId job, const Verdict& verdict) {
  if (!options_.has_verdicts) return;
  const std::uint16_t mark = mark_of(verdict);
  Told& told = grown(told_, job.row());
  const std::int64_t number = verdict.reasons.empty() ? 0 : verdict.reasons.front().numbers[0];
  const bool is_held = !verdict.reasons.empty() && verdict.reasons.front().code == ReasonCode::kReservationHeld;
  // The time told to a held job stands until it is off by a tenth of what is left: thousands may hang on a reservation that moves by a little each second.
  const bool is_off = is_held && std::abs(number - told.number) > (number - verdict.at.value) / 10;
  const bool is_new = told.mark != mark || is_off;
  if (!is_new && is_held && told.number > verdict.at.value) return;
  told = {mark, verdict.at, number};
  if (is_new) cycle.plan.verdicts.push_back({job, verdict});
}

std::uint16_t Engine::mark_of(const Verdict& verdict) {
  const ReasonCode code = verdict.reasons.empty() ? ReasonCode::kNone : verdict.reasons.front().code;
  return static_cast<std::uint16_t>(1 + static_cast<int>(verdict.kind) * 256 + static_cast<int>(code));
}

Verdict Engine::verdict_of(JobId job) const {
  if (!pending_.contains(job)) return {};
  const PendingQueue::Class& job_class = pending_.class_at(pending_.class_id(job));
  if (!job_class.is_active) return job_class.verdict;
  const Told told = value_at(told_, job.row());
  for (const ReasonCode code : {ReasonCode::kReservationHeld, ReasonCode::kBehindHead}) {
    Verdict held{VerdictKind::kWaits, WakeOn::kHeadOfQueue, told.at, {}, {{code, 0, {told.number, 0, 0}}}};
    if (told.mark == mark_of(held)) return held;
  }
  return told.mark == mark_of(job_class.verdict) ? job_class.verdict : Verdict{};  // woken, and not looked at since
}

Verdict Engine::verdict_with_numbers_of_now(State& state, JobId job) {
  Verdict verdict = verdict_of(job);
  if (!pending_.contains(job) || pending_.class_at(pending_.class_id(job)).is_active) return verdict;
  if (verdict.wake_on == WakeOn::kCapacity) {
    // Nodes that went have not had it judged anew: whether it waits or never fits stays what was reported.
    Verdict now = explain_shortage(state, fit_tables_, *profile_, job, verdict.at);
    return now.kind == verdict.kind ? now : verdict;
  }
  if (verdict.wake_on != WakeOn::kQuota) return verdict;
  if (const std::optional<Reason> refusal = quota_refusal(state, job)) verdict.reasons = {*refusal};
  return verdict;
}

void Engine::report_newcomers(const State& state, Plan& plan) {
  Cycle cycle;
  cycle.plan = std::move(plan);
  for (const JobId job : pending_.take_newcomers_of_parked())
    if (state.is_live(job) && pending_.contains(job) && !pending_.class_at(pending_.class_id(job)).is_active) report(cycle, job, verdict_of(job));
  plan = std::move(cycle.plan);
}

bool Engine::try_place(Trial& trial, JobId job) {
  Rng draws(draws_.state());
  return place_job({trial, fit_tables_, *profile_, draws}, job).is_placed;
}

}  // namespace ashlar
