// slots: a slot is a number of whole devices on one node, of accepted classes, idle at the same time: what one member
// takes. What a job needs at least and what a node offers at most are counted in slots, so that no start is possible
// before they are as many. Cost: O(members of the job), O(devices of a mixed node).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "state/state.h"

namespace ashlar {

struct SlotKind {
  std::int32_t devices = 1;                 ///< of each slot
  std::vector<DeviceClassId> classes = {};  ///< accepted, ascending; empty = any
  friend bool operator==(const SlotKind&, const SlotKind&) = default;
};

/// Slots that must be open at the same time, in one domain.
struct SlotRequest {
  SlotKind kind;
  std::int64_t count = 0;
  LevelId within = {};   ///< a domain of this level; none = the whole cluster
  DomainId joined = {};  ///< this one; none = any
  JobId lasting = {};    ///< what this job has does not become idle; none = all jobs end
};

/// What a job cannot start without. Shares of devices are not counted, and what is held or nominated, which the job may
/// perhaps use, counts as given.
struct NeededSlots {
  SlotRequest largest;  ///< its largest members, each on one node
  SlotRequest all;      ///< all its devices, one by one, where that says more
};
NeededSlots needed_slots(const State& state, JobId job);

/// The devices of a node that may belong to such a slot; unknown() = all of them. Empty if nothing is placed there.
DeviceMask devices_for(const NodeColumns& nodes, NodeId node, const SlotKind& kind);
/// How many of these are idle, at most.
std::int32_t idle_among(const NodeColumns& nodes, NodeId node, const DeviceMask& devices);
/// How many of these become idle when the member has gone, at most.
inline std::int32_t freed_among(const State& state, const Member& member, const DeviceMask& devices) {
  return devices == DeviceMask::unknown() ? std::max(state.demand(member.demand).devices.count, member.devices.count())
                                          : (member.devices & devices).count();
}
/// Whether that many slots are open now. Cost: O(nodes until they are).
bool are_open_now(const Cluster& cluster, const SlotRequest& request);

}  // namespace ashlar
