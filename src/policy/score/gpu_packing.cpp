#include "policy/score/gpu_packing.h"

#include <algorithm>

namespace ashlar {
namespace {

constexpr Points kEmptyNodeMax = 33, kUsedNodeMax = 50, kSharedMax = 100;

Points packing_points(std::span<const std::int32_t> free, const DeviceRequest& request) {
  const auto idle = static_cast<Points>(std::count(free.begin(), free.end(), kWholeDevice));
  if (idle == static_cast<Points>(free.size())) return std::max(kEmptyNodeMax - idle, idle);
  if (request.is_whole()) return std::max(kUsedNodeMax - request.count, kEmptyNodeMax);
  std::int32_t least = kWholeDevice;
  for (const std::int32_t f : free)
    if (f >= request.milli_each.value) least = std::min(least, f);
  if (least == kWholeDevice) return std::max(kUsedNodeMax - 1, kEmptyNodeMax);
  return std::max(kSharedMax - least / 100, kUsedNodeMax);
}

}  // namespace

void add_gpu_packing(const NodeView& view, NodeRange rows, std::span<Points> points) {
  const DeviceRequest& request = view.demand.devices;
  if (request.count == 0) return;
  for (std::size_t i = 0; i < rows.count; ++i)
    points[i] += packing_points(view.nodes.device_free_milli(NodeId(rows.first + i)), request);
}

}  // namespace ashlar
