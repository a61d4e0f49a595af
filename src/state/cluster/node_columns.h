// NodeColumns: what the nodes have and what is free, as flat integer columns by NodeId and by device, for reading: what
// a policy sees. A Cluster keeps them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"
#include "model/demand.h"
#include "model/node.h"

namespace ashlar {

/// Members on a node by the kind of their device request: shares of a device, then whole devices by their number (the
/// last kind: more than fit before it).
inline constexpr std::size_t kDeviceRequestKinds = 10;
using DeviceRequestCounts = std::array<std::uint16_t, kDeviceRequestKinds>;

/// The kind of a request of at least one device.
inline std::size_t device_request_kind(const DeviceRequest& request) {
  constexpr auto kLast = static_cast<std::int32_t>(kDeviceRequestKinds) - 1;
  return request.is_whole() ? static_cast<std::size_t>(std::min(request.count, kLast)) : 0;
}

/// Free amounts of one device, at least 0.
struct WithheldDevice {
  std::uint32_t device = 0;  ///< row of the columns by device
  std::int32_t milli = 0;
  std::int64_t mib = 0;
  friend bool operator==(const WithheldDevice&, const WithheldDevice&) = default;
};

/// What is free on the unhealthy devices of all nodes. Nothing new is placed there, so the columns of free amounts show
/// none of it. Few devices are unhealthy: O(log of them) to find one, O(of them) to add one.
struct WithheldDevices {
  std::vector<WithheldDevice> rows;  ///< ascending by device

  /// Those among `count` rows of devices from `first` on.
  std::span<const WithheldDevice> among(std::uint32_t first, std::uint32_t count) const {
    if (rows.empty()) return {};
    const auto from = std::ranges::lower_bound(rows, first, {}, &WithheldDevice::device);
    return {from, std::ranges::lower_bound(from, rows.end(), first + count, {}, &WithheldDevice::device)};
  }
  /// nullptr if it is not withheld.
  WithheldDevice* find(std::uint32_t device) {
    const auto at = std::ranges::lower_bound(rows, device, {}, &WithheldDevice::device);
    return at == rows.end() || at->device != device ? nullptr : &*at;
  }
  void add(const WithheldDevice& device) {
    rows.insert(std::ranges::lower_bound(rows, device.device, {}, &WithheldDevice::device), device);
  }
  void remove(std::uint32_t first, std::uint32_t count) {
    const auto from = std::ranges::lower_bound(rows, first, {}, &WithheldDevice::device);
    rows.erase(from, std::ranges::lower_bound(from, rows.end(), first + count, {}, &WithheldDevice::device));
  }
};

/// The layouts of devices that nodes may have, by DeviceLayoutId, and the nodes whose devices are not all alike. Those
/// are few, or none: uniform nodes are read as if there were no layouts.
class DeviceLayouts {
 public:
  std::size_t rows() const { return rows_.size(); }
  const DeviceLayout& row(DeviceLayoutId id) const { return rows_[id.row()]; }
  /// Whether this can be said of a node: its layout is defined, and what is said of all devices agrees with it.
  bool are_known(const NodeDevices& devices) const {
    return devices.layout.is_none() || (devices.layout.row() < rows_.size() && !row(devices.layout).devices.empty() &&
                                        devices_with(devices.layout, row(devices.layout)) == devices);
  }
  /// What is known of each device if they are not all alike; nullptr if they are.
  const DeviceLayout* mixed(const NodeDevices& devices) const {
    return devices.layout.is_none() || kinds_[devices.layout.row()].empty() ? nullptr : &rows_[devices.layout.row()];
  }
  /// The devices of each kind of a layout of which mixed() speaks, in the order of their first ones; none of others.
  std::span<const DeviceMask> kinds(DeviceLayoutId id) const { return kinds_[id.row()]; }
  /// Nodes whose devices are not all alike, ascending.
  std::span<const NodeId> mixed_nodes() const { return mixed_nodes_; }

