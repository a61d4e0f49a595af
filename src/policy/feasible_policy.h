// FeasiblePolicy: a node rule, which only removes nodes: by facts of the node alone, or by what is free. One row per
// rule, in the order of the docs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/reason.h"
#include "policy/node_view.h"
#include "state/counts/company.h"

namespace ashlar {

/// Lowers fits[i] to the number of such members that the node could take by this rule alone.
using FeasibleKernel = void (*)(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits);
/// By facts of the node alone.
using FactsKernel = bool (*)(const Constraint& constraint, const NodeFacts& facts);
/// One of `holds`, `admits`, `lower` and `company` is set.
struct FeasiblePolicy {
  std::string_view name;
  ReasonCode reason;  ///< the reason a node is counted under when this is the first rule to refuse it
  /// by facts of the node alone; the state keeps the result per constraint (Cluster::allowed)
  FactsKernel holds = nullptr;
  /// by what else is known of the node: the pods that are placed in its domains, and its devices one by one
  NodeRule admits = nullptr;
  FeasibleKernel lower = nullptr;            ///< by what is free
  CompanyRule company = CompanyRule::kNone;  ///< by the pods that are placed; the state evaluates it for all nodes
  /// of those by facts: permanent properties of the node, not its present condition (cordoned, tainted)
  bool is_lasting = false;

  bool is_by_facts() const { return lower == nullptr; }
  bool is_by_pods() const { return company != CompanyRule::kNone; }
  /// Of those by facts; by those by pods alone nothing is refused here.
  bool allows(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) const {
    if (holds != nullptr) return holds(constraint, facts);
    return admits == nullptr || admits(constraint, facts, context);
  }
};
std::span<const FeasiblePolicy> feasible_policies();
/// nullptr for an unknown name.
const FeasiblePolicy* find_feasible(std::string_view name);

/// The rules of the state's feasibility sets.
extern const NodeRules kNodeRules;
/// All rules by facts, but for those by pods.
bool is_allowed_by_facts(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context);
/// The lasting ones among them: whether the node could ever be allowed, given its labels and devices.
bool is_meant_for(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context);

}  // namespace ashlar
