// The page of fields: every field of the kinds that it lists is on it, and the decoder treats each as the page says.
#include <gtest/gtest.h>

#include <sstream>

#include "field_effects.h"
#include "folders.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/selecting_objects.h"
#include "kubeclient/volumes/volume_objects.h"
#include "volume_examples.h"

namespace ashlar::kube {
namespace {

const char* const kPage = ASHLAR_SOURCE_DIR "/docs/reference/fields.md";
/// What the servers of these releases say of the kinds that are read from JSON.
const char* const kGroupDescriptions[] = {ASHLAR_SOURCE_DIR "/tests/fixtures/versions/1.36.3/openapi-scheduling.json",
                                          ASHLAR_SOURCE_DIR "/tests/fixtures/versions/1.37.1/openapi-scheduling.json"};
const char* const kResourceDescription = ASHLAR_SOURCE_DIR "/tests/fixtures/versions/1.37.1/openapi-resource.json";
const char* const kDescriptors = ASHLAR_BINARY_DIR "/../generated/kubeclient_descriptors.pb";

/// A pod of ours that waits, with whatever is evaluated of it.
const char* const kWaiting = R"pb(
  metadata {
    name: "p"
    namespace: "ns"
    uid: "u"
    resourceVersion: "7"
    creationTimestamp { seconds: 5 nanos: 7000000 }
    labels { key: "a" value: "1" }
    annotations { key: "ashlar.dev/queue" value: "q" }
    ownerReferences { kind: "ReplicaSet" uid: "o1" }
    ownerReferences { kind: "Job" uid: "o2" controller: true }
  }
  spec {
    volumes {
      name: "v"
      volumeSource { emptyDir {} }
    }
    volumes {
      name: "w"
      volumeSource { image { reference: "models" } }
    }
    initContainers {
      name: "i"
      restartPolicy: "Always"
      ports { hostPort: 90 protocol: "UDP" hostIP: "1.2.3.4" }
      resources {
        requests {
          key: "memory"
          value { string: "5" }
        }
      }
    }
    containers {
      name: "c"
      resources {
        requests {
          key: "cpu"
          value { string: "4" }
        }
      }
      restartPolicyRules { action: "RestartAllContainers" }
    }
    nodeSelector { key: "z" value: "1" }
    hostNetwork: true
    hostUsers: false
    affinity {
      nodeAffinity {
        requiredDuringSchedulingIgnoredDuringExecution {
          nodeSelectorTerms {
            matchExpressions { key: "a" operator: "NotIn" values: "1" }
            matchFields { key: "metadata.name" operator: "NotIn" values: "n" }
          }
        }
        preferredDuringSchedulingIgnoredDuringExecution {
          weight: 7
          preference { matchExpressions { key: "d" operator: "DoesNotExist" } }
        }
      }
      podAffinity {}
      podAntiAffinity {}
    }
    schedulerName: "ashlar"
    tolerations { key: "k" operator: "Exists" value: "v" effect: "NoSchedule" }
    priorityClassName: "high"
    priority: 3
    preemptionPolicy: "Never"
    overhead {
      key: "cpu"
      value { string: "10m" }
    }
    topologySpreadConstraints { whenUnsatisfiable: "ScheduleAnyway" }
    schedulingGates { name: "g" }
    schedulingGroup { podGroupName: "g" }
  }
  status {
    phase: "Running"
    nominatedNodeName: "m"
    conditions {
      type: "PodScheduled"
      status: "False"
      reason: "r"
      message: "m"
      lastTransitionTime { seconds: 3 nanos: 9000000 }
    }
    containerStatuses {
      name: "c"
      allocatedResources {
        key: "cpu"
        value { string: "2" }
      }
      resources {
        requests {
          key: "memory"
          value { string: "9" }
        }
      }
    }
    initContainerStatuses {
      name: "i"
      allocatedResources {
        key: "memory"
        value { string: "11" }
      }
    }
  }
)pb";

/// A bound pod that keeps others away, and is being deleted.
const char* const kOwner = R"pb(
  metadata {
    name: "p"
    ownerReferences { apiVersion: "apps/v1" kind: "ReplicaSet" name: "r" uid: "o" controller: true }
    deletionTimestamp { seconds: 5 }
  }
  spec {
    ephemeralContainers { ephemeralContainerCommon { volumeMounts { bindMountOptions: "noexec" } } }
    nodeName: "n"
    topologySpreadConstraints {
      topologyKey: "zone"
      whenUnsatisfiable: "DoNotSchedule"
      nodeAffinityPolicy: "Ignore"
      nodeTaintsPolicy: "Honor"
    }
    resources {
      requests {
        key: "memory"
        value { string: "1" }
      }
    }
    affinity {
      podAffinity {
        requiredDuringSchedulingIgnoredDuringExecution { topologyKey: "zone" }
        preferredDuringSchedulingIgnoredDuringExecution {
          weight: 1
          podAffinityTerm { topologyKey: "zone" }
        }
      }
      podAntiAffinity {
        preferredDuringSchedulingIgnoredDuringExecution {
          weight: 2
          podAffinityTerm { labelSelector { matchLabels { key: "r" value: "1" } } }
        }
        requiredDuringSchedulingIgnoredDuringExecution {
          labelSelector {
            matchLabels { key: "q" value: "1" }
            matchExpressions { key: "f" operator: "NotIn" values: "3" }
          }
          namespaces: "x"
          topologyKey: "rack"
          namespaceSelector { matchLabels { key: "n" value: "4" } }
        }
      }
    }
  }
)pb";

