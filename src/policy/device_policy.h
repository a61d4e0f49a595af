// DevicePolicy: which devices of a chosen node, one that fits, a member takes. One row per policy, in the order of the
// docs.
#pragma once

#include <span>
#include <string_view>

#include "policy/node_view.h"

namespace ashlar {

using DeviceKernel = DeviceMask (*)(const NodeView& view, NodeId node);
struct DevicePolicy {
  std::string_view name;
  DeviceKernel choose;
};
std::span<const DevicePolicy> device_policies();
/// nullptr for an unknown name.
const DevicePolicy* find_device(std::string_view name);

}  // namespace ashlar
