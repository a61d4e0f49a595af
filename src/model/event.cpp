// Names of the kinds of events, in the order of EventBody. They appear in logs and recordings, so they never change.
#include "model/event.h"

#include <iterator>
#include <tuple>

namespace ashlar {
namespace {

constexpr std::string_view kKinds[] = {"Tick",
                                       "LevelsDefined",
                                       "DemandDefined",
                                       "ConstraintDefined",
                                       "QueueDefined",
                                       "NodeSeen",
                                       "NodeGone",
                                       "Submitted",
                                       "MembersAdded",
                                       "MemberGone",
                                       "Ended",
                                       "Bound",
                                       "BindRejected",
                                       "Evicted",
                                       "EstimateChanged",
                                       "ConstraintChanged",
                                       "PriorityChanged",
                                       "Nominated",
                                       "NodeCapacityChanged",
                                       "NodeDevicesChanged",
                                       "LabelSetDefined",
                                       "PodSelectorDefined",
                                       "NamespaceSeen",
                                       "HoldPlaced",
                                       "DeviceHealthChanged",
                                       "DeviceLayoutDefined",
                                       "GangSpecDefined",
                                       "DeviceClassDefined",
                                       "LabelsChanged",
                                       "ImageSeen",
                                       "CheckpointSaved"};
static_assert(std::size(kKinds) == std::variant_size_v<EventBody>, "every kind of event has a name");

}  // namespace

std::vector<EventBody> node_changes(NodeId node, const NodeFacts& before, const NodeFacts& after) {
  const auto rest = [](const NodeFacts& f) { return std::tie(f.is_ready, f.labels, f.taints, f.domains); };
  if (rest(before) != rest(after)) return {NodeSeen{node, after}};
  std::vector<EventBody> changes;
  if (before.allocatable != after.allocatable) changes.push_back(NodeCapacityChanged{node, after.allocatable});
  if (before.devices != after.devices) changes.push_back(NodeDevicesChanged{node, after.devices});
  return changes;
}

std::string_view kind_name(const EventBody& body) { return kKinds[body.index()]; }

}  // namespace ashlar
