#include "kubeclient/decode/object_protobuf.h"

#include <algorithm>

#include "kubeclient/bind_outcome.h"
#include "kubeclient/decode/protobuf_parts.h"
#include "kubeclient/pod_builder.h"
#include "kubeclient/volumes/disk_rules.h"

namespace ashlar::kube::proto {
namespace {

void read_annotations(const pb::ObjectMeta& meta, Labels& into) {
  for (const pb::StringPair& pair : meta.annotations())
    if (is_our_annotation(pair.key())) into.push_back({pair.key(), pair.value()});
}

void read_label_selector(const pb::LabelSelector& from, LabelSelector& selector, PodBuilder& builder) {
  selector.present = true;
  read_labels(from.matchlabels(), selector.match_labels);
  sort_by_key(selector.match_labels);
  if (!read_requirements(from.matchexpressions(), selector.expressions)) builder.refuse("labelSelector: operator");
}

void read_node_affinity(const pb::NodeAffinity& affinity, PodBuilder& builder) {
  if (affinity.has_requiredduringschedulingignoredduringexecution()) {
    builder.rules.has_required_affinity = true;
    for (const pb::NodeSelectorTerm& term :
         affinity.requiredduringschedulingignoredduringexecution().nodeselectorterms())
      if (!read_node_term(term, builder.rules.required_affinity.emplace_back()))
        builder.refuse("spec.affinity.nodeAffinity.required: operator");
  }
  for (const pb::PreferredSchedulingTerm& preferred : affinity.preferredduringschedulingignoredduringexecution()) {
    PreferredTerm term;
    term.weight = preferred_weight(preferred.weight());
    if (read_node_term(preferred.preference(), term.term))
      builder.rules.preferred_affinity.push_back(std::move(term));
    else
      builder.ignore("spec.affinity.nodeAffinity.preferred: operator");
  }
}

void read_pod_term(const pb::PodAffinityTerm& from, PodAffinityTerm& term, PodBuilder& builder) {
  if (from.has_labelselector()) read_label_selector(from.labelselector(), term.selector, builder);
  if (from.has_namespaceselector()) read_label_selector(from.namespaceselector(), term.namespace_selector, builder);
  for (const std::string& ns : from.namespaces()) term.namespaces.emplace_back(ns);
  term.topology_key = from.topologykey();
}

/// Of affinity, or of anti-affinity.
template <class Affinity>
void read_preferred(const Affinity& from, std::vector<PreferredPodTerm>& into, PodBuilder& builder) {
  for (const pb::WeightedPodAffinityTerm& preferred : from.preferredduringschedulingignoredduringexecution()) {
    PreferredPodTerm& term = into.emplace_back();
    term.weight = preferred_weight(preferred.weight());
    read_pod_term(preferred.podaffinityterm(), term.term, builder);
  }
}

void read_affinity(const pb::Affinity& affinity, PodBuilder& builder) {
  if (affinity.has_nodeaffinity()) read_node_affinity(affinity.nodeaffinity(), builder);
  for (const pb::PodAffinityTerm& from : affinity.podaffinity().requiredduringschedulingignoredduringexecution())
    read_pod_term(from, builder.rules.required_pod_affinity.emplace_back(), builder);
  read_preferred(affinity.podaffinity(), builder.rules.preferred_pod_affinity, builder);
  read_preferred(affinity.podantiaffinity(), builder.rules.preferred_anti_affinity, builder);
  for (const pb::PodAffinityTerm& from : affinity.podantiaffinity().requiredduringschedulingignoredduringexecution())
    read_pod_term(from, builder.rules.required_anti_affinity.emplace_back(), builder);
}

void read_spread(const pb::TopologySpreadConstraint& from, PodBuilder& builder) {
  const bool is_wish = from.whenunsatisfiable() == "ScheduleAnyway";
  TopologySpread& spread = (is_wish ? builder.rules.preferred_spread : builder.rules.spread).emplace_back();
  if (from.has_labelselector()) read_label_selector(from.labelselector(), spread.selector, builder);
  spread.topology_key = from.topologykey();
  spread.max_skew = spread_number(from.maxskew());
  spread.min_domains = spread_number(from.mindomains());
  spread.honors_affinity = from.nodeaffinitypolicy() != "Ignore";
  spread.honors_taints = from.nodetaintspolicy() == "Honor";
  for (const std::string& key : from.matchlabelkeys()) spread.match_label_keys.emplace_back(key);
}

void read_toleration(const pb::Toleration& from, PodBuilder& builder) {
  Toleration toleration;
  toleration.key = from.key();
  toleration.value = from.value();
  const std::string& op = from.operator_();
  const bool known = read_toleration_op(op, toleration) && read_taint_effect(from.effect(), toleration.effect);
  if (known)
    builder.rules.tolerations.push_back(std::move(toleration));
  else
    builder.ignore("spec.tolerations[]: operator or effect");
}

/// Of an owner; kNone of kinds whose selectors are not looked at.
SelectingKind owner_kind(const pb::OwnerReference& owner) {
  if (owner.apiversion() == "v1" && owner.kind() == "ReplicationController")
    return SelectingKind::kReplicationController;
  if (owner.apiversion() != "apps/v1") return SelectingKind::kNone;
  return owner.kind() == "ReplicaSet"    ? SelectingKind::kReplicaSet
         : owner.kind() == "StatefulSet" ? SelectingKind::kStatefulSet
                                         : SelectingKind::kNone;
}

/// A feature that the pod's node must declare, by the name that kubelets give it.
void need_feature(PodBuilder& builder, std::string_view name) {
  const PooledString key(std::string(kDeclaredFeaturePrefix) + std::string(name));
  std::vector<PooledString>& features = builder.rules.features;
  const auto at = std::ranges::lower_bound(features, key.view(), {}, &PooledString::view);
  if (at == features.end() || *at != key) features.insert(at, key);
}

/// Of a container of any kind.
template <class Container>
void read_mounts(const Container& from, PodBuilder& builder) {
  for (const pb::VolumeMount& mount : from.volumemounts())
    if (mount.bindmountoptions_size() > 0) need_feature(builder, "VolumeBindMountOptions");
}

void read_container(const pb::Container& from, bool is_init, PodBuilder& builder, std::string& problem) {
  ContainerBuilder container;
  container.name = from.name();
  container.is_sidecar = is_init && from.restartpolicy() == "Always";
  const bool is_sound =
      read_quantities(from.resources().requests(), container.requests, "spec.containers[].resources.requests", problem);
  if (!is_sound) builder.pod.lacks_amounts = true;
  if (!is_init || container.is_sidecar) {
    for (const pb::ContainerPort& port : from.ports()) {
      if (port.hostport() == 0) continue;
      HostPort& host_port = builder.rules.host_ports.emplace_back();
      host_port.port = static_cast<std::uint16_t>(port.hostport());
      if (port.hostip() != "0.0.0.0") host_port.host_ip = port.hostip();
      const std::string& protocol = port.protocol();
      host_port.protocol = protocol == "UDP"    ? HostPort::Protocol::kUdp
                           : protocol == "SCTP" ? HostPort::Protocol::kSctp
                                                : HostPort::Protocol::kTcp;
    }
  }
  for (const pb::ContainerRestartRule& rule : from.restartpolicyrules())
    if (rule.action() == "RestartAllContainers") need_feature(builder, "RestartAllContainersOnContainerExits");
  read_mounts(from, builder);
  add_image(builder, from.image());
  (is_init ? builder.request.init_containers : builder.request.containers).push_back(std::move(container));
}

void read_volume(const pb::Volume& from, PodBuilder& builder) {
  const pb::VolumeSource& source = from.volumesource();
  VolumeFields volume{.name = from.name(), .source = {}, .id = {}, .pool = {}, .monitors = {}, .kind = {}};
  const auto take = [&](std::string_view name, const std::string& id, bool is_read_only = false) {
    volume.source = name;
    volume.id = id;
    volume.is_read_only = is_read_only;
  };
  if (source.has_persistentvolumeclaim()) take("persistentVolumeClaim", source.persistentvolumeclaim().claimname());
  if (source.has_ephemeral()) take("ephemeral", {});
  if (source.has_gcepersistentdisk())
    take("gcePersistentDisk", source.gcepersistentdisk().pdname(), source.gcepersistentdisk().readonly());
  if (source.has_awselasticblockstore()) take("awsElasticBlockStore", source.awselasticblockstore().volumeid());
  if (source.has_azuredisk()) take("azureDisk", source.azuredisk().diskuri());
  if (source.has_cinder()) take("cinder", source.cinder().volumeid());
  if (source.has_portworxvolume()) take("portworxVolume", source.portworxvolume().volumeid());
  if (source.has_iscsi()) take("iscsi", source.iscsi().iqn(), source.iscsi().readonly());
  if (source.has_rbd()) take("rbd", source.rbd().image(), source.rbd().readonly());
  if (source.has_image()) add_image(builder, source.image().reference());
  volume.kind = source.azuredisk().kind();
  volume.pool = source.rbd().pool();
  volume.monitors.assign(source.rbd().monitors().begin(), source.rbd().monitors().end());
  take_volume(builder, volume);
}

void read_gates(const pb::PodSpec& spec, Pod& pod) {
  pod.scheduling_gates = static_cast<std::uint8_t>(std::min(255, spec.schedulinggates_size()));
  std::string names;
  for (const pb::PodSchedulingGate& gate : spec.schedulinggates())
    if (!gate.name().empty()) names += (names.empty() ? "" : ", ") + gate.name();
  pod.gate_names = bounded_words(names, kDetailMax);
}

void read_spec(const pb::PodSpec& spec, PodBuilder& builder, std::string& problem) {
  Pod& pod = builder.pod;
  pod.node_name = spec.nodename();
  pod.scheduler_name = spec.schedulername();
  pod.priority = spec.priority();
  pod.priority_class = spec.priorityclassname();
  pod.never_preempts = spec.preemptionpolicy() == "Never";
  pod.group_name = spec.schedulinggroup().podgroupname();
  read_gates(spec, pod);
  for (const pb::Container& container : spec.containers()) read_container(container, false, builder, problem);
  for (const pb::Container& container : spec.initcontainers()) read_container(container, true, builder, problem);
  for (const pb::EphemeralContainer& container : spec.ephemeralcontainers())
    read_mounts(container.ephemeralcontainercommon(), builder);
  if (spec.hostnetwork() && spec.has_hostusers() && !spec.hostusers())
    need_feature(builder, "UserNamespacesHostNetworkSupport");
  for (const pb::Toleration& toleration : spec.tolerations()) read_toleration(toleration, builder);
  read_labels(spec.nodeselector(), builder.rules.node_selector);
  if (spec.has_affinity()) read_affinity(spec.affinity(), builder);
  if (!read_quantities(spec.overhead(), builder.request.overhead, "spec.overhead", problem)) pod.lacks_amounts = true;
  if (!read_quantities(spec.resources().requests(), builder.request.pod_level, "spec.resources.requests", problem))
    pod.lacks_amounts = true;
  for (const pb::Volume& volume : spec.volumes()) read_volume(volume, builder);
  for (const pb::TopologySpreadConstraint& spread : spec.topologyspreadconstraints()) read_spread(spread, builder);
  if (spec.resourceclaims_size() > 0) builder.refuse("spec.resourceClaims");
}

template <class Statuses>
void read_container_statuses(const Statuses& statuses, RequestParts& request, std::string& problem) {
  for (const pb::ContainerStatus& from : statuses) {
    if (from.allocatedresources_size() == 0 && from.resources().requests_size() == 0) continue;
    ContainerStatusBuilder& status = request.statuses.emplace_back();
    status.name = from.name();
    read_quantities(from.allocatedresources(), status.allocated, "status.containerStatuses[].allocatedResources",
                    problem);
    read_quantities(from.resources().requests(), status.in_force, "status.containerStatuses[].resources", problem);
  }
}

void read_status(const pb::PodStatus& status, PodBuilder& builder, std::string& problem) {
  RequestParts& request = builder.request;
  builder.pod.phase = read_phase(status.phase());
  builder.pod.nominated_node_name = status.nominatednodename();
  read_container_statuses(status.containerstatuses(), request, problem);
  read_container_statuses(status.initcontainerstatuses(), request, problem);
  read_quantities(status.allocatedresources(), request.pod_level_allocated, "status.allocatedResources", problem);
  read_quantities(status.resources().requests(), request.pod_level_in_force, "status.resources.requests", problem);
  request.has_status_resources = status.has_resources();
  for (const pb::PodCondition& condition : status.conditions()) {
    if (condition.type() == "PodScheduled") {
      builder.pod.scheduled = {read_condition_status(condition.status()), condition.reason(), condition.message(),
                               millis_of(condition.lasttransitiontime())};
    } else if (condition.type() == "PodResizePending") {
      request.is_resize_infeasible = condition.reason() == "Infeasible";
    } else if (condition.type() == kStoppedCondition) {
      builder.pod.is_stopped = condition.status() == "True" && condition.reason() == kStoppedReason &&
                               std::string_view(condition.message()).starts_with(kStoppedWords);
    }
  }
}

}  // namespace

void read_object(const pb::Pod& from, const UnknownFields& unknown, Pod& pod, std::string& problem) {
  thread_local PodBuilder builder;
  thread_local SharedParts shared;
  builder.reset();
  read_meta(from.metadata(), builder.pod);
  builder.pod.generation = from.metadata().generation();
  bool has_controller = false;
  for (const pb::OwnerReference& owner : from.metadata().ownerreferences()) {
    if (has_controller || (!builder.pod.owner_uid.empty() && !owner.controller())) continue;
    has_controller = owner.controller();
    builder.pod.owner_uid = owner.uid();
    builder.pod.owner_kind = owner.kind();
    if (!owner.controller()) continue;
    builder.pod.controller_kind = owner_kind(owner);
    if (builder.pod.controller_kind != SelectingKind::kNone) builder.pod.controller_name = owner.name();
  }
  read_labels(from.metadata().labels(), builder.labels);
  read_annotations(from.metadata(), builder.annotations);
  read_spec(from.spec(), builder, problem);
  read_status(from.status(), builder, problem);
  for (const std::string& field : unknown.in_spec) builder.rules.unknown_fields.emplace_back(field);
  builder.pod.unknown_fields = joined(unknown.elsewhere);
  pod = finish_pod(builder, shared);
  if (problem.empty()) problem = pod.problem.str();
}

void read_object(const pb::Node& from, const UnknownFields& unknown, Node& node, std::string& problem) {
  read_meta(from.metadata(), node);
  read_labels(from.metadata().labels(), node.labels);
  for (const std::string& feature : from.status().declaredfeatures())
    node.labels.push_back({PooledString(std::string(kDeclaredFeaturePrefix) + feature), {}});
  sort_by_key(node.labels);
  read_annotations(from.metadata(), node.annotations);
  sort_by_key(node.annotations);
  node.unschedulable = from.spec().unschedulable();
  for (const pb::Taint& taint : from.spec().taints()) {
    TaintEffect effect = TaintEffect::kNoSchedule;
    if (!read_taint_effect(taint.effect(), effect) || effect == TaintEffect::kAny) effect = TaintEffect::kNoSchedule;
    node.taints.push_back({taint.key(), taint.value(), effect});
  }
  for (const pb::QuantityPair& pair : from.status().allocatable())
    if (Result<void> added = add_allocatable(node, pair.key(), pair.value().string()); !added)
      note(problem, "status.allocatable", added.error());
  for (const pb::ContainerImage& image : from.status().images())
    for (const std::string& name : image.names()) add_image(node, name, image.sizebytes());
  for (const pb::NodeCondition& condition : from.status().conditions())
    if (condition.type() == "Ready") node.ready = read_condition_status(condition.status());
  node.unknown_fields = joined(unknown.all());
}

}  // namespace ashlar::kube::proto
