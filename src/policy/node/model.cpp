#include "policy/node/model.h"

#include <algorithm>

namespace ashlar {

bool has_accepted_model(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  const auto& accepted = constraint.models;
  const auto is_accepted = [&](DeviceClassId of) {
    return std::find(accepted.begin(), accepted.end(), of) != accepted.end();
  };
  if (accepted.empty() || context.mixed == nullptr) return accepted.empty() || is_accepted(facts.devices.device_class);
  return std::ranges::any_of(context.mixed->devices, is_accepted, &DeviceFacts::device_class);
}

}  // namespace ashlar
