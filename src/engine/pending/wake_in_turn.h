// wake_in_turn: parked classes that freed nodes may help are looked at again, in the order of jobs, as long as those
// ahead of them leave room there.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// The parked classes of like members for which these nodes mean room. Returns those to be activated at once: all,
/// unless they are many. Then the others are listed in cycle.in_turn, but for those with a reservation: what it keeps
/// from others is computed anew only when they are awake. Cost: a few comparisons for each node and kind, and for each
/// class of gangs.
std::vector<ClassId> list_those_with_room(EngineData& e, State& state, Cycle& cycle, std::span<const NodeId> freed);
/// Of a class that was activated for nothing but what the freed nodes have free: whether jobs ahead of it have left too
/// little there, so that it waits as before. Cost: a few comparisons for each freed node.
bool is_room_taken(EngineData& e, State& state, const Cycle& cycle, ClassId id);
/// This many classes get their reason anew in a decision if the room for which they were woken is taken.
inline constexpr std::size_t kExplainedAgainMax = 16;
/// Activates the next class that is woken in its turn, and lists it as work, if that turn comes before all other work.
/// Those before it whose room is taken stay parked; the first few are woken all the same, so that their reasons have
/// today's numbers. Cost: a few comparisons for each freed node, and for each kind that has no room.
void wake_in_turn(EngineData& e, State& state, Cycle& cycle);
/// Stage: those whose turn has not come. If no job was to start they are activated. If the decision ended early they
/// stay parked, and the next one wakes those in their turn for which the same nodes still mean room.
void end_turns(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
