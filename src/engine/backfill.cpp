// Who may start although somebody ahead of it waits (EASY backfill), by either rule: promises of named nodes, or the count of cards as published.
#include <algorithm>

#include "engine/engine.h"
#include "engine/quota.h"
#include "engine/round.h"

namespace ashlar {
namespace {

Verdict held_until(Millis promised, Millis now) {
  return {VerdictKind::kWaits, WakeOn::kHeadOfQueue, now, {}, {{ReasonCode::kReservationHeld, 0, {promised.value, 0, 0}}}};
}

/// Who waits for quota is delayed only by jobs that count against the same limit.
bool concerns(const State& state, const Verdict& waiting, const Agenda::Head& head) {
  if (waiting.wake_on != WakeOn::kQuota || waiting.reasons.empty()) return true;
  return state.queues.is_within(state.job(head.entry.job).queue, QueueId(waiting.reasons.front().subject));
}

}  // namespace

bool Engine::find_binding_promises(State& state, Round& round, const Agenda::Head& head) {
  round.binding.clear();
  if (agenda_.blocked_heads().empty()) return true;
  const Millis end = state.job(head.entry.job).end_if_started(round.plan.at);
  for (const Round::Held& held : round.held) {  // another of its shape, no longer than it, was held a moment ago
    if (held.shape != head.shape || end < held.end) continue;
    report(round, head.entry.job, held_until(held.promised, round.plan.at));
    return false;
  }
  std::vector<Agenda::Head> ahead;
  for (const auto& [queue, heads] : agenda_.blocked_heads())
    if (heads.begin()->entry < head.entry && concerns(state, agenda_.shape(heads.begin()->shape).verdict, head)) ahead.push_back(*heads.begin());
  std::sort(ahead.begin(), ahead.end());
  if (ahead.size() > Promises::kMax) ahead.resize(Promises::kMax);
  for (const Agenda::Head& blocked : ahead) {
    Trial trial(state);
    Rng draws(draws_.state());
    const Promise& promise = promises_.to({trial, views_, *profile_, draws}, blocked, agenda_.shape(blocked.shape).key, round.plan.at);
    if (promise.at == Millis::max() || end <= promise.at) continue;
    if (!promise.spares_quota_for(state, head.entry.job)) {
      round.held.push_back({head.shape, end, promise.at});
      report(round, head.entry.job, held_until(promise.at, round.plan.at));
      return false;
    }
    round.binding.push_back(blocked.entry.job);
  }
  return true;
}

bool Engine::keeps_promises(const State& state, const Round& round, const Trial& trial) const {
  return std::all_of(round.binding.begin(), round.binding.end(), [&](JobId job) { return promises_.find(job)->allows(state, trial.steps()); });
}

bool Engine::place_beside_promises(State& state, Round& round, const Agenda::Head& head, Trial& trial) {
  trial.rollback_to(0);
  for (const JobId job : round.binding) promises_.find(job)->withhold(trial);
  const bool is_placed = place_job({trial, views_, *profile_, draws_, members_within_quota(state, head.entry.job)}, head.entry.job).is_placed;
  trial.hand_out();
  if (is_placed && keeps_promises(state, round, trial)) return true;
  trial.rollback_to(0);
  const Millis promised = promises_.find(round.binding.front())->at;
  round.held.push_back({head.shape, state.job(head.entry.job).end_if_started(round.plan.at), promised});
  report(round, head.entry.job, held_until(promised, round.plan.at));
  return false;
}

bool Engine::may_backfill_by_count(const State& state, Round& round, const Agenda::Head& head) {
  const std::int64_t cards = agenda_.shape(head.shape).cards;
  const Millis end = state.job(head.entry.job).end_if_started(round.plan.at);
  for (const auto& [queue, heads] : agenda_.blocked_heads()) {
    // The published rule knows cards only: who waits for quota has no reservation.
    const auto first =
        std::find_if(heads.begin(), heads.end(), [&](const Agenda::Head& h) { return agenda_.shape(h.shape).verdict.wake_on == WakeOn::kCapacity; });
    if (first == heads.end() || !(first->entry < head.entry)) continue;
    const Agenda::Head& blocked = *first;
    const Round::Reservation& r = round.reservation_for(state, blocked.entry.job, agenda_.shape(blocked.shape).cards);
    if (r.shadow == Millis::max() || end <= r.shadow || cards <= r.extra) continue;
    report(round, head.entry.job, held_until(r.shadow, round.plan.at));
    return false;
  }
  return true;
}

const Round::Reservation& Round::reservation_for(const State& state, JobId job, std::int64_t cards) {
  for (const Reservation& r : reservations)
    if (r.job == job) return r;
  std::int64_t free = 0;
  for (const std::int64_t idle : state.cluster.group_idle_cards()) free += idle;
  Reservation r{job, Millis::max(), 0};
  const auto ends = state.timeline.ends();
  if (free >= cards) {  // cards enough, but in pieces
    r.shadow = ends.empty() ? Millis::max() : ends.front().at;
    r.extra = std::max<std::int64_t>(free - cards, 0);
  } else {
    const Timeline::Window w = state.timeline.earliest(free, cards);
    r.shadow = w.at;
    r.extra = w.extra;
  }
  reservations.push_back(r);
  return reservations.back();
}

void Round::account(const State& state, JobId started) {
  for (Reservation& r : reservations)
    if (state.job(started).end_at > r.shadow) r.extra -= state.job(started).cards_total;
}

}  // namespace ashlar
