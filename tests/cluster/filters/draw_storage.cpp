#include "cluster/filters/draw_storage.h"

#include <algorithm>

#include "cluster/filters/draw_rules.h"
#include "cluster/filters/storage_objects.h"
#include "cluster/filters/vocabulary.h"

namespace ashlar::filters {
namespace {

std::string label_of_zones(Draw& draw, std::string_view key) {
  return key.ends_with("region") ? draw.one_of({"r-a", "r-b", "r-a__r-b", "r-a____r-b"})
                                 : draw.one_of({"eu-w-a", "eu-w-b", "eu-w-c", "eu-w-a__eu-w-b", "eu-w-b__eu-w-c"});
}

Pairs draw_volume_labels(Draw& draw) {
  Pairs labels;
  const auto add = [&](std::string_view key, unsigned percent) {
    if (draw.chance(percent)) labels.emplace_back(key, label_of_zones(draw, key));
  };
  add(kZone, 45);
  add(kRegion, 22);
  add(kOldZone, 8);
  add(kOldRegion, 5);
  if (draw.chance(30)) labels.emplace_back("tier", draw.one_of({"gold", "tin"}));
  return labels;
}

/// Draws the objects of one cluster.
class StorageDraw {
 public:
  StorageDraw(Draw& draw, const StorageOptions& options, const std::vector<std::string>& nodes)
      : draw_(draw), options_(options), nodes_(nodes) {}
  DrawnStorage all();

 private:
  std::string class_name(const std::string& end) const { return options_.cluster_prefix + end; }
  std::string name(const std::string& end) const { return options_.prefix + end; }
  void add_classes();
  void add_capacities();
  void add_offered(std::size_t number);
  void add_attachment(std::size_t number);
  void add_bound(ClaimSpec spec);
  void add_late(ClaimSpec spec);
  void add_useless(ClaimSpec spec);
  std::string affinity();
  std::string topologies();
  struct Source {
    std::string json;
    std::string disk = {};  ///< as of DrawnClaim
    bool needs_affinity = false;
  };
  Source source(const std::string& volume);
  void keep(const ClaimSpec& spec, DrawnClaim known) {
    storage_.objects.push_back(claim(spec));
    storage_.claims.push_back(std::move(known));
  }

  Draw& draw_;
  const StorageOptions& options_;
  const std::vector<std::string>& nodes_;
  DrawnStorage storage_;
  std::vector<std::pair<std::string, std::string>> csi_volumes_;  ///< name and disk
  std::size_t volumes_ = 0;
};

std::string StorageDraw::affinity() {
  if (draw_.chance(40)) {
    std::vector<std::string> names;
    for (std::size_t left = draw_.between(1, 4); left > 0; --left) names.push_back(draw_.one_of(nodes_));
    return has_label(kHostname, names);
  }
  if (draw_.chance(55)) return has_label(kZone, {draw_label_value(draw_, kZone), draw_label_value(draw_, kZone)});
  return draw_node_terms(draw_, nodes_);
}

std::string StorageDraw::topologies() {
  if (draw_.chance(35)) return {};
  const std::string key = draw_.one_of({kZone, kZone, kRack, kHostname});
  const auto value = [&] { return key == kHostname ? draw_.one_of(nodes_) : draw_label_value(draw_, key); };
  const std::string first = value(), second = value();
  return allowed_topology(key, second == first ? std::vector{first} : std::vector{first, second});
}

StorageDraw::Source StorageDraw::source(const std::string& volume) {
  const std::string kind = draw_.one_of({"csi", "csi", "csi", "csi", "local", "hostPath", "gce", "ebs", "nfs"});
  if (kind == "csi") {
    const std::string driver =
        draw_.one_of({kPlainDriver, kPlainDriver, kPlainDriver, kInsistingDriver, kInsistingDriver, kSizedDriver});
    const std::string handle = draw_.chance(15) ? draw_.one_of({"h0", "h1"}) : "h-" + volume;
    csi_volumes_.emplace_back(volume, driver + " " + handle);
    return {.json = csi_source(driver, handle), .disk = csi_volumes_.back().second};
  }
  if (kind == "gce") {
    const std::string disk = draw_.chance(30) ? "shared" : volume;
    return {.json = R"("gcePersistentDisk":{"pdName":")" + disk + "\"}", .disk = std::string(kGceDriver) + " " + disk};
  }
  if (kind == "ebs")
    return {.json = R"("awsElasticBlockStore":{"volumeID":"vol-)" + volume + "\"}",
            .disk = std::string(kEbsDriver) + " vol-" + volume};
  if (kind == "nfs") return {.json = R"("nfs":{"server":"nfs","path":"/x"})"};
  if (kind == "hostPath") return {.json = R"("hostPath":{"path":"/mnt"})"};
  return {.json = R"("local":{"path":"/mnt"})", .needs_affinity = true};
}

