#include "engine/explain/verdicts.h"

#include <algorithm>
#include <cstdlib>

#include "base/grown.h"
#include "engine/explain/explain.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

std::uint16_t mark_of(const Verdict& verdict) {
  const ReasonCode code = verdict.reasons.empty() ? ReasonCode::kNone : verdict.reasons.front().code;
  return static_cast<std::uint16_t>(1 + static_cast<int>(verdict.kind) * 256 + static_cast<int>(code));
}

void tell(EngineData& e, Cycle& cycle, JobId job, const Verdict& verdict) {
  const std::uint16_t mark = mark_of(verdict);
  EngineData::Reported& reported = grown(e.reported, job.row());
  const std::int64_t number = verdict.reasons.empty() ? 0 : verdict.reasons.front().numbers[0];
  const ReasonCode code = verdict.reasons.empty() ? ReasonCode::kNone : verdict.reasons.front().code;
  const bool is_held = code == ReasonCode::kReservationHeld;
  // The time reported to a held job is kept until it is off by a tenth of the time left: thousands may depend on a
  // reservation that moves slightly each second.
  const bool is_off = is_held && std::abs(number - reported.number) > (number - verdict.at.value) / 10;
  const bool is_new = reported.mark != mark || is_off;
  if (!is_new && is_held && reported.number > verdict.at.value) return;
  if (!is_new && !is_held && code != ReasonCode::kBehindHead) return;  // of those, no more than the mark is read again
  reported = {mark, verdict.at, number};
  if (is_new) cycle.plan.verdicts.push_back({job, verdict});
}

}  // namespace

Verdict verdict_of(const EngineData& e, JobId job) {
  if (!e.pending.contains(job)) return {};
  const PendingQueue::Class& job_class = e.pending.class_at(e.pending.class_id(job));
  if (!job_class.is_active) return job_class.verdict;
  const EngineData::Reported reported = value_at(e.reported, job.row());
  for (const ReasonCode code : {ReasonCode::kReservationHeld, ReasonCode::kBehindHead, ReasonCode::kSearchPutOff}) {
    const WakeOn wake_on = code == ReasonCode::kSearchPutOff ? WakeOn::kTime : WakeOn::kHeadOfQueue;
    Verdict held{VerdictKind::kWaits, wake_on, reported.at, {{code, 0, {reported.number, 0, 0}}}};
    if (reported.mark == mark_of(held)) return held;
  }
  return reported.mark == mark_of(job_class.verdict) ? job_class.verdict : Verdict{};  // woken, and not looked at since
}

namespace {

/// What the count of changes was before changes that were all undone is what it is now: a question changes no decision.
void pass_over_undone_changes(EngineData& e, std::uint64_t before, std::uint64_t now) {
  const auto pass = [&](std::uint64_t& seen) { seen = seen == before ? now : seen; };
  pass(e.facts_seen);
  pass(e.heads_walked_on);
  std::ranges::for_each(e.judged_on, pass);
}

}  // namespace

Verdict verdict_with_numbers_of_now(EngineData& e, State& state, JobId job) {
  Verdict verdict = verdict_of(e, job);
  if (!e.pending.contains(job) || e.pending.class_at(e.pending.class_id(job)).is_active) return verdict;
  if (verdict.wake_on == WakeOn::kCapacity) {
    // Removed nodes did not cause a re-evaluation: whether it waits or never fits stays as reported.
    const std::uint64_t before = state.cluster().facts_change_count();
    Verdict now = explain_shortage(state, e.fit_tables, *e.profile, job, verdict.at);
    pass_over_undone_changes(e, before, state.cluster().facts_change_count());
    return now.kind == verdict.kind ? now : verdict;
  }
  if (verdict.wake_on != WakeOn::kQuota) return verdict;
  if (const std::optional<Reason> refusal = quota_refusal(state, job))
    verdict.reasons = {*refusal};
  else if (waits_for_class_quota(verdict))
    verdict.reasons.front() = with_usage_of_now(state, verdict.reasons.front());
  return verdict;
}

VerdictKind kind_of_refusal(const Reason& refusal) {
  if (refusal.code == ReasonCode::kExceedsQuota) return VerdictKind::kNeverFits;
  return is_of_gate(refusal.code) ? VerdictKind::kWaits : VerdictKind::kOverQuota;
}

void report(EngineData& e, Cycle& cycle, JobId job, const Verdict& verdict) {
  if (!e.options.has_verdicts) return;
  if (verdict.kind != VerdictKind::kPlaced && e.pending.contains(job)) {
    const ClassId id = e.pending.class_id(job);
    if (e.pending.class_at(id).jobs.contains(e.pending.entry_of(job))) e.pending.note_reported(id, 0);
  }
  tell(e, cycle, job, verdict);
}

void park(EngineData& e, const State& state, Cycle& cycle, ClassId id, const Verdict& verdict) {
  e.pending.park(id, verdict);
  if (!e.options.has_verdicts) return;
  // A class closed for its quota was not looked at on the nodes.
  grown(e.judged_on, id.row()) = verdict.wake_on == WakeOn::kQuota ? 0 : state.cluster().facts_change_count();
  const std::uint16_t mark = mark_of(verdict);
  if (verdict.wake_on != WakeOn::kHeadOfQueue && e.pending.are_all_reported(id, mark)) return;
  for (const PendingQueue::Entry& entry : e.pending.class_at(id).jobs) tell(e, cycle, entry.job, verdict);
  e.pending.note_reported(id, mark);
}

void report_put_off(EngineData& e, Cycle& cycle, ClassId id) {
  const Verdict put_off{VerdictKind::kWaits, WakeOn::kTime, cycle.plan.at, {{ReasonCode::kSearchPutOff, 0, {0, 0, 0}}}};
  const std::uint16_t mark = mark_of(put_off);
  if (!e.options.has_verdicts || e.pending.are_all_reported(id, mark)) return;
  for (const PendingQueue::Entry& entry : e.pending.class_at(id).jobs)
    if (value_at(e.reported, entry.job.row()).mark == 0) tell(e, cycle, entry.job, put_off);
  e.pending.note_reported(id, mark);
}

void report_newcomers(EngineData& e, State& state, Cycle& cycle) {
  const std::vector<JobId> newcomers = e.pending.take_newcomers_of_parked();
  if (!e.options.has_verdicts) return;
  for (const JobId job : newcomers) {
    if (!state.is_live(job) || !e.pending.contains(job)) continue;
    const ClassId id = e.pending.class_id(job);
    if (e.pending.class_at(id).is_active) {
      e.pending.note_reported(id, 0);  // it may be parked before this one has had its turn
      continue;
    }
    tell(e, cycle, job, verdict_of(e, job));
    e.pending.note_newcomers_reported(id);
  }
}

}  // namespace ashlar
