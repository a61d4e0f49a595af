// Constraint: which nodes a member may use at all, and which it prefers, by facts that do not change when pods start
// and end (labels, taints, accelerator model). Interned once per distinct content; the state keeps one feasibility set
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

struct Constraint {
  NodeTerm selector;                  ///< must hold (nodeSelector, nodeName)
  std::vector<NodeTerm> any_of;       ///< one of them must hold; empty = no such rule (required node affinity)
  std::vector<DeviceClassId> models;  ///< accepted accelerator models; empty = any
  std::vector<Toleration> tolerations;
  std::vector<PreferredTerm> preferred;  ///< soft
  /// must hold: the node is in no domain from which a pod excludes it by required anti-affinity
  NodeTerm apart;
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

}  // namespace ashlar
