// pod_volumes: the volumes of pods as part of what they wait for: their node terms, what attaches them, why they hold
// pods back, and what changes when claims, volumes and nodes' drivers do.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// The pod's volumes as they are now; what CSI drivers will attach is added to its requests where nodes limit it.
void note_volumes(TrackerData& t, PodSlot slot, Pod& pod);
/// The pod has joined a gang: whether its volumes hold it depends on those of the others.
void note_companions(TrackerData& t, PodSlot slot);
/// It waits no more, or not with its gang: pods that want its claims for one pod look again.
void touch_companions(TrackerData& t, PodSlot slot);
/// It is forgotten.
void forget_volumes(TrackerData& t, PodSlot slot);
/// Why the pod's volumes hold it back; kNone: they do not.
Hold volume_hold(const PodRecord& r);
/// Updates pods and nodes with all that has changed of volumes.
void settle_volumes(TrackerData& t);
/// The same for one pod.
void renew_volumes(TrackerData& t, PodSlot slot);
/// The pod has a place on this node, or none any more.
void set_mounted(TrackerData& t, PodSlot slot, NodeId node);
/// A claim for one pod was taken by another one first, or its volumes cannot be used on its node any more.
bool has_lost_volumes(const TrackerData& t, PodSlot slot);

}  // namespace ashlar::kube
