// seating: how the claims of jobs with reservations on one node are assigned to its devices at the reserved time: whole
// devices to idle ones of a kind that the member accepts, shares to the tightest device in use, else to an idle one.
// Cost: O(devices), of a node whose devices are not all alike O(2^kinds x claims).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/id.h"
#include "model/demand.h"
#include "state/cluster/node_columns.h"

namespace ashlar {

/// Free compute and memory of one device.
struct DeviceRoom {
  std::int32_t milli = 0;
  std::int64_t mib = 0;
  friend bool operator==(const DeviceRoom&, const DeviceRoom&) = default;
};

/// What a node has free at the reserved time, without the claims.
struct ReservedRoom {
  std::int64_t owed = 0;              ///< idle devices that belong to pods whose devices are not known
  std::vector<DeviceRoom> devices;    ///< by device; none if the job requests no devices
  std::vector<std::int64_t> amounts;  ///< by ResourceId
  friend bool operator==(const ReservedRoom&, const ReservedRoom&) = default;
};

/// What a member of a job with a reservation will take of a node.
struct ReservedClaim {
  JobId job;
  Demand demand;
  DeviceMask usable = {};  ///< of the node's devices those that it may take
  friend bool operator==(const ReservedClaim&, const ReservedClaim&) = default;
};

/// The claims on a node except those of one job: no job blocks itself.
struct ClaimsOfOthers {
  const std::vector<ReservedClaim>& all;
  JobId except;
  template <class Visit>
  void each(Visit&& visit) const {
    for (const ReservedClaim& claim : all)
      if (claim.job != except) visit(claim);
  }
};

/// Whether the device is wholly free.
inline bool is_idle(const DeviceRoom& room, std::int64_t full_mib) {
  return room.milli == kWholeDevice && room.mib == full_mib;
}
void take_device(DeviceRoom& room, const DeviceRequest& request, int sign = 1);

/// The idle devices of a node by kind, and how many of them whole requests need. A request accepts a set of kinds, so
/// all of them are met exactly if each set of kinds has as many as those need that accept no others (Hall's condition
/// for transports). Where all devices are alike there is one kind.
class IdleByKind {
 public:
  /// more kinds on one node than this: a reservation keeps all its devices
  static constexpr std::size_t kKindsMax = 6;
  using Counts = std::array<std::int64_t, kKindsMax>;

  /// Idle devices that are owed are of each kind, since nobody knows which they are.
  IdleByKind(const NodeColumns& nodes, NodeId node, const ReservedRoom& room);

  std::size_t kinds() const { return count_; }
  bool is_of(std::size_t kind, int device) const { return kinds_.empty() || kinds_[kind].test(device); }
  void need(const DeviceMask& usable, std::int64_t count);
  bool is_enough() const;
  /// Idle devices among these that nobody needs; negative if there are fewer than needed.
  std::int64_t spare(const DeviceMask& usable) const;
  /// The same among those like this one.
  std::int64_t spare_like(int device) const { return spare_in(Set{1} << kind_of(device)); }
  /// This device is no longer idle.
  void take(int device) { --idle_[kind_of(device)]; }
  /// How many devices of each kind meet the needs if as few as possible are among these, and else as many as possible
  /// of the first kinds.
  Counts needed_sparing(const DeviceMask& spared) const;

 private:
  using Set = std::uint32_t;  ///< of kinds, as bits
  std::size_t kind_of(int device) const;
  Set set_of(const DeviceMask& usable) const;
  Set all() const { return (Set{1} << count_) - 1; }
  std::int64_t idle_in(Set set) const;
  std::int64_t spare_in(Set set) const;

  std::span<const DeviceMask> kinds_;  ///< none where all devices are alike
  std::size_t count_ = 1;
  Counts idle_{};
  std::array<std::int64_t, std::size_t{1} << kKindsMax> needed_{};  ///< of each set by those that accept no others
};

/// Whether the reservation keeps all free devices of the node for itself: they are of too many kinds.
bool keeps_all_devices(const NodeColumns& nodes, NodeId node, const ReservedRoom& room);

struct Seating {
  bool fits = true;
  IdleByKind idle;                                           ///< beside the shares; with what whole requests need
  std::vector<std::pair<int, const DeviceRequest*>> shares;  ///< by device
};
Seating seat_claims(const NodeColumns& nodes, NodeId node, const ReservedRoom& room, const ClaimsOfOthers& claims);

}  // namespace ashlar
