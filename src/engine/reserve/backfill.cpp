#include "engine/reserve/backfill.h"

#include <algorithm>
#include <utility>

#include "engine/explain/verdicts.h"
#include "engine/place/lifted_holds.h"
#include "engine/published/easy_by_count.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

using Holder = PendingQueue::Holder;

/// Sets the job aside and reports until when it is held. `holders`, ascending, are why; `behind` is the one reported.
void hold(EngineData& e, Cycle& cycle, const PendingQueue::Head& head, std::span<const Holder> holders,
          const Reservation& behind) {
  cycle.held[head.job_class] = cycle.plan.actions.size();
  e.pending.hold(head, holders, behind.entry.job, cycle.is_beyond_limit);
  if (e.options.has_verdicts)
    report(e, cycle, head.entry.job, held_until(behind.reserved_at(cycle.plan.at), cycle.plan.at));
}

/// The job was held by reservations of which it was seen that they hold one of its class. Those of its class behind it
/// that last beyond them all have them ahead as well, and are held too.
void note_like(const EngineData& e, Cycle& cycle, const PendingQueue::Head& head) {
  Millis beyond(INT64_MIN);
  for (const Holder& holder : e.pending.class_at(head.job_class).holders_seen) {
    const Reservation* reservation = e.reservations.find(holder.job);
    if (reservation == nullptr || reservation->edition != holder.edition) return;
    beyond = std::max(beyond, reservation->at);
  }
  cycle.holds_like_beyond = beyond;
}

/// Lists in cycle.binding the reservations that the job could break; false if it certainly would.
bool find_binding_reservations(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head) {
  cycle.binding.clear();
  cycle.holds_like_beyond.reset();
  const PendingQueue::Head* first = e.pending.first_head();
  if (first == nullptr || !e.pending.is_before(*first, head)) return true;
  const Millis now = cycle.plan.at;
  const Millis end = state.job(head.entry.job).late_end_if_started(now);
  const Reservations::HeadsAhead ahead = e.reservations.heads_ahead(state, e.pending, head);
  cycle.is_beyond_limit = ahead.is_beyond_limit;
  const std::uint64_t changes_before = e.reservations.changes();
  bool binds_its_like = true;  // no reservation was passed that may bind those which last longer
  for (const PendingQueue::Head& blocked : ahead.heads) {
    Trial trial(state);
    Rng draws(e.draws.state());
    const Reservation& reservation =
        e.reservations.to({trial, e.fit_tables, *e.profile, draws}, e.pending, blocked, now);
    // One made anew behind another may bind only jobs under a limit, unlike the one by which the head was listed.
    if (!reservation.concerns(state, head.queue)) continue;
    binds_its_like = binds_its_like && (reservation.at == Millis::max() || end > reservation.at);
    if (reservation.at == Millis::max() || end <= reservation.at) continue;
    cycle.binding.push_back({blocked.entry.job, 0});
    if (reservation.spares_quota_for(state, head.entry.job)) continue;
    const Holder holder{blocked.entry.job, reservation.edition};
    hold(e, cycle, head, {&holder, 1}, reservation);
    // One made behind another takes from what that one left when it was passed.
    if (binds_its_like && e.reservations.changes() == changes_before) cycle.holds_like_beyond = reservation.at;
    return false;
  }
  for (PendingQueue::Holder& holder : cycle.binding) holder.edition = e.reservations.find(holder.job)->edition;
  std::sort(cycle.binding.begin(), cycle.binding.end());
  // Another of its class was found to be held by these, or by some of them.
  const PendingQueue::Class& job_class = e.pending.class_at(head.job_class);
  const std::vector<Holder>& seen = job_class.holders_seen;
  if (seen.empty() || !std::includes(cycle.binding.begin(), cycle.binding.end(), seen.begin(), seen.end()) ||
      may_use_more_than_its_like(state, head.entry.job, now))
    return true;
  hold(e, cycle, head, std::vector<Holder>(seen), *e.reservations.find(job_class.behind));
  note_like(e, cycle, head);
  return false;
}

