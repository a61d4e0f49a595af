// usable_devices: which devices of a node a member may take at all, and what it is counted for on those that it takes.
// Nodes whose devices are all alike are judged as a whole, by the rules, so any device of them is usable.
#pragma once

#include <cstdint>

#include "state/cluster/node_columns.h"

namespace ashlar {

struct Constraint;
struct GrantedDevices;
struct QuotaKey;

/// Free or not: of a class that the member accepts, with as much memory as it requests, not cut into slices. Cost of a
/// mixed node: O(devices x classes and capabilities named).
DeviceMask usable_devices(const DeviceLayout& mixed, const DeviceClasses& classes, const Constraint& constraint,
                          const DeviceRequest& request);
inline DeviceMask usable_devices(const NodeColumns& nodes, NodeId node, const Constraint& constraint,
                                 const DeviceRequest& request) {
  const DeviceLayout* mixed = nodes.mixed_layout(node);
  return mixed == nullptr ? DeviceMask::unknown() : usable_devices(*mixed, nodes.classes(), constraint, request);
}

/// Those of these devices that are idle and may be taken. Of what the node owes nobody knows which devices it is, so as
/// many of each kind, the last ones, are left alone: what one member takes then never makes room for another.
DeviceMask idle_to_take(const NodeColumns& nodes, NodeId node, const DeviceMask& devices);

/// Idle devices that the member may take.
inline std::int32_t usable_idle(const NodeColumns& nodes, NodeId node, const Constraint& constraint,
                                const DeviceRequest& request) {
  const DeviceLayout* mixed = nodes.mixed_layout(node);
  return mixed == nullptr
             ? nodes.idle_devices()[node.row()]
             : idle_to_take(nodes, node, usable_devices(*mixed, nodes.classes(), constraint, request)).count();
}

/// The devices a placement without a stated choice takes, of those that the member may use and that have the memory, if
/// it is known: whole demands the first idle ones, shares the fitting device with least left free. Fewer than requested
/// if there are not enough.
DeviceMask choose_devices(const NodeColumns& nodes, NodeId node, const DeviceRequest& request,
                          const Constraint& constraint);

/// What the key counts of a member that has these devices of the node. What it holds of devices counts as of their own
/// class, what is owed as of the node's first device; everything else counts as of the class of the first device that
/// it has, or that the node has.
std::int64_t counted_for(const NodeColumns& nodes, NodeId node, const Demand& demand, const GrantedDevices& devices,
                         const QuotaKey& key);

}  // namespace ashlar
