#include "policy/node/capabilities.h"

#include <algorithm>

#include "state/cluster/node_columns.h"

namespace ashlar {
namespace {

/// The classes of the node's devices that the constraint names.
std::vector<DeviceClassId> named_classes(const Constraint& constraint, const NodeFacts& facts,
                                         const NodeContext& context) {
  const DeviceLayout* mixed = context.layouts == nullptr ? nullptr : context.layouts->mixed(facts.devices);
  if (mixed == nullptr) return {facts.devices.device_class};
  std::vector<DeviceClassId> classes = classes_of(*mixed);
  std::erase_if(classes, [&](DeviceClassId of) { return !DeviceClasses::names_class(constraint, of); });
  return classes;
}

}  // namespace

CapabilityId missing_capability(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  if (constraint.capabilities.empty()) return CapabilityId::none();
  static const DeviceClasses kNone;
  const DeviceClasses& classes = context.classes == nullptr ? kNone : *context.classes;
  const std::vector<DeviceClassId> named = named_classes(constraint, facts, context);
  const auto has_all = [&](DeviceClassId of) { return classes.has_capabilities(constraint, of); };
  if (std::ranges::any_of(named, has_all)) return CapabilityId::none();
  const auto is_in_none = [&](CapabilityId c) {
    return std::ranges::none_of(named, [&](DeviceClassId of) { return classes.has(of, c); });
  };
  const auto first = std::ranges::find_if(constraint.capabilities, is_in_none);
  if (first != constraint.capabilities.end()) return *first;
  return *std::ranges::find_if(constraint.capabilities, [&](CapabilityId c) { return !classes.has(named.front(), c); });
}

bool has_capabilities(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  return constraint.capabilities.empty() || missing_capability(constraint, facts, context).is_none();
}

}  // namespace ashlar
