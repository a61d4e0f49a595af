// bound_pods: pods that have a node: their devices, what they hold there, and nodes that are not known yet.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// A pod that the API server has on a node: its requests are accounted there, anew where they changed.
void see_bound(TrackerData& t, PodSlot slot, const Pod& pod);
/// As reported to the engine.
DeviceMask devices_held(const TrackerData& t, const PodRecord& r);
/// See Tracker::note_bound().
void note_bound(TrackerData& t, PodSlot slot, const PooledString& node_name, const DeviceMask& devices);
/// The pod holds its requests on the node from now on.
void enter_bound(TrackerData& t, PodSlot slot, NodeId node);
/// It holds nothing there any more; its anti-affinity leaves with it.
void leave_node(TrackerData& t, PodRecord& r);
/// It is bound to a node that is not known (yet, or any more), and holds nothing.
void note_on_unknown_node(TrackerData& t, PodSlot slot);
/// It waits for that node no longer.
void leave_unknown_node(TrackerData& t, PodSlot slot);

}  // namespace ashlar::kube
