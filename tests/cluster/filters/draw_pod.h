// draw_pod: one random pod, bound or waiting.
#pragma once

#include <string>
#include <vector>

#include "cluster/filters/draw.h"
#include "cluster/filters/drawn_cluster.h"

namespace ashlar::filters {

DrawnPod draw_bound_pod(Draw& draw, const std::string& name, const std::string& node, const DrawOptions& options);
DrawnPod draw_waiting_pod(Draw& draw, const std::string& name, const std::vector<std::string>& nodes,
                          const DrawOptions& options);
/// A pod that may run on this node, whatever its taints.
DrawnPod pod_for(const std::string& name, const std::string& node, const DrawOptions& options);

}  // namespace ashlar::filters
