// island: see device.h.
#include <array>
#include <iterator>

#include "policy/device/device.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

/// What devices may have in common, the fastest links first.
constexpr std::uint8_t DeviceFacts::*kPlaces[] = {&DeviceFacts::island, &DeviceFacts::numa_node,
                                                  &DeviceFacts::pcie_switch};

/// Devices by place, in the order of their first ones.
struct Parts {
  std::array<DeviceMask, kDevicesPerNodeMax> devices;
  std::array<std::uint8_t, kDevicesPerNodeMax> numbers{};
  std::size_t count = 0;

  Parts(const DeviceLayout& layout, const DeviceMask& from, std::uint8_t DeviceFacts::*place) {
    from.each([&](int i) {
      const std::uint8_t number = layout.devices[static_cast<std::size_t>(i)].*place;
      std::size_t part = 0;
      while (part < count && numbers[part] != number) ++part;
      if (part == count) {
        devices[count] = {};
        numbers[count++] = number;
      }
      devices[part].set(i);
    });
  }
  /// The smallest part of at least this many devices; `count` if there is none.
  std::size_t tightest(std::int32_t at_least) const {
    std::size_t best = count;
    for (std::size_t p = 0; p < count; ++p)
      if (devices[p].count() >= at_least && (best == count || devices[p].count() < devices[best].count())) best = p;
    return best;
  }
  std::size_t largest() const {
    std::size_t best = 0;
    for (std::size_t p = 1; p < count; ++p)
      if (devices[p].count() > devices[best].count()) best = p;
    return best;
  }
};

/// Adds to the chosen ones this many of these devices, which are at least as many.
void take(const DeviceLayout& layout, const DeviceMask& from, std::int32_t count, std::size_t level,
          DeviceMask& chosen) {
  if (level == std::size(kPlaces)) {
    from.each([&](int i) {
      if (count-- > 0) chosen.set(i);
    });
    return;
  }
  Parts parts(layout, from, kPlaces[level]);
  for (;;) {
    if (const std::size_t part = parts.tightest(count); part < parts.count)
      return take(layout, parts.devices[part], count, level + 1, chosen);
    DeviceMask& whole = parts.devices[parts.largest()];
    count -= whole.count();
    whole.each([&](int i) { chosen.set(i); });
    whole = {};
  }
}

}  // namespace

DeviceMask choose_island_device(const NodeView& view, NodeId node) {
  const DeviceRequest& request = view.demand.devices;
  const DeviceLayout* layout = view.nodes.layout(node);
  if (layout == nullptr || request.count == 0 || !request.is_whole()) return choose_best_fit_device(view, node);
  const DeviceMask idle = idle_to_take(view.nodes, node, usable_devices(view.nodes, node, view.constraint, request));
  DeviceMask chosen;
  if (idle.count() < request.count) return first_idle_devices(view, node);
  take(*layout, idle, request.count, 0, chosen);
  return chosen;
}

}  // namespace ashlar
