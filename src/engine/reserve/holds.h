// holds: when what is held of nodes is given back.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Stage: ends the holds whose time is over; the plan says when the next one ends. Cost: O(holds).
void end_holds(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
