// best-fit: see device.h.
#include "policy/device/device.h"

namespace ashlar {

DeviceMask choose_best_fit_device(const NodeView& view, NodeId node) {
  const DeviceRequest& request = view.demand.devices;
  if (request.count == 0 || request.is_whole()) return first_idle_devices(view, node);
  const auto milli = view.nodes.device_free_milli(node);
  std::size_t best = milli.size();
  for (std::size_t c = 0; c < milli.size(); ++c)
    if (share_fits_device(view, node, c) && (best == milli.size() || milli[c] < milli[best])) best = c;
  DeviceMask mask;
  if (best < milli.size()) mask.set(static_cast<int>(best));
  return mask;
}

}  // namespace ashlar
