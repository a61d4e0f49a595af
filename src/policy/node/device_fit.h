// device-fit: a whole device must be wholly idle, and a share must fit into one device, compute and memory both.
// Devices owed to pods whose devices are not known count as taken. Without reported device memory (0) memory is not
// checked; otherwise a share that names no memory still needs a device with some left.
// Example: three devices with 600, 600 and 1000 milli free take 4 shares of 500 (1 + 1 + 2), and one whole-device
// member.
// Cost: whole devices one comparison a node, shares O(devices of the node).
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void lower_by_device_fit(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits);

/// Shares of this size that one device with these free amounts takes. `checks_memory` is false where device memory is
/// not known.
inline std::int32_t shares_in_device(const DeviceRequest& request, std::int32_t free_milli, std::int64_t free_mib,
                                     bool checks_memory) {
  const std::int32_t each = request.milli_each.value;
  if (free_milli < each) return 0;
  const std::int32_t by_milli = free_milli < 2 * each ? 1 : free_milli / each;
  if (!checks_memory) return by_milli;
  if (request.memory_each.value <= 0) return free_mib > 0 ? by_milli : 0;
  std::int32_t n = 0;
  for (std::int64_t used = request.memory_each.value; n < by_milli && used <= free_mib;
       used += request.memory_each.value)
    ++n;
  return n;
}

}  // namespace ashlar
