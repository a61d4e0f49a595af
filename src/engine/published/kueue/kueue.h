// kueue: decisions as Kueue makes them (rules: docs/reference/policies.md, kueue): in each turn the first job of each
// queue is looked at; those that fit start, in an order between them, and others are stopped for those that lack quota.
// Cost: O(turns x queues x depth), and a search for each first job that others may be stopped for.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar::kueue {

/// Stage.
void start(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar::kueue
