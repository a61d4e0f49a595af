// gang_hold: why a gang may not be placed at present, as text.
#pragma once

#include "live/track/tables.h"

namespace ashlar::kube {

/// Why the class that its PodGroup names does not count; empty if it does, or none is named. A class that merely does
/// not exist is not reported.
std::string priority_trouble(const Tables& t, const GangRecord& g);
/// Why an incomplete or invalid gang may not be placed; kNone if it may. O(members) if something has happened to it
/// since it was evaluated, else O(1).
Hold gang_hold(const Tables& t, const GangRecord& g);

}  // namespace ashlar::kube
