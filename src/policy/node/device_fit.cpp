#include "policy/node/device_fit.h"

#include <algorithm>

#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

bool has_memory_for(const NodeView& view, NodeId node) {
  const std::int64_t each = view.demand.devices.memory_each.value;
  const std::int64_t known = view.nodes.facts(node).devices.memory_each.value;
  return each <= 0 || known == 0 || known >= each;
}

void lower_by_whole_devices(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) {
  const auto idle = view.nodes.idle_devices().subspan(rows.first, rows.count);
  const std::int32_t count = view.demand.devices.count;
  // Exact: where it counts both are far below 2^24, so the quotient rounds to no other whole number.
  const auto divisor = static_cast<float>(count);
  for (std::size_t i = 0; i < rows.count; ++i) {
    const auto members = static_cast<std::int32_t>(static_cast<float>(idle[i]) / divisor);
    fits[i] = static_cast<std::uint16_t>(idle[i] < count ? 0 : std::min<std::int32_t>(fits[i], members));
  }
  if (view.demand.devices.memory_each.value > 0)
    for (std::size_t i = 0; i < rows.count; ++i)
      if (fits[i] != 0 && !has_memory_for(view, NodeId(rows.first + i))) fits[i] = 0;
  const auto mixed = view.nodes.layouts().mixed_nodes();
  for (auto n = std::ranges::lower_bound(mixed, NodeId(rows.first)); n != mixed.end(); ++n) {
    if (n->row() >= rows.first + rows.count) break;
    const std::int32_t usable = usable_idle(view.nodes, *n, view.constraint, view.demand.devices);
    std::uint16_t& fit = fits[n->row() - rows.first];
    fit = static_cast<std::uint16_t>(std::min<std::int32_t>(fit, std::max(usable, 0) / count));
  }
}

/// Stops counting at `enough`.
std::int32_t shares_on_node(const NodeView& view, NodeId node, std::int32_t enough) {
  const DeviceRequest& request = view.demand.devices;
  const auto milli = view.nodes.device_free_milli(node);
  const auto mib = view.nodes.device_free_mib(node);
  const DeviceMemories full_mib = view.nodes.device_memories(node);
  const DeviceMask usable = usable_devices(view.nodes, node, view.constraint, request);
  const bool is_mixed = full_mib.mixed != nullptr;
  const DeviceMask to_take = is_mixed ? idle_to_take(view.nodes, node, usable) : DeviceMask::unknown();
  std::int32_t idle_left = is_mixed ? to_take.count() : view.nodes.idle_devices()[node.row()];
  if (view.nodes.idle_devices()[node.row()] < 0)
    return 0;  // more devices are owed than exist: any of the shared ones may be among them
  std::int32_t found = 0;
  for (std::size_t c = 0; c < milli.size() && found < enough; ++c) {
    if (milli[c] < request.milli_each.value || !usable.test(static_cast<int>(c))) continue;
    const bool is_idle = milli[c] == kWholeDevice && mib[c] == full_mib[c];
    if (is_idle && (!to_take.test(static_cast<int>(c)) || idle_left-- <= 0)) continue;
    found += shares_in_device(request, milli[c], mib[c], full_mib[c] != 0);
  }
  return found;
}

}  // namespace

void lower_by_device_fit(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) {
  const DeviceRequest& request = view.demand.devices;
  if (request.count <= 0) return;
  if (request.is_whole()) return lower_by_whole_devices(view, rows, fits);
  const auto free = view.nodes.free_milli().subspan(rows.first, rows.count);
  for (std::size_t i = 0; i < rows.count; ++i) {
    if (fits[i] == 0) continue;
    if (free[i] < request.milli_each.value || request.milli_each.value <= 0)
      fits[i] = 0;
    else
      fits[i] = static_cast<std::uint16_t>(
          std::min<std::int32_t>(fits[i], shares_on_node(view, NodeId(rows.first + i), fits[i])));
  }
}

}  // namespace ashlar