  void define(DeviceLayoutId id, const DeviceLayout& layout);
  /// The node has these devices from now on. O(mixed nodes) if it becomes one or ceases to be one.
  void note(NodeId n, const NodeDevices& devices);
  /// The same from scratch, by the facts of all nodes.
  void rebuild(std::span<const NodeFacts> facts);
  bool is_like(const DeviceLayouts& other) const {
    return rows_ == other.rows_ && kinds_ == other.kinds_ && mixed_nodes_ == other.mixed_nodes_;
  }

 private:
  friend struct StateFields;
  std::vector<DeviceLayout> rows_;
  std::vector<std::vector<DeviceMask>> kinds_;  ///< by layout; derived, not in snapshots
  std::vector<NodeId> mixed_nodes_;             ///< the same
};

/// What is known of device classes, by DeviceClassId, and which of them a constraint accepts. Cost: O(classes and
/// capabilities that the constraint names).
class DeviceClasses {
 public:
  std::size_t rows() const { return rows_.size(); }
  /// Of one that was never defined: without models and capabilities.
  const DeviceClass& row(DeviceClassId id) const;
  void define(DeviceClassId id, const DeviceClass& device_class);
  bool has(DeviceClassId of, CapabilityId capability) const {
    return std::ranges::binary_search(row(of).capabilities, capability);
  }
  /// Those that the constraint names.
  bool has_capabilities(const Constraint& constraint, DeviceClassId of) const;
  /// Whether a member with this constraint may have devices of the class.
  bool are_accepted(const Constraint& constraint, DeviceClassId of) const {
    return names_class(constraint, of) && has_capabilities(constraint, of);
  }
  /// The same by the classes that it names alone.
  static bool names_class(const Constraint& constraint, DeviceClassId of);

