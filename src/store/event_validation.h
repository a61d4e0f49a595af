// event_validation: whether an event may be applied to a state. apply() trusts its caller: a row far out of bounds, a
// demand that was never defined or a level that does not exist is a bug there and stops the process. Events from a file
// are validated first. Cost: O(size of the event).
#pragma once

#include "model/event.h"
#include "state/state.h"

namespace ashlar::store {

/// Null if it may; else the fault.
const char* refusal_of(const State& state, const Event& event);

}  // namespace ashlar::store
