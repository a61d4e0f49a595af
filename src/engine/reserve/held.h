// held: when jobs that reservations hold are looked at again: when one of these reservations changes, or leaves more to
// others. Cost: O(1) if none is due and nothing has changed, else O(classes with held jobs).
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Stage: renews the reservations that hold jobs and are due, and wakes the classes that this, or another change since
/// the last look, may help.
void wake_held(EngineData& e, State& state, Cycle& cycle);
/// A job that held others has been looked at: those that its reservation holds no more are woken at once, so that they
/// come before jobs behind them. Only its reservation and those ahead of it are renewed; others rest on jobs that are
/// still to be looked at. A limited number of times without a start; beyond, wake_held does it. Cost: O(held classes).
void wake_held_by(EngineData& e, State& state, Cycle& cycle, JobId holder);
/// Stage: the plan says when the first of these reservations is due.
void look_again_at_held(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
