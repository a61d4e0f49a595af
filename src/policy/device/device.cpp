#include "policy/device/device.h"

#include "policy/device_policy.h"
#include "policy/node/device_fit.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

constexpr DevicePolicy kDevices[] = {
    {"island", choose_island_device},
    {"best-fit", choose_best_fit_device},
    {"random", choose_random_device},
    {"fgd", choose_fgd_device},
};

}  // namespace

std::span<const DevicePolicy> device_policies() { return kDevices; }

const DevicePolicy* find_device(std::string_view name) {
  for (const DevicePolicy& policy : kDevices)
    if (policy.name == name) return &policy;
  return nullptr;
}

namespace {

/// Of a node whose devices are not all alike.
DeviceMask first_usable_devices(const NodeView& view, NodeId node, const DeviceLayout& mixed) {
  DeviceMask mask;
  std::int32_t missing = view.demand.devices.count;
  idle_to_take(view.nodes, node, usable_devices(mixed, view.nodes.classes(), view.constraint, view.demand.devices))
      .each([&](int i) {
        if (missing-- > 0) mask.set(i);
      });
  return mask;
}

}  // namespace

DeviceMask first_idle_devices(const NodeView& view, NodeId node) {
  if (const DeviceLayout* mixed = view.nodes.mixed_layout(node)) return first_usable_devices(view, node, *mixed);
  const auto milli = view.nodes.device_free_milli(node);
  const auto mib = view.nodes.device_free_mib(node);
  const std::int64_t full_mib = view.nodes.facts(node).devices.memory_each.value;
  DeviceMask mask;
  std::int32_t missing = view.demand.devices.count;
  for (std::size_t c = 0; c < milli.size() && missing > 0; ++c) {
    if (milli[c] != kWholeDevice || mib[c] != full_mib) continue;
    mask.set(static_cast<int>(c));
    --missing;
  }
  return mask;
}

bool share_fits_device(const NodeView& view, NodeId node, std::size_t device) {
  const std::int32_t milli = view.nodes.device_free_milli(node)[device];
  const std::int64_t mib = view.nodes.device_free_mib(node)[device];
  const DeviceMemories full_mib = view.nodes.device_memories(node);
  const bool is_idle = milli == kWholeDevice && mib == full_mib[device];
  const std::int32_t idle_devices = view.nodes.idle_devices()[node.row()];
  if (idle_devices < 0 || (is_idle && idle_devices == 0)) return false;
  if (full_mib.mixed != nullptr) {
    const DeviceMask usable = usable_devices(view.nodes, node, view.constraint, view.demand.devices);
    if (!usable.test(static_cast<int>(device))) return false;
    if (is_idle && !idle_to_take(view.nodes, node, usable).test(static_cast<int>(device))) return false;
  }
  return shares_in_device(view.demand.devices, milli, mib, full_mib[device] != 0) > 0;
}

}  // namespace ashlar
