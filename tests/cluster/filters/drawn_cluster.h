// drawn_cluster: a small random cluster as the objects that are posted for it: nodes, pods that are bound to them, and
// pods that wait, random within the fields that decide where a pod may go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ashlar::filters {

/// Namespaces of pods and their labels; the same in all clusters.
struct DrawnNamespace {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string_view>> labels;
};
const std::vector<DrawnNamespace>& drawn_namespaces();

struct DrawnNode {
  std::string name, body;
};
struct DrawnPod {
  std::string ns, name, body;
  std::string node;                ///< empty: it waits
  std::string status;              ///< patched into its status after its creation; empty: nothing
  bool is_terminating = false;     ///< its deletion is requested after its creation
  bool keeps_others_away = false;  ///< it has required anti-affinity
  bool has_host_ports = false;     ///< maybe
};
struct DrawnCluster {
  std::uint64_t run_seed = 0;  ///< of all clusters of a run, of which this is the one of that number
  std::size_t number = 0;
  std::vector<DrawnNode> nodes;  ///< the last one is the beacon, where the pod `beacon` may always run
  std::vector<DrawnPod> bound, waiting;
  DrawnPod beacon;
};
/// What happens to a cluster next; the pods that waited are gone.
struct DrawnChange {
  std::vector<DrawnNode> nodes;  ///< in place of those of the same names
  std::vector<DrawnPod> removed, bound, waiting;
  DrawnNode beacon_node;  ///< a new one
  DrawnPod beacon;
};

struct DrawOptions {
  std::string scheduler_name;
  std::size_t waiting = 10;
  bool has_company = false;  ///< waiting pods have affinity, anti-affinity and topology spread of their own
};
DrawnCluster draw_cluster(std::uint64_t run_seed, std::size_t number, const DrawOptions& options);
DrawnChange draw_change(const DrawnCluster& cluster, const DrawOptions& options);
/// The cluster after the change.
DrawnCluster changed(DrawnCluster cluster, const DrawnChange& change);

}  // namespace ashlar::filters
