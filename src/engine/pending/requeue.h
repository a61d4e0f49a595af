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
/// Of a class that was activated for nothing but what the freed nodes have free: whether jobs ahead of it have left too
/// little there, so that it waits as before. Cost: a few comparisons for each freed node.
bool is_room_taken(EngineData& e, State& state, const Cycle& cycle, ClassId id);
/// Stage: activates the classes behind heads of queues that no longer block.
void activate_behind_moved_heads(EngineData& e, State& state, Cycle& cycle);

/// Stage: what this decision has itself changed, or tried and undone, about where pods keep others away is no news for
/// the next one: it opens no node.
void pass_over_own_changes(EngineData& e, State& state, Cycle& cycle);

/// Activates the first blocked head of the queue if it is outdated and can never run any more, so that it blocks no
/// other job and its verdict reports this; then the next. True if it has activated any. Cost: a proof for each head
/// looked at, O(1) if it is not outdated.
bool activate_impossible_heads(EngineData& e, const State& state, Cycle& cycle, QueueId queue);
/// The same for each queue.
bool activate_impossible_heads(EngineData& e, const State& state, Cycle& cycle);

}  // namespace ashlar
