// settle: updates a changed gang in the engine: its settings, its minimum, its members.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// Evaluates the gang if it is marked as changed. O(members).
void settle_gang(TrackerData& t, GangSlot slot);
/// Its PodGroup, and those of its waiting pods that do not report it yet, are due a condition with what holds it.
void hold_members(TrackerData& t, GangSlot slot);

}  // namespace ashlar::kube
