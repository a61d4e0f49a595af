// kai: decisions as KAI-Scheduler makes them (rules: docs/reference/policies.md, kai): in each one the waiting jobs
// start in the order of queues; then, for those that found no place, running jobs are moved together, queues take back
// what they deserve, and jobs of higher priority stop others of their queue. Cost: O(waiting jobs x queues), and a
// search for each that others may be stopped for.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar::kai {

/// Stage.
void start(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar::kai
