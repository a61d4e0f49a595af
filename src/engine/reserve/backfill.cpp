// Who may start although somebody ahead of it waits (EASY backfill), by either rule: reservations of named nodes, or the count of devices as published.
#include <algorithm>

#include "engine/cycle.h"
#include "engine/engine.h"
#include "engine/quota.h"
#include "engine/reserve/earliest_start.h"

namespace ashlar {
namespace {

Verdict held_until(Millis promised, Millis now) {
  return {VerdictKind::kWaits, WakeOn::kHeadOfQueue, now, {}, {{ReasonCode::kReservationHeld, 0, {promised.value, 0, 0}}}};
}

}  // namespace

bool Engine::find_binding_reservations(State& state, Cycle& cycle, const PendingQueue::Head& head) {
  cycle.binding.clear();
  if (pending_.blocked_heads().empty()) return true;
  const Millis now = cycle.plan.at;
  const Millis end = state.job(head.entry.job).late_end_if_started(now);
  // Another of its class, no longer than it, was held a moment ago.
  if (const auto held = cycle.held.find(head.job_class); held != cycle.held.end() && end >= held->second.end) {
    if (options_.has_verdicts) report(cycle, head.entry.job, held_until(held->second.promised, now));
    return false;
  }
  for (const PendingQueue::Head& blocked : reservations_.heads_ahead(state, pending_, head.entry, state.job(head.entry.job).queue)) {
    Trial trial(state);
    Rng draws(draws_.state());
    const Reservation& reservation = reservations_.to({trial, fit_tables_, *profile_, draws}, pending_, blocked, now);
    if (reservation.at == Millis::max() || end <= reservation.at) continue;
    cycle.binding.push_back(blocked.entry.job);
    if (reservation.spares_quota_for(state, head.entry.job)) continue;
    hold(state, cycle, head, reservation);
    return false;
  }
  return true;
}

const Reservation* Engine::broken_reservation(const State& state, const Cycle& cycle, const Trial& trial, Beside beside) const {
  for (const JobId job : cycle.binding)
    if (const Reservation* reservation = reservations_.find(job); !reservation->allows(state, trial.steps(), beside)) return reservation;
  return nullptr;
}

bool Engine::place_beside_reservations(State& state, Cycle& cycle, const PendingQueue::Head& head, Trial& trial) {
  const Reservation* broken = broken_reservation(state, cycle, trial, Beside::kItsDevices);
  if (broken == nullptr) return true;
  const bool has_shares = std::any_of(cycle.binding.begin(), cycle.binding.end(), [&](JobId job) { return reservations_.find(job)->has_shares(); });
  for (const auto& [beside, blocks] : kTriesBesideReservations) {
    trial.rollback_to(0);
    if (beside == Beside::kItsNeeds && !has_shares) break;  // it comes to the same
    if (blocks)
      for (const JobId job : cycle.binding) reservations_.find(job)->block(trial, head.entry.job, beside);
    const bool is_placed = place_job({trial, fit_tables_, *profile_, draws_, members_within_quota(state, head.entry.job)}, head.entry.job).is_placed;
    trial.unblock();
    if (is_placed && broken_reservation(state, cycle, trial, beside) == nullptr) return true;
  }
  trial.rollback_to(0);
  hold(state, cycle, head, *broken);
  return false;
}

void Engine::hold(const State& state, Cycle& cycle, const PendingQueue::Head& head, const Reservation& reservation) {
  const Millis now = cycle.plan.at;
  const Millis end = state.job(head.entry.job).late_end_if_started(now);
  const Millis promised = reservation.told_at(now);
  const auto [held, is_first] = cycle.held.try_emplace(head.job_class, Cycle::Held{end, promised, cycle.plan.actions.size()});
  if (!is_first && end < held->second.end) held->second = {end, promised, cycle.plan.actions.size()};
  for (const JobId job : cycle.binding) cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, reservations_.find(job)->next_look(state, now));
  pending_.hold(head);
  if (options_.has_verdicts) report(cycle, head.entry.job, held_until(promised, now));
}

bool Engine::may_backfill_by_count(const State& state, Cycle& cycle, const PendingQueue::Head& head) {
  const std::int64_t devices = pending_.class_at(head.job_class).devices;
  const Millis end = state.job(head.entry.job).late_end_if_started(cycle.plan.at);
  for (const auto& [queue, heads] : pending_.blocked_heads()) {
    // The published rule knows devices only: who waits for quota has no reservation.
    const auto first = std::find_if(heads.begin(), heads.end(),
                                    [&](const PendingQueue::Head& h) { return pending_.class_at(h.job_class).verdict.wake_on == WakeOn::kCapacity; });
    if (first == heads.end() || !(first->entry < head.entry)) continue;
    const PendingQueue::Head& blocked = *first;
    const Cycle::ShadowTime& r = cycle.shadow_time_for(state, blocked.entry.job, pending_.class_at(blocked.job_class).devices);
    if (r.shadow == Millis::max() || end <= r.shadow || devices <= r.extra) continue;
    cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, r.shadow);
    report(cycle, head.entry.job, held_until(r.shadow, cycle.plan.at));
    return false;
  }
  return true;
}

const Cycle::ShadowTime& Cycle::shadow_time_for(const State& state, JobId job, std::int64_t devices) {
  for (const ShadowTime& r : shadow_times)
    if (r.job == job) return r;
  std::int64_t free = 0;
  for (const std::int64_t idle : state.cluster().group_idle_devices()) free += idle;
  ShadowTime r{job, Millis::max(), 0};
  std::vector<Timeline::End> put_off;
  const std::span<const Timeline::End> ends = expected_ends(state, plan.at, put_off);
  if (free >= devices) {  // devices enough, but in pieces
    r.shadow = ends.empty() ? Millis::max() : ends.front().at;
    r.extra = std::max<std::int64_t>(free - devices, 0);
  } else {
    const Timeline::Window w = Timeline::earliest(ends, free, devices);
    r.shadow = w.at;
    r.extra = w.extra;
  }
  shadow_times.push_back(r);
  return shadow_times.back();
}

void Cycle::account(const State& state, JobId started) {
  for (ShadowTime& r : shadow_times)
    if (state.job(started).late_end_if_started(plan.at) > r.shadow) r.extra -= state.job(started).devices_total;
}

}  // namespace ashlar
