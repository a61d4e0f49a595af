// gpu-packing: the published GpuPacking of the FGD experiments: shared devices first, then idle devices of a used node, then an empty node.
// No devices asked: 0. All f devices idle: max(33 - f, f). Needs k idle devices of a used node: max(50 - k, 33). Fits devices in use: max(100 - g/100, 50)
// where g is the free milli-GPU of the device it would take, the fitting one with the least left.
// Example: devices with 300 and 1000 milli free, a share of 200: max(100 - 3, 50) = 97. Cost: O(devices of the node).
#pragma once

#include "policy/policy.h"

namespace ashlar {

void add_gpu_packing(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
