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
  friend bool operator==(const Taint&, const Taint&) = default;
};

/// The devices of a node, which are all of one class.
struct NodeDevices {
  std::int32_t count = 0;      ///< 0..kDevicesPerNodeMax
  MiB memory_each{0};          ///< 0 = not known, not checked
  DeviceClassId device_class;  ///< none = no or unknown accelerator
  friend bool operator==(const NodeDevices&, const NodeDevices&) = default;
};

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

/// Whether the constraint allows a node of these facts, regardless of what is free there; `kept_away` knows from where
/// placed pods keep others away. The rules are in src/policy/node.
using NodeRule = bool (*)(const Constraint& constraint, const NodeFacts& facts, const KeptAway& kept_away);

}  // namespace ashlar
