#include "kubeclient/volumes/disk_rules.h"

#include <algorithm>

namespace ashlar::kube {
namespace {

constexpr std::string_view kReadWrite = "rw", kReadOnly = "ro";

/// As a label that no user can give, and anti-affinity to pods of the node that have it: two pods of one node have the
/// same disk only where both read it.
void share_disk(PodBuilder& builder, const std::string& disk, bool is_read_only) {
  const PooledString key(std::string(kDiskPrefix) + disk);
  const auto known = std::ranges::find(builder.labels, key, &KeyValue::key);
  if (known == builder.labels.end())
    builder.labels.push_back({key, is_read_only ? kReadOnly : kReadWrite});
  else if (!is_read_only)
    known->value = kReadWrite;
  PodAffinityTerm term;
  term.selector.present = term.namespace_selector.present = true;
  Requirement& other = term.selector.expressions.emplace_back();
  other.key = key;
  other.op = is_read_only ? SelectorOp::kIn : SelectorOp::kExists;
  if (is_read_only) other.values.emplace_back(kReadWrite);
  term.topology_key = kNodeNameKey;
  builder.rules.required_anti_affinity.push_back(std::move(term));
}

void attach(PodBuilder& builder, MigratedPlugin plugin, const std::string& handle) {
  AttachedVolume disk{row_of(plugin).driver, handle};
  auto& disks = builder.volumes.inline_disks;
  if (std::ranges::find(disks, disk) == disks.end()) disks.push_back(std::move(disk));
}

bool is_managed(std::string_view kind) {
  constexpr std::string_view kManaged = "managed";
  return kind.empty() || std::ranges::equal(kind, kManaged, [](char a, char b) { return (a | 0x20) == b; });
}

}  // namespace

std::string ebs_handle(std::string_view volume_id) {
  constexpr std::string_view kScheme = "aws://";
  if (!volume_id.starts_with(kScheme)) return std::string(volume_id);
  volume_id.remove_prefix(kScheme.size());
  const std::size_t path = volume_id.find('/');
  volume_id = path == std::string_view::npos ? std::string_view() : volume_id.substr(path);
  while (volume_id.starts_with('/')) volume_id.remove_prefix(1);
  while (volume_id.ends_with('/')) volume_id.remove_suffix(1);
  const bool is_sound = volume_id.starts_with("vol-") && volume_id.find('/') == std::string_view::npos;
  return is_sound ? std::string(volume_id) : std::string();
}

std::string gce_handle(std::string_view place, std::string_view disk) {
  return "projects/UNSPECIFIED/" + std::string(place) + "/disks/" + std::string(disk);
}

void take_volume(PodBuilder& builder, const VolumeFields& volume) {
  if (volume.source == "persistentVolumeClaim") {
    builder.volumes.claims.push_back({volume.id, false});
  } else if (volume.source == "ephemeral") {
    builder.volumes.claims.push_back({volume.name, true});
  } else if (volume.source == "gcePersistentDisk") {
    share_disk(builder, "gce " + volume.id, volume.is_read_only);
    attach(builder, MigratedPlugin::kGcePd, gce_handle("zones/UNSPECIFIED", volume.id));
  } else if (volume.source == "awsElasticBlockStore") {
    share_disk(builder, "ebs " + volume.id, false);
    const std::string handle = ebs_handle(volume.id);
    if (handle.empty()) return builder.refuse("spec.volumes[].awsElasticBlockStore.volumeID (not the name of a disk)");
    attach(builder, MigratedPlugin::kAwsEbs, handle);
  } else if (volume.source == "azureDisk") {
    if (!is_managed(volume.kind)) return builder.refuse("spec.volumes[].azureDisk.kind");
    attach(builder, MigratedPlugin::kAzureDisk, volume.id);
  } else if (volume.source == "cinder") {
    attach(builder, MigratedPlugin::kCinder, volume.id);
  } else if (volume.source == "portworxVolume") {
    attach(builder, MigratedPlugin::kPortworx, volume.id);
  } else if (volume.source == "iscsi") {
    share_disk(builder, "iscsi " + volume.id, volume.is_read_only);
  } else if (volume.source == "rbd") {
    for (const std::string& monitor : volume.monitors)
      share_disk(builder, "rbd " + monitor + " " + volume.pool + " " + volume.id, volume.is_read_only);
  }
}

void name_ephemeral_claims(PodBuilder& builder) {
  for (ClaimUse& claim : builder.volumes.claims)
    if (claim.is_ephemeral) claim.name = builder.pod.name.str() + "-" + claim.name.str();
}

}  // namespace ashlar::kube
