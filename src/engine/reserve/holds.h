// holds: when what is held of nodes is kept from jobs that run now, and when it is given back.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Stage: begins the holds whose time has come and ends those whose time is over; the plan says when the next one
/// begins or ends. Cost: O(holds).
void renew_holds(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
