// best-fit: the published BestFit of the FGD experiments (USENIX ATC'23): least free CPU and GPU left over, each as a
// share of the largest node. Points = int(100 x (1 - ((free cpu - requested)/128000 x 0.5 + (free gpu - requested)/8000
// x 0.5))), milli-cores and milli-GPU, doubles in this order.
// Example: 64000 milli-cores and 4000 milli-GPU free, requested 8000 and 1000: int(100 x (1 - (0.21875 + 0.1875))) =
// 59.
// Cost: a dozen double operations per node, vectorised.
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void add_best_fit(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
