#include "cluster/filters/storage_objects.h"

namespace ashlar::filters {
namespace {

using kube::JsonWriter;

struct ObjectHead {
  const char* api_version;
  const char* kind;
  std::string name;
  std::string_view ns = {};
  Pairs labels = {}, annotations = {};
  bool is_terminating = false;
  std::string owner = {};
};

/// Up to what follows metadata.
void begin(JsonWriter& w, const ObjectHead& head) {
  w.begin_object().member("apiVersion", head.api_version).member("kind", head.kind);
  w.key("metadata").begin_object().member("name", head.name);
  if (!head.ns.empty()) w.member("namespace", head.ns);
  write_pairs(w, "labels", head.labels);
  write_pairs(w, "annotations", head.annotations);
  if (head.is_terminating) write_strings(w, "finalizers", {"example.com/keep"});
  if (!head.owner.empty()) {
    w.key("ownerReferences").begin_array().begin_object().member("apiVersion", "v1").member("kind", "Pod");
    w.member("name", head.owner).member("uid", kOwnerUid).member_bool("controller", true).end_object().end_array();
  }
  w.end_object();
}

void begin_of_storage(JsonWriter& w, const char* kind, const std::string& name) {
  begin(w, {.api_version = "storage.k8s.io/v1", .kind = kind, .name = name});
}

std::string phase_status(const std::string& phase) {
  return phase.empty() ? std::string() : R"({"status":{"phase":")" + phase + "\"}}";
}

std::string one_term(std::string_view list, std::string_view key, const std::vector<std::string>& values) {
  JsonWriter w;
  w.begin_array().begin_object().key(list).begin_array().begin_object().member("key", key);
  if (list == "matchExpressions") w.member("operator", "In");
  write_strings(w, "values", values);
  w.end_object().end_array().end_object().end_array();
  return w.take();
}

}  // namespace

std::string claims_path(std::string_view ns) {
  return "/api/v1/namespaces/" + std::string(ns) + "/persistentvolumeclaims";
}

DrawnObject storage_class(const ClassSpec& spec) {
  JsonWriter w;
  begin_of_storage(w, "StorageClass", spec.name);
  w.member("provisioner", spec.provisioner);
  w.member("volumeBindingMode", spec.is_late ? "WaitForFirstConsumer" : "Immediate");
  if (!spec.topologies.empty()) w.key("allowedTopologies").raw(spec.topologies);
  w.end_object();
  return {.collection = kStoragePath + "storageclasses", .name = spec.name, .body = w.take()};
}

DrawnObject volume(const VolumeSpec& spec) {
  JsonWriter w;
  begin(w, {.api_version = "v1",
            .kind = "PersistentVolume",
            .name = spec.name,
            .labels = spec.labels,
            .is_terminating = spec.is_terminating});
  w.key("spec").begin_object().key("capacity").begin_object().member("storage", spec.size).end_object();
  write_strings(w, "accessModes", spec.access);
  w.member("storageClassName", spec.class_name).member("persistentVolumeReclaimPolicy", "Retain");
  if (!spec.mode.empty()) w.member("volumeMode", spec.mode);
  if (!spec.attributes.empty()) w.member("volumeAttributesClassName", spec.attributes);
  if (!spec.claim_ref.empty()) w.key("claimRef").raw(spec.claim_ref);
  if (!spec.affinity.empty()) {
    w.key("nodeAffinity").begin_object().key("required").begin_object();
    w.key("nodeSelectorTerms").raw(spec.affinity).end_object().end_object();
  }
  w.raw(spec.source).end_object().end_object();
  return {.collection = kVolumesPath,
          .name = spec.name,
          .body = w.take(),
          .status = phase_status(spec.phase),
          .is_terminating = spec.is_terminating};
}

void write_claim_spec(JsonWriter& w, const ClaimSpec& spec) {
  w.key("spec").begin_object();
  write_strings(w, "accessModes", spec.access);
  w.key("resources").begin_object().key("requests").begin_object().member("storage", spec.size);
  w.end_object().end_object();
  if (spec.has_class) w.member("storageClassName", spec.class_name);
  if (!spec.volume_name.empty()) w.member("volumeName", spec.volume_name);
  if (!spec.mode.empty()) w.member("volumeMode", spec.mode);
  if (!spec.attributes.empty()) w.member("volumeAttributesClassName", spec.attributes);
  if (!spec.selector.empty()) w.key("selector").raw(spec.selector);
  w.end_object();
}

