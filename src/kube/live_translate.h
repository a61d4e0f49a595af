// What does this pod or node mean to the engine? Translation of Kubernetes objects into the engine's values: demands and constraints, interned by
// content so that pods of one template share one row, and node facts. Pure but for the side tables; what is new is announced through LiveSource.
// Cost: a pod of the same template as the one before costs a comparison, another one a hash lookup.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/live_names.h"
#include "kube/live_source.h"
#include "kube/objects.h"
#include "model/event.h"

namespace ashlar::kube {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr std::string_view kGpuMilliResource = "ashlar.dev/gpu-milli";
inline constexpr std::string_view kGpuProductLabel = "nvidia.com/gpu.product";
inline constexpr std::string_view kGpuMemoryLabel = "nvidia.com/gpu.memory";
inline constexpr std::string_view kGpuMemoryAsk = "ashlar.dev/gpu-memory";
inline constexpr std::string_view kCardsAnnotation = "ashlar.dev/cards";
inline constexpr std::string_view kUnschedulableTaint = "node.kubernetes.io/unschedulable";
inline constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";
inline constexpr std::string_view kUnreachableTaint = "node.kubernetes.io/unreachable";

/// The label of the pod, or its annotation of the same name (which may hold what a label value may not); nullptr where it has neither.
const Text* find_wish(const Pod& pod, std::string_view key);

/// "0,1,5" or "0-3,6"; empty where the text is malformed.
CardMask parse_cards(std::string_view text);
/// "0,1,5"
std::string cards_text(const CardMask& cards);

/// "90s", "1h30m", "250ms", "3600" (seconds); a negative or malformed text is kInvalid.
Result<Millis> parse_duration(std::string_view text);

/// Node labels (key, value) on which a pod must not land because of required anti-affinity of pods already there.
using Exclusions = std::vector<std::pair<Text, Text>>;

class Translator {
 public:
  Translator(LiveNames& names, LiveSource& out) : names_(names), out_(out) {}

  /// What the pod needs from a node. kInvalid names the field where Ashlar cannot account for it.
  Result<DemandId> demand(const Pod& pod);
  /// What a pod that is already bound holds, whatever its wishes look like: what cannot be read is left out, and cards are rounded up to whole
  /// ones where two ways of asking for them contradict each other. The same as demand() where that has an answer.
  DemandId held_by(const Pod& pod);
  /// Where it may run.
  ConstraintId constraint(const PodRules& rules, const Exclusions& exclusions);
  /// Same content as the pod's rules with nothing excluded, by the object that pods of one template share.
  ConstraintId constraint(const std::shared_ptr<const PodRules>& rules);

  NodeFacts node_facts(const Node& node);
  const Demand& demand_of(DemandId id) const { return demands_[id.row()]; }
  const Constraint& constraint_of(ConstraintId id) const { return constraints_[id.row()]; }
  /// A constraint that allows every node; for pods that are already bound, whose rules no longer matter.
  ConstraintId anywhere();

 private:
  struct Seen {
    Resources requests;
    std::shared_ptr<const PodRules> rules;
    Text memory_ask;
    DemandId id;
  };
  Result<Demand> build_demand(const Pod& pod, const Text* memory_ask);
  /// Everything but cards and the extended resources that have no column.
  Demand plain_demand(const Pod& pod);
  DemandId intern(Demand demand);
  ConstraintId intern(Constraint constraint);
  LabelExpression expression(const Requirement& requirement, bool is_field);
  ashlar::NodeTerm term(const NodeTerm& from);
  void take_models(const PodRules& rules, Constraint& into, bool& is_affinity_taken);
  std::vector<DomainId> domains_of(const Labels& labels);

  LiveNames& names_;
  LiveSource& out_;
  std::vector<Demand> demands_;
  std::vector<Constraint> constraints_;
  boost::unordered_flat_map<std::uint64_t, std::vector<DemandId>> demands_by_hash_;
  boost::unordered_flat_map<std::uint64_t, std::vector<ConstraintId>> constraints_by_hash_;
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