/// A pod whose requests are those of the whole, and are being changed.
const char* const kResized = R"pb(
  metadata { name: "p" }
  spec {
    containers { volumeMounts { bindMountOptions: "noexec" } }
    resources {
      requests {
        key: "cpu"
        value { string: "1" }
      }
    }
  }
  status {
    allocatedResources {
      key: "cpu"
      value { string: "3" }
    }
    resources {
      requests {
        key: "cpu"
        value { string: "2" }
      }
      requests {
        key: "memory"
        value { string: "8" }
      }
    }
    conditions { type: "PodResizePending" reason: "Infeasible" }
    conditions {
      type: "DisruptionTarget"
      status: "True"
      reason: "PreemptionByScheduler"
      message: "stopped for another job (Newer)"
    }
  }
)pb";

const char* const kNodes = R"pb(
  metadata {
    name: "n"
    namespace: "odd"
    uid: "u"
    resourceVersion: "7"
    creationTimestamp { seconds: 5 nanos: 7000000 }
    deletionTimestamp { seconds: 9 }
    labels { key: "a" value: "1" }
    annotations { key: "ashlar.dev/unhealthy-gpus" value: "0" }
  }
  spec {
    unschedulable: true
    taints { key: "k" value: "v" effect: "NoExecute" }
  }
  status {
    allocatable {
      key: "cpu"
      value { string: "4" }
    }
    conditions { type: "Ready" status: "True" }
    declaredFeatures: "RestartAllContainersOnContainerExits"
    images { names: "app:1" names: "app@sha256:5" sizeBytes: 1000 }
  }
)pb";

/// A gang within a rack whose condition was written, and one that is being deleted.
const std::vector<std::string> kGroups{
    R"({"metadata":{"name":"g","namespace":"ns","uid":"u","resourceVersion":"7","generation":2,)"
    R"("creationTimestamp":"1970-01-01T00:00:05Z","labels":{"a":"1"},"annotations":{"ashlar.dev/gang":"w"}},)"
    R"("spec":{"schedulingPolicy":{"gang":{"minCount":3}},"schedulingConstraints":{"topology":[{"key":"rack"}]},)"
    R"("priorityClassName":"high","priority":5,"preemptionPolicy":"Never","disruptionMode":{"all":{}}},"status":{)"
    R"("conditions":[{"type":"PodGroupInitiallyScheduled",)"
    R"("status":"False","reason":"r","message":"m","lastTransitionTime":"1970-01-01T00:00:06Z"}]}})",
    R"({"metadata":{"name":"g","deletionTimestamp":"1970-01-01T00:00:07Z"},"spec":{}})"};

