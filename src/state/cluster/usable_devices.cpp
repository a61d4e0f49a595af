#include "state/cluster/usable_devices.h"

#include <algorithm>

#include "model/constraint.h"
#include "model/device_grant.h"
#include "model/quota.h"

namespace ashlar {

DeviceMask usable_devices(const DeviceLayout& mixed, const DeviceClasses& classes, const Constraint& constraint,
                          const DeviceRequest& request) {
  DeviceMask usable;
  for (std::size_t i = 0; i < mixed.devices.size(); ++i) {
    const DeviceFacts& device = mixed.devices[i];
    const bool is_accepted = classes.are_accepted(constraint, device.device_class);
    const bool has_memory = device.memory.value == 0 || device.memory >= request.memory_each;
    if (is_accepted && has_memory && device.mode == DeviceMode::kWhole) usable.set(static_cast<int>(i));
  }
  return usable;
}

DeviceMask idle_to_take(const NodeColumns& nodes, NodeId node, const DeviceMask& devices) {
  const auto milli = nodes.device_free_milli(node);
  const auto mib = nodes.device_free_mib(node);
  const DeviceMemories memories = nodes.device_memories(node);
  DeviceMask idle;
  for (std::size_t i = 0; i < milli.size(); ++i)
    if (milli[i] == kWholeDevice && mib[i] == memories[i]) idle.set(static_cast<int>(i));
  const std::int32_t owed = idle.count() - nodes.idle_devices()[node.row()];
  const auto are_alike = [&](std::size_t a, std::size_t b) {
    return memories.mixed == nullptr || is_of_one_kind(memories.mixed->devices[a], memories.mixed->devices[b]);
  };
  DeviceMask to_take;
  idle.each([&](int i) {
    if (!devices.test(i)) return;
    std::int32_t behind = 0;
    for (std::size_t other = static_cast<std::size_t>(i) + 1; owed > 0 && other < milli.size(); ++other)
      behind += idle.test(static_cast<int>(other)) && are_alike(static_cast<std::size_t>(i), other) ? 1 : 0;
    if (behind >= owed) to_take.set(i);
  });
  return to_take;
}

DeviceMask choose_devices(const NodeColumns& nodes, NodeId node, const DeviceRequest& request,
                          const Constraint& constraint) {
  DeviceMask mask;
  if (request.count == 0) return mask;
  const auto milli = nodes.device_free_milli(node);
  const auto mib = nodes.device_free_mib(node);
  const DeviceMemories full = nodes.device_memories(node);
  const DeviceMask usable = usable_devices(nodes, node, constraint, request);
  const auto has_memory = [&](std::size_t i) { return full[i] == 0 || mib[i] >= request.memory_each.value; };
  if (request.is_whole()) {
    int missing = request.count;
    for (std::size_t i = 0; i < milli.size() && missing > 0; ++i)
      if (milli[i] == kWholeDevice && mib[i] == full[i] && has_memory(i) && usable.test(static_cast<int>(i))) {
        mask.set(static_cast<int>(i));
        --missing;
      }
    return mask;
  }
  int best = -1;
  for (std::size_t i = 0; i < milli.size(); ++i)
    if (milli[i] >= request.milli_each.value && has_memory(i) && (full[i] == 0 || mib[i] > 0) &&
        usable.test(static_cast<int>(i)) && (best < 0 || milli[i] < milli[static_cast<std::size_t>(best)]))
      best = static_cast<int>(i);
  if (best >= 0) mask.set(best);
  return mask;
}

std::int64_t counted_for(const NodeColumns& nodes, NodeId node, const Demand& demand, const GrantedDevices& devices,
                         const QuotaKey& key) {
  const std::int64_t amount =
      key.resource.is_none() ? held_milli(demand.devices, devices.grants) : amount_of(demand, key);
  if (key.device_class.is_none()) return amount;
  const DeviceLayout* mixed = nodes.mixed_layout(node);
  if (mixed == nullptr) return nodes.models()[node.row()] == key.device_class ? amount : 0;
  const DeviceClassId first = mixed->devices.front().device_class;
  std::int32_t named = 0;
  std::int64_t of_class = 0;
  DeviceClassId lowest;
  devices.each(demand.devices, [&](int i, const DeviceShare& share) {
    if (static_cast<std::size_t>(i) >= mixed->devices.size()) return;
    const DeviceClassId own = mixed->devices[static_cast<std::size_t>(i)].device_class;
    if (named++ == 0) lowest = own;
    of_class += own == key.device_class ? share.milli.value : 0;
  });
  if (!key.resource.is_none()) return (named == 0 ? first : lowest) == key.device_class ? amount : 0;
  if (first == key.device_class)
    of_class += std::int64_t{std::max(demand.devices.count - named, 0)} * demand.devices.milli_each.value;
  return of_class;
}

}  // namespace ashlar
