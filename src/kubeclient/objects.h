// objects: the parts of a Kubernetes object that the scheduler keeps: plain structs of the fields that matter for
// decisions, at most 1 KB per pod. Strings are pooled (PooledString); label sets and scheduling rules are shared
// between pods of one template. Units: CPU in thousandths of a core, memory and storage in bytes, extended resources in
// whole units, requests rounded up, times in milliseconds since the Unix epoch (0 if absent).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "kubeclient/pooled_string.h"

namespace ashlar::kube {

struct KeyValue {
  PooledString key, value;
  friend bool operator==(const KeyValue&, const KeyValue&) = default;
};
/// Sorted by key.
using Labels = std::vector<KeyValue>;

/// The value, or nullptr if the key is absent. O(number of labels).
const PooledString* find_label(const Labels& labels, std::string_view key);

struct Amount {
  PooledString name;
  std::int64_t value = 0;
  friend bool operator==(const Amount&, const Amount&) = default;
};

/// A set of resource amounts. `extended` is sorted by name and includes hugepages-* (bytes) but neither cpu, memory,
/// ephemeral-storage nor pods.
struct Resources {
  MilliCores cpu;
  Bytes memory, ephemeral_storage;
  std::vector<Amount> extended;
  friend bool operator==(const Resources&, const Resources&) = default;
};
/// 0 if absent.
std::int64_t amount_of(const Resources& resources, std::string_view extended_name);

/// What a node's kubelet declares to support (status.declaredFeatures) is kept as labels with this prefix and no value,
/// and what a pod needs of it as the keys of such labels. No label of a user can have such a key.
inline constexpr std::string_view kDeclaredFeaturePrefix = "status.declaredFeatures/";

/// The name of a node as a label of it, with which rules about nodes and domains can name it: no label of a user can
/// have such a key.
inline constexpr std::string_view kNodeNameKey = "field metadata.name";

enum class SelectorOp : unsigned char { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt };

struct Requirement {
  PooledString key;
  SelectorOp op = SelectorOp::kIn;
  std::vector<PooledString> values;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

/// All requirements must hold. A term without requirements matches nothing (upstream's rule).
struct NodeTerm {
  std::vector<Requirement> expressions;  ///< on node labels
  std::vector<Requirement> fields;       ///< on metadata.name only, as upstream
  friend bool operator==(const NodeTerm&, const NodeTerm&) = default;
};

struct PreferredTerm {
  std::int32_t weight = 0;
  NodeTerm term;
  friend bool operator==(const PreferredTerm&, const PreferredTerm&) = default;
};

enum class TaintEffect : unsigned char { kAny, kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Toleration {
  PooledString key;  ///< empty with `exists`: every taint
  PooledString value;
  bool exists = false;  ///< operator Exists; otherwise Equal, or a comparison of numbers
  TaintEffect effect = TaintEffect::kAny;
  enum class Compares : unsigned char { kNot, kLess, kGreater };
  Compares compares = Compares::kNot;  ///< operators Lt and Gt: the taint's value with this one
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct Taint {
  PooledString key, value;
  TaintEffect effect = TaintEffect::kNoSchedule;
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct HostPort {
  enum class Protocol : unsigned char { kTcp, kUdp, kSctp };
  Protocol protocol = Protocol::kTcp;
  std::uint16_t port = 0;
  PooledString host_ip;  ///< empty means every address (0.0.0.0)
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

/// metav1.LabelSelector. Absent selects nothing, present and empty everything.
struct LabelSelector {
  bool present = false;
  Labels match_labels;
  std::vector<Requirement> expressions;
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};
bool matches(const LabelSelector& selector, const Labels& labels);

struct PodAffinityTerm {
  LabelSelector selector;
  LabelSelector namespace_selector;  ///< united with `namespaces`; both empty: the pod's own namespace
  std::vector<PooledString> namespaces;
  PooledString topology_key;
  friend bool operator==(const PodAffinityTerm&, const PodAffinityTerm&) = default;
};

struct PreferredPodTerm {
  std::int32_t weight = 0;  ///< 1..100
  PodAffinityTerm term;
  friend bool operator==(const PreferredPodTerm&, const PreferredPodTerm&) = default;
};

/// A topology spread constraint.
struct TopologySpread {
  LabelSelector selector;
  PooledString topology_key;
  std::int32_t max_skew = 1, min_domains = 1;
  bool honors_affinity = true, honors_taints = false;  ///< nodeAffinityPolicy, nodeTaintsPolicy
  std::vector<PooledString> match_label_keys;          ///< the pod's own values of these are required too
  bool requires_all_labels = true;                     ///< see SpreadTerm; false of no pod's own
  friend bool operator==(const TopologySpread&, const TopologySpread&) = default;
};

/// Labels or annotations of a pod: the classes of GPUs that it accepts; what their class must be able to do.
inline constexpr std::string_view kGpuClassesSetting = "ashlar.dev/gpu-classes";
inline constexpr std::string_view kGpuCapabilitiesSetting = "ashlar.dev/gpu-capabilities";

/// Everything of a pod that restricts where it may run beyond amounts. Pods of one template share one object; compare
/// by value or by address.
struct PodRules {
  Labels node_selector;
  bool has_required_affinity = false;
  std::vector<NodeTerm> required_affinity;  ///< one of them must match; an empty list matches nothing
  std::vector<PreferredTerm> preferred_affinity;
  std::vector<Toleration> tolerations;
  std::vector<HostPort> host_ports;
  std::vector<PodAffinityTerm> required_anti_affinity;  ///< also honoured for pods already bound
  std::vector<PodAffinityTerm> required_pod_affinity = {};
  std::vector<TopologySpread> spread = {};  ///< must hold (DoNotSchedule)
  std::vector<PreferredPodTerm> preferred_pod_affinity = {}, preferred_anti_affinity = {};  ///< also of bound pods
  std::vector<TopologySpread> preferred_spread = {};                                        ///< ScheduleAnyway
  /// what the node's kubelet must declare, with kDeclaredFeaturePrefix; ascending, each once
  std::vector<PooledString> features = {};
  /// path of the first hard field that Ashlar does not evaluate; empty: none
  PooledString unsupported;
  /// fields of the spec that only newer releases of Kubernetes have, as "PodSpec.44" (message and number); of pods read
  /// from protobuf
  std::vector<PooledString> unknown_fields = {};
  /// a field of the pod that was too large to be kept, with its size and the limit (size_limits.h); empty: none
  PooledString too_large;
  std::vector<PooledString> ignored_soft;  ///< paths of preferences that are present and not evaluated
  /// of its containers, init containers and image volumes, as nodes would report them; empty: too long to be kept
  std::vector<PooledString> images = {};
  /// Settings of the pod as it states them (kGpuClassesSetting, kGpuCapabilitiesSetting); empty: none.
  PooledString gpu_classes = {}, gpu_capabilities = {};

  /// Rules about other pods, which depend on the pod's own namespace and labels.
  bool has_company() const {
    return !required_anti_affinity.empty() || !required_pod_affinity.empty() || !spread.empty() ||
           !preferred_pod_affinity.empty() || !preferred_anti_affinity.empty() || !preferred_spread.empty();
  }
  /// Terms by which pods that come later are drawn to such a pod, or away from it.
  bool draws_others() const {
    return !required_pod_affinity.empty() || !preferred_pod_affinity.empty() || !preferred_anti_affinity.empty();
  }
  friend bool operator==(const PodRules&, const PodRules&) = default;
};

/// The annotations with the devices of a bound pod.
inline constexpr std::string_view kDevicesAnnotation = "ashlar.dev/cards";      ///< which; older releases read it
inline constexpr std::string_view kGrantsAnnotation = "ashlar.dev/gpu-grants";  ///< which, and how much of each
/// The annotation with the queue that a bound pod is charged to, whatever its labels say from then on.
inline constexpr std::string_view kChargedQueueAnnotation = "ashlar.dev/charged-queue";
/// The condition of a pod that was stopped for another or with its queue, as of kube-scheduler's preemption, and how
/// Ashlar's message begins. Tenants may not write it.
inline constexpr std::string_view kStoppedCondition = "DisruptionTarget", kStoppedReason = "PreemptionByScheduler",
                                  kStoppedWords = "stopped ";

/// A claim of the pod's namespace that it uses, or that is made for one of its generic ephemeral volumes.
struct ClaimUse {
  PooledString name;
  bool is_ephemeral = false;
  friend bool operator==(const ClaimUse&, const ClaimUse&) = default;
};

/// A volume as a CSI driver attaches it.
struct AttachedVolume {
  PooledString driver, handle;
  friend bool operator==(const AttachedVolume&, const AttachedVolume&) = default;
};

/// The volumes of a pod that decide where it may run. Pods of one template may share the object.
struct PodVolumes {
  std::vector<ClaimUse> claims;
  std::vector<AttachedVolume> inline_disks;  ///< named by the pod itself, as their drivers attach them
  bool empty() const { return claims.empty() && inline_disks.empty(); }
  friend bool operator==(const PodVolumes&, const PodVolumes&) = default;
};

enum class PodPhase : unsigned char { kPending, kRunning, kSucceeded, kFailed, kUnknown };
enum class ConditionStatus : unsigned char { kAbsent, kTrue, kFalse, kUnknown };

struct Condition {
  ConditionStatus status = ConditionStatus::kAbsent;
  PooledString reason, message;
  Millis last_transition;
  friend bool operator==(const Condition&, const Condition&) = default;
};

/// What selects pods by their labels.
enum class SelectingKind : unsigned char { kNone, kService, kReplicationController, kReplicaSet, kStatefulSet };

struct Pod {
  PooledString ns, name, uid;
  std::uint64_t resource_version = 0;  ///< 0 if the server's text is no number
  std::int64_t generation = 0;         ///< of its spec
  PooledString scheduler_name, node_name, nominated_node_name;
  PooledString priority_class, group_name;  ///< group_name: spec.schedulingGroup.podGroupName
  PooledString owner_uid, owner_kind;       ///< the controlling owner, else the first one
  PooledString controller_name;             ///< of the controlling owner, where its kind is one of these
  SelectingKind controller_kind = SelectingKind::kNone;
  std::int32_t priority = 0;
  PodPhase phase = PodPhase::kPending;
  std::uint8_t scheduling_gates = 0;  ///< their number, at most 255
  bool never_preempts = false;        ///< its preemptionPolicy
  PooledString gate_names;            ///< "example.com/a, example.com/b", cut off where it is long
  Millis created, deletion_requested;
  Resources requests;  ///< effective request by Kubernetes' rules, see resources.h
  std::shared_ptr<const Labels> labels;
  std::shared_ptr<const Labels> annotations;  ///< only keys with the prefix ashlar.dev/
  std::shared_ptr<const PodRules> rules;
  std::shared_ptr<const PodVolumes> volumes;  ///< null: it has none that matter
  Condition scheduled;                        ///< PodScheduled
  bool is_stopped = false;                    ///< by Ashlar, for another: kStoppedCondition
  PooledString problem;  ///< the part of it that could not be read: "field: why"; empty: it was read whole
  /// with `problem`: an amount of its spec could not be read, so that `requests` is less than it holds
  bool lacks_amounts = false;
  PooledString unknown_fields;  ///< as of PodRules, but outside the spec: "PodStatus.22, ObjectMeta.18"; empty: none

  Pod();
  bool is_terminal() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
};

/// A container image on a node, by one of its names.
struct NodeImage {
  PooledString name;
  std::int64_t bytes = 0;
  friend bool operator==(const NodeImage&, const NodeImage&) = default;
};

struct Node {
  PooledString ns;  ///< always empty; keeps the shape of keys uniform
  PooledString name, uid;
  std::uint64_t resource_version = 0;
  Labels labels, annotations;  ///< annotations: only keys with the prefix ashlar.dev/
  std::vector<Taint> taints;
  bool unschedulable = false;
  ConditionStatus ready = ConditionStatus::kAbsent;
  Resources allocatable;
  std::int64_t pods_max = 0;  ///< allocatable "pods"
  std::vector<NodeImage> images;
  Millis created, deletion_requested;
  PooledString problem, unknown_fields;  ///< as of Pod, of the whole object
  friend bool operator==(const Node&, const Node&) = default;
};

struct Namespace {
  PooledString ns, name, uid;  ///< ns empty
  std::uint64_t resource_version = 0;
  Labels labels, annotations;  ///< annotations: only keys with the prefix ashlar.dev/
  bool is_terminating = false;
  PooledString problem;  ///< as of Pod
};

struct PriorityClass {
  PooledString ns, name, uid;  ///< ns empty
  std::uint64_t resource_version = 0;
  std::int32_t value = 0;
  bool is_global_default = false, never_preempts = false;
  PooledString problem;  ///< as of Pod
};

/// resource.k8s.io DeviceClass: which extended resource Dynamic Resource Allocation serves by it. Unlike the classes of
/// GPUs that the engine and the configuration know.
struct DeviceClassObject {
  PooledString ns, name, uid;  ///< ns empty
  std::uint64_t resource_version = 0;
  PooledString extended_resource;  ///< spec.extendedResourceName; empty: only the one that is named after the class
  PooledString problem;            ///< as of Pod
};

/// scheduling.ashlar.dev Queue: its spec is read where the configuration's queues are.
struct QueueObject {
  PooledString ns, name, uid;  ///< ns empty
  std::uint64_t resource_version = 0;
  std::int64_t generation = 0;  ///< of its spec
  std::string spec;             ///< as JSON
  Condition accepted;           ///< Accepted, of its status
  Millis created;
  PooledString problem;  ///< as of Pod
};

/// scheduling.k8s.io PodGroup of either API version, see pod_group_api.h.
struct PodGroup {
  PooledString ns, name, uid;
  std::uint64_t resource_version = 0;
  std::int64_t generation = 0;  ///< of its spec
  std::int32_t min_count = 0;   ///< gang.minCount; 0: basic policy, pods are placed one by one
  PooledString topology_key;    ///< schedulingConstraints.topology[0].key; empty: none
  PooledString priority_class;
  std::optional<std::int32_t> priority;
  bool never_preempts = false;  ///< its preemptionPolicy
  bool leaves_whole = false;    ///< its disruptionMode
  Labels labels, annotations;   ///< annotations: only keys with the prefix ashlar.dev/
  Condition scheduled;          ///< PodGroupInitiallyScheduled (v1beta1) or PodGroupScheduled (v1alpha2)
  PooledString unsupported;     ///< path of the first hard field that Ashlar does not evaluate; empty: none
  /// fields of the spec that no known version has: "PodGroupSpec.newField"
  std::vector<PooledString> unknown_spec_fields;
  PooledString unknown_fields;  ///< the same of the rest of the object, as of Pod
  Millis created, deletion_requested;
  PooledString problem;  ///< as of Pod
};

/// coordination.k8s.io/v1 Lease; times in microseconds there, kept to the millisecond here.
struct Lease {
  PooledString ns, name, uid;
  std::string resource_version;  ///< sent back as precondition, hence the server's own text
  std::string holder;
  std::int32_t duration_seconds = 0, transitions = 0;
  Millis acquired, renewed;
};

}  // namespace ashlar::kube
