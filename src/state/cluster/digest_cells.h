// digest_cells: what each value of a node adds to the cluster's fingerprint. The cells of a column count from its value
// 0, so that one that was never written adds nothing.
#pragma once

#include <array>
#include <cstdint>

#include "base/digest.h"
#include "model/demand.h"
#include "model/node.h"

namespace ashlar {

/// Digest columns beyond the resources; resource r is column r.
inline constexpr std::uint64_t kColumnFacts = 100;
inline constexpr std::uint64_t kColumnDebt = 101;
inline constexpr std::uint64_t kColumnPorts = 102;
inline constexpr std::uint64_t kColumnUnhealthy = 103;
inline constexpr std::uint64_t kColumnDevice = 256;

inline std::uint64_t cell(std::size_t row, std::uint64_t column, std::int64_t value) {
  return mix64(static_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15ull + (static_cast<std::uint64_t>(row) << 20) +
               column);
}

/// The devices of a node have one cell: the sum of their values, each times an odd number of its own.
inline constexpr auto kDeviceWeights = [] {
  std::array<std::uint64_t, kDevicesPerNodeMax> weights{};
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = mix64(i + 1) | 1;
  return weights;
}();

inline std::uint64_t device_value(std::size_t i, std::int32_t milli, std::int64_t mib) {
  return kDeviceWeights[i] * static_cast<std::uint64_t>(mib * 1024 + milli);
}

inline std::int64_t health_value(const DeviceMask& unhealthy) {
  return unhealthy.is_empty() ? 0 : static_cast<std::int64_t>(hash_combine(unhealthy.low, unhealthy.high));
}

inline std::uint64_t port_value(const HostPort& p) {
  return mix64((static_cast<std::uint64_t>(p.protocol) << 56) ^ (static_cast<std::uint64_t>(p.address) << 16) ^
               p.number);
}

inline std::int64_t facts_value(const NodeFacts& f) {
  std::uint64_t h = hash_combine(static_cast<std::uint64_t>(f.devices.count),
                                 f.devices.device_class.value + (f.is_ready ? 1ull << 40 : 0));
  h = hash_combine(h, static_cast<std::uint64_t>(f.devices.memory_each.value));
  for (const std::int64_t a : f.allocatable) h = hash_combine(h, static_cast<std::uint64_t>(a));
  for (const NodeLabel& l : f.labels) h = hash_combine(h, l.id.value);
  for (const Taint& t : f.taints)
    h = hash_combine(h, (static_cast<std::uint64_t>(t.value.value) << 8) + static_cast<std::uint64_t>(t.effect));
  for (const DomainId d : f.domains) h = hash_combine(h, d.value);
  if (!f.devices.layout.is_none()) h = hash_combine(h, (1ull << 41) + f.devices.layout.value);
  return static_cast<std::int64_t>(h);
}

}  // namespace ashlar
