// The table of feasible policies. The order is that in which a node that nothing fits is counted under a reason: facts
// of the node first, in kube-scheduler's order, then what is free now. The hard topology requirement (`within`) is not
// in this table: it concerns all members of a gang together, so the engine's domain search enforces it (see
// docs/reference/policies.md).
#include <iterator>
#include <utility>

#include "policy/feasible_policy.h"
#include "policy/node/anti_affinity.h"
#include "policy/node/capabilities.h"
#include "policy/node/device_fit.h"
#include "policy/node/features.h"
#include "policy/node/model.h"
#include "policy/node/ports.h"
#include "policy/node/preferred.h"
#include "policy/node/ready.h"
#include "policy/node/resources.h"
#include "policy/node/selector.h"
#include "policy/node/taints.h"
#include "policy/node/volumes.h"

namespace ashlar {
namespace {

constexpr FeasiblePolicy kFeasible[] = {
    {.name = "ready", .reason = ReasonCode::kNotReady, .holds = is_ready},
    {.name = "taints", .reason = ReasonCode::kTaintNotTolerated, .holds = taints_tolerated},
    {.name = "selector", .reason = ReasonCode::kSelectorMismatch, .holds = is_selected, .is_lasting = true},
    {.name = "volumes", .reason = ReasonCode::kVolumeNodeAffinity, .holds = are_volumes_usable, .is_lasting = true},
    {.name = "topology-spread", .reason = ReasonCode::kTopologySpread, .company = CompanyRule::kSpread},
    {.name = "pod-affinity", .reason = ReasonCode::kPodAffinity, .company = CompanyRule::kAffinity},
    {.name = "pod-anti-affinity", .reason = ReasonCode::kOwnAntiAffinity, .company = CompanyRule::kAntiAffinity},
    {.name = "anti-affinity", .reason = ReasonCode::kPodAntiAffinity, .admits = is_kept_away_by_none},
    {.name = "features", .reason = ReasonCode::kFeatureMissing, .holds = has_features, .is_lasting = true},
    {.name = "model", .reason = ReasonCode::kModelMismatch, .admits = has_accepted_model, .is_lasting = true},
    {.name = "capabilities", .reason = ReasonCode::kCapabilityMissing, .admits = has_capabilities, .is_lasting = true},
    {.name = "ports", .reason = ReasonCode::kPortTaken, .lower = lower_by_ports},
    {.name = "card-fit", .reason = ReasonCode::kInsufficientGpu, .lower = lower_by_device_fit},
    {.name = "resources", .reason = ReasonCode::kInsufficientResource, .lower = lower_by_resources},
};

/// Whether the rules by facts hold, or the lasting ones among them. Unrolled at compile time: called for each kind of
/// member and node.
template <std::size_t... kRow>
bool do_all_hold(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context, bool only_lasting,
                 std::index_sequence<kRow...>) {
  const auto holds = [&](const FeasiblePolicy& policy) {
    if (!policy.is_by_facts() || policy.is_by_pods() || (only_lasting && !policy.is_lasting)) return true;
    return policy.allows(constraint, facts, context);
  };
  return (holds(kFeasible[kRow]) && ...);
}
constexpr auto kEachRow = std::make_index_sequence<std::size(kFeasible)>();

}  // namespace

const NodeRules kNodeRules{is_allowed_by_facts, is_selected, taints_tolerated, weights_held, untolerated_soft_taints};

std::span<const FeasiblePolicy> feasible_policies() { return kFeasible; }

bool is_allowed_by_facts(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  return do_all_hold(constraint, facts, context, false, kEachRow);
}

bool is_meant_for(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  return do_all_hold(constraint, facts, context, true, kEachRow);
}

const FeasiblePolicy* find_feasible(std::string_view name) {
  for (const FeasiblePolicy& policy : kFeasible)
    if (policy.name == name) return &policy;
  return nullptr;
}

}  // namespace ashlar
