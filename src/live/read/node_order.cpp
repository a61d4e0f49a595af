#include "live/read/node_order.h"

#include <algorithm>

#include "live/track/gang_table.h"

namespace ashlar::kube {

std::vector<NodeId> nodes_by_name(const Tables& tables, const Cluster& cluster, std::string_view only) {
  std::vector<NodeId> nodes;
  for (std::size_t row = 0; row < cluster.rows(); ++row) {
    const PooledString name = tables.names.nodes.name(NodeId(row));
    if (cluster.is_live(NodeId(row)) && !name.empty() && (only.empty() || name.view() == only)) nodes.emplace_back(row);
  }
  std::sort(nodes.begin(), nodes.end(),
            [&](NodeId a, NodeId b) { return is_name_before(tables.names.nodes.name(a), tables.names.nodes.name(b)); });
  return nodes;
}

}  // namespace ashlar::kube