void StorageDraw::add_bound(ClaimSpec spec) {
  VolumeSpec of{.name = name("pv" + std::to_string(volumes_++)), .class_name = spec.class_name};
  Source drawn = source(of.name);
  of.source = drawn.json;
  if (drawn.needs_affinity || draw_.chance(65)) of.affinity = affinity();
  of.labels = draw_volume_labels(draw_);
  of.access = spec.access;
  spec.volume_name = of.name;
  spec.is_bound = true;
  storage_.objects.push_back(volume(of));
  storage_.disks[of.name] = drawn.disk;
  keep(spec, {.ns = spec.ns,
              .name = spec.name,
              .disk = drawn.disk,
              .is_for_one_pod = spec.access.front() == "ReadWriteOncePod"});
}

void StorageDraw::add_late(ClaimSpec spec) {
  const std::string of = draw_.one_of(kLateClasses);
  spec.class_name = class_name(of);
  spec.size = draw_.one_of({"1Gi", "1Gi", "2Gi", "3Gi", "500M"});
  if (draw_.chance(8)) spec.mode = "Block";
  if (draw_.chance(5)) spec.attributes = "quick";
  if (draw_.chance(10)) spec.selector = R"({"matchLabels":{"tier":"gold"}})";
  if (draw_.chance(of == "late" ? 4 : 15)) spec.selected_node = draw_.one_of(nodes_);
  const std::string driver(driver_of_class(of));
  keep(spec, {.ns = spec.ns,
              .name = spec.name,
              .disk = driver.empty() ? "" : driver + " claim " + spec.ns + "/" + spec.name,
              .is_late = true,
              .is_for_one_pod = spec.access.front() == "ReadWriteOncePod"});
}

/// A pod with it cannot be placed.
void StorageDraw::add_useless(ClaimSpec spec) {
  switch (draw_.between(0, 7)) {
    case 0:
      spec.has_class = false;
      break;
    case 1:
      spec.class_name = "";
      break;
    case 2:
      spec.class_name = class_name("gone");
      break;
    case 3:
      spec.volume_name = name("pv-gone");
      spec.is_bound = true;
      break;
    case 4:
      spec.volume_name = name("pv0");  // not completed
      break;
    case 5:
      spec.is_lost = true;
      break;
    case 6:
      spec.class_name = class_name("late");
      spec.is_terminating = true;
      break;
    default:
      break;  // it should have been bound at once
  }
  keep(spec, {.ns = spec.ns, .name = spec.name, .is_usable = false});
}

