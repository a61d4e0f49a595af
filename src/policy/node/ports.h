// ports: a host port is taken once per node and address. A demand with host ports therefore fits a node at most once.
// Example: 80/TCP on all addresses is taken; a request for 80/TCP on 10.0.0.1 clashes. One for 80/UDP does not.
// Cost: nothing for demands without ports, else O(ports requested x ports taken) per node.
#pragma once

#include "policy/node_view.h"

namespace ashlar {

void lower_by_ports(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits);

}  // namespace ashlar
