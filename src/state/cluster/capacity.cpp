#include "state/cluster/capacity.h"

#include <algorithm>

namespace ashlar {
namespace {

/// Devices of the node that are of the class; all if it is none.
std::int64_t devices_of_class(const Cluster& cluster, std::size_t row, DeviceClassId device_class) {
  const std::int64_t all = cluster.devices()[row];
  if (device_class.is_none()) return all;
  const DeviceLayout* mixed = cluster.mixed_layout(NodeId(row));
  if (mixed == nullptr) return cluster.models()[row] == device_class ? all : 0;
  return std::ranges::count(mixed->devices, device_class, &DeviceFacts::device_class);
}

/// Of a mixed node everything but devices counts as of the class of its first one.
bool counts_as(const Cluster& cluster, std::size_t row, DeviceClassId device_class) {
  if (device_class.is_none()) return true;
  const DeviceLayout* mixed = cluster.mixed_layout(NodeId(row));
  return (mixed == nullptr ? cluster.models()[row] : mixed->devices.front().device_class) == device_class;
}

}  // namespace

std::int64_t capacity_of(const Cluster& cluster, NodeId node, const QuotaKey& key) {
  if (!cluster.is_live(node)) return 0;
  if (key.resource.is_none()) return devices_of_class(cluster, node.row(), key.device_class) * kWholeDevice;
  const bool has_it = key.resource.row() < cluster.resource_count() && counts_as(cluster, node.row(), key.device_class);
  return has_it ? cluster.allocatable(key.resource)[node.row()] : 0;
}

std::int64_t capacity_of(const Cluster& cluster, const QuotaKey& key) {
  std::int64_t sum = 0;
  for (std::size_t row = 0; row < cluster.rows(); ++row)
    if (__builtin_add_overflow(sum, capacity_of(cluster, NodeId(row), key), &sum)) return INT64_MAX;
  return sum;
}

}  // namespace ashlar
