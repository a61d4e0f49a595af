// storage_objects: claims, volumes, storage classes, and what CSI drivers say of nodes, as objects to post.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/filters/drawn_cluster.h"
#include "cluster/filters/vocabulary.h"
#include "kubeclient/json_writer.h"

namespace ashlar::filters {

/// Drivers of all clusters: one says nothing of itself, one keeps pods from nodes that lack it, one tells its
/// capacities; and two that serve disks of kinds that Kubernetes once had itself.
inline constexpr std::string_view kPlainDriver = "plain.example.com", kInsistingDriver = "insists.example.com",
                                  kSizedDriver = "sized.example.com", kGceDriver = "pd.csi.storage.gke.io",
                                  kEbsDriver = "ebs.csi.aws.com", kNoProvisioner = "kubernetes.io/no-provisioner";
inline const std::string kVolumesPath = "/api/v1/persistentvolumes";
inline const std::string kStoragePath = "/apis/storage.k8s.io/v1/";
std::string claims_path(std::string_view ns);

struct ClassSpec {
  std::string name;
  std::string_view provisioner;
  bool is_late = true;          ///< WaitForFirstConsumer
  std::string topologies = {};  ///< JSON of the list; empty: none
};
DrawnObject storage_class(const ClassSpec& spec);

struct VolumeSpec {
  std::string name, class_name, source;  ///< of the source JSON of its member
  std::string size = "1Gi", mode = {}, attributes = {}, phase = {};
  std::vector<std::string> access = {"ReadWriteOnce"};
  Pairs labels = {};
  std::string affinity = {};   ///< JSON of its terms; empty: none
  std::string claim_ref = {};  ///< JSON; empty: none
  bool is_terminating = false;
};
DrawnObject volume(const VolumeSpec& spec);

struct ClaimSpec {
  std::string ns, name, class_name = {};
  bool has_class = true;
  std::string owner = {};  ///< a pod of the uid kOwnerUid; empty: none
  std::string volume_name = {}, size = "1Gi", mode = {}, attributes = {}, selected_node = {};
  std::vector<std::string> access = {"ReadWriteOnce"};
  std::string selector = {};  ///< JSON; empty: none
  bool is_bound = false, is_lost = false, is_terminating = false;
};
DrawnObject claim(const ClaimSpec& spec);
/// Writes `spec` of a claim or of its template.
void write_claim_spec(kube::JsonWriter& w, const ClaimSpec& spec);

/// `more`: members of the object as JSON.
DrawnObject storage_capacity(const std::string& name, const std::string& class_name, const std::string& more);
DrawnObject volume_attachment(const std::string& name, std::string_view driver, const std::string& volume_name,
                              const std::string& node);
struct NodeDriver {
  std::string_view name;
  std::optional<std::int64_t> volumes_max;
};
/// `migrated`: plugins, separated by commas; nullopt: nothing is said of them.
DrawnObject csi_node(const std::string& node, const std::vector<NodeDriver>& drivers,
                     const std::optional<std::string>& migrated);
std::vector<DrawnObject> csi_drivers();

/// One term as JSON of a list of terms: the label has one of the values.
std::string has_label(std::string_view key, const std::vector<std::string>& values);
/// The same as allowed topologies.
std::string allowed_topology(std::string_view key, const std::vector<std::string>& values);
std::string csi_source(std::string_view driver, const std::string& handle);

}  // namespace ashlar::filters
