// disk_rules: the volumes of a pod's spec as rules: claims by name, disks that one node must not have twice, disks
// that count against limits of CSI drivers. Both encodings fill VolumeFields. Private to the library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kubeclient/pod_builder.h"

namespace ashlar::kube {

/// One entry of spec.volumes with the fields of its source that matter.
struct VolumeFields {
  std::string name;                   ///< of the volume
  std::string_view source;            ///< "persistentVolumeClaim", "iscsi", ...
  std::string id;                     ///< claimName, pdName, volumeID, iqn, diskURI or image
  std::string pool;                   ///< rbd
  std::vector<std::string> monitors;  ///< rbd
  std::string kind;                   ///< azureDisk
  bool is_read_only = false;
};

/// Volumes of other kinds change nothing.
void take_volume(PodBuilder& builder, const VolumeFields& volume);
/// As their CSI drivers name the disks: of an EBS volume ("aws://zone/vol-1", "vol-1"; empty: it is no name of one),
/// and of a GCE disk at a place such as "zones/a".
std::string ebs_handle(std::string_view volume_id);
std::string gce_handle(std::string_view place, std::string_view disk);
/// Claims of generic ephemeral volumes are named after the pod, whose name is known now.
void name_ephemeral_claims(PodBuilder& builder);

}  // namespace ashlar::kube
