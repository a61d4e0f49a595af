// draw_pod: one random pod, bound or waiting.
#pragma once

#include <string>
#include <vector>

#include "cluster/filters/draw.h"
#include "cluster/filters/draw_pod_volumes.h"
#include "cluster/filters/drawn_cluster.h"

namespace ashlar::filters {

/// Where random pods come from.
struct PodSurroundings {
  const DrawOptions& options;
  const std::vector<std::string>& nodes;  ///< their names
  VolumeSources volumes;
};
DrawnPod draw_bound_pod(Draw& draw, const std::string& name, const std::string& node, const PodSurroundings& around);
DrawnPod draw_waiting_pod(Draw& draw, const std::string& name, const PodSurroundings& around);
/// A pod that may run on this node, whatever its taints, once it has these claims.
DrawnPod pod_for(const std::string& name, const std::string& node, const DrawOptions& options,
                 const std::vector<DrawnClaim>& claims);

}  // namespace ashlar::filters
