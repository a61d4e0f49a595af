// beat: the interval of simulators that decide only at multiples of a time (Profile::cadence).
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Stage: between two beats nothing starts; the plan has the time of the next one.
void keep_to_the_beat(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
