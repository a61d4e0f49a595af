// gpu-clustering: the published GpuClustering of the FGD experiments (after Gandiva): pods of one class (shares; k
// whole devices) share nodes. No devices requested: 0. Else 25 x (8000 - free milli-GPU) / 8000 in integers, + 75 on a
// node that holds only this class, + 50 on one that holds it among others, + 25 on one without device pods, + 0 on one
// that holds only others.
// Example: a share on a node with 6000 milli free that holds only shares: 25 x 2000 / 8000 + 75 = 81. Cost: ten small
// counters per node.
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void add_gpu_clustering(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
