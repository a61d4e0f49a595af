// draw_rules: which nodes and which company a random pod accepts, as JSON of its spec.
#pragma once

#include <string>
#include <vector>

#include "cluster/filters/draw.h"
#include "cluster/filters/vocabulary.h"
#include "kubeclient/json_writer.h"

namespace ashlar::filters {

/// Labels of a pod, which the terms of others select.
Pairs draw_pod_labels(Draw& draw);
void write_node_selector(kube::JsonWriter& w, Draw& draw);
void write_tolerations(kube::JsonWriter& w, Draw& draw);

struct AffinityOptions {
  bool has_node_affinity = false;
  bool has_pod_affinity = false, has_pod_anti_affinity = false;  ///< required terms
  bool has_preferences = false;                                  ///< of nodes and of pods, which refuse no node
};
/// Writes `affinity`. `nodes`: their names, for fields.
void write_affinity(kube::JsonWriter& w, Draw& draw, const AffinityOptions& options,
                    const std::vector<std::string>& nodes);
/// `is_hard`: some of the constraints refuse nodes; else they are preferences.
void write_topology_spread(kube::JsonWriter& w, Draw& draw, bool is_hard);

}  // namespace ashlar::filters
