#include "policy/node/model.h"

#include <algorithm>

namespace ashlar {

bool has_accepted_model(const Constraint& constraint, const NodeFacts& facts) {
  const auto& accepted = constraint.models;
  return accepted.empty() || std::find(accepted.begin(), accepted.end(), facts.devices.device_class) != accepted.end();
}

}  // namespace ashlar
