#include "policy/node/model.h"

#include <algorithm>

#include "state/cluster/node_columns.h"

namespace ashlar {

bool has_accepted_model(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  const auto is_accepted = [&](DeviceClassId of) { return DeviceClasses::names_class(constraint, of); };
  if (constraint.models.empty()) return true;
  const DeviceLayout* mixed = context.layouts == nullptr ? nullptr : context.layouts->mixed(facts.devices);
  if (mixed == nullptr) return is_accepted(facts.devices.device_class);
  return std::ranges::any_of(mixed->devices, is_accepted, &DeviceFacts::device_class);
}

}  // namespace ashlar
