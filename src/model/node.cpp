#include "model/node.h"

#include <algorithm>

namespace ashlar {

bool is_mixed(const DeviceLayout& layout) {
  const auto is_unlike = [&](const DeviceFacts& device) {
    return !is_of_one_kind(device, layout.devices.front()) || device.mode != DeviceMode::kWhole;
  };
  return std::any_of(layout.devices.begin(), layout.devices.end(), is_unlike);
}

std::vector<DeviceClassId> classes_of(const DeviceLayout& layout) {
  std::vector<DeviceClassId> classes;
  for (const DeviceFacts& device : layout.devices) classes.push_back(device.device_class);
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  return classes;
}

NodeDevices devices_with(DeviceLayoutId id, const DeviceLayout& layout) {
  NodeDevices devices{.count = static_cast<std::int32_t>(layout.devices.size()), .device_class = {}, .layout = id};
  if (layout.devices.empty()) return devices;
  devices.device_class = layout.devices.front().device_class;
  devices.memory_each = layout.devices.front().memory;
  for (const DeviceFacts& device : layout.devices) {
    if (device.device_class != devices.device_class) devices.device_class = DeviceClassId::none();
    if (device.memory != devices.memory_each) devices.memory_each = MiB(0);
  }
  return devices;
}

bool is_capability_list(const std::vector<CapabilityId>& capabilities) {
  const auto is_behind = [](CapabilityId a, CapabilityId b) { return a >= b; };
  return capabilities.size() <= DeviceClass::kNamesMax &&
         std::none_of(capabilities.begin(), capabilities.end(), [](CapabilityId c) { return c.is_none(); }) &&
         std::adjacent_find(capabilities.begin(), capabilities.end(), is_behind) == capabilities.end();
}

}  // namespace ashlar
