// Constraint: which nodes a member may use at all, and which it prefers, by facts that do not change when pods start
// and end (labels, taints, device class). Interned once per distinct content; the state keeps one feasibility set
// per constraint.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "model/node.h"

namespace ashlar {

/// key none = every key; value none = the key with any value (operator Exists); effect kAny = every effect.
struct Toleration {
  LabelKeyId key;
  LabelId value;
  TaintEffect effect = TaintEffect::kAny;
  bool tolerates(const Taint& t) const {
    return (key.is_none() || key == t.key) && (value.is_none() || value == t.value) &&
           (effect == TaintEffect::kAny || effect == t.effect);
  }
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

/// One requirement on labels; the operators are those of Kubernetes node affinity.
struct LabelExpression {
  enum class Op : std::uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };
  LabelKeyId key;
  Op op = Op::kIn;
  std::vector<LabelId> values;
  std::int64_t number = 0;  ///< for kGreater and kLess
  friend bool operator==(const LabelExpression&, const LabelExpression&) = default;
};

/// All expressions must hold.
struct NodeTerm {
  std::vector<LabelExpression> all;
  friend bool operator==(const NodeTerm&, const NodeTerm&) = default;
};

struct PreferredTerm {
  std::int32_t weight = 1;  ///< 1..100
  NodeTerm term;
  friend bool operator==(const PreferredTerm&, const PreferredTerm&) = default;
};

/// Required anti-affinity: pods that match the selector are kept out of the domain of the pod that has the term, which
/// is all nodes with the same value of the topology label.
struct PodTerm {
  PodSelectorId selector;
  LabelKeyId topology;
  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

struct Constraint {
  NodeTerm selector;                  ///< must hold (nodeSelector, nodeName)
  std::vector<NodeTerm> any_of;       ///< one of them must hold; empty = no such rule (required node affinity)
  std::vector<DeviceClassId> models;  ///< accepted device classes; empty = any
  std::vector<Toleration> tolerations;
  std::vector<PreferredTerm> preferred;  ///< soft
  /// must hold: the node is in no domain from which a placed pod keeps pods with these labels away; none = no such
  /// rule. It may have only the labels that terms ask for, so that pods that differ in others share the constraint.
  LabelSetId seen_as = {};
  /// what the member itself keeps away from its domains while it is placed
  std::vector<PodTerm> keeps_away = {};
  /// must hold: the class of the devices has each of them; ascending, each once
  std::vector<CapabilityId> capabilities = {};
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

}  // namespace ashlar
