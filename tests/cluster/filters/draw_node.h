// draw_node: one random node with its status.
#pragma once

#include <string>

#include "cluster/filters/draw.h"
#include "cluster/filters/drawn_cluster.h"

namespace ashlar::filters {

DrawnNode draw_node(Draw& draw, const std::string& name);
/// Tainted, with room for everything.
DrawnNode beacon_node(const std::string& name);

}  // namespace ashlar::filters
