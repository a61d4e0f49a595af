// beat: the beat of simulators that decide at multiples of a time only (Profile::cadence).
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Stage: between two beats nothing starts; the plan says when the next one is.
void keep_to_the_beat(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
