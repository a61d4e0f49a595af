// cadence: the interval of simulators that decide only at multiples of a time (Profile::cadence).
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Stage: between two multiples of the cadence nothing starts; the plan has the time of the next one.
void decide_at_cadence(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
