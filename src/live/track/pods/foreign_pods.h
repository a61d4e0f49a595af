// foreign_pods: other schedulers' pods: nominations that reserve a place, and PodGroups that they also name.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// Another scheduler's pod that reserves a place on a node.
void see_nominated(TrackerData& t, PodSlot slot, const Pod& pod);
/// Those that were nominated to the node before it was known.
void take_nominated_early(TrackerData& t, const PooledString& node_name);
/// It keeps no place any more; it is forgotten unless its PodGroup is held because of it.
void lose_nomination(TrackerData& t, PodSlot slot);
/// Another scheduler's pod and the PodGroup that it names: all pods of a group must share one scheduler.
void see_foreign_pod(TrackerData& t, PodSlot slot, const Pod& pod);
/// It no longer holds its PodGroup.
void leave_foreign_pods(TrackerData& t, PodSlot slot);

}  // namespace ashlar::kube
