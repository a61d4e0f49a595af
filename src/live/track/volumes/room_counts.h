// room_counts: how many volumes nodes have left for the requests of VolumeRooms, and how many a pod takes of them.
#pragma once

#include <span>
#include <vector>

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// A node had too few volumes for a claim of the pod of a gang: from now on those for claims like it are counted, and
/// if they were already, those for a claim of another member that took one. False: all were counted, or cannot be,
/// since waiting or placed pods depend on all rooms or all resource columns are taken.
bool lacks_room(TrackerData& t, PodSlot slot, const LateClaim& unmet);
/// What a pod with these claims takes. O(claims x rooms).
std::vector<Amount> room_amounts(TrackerData& t, std::span<const LateClaim> claims);
/// Adds what the node has: volumes that nobody has taken, and as many as pods with a place there request. O(volumes
/// that its labels allow).
void add_rooms(TrackerData& t, NodeId node, NodeFacts& facts);
/// Whether volumes of a room have changed.
bool has_room_news(const TrackerData& t);
/// Reports nodes that have other numbers. O(nodes) for each room that pods request and of whose class volumes have
/// changed.
void settle_rooms(TrackerData& t);

}  // namespace ashlar::kube
