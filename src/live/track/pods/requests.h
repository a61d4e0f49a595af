// requests: a pod's demand and constraint as rows of the translator's tables, updated when nodes get resources or pods
// exclude others.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// Nodes have a new resource: from now on the demands of pods that request it use its column.
void renew_demands(TrackerData& t);
/// The pod requests something else. Also for a bound pod: what it holds had no column while no node had the resource.
void renew_demand(TrackerData& t, PodSlot slot, DemandId demand);
/// Why the pod waits if it requests a resource that no node has and a DeviceClass serves; kNone otherwise.
Hold served_hold(const TrackerData& t, const PodRecord& r);
/// For all waiting pods, and those held by it: DeviceClasses or the resources of nodes have come or gone. O(pods).
void refresh_served(TrackerData& t);
/// Why a pod waits whose namespace has as many terms about other pods as it may.
Hold terms_hold(const PodRecord& r);
/// For those that waited for it and may be placed now. O(these).
void refresh_let_in(TrackerData& t);
/// Adds a use of the new row and releases the old one.
void set_demand(TrackerData& t, PodRecord& r, DemandId demand);
/// Adds a use of the new row and releases the old one.
void set_constraint(TrackerData& t, PodRecord& r, ConstraintId constraint);
/// The pod's labels, and whether it is being deleted, as they are now: rules about other pods count it by them.
void take_labels(TrackerData& t, PodSlot slot, const Pod& pod);
/// From now on the engine knows the labels of all pods: a waiting pod has rules about others. O(pods) the first time.
void count_labels(TrackerData& t);
/// The pod is forgotten.
void forget_labels(TrackerData& t, PodRecord& r);
/// The labels as which the engine counts it, if it counts any.
void renew_labels(TrackerData& t, PodSlot slot);
/// Of a pod that waits or will: from its rules, or the default ones, its volumes and the pods that exclude it. One that
/// lost volumes has the labels of such a pod from then on.
ConstraintId constraint_for(TrackerData& t, PodSlot slot);
/// It has a place: pods that lost volumes do not keep off it any more.
void end_keeping_apart(TrackerData& t, PodSlot slot);
/// Of a bound pod: it keeps others away by required anti-affinity, or is of no concern to them.
void set_bound_constraint(TrackerData& t, PodSlot slot);
/// For all waiting pods affected by the latest changes of anti-affinity. O(pods).
void refresh_constraints(TrackerData& t);
/// For waiting pods of namespaces with other labels whose rules select namespaces: they may mean the pod itself now, or
/// no longer. O(pods).
void refresh_relabelled(TrackerData& t);
/// For all waiting pods that name an image which made no difference before, and may make one now. O(pods).
void refresh_images(TrackerData& t);
/// For waiting pods that Services or controllers have begun or ceased to select. O(templates that share a label).
void refresh_default_spread(TrackerData& t);
/// For one pod.
void renew_constraint(TrackerData& t, PodSlot slot);

}  // namespace ashlar::kube
