// fgd: the published Fragmentation Gradient Descent (USENIX ATC'23): place where the fragment F of the node
// (fgd/mix.h), measured against the expected mix of pods, grows least. Points = int(100 x sigmoid((F before - F after)
// / 1000)), 50 without a mix; a share takes its best device. The rounding is part of the policy: 50 points mean "F
// changes by at most some 40 milli-GPU", and ties go to the first node.
// Example: docs/explanation/fgd.md. Cost: 20-350 ns per node, see fgd/evaluator.h.
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void add_fgd(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
