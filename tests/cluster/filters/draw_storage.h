// draw_storage: random claims, volumes, storage classes and what CSI drivers say of nodes.
#pragma once

#include <string>
#include <vector>

#include "cluster/filters/draw.h"
#include "cluster/filters/drawn_cluster.h"

namespace ashlar::filters {

/// The ends of the names of a cluster's classes that wait for the first consumer of a claim.
inline constexpr const char* kLateClasses[] = {"late", "late", "late", "made", "sized", "sized", "gce"};
/// Who makes the volumes of such a class; empty: nobody.
std::string_view driver_of_class(std::string_view late_class);

/// Of nodes of these names. `prefix` begins the names of all objects; the classes are the cluster's.
struct StorageOptions {
  std::string cluster_prefix, prefix;
  bool has_classes = true;  ///< else they are there already
};
DrawnStorage draw_storage(Draw& draw, const StorageOptions& options, const std::vector<std::string>& nodes);
/// The CSINode of a node.
DrawnObject draw_csi_node(Draw& draw, const std::string& node);
/// What happens to some of these objects.
void draw_storage_change(Draw& draw, const DrawnCluster& cluster, const std::vector<std::string>& nodes,
                         DrawnChange& change);
/// An object of each kind for the beacon: its claims fit the node only once all of them are known.
DrawnStorage beacon_storage(const std::string& name, const std::string& node);

}  // namespace ashlar::filters
