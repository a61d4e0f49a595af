#include "engine/reserve/seating.h"

#include <algorithm>

#include "policy/node/device_fit.h"

namespace ashlar {

void take_device(DeviceRoom& room, const DeviceRequest& request, int sign) {
  room.milli -= sign * request.milli_each.value;
  room.mib -= sign * request.memory_each.value;
}

IdleByKind::IdleByKind(const NodeColumns& nodes, NodeId node, const ReservedRoom& room)
    : kinds_(nodes.device_kinds(node)), count_(std::clamp<std::size_t>(kinds_.size(), 1, kKindsMax)) {
  const DeviceMemories memories = nodes.device_memories(node);
  std::int64_t idle = -room.owed;
  for (std::size_t i = 0; i < room.devices.size(); ++i) {
    if (!is_idle(room.devices[i], memories[i])) continue;
    ++idle;
    ++idle_[kind_of(static_cast<int>(i))];
  }
  for (std::size_t k = 0; k < count_; ++k) {
    // More owed than idle: nothing is placed on such a node.
    const bool is_overdrawn = idle < 0;
    idle_[k] -= room.owed;
    if (!is_overdrawn && !kinds_.empty()) idle_[k] = std::max<std::int64_t>(idle_[k], 0);
  }
}

std::size_t IdleByKind::kind_of(int device) const {
  std::size_t kind = 0;
  while (kind + 1 < count_ && !kinds_[kind].test(device)) ++kind;
  return kind;
}

IdleByKind::Set IdleByKind::set_of(const DeviceMask& usable) const {
  if (kinds_.empty()) return all();
  Set set = 0;
  for (std::size_t k = 0; k < count_; ++k)
    if (kinds_[k].is_within(usable)) set |= Set{1} << k;
  return set;
}

std::int64_t IdleByKind::idle_in(Set set) const {
  std::int64_t idle = 0;
  for (std::size_t k = 0; k < count_; ++k) idle += (set >> k & 1) != 0 ? idle_[k] : 0;
  return idle;
}

std::int64_t IdleByKind::spare_in(Set set) const {
  std::int64_t least = idle_in(all()) - needed_[all()];
  for (Set s = set; s < all(); ++s)
    if ((s & set) == set) least = std::min(least, idle_in(s) - needed_[s]);
  return least;
}

void IdleByKind::need(const DeviceMask& usable, std::int64_t count) {
  const Set set = set_of(usable);
  for (Set s = set; s <= all(); ++s)
    if ((s & set) == set) needed_[s] += count;
}

bool IdleByKind::is_enough() const { return spare_in(0) >= 0; }

std::int64_t IdleByKind::spare(const DeviceMask& usable) const { return spare_in(set_of(usable)); }

/// The needs are a polymatroid, of which a greedy choice by kind is a base: each kind in turn gets all that the others
/// can be spared. Where all devices are alike there is no choice.
IdleByKind::Counts IdleByKind::needed_sparing(const DeviceMask& spared) const {
  Counts counts{};
  if (kinds_.empty()) {
    counts[0] = needed_[all()];
    return counts;
  }
  auto needed = needed_;
  const Set last = set_of(spared);
  Set open = all();
  for (const bool is_last : {false, true})
    for (std::size_t k = 0; k < count_; ++k) {
      const Set own = Set{1} << k;
      if (((last & own) != 0) != is_last) continue;
      open &= ~own;
      counts[k] = std::clamp<std::int64_t>(needed[open | own] - needed[open], 0, std::max<std::int64_t>(idle_[k], 0));
      for (Set s = 0; s <= open; ++s)
        if ((s & open) == s) needed[s] = std::max(needed[s], needed[s | own] - counts[k]);
    }
  return counts;
}

bool keeps_all_devices(const NodeColumns& nodes, NodeId node, const ReservedRoom& room) {
  return !room.devices.empty() && nodes.device_kinds(node).size() > IdleByKind::kKindsMax;
}

Seating seat_claims(const NodeColumns& nodes, NodeId node, const ReservedRoom& room, const ClaimsOfOthers& claims) {
  Seating seating{.idle = IdleByKind(nodes, node, room), .shares = {}};
  if (room.devices.empty()) return seating;
  bool has_shares = false;
  claims.each([&](const ReservedClaim& claim) {
    const DeviceRequest& request = claim.demand.devices;
    if (request.count > 0 && request.is_whole()) seating.idle.need(claim.usable, request.count);
    has_shares = has_shares || (request.count > 0 && !request.is_whole());
  });
  seating.fits = seating.idle.is_enough();
  if (!has_shares || !seating.fits) return seating;
  const DeviceMemories memories = nodes.device_memories(node);
  std::vector<DeviceRoom> rooms = room.devices;
  claims.each([&](const ReservedClaim& claim) {
    const DeviceRequest& request = claim.demand.devices;
    if (request.count == 0 || request.is_whole() || !seating.fits) return;
    int best = -1;
    for (std::size_t i = 0; i < rooms.size(); ++i) {
      const auto device = static_cast<int>(i);
      if (!claim.usable.test(device)) continue;
      if (shares_in_device(request, rooms[i].milli, rooms[i].mib, memories[i] > 0) == 0) continue;
      // the whole requests need it
      if (is_idle(rooms[i], memories[i]) && seating.idle.spare_like(device) <= 0) continue;
      if (best < 0 || rooms[i].milli < rooms[static_cast<std::size_t>(best)].milli) best = device;
    }
    if (best < 0) {
      seating.fits = false;
      return;
    }
    const auto at = static_cast<std::size_t>(best);
    if (is_idle(rooms[at], memories[at])) seating.idle.take(best);
    take_device(rooms[at], request);
    seating.shares.push_back({best, &request});
  });
  return seating;
}

}  // namespace ashlar
