// Event: everything the engine ever learns, as values with dense ids. The same list of events, seed and profile gives
// the same plans, byte for byte. Ids are chosen by the edge (which keeps the names) and are introduced by the event
// that first uses them.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"
#include "model/constraint.h"
#include "model/demand.h"
#include "model/device_grant.h"
#include "model/gang.h"
#include "model/hold.h"
#include "model/node.h"
#include "model/pod_labels.h"
#include "model/quota.h"
#include "model/stop_rules.h"
#include "model/workload.h"

namespace ashlar {

struct LevelsDefined {
  std::uint32_t nested = 0;
  std::uint32_t orthogonal = 0;
};  ///< levels 0..nested-1 nest (outermost first); then independent ones
struct DemandDefined {
  DemandId id;
  Demand demand;
};  ///< a row that no member uses may be redefined; an empty demand gives it back
struct ConstraintDefined {
  ConstraintId id;
  Constraint constraint;
};  ///< the same
struct QueueDefined {
  QueueId id;
  QueueId parent;
  QuotaVector quota;
  std::vector<QuotaLimit> limits = {};  ///< further ones; a key not named is unlimited
  std::vector<QuotaShare> shares = {};  ///< of any keys, the dimensions among them
  QueueRank rank = {};
  QueueGate gate = {};
  std::vector<QueueUsage> usage = {};  ///< what it is to have used so far, of these; of others it is as it was
  StopRules stops = {};
};  ///< first or changed; parent none only for the root (row 0)
struct NodeSeen {
  NodeId node;
  NodeFacts facts;
};  ///< a new node, or one whose labels, taints, domains or readiness changed
struct NodeCapacityChanged {
  NodeId node;
  std::vector<std::int64_t> allocatable;
};  ///< of a known node; what is taken stays taken
struct NodeDevicesChanged {
  NodeId node;
  NodeDevices devices;
};  ///< of a known node; members on devices that are gone are owed as many
struct NodeGone {
  NodeId node;
};  ///< its members are unplaced but not ended
struct DeviceHealthChanged {
  NodeId node;
  DeviceMask unhealthy;
  /// of a known node, whatever else changes of it: nothing new is placed on these devices (any that it does not have
  /// count once it has them); members on them stay
};
struct Submitted {
  Workload workload;
};
struct MembersAdded {
  JobId job;
  std::uint32_t members_min = 1;
  std::vector<MemberSpec> members;
  /// more pods of a known job, in rank order after the others; without any: another number must start together (0, and
  /// for jobs with groups: see Workload)
};
struct MemberGone {
  MemberId member;
};  ///< the pod ended, failed or was deleted: frees what it held, leaves its job
struct Ended {
  JobId job;
};  ///< the whole job is over; its rows may be reused
struct Bound {
  MemberId member;
  NodeId node;
  DeviceMask devices;
  DeviceGrants grants = {};  ///< of each of these devices; none = as much of each as the member requests
  /// reported by the API server: confirms an assumption or overrides it; no devices = choose, DeviceMask::unknown() =
  /// owed by number
};
struct BindRejected {
  MemberId member;
};  ///< the assumption is dropped, the member waits again
struct Evicted {
  JobId job;
  Millis remaining;
  MemberId member = {};  ///< none: all of the job's
};  ///< stopped; waits again at its queue's tail; with that much still to run if no member is left in its place
struct EstimateChanged {
  JobId job;
  Estimate estimate;
};
struct CheckpointSaved {
  JobId job;
  Millis at;
};  ///< what it has run until then is not lost if it is stopped
struct ConstraintChanged {
  MemberId member;
  ConstraintId constraint;
};  ///< of a placed member only what it keeps away from its domains
struct PriorityChanged {
  JobId job;
  std::int32_t priority;
};
struct Nominated {
  MemberId member;
  NodeId node;
  std::int32_t priority;
};  ///< another scheduler wants this node for its pod; node none = no longer
struct LabelSetDefined {
  LabelSetId id;
  LabelSet set;
};  ///< a row that no member and no constraint uses may be redefined; an empty set gives it back
struct PodSelectorDefined {
  PodSelectorId id;
  PodSelector selector;
};  ///< a row that no constraint uses may be redefined; a selector of nothing gives it back
struct NamespaceSeen {
  NamespaceId id;
  NamespaceLabels labels;
};  ///< new, or its labels have changed; not known: removed
struct LabelsChanged {
  MemberId member;
  LabelSetId labels;
};  ///< as which the pod is counted; none: it is not counted
struct HoldPlaced {
  Hold hold;
};  ///< from now on; Ended of its job ends it before its time
struct DeviceLayoutDefined {
  DeviceLayoutId id;
  DeviceLayout layout;
};  ///< a row that no node uses may be redefined; a layout without devices gives it back
struct GangSpecDefined {
  GangSpecId id;
  GangSpec spec;
};  ///< a row that no job uses may be redefined; a list without groups gives it back
struct DeviceClassDefined {
  DeviceClassId id;
  DeviceClass device_class;
};  ///< first or changed: what its devices can do from now on; what is placed on them stays
struct ImageSeen {
  ImageId id;
  std::int64_t bytes = 0;
  std::vector<NodeId> added, removed;
};  ///< an image that constraints name is on these nodes from now on, and no longer on those; 0 bytes: given back
struct Tick {};  ///< time passed, nothing else

using EventBody =
    std::variant<Tick, LevelsDefined, DemandDefined, ConstraintDefined, QueueDefined, NodeSeen, NodeGone, Submitted,
                 MembersAdded, MemberGone, Ended, Bound, BindRejected, Evicted, EstimateChanged, ConstraintChanged,
                 PriorityChanged, Nominated, NodeCapacityChanged, NodeDevicesChanged, LabelSetDefined,
                 PodSelectorDefined, NamespaceSeen, HoldPlaced, DeviceHealthChanged, DeviceLayoutDefined,
                 GangSpecDefined, DeviceClassDefined, LabelsChanged, ImageSeen, CheckpointSaved>;

struct Event {
  Millis at;
  EventBody body;
};

/// What a known node's change to other facts is reported as: only what changed, or NodeSeen if more than capacity and
/// devices did. Empty: no change.
std::vector<EventBody> node_changes(NodeId node, const NodeFacts& before, const NodeFacts& after);

/// The name of an event's kind, for logs.
std::string_view kind_name(const EventBody& body);

}  // namespace ashlar
