#include "policy/score/pack_tight.h"

#include <algorithm>

#include "policy/node/device_fit.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

constexpr Points kPerIdleDevice = 125;          ///< an empty node of 8 devices gets nothing for the first of them
constexpr Points kShareOnIdleMax = 400;         ///< below every device that is already shared (those get 500 at least)
constexpr Points kPerIdleDeviceShared = 25;     ///< nodes with 16 idle devices still differ
constexpr Points kNoDevicesOnDevicesMax = 900;  ///< below every node without devices
constexpr Points kPerIdleDeviceUnused = 50;

void add_for_whole_devices(std::span<const std::int32_t> idle, std::int32_t asked, std::span<Points> points) {
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] += std::max(kPointsMax - kPerIdleDevice * (idle[i] - asked), 0);
}

void add_for_no_devices(std::span<const std::int32_t> devices, std::span<const std::int32_t> idle,
                        std::span<Points> points) {
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] += devices[i] == 0 ? kPointsMax
                                 : std::max(kNoDevicesOnDevicesMax - kPerIdleDeviceUnused * std::max(idle[i], 0), 0);
}

/// 500..1000 by what stays free on the best shared device; 0..400 where an idle device must be opened.
Points points_for_share(const NodeView& view, NodeId node) {
  const DeviceRequest& request = view.demand.devices;
  const auto milli = view.nodes.device_free_milli(node);
  const auto mib = view.nodes.device_free_mib(node);
  const DeviceMemories full_mib = view.nodes.device_memories(node);
  const DeviceMask usable = usable_devices(view.nodes, node, view.constraint, request);
  std::int32_t least = kWholeDevice;
  bool has_shared = false;
  for (std::size_t c = 0; c < milli.size(); ++c) {
    const bool is_idle = milli[c] == kWholeDevice && mib[c] == full_mib[c];
    if (is_idle || !usable.test(static_cast<int>(c)) ||
        shares_in_device(request, milli[c], mib[c], full_mib[c] != 0) == 0)
      continue;
    has_shared = true;
    least = std::min(least, milli[c]);
  }
  if (has_shared) return kPointsMax - (least - request.milli_each.value) / 2;
  return std::max(kShareOnIdleMax - kPerIdleDeviceShared * (view.nodes.idle_devices()[node.row()] - 1), 0);
}

}  // namespace

void add_pack_tight(const NodeView& view, NodeRange rows, std::span<Points> points) {
  const DeviceRequest& request = view.demand.devices;
  const auto idle = view.nodes.idle_devices().subspan(rows.first, rows.count);
  if (request.count == 0)
    return add_for_no_devices(view.nodes.devices().subspan(rows.first, rows.count), idle, points.first(rows.count));
  if (request.is_whole()) return add_for_whole_devices(idle, request.count, points.first(rows.count));
  for (std::size_t i = 0; i < rows.count; ++i) points[i] += points_for_share(view, NodeId(rows.first + i));
}

}  // namespace ashlar
