// newcomers: jobs of one instant, as QSSF's simulator sees them: where all that wait came just now, they are ranked anew and listed whole.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Lists them as the cycle's work, by OrderPolicy::newcomers; false, and nothing listed, where the profile has no such order or somebody came before.
/// Cost: O(waiting jobs) where all came now.
bool list_newcomers(const EngineData& e, const State& state, Cycle& cycle);

}  // namespace ashlar