class Words {
 public:
  template <class T>
  Words& operator<<(const T& word) {
    text_ << word << ';';
    return *this;
  }
  Words& operator<<(const PooledString& word) { return *this << word.view(); }
  Words& operator<<(const KeyValue& pair) { return *this << pair.key << pair.value; }
  Words& operator<<(const Amount& amount) { return *this << amount.name << amount.value; }
  Words& operator<<(const Requirement& r) { return *this << r.key << static_cast<int>(r.op) << r.values; }
  Words& operator<<(const NodeTerm& term) { return *this << term.expressions << term.fields; }
  Words& operator<<(const PreferredTerm& p) { return *this << p.weight << p.term; }
  Words& operator<<(const Toleration& t) {
    return *this << t.key << t.value << t.exists << static_cast<int>(t.compares) << static_cast<int>(t.effect);
  }
  Words& operator<<(const NodeImage& image) { return *this << image.name << image.bytes; }
  Words& operator<<(const Taint& t) { return *this << t.key << t.value << static_cast<int>(t.effect); }
  Words& operator<<(const HostPort& p) { return *this << static_cast<int>(p.protocol) << p.port << p.host_ip; }
  Words& operator<<(const LabelSelector& s) { return *this << s.present << s.match_labels << s.expressions; }
  Words& operator<<(const PodAffinityTerm& t) {
    return *this << t.selector << t.namespace_selector << t.namespaces << t.topology_key;
  }
  Words& operator<<(const PreferredPodTerm& p) { return *this << p.weight << p.term; }
  Words& operator<<(const TopologySpread& s) {
    return *this << s.selector << s.topology_key << s.max_skew << s.min_domains << s.honors_affinity << s.honors_taints
                 << s.match_label_keys;
  }
  Words& operator<<(const Resources& r) {
    return *this << r.cpu.value << r.memory.value << r.ephemeral_storage.value << r.extended;
  }
  Words& operator<<(const ClaimUse& c) { return *this << c.name << c.is_ephemeral; }
  Words& operator<<(const AttachedVolume& v) { return *this << v.driver << v.handle; }
  template <class T>
  Words& operator<<(const std::optional<T>& value) {
    return value ? *this << "has" << *value : *this << "none";
  }
  Words& operator<<(const CsiNode::Driver& d) { return *this << d.name << d.volumes_max; }
  Words& operator<<(const Condition& c) {
    return *this << static_cast<int>(c.status) << c.reason << c.message << c.last_transition.value;
  }
  template <class T>
  Words& operator<<(const std::vector<T>& list) {
    *this << list.size();
    for (const T& one : list) *this << one;
    return *this;
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

std::string enveloped(const std::string& bytes) {
  std::string length;
  for (std::size_t rest = bytes.size(); length.empty() || rest > 0; rest >>= 7)
    length += static_cast<char>((rest & 127) | (rest > 127 ? 128 : 0));
  return std::string("k8s\0\x12", 5) + length + bytes;
}

Kept kept_of_pod(const std::string& bytes) {
  const Result<Pod> read = decode_object<Pod>(enveloped(bytes));
  if (!read) return {read.error().message, "", ""};
  const Pod& p = *read;
  const PodRules& r = *p.rules;
  Words all;
  all << p.ns << p.name << p.uid << p.resource_version << p.generation << p.scheduler_name << p.node_name
      << p.nominated_node_name << p.priority_class << p.group_name << p.owner_uid << p.owner_kind << p.controller_name
      << static_cast<int>(p.controller_kind) << p.priority << p.never_preempts << static_cast<int>(p.phase)
      << int{p.scheduling_gates} << p.gate_names << p.created.value << p.deletion_requested.value << p.requests
      << *p.labels << *p.annotations << p.scheduled << p.is_stopped << p.problem << p.lacks_amounts << p.unknown_fields;
  all << r.node_selector << r.has_required_affinity << r.required_affinity << r.preferred_affinity << r.tolerations
      << r.host_ports << r.required_anti_affinity << r.required_pod_affinity << r.spread << r.preferred_pod_affinity
      << r.preferred_anti_affinity << r.preferred_spread << r.features << r.unsupported << r.unknown_fields
      << r.too_large << r.ignored_soft << r.images << r.gpu_classes << r.gpu_capabilities;
  if (p.volumes) all << p.volumes->claims << p.volumes->inline_disks;
  return {all.text(), r.unsupported.str(), (Words() << r.ignored_soft).text()};
}

Kept kept_of_node(const std::string& bytes) {
  const Result<Node> read = decode_object<Node>(enveloped(bytes));
  if (!read) return {read.error().message, "", ""};
  const Node& n = *read;
  Words all;
  all << n.ns << n.name << n.uid << n.resource_version << n.labels << n.annotations << n.taints << n.unschedulable
      << static_cast<int>(n.ready) << n.allocatable << n.pods_max << n.images << n.created.value
      << n.deletion_requested.value << n.problem << n.unknown_fields;
  return {all.text(), "", ""};
}

/// Services and controllers of pods.
constexpr VolumeExample kSelectingExamples[] = {
    {"Service", R"pb(metadata { name: "s" namespace: "ns" }
                     spec { selector { key: "a" value: "1" } })pb"},
    {"ReplicationController", R"pb(metadata { name: "c" }
                                   spec { selector { key: "a" value: "1" } })pb"},
    {"ReplicaSet", R"pb(metadata { name: "r" }
                        spec {
                          selector {
                            matchLabels { key: "a" value: "1" }
                            matchExpressions { key: "b" operator: "NotIn" values: "2" }
                          }
                        })pb"},
    {"StatefulSet", R"pb(metadata { name: "t" }
                         spec { selector { matchLabels { key: "a" value: "1" } } })pb"}};

Kept kept_of_group(const std::string& text) {
  const Result<PodGroup> read = decode_object<PodGroup>(text);
  if (!read) return {read.error().message, "", ""};
  const PodGroup& g = *read;
  Words all;
  all << g.ns << g.name << g.uid << g.resource_version << g.generation << g.min_count << g.topology_key
      << g.priority_class << g.priority << g.never_preempts << g.leaves_whole << g.labels << g.annotations
      << g.scheduled << g.unsupported << g.unknown_spec_fields << g.unknown_fields << g.created.value
      << g.deletion_requested.value << g.problem;
  return {all.text(), g.unsupported.str(), ""};
}

Kept kept_of_device_class(const std::string& text) {
  const Result<DeviceClassObject> read = decode_object<DeviceClassObject>(text);
  if (!read) return {read.error().message, "", ""};
  Words all;
  all << read->ns << read->name << read->uid << read->resource_version << read->extended_resource << read->problem;
  return {all.text(), "", ""};
}

Words& put(Words& all, const PersistentVolumeClaim& c) {
  return all << c.access_modes << c.request << c.selector << c.volume_name << c.class_name << c.volume_mode
             << c.attributes_class << c.selected_node << c.has_selected_node << c.is_bind_completed << c.is_lost
             << c.controller_uid << c.deletion_requested.value;
}
Words& put(Words& all, const PersistentVolume& v) {
  return all << v.labels << v.capacity << v.access_modes << v.class_name << v.volume_mode << v.attributes_class
             << v.has_claim << v.claim_ns << v.claim_name << v.claim_uid << v.has_affinity << v.affinity
             << static_cast<int>(v.plugin) << v.attached << v.is_available << v.deletion_requested.value;
}
Words& put(Words& all, const StorageClass& c) {
  return all << c.provisioner << c.waits_for_consumer << c.allowed_topologies;
}
Words& put(Words& all, const CsiNode& n) { return all << n.drivers << n.migrated_plugins; }
Words& put(Words& all, const CsiDriver& d) { return all << d.has_capacities << d.must_be_on_node; }
Words& put(Words& all, const CsiStorageCapacity& c) { return all << c.class_name << c.topology << c.largest_volume; }
template <SelectingKind kKind>
Words& put(Words& all, const SelectingObject<kKind>& object) {
  return all << object.selector;
}
Words& put(Words& all, const VolumeAttachment& a) { return all << a.attacher << a.volume_name << a.node_name; }

template <class T>
Kept kept_of(const std::string& bytes) {
  const Result<T> read = decode_object<T>(enveloped(bytes));
  if (!read) return {read.error().message, "", ""};
  Words all;
  all << read->ns << read->name << read->uid << read->resource_version << read->problem << read->unknown_fields;
  return {put(all, *read).text(), "", ""};
}

void walk_groups(FieldEffects& effects) {
  for (const char* description : kGroupDescriptions)
    effects.walk_json(ApiDescription(description), "PodGroup", kGroups, kept_of_group);
}

void walk_everything(FieldEffects& effects, ApiMessages& api) {
  std::vector<FieldEffects::Example> pods, nodes;
  for (const char* text : {kWaiting, kOwner, kResized, kVolumePod}) pods.push_back(api.message("Pod", text));
  nodes.push_back(api.message("Node", kNodes));
  effects.walk(std::move(pods), kept_of_pod);
  effects.walk(std::move(nodes), kept_of_node);
  const std::pair<const char*, FieldEffects::Decode> kinds[] = {
      {"PersistentVolumeClaim", kept_of<PersistentVolumeClaim>},
      {"PersistentVolume", kept_of<PersistentVolume>},
      {"StorageClass", kept_of<StorageClass>},
      {"CSINode", kept_of<CsiNode>},
      {"CSIDriver", kept_of<CsiDriver>},
      {"CSIStorageCapacity", kept_of<CsiStorageCapacity>},
      {"VolumeAttachment", kept_of<VolumeAttachment>},
      {"Service", kept_of<Service>},
      {"ReplicationController", kept_of<ReplicationController>},
      {"ReplicaSet", kept_of<ReplicaSet>},
      {"StatefulSet", kept_of<StatefulSet>}};
  for (const auto& [message, decode] : kinds) {
    std::vector<FieldEffects::Example> examples;
    for (const VolumeExample& example : kVolumeExamples)
      if (std::string_view(example.message) == message) examples.push_back(api.message(message, example.text));
    for (const VolumeExample& example : kSelectingExamples)
      if (std::string_view(example.message) == message) examples.push_back(api.message(message, example.text));
    effects.walk(std::move(examples), decode);
  }
  walk_groups(effects);
  const char* const device_class = R"({"metadata":{"name":"c","uid":"u"},"spec":{"extendedResourceName":"e.com/a"}})";
  effects.walk_json(ApiDescription(kResourceDescription), "DeviceClass", {device_class}, kept_of_device_class);
}

std::string lines(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& line : list) text += line + "\n";
  return text;
}

TEST(Fields, AreTreatedAsTheirPageSays) {
  const FieldRows rows = read_field_rows(kPage);
  ApiMessages api(kDescriptors);
  FieldEffects effects(rows);
  walk_everything(effects, api);
  EXPECT_EQ(lines(effects.complaints()), "");
  for (const auto& [key, row] : rows)
    EXPECT_TRUE(effects.visited().contains(key))
        << key.first << "." << key.second << " is on the page, but nothing evaluated leads to it";
}

TEST(Fields, APageThatIsWrongIsFound) {
  ApiMessages api(kDescriptors);
  const FieldRows right = read_field_rows(kPage);
  const auto complaints = [&](const char* message, const char* field, const char* use) {
    FieldRows rows = right;
    if (*use == '\0')
      rows.erase({message, field});
    else
      rows[{message, field}].use = use;
    FieldEffects effects(rows);
    walk_everything(effects, api);
    return effects.complaints();
  };
  EXPECT_EQ(complaints("PodSpec", "priority", ""), std::vector<std::string>{"PodSpec.priority has no row"});
  for (const auto& [field, use] : {std::pair("priority", "irrelevant"),
                                   {"hostname", "evaluated"},
                                   {"hostname", "refused"},
                                   {"hostname", "ignored"},
                                   {"hostname", "unheard-of"}})
    EXPECT_EQ(complaints("PodSpec", field, use).size(), 1u) << field << " " << use;
}

TEST(Fields, APageThatIsWrongAboutPodGroupsIsFound) {
  const auto complaints_about_spec = [](const char* field, const char* use) {
    FieldRows rows = read_field_rows(kPage);
    if (*use == '\0')
      rows.erase({"PodGroupSpec", field});
    else
      rows[{"PodGroupSpec", field}].use = use;
    FieldEffects effects(rows);
    walk_groups(effects);
    std::vector<std::string> found = effects.complaints();
    std::erase_if(found, [](const std::string& text) { return !text.starts_with("PodGroupSpec."); });
    return found;
  };
  EXPECT_EQ(complaints_about_spec("priority", ""), std::vector<std::string>{"PodGroupSpec.priority has no row"});
  for (const auto& [field, use] : {std::pair("priority", "irrelevant"),
                                   {"resourceClaims", "irrelevant"},
                                   {"podGroupTemplateRef", "evaluated"},
                                   {"preemptionPolicy", "irrelevant"},
                                   {"preemptionPolicy", "refused"}})
    EXPECT_EQ(complaints_about_spec(field, use).size(), 1u) << field << " " << use;
  EXPECT_TRUE(complaints_about_spec("priority", "evaluated").empty());
}

}  // namespace
}  // namespace ashlar::kube
