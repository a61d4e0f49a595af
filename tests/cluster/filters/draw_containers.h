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
  /// one has an amount below a thousandth of a core or a byte: of two, kube-scheduler rounds up the sum and Ashlar each
  bool has_fraction = false;
  bool needs_features = false;  ///< of the node
  bool has_extended = false;    ///< one requests what cannot be resized
  bool has_host_ports = false;  ///< maybe
};

struct ContainerOptions {
  bool is_waiting = false;  ///< it asks for more than a bound pod does
  bool is_on_host_network = false;
  bool is_light = false;  ///< it asks for nothing
};
/// Writes `containers` and `initContainers` of a pod's spec.
DrawnContainers write_containers(kube::JsonWriter& w, Draw& draw, const ContainerOptions& options);

}  // namespace ashlar::filters