void StorageDraw::add_offered(std::size_t number) {
  VolumeSpec of{.name = name("of" + std::to_string(number)), .phase = "Available"};
  of.class_name = class_name(draw_.one_of({"late", "late", "late", "late", "made", "sized"}));
  of.size = draw_.one_of({"1Gi", "2Gi", "2Gi", "3Gi", "4Gi"});
  of.source = draw_.chance(50) ? csi_source(kPlainDriver, "h-" + of.name) : R"("local":{"path":"/mnt"})";
  of.affinity = affinity();
  if (draw_.chance(40)) of.labels = {{"tier", draw_.one_of({"gold", "tin"})}};
  if (draw_.chance(15)) of.access = {"ReadWriteMany", "ReadWriteOnce"};
  if (draw_.chance(8)) of.access = {"ReadWriteOncePod"};
  if (draw_.chance(6)) of.mode = "Block";
  if (of.source.starts_with("\"csi\"") && draw_.chance(10)) of.attributes = "quick";  // only they may
  if (draw_.chance(8)) of.phase = draw_.one_of({"Pending", "Released", "Failed"});
  of.is_terminating = draw_.chance(4);
  if (draw_.chance(12) && !storage_.claims.empty()) {
    const DrawnClaim& known = draw_.one_of(storage_.claims);
    of.claim_ref = R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":")" + known.ns + R"(","name":")" +
                   known.name + (draw_.chance(30) ? R"(","uid":"another"})" : "\"}");
    if (known.is_late) of.class_name = class_name(draw_.one_of(kLateClasses));
  }
  storage_.objects.push_back(volume(of));
}

void StorageDraw::add_classes() {
  const auto add = [&](const char* end, std::string_view provisioner, bool is_late, std::string topologies = {}) {
    storage_.objects.push_back(storage_class({class_name(end), provisioner, is_late, std::move(topologies)}));
  };
  add("now", kPlainDriver, false);
  add("late", kNoProvisioner, true);
  add("made", kPlainDriver, true, topologies());
  add("sized", kSizedDriver, true, topologies());
  add("gce", "kubernetes.io/gce-pd", true, topologies());
}

void StorageDraw::add_capacities() {
  for (std::size_t i = 0, count = draw_.between(0, 4); i < count; ++i) {
    std::vector<std::string> members;
    if (draw_.chance(90)) members.push_back(R"("capacity":")" + draw_.one_of({"1Gi", "2Gi", "10Gi"}) + "\"");
    if (draw_.chance(30)) members.push_back(R"("maximumVolumeSize":")" + draw_.one_of({"1Gi", "2Gi"}) + "\"");
    if (draw_.chance(60))
      members.push_back(R"("nodeTopology":{"matchLabels":{")" + std::string(kZone) + R"(":")" +
                        draw_label_value(draw_, kZone) + "\"}}");
    else if (draw_.chance(70))
      members.push_back(
          R"("nodeTopology":)" +
          draw_.one_of({"{}", R"({"matchExpressions":[{"key":"disk","operator":"NotIn","values":["hdd"]}]})"}));
    const std::string of = draw_.one_of({"sized", "sized", "sized", "made"});
    std::string more;
    for (const std::string& member : members) more += (more.empty() ? "" : ",") + member;
    if (more.empty()) continue;
    storage_.objects.push_back(storage_capacity(name("cap" + std::to_string(i)), class_name(of), more));
  }
}

void StorageDraw::add_attachment(std::size_t number) {
  if (csi_volumes_.empty()) return;
  const auto& [volume, disk] = draw_.one_of(csi_volumes_);
  const std::string node = draw_.one_of(nodes_);
  storage_.objects.push_back(
      volume_attachment(name("at" + std::to_string(number)), disk.substr(0, disk.find(' ')), volume, node));
}

DrawnStorage StorageDraw::all() {
  if (options_.has_classes) add_classes();
  std::size_t number = 0;
  for (const DrawnNamespace& ns : drawn_namespaces())
    for (std::size_t i = 0; i < 8; ++i) {
      ClaimSpec spec{.ns = std::string(ns.name), .name = name("pvc" + std::to_string(number++))};
      spec.class_name = class_name("now");
      if (draw_.chance(25)) spec.access = {draw_.one_of({"ReadWriteOncePod", "ReadWriteOncePod", "ReadWriteMany"})};
      if (i < 4)
        add_bound(std::move(spec));
      else if (i < 7)
        add_late(std::move(spec));
      else
        add_useless(std::move(spec));
    }
  for (std::size_t i = 0, count = draw_.between(3, 9); i < count; ++i) add_offered(i);
  add_capacities();
  for (std::size_t i = 0, count = draw_.between(0, 4); i < count; ++i) add_attachment(i);
  return std::move(storage_);
}

}  // namespace