 private:
  friend struct StateFields;
  std::vector<DeviceClass> rows_;
};

/// The memory of each device of a node; 0 = not known, not checked.
struct DeviceMemories {
  const DeviceLayout* mixed = nullptr;
  std::int64_t each = 0;  ///< where the devices are alike
  std::int64_t operator[](std::size_t i) const { return mixed == nullptr ? each : mixed->devices[i].memory.value; }
  friend bool operator==(const DeviceMemories&, const DeviceMemories&) = default;
};

class NodeColumns {
 public:
  // ---- columns by NodeId --------------------------------------------------------------------------------------------
  std::size_t rows() const { return facts_.size(); }  ///< rows ever used; some may not be live
  bool is_live(NodeId n) const { return n.row() < is_live_.size() && is_live_[n.row()] != 0; }
  const NodeFacts& facts(NodeId n) const { return facts_[n.row()]; }
  /// Free amounts of one resource by node; negative if others overcommitted. Zero on rows that are not live.
  std::span<const std::int64_t> free(ResourceId r) const { return free_[r.row()]; }
  std::span<const std::int64_t> allocatable(ResourceId r) const { return allocatable_[r.row()]; }
  std::size_t resource_count() const { return free_.size(); }
  /// Wholly free devices, less those owed: to pods without known devices, and whole devices that are claimed from one
  /// device beyond itself.
  std::span<const std::int32_t> idle_devices() const { return idle_devices_; }
  /// sum over the node's devices; an overcommitted device counts as 0
  std::span<const std::int32_t> free_milli() const { return free_milli_; }
  std::span<const std::int32_t> devices() const { return device_count_; }
  std::span<const std::uint32_t> first_device() const { return first_device_; }
  std::span<const DeviceRequestCounts> device_request_counts() const { return device_request_counts_; }
  /// None where it is not known, or where the devices are of several classes.
  std::span<const DeviceClassId> models() const { return model_; }
  const DeviceLayouts& layouts() const { return layouts_; }
  const DeviceClasses& classes() const { return classes_; }
  /// What is known of each device of a node on which they are not all alike; else nullptr.
  const DeviceLayout* mixed_layout(NodeId n) const { return layouts_.mixed(facts_[n.row()].devices); }
  /// What is known of each device of a node, alike or not; nullptr if no more is known than what its facts say.
  const DeviceLayout* layout(NodeId n) const {
    const DeviceLayoutId id = facts_[n.row()].devices.layout;
    return id.is_none() ? nullptr : &layouts_.row(id);
  }
  /// The devices of each kind of such a node; none of any other.
  std::span<const DeviceMask> device_kinds(NodeId n) const {
    const DeviceLayoutId id = facts_[n.row()].devices.layout;
    return id.is_none() ? std::span<const DeviceMask>() : layouts_.kinds(id);
  }
  DeviceMemories device_memories(NodeId n) const {
    return {mixed_layout(n), facts_[n.row()].devices.memory_each.value};
  }
  /// Whether the node, or a device of it, is of the class.
  bool has_class(NodeId n, DeviceClassId device_class) const {
    const DeviceLayout* mixed = mixed_layout(n);
    if (mixed == nullptr) return model_[n.row()] == device_class;
    return std::ranges::count(mixed->devices, device_class, &DeviceFacts::device_class) > 0;
  }
  // ---- columns by device --------------------------------------------------------------------------------------------
  std::span<const std::int32_t> device_free_milli() const { return device_free_milli_; }
  std::span<const std::int64_t> device_free_mib() const { return device_free_mib_; }
  /// The free milli-GPU of each device of one node.
  std::span<const std::int32_t> device_free_milli(NodeId n) const {
    return std::span(device_free_milli_)
        .subspan(first_device_[n.row()], static_cast<std::size_t>(device_count_[n.row()]));
  }
  std::span<const std::int64_t> device_free_mib(NodeId n) const {
    return std::span(device_free_mib_)
        .subspan(first_device_[n.row()], static_cast<std::size_t>(device_count_[n.row()]));
  }
  /// The unhealthy devices of one node, ascending, with what is free on them.
  std::span<const WithheldDevice> withheld(NodeId n) const {
    return withheld_.among(first_device_[n.row()], static_cast<std::uint32_t>(device_count_[n.row()]));
  }
  std::size_t unhealthy_device_count() const { return withheld_.rows.size(); }
  /// What was last reported of the node; perhaps also of devices that it does not have now.
  const DeviceMask& reported_unhealthy(NodeId n) const { return unhealthy_[n.row()]; }  // for tests
  DeviceMask unhealthy_devices(NodeId n) const { return unhealthy_[n.row()].among(device_count_[n.row()]); }
  DeviceMask overfull_devices(NodeId n) const;
  std::span<const HostPort> ports_taken(NodeId n) const { return ports_[n.row()]; }
  /// Idle devices of the ready nodes of each topology group.
  std::span<const std::int64_t> group_idle_devices() const { return group_idle_devices_; }

 protected:
  /// Returns the live nodes that have devices of the class, if their capabilities have changed.
  std::vector<NodeId> define_class(DeviceClassId id, const DeviceClass& device_class);
  std::uint64_t counted_overfull() const;
  /// Rows of the devices that must be withheld, ascending.
  std::vector<std::uint32_t> counted_unhealthy() const;

  std::vector<NodeFacts> facts_;
  DeviceLayouts layouts_;
  DeviceClasses classes_;
  std::vector<std::uint8_t> is_live_;
  std::vector<std::vector<std::int64_t>> free_, allocatable_;  ///< [resource][node]
  std::vector<std::int32_t> idle_devices_, free_milli_, device_count_;
  std::vector<std::uint32_t> first_device_;
  /// derived from the members; State::is_consistent recounts it
  std::vector<DeviceRequestCounts> device_request_counts_;
  std::vector<std::int64_t> group_idle_devices_;
  std::vector<DeviceClassId> model_;
  std::vector<std::int32_t> device_free_milli_;
  std::vector<std::int64_t> device_free_mib_;
  std::vector<DeviceMask> unhealthy_;  ///< as reported
  WithheldDevices withheld_;           ///< one for each unhealthy device that exists
  std::vector<std::vector<HostPort>> ports_;
};

}  // namespace ashlar
