#include "policy/score/gpu_clustering.h"

namespace ashlar {
namespace {

constexpr Points kMilliMax = 8000, kFillMax = 25;
constexpr Points kOnlySame = 75, kSameAmongOthers = 50, kNobody = 25;

Points alike_points(const DeviceRequestCounts& held, std::size_t own) {
  std::size_t kinds = 0;
  for (const std::uint16_t members : held) kinds += members != 0 ? 1 : 0;
  if (kinds == 0) return kNobody;
  if (held[own] == 0) return 0;
  return kinds == 1 ? kOnlySame : kSameAmongOthers;
}

}  // namespace

void add_gpu_clustering(const NodeView& view, NodeRange rows, std::span<Points> points) {
  const DeviceRequest& request = view.demand.devices;
  if (request.count == 0) return;
  const auto free = view.nodes.free_milli().subspan(rows.first, rows.count);
  const auto held = view.nodes.device_request_counts().subspan(rows.first, rows.count);
  const std::size_t own = device_request_kind(request);
  for (std::size_t i = 0; i < rows.count; ++i)
    points[i] += kFillMax * (kMilliMax - free[i]) / kMilliMax + alike_points(held[i], own);
}

}  // namespace ashlar
