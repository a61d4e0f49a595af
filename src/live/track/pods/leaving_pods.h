// leaving_pods: pods that were stopped for others and are not gone yet. The engine has their places as free; the
// tracker knows that they are still taken, so that what is decided for these places is bound when they are.
#pragma once

#include <string>
#include <vector>

#include "live/track/tracker_data.h"
#include "model/plan.h"
#include "state/state.h"

namespace ashlar::kube {

/// The engine has stopped the job, or one member of it: its pods leave the engine. Returns those to be evicted; the
/// others have no binding under way, and wait again. `words`: for whom, and why this one.
std::vector<PodSlot> stop_pods(TrackerData& t, const Evict& evict, const std::string& words);
/// A bound pod, or one whose binding is under way, is leaving. `leaves_by`: as the server says, or the time now.
void note_leaving(TrackerData& t, PodSlot slot, Millis leaves_by);
/// It stays where it is after all: the engine has it again, and stops it for no other for a while.
void stay(TrackerData& t, PodSlot slot);
/// It is gone.
void end_leaving(TrackerData& t, PodSlot slot);

/// Whether the pod, which has a place, needs something there that leaving pods still have. In doubt, as where these
/// have volumes or ports of the node, it does. `state`: with all places decided. Cost: O(leaving pods of the node).
bool awaits_departure(const TrackerData& t, PodSlot slot, const State& state);

}  // namespace ashlar::kube
