// The table of feasible policies. The order is the one in which a node that nobody can use is counted under a reason: facts of the node first, in
// kube-scheduler's order, then what is free now. The hard topology wish (`within`) is not in this table: it concerns all members of a gang together,
// so the engine's domain search keeps it (see docs/reference/policies.md).
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
    {"ready", lower_by_ready, true, ReasonCode::kNotReady},
    {"taints", lower_by_taints, true, ReasonCode::kTaintNotTolerated},
    {"selector", lower_by_selector, true, ReasonCode::kSelectorMismatch},
    {"model", lower_by_model, true, ReasonCode::kModelMismatch},
    {"ports", lower_by_ports, false, ReasonCode::kPortTaken},
    {"card-fit", lower_by_device_fit, false, ReasonCode::kInsufficientGpu},
    {"resources", lower_by_resources, false, ReasonCode::kInsufficientResource},
};

}  // namespace

std::span<const FeasiblePolicy> feasible_policies() { return kFeasible; }

const FeasiblePolicy* find_feasible(std::string_view name) {
  for (const FeasiblePolicy& policy : kFeasible)
    if (policy.name == name) return &policy;
  return nullptr;
}

}  // namespace ashlar
