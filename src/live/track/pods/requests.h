// requests: a pod's demand and constraint as rows of the translator's tables, renewed when nodes get resources or pods exclude others.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// Nodes have a resource that they had not: pods that ask for it do so by its column from now on.
void renew_demands(TrackerData& t);
/// Counts the use of the new row and gives the old one back.
void set_demand(TrackerData& t, PodRecord& r, DemandId demand);
/// Counts the use of the new row and gives the old one back.
void set_constraint(TrackerData& t, PodRecord& r, ConstraintId constraint);
/// By its rules and by the pods that exclude it.
ConstraintId constraint_for(TrackerData& t, const PodRecord& r);
/// Of all waiting pods that the latest changes of anti-affinity concern. O(pods).
void refresh_constraints(TrackerData& t);
/// Of one pod.
void renew_constraint(TrackerData& t, PodSlot slot);

}  // namespace ashlar::kube
