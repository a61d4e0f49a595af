// WithheldDevices: what is free on the unhealthy devices of all nodes. Nothing new is placed there, so the columns of
// free amounts show none of it. Few devices are unhealthy: O(log of them) to find one, O(of them) to add one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace ashlar {

/// Free amounts of one device, at least 0.
struct WithheldDevice {
  std::uint32_t device = 0;  ///< row of the columns by device
  std::int32_t milli = 0;
  std::int64_t mib = 0;
  friend bool operator==(const WithheldDevice&, const WithheldDevice&) = default;
};

struct WithheldDevices {
  std::vector<WithheldDevice> rows;  ///< ascending by device

  /// Those among `count` rows of devices from `first` on.
  std::span<const WithheldDevice> among(std::uint32_t first, std::uint32_t count) const {
    if (rows.empty()) return {};
    const auto from = std::ranges::lower_bound(rows, first, {}, &WithheldDevice::device);
    return {from, std::ranges::lower_bound(from, rows.end(), first + count, {}, &WithheldDevice::device)};
  }
  /// nullptr if it is not withheld.
  WithheldDevice* find(std::uint32_t device) {
    const auto at = std::ranges::lower_bound(rows, device, {}, &WithheldDevice::device);
    return at == rows.end() || at->device != device ? nullptr : &*at;
  }
  void add(const WithheldDevice& device) {
    rows.insert(std::ranges::lower_bound(rows, device.device, {}, &WithheldDevice::device), device);
  }
  void remove(std::uint32_t first, std::uint32_t count) {
    const auto from = std::ranges::lower_bound(rows, first, {}, &WithheldDevice::device);
    rows.erase(from, std::ranges::lower_bound(from, rows.end(), first + count, {}, &WithheldDevice::device));
  }
};

}  // namespace ashlar
