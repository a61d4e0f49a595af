// device-fit: devices are not a sum. Whole devices must be wholly idle; a share must fit into one device, compute and memory both.
// Example: three devices with 600, 600 and 1000 milli free take 4 shares of 500 (1 + 1 + 2), and one whole-device member.
// Devices owed to pods whose devices are not known (bound by others without telling) count as taken: only Cluster::idle_devices of the idle ones are free.
// A share that names no memory needs some all the same: a device whose memory is all taken gives it none.
// A node that does not report its device memory (0) is not checked for it.
// Cost: whole devices one comparison a node, shares O(devices of the node).
#pragma once

#include "policy/policy.h"

namespace ashlar {

void lower_by_device_fit(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits);

/// Shares of this size that one device with these free amounts takes. `checks_memory` is false where device memory is not known.
inline std::int32_t shares_in_device(const DeviceRequest& ask, std::int32_t free_milli, std::int64_t free_mib, bool checks_memory) {
  const std::int32_t each = ask.milli_each.value;
  if (free_milli < each) return 0;
  const std::int32_t by_milli = free_milli < 2 * each ? 1 : free_milli / each;
  if (!checks_memory) return by_milli;
  if (ask.memory_each.value <= 0) return free_mib > 0 ? by_milli : 0;
  std::int32_t n = 0;
  for (std::int64_t used = ask.memory_each.value; n < by_milli && used <= free_mib; used += ask.memory_each.value) ++n;
  return n;
}

}  // namespace ashlar
