// DeviceGrant: what a member holds of one device of its node. A member's grants are kept in two parts: the devices as a
// mask, and their shares only where these are not what it requests, so that whole devices cost nothing more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "model/demand.h"

namespace ashlar {

/// How much of one device.
struct DeviceShare {
  MilliGpu milli;
  std::uint32_t slices = 0;  ///< as bits; written and shown. What they take is counted by `milli`, which is then not 0
  MiB memory{0};             ///< 0 = not counted; a whole device has all of its memory
  friend auto operator<=>(const DeviceShare&, const DeviceShare&) = default;
};

struct DeviceGrant {
  std::int32_t device = 0;  ///< index on the node
  DeviceShare share;
  friend auto operator<=>(const DeviceGrant&, const DeviceGrant&) = default;
};

/// Of one member: ascending by device, each device once.
using DeviceGrants = std::vector<DeviceGrant>;

/// Devices that a member was given, whether its node reports them now or not.
struct GivenDevices {
  DeviceMask devices;
  DeviceGrants grants;  ///< of each of these devices; none = as much of each as is requested
  friend bool operator==(const GivenDevices&, const GivenDevices&) = default;
};

/// Devices of a node with what is held of them, for the time of a call.
struct GrantedDevices {
  DeviceMask devices;
  std::span<const DeviceGrant> grants = {};  ///< of each of these devices; none = as much of each as is requested

  GrantedDevices() = default;
  GrantedDevices(const DeviceMask& mask) : devices(mask) {}  // as much as is requested of each
  GrantedDevices(const DeviceMask& mask, std::span<const DeviceGrant> held) : devices(mask), grants(held) {}

  /// Calls `visit(device_index, const DeviceShare&)` in ascending order.
  template <class Visit>
  void each(const DeviceRequest& request, Visit&& visit) const;
};

/// What a member requests of each of its devices.
inline DeviceShare requested_share(const DeviceRequest& request) {
  return {.milli = request.milli_each, .memory = request.memory_each};
}

template <class Visit>
void GrantedDevices::each(const DeviceRequest& request, Visit&& visit) const {
  const DeviceShare requested = requested_share(request);
  const DeviceGrant* grant = grants.data();
  if (grants.empty())
    devices.each([&](int i) { visit(i, requested); });
  else
    devices.each([&](int i) { visit(i, (grant++)->share); });
}

inline DeviceMask devices_of(std::span<const DeviceGrant> grants) {
  DeviceMask devices;
  for (const DeviceGrant& grant : grants) devices.set(grant.device);
  return devices;
}

/// The same share of each.
inline DeviceGrants grants_of(const DeviceMask& devices, const DeviceShare& each) {
  DeviceGrants grants;
  devices.each([&](int i) { grants.push_back({i, each}); });
  return grants;
}

inline bool are_as_requested(std::span<const DeviceGrant> grants, const DeviceRequest& request) {
  const DeviceShare requested = requested_share(request);
  return std::all_of(grants.begin(), grants.end(), [&](const DeviceGrant& g) { return g.share == requested; });
}

/// Whether the list is in order, each of its devices and amounts is one that can be, and something is held of each that
/// is counted.
inline bool is_sound(std::span<const DeviceGrant> grants) {
  constexpr std::int64_t kMemoryMax = std::int64_t{1} << 40;  // MiB
  std::int32_t before = -1;
  for (const DeviceGrant& g : grants) {
    const bool is_counted = g.share.milli.value > 0 || (g.share.memory.value > 0 && g.share.slices == 0);
    if (g.device <= before || g.device >= kDevicesPerNodeMax || !is_counted || g.share.milli.value < 0 ||
        g.share.milli.value > kWholeDevice || g.share.memory.value < 0 || g.share.memory.value > kMemoryMax)
      return false;
    before = g.device;
  }
  return true;
}

/// Whether the grants, if there are any, are of these devices and can be.
inline bool is_sound(const GivenDevices& given) {
  return given.grants.empty() || (is_sound(given.grants) && devices_of(given.grants) == given.devices);
}

/// Thousandths of devices held: the grants, and those owed by number as requested.
inline std::int64_t held_milli(const DeviceRequest& request, std::span<const DeviceGrant> grants) {
  if (grants.empty()) return request.milli_total();
  std::int64_t sum = 0;
  for (const DeviceGrant& grant : grants) sum += grant.share.milli.value;
  const std::int64_t owed = std::max<std::int64_t>(request.count - static_cast<std::int64_t>(grants.size()), 0);
  return sum + owed * request.milli_each.value;
}

}  // namespace ashlar
