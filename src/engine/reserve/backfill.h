// backfill: who may start although somebody ahead of it waits: one rule for each Blocking, in a table.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"
#include "state/trial.h"

namespace ashlar {

struct BackfillRule {
  bool is_strict = false;           ///< nobody of a queue passes its first blocked job
  bool has_blocking_heads = false;  ///< waiting jobs can stand in others' way
  bool passes_its_like = false;     ///< a job may pass the first of its class, where that is placed by what it outranks
  bool makes_reservations = false;  ///< for the heads of queues, on named nodes
  /// May the job start beside those ahead of it? False: its verdict says until when it is held. nullptr: nothing holds it.
  bool (*may_start)(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head) = nullptr;
};
const BackfillRule& backfill_rule(const Profile& profile);

/// "Held until then."
Verdict held_until(Millis promised, Millis now);

/// Do the reservations in cycle.binding hold with the job where the trial has placed it, or else where it is placed with what was promised blocked? If not,
/// the trial is empty and the job told until when it is held.
bool place_beside_reservations(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head, Trial& trial);

}  // namespace ashlar
