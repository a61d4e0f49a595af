// quota: what the quotas and guarantees of queues count: thousandths of GPUs and amounts of resources, on all nodes or
// on those of one device class.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "base/id.h"
#include "model/demand.h"

namespace ashlar {

/// Quantities that every queue counts. A limit of kUnlimited never binds.
enum class QuotaDimension : std::uint8_t { kMilliGpu, kMilliCores, kMemoryBytes };
inline constexpr std::size_t kQuotaDimensions = 3;
using QuotaVector = std::array<std::int64_t, kQuotaDimensions>;
inline constexpr std::int64_t kUnlimited = INT64_MAX;

/// What a further limit counts, beside the dimensions: any resource, and anything by the class of the node's devices.
struct QuotaKey {
  ResourceId resource;         ///< none = GPUs, in thousandths
  DeviceClassId device_class;  ///< none = on all nodes
  friend auto operator<=>(const QuotaKey&, const QuotaKey&) = default;
};
struct QuotaLimit {
  QuotaKey of;
  std::int64_t limit = kUnlimited;
  friend bool operator==(const QuotaLimit&, const QuotaLimit&) = default;
};

/// What a queue is sure to get of one key, how much more it may use, and how much of it others may.
struct QuotaShare {
  static constexpr std::int64_t kNotNamed = -1;
  QuotaKey of;
  std::int64_t guarantee = kNotNamed;
  std::int64_t borrows = kUnlimited;  ///< beyond the guarantee
  std::int64_t lends = kUnlimited;    ///< of the guarantee while it is unused; kUnlimited: all
  friend bool operator==(const QuotaShare&, const QuotaShare&) = default;
};

/// What a queue has used of one key, in units times milliseconds, as much as counts today.
struct QueueUsage {
  static constexpr std::int64_t kAmountMax = std::int64_t{1} << 60;
  QuotaKey of;
  std::int64_t amount = 0;
  friend bool operator==(const QueueUsage&, const QueueUsage&) = default;
};

/// How a queue stands beside its siblings.
struct QueueRank {
  static constexpr std::int64_t kWeightOne = 1000;
  static constexpr std::int64_t kWeightMax = 1'000'000'000;
  std::int64_t weight = kWeightOne;  ///< of what is beyond guarantees, in thousandths; at least 1
  std::int32_t priority = 0;         ///< higher goes first
  friend bool operator==(const QueueRank&, const QueueRank&) = default;
};

/// What of a queue, and of those below it, may start, as its administrator has set it.
struct QueueGate {
  enum class Is : std::uint8_t {
    kOpen,
    kHeld,      ///< nothing starts
    kDraining,  ///< jobs that come from now on are refused; those that were there start as usual
    kStopped,   ///< nothing starts, and what runs is stopped
  };
  Is is = Is::kOpen;
  Millis drained_since{0};  ///< kDraining: jobs submitted before this are taken whenever they come

  bool is_open() const { return is == Is::kOpen; }
  bool starts_nothing() const { return is == Is::kHeld || is == Is::kStopped; }
  bool refuses(Millis submitted) const { return is == Is::kDraining && submitted >= drained_since; }
  friend bool operator==(const QueueGate&, const QueueGate&) = default;
};

/// What a member with this demand uses of the key on a node of its class.
inline std::int64_t amount_of(const Demand& demand, const QuotaKey& key) {
  return key.resource.is_none() ? demand.devices.milli_total() : amount_of(demand, key.resource);
}

/// A key as the number of a reason: the dimensions are 0, 1 and 2.
constexpr std::int64_t quota_number(const QuotaKey& key) {
  if (key.device_class.is_none()) {
    if (key.resource.is_none()) return 0;
    if (key.resource == resource::kCpu) return 1;
    if (key.resource == resource::kMemory) return 2;
  }
  const auto row = [](const auto& id) { return id.is_none() ? 0 : static_cast<std::int64_t>(id.value) + 1; };
  return 3 + row(key.resource) + (row(key.device_class) << 32);
}
constexpr QuotaKey quota_key(std::int64_t number) {
  if (number < 3) return {number == 0 ? ResourceId::none() : number == 1 ? resource::kCpu : resource::kMemory, {}};
  const std::int64_t resource = (number - 3) & 0xffffffff, device_class = (number - 3) >> 32;
  return {resource == 0 ? ResourceId::none() : ResourceId(static_cast<std::uint32_t>(resource - 1)),
          device_class == 0 ? DeviceClassId::none() : DeviceClassId(static_cast<std::uint32_t>(device_class - 1))};
}

}  // namespace ashlar
