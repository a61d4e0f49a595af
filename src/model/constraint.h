// Constraint: which nodes a member may use at all, and which it prefers, by facts that do not change when pods start
// and end (labels, taints, device class). Interned once per distinct content; the state keeps one feasibility set
// per constraint.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/id.h"
#include "model/node.h"

namespace ashlar {

/// key none = every key; effect kAny = every effect. By kEqual value none = the key with any value (operator Exists);
/// the others compare numbers: those of taints below `number`, or above it.
struct Toleration {
  enum class Op : std::uint8_t { kEqual, kLess, kGreater };
  LabelKeyId key;
  LabelId value;
  TaintEffect effect = TaintEffect::kAny;
  Op op = Op::kEqual;
  std::int64_t number = NodeLabel::kNotANumber;  ///< of kLess and kGreater; kNotANumber: no taint is tolerated
  bool tolerates(const Taint& t) const {
    return (key.is_none() || key == t.key) && tolerates_value(t) && (effect == TaintEffect::kAny || effect == t.effect);
  }
  bool tolerates_value(const Taint& t) const {
    if (op == Op::kEqual) return value.is_none() || value == t.value;
    if (number == NodeLabel::kNotANumber || t.number == NodeLabel::kNotANumber) return false;
    return op == Op::kLess ? t.number < number : t.number > number;
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

/// Pods that match the selector, in a domain: all nodes with the same value of the topology label.
struct PodTerm {
  PodSelectorId selector;
  LabelKeyId topology;
  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

/// Required affinity: a pod that matches is in the node's domain by each of the labels. The selector is that of all its
/// terms together; none = no such rule.
struct PodAffinity {
  PodSelectorId selector;
  std::vector<LabelKeyId> topologies;
  bool matches_itself = false;  ///< the member matches: it may be the first such pod
  friend bool operator==(const PodAffinity&, const PodAffinity&) = default;
};

/// Topology spread: with the member, its domain has at most `skew_max` more matching pods than the one with fewest.
struct SpreadTerm {
  PodSelectorId selector;
  LabelKeyId topology;
  std::int32_t skew_max = 1;
  std::int32_t domains_min = 1;  ///< where there are fewer domains, the fewest pods are taken as 0
  bool matches_itself = true;
  bool honors_affinity = true;  ///< only nodes that the member's selector and affinity allow have pods and domains
  bool honors_taints = false;   ///< the same of taints
  /// only nodes with the labels of all such terms count, and are scored; else (kube-scheduler's own defaults) a node is
  /// scored by those that it has
  bool requires_all_labels = true;
  friend bool operator==(const SpreadTerm&, const SpreadTerm&) = default;
};

/// Preferred affinity (a weight above 0) or anti-affinity (below) to pods that match, in the node's domain. It works
/// both ways: once the member is placed, pods that match are drawn to its domain by the same weight, or away from it.
struct PodPreference {
  PodSelectorId selector;
  LabelKeyId topology;
  std::int32_t weight = 1;   ///< -100..100
  bool is_required = false;  ///< a term of required affinity: draws others by its weight, and is no wish of the member
  friend bool operator==(const PodPreference&, const PodPreference&) = default;
};

/// The container images that a member runs, by their names.
struct ContainerImages {
  static constexpr std::uint32_t kCountMax = 1u << 16;
  std::vector<ImageId> on_nodes;  ///< those that nodes have, sorted; one is there as often as it is named
  std::uint32_t count = 0;        ///< of all of them, wherever they are, at most kCountMax; 0 with none on nodes
  /// So that sums of bytes stay within int64.
  bool is_sound() const { return count <= kCountMax && on_nodes.size() <= count; }
  friend bool operator==(const ContainerImages&, const ContainerImages&) = default;
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
  /// must hold: no pod in the node's domain matches (required anti-affinity); and while the member is placed, what it
  /// keeps away from its domains
  std::vector<PodTerm> keeps_away = {};
  /// must hold: the class of the devices has each of them; ascending, each once
  std::vector<CapabilityId> capabilities = {};
  bool keeps_itself_away = false;       ///< the member matches one of keeps_away: of its like only one is in a domain
  PodAffinity near = {};                ///< must hold
  std::vector<SpreadTerm> spread = {};  ///< each must hold
  /// must hold: of each list one term (where the member's volumes can be used); a list without terms allows no node
  std::vector<std::vector<NodeTerm>> volumes = {};
  /// must hold: the node has a label with each of these keys, a feature that it declares; no part of the selector, by
  /// which a spread counts nodes
  std::vector<LabelKeyId> features = {};
  std::vector<PodPreference> prefers_pods = {};  ///< soft, as all that follows
  std::vector<SpreadTerm> prefers_spread = {};   ///< fewer pods in the domain are better; domains_min has no meaning
  ContainerImages images = {};                   ///< nodes that have them are better

  /// Calls `visit(selector)` for each of its rules about other pods that must hold.
  template <class Visit>
  void each_required_selector(Visit&& visit) const {
    if (!near.selector.is_none()) visit(near.selector);
    for (const SpreadTerm& term : spread) visit(term.selector);
    for (const PodTerm& term : keeps_away) visit(term.selector);
  }
  /// The same of preferences, too.
  template <class Visit>
  void each_pod_selector(Visit&& visit) const {
    each_required_selector(visit);
    for (const PodPreference& term : prefers_pods) visit(term.selector);
    for (const SpreadTerm& term : prefers_spread) visit(term.selector);
  }
  /// Calls `visit(label)` for each label that makes domains of nodes in one of these rules.
  template <class Visit>
  void each_topology_label(Visit&& visit) const {
    for (const LabelKeyId topology : near.topologies) visit(topology);
    for (const SpreadTerm& term : spread) visit(term.topology);
    for (const PodTerm& term : keeps_away) visit(term.topology);
    for (const PodPreference& term : prefers_pods) visit(term.topology);
    for (const SpreadTerm& term : prefers_spread) visit(term.topology);
  }
  /// Which nodes it allows changes with the pods that are placed.
  bool has_company() const { return !near.selector.is_none() || !spread.empty() || !keeps_away.empty(); }
  /// Which of them are better does.
  bool has_wishes_about_pods() const {
    const auto is_wish = [](const PodPreference& term) { return !term.is_required; };
    return !prefers_spread.empty() || std::any_of(prefers_pods.begin(), prefers_pods.end(), is_wish);
  }
  /// Its placed pods change where others may go, or prefer to.
  bool acts_on_others() const { return !keeps_away.empty() || !prefers_pods.empty(); }
  /// Allowed nodes are others once a pod of its own constraint is placed.
  bool is_mutual() const {
    const auto matches_itself = [](const SpreadTerm& term) { return term.matches_itself; };
    return keeps_itself_away || near.matches_itself || std::any_of(spread.begin(), spread.end(), matches_itself);
  }
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

}  // namespace ashlar
