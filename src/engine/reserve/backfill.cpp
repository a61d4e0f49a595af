#include "engine/reserve/backfill.h"

#include <algorithm>

#include "engine/explain/verdicts.h"
#include "engine/published/easy_by_count.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

/// Reports until when the job is held by this reservation, and looks again when one of those that bind it may change.
void hold(EngineData& e, const State& state, Cycle& cycle, const PendingQueue::Head& head,
          const Reservation& reservation) {
  const Millis now = cycle.plan.at;
  const Millis end = state.job(head.entry.job).late_end_if_started(now);
  const Millis promised = reservation.promised_at(now);
  const auto [held, is_first] =
      cycle.held.try_emplace(head.job_class, Cycle::Held{end, promised, cycle.plan.actions.size()});
  if (!is_first && end < held->second.end) held->second = {end, promised, cycle.plan.actions.size()};
  for (const JobId job : cycle.binding)
    cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, e.reservations.find(job)->next_look(state, now));
  e.pending.hold(head);
  if (e.options.has_verdicts) report(e, cycle, head.entry.job, held_until(promised, now));
}

/// Lists in cycle.binding the jobs whose reservations the job could break; false if it certainly would.
bool find_binding_reservations(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head) {
  cycle.binding.clear();
  if (e.pending.blocked_heads().empty()) return true;
  const Millis now = cycle.plan.at;
  const Millis end = state.job(head.entry.job).late_end_if_started(now);
  // Another of its class, no longer than it, was just held.
  if (const auto held = cycle.held.find(head.job_class); held != cycle.held.end() && end >= held->second.end) {
    if (e.options.has_verdicts) report(e, cycle, head.entry.job, held_until(held->second.promised, now));
    return false;
  }
  for (const PendingQueue::Head& blocked :
       e.reservations.heads_ahead(state, e.pending, head.entry, state.job(head.entry.job).queue)) {
    Trial trial(state);
    Rng draws(e.draws.state());
    const Reservation& reservation =
        e.reservations.to({trial, e.fit_tables, *e.profile, draws}, e.pending, blocked, now);
    if (reservation.at == Millis::max() || end <= reservation.at) continue;
    cycle.binding.push_back(blocked.entry.job);
    if (reservation.spares_quota_for(state, head.entry.job)) continue;
    hold(e, state, cycle, head, reservation);
    return false;
  }
  return true;
}

/// The first of them that is broken by what the trial has placed; nullptr if none is.
const Reservation* broken_reservation(const EngineData& e, const State& state, const Cycle& cycle, const Trial& trial,
                                      Beside beside) {
  for (const JobId job : cycle.binding)
    if (const Reservation* reservation = e.reservations.find(job); !reservation->allows(state, trial.steps(), beside))
      return reservation;
  return nullptr;
}

/// By Blocking.
constexpr BackfillRule kRules[] = {
    {.is_strict = true, .has_blocking_heads = true},
    {.passes_its_like = true},
    {.has_blocking_heads = true, .makes_reservations = true, .may_start = find_binding_reservations},
    {.has_blocking_heads = true, .may_start = may_backfill_by_count},
};
static_assert(std::size(kRules) == std::size(kBlockingNames));

}  // namespace

const BackfillRule& backfill_rule(const Profile& profile) { return kRules[static_cast<std::size_t>(profile.blocking)]; }

Verdict held_until(Millis promised, Millis now) {
  return {VerdictKind::kWaits, WakeOn::kHeadOfQueue, now, {{ReasonCode::kReservationHeld, 0, {promised.value, 0, 0}}}};
}

bool place_beside_reservations(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head,
                               Trial& trial) {
  const Reservation* broken = broken_reservation(e, state, cycle, trial, Beside::kItsDevices);
  if (broken == nullptr) return true;
  const bool has_shares = std::any_of(cycle.binding.begin(), cycle.binding.end(),
                                      [&](JobId job) { return e.reservations.find(job)->has_shares(); });
  for (const auto& [beside, blocks] : kTriesBesideReservations) {
    trial.rollback_to(0);
    if (beside == Beside::kItsNeeds && !has_shares) break;  // it amounts to the same
    if (blocks)
      for (const JobId job : cycle.binding) e.reservations.find(job)->block(trial, head.entry.job, beside);
    const bool is_placed =
        place_job({trial, e.fit_tables, *e.profile, e.draws, members_within_quota(state, head.entry.job)},
                  head.entry.job)
            .is_placed;
    trial.unblock();
    if (is_placed && broken_reservation(e, state, cycle, trial, beside) == nullptr) return true;
  }
  trial.rollback_to(0);
  hold(e, state, cycle, head, *broken);
  return false;
}

}  // namespace ashlar
