// node_order: the nodes in the order in which people read their names.
#pragma once

#include <string_view>
#include <vector>

#include "live/track/tables.h"
#include "state/state.h"

namespace ashlar::kube {

/// The nodes by the numbers in their names, node-2 before node-10; with `only`, that one. Cost: O(nodes log nodes).
std::vector<NodeId> nodes_by_name(const Tables& tables, const Cluster& cluster, std::string_view only);

}  // namespace ashlar::kube
