// bound_pods: bound pods: their devices, what they hold on their node, and nodes that are not known yet.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// A pod that the API server reports as bound: its requests are accounted on that node, again if they changed.
void see_bound(TrackerData& t, PodSlot slot, const Pod& pod);
/// As reported to the engine.
Bound bound_as_held(const TrackerData& t, const PodRecord& r);
/// What a pod with devices holds of each of them, as its annotation says it.
DeviceGrants grants_held(const Translator& translator, const PodRecord& r);
/// The devices and what is held of each, kept short where that is what is requested.
PodDevices pod_devices(DeviceGrants grants, const DeviceRequest& request);
/// See Tracker::note_bound().
void note_bound(TrackerData& t, PodSlot slot, const PooledString& node_name, const PodDevices& devices);
/// The pod holds its requests on the node from now on.
void enter_bound(TrackerData& t, PodSlot slot, NodeId node);
/// It no longer holds anything there; its anti-affinity is removed with it.
void leave_node(TrackerData& t, PodSlot slot);
/// Its rules change; bound, it keeps those away from now on whom these refuse.
void change_rules(TrackerData& t, PodSlot slot, const std::shared_ptr<const PodRules>& rules);
/// It is bound to a node that is not known (yet, or any more), and holds nothing.
void note_on_unknown_node(TrackerData& t, PodSlot slot);
/// It no longer waits for that node.
void leave_unknown_node(TrackerData& t, PodSlot slot);

}  // namespace ashlar::kube
