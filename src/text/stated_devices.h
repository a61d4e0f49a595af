// stated_devices: what people say of the devices of a node that are not all alike, as an annotation carries it: groups
// divided by ";", each a list of devices and what is known of them.
// Example: "0-3 model=NVIDIA-H100-80GB-HBM3 memory=80Gi island=0 numa=0; 4-7 model=NVIDIA-A100-SXM4-40GB sliced".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "model/demand.h"

namespace ashlar {

/// Some devices of a node; none of what is not stated.
struct StatedDevices {
  DeviceMask devices;
  std::optional<std::string> model = {};
  std::optional<MiB> memory = {};
  std::optional<std::uint8_t> island = {}, numa_node = {}, pcie_switch = {};
  bool is_sliced = false;
  friend bool operator==(const StatedDevices&, const StatedDevices&) = default;
};

/// Each device at most once. kInvalid says what is wrong with the text.
Result<std::vector<StatedDevices>> parse_stated_devices(std::string_view text);

}  // namespace ashlar
