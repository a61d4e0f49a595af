// fgd: the published Fragmentation Gradient Descent (USENIX ATC'23): place where the fragment F of the node, measured against the expected mix of
// pods, grows least. Points = int(100 x sigmoid((F before - F after) / 1000)); a share takes its best device. Definition of F: fgd_mix.h.
// The quantisation is part of the policy: 50 points mean "F does not change by more than some 40 milli-GPU", and ties go to the first node.
// Example: docs/explanation/fgd.md. Without a mix every node gets 50. Cost: 20-350 ns a node, see fgd_evaluator.h.
#pragma once

#include "policy/policy.h"

namespace ashlar {

void add_fgd(const NodeView& view, NodeRange rows, std::span<Points> points);

}  // namespace ashlar
