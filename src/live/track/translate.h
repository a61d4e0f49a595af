// translate: Kubernetes objects as the engine's values: demands and constraints, one row for each content that a pod uses, so that pods of one
// template share it, and node facts. What is new, and what is given back, is announced through EventBuffer. Cost: a pod of the same template as the
// one before costs a comparison, another one a hash lookup.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kubeclient/objects.h"
#include "live/track/event_buffer.h"
#include "live/track/names.h"
#include "live/track/value_rows.h"
#include "model/event.h"
#include "text/device_text.h"

namespace ashlar::kube {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr std::string_view kGpuMilliResource = "ashlar.dev/gpu-milli";
inline constexpr std::string_view kGpuMemoryAsk = "ashlar.dev/gpu-memory";
inline constexpr std::string_view kDevicesAnnotation = "ashlar.dev/cards";
inline constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";

/// The label of the pod, or its annotation of the same name (which may hold what a label value may not); nullptr where it has neither.
const PooledString* find_setting(const Pod& pod, std::string_view key);

/// Node labels (key, value) on which a pod must not land because of required anti-affinity of pods already there.
using Exclusions = std::vector<std::pair<PooledString, PooledString>>;

/// Why a pod that asks for a resource beyond the limit of columns is held.
std::string refusal_text(const PooledString& resource);

class Translator {
 public:
  Translator(ObjectNames& names, EventBuffer& out) : names_(names), out_(out) {}

  // Rows are used by pods: see use() and leave(). A row that nobody uses is given back when the engine has heard of it (note_taken).

  /// What the pod needs from a node. kInvalid names the field where Ashlar cannot account for it.
  Result<DemandId> demand(const Pod& pod);
  /// Would demand() give this row? Makes none.
  bool is_demand_of(const Pod& pod, DemandId id);
  /// What a pod that is already bound holds, whatever its wishes look like: what cannot be read is left out, and devices are rounded up to whole
  /// ones where two ways of asking for them contradict each other. The same as demand() where that has an answer.
  DemandId held_by(const Pod& pod);
  /// Where it may run.
  ConstraintId constraint(const PodRules& rules, const Exclusions& exclusions);
  /// Same content as the pod's rules with nothing excluded, by the object that pods of one template share.
  ConstraintId constraint(const std::shared_ptr<const PodRules>& rules);

  NodeFacts node_facts(const Node& node);
  /// Nodes have resources that they had not: templates are read anew.
  void forget_templates() { std::fill(std::begin(seen_), std::end(seen_), Seen()); }
  /// The same demand where nodes have come to have what it asks for: with columns in place of names without one.
  DemandId renewed(DemandId id);
  /// What the demand asks for and nodes have, but no column follows; empty where there is nothing.
  PooledString refused_in(DemandId id) const;
  const Demand& demand_of(DemandId id) const { return demands_[id]; }
  const Constraint& constraint_of(ConstraintId id) const { return constraints_[id]; }  // for tests
  /// A constraint that allows every node; for pods that are already bound, whose rules no longer matter.
  ConstraintId anywhere();

  // ---- who uses which row --------------------------------------------------------------------------------------------------------------
  void use(DemandId id) { demands_.use(id); }
  void leave(DemandId id) { demands_.leave(id); }
  void use(ConstraintId id) { constraints_.use(id); }
  void leave(ConstraintId id) { constraints_.leave(id); }
  /// The engine has heard of everything: rows without users are given back.
  void note_taken();
  /// Rows given back since the last call of forget_given_back().
  std::size_t given_back() const { return given_back_; }
  void forget_given_back() { given_back_ = 0; }
  void add_to(ObjectNames::InUse& in_use) const;
  std::size_t demand_count() const { return demands_.size(); }  // for tests
  std::size_t constraint_count() const { return constraints_.size(); }

 private:
  std::vector<DomainId> domains_of(const Labels& labels);
  struct Seen {
    Resources requests;
    std::shared_ptr<const PodRules> rules;
    PooledString memory_ask;
    DemandId id;
  };
  Result<Demand> build_demand(const Pod& pod, const PooledString* memory_ask);
  /// Everything but devices.
  Demand plain_demand(const Pod& pod);
  DemandId intern(Demand demand);
  ConstraintId intern(Constraint constraint);
  LabelExpression expression(const Requirement& requirement, bool is_field);
  ashlar::NodeTerm term(const NodeTerm& from);
  void take_models(const PodRules& rules, Constraint& into, bool& is_affinity_taken);

  ObjectNames& names_;
  EventBuffer& out_;
  ValueRows<DemandId, Demand> demands_;
  ValueRows<ConstraintId, Constraint> constraints_;
  std::size_t given_back_ = 0;
  static constexpr std::size_t kSeen = 8;  ///< templates remembered; pods of a template come in runs
  Seen seen_[kSeen];
  std::size_t next_seen_ = 0;
  struct SeenRules {
    std::shared_ptr<const PodRules> rules;
    ConstraintId id;
  };
  SeenRules seen_rules_[kSeen];
  std::size_t next_seen_rules_ = 0;
  ConstraintId anywhere_;
};

}  // namespace ashlar::kube
