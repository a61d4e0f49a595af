// requeue: which jobs are looked at again: what was added and removed, and which waiting classes the last events could
// have helped.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Stage: jobs that start or stop waiting enter and leave the pending queue. Cost: O(changes since the last call).
void absorb_changes(EngineData& e, State& state, Cycle& cycle);
/// Stage: activates what a freed node, a limit or another node could have helped.
void requeue(EngineData& e, State& state, Cycle& cycle);
/// Stage: activates the classes behind heads of queues that no longer block.
void activate_behind_moved_heads(EngineData& e, State& state, Cycle& cycle);

/// Stage: what this decision has itself changed, or tried and undone, about where pods keep others away is no news for
/// the next one: it opens no node.
void pass_over_own_changes(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
