// node: everything about a node that does not change when pods start and end, as plain values.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"

namespace ashlar {

struct Constraint;
class KeptAway;
class DeviceClasses;
class DeviceLayouts;

/// A label of a node. `number` is the value read as an integer, or kNotANumber. The node's own name is a label of the
/// key that the edge reserves for it, so that nodeName and matchFields need no rule of their own.
struct NodeLabel {
  static constexpr std::int64_t kNotANumber = std::numeric_limits<std::int64_t>::min();
  LabelKeyId key;
  LabelId id;  ///< interned key=value
  std::int64_t number = kNotANumber;
  friend bool operator==(const NodeLabel&, const NodeLabel&) = default;
};

enum class TaintEffect : std::uint8_t { kNoSchedule, kPreferNoSchedule, kNoExecute, kAny };

struct Taint {
  LabelKeyId key;
  LabelId value;  ///< interned key=value
  TaintEffect effect = TaintEffect::kNoSchedule;
  std::int64_t number = NodeLabel::kNotANumber;  ///< its value read as an integer
  friend bool operator==(const Taint&, const Taint&) = default;
};

/// The devices of a node.
struct NodeDevices {
  std::int32_t count = 0;      ///< 0..kDevicesPerNodeMax
  MiB memory_each{0};          ///< 0 = not known, not checked; also if the devices have unlike amounts
  DeviceClassId device_class;  ///< none = no or unknown accelerator; also if the devices are of several classes
  DeviceLayoutId layout = {};  ///< what is known of each of them; none = they are alike
  friend bool operator==(const NodeDevices&, const NodeDevices&) = default;
};

/// Whether a device takes members as it is. Nothing is placed on a device that is cut into slices.
enum class DeviceMode : std::uint8_t { kWhole, kSliced };

/// Islands, NUMA nodes and switches are numbered within the node.
struct DeviceFacts {
  DeviceClassId device_class;
  MiB memory{0};  ///< 0 = not known, not checked
  std::uint8_t island = 0;
  std::uint8_t numa_node = 0;
  std::uint8_t pcie_switch = 0;
  DeviceMode mode = DeviceMode::kWhole;
  friend bool operator==(const DeviceFacts&, const DeviceFacts&) = default;
};

/// Whether a member that may take one of the devices may take the other.
inline bool is_of_one_kind(const DeviceFacts& a, const DeviceFacts& b) {
  return a.device_class == b.device_class && a.memory == b.memory && a.mode == b.mode;
}

/// What is known of each device of a node, by device index. Interned, so that like nodes share one row; a node whose
/// devices are all alike, and of which no more is known, needs none.
struct DeviceLayout {
  std::vector<DeviceFacts> devices;
  friend bool operator==(const DeviceLayout&, const DeviceLayout&) = default;
};

/// Whether a member may have to choose among the devices: they differ in class, memory or mode, or are sliced.
bool is_mixed(const DeviceLayout& layout);
/// The classes of its devices, each once, ascending.
std::vector<DeviceClassId> classes_of(const DeviceLayout& layout);
/// The devices of a node with this layout: class and memory where all agree.
NodeDevices devices_with(DeviceLayoutId id, const DeviceLayout& layout);

/// What a class of devices is called and what it can do. Its name is that of its DeviceClassId, which the edge gives to
/// the name and to each of the models that the class lists: rules compare classes, never names.
/// Example: H100, models NVIDIA-H100-80GB-HBM3 and NVIDIA-H100-PCIe, capabilities fp8 and nvlink. One that was never
/// defined lists no models and has no capabilities.
struct DeviceClass {
  static constexpr std::size_t kNamesMax = 64;  ///< of models, and of capabilities

  std::vector<DeviceModelId> models;       ///< further names, as nodes and people write them
  std::vector<CapabilityId> capabilities;  ///< ascending, each once
  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};
/// Whether they are ascending, each once, and not too many.
bool is_capability_list(const std::vector<CapabilityId>& capabilities);

/// Everything about a node that does not change when pods start and end.
struct NodeFacts {
  std::vector<std::int64_t> allocatable;  ///< by ResourceId; missing rows are 0
  NodeDevices devices;
  bool is_ready = true;           ///< false: nothing new is placed
  std::vector<NodeLabel> labels;  ///< ascending by key
  std::vector<Taint> taints;
  std::vector<DomainId> domains;  ///< by LevelId; none if the node has no such label
  friend bool operator==(const NodeFacts&, const NodeFacts&) = default;
};

/// What a rule may know of nodes beside their facts.
struct NodeContext {
  const KeptAway& kept_away;               ///< from where placed pods keep others away
  const DeviceLayouts* layouts = nullptr;  ///< none: the devices of each node are alike
  const DeviceClasses* classes = nullptr;  ///< none: no class has a capability
};

/// Whether the constraint allows a node of these facts, regardless of what is free there. The rules are in
/// src/policy/node.
using NodeRule = bool (*)(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context);

/// The rules by which the state keeps sets of nodes.
struct NodeRules {
  using ByFacts = bool (*)(const Constraint& constraint, const NodeFacts& facts);

  NodeRule allows;  ///< where is_selected is given, no node that it refuses
  /// Of topology spread: whether the constraint's selector and affinity allow the node, and whether it tolerates all
  /// taints; nullptr: it does.
  ByFacts is_selected = nullptr, tolerates = nullptr;
  using Amount = std::int32_t (*)(const Constraint& constraint, const NodeFacts& facts);
  /// Of preferences: the weights of the preferred terms that hold, and the soft taints that are not tolerated; nullptr:
  /// none.
  Amount weights_held = nullptr, soft_taints = nullptr;

  NodeRules(NodeRule allows_by_all) : allows(allows_by_all) {}  // NOLINT(google-explicit-constructor)
  NodeRules(NodeRule allows_by_all, ByFacts selected, ByFacts tolerated)
      : allows(allows_by_all), is_selected(selected), tolerates(tolerated) {}
  NodeRules(NodeRule allows_by_all, ByFacts selected, ByFacts tolerated, Amount weights, Amount taints)
      : allows(allows_by_all),
        is_selected(selected),
        tolerates(tolerated),
        weights_held(weights),
        soft_taints(taints) {}
};

}  // namespace ashlar
