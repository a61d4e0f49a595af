// preempt_by_count: preemption by order alone, as SRTF and Tiresias are published (rules: docs/reference/policies.md,
// by-quota-unverified): waiting and running jobs take the cluster's devices by count, and each queue's quota, in the
// order's sequence; a job that gets its share may run, a running one that does not stops. Placement is tried afterwards
// and may fail, so a stop can be in vain: the papers do this, and for this reason no profile of the live scheduler
// may choose it. Cost: O(running log running + jobs marked + classes).
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Stage.
void preempt_by_count(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
