// advance: the walk over the active classes: the first job of each starts, waits, or is held for a job ahead of it.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"
#include "state/trial.h"

namespace ashlar {

/// Stage: looks at the first job of every active class in order, and at the next of its class if it started.
void advance(EngineData& e, State& state, Cycle& cycle);

/// What the trial has placed, all of one job, is decided: actions, accounting, the job's start.
void commit(EngineData& e, State& state, Cycle& cycle, Trial& trial, const PendingQueue::Entry& entry);

}  // namespace ashlar
