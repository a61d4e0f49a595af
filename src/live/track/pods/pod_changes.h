// pod_changes: pods come, change, cannot be read and go. Held pods wait outside the engine with a reason, all others are admitted to it.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// What the pod says of its gang, kept in its record.
void note_setting(PodRecord& r, const GangSettings& setting);
/// Which of the names that we serve; as many as there are: none.
std::size_t scheduler_index(const TrackerData& t, const PooledString& scheduler_name);
/// See Tracker::take().
void take_pod(TrackerData& t, Change<Pod>&& change);
/// A pod of ours without a node, new or changed: held with a reason, or admitted.
void see_pending(TrackerData& t, PodSlot slot, const Pod& pod);
/// Nothing holds the pod itself: shows it to the engine, or to its gang.
void admit_pod(TrackerData& t, PodSlot slot);
/// Takes it out of the engine; its condition says why.
void hold_pod(TrackerData& t, PodSlot slot, const Hold& hold);
/// It is gone: what it held, its gang and its names are given back.
void forget_pod(TrackerData& t, PodSlot slot);
/// A pod that was assumed waits again, by what was said of it, its namespace and its neighbours meanwhile.
void wait_again(TrackerData& t, PodSlot slot);

}  // namespace ashlar::kube
