// membership: PodGroup objects, and pods that join and leave gangs. A change marks the gang for settle_gang().
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// See Tracker::take().
void take_group(TrackerData& t, Change<PodGroup>&& change);
/// See Tracker::note_pod_groups().
void note_pod_groups(TrackerData& t, const std::string& problem);
/// Marks it for settle_gang().
void touch_gang(TrackerData& t, GangSlot slot);
/// Forgets a gang without pods, PodGroup and foreign pods.
void remove_if_unused(TrackerData& t, GangSlot slot);
/// Makes the pod a member; one that the engine has as a job of its own is withdrawn first.
void join_gang(TrackerData& t, PodSlot slot, const GangSettings& setting);
/// The reverse; the gang is removed when nothing is left of it.
void leave_gang(TrackerData& t, PodSlot slot);
/// See Tracker::members_present().
std::uint32_t members_present(const Tables& t, const GangRecord& g);
bool has_bound_member(const Tables& t, const GangRecord& g);
std::uint32_t bound_members(const Tables& t, const GangRecord& g);

}  // namespace ashlar::kube
