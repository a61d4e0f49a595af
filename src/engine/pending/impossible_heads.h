// impossible_heads: first jobs that wait in their queue and hold up others, though since nodes were removed or changed
// they can never run any more.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Activates the first blocked head of the queue if it is outdated and can never run any more, so that it blocks no
/// other job and its verdict reports this; then the next. True if it has activated any. Cost: a proof for each head
/// looked at, O(1) if it is not outdated.
bool activate_impossible_heads(EngineData& e, const State& state, Cycle& cycle, QueueId queue);
/// The same for each queue.
bool activate_impossible_heads(EngineData& e, const State& state, Cycle& cycle);

}  // namespace ashlar