std::string_view driver_of_class(std::string_view late_class) {
  return late_class == "made"    ? kPlainDriver
         : late_class == "sized" ? kSizedDriver
         : late_class == "gce"   ? kGceDriver
                                 : "";
}

DrawnObject draw_csi_node(Draw& draw, const std::string& node) {
  std::optional<std::string> migrated;
  if (draw.chance(60))
    migrated = draw.one_of({"kubernetes.io/gce-pd", "kubernetes.io/aws-ebs,kubernetes.io/gce-pd",
                            "kubernetes.io/azure-disk,kubernetes.io/cinder,kubernetes.io/portworx-volume", ""});
  std::vector<NodeDriver> drivers;
  for (const std::string_view name : {kPlainDriver, kInsistingDriver, kSizedDriver, kGceDriver, kEbsDriver}) {
    if (!draw.chance(name == kInsistingDriver ? 55 : 70)) continue;
    NodeDriver& driver = drivers.emplace_back(NodeDriver{name, std::nullopt});
    if (draw.chance(75)) driver.volumes_max = static_cast<std::int64_t>(draw.between(0, 2));
  }
  return csi_node(node, drivers, migrated);
}

DrawnStorage draw_storage(Draw& draw, const StorageOptions& options, const std::vector<std::string>& nodes) {
  return StorageDraw(draw, options, nodes).all();
}

void draw_storage_change(Draw& draw, const DrawnCluster& cluster, const std::vector<std::string>& nodes,
                         DrawnChange& change) {
  const std::string prefix = "c" + std::to_string(cluster.number) + "-";
  change.storage = draw_storage(draw, {.cluster_prefix = prefix, .prefix = prefix + "x-", .has_classes = false}, nodes);
  for (const DrawnObject& object : cluster.storage.objects) {
    const bool is_volume = object.collection == kVolumesPath;
    const bool is_csi_node = object.collection.ends_with("csinodes");
    const bool is_attachment = object.collection.ends_with("volumeattachments");
    if (object.is_terminating) continue;
    if (draw.chance(is_attachment ? 40 : is_csi_node ? 30 : is_volume ? 8 : 3)) {
      change.removed_objects.push_back(object);
      if (is_csi_node && draw.chance(80)) change.storage.objects.push_back(draw_csi_node(draw, object.name));
    } else if (is_volume && draw.chance(20)) {
      kube::JsonWriter w;
      w.begin_object().key("metadata").begin_object();
      write_pairs(w, "labels", draw_volume_labels(draw));
      w.end_object().end_object();
      change.patches.push_back({object.path(), w.take()});
    }
  }
}

DrawnStorage beacon_storage(const std::string& name, const std::string& node) {
  DrawnStorage storage;
  storage.objects = {
      storage_class({name, kSizedDriver}),
      csi_node(node, {{kInsistingDriver, std::nullopt}}, std::nullopt),
      storage_capacity(name, name, R"("capacity":"10Gi","nodeTopology":{})"),
      volume({.name = name, .class_name = "", .source = csi_source(kInsistingDriver, name)}),
      volume_attachment(name, kInsistingDriver, name, node),
      claim({.ns = "team-a", .name = name + "-late", .class_name = name}),
      claim({.ns = "team-a", .name = name, .class_name = "", .volume_name = name, .is_bound = true}),
  };
  storage.claims = {{.ns = "team-a", .name = name + "-late", .is_late = true}, {.ns = "team-a", .name = name}};
  return storage;
}

}  // namespace ashlar::filters
