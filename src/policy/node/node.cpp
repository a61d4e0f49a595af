// The table of feasible policies. The order is the one in which a node that nobody can use is counted under a reason: facts of the node first, in
// kube-scheduler's order, then what is free now. The hard topology wish (`within`) is not in this table: it concerns all members of a gang together,
// so the engine's domain search keeps it (see docs/reference/policies.md).
#include <array>
#include <iterator>
#include <utility>

#include "policy/node/device_fit.h"
#include "policy/node/model.h"
#include "policy/node/ports.h"
#include "policy/node/ready.h"
#include "policy/node/resources.h"
#include "policy/node/selector.h"
#include "policy/node/taints.h"

namespace ashlar {
namespace {

constexpr FeasiblePolicy kFeasible[] = {
    {.name = "ready", .reason = ReasonCode::kNotReady, .holds = is_ready},
    {.name = "taints", .reason = ReasonCode::kTaintNotTolerated, .holds = taints_tolerated},
    {.name = "selector", .reason = ReasonCode::kSelectorMismatch, .holds = is_selected, .is_lasting = true},
    {.name = "model", .reason = ReasonCode::kModelMismatch, .holds = has_accepted_model, .is_lasting = true},
    {.name = "ports", .reason = ReasonCode::kPortTaken, .lower = lower_by_ports},
    {.name = "card-fit", .reason = ReasonCode::kInsufficientGpu, .lower = lower_by_device_fit},
    {.name = "resources", .reason = ReasonCode::kInsufficientResource, .lower = lower_by_resources},
};

/// Rules by facts that the predicate names, as a list that is made when this is compiled: they are asked for each kind of member and each node.
template <class IsOne>
constexpr auto rules_that(IsOne&& is_one) {
  std::array<NodeRule, std::size(kFeasible)> rules{};
  std::size_t count = 0;
  for (const FeasiblePolicy& policy : kFeasible)
    if (policy.holds != nullptr && is_one(policy)) rules[count++] = policy.holds;
  return rules;
}
constexpr auto kByFacts = rules_that([](const FeasiblePolicy&) { return true; });
constexpr auto kLasting = rules_that([](const FeasiblePolicy& policy) { return policy.is_lasting; });

template <const auto& kRules>
bool do_all_hold(const Constraint& constraint, const NodeFacts& facts) {
  return [&]<std::size_t... kRow>(std::index_sequence<kRow...>) { return ((kRules[kRow] == nullptr || kRules[kRow](constraint, facts)) && ...); }
  (std::make_index_sequence<std::size(kRules)>());
}

}  // namespace

std::span<const FeasiblePolicy> feasible_policies() { return kFeasible; }

bool is_allowed_by_facts(const Constraint& constraint, const NodeFacts& facts) { return do_all_hold<kByFacts>(constraint, facts); }

bool is_meant_for(const Constraint& constraint, const NodeFacts& facts) { return do_all_hold<kLasting>(constraint, facts); }

const FeasiblePolicy* find_feasible(std::string_view name) {
  for (const FeasiblePolicy& policy : kFeasible)
    if (policy.name == name) return &policy;
  return nullptr;
}

}  // namespace ashlar
