// draw_rules: which nodes and which company a random pod accepts, as JSON of its spec.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cluster/filters/draw.h"
#include "cluster/filters/vocabulary.h"
#include "kubeclient/json_writer.h"

namespace ashlar::filters {

/// Labels of a pod, which the terms of others select.
Pairs draw_pod_labels(Draw& draw);
void write_node_selector(kube::JsonWriter& w, Draw& draw);
/// Notes what is rare among them in `features`.
void write_tolerations(kube::JsonWriter& w, Draw& draw, std::set<std::string>& features);
/// Terms of which one must hold, as a JSON list. `nodes`: their names, for fields.
std::string draw_node_terms(Draw& draw, const std::vector<std::string>& nodes);

struct AffinityOptions {
  bool has_node_affinity = false;
  bool has_pod_affinity = false, has_pod_anti_affinity = false;  ///< required terms
  bool has_preferences = false;                                  ///< of nodes and of pods, which refuse no node
  unsigned preferred_terms_max = 1;
};
/// Writes `affinity` and notes what is rare in it. `nodes`: their names, for fields.
void write_affinity(kube::JsonWriter& w, Draw& draw, const AffinityOptions& options,
                    const std::vector<std::string>& nodes, std::set<std::string>& features);
/// `is_hard`: some of the constraints refuse nodes; else they are preferences.
void write_topology_spread(kube::JsonWriter& w, Draw& draw, bool is_hard);

}  // namespace ashlar::filters
