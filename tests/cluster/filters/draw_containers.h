// draw_containers: the containers of a random pod: what they request, which ports of the node they take, and what their
// node must support.
#pragma once

#include <string>
#include <vector>

#include "cluster/filters/draw.h"
#include "cluster/filters/vocabulary.h"
#include "kubeclient/json_writer.h"

namespace ashlar::filters {

/// What of a pod its containers decide.
struct DrawnContainers {
  std::vector<std::string> names, init_names;  ///< in order
  bool needs_bind_options = false;             ///< of a volume "scratch", which the pod must have
};

struct ContainerOptions {
  bool is_waiting = false;  ///< it asks for more than a bound pod does
  bool is_on_host_network = false;
};
/// Writes `containers` and `initContainers` of a pod's spec.
DrawnContainers write_containers(kube::JsonWriter& w, Draw& draw, const ContainerOptions& options);
/// Amounts of cpu, memory and more, some of them none.
Pairs draw_amounts(Draw& draw, bool is_waiting);

}  // namespace ashlar::filters
