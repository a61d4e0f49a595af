// stopped_queues: what a queue that is stopped has running is stopped: all jobs of it and of those below it, whatever
// protects them.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"
#include "state/state.h"

namespace ashlar {

/// Cost: nothing unless a queue is stopped; then O(queues + kinds of waiting jobs + jobs that are stopped).
void stop_jobs_of_stopped_queues(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
