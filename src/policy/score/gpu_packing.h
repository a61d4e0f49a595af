// gpu-packing: the published GpuPacking of the FGD experiments: shared devices first, then idle devices of a used node,
// then an empty node. Points: 0 for a member without devices; max(33 - f, f) where all f devices are idle; max(50 - k,
// 33) where it needs k idle devices of a used node. A share that fits into devices in use gets max(100 - g/100, 50),
// where g is the free milli-GPU of the fitting device with the least left.
// Example: devices with 300 and 1000 milli free, a share of 200: max(100 - 3, 50) = 97. Cost: O(devices of the node).
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void add_gpu_packing(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
