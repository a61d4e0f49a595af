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
/// What happens to it next: other labels, the end, a resize, its deletion. As a patch of itself and one of its status,
/// empty where nothing.
struct DrawnPodChange {
  std::string labels, status;
  bool is_terminating = false;
};
DrawnPodChange draw_pod_change(Draw& draw, const DrawnPod& pod);
DrawnPod draw_waiting_pod(Draw& draw, const std::string& name, const PodSurroundings& around);
/// A pod that may run on this node, whatever its taints, once it has these claims.
DrawnPod pod_for(const std::string& name, const std::string& node, const DrawOptions& options,
                 const std::vector<DrawnClaim>& claims);

}  // namespace ashlar::filters
