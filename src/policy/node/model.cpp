#include "policy/node/model.h"

#include <algorithm>

namespace ashlar {

bool has_accepted_model(const Constraint& constraint, const NodeFacts& facts) {
  const auto& accepted = constraint.models;
  const auto is_accepted = [&](DeviceClassId of) {
    return std::find(accepted.begin(), accepted.end(), of) != accepted.end();
  };
  return accepted.empty() || is_accepted(facts.devices.device_class) ||
         std::any_of(facts.mixed_classes.begin(), facts.mixed_classes.end(), is_accepted);
}

}  // namespace ashlar
