// volume_objects: what the scheduler keeps of a pod's volumes, and of the objects that say where these can be used:
// claims, volumes, storage classes, and what CSI drivers say of nodes. Amounts are bytes, rounded up.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "kubeclient/objects.h"

namespace ashlar::kube {

/// Plugins of kinds of volumes that Kubernetes once had itself and that CSI drivers serve now; the others are served by
/// none, or count nowhere.
enum class MigratedPlugin : unsigned char { kNone, kAwsEbs, kGcePd, kAzureDisk, kCinder, kPortworx };
struct MigratedPluginRow {
  MigratedPlugin plugin;
  std::string_view name;          ///< "kubernetes.io/aws-ebs"
  std::string_view driver;        ///< "ebs.csi.aws.com"
  std::string_view topology_key;  ///< that its driver gives nodes in place of their zone; empty: none
};
const MigratedPluginRow& row_of(MigratedPlugin plugin);
/// Of a provisioner's name; kNone if it is none of them.
MigratedPlugin plugin_named(std::string_view name);
/// Whether a provisioner is of one of those that upstream knows as such but that no driver serves: nothing is counted.
bool is_unserved_plugin(std::string_view name);

struct PersistentVolumeClaim {
  PooledString ns, name, uid;
  std::uint64_t resource_version = 0;
  std::vector<PooledString> access_modes;
  std::optional<std::int64_t> request;  ///< bytes of storage
  LabelSelector selector;
  PooledString volume_name, class_name, volume_mode, attributes_class;
  PooledString selected_node;  ///< as annotated
  bool has_selected_node = false;
  bool is_bind_completed = false;  ///< by its annotation: with a volume's name it is bound
  bool is_lost = false;
  PooledString controller_uid;  ///< of its controlling owner
  Millis deletion_requested;
  PooledString problem;                           ///< as of Pod
  std::vector<PooledString> unknown_spec_fields;  ///< as of PodGroup
  PooledString unknown_fields;                    ///< as of Pod
  bool is_bound() const { return !volume_name.empty() && is_bind_completed; }
  bool is_for_one_pod() const;  ///< access mode ReadWriteOncePod
  friend bool operator==(const PersistentVolumeClaim&, const PersistentVolumeClaim&) = default;
};

struct PersistentVolume {
  PooledString ns;  ///< always empty
  PooledString name, uid;
  std::uint64_t resource_version = 0;
  Labels labels;
  std::int64_t capacity = 0;
  std::vector<PooledString> access_modes;
  PooledString class_name, volume_mode, attributes_class;
  bool has_claim = false;  ///< spec.claimRef is present
  PooledString claim_ns, claim_name, claim_uid;
  bool has_affinity = false;
  std::vector<NodeTerm> affinity;  ///< one of them must match; an empty list matches nothing
  MigratedPlugin plugin = MigratedPlugin::kNone;
  AttachedVolume attached;  ///< as its driver attaches it; empty: no CSI driver does
  bool is_available = false;
  Millis deletion_requested;
  PooledString problem, unknown_fields;
  friend bool operator==(const PersistentVolume&, const PersistentVolume&) = default;
};

struct StorageClass {
  PooledString ns, name, uid;
  std::uint64_t resource_version = 0;
  PooledString provisioner;
  bool waits_for_consumer = false;           ///< volumeBindingMode WaitForFirstConsumer
  std::vector<NodeTerm> allowed_topologies;  ///< one must match; none: any node
  PooledString problem, unknown_fields;
  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

/// What CSI drivers say of a node of that name.
struct CsiNode {
  struct Driver {
    PooledString name;
    std::optional<std::int32_t> volumes_max;
    friend bool operator==(const Driver&, const Driver&) = default;
  };
  PooledString ns, name, uid;
  std::uint64_t resource_version = 0;
  std::vector<Driver> drivers;
  std::vector<PooledString> migrated_plugins;  ///< ascending
  PooledString problem, unknown_fields;
  friend bool operator==(const CsiNode&, const CsiNode&) = default;
};

struct CsiDriver {
  PooledString ns, name, uid;
  std::uint64_t resource_version = 0;
  bool has_capacities = false;   ///< it tells its capacity by CSIStorageCapacity objects
  bool must_be_on_node = false;  ///< nodes without it take no pods with its volumes
  PooledString problem, unknown_fields;
  friend bool operator==(const CsiDriver&, const CsiDriver&) = default;
};

struct CsiStorageCapacity {
  PooledString ns, name, uid;
  std::uint64_t resource_version = 0;
  PooledString class_name;
  LabelSelector topology;
  std::optional<std::int64_t> largest_volume;  ///< the largest possible volume, else the capacity
  PooledString problem, unknown_fields;
  friend bool operator==(const CsiStorageCapacity&, const CsiStorageCapacity&) = default;
};

struct VolumeAttachment {
  PooledString ns, name, uid;
  std::uint64_t resource_version = 0;
  PooledString attacher, volume_name, node_name;
  PooledString problem, unknown_fields;
  friend bool operator==(const VolumeAttachment&, const VolumeAttachment&) = default;
};

/// Annotations by which claims and volumes are bound.
inline constexpr std::string_view kBindCompletedAnnotation = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByControllerAnnotation = "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kSelectedNodeAnnotation = "volume.kubernetes.io/selected-node";

/// Keys of labels that no user can give: what a CSINode says of its node, as labels of the node.
inline constexpr std::string_view kCsiNodeLabel = "csinode present";
inline constexpr std::string_view kCsiDriverLabel = "csinode driver ";      ///< and the driver's name
inline constexpr std::string_view kCsiMigratedLabel = "csinode migrated ";  ///< and the plugin's name

}  // namespace ashlar::kube
