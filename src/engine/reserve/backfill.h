// backfill: which jobs may start although a job ahead of them waits: one rule for each Blocking, in a table.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/cycle.h"
#include "engine/data.h"
#include "state/trial.h"

namespace ashlar {

struct BackfillRule {
  bool is_strict = false;           ///< no job of a queue passes its first blocked job
  bool has_blocking_heads = false;  ///< waiting jobs can block others
  bool passes_its_like = false;     ///< a job may pass the first of its class if that is placed by what it outranks
  bool makes_reservations = false;  ///< for the heads of queues, on named nodes
  /// Whether the job may start beside those ahead of it. False: its verdict states until when it is held. nullptr:
  /// nothing holds it.
  bool (*may_start)(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head) = nullptr;
};
const BackfillRule& backfill_rule(const Profile& profile);

/// The job was held: sets those behind it in its class aside as well which would be held as it was, without a look at
/// each. The next one to be looked at; none if there is none.
std::optional<PendingQueue::Head> hold_its_like(EngineData& e, const State& state, Cycle& cycle,
                                                const PendingQueue::Head& head);
/// That job has started, or a reservation has changed when it was looked at: those set aside whose turn comes after it
/// are looked at after all.
void look_at_those_set_aside(EngineData& e, Cycle& cycle, const PendingQueue::Head& last);

/// "Held until then."
Verdict held_until(Millis reserved, Millis now);

/// What these reservations keep of each node, for others that last beyond them; those that are no more keep nothing.
/// Valid while none of them changes.
FitsLimit limit_of(const Reservations& reservations, std::span<const PendingQueue::Holder> holders);

/// Whether a job has room beside the reservations in cycle.binding, by the count of members on each node.
enum class RoomBeside : std::uint8_t { kUnknown, kNone, kPlaced };
/// Places the job where nodes have room beside them. Unless the result is kPlaced, the trial is empty.
RoomBeside place_in_room_beside(EngineData& e, State& state, const Cycle& cycle, JobId job, Trial& trial);
/// One of these reservations that would not hold with the job as the trial has placed it, nor placed with the reserved
/// capacity blocked, which is not tried if there is no room beside them: then the trial is empty. nullptr: all hold.
const Reservation* place_beside_reservations(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head,
                                             Trial& trial, RoomBeside room);
/// Sets the job aside because of those in cycle.binding; the verdict states until when that one holds it.
void hold_behind(EngineData& e, Cycle& cycle, const PendingQueue::Head& head, const Reservation& broken);

/// The reservations of heads ahead of the job that it may break, since it lasts beyond them: all that there are, also
/// if it was not found to be held by any.
std::vector<const Reservation*> reservations_ahead(const EngineData& e, const State& state,
                                                   const PendingQueue::Head& head, Millis now);

}  // namespace ashlar
