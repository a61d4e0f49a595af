// drawn_cluster: a small random cluster as the objects that are posted for it: nodes, claims and volumes, pods that are
// bound, and pods that wait, random within the fields that decide where a pod may go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
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
/// A claim, a volume, or what says where volumes can be used.
struct DrawnObject {
  std::string collection, name, body;
  std::string status;           ///< patched into its status after its creation; empty: nothing
  bool is_terminating = false;  ///< its deletion is requested after its creation, and a finalizer keeps it
  std::string path() const { return collection + "/" + name; }
};
/// A change of such an object, as a merge patch.
struct DrawnPatch {
  std::string path, body;
};
/// What a pod may name by `name`, one of its namespace.
struct DrawnClaim {
  std::string ns, name;
  std::string disk;       ///< "driver handle" as a CSI driver attaches it; empty: none does
  bool is_usable = true;  ///< it is bound, or waits for its first consumer
  bool is_late = false;   ///< the latter
  bool is_for_one_pod = false;
};
struct DrawnStorage {
  std::vector<DrawnObject> objects;
  std::vector<DrawnClaim> claims;
  std::map<std::string, std::string> disks;  ///< of volumes of claims, by name; see DrawnClaim
};
struct DrawnPod {
  std::string ns, name, body;
  std::string node;                ///< empty: it waits
  std::string status;              ///< patched into its status after its creation; empty: nothing
  bool is_terminating = false;     ///< its deletion is requested after its creation
  bool keeps_others_away = false;  ///< it has required anti-affinity
  bool has_host_ports = false;     ///< maybe
  std::vector<DrawnObject> owned;  ///< claims of its ephemeral volumes, with kOwnerUid for its uid
  std::vector<std::string> disks;  ///< see DrawnClaim
  std::set<std::string> claims;    ///< that it names
  std::set<std::string> features;  ///< what the report counts
  bool is_about_volumes = false;   ///< it has volumes rather than other requirements
};
/// In bodies, in place of the uid of the pod that owns the object.
inline constexpr std::string_view kOwnerUid = "@owner-uid@";
struct DrawnCluster {
  std::uint64_t run_seed = 0;  ///< of all clusters of a run, of which this is the one of that number
  std::size_t number = 0;
  std::vector<DrawnNode> nodes;  ///< the last one is the beacon, where the pod `beacon` may always run
  std::vector<DrawnPod> bound, waiting;
  DrawnStorage storage;
  DrawnPod beacon;                 ///< has claims of beacon_storage
  DrawnStorage beacon_storage;     ///< an object of each kind, the last of its kind to be posted
  std::vector<std::string> notes;  ///< what happened to it, to be printed
};
/// What happens to a cluster next; the pods that waited are gone.
struct DrawnChange {
  std::vector<DrawnNode> nodes;            ///< in place of those of the same names
  std::vector<std::string> removed_nodes;  ///< before that; some come again. The pods there stay
  std::vector<DrawnNode> new_nodes;
  std::vector<DrawnPod> removed, bound, waiting;
  std::vector<DrawnPod> changed_pods;  ///< bound ones, as finish_bound takes them
  std::vector<DrawnPatch> labels;      ///< of bound pods and of namespaces
  std::vector<DrawnObject> removed_objects;
  std::vector<DrawnPatch> patches;  ///< of others
  DrawnStorage storage;             ///< that is new
  DrawnNode beacon_node;            ///< a new one
  DrawnPod beacon;
  DrawnStorage beacon_storage;
};

struct DrawOptions {
  std::string scheduler_name;
  std::size_t waiting = 10;
  bool has_company = false;           ///< waiting pods have affinity, anti-affinity and topology spread of their own
  bool is_about_preferences = false;  ///< they prefer nodes rather than refuse them, and have no volumes
};
DrawnCluster draw_cluster(std::uint64_t run_seed, std::size_t number, const DrawOptions& options);
DrawnChange draw_change(const DrawnCluster& cluster, const DrawOptions& options);
/// The labels of namespaces as they were drawn.
std::vector<DrawnPatch> first_namespace_labels();
/// The cluster after the change.
DrawnCluster changed(DrawnCluster cluster, const DrawnChange& change);

}  // namespace ashlar::filters
