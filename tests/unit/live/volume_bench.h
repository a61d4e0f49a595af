// Claims, volumes and classes in a few words, and a tracker that sees them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kubeclient/volumes/volume_objects.h"
#include "tracker_bench.h"

namespace ashlar::kube {

class VolumeBench : public TrackerBench {
 protected:
  VolumeBench() = default;
  explicit VolumeBench(TrackerOptions options) : TrackerBench(std::move(options)) {}
  static constexpr std::int64_t kGiB = std::int64_t{1} << 30;

  using TrackerBench::gone;
  using TrackerBench::see;
  template <class T>
  requires requires(Tracker& tracker, Change<T>&& change) { tracker.take(std::move(change)); }
  void see(T object) {
    object.resource_version = ++version;
    tracker.take(Change<T>{Change<T>::Kind::kModified, std::move(object)});
  }
  template <class T>
  void gone(T object) {
    tracker.take(Change<T>{Change<T>::Kind::kDeleted, std::move(object)});
  }

  static PersistentVolumeClaim claim(const std::string& name, const std::string& of_class = "late",
                                     std::int64_t gib = 1) {
    PersistentVolumeClaim c;
    c.ns = "ns";
    c.name = name;
    c.uid = "uid-" + name;
    c.access_modes = {"ReadWriteOnce"};
    c.request = gib * kGiB;
    c.class_name = of_class;
    c.volume_mode = "Filesystem";
    return c;
  }
  static PersistentVolumeClaim bound_claim(const std::string& name, const std::string& volume) {
    PersistentVolumeClaim c = claim(name);
    c.volume_name = volume;
    c.is_bind_completed = true;
    return c;
  }
  static PersistentVolume volume(const std::string& name, const std::string& of_class = "late", std::int64_t gib = 1) {
    PersistentVolume v;
    v.name = name;
    v.uid = "uid-" + name;
    v.capacity = gib * kGiB;
    v.access_modes = {"ReadWriteOnce"};
    v.class_name = of_class;
    v.volume_mode = "Filesystem";
    v.is_available = true;
    return v;
  }
  /// The volume, where this label has one of the values.
  static PersistentVolume at(PersistentVolume v, const std::string& key, std::vector<PooledString> values) {
    v.has_affinity = true;
    v.affinity.push_back(
        {.expressions = {{.key = key, .op = SelectorOp::kIn, .values = std::move(values)}}, .fields = {}});
    return v;
  }
  static CsiDriver driver_with_capacities(const std::string& name) {
    CsiDriver driver;
    driver.name = PooledString(name);
    driver.has_capacities = true;
    return driver;
  }
  /// On nodes with the label; "": on all.
  static CsiStorageCapacity capacity(const std::string& of_class, const std::string& host, std::int64_t gib) {
    CsiStorageCapacity c;
    c.ns = "kube-system";
    c.name = PooledString("at-" + host);
    c.class_name = PooledString(of_class);
    c.topology.present = true;
    if (!host.empty()) c.topology.match_labels = {{"kubernetes.io/hostname", PooledString(host)}};
    c.largest_volume = gib * kGiB;
    return c;
  }
  static PersistentVolume labelled(PersistentVolume v, const std::string& key, const std::string& value) {
    v.labels.push_back({key, value});
    std::ranges::sort(v.labels, [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; });
    return v;
  }
  static StorageClass storage_class(const std::string& name, const std::string& provisioner, bool waits = true) {
    StorageClass c;
    c.name = name;
    c.uid = "uid-" + name;
    c.provisioner = provisioner;
    c.waits_for_consumer = waits;
    return c;
  }
  static CsiNode csi_node(const std::string& name, const std::string& driver, std::optional<std::int32_t> limit) {
    CsiNode n;
    n.name = name;
    n.drivers = {{driver, limit}};
    return n;
  }
  static PersistentVolume of_driver(PersistentVolume v, const std::string& driver) {
    v.attached = {driver, "handle-" + v.name.str()};
    return v;
  }
  static VolumeAttachment attachment(const std::string& volume_name, const std::string& driver,
                                     const std::string& node_name) {
    VolumeAttachment a;
    a.name = "va";
    a.attacher = driver;
    a.volume_name = volume_name;
    a.node_name = node_name;
    return a;
  }
  /// A pod that uses the claims.
  static Pod user(const std::string& name, const std::vector<std::string>& claims, std::int64_t gpus = 0) {
    Pod p = pod(name, gpus);
    PodVolumes volumes;
    for (const std::string& one : claims) volumes.claims.push_back({one, false});
    p.volumes = std::make_shared<const PodVolumes>(std::move(volumes));
    return p;
  }
  std::string waits(const std::string& name) { return tracker.hold_condition(record(name)).message; }

  std::uint64_t version = 0;
};

}  // namespace ashlar::kube
