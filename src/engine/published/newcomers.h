// newcomers: simultaneous jobs, as in QSSF's simulator: if all waiting jobs arrived at this instant, they are re-ranked
// and listed completely.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Lists them as the cycle's work, by OrderPolicy::newcomers; false, and nothing listed, if the profile has no such
/// order or a job arrived before.
/// Cost: O(waiting jobs) if all arrived now.
bool list_newcomers(const EngineData& e, const State& state, Cycle& cycle);

}  // namespace ashlar