DrawnObject claim(const ClaimSpec& spec) {
  Pairs annotations;
  if (spec.is_bound) annotations.emplace_back("pv.kubernetes.io/bind-completed", "yes");
  if (!spec.selected_node.empty()) annotations.emplace_back("volume.kubernetes.io/selected-node", spec.selected_node);
  JsonWriter w;
  begin(w, {.api_version = "v1",
            .kind = "PersistentVolumeClaim",
            .name = spec.name,
            .ns = spec.ns,
            .annotations = annotations,
            .is_terminating = spec.is_terminating,
            .owner = spec.owner});
  write_claim_spec(w, spec);
  w.end_object();
  return {.collection = claims_path(spec.ns),
          .name = spec.name,
          .body = w.take(),
          .status = phase_status(spec.is_lost ? "Lost" : ""),
          .is_terminating = spec.is_terminating};
}

DrawnObject storage_capacity(const std::string& name, const std::string& class_name, const std::string& more) {
  JsonWriter w;
  begin(w, {.api_version = "storage.k8s.io/v1", .kind = "CSIStorageCapacity", .name = name, .ns = "team-a"});
  w.member("storageClassName", class_name).raw(more).end_object();
  return {.collection = kStoragePath + "namespaces/team-a/csistoragecapacities", .name = name, .body = w.take()};
}

DrawnObject volume_attachment(const std::string& name, std::string_view driver, const std::string& volume_name,
                              const std::string& node) {
  JsonWriter w;
  begin_of_storage(w, "VolumeAttachment", name);
  w.key("spec").begin_object().member("attacher", driver).member("nodeName", node);
  w.key("source").begin_object().member("persistentVolumeName", volume_name).end_object().end_object().end_object();
  return {.collection = kStoragePath + "volumeattachments", .name = name, .body = w.take()};
}

DrawnObject csi_node(const std::string& node, const std::vector<NodeDriver>& drivers,
                     const std::optional<std::string>& migrated) {
  Pairs annotations;
  if (migrated) annotations.emplace_back("storage.alpha.kubernetes.io/migrated-plugins", *migrated);
  JsonWriter w;
  begin(w, {.api_version = "storage.k8s.io/v1", .kind = "CSINode", .name = node, .annotations = annotations});
  w.key("spec").begin_object().key("drivers").begin_array();
  for (const NodeDriver& driver : drivers) {
    w.begin_object().member("name", driver.name).member("nodeID", "n");
    if (driver.volumes_max) w.key("allocatable").begin_object().member("count", *driver.volumes_max).end_object();
    w.end_object();
  }
  w.end_array().end_object().end_object();
  return {.collection = kStoragePath + "csinodes", .name = node, .body = w.take()};
}

std::vector<DrawnObject> csi_drivers() {
  std::vector<DrawnObject> drivers;
  for (const std::string_view name : {kPlainDriver, kInsistingDriver, kSizedDriver}) {
    JsonWriter w;
    begin_of_storage(w, "CSIDriver", std::string(name));
    w.key("spec").begin_object();
    if (name == kInsistingDriver) w.member_bool("preventPodSchedulingIfMissing", true);
    if (name == kSizedDriver) w.member_bool("storageCapacity", true);
    w.end_object().end_object();
    drivers.push_back({.collection = kStoragePath + "csidrivers", .name = std::string(name), .body = w.take()});
  }
  return drivers;
}

std::string has_label(std::string_view key, const std::vector<std::string>& values) {
  return one_term("matchExpressions", key, values);
}

std::string allowed_topology(std::string_view key, const std::vector<std::string>& values) {
  return one_term("matchLabelExpressions", key, values);
}

std::string csi_source(std::string_view driver, const std::string& handle) {
  return R"("csi":{"driver":")" + std::string(driver) + R"(","volumeHandle":")" + handle + "\"}";
}

}  // namespace ashlar::filters
