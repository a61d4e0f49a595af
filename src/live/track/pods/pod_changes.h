// pod_changes: pods are added, change, cannot be read and are deleted. Held pods wait outside the engine with a reason,
// all others are admitted to it.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// The pod's settings for its gang, kept in its record.
void note_setting(PodRecord& r, const GangSettings& setting);
/// Index of its scheduler among the names that we serve; their number if none.
std::size_t scheduler_index(const TrackerData& t, const PooledString& scheduler_name);
/// See Tracker::take().
void take_pod(TrackerData& t, Change<Pod>&& change);
/// A pod of ours without a node, new or changed: held with a reason, or admitted.
void see_pending(TrackerData& t, PodSlot slot, const Pod& pod);
/// Nothing holds the pod itself: adds it to the engine, or to its gang.
void admit_pod(TrackerData& t, PodSlot slot);
/// Takes it out of the engine; its condition states why.
void hold_pod(TrackerData& t, PodSlot slot, const Hold& hold);
/// It was deleted: what it held, its gang and its names are given back.
void forget_pod(TrackerData& t, PodSlot slot);
/// An assumed pod waits again, with the changes of its settings, its namespace and its neighbours since.
void wait_again(TrackerData& t, PodSlot slot);

}  // namespace ashlar::kube
