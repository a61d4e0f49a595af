// random: see device.h.
#include "base/digest.h"
#include "base/rng.h"
#include "policy/device/device.h"

namespace ashlar {

DeviceMask choose_random_device(const NodeView& view, NodeId node) {
  const DeviceRequest& request = view.demand.devices;
  if (request.count == 0 || request.is_whole()) return first_idle_devices(view, node);
  const std::size_t devices = view.nodes.device_free_milli(node).size();
  std::uint64_t fitting = 0;
  for (std::size_t c = 0; c < devices; ++c) fitting += share_fits_device(view, node, c) ? 1 : 0;
  DeviceMask mask;
  if (fitting == 0) return mask;
  // A separate stream, so that the device does not depend on the bits that chose the node.
  std::uint64_t skip = Rng(hash_combine(view.draw, 0x6361726473ull)).below(fitting);
  for (std::size_t c = 0; c < devices; ++c) {
    if (!share_fits_device(view, node, c) || skip-- != 0) continue;
    mask.set(static_cast<int>(c));
    break;
  }
  return mask;
}

}  // namespace ashlar
