// resources: a node takes as many members as its free amounts allow: CPU, memory, ephemeral storage, pods and every
// extended resource requested. A resource that no node has counts as 0 everywhere. Amounts are in the smallest unit of
// their resource.
// Example: 96,000 milli-cores and 400 GiB free, requested 12,000 and 100 GiB: 4 members (memory binds).
// Cost: one multiplication per node and resource; the quotient takes one more, never a division.
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void lower_by_resources(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits);

}  // namespace ashlar
