// node_trouble: why nothing new is placed on a node that would be used otherwise, as text.
#pragma once

#include <string>

#include "live/track/tables.h"

namespace ashlar::kube {

/// E.g. "status.allocatable: ..."; empty: it is open.
std::string node_trouble(const Tables& t, NodeId node);
/// The first of the closed nodes and the number of others, e.g. "node n3 (status.allocatable: ...) and 2 more".
/// O(nodes).
std::string closed_nodes_text(const Tables& t);

}  // namespace ashlar::kube
