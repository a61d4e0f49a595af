// make_room: running jobs are stopped for a waiting one, whose place is known before any of them is.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Starts a job that nothing had room for, or that its queue did not admit, in the place of those that may be stopped
/// for it, if a place is found without them: by the profile's victim rule, no more of them than are in its way, and
/// for no members above a gang's minimum. They wait again once they are gone, and its own pods wait for that too.
/// False: nothing has changed. Cost: O(running jobs), a search for a place for each halving of their number, and one
/// check for each of them on the nodes that it takes.
bool make_room(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head);

}  // namespace ashlar
