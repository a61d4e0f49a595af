// preempt_by_count: preemption by order alone, as SRTF and Tiresias are published (rules: docs/reference/policies.md, by-quota-unverified): walk
// waiting and running jobs together in the order's sequence and give out the cluster's devices by count, and each queue's quota; a job that gets some
// may run, a running one that gets none stops. Placement is tried afterwards and may fail, so a stop can be in vain: this is what the papers do, and
// why no profile that keeps the laws may choose it. Cost: O(running log running + jobs marked + classes).
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Stage.
void preempt_by_count(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