/// The first of them that is broken by what the trial has placed; nullptr if none is.
const Reservation* broken_reservation(const EngineData& e, const State& state, const Cycle& cycle, const Trial& trial,
                                      Beside beside) {
  for (const PendingQueue::Holder& holder : cycle.binding)
    if (const Reservation* reservation = e.reservations.find(holder.job);
        !reservation->allows(state, trial.steps(), beside))
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

std::optional<PendingQueue::Head> hold_its_like(EngineData& e, const State& state, Cycle& cycle,
                                                const PendingQueue::Head& head) {
  const PendingQueue::Class& job_class = e.pending.class_at(head.job_class);
  const auto next = job_class.jobs.upper_bound(head.entry);
  if (next == job_class.jobs.end()) return std::nullopt;
  const PendingQueue::Entry first = *next;
  // With verdicts each of them gets its own, in its turn.
  if (!cycle.holds_like_beyond || e.options.has_verdicts) return e.pending.head_of(head.job_class, first);
  const auto is_other = [&](const PendingQueue::Entry& entry) {
    return state.job(entry.job).late_end_if_started(cycle.plan.at) <= *cycle.holds_like_beyond ||
           may_use_more_than_its_like(state, entry.job, cycle.plan.at);
  };
  const PendingQueue::Head last = e.pending.head_of(head.job_class, *job_class.jobs.rbegin());
  const bool is_beyond_limit = e.reservations.heads_ahead(state, e.pending, last).is_beyond_limit;
  const PendingQueue::Entry* other = e.pending.hold_like(head, is_beyond_limit, is_other);
  if (other == nullptr || *other != first) cycle.set_aside.try_emplace(head.job_class, first);
  return other == nullptr ? std::nullopt : std::optional(e.pending.head_of(head.job_class, *other));
}

void look_at_those_set_aside(EngineData& e, Cycle& cycle, const PendingQueue::Head& last) {
  for (const auto& [id, first_set_aside] : std::exchange(cycle.set_aside, {})) {
    const auto& held = e.pending.class_at(id).held;
    const auto first = std::find_if(held.lower_bound(first_set_aside), held.end(), [&](const auto& entry) {
      return e.pending.is_before(last, e.pending.head_of(id, entry));
    });
    if (first == held.end()) continue;
    const PendingQueue::Head head = e.pending.head_of(id, *first);
    e.pending.wake_held_from(id, head.entry);
    cycle.work.add(head);
  }
}

Verdict held_until(Millis reserved, Millis now) {
  return {VerdictKind::kWaits, WakeOn::kHeadOfQueue, now, {{ReasonCode::kReservationHeld, 0, {reserved.value, 0, 0}}}};
}

FitsLimit limit_of(const Reservations& reservations, std::span<const PendingQueue::Holder> holders) {
  FitsLimit limit;
  std::vector<const Reservation*> kept;
  for (const PendingQueue::Holder& holder : holders) {
    const Reservation* reservation = reservations.find(holder.job);
    if (reservation == nullptr) continue;
    limit.editions.push_back(holder.edition);
    kept.push_back(reservation);
  }
  limit.lower = [kept](const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) {
    for (const Reservation* reservation : kept) reservation->lower_by_claims(view, rows, fits);
  };
  return limit;
}

RoomBeside place_in_room_beside(EngineData& e, State& state, const Cycle& cycle, JobId job, Trial& trial) {
  // What is kept for the job itself would be kept from it; what is held for it is not in the reservations' room.
  if (cycle.binding.empty() || !placement_rule(*e.profile).is_room_exact || e.reservations.find(job) != nullptr ||
      !usable_holds(state, job, late_end_of(state, job, cycle.plan.at)).empty())
    return RoomBeside::kUnknown;
  const FitsLimit limit = limit_of(e.reservations, cycle.binding);
  bool is_placed = false;
  {
    const FitTables::Limited scope(e.fit_tables, limit);
    const std::uint32_t members = members_within_quota(state, job);
    is_placed = place_job({trial, e.fit_tables, *e.profile, e.draws, members, cycle.plan.at}, job).is_placed;
  }
  if (!is_placed) {  // the search for unlike members, and for those with rules about pods, does not try everything
    const PendingQueue::Class& job_class = e.pending.class_at(e.pending.class_id(job));
    return job_class.key.runs.empty() && !job_class.has_company ? RoomBeside::kNone : RoomBeside::kUnknown;
  }
  if (broken_reservation(e, state, cycle, trial, Beside::kItsDevices) == nullptr) return RoomBeside::kPlaced;
  trial.rollback_to(0);
  return RoomBeside::kUnknown;
}

const Reservation* place_beside_reservations(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head,
                                             Trial& trial, RoomBeside room) {
  const Reservation* broken = broken_reservation(e, state, cycle, trial, Beside::kItsDevices);
  if (broken == nullptr) return nullptr;
  const bool has_shares = std::any_of(cycle.binding.begin(), cycle.binding.end(), [&](const auto& holder) {
    return e.reservations.find(holder.job)->has_shares();
  });
  for (const auto& [beside, blocks] : kTriesBesideReservations) {
    if (room == RoomBeside::kNone) break;
    trial.rollback_to(0);
    if (beside == Beside::kItsNeeds && !has_shares) break;  // it amounts to the same
    if (blocks)
      for (const PendingQueue::Holder& holder : cycle.binding)
        e.reservations.find(holder.job)->block(trial, head.entry.job, beside);
    const bool is_placed = place_job({trial, e.fit_tables, *e.profile, e.draws,
                                      members_within_quota(state, head.entry.job), cycle.plan.at},
                                     head.entry.job)
                               .is_placed;
    trial.unblock();
    if (is_placed && broken_reservation(e, state, cycle, trial, beside) == nullptr) return nullptr;
  }
  trial.rollback_to(0);
  return broken;
}

void hold_behind(EngineData& e, Cycle& cycle, const PendingQueue::Head& head, const Reservation& broken) {
  hold(e, cycle, head, cycle.binding, broken);
  note_like(e, cycle, head);
}

std::vector<const Reservation*> reservations_ahead(const EngineData& e, const State& state,
                                                   const PendingQueue::Head& head, Millis now) {
  std::vector<const Reservation*> ahead;
  if (!backfill_rule(*e.profile).makes_reservations) return ahead;
  const Millis end = state.job(head.entry.job).late_end_if_started(now);
  for (const PendingQueue::Head& blocked : e.reservations.heads_ahead(state, e.pending, head).heads) {
    const Reservation* reservation = e.reservations.find(blocked.entry.job);
    if (reservation == nullptr || !reservation->concerns(state, head.queue)) continue;
    if (reservation->at != Millis::max() && end > reservation->at) ahead.push_back(reservation);
  }
  return ahead;
}

}  // namespace ashlar
