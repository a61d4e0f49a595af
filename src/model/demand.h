// Demand: what one member (pod) needs from one node. Plain values, interned once per distinct content, so that jobs
// carry a DemandId and every cache is kept per demand. Amounts are in the smallest unit of their resource (milli-cores,
// bytes, pieces).
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"

namespace ashlar {

/// Fixed rows of the resource columns; extended resources follow from kFirstExtended on.
namespace resource {
inline constexpr ResourceId kCpu{0u};               ///< milli-cores
inline constexpr ResourceId kMemory{1u};            ///< bytes
inline constexpr ResourceId kEphemeralStorage{2u};  ///< bytes
inline constexpr ResourceId kPods{3u};              ///< pods
inline constexpr std::uint32_t kFirstExtended = 4;
/// limit: more distinct extended resources than this is a configuration error
inline constexpr std::uint32_t kColumnsMax = 64;
/// Rows from kColumnsMax on are names that pods request and no node has: there is no column for them, and nothing free
/// anywhere.
inline constexpr std::uint32_t kRowsMax = 1u << 22;
inline constexpr bool has_column(ResourceId id) { return id.value < kColumnsMax; }
}  // namespace resource

inline constexpr int kDevicesPerNodeMax = 128;      ///< width of DeviceMask
inline constexpr std::int32_t kWholeDevice = 1000;  ///< milli-GPU of an idle device

struct ResourceAmount {
  ResourceId resource;
  std::int64_t amount = 0;
  friend bool operator==(const ResourceAmount&, const ResourceAmount&) = default;
};

/// Devices requested of one node: `count` devices with at least `milli_each` free compute and `memory_each` free memory
/// on each. Sharing (milli_each < 1000) is of one device only: count is then 1.
struct DeviceRequest {
  std::int32_t count = 0;
  MilliGpu milli_each{kWholeDevice};
  MiB memory_each{0};
  bool is_whole() const { return milli_each.value >= kWholeDevice; }
  std::int64_t milli_total() const { return static_cast<std::int64_t>(count) * milli_each.value; }
  friend bool operator==(const DeviceRequest&, const DeviceRequest&) = default;
};

/// A port on the node itself. `address` 0 means every address; ports clash when protocol and number agree and either
/// address is 0 or both agree.
struct HostPort {
  std::uint8_t protocol = 6;  ///< IP protocol number (6 TCP, 17 UDP, 132 SCTP)
  std::uint32_t address = 0;  ///< interned address, 0 = all
  std::uint16_t number = 0;
  bool clashes(const HostPort& o) const {
    return protocol == o.protocol && number == o.number && (address == 0 || o.address == 0 || address == o.address);
  }
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

struct Demand {
  /// ascending by resource, each amount > 0; a pod always requests one of resource::kPods
  std::vector<ResourceAmount> amounts;
  DeviceRequest devices;
  std::vector<HostPort> ports;
  friend bool operator==(const Demand&, const Demand&) = default;
};

/// The amount requested of one resource; 0 if it is not named.
inline std::int64_t amount_of(const Demand& demand, ResourceId id) {
  for (const ResourceAmount& a : demand.amounts)
    if (a.resource == id) return a.amount;
  return 0;
}

/// Devices of one node as bits (bit i = the node's i-th device).
struct DeviceMask {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool test(int i) const { return ((i < 64 ? low >> i : high >> (i - 64)) & 1) != 0; }
  void set(int i) { (i < 64 ? low : high) |= 1ull << (i & 63); }
  void set(int i, bool is_in) {
    if (is_in) return set(i);
    (i < 64 ? low : high) &= ~(1ull << (i & 63));
  }
  bool is_empty() const { return (low | high) == 0; }
  /// Means "devices, but not known which" in an event with what a pod holds.
  static constexpr DeviceMask unknown() { return {~0ull, ~0ull}; }
  int count() const { return __builtin_popcountll(low) + __builtin_popcountll(high); }
  bool is_within(const DeviceMask& other) const { return ((low & ~other.low) | (high & ~other.high)) == 0; }
  bool overlaps(const DeviceMask& other) const { return ((low & other.low) | (high & other.high)) != 0; }
  /// Those among the first `devices` of a node.
  DeviceMask among(std::int32_t devices) const {
    const auto below = [](std::int32_t bits) { return bits <= 0 ? 0 : bits >= 64 ? ~0ull : (1ull << bits) - 1; };
    return {low & below(devices), high & below(devices - 64)};
  }
  /// Calls `visit(device_index)` in ascending order.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::uint64_t w = low; w != 0; w &= w - 1) visit(__builtin_ctzll(w));
    for (std::uint64_t w = high; w != 0; w &= w - 1) visit(64 + __builtin_ctzll(w));
  }
  friend DeviceMask operator|(const DeviceMask& a, const DeviceMask& b) { return {a.low | b.low, a.high | b.high}; }
  friend DeviceMask operator&(const DeviceMask& a, const DeviceMask& b) { return {a.low & b.low, a.high & b.high}; }
  friend bool operator==(const DeviceMask&, const DeviceMask&) = default;
};

}  // namespace ashlar
