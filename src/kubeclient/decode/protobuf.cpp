#include "kubeclient/decode/protobuf.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <algorithm>
#include <limits>

#include "kubeclient/pod_builder.h"
#include "kubeclient/proto/kubernetes.pb.h"

namespace ashlar::kube::proto {
namespace {

// Lists are paginated; a message beyond this is refused before anything is allocated for it.
constexpr std::size_t kMessageBytesMax = 1u << 30;
// A message takes several times its bytes in memory: beyond this size the items of a list are parsed one by one.
constexpr std::size_t kWholeListBytesMax = 16u << 20;
// First block of the arena, kept for the thread: decoding a watch event then allocates nothing for the message itself.
constexpr std::size_t kArenaBlockBytes = 64u << 10;

/// Removes the envelope: body = "k8s\0" + Unknown{typeMeta, raw}. Reads the fields by hand, since copying `raw` would
/// double the memory.
Result<std::string_view> unwrap(std::string_view body) {
  static constexpr std::string_view kMagic("k8s\0", 4);
  if (!body.starts_with(kMagic)) return invalid("the answer is not Kubernetes protobuf: it does not begin with k8s\\0");
  if (body.size() > kMessageBytesMax) return invalid("the protobuf answer is too long");
  body.remove_prefix(kMagic.size());
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const std::uint8_t*>(body.data()),
                                            static_cast<int>(body.size()));
  std::string_view raw;
  for (;;) {
    const std::uint32_t tag = in.ReadTag();
    if (tag == 0) break;
    if ((tag & 7) != 2) return invalid("the protobuf envelope holds an unexpected field");
    std::uint32_t length = 0;
    if (!in.ReadVarint32(&length)) return invalid("the protobuf envelope is cut off");
    const int position = in.CurrentPosition();
    if (length > body.size() - static_cast<std::size_t>(position) || !in.Skip(static_cast<int>(length)))
      return invalid("the protobuf envelope is cut off");
    if ((tag >> 3) == 2) raw = body.substr(static_cast<std::size_t>(position), length);
  }
  if (!in.ConsumedEntireMessage()) return invalid("the protobuf envelope is malformed");
  return raw;
}

/// Parses into an arena that lives as long as this object.
template <class Message>
class Parsed {
 public:
  explicit Parsed(std::string_view raw) : arena_(options()) {
    message_ = google::protobuf::Arena::CreateMessage<Message>(&arena_);
    is_sound_ = raw.size() <= kMessageBytesMax && message_->ParseFromArray(raw.data(), static_cast<int>(raw.size()));
  }
  bool is_sound() const { return is_sound_; }
  const Message& operator*() const { return *message_; }
  const Message* operator->() const { return message_; }

 private:
  static google::protobuf::ArenaOptions options() {
    google::protobuf::ArenaOptions options;
    options.start_block_size = 8u << 10;
    options.max_block_size = kArenaBlockBytes;
    return options;
  }
  google::protobuf::Arena arena_;
  Message* message_ = nullptr;
  bool is_sound_ = false;
};

void note(std::string& problem, std::string_view where, const Error& error) {
  if (problem.empty()) problem = std::string(where) + ": " + error.message;
}

Millis millis_of(const pb::Time& time) {
  constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int64_t>::max() / 2000;
  return Millis(std::clamp(time.seconds(), -kSecondsMax, kSecondsMax) * 1000 + time.nanos() / 1'000'000);
}

template <class Pairs>
void read_labels(const Pairs& pairs, Labels& into) {
  into.reserve(into.size() + static_cast<std::size_t>(pairs.size()));
  for (const pb::StringPair& pair : pairs) into.push_back({pair.key(), pair.value()});
}

/// False if an amount could not be read.
template <class Pairs>
bool read_quantities(const Pairs& pairs, Resources& into, std::string_view where, std::string& problem) {
  bool is_sound = true;
  for (const pb::QuantityPair& pair : pairs) {
    const Result<void> added = add_quantity(into, pair.key(), pair.value().string());
    if (added) continue;
    note(problem, where, added.error());
    is_sound = false;
  }
  return is_sound;
}

template <class T>
void read_meta(const pb::ObjectMeta& meta, T& object) {
  object.ns = meta.namespace_();
  object.name = meta.name();
  object.uid = meta.uid();
  object.resource_version = read_resource_version(meta.resourceversion());
  object.created = millis_of(meta.creationtimestamp());
  if (meta.has_deletiontimestamp()) object.deletion_requested = millis_of(meta.deletiontimestamp());
}

void read_annotations(const pb::ObjectMeta& meta, Labels& into) {
  for (const pb::StringPair& pair : meta.annotations())
    if (is_our_annotation(pair.key())) into.push_back({pair.key(), pair.value()});
}

template <class Requirements>
bool read_requirements(const Requirements& requirements, std::vector<Requirement>& into) {
  bool known = true;
  for (const pb::LabelSelectorRequirement& from : requirements) {
    Requirement& requirement = into.emplace_back();
    requirement.key = from.key();
    known &= read_selector_op(from.operator_(), requirement.op);
    for (const std::string& value : from.values()) requirement.values.emplace_back(value);
  }
  return known;
}

bool read_node_term(const pb::NodeSelectorTerm& from, NodeTerm& term) {
  const bool known = read_requirements(from.matchexpressions(), term.expressions);
  return read_requirements(from.matchfields(), term.fields) && known;
}

void read_label_selector(const pb::LabelSelector& from, LabelSelector& selector, PodBuilder& builder) {
  selector.present = true;
  read_labels(from.matchlabels(), selector.match_labels);
  sort_by_key(selector.match_labels);
  if (!read_requirements(from.matchexpressions(), selector.expressions)) builder.refuse("labelSelector: operator");
}

void read_node_affinity(const pb::NodeAffinity& affinity, PodBuilder& builder) {
  if (affinity.has_required()) {
    builder.rules.has_required_affinity = true;
    for (const pb::NodeSelectorTerm& term : affinity.required().nodeselectorterms())
      if (!read_node_term(term, builder.rules.required_affinity.emplace_back()))
        builder.refuse("spec.affinity.nodeAffinity.required: operator");
  }
  for (const pb::PreferredSchedulingTerm& preferred : affinity.preferred()) {
    PreferredTerm term;
    term.weight = preferred.weight();
    if (read_node_term(preferred.preference(), term.term))
      builder.rules.preferred_affinity.push_back(std::move(term));
    else
      builder.ignore("spec.affinity.nodeAffinity.preferred: operator");
  }
}

void read_affinity(const pb::Affinity& affinity, PodBuilder& builder) {
  if (affinity.has_nodeaffinity()) read_node_affinity(affinity.nodeaffinity(), builder);
  if (affinity.podaffinity().required_size() > 0) builder.refuse("spec.affinity.podAffinity.required");
  if (affinity.podaffinity().preferred_size() > 0) builder.ignore("spec.affinity.podAffinity.preferred");
  if (affinity.podantiaffinity().preferred_size() > 0) builder.ignore("spec.affinity.podAntiAffinity.preferred");
  for (const pb::PodAffinityTerm& from : affinity.podantiaffinity().required()) {
    PodAffinityTerm& term = builder.rules.required_anti_affinity.emplace_back();
    if (from.has_labelselector()) read_label_selector(from.labelselector(), term.selector, builder);
    if (from.has_namespaceselector()) read_label_selector(from.namespaceselector(), term.namespace_selector, builder);
    for (const std::string& ns : from.namespaces()) term.namespaces.emplace_back(ns);
    term.topology_key = from.topologykey();
    builder.refuse("spec.affinity.podAntiAffinity.required");
  }
}

void read_toleration(const pb::Toleration& from, PodBuilder& builder) {
  Toleration toleration;
  toleration.key = from.key();
  toleration.value = from.value();
  const std::string& op = from.operator_();
  toleration.exists = op == "Exists";
  const bool known =
      read_taint_effect(from.effect(), toleration.effect) && (op == "Exists" || op == "Equal" || op.empty());
  if (known)
    builder.rules.tolerations.push_back(std::move(toleration));
  else
    builder.ignore("spec.tolerations[]: operator or effect");
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
  (is_init ? builder.init_containers : builder.containers).push_back(std::move(container));
}

void read_volume(const pb::VolumeSource& source, PodBuilder& builder) {
  const auto refuse_if = [&](bool present, std::string_view name) {
    if (present) builder.refuse(hard_volume_source(name));
  };
  refuse_if(source.has_persistentvolumeclaim(), "persistentVolumeClaim");
  refuse_if(source.has_ephemeral(), "ephemeral");
  refuse_if(source.has_gcepersistentdisk(), "gcePersistentDisk");
  refuse_if(source.has_awselasticblockstore(), "awsElasticBlockStore");
  refuse_if(source.has_azuredisk(), "azureDisk");
  refuse_if(source.has_iscsi(), "iscsi");
  refuse_if(source.has_rbd(), "rbd");
}

void read_spec(const pb::PodSpec& spec, PodBuilder& builder, std::string& problem) {
  Pod& pod = builder.pod;
  pod.node_name = spec.nodename();
  pod.scheduler_name = spec.schedulername();
  pod.priority = spec.priority();
  pod.priority_class = spec.priorityclassname();
  pod.group_name = spec.schedulinggroup().podgroupname();
  pod.scheduling_gates = static_cast<std::uint8_t>(std::min(255, spec.schedulinggates_size()));
  for (const pb::Container& container : spec.containers()) read_container(container, false, builder, problem);
  for (const pb::Container& container : spec.initcontainers()) read_container(container, true, builder, problem);
  for (const pb::Toleration& toleration : spec.tolerations()) read_toleration(toleration, builder);
  read_labels(spec.nodeselector(), builder.rules.node_selector);
  if (spec.has_affinity()) read_affinity(spec.affinity(), builder);
  if (!read_quantities(spec.overhead(), builder.overhead, "spec.overhead", problem)) pod.lacks_amounts = true;
  for (const pb::QuantityPair& pair : spec.resources().requests()) {
    builder.has_pod_level = true;
    builder.pod_level_names.emplace_back(pair.key());
  }
  if (!read_quantities(spec.resources().requests(), builder.pod_level, "spec.resources.requests", problem))
    pod.lacks_amounts = true;
  for (const pb::Volume& volume : spec.volumes()) read_volume(volume.volumesource(), builder);
  for (const pb::TopologySpreadConstraint& spread : spec.topologyspreadconstraints()) {
    if (spread.whenunsatisfiable() == "ScheduleAnyway")
      builder.ignore("spec.topologySpreadConstraints[] (ScheduleAnyway)");
    else
      builder.refuse("spec.topologySpreadConstraints[] (DoNotSchedule)");
  }
  if (spec.resourceclaims_size() > 0) builder.refuse("spec.resourceClaims");
  if (spec.has_workloadref()) builder.refuse("spec.workloadRef");
}

template <class Statuses>
void read_container_statuses(const Statuses& statuses, std::vector<ContainerBuilder>& into, std::string& problem) {
  for (const pb::ContainerStatus& from : statuses) {
    if (from.allocatedresources_size() == 0 && from.resources().requests_size() == 0) continue;
    ContainerBuilder& status = into.emplace_back();
    status.name = from.name();
    status.has_requests = true;
    Resources allocated, actual;
    read_quantities(from.allocatedresources(), allocated, "status.containerStatuses[].allocatedResources", problem);
    read_quantities(from.resources().requests(), actual, "status.containerStatuses[].resources", problem);
    status.requests = larger_of(std::move(allocated), actual);
  }
}

void read_status(const pb::PodStatus& status, PodBuilder& builder, std::string& problem) {
  builder.pod.phase = read_phase(status.phase());
  builder.pod.nominated_node_name = status.nominatednodename();
  read_container_statuses(status.containerstatuses(), builder.statuses, problem);
  read_container_statuses(status.initcontainerstatuses(), builder.init_statuses, problem);
  for (const pb::Condition& condition : status.conditions()) {
    if (condition.type() == "PodScheduled") {
      builder.pod.scheduled = {read_condition_status(condition.status()), condition.reason(), condition.message(),
                               millis_of(condition.lasttransitiontime())};
    } else if (condition.type() == "PodResizePending") {
      builder.resize_infeasible = condition.reason() == "Infeasible";
    }
  }
}

void read_object(const pb::Pod& from, Pod& pod, std::string& problem) {
  thread_local PodBuilder builder;
  thread_local SharedParts shared;
  builder.reset();
  read_meta(from.metadata(), builder.pod);
  bool has_controller = false;
  for (const pb::OwnerReference& owner : from.metadata().ownerreferences()) {
    if (has_controller || (!builder.pod.owner_uid.empty() && !owner.controller())) continue;
    has_controller = owner.controller();
    builder.pod.owner_uid = owner.uid();
    builder.pod.owner_kind = owner.kind();
  }
  read_labels(from.metadata().labels(), builder.labels);
  read_annotations(from.metadata(), builder.annotations);
  read_spec(from.spec(), builder, problem);
  read_status(from.status(), builder, problem);
  pod = finish_pod(builder, shared);
  if (problem.empty()) problem = pod.problem.str();
}

void read_object(const pb::Node& from, Node& node, std::string& problem) {
  read_meta(from.metadata(), node);
  read_labels(from.metadata().labels(), node.labels);
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
  for (const pb::Condition& condition : from.status().conditions())
    if (condition.type() == "Ready") node.ready = read_condition_status(condition.status());
}

template <class T>
struct Wire;
template <>
struct Wire<Pod> {
  using Object = pb::Pod;
  using List = pb::PodList;
};
template <>
struct Wire<Node> {
  using Object = pb::Node;
  using List = pb::NodeList;
};

/// The part of a message that is valid by itself; an empty one if it is not.
template <class Part>
Part part_of(std::string_view raw) {
  Part part;
  if (raw.size() > kMessageBytesMax || !part.ParsePartialFromArray(raw.data(), static_cast<int>(raw.size())))
    part.Clear();
  return part;
}

/// The identity of an object that is no valid message and, for a pod, its scheduler and its node.
template <class T>
T read_identity(std::string_view raw) {
  T object;
  const pb::IdentityMeta meta = part_of<pb::IdentityOfMeta>(raw).metadata();
  object.ns = meta.namespace_();
  object.name = meta.name();
  object.uid = meta.uid();
  object.resource_version = read_resource_version(meta.resourceversion());
  if constexpr (std::is_same_v<T, Pod>) {
    const pb::IdentitySpec spec = part_of<pb::IdentityOfSpec>(raw).spec();
    object.node_name = spec.nodename();
    object.scheduler_name = spec.schedulername();
    object.phase = read_phase(part_of<pb::IdentityOfStatus>(raw).status().phase());
    object.lacks_amounts = true;
  }
  return object;
}

/// Reads one parsed message; kInvalid if it has no name.
template <class T>
Result<T> convert(const typename Wire<T>::Object& from) {
  T object;
  std::string problem;
  read_object(from, object, problem);
  if (object.name.empty()) return invalid(problem.empty() ? "metadata.name is missing" : problem);
  object.problem = problem;
  return object;
}

/// One object by itself, with its identity if it is no valid message.
template <class T>
Result<T> read_alone(std::string_view raw) {
  const Parsed<typename Wire<T>::Object> parsed(raw);
  if (parsed.is_sound()) return convert<T>(*parsed);
  T object = read_identity<T>(raw);
  object.problem = "it is not a valid protobuf message";
  if (object.name.empty()) return invalid(object.problem.str());
  return object;
}

bool asks_for_initial_events_end(const pb::ObjectMeta& meta) {
  return std::any_of(meta.annotations().begin(), meta.annotations().end(), [](const pb::StringPair& pair) {
    return pair.key() == "k8s.io/initial-events-end" && pair.value() == "true";
  });
}

}  // namespace

template <class T>
Result<T> decode_object(std::string_view body) {
  Result<std::string_view> raw = unwrap(body);
  if (!raw) return raw.error();
  return read_alone<T>(*raw);
}

template <class T>
Result<ListPage<T>> decode_list(std::string_view body) {
  Result<std::string_view> raw = unwrap(body);
  if (!raw) return raw.error();
  ListPage<T> page;
  const auto take_head = [&](const pb::ListMeta& meta, int count) {
    page.resource_version = meta.resourceversion();
    page.continue_token = meta.continue_();
    page.items.reserve(static_cast<std::size_t>(count));
    return !page.resource_version.empty();
  };
  const auto take_item = [&](Result<T> object) {
    if (object)
      page.items.push_back(std::move(object).value());
    else
      page.nameless.push_back(object.error().message);
  };
  const Error is_no_list = invalid("the answer is not a list: metadata.resourceVersion is missing");
  if (raw->size() <= kWholeListBytesMax) {
    const Parsed<typename Wire<T>::List> parsed(*raw);
    if (parsed.is_sound()) {
      if (!take_head(parsed->metadata(), parsed->items_size())) return is_no_list;
      for (const auto& item : parsed->items()) take_item(convert<T>(item));
      return page;
    }
  }
  // It is large, an item is no valid message, or the whole list is garbage: reading each item separately shows which.
  const Parsed<pb::RawList> list(*raw);
  if (!list.is_sound()) return invalid("the list is not a valid protobuf message");
  if (!take_head(list->metadata(), list->items_size())) return is_no_list;
  for (const std::string& item : list->items()) take_item(read_alone<T>(item));
  return page;
}

template <class T>
Result<WatchEvent<T>> decode_watch_event(std::string_view frame) {
  using Kind = WatchEventKind;
  const Parsed<pb::WatchEvent> outer(frame);
  if (!outer.is_sound()) return invalid("the watch event is not a valid protobuf message");
  const Result<Kind> kind = watch_event_kind(outer->type());
  if (!kind) return kind.error();
  WatchEvent<T> event;
  event.kind = *kind;
  if (event.kind == Kind::kError) {
    Result<StatusText> status = decode_status(outer->object().raw());
    if (!status) return status.error();
    event.error = watch_error(*status);
    return event;
  }
  Result<std::string_view> raw = unwrap(outer->object().raw());
  if (!raw) return raw.error();
  if (event.kind == Kind::kBookmark) {
    const Parsed<typename Wire<T>::Object> bookmark(*raw);
    if (!bookmark.is_sound()) return invalid("the object of a watch event is not a valid protobuf message");
    event.resource_version = bookmark->metadata().resourceversion();
    event.initial_events_end = asks_for_initial_events_end(bookmark->metadata());
    return event;
  }
  Result<T> object = read_alone<T>(*raw);
  if (!object) return object.error();
  event.object = std::move(object).value();
  event.resource_version = std::to_string(event.object.resource_version);
  return event;
}

Result<StatusText> decode_status(std::string_view body) {
  Result<std::string_view> raw = unwrap(body);
  if (!raw) return raw.error();
  const Parsed<pb::Status> parsed(*raw);
  if (!parsed.is_sound()) return invalid("the status is not a valid protobuf message");
  return StatusText{parsed->message(), parsed->reason(), parsed->code(), parsed->details().retryafterseconds(), false};
}

template Result<Pod> decode_object<Pod>(std::string_view);
template Result<Node> decode_object<Node>(std::string_view);
template Result<ListPage<Pod>> decode_list<Pod>(std::string_view);
template Result<ListPage<Node>> decode_list<Node>(std::string_view);
template Result<WatchEvent<Pod>> decode_watch_event<Pod>(std::string_view);
template Result<WatchEvent<Node>> decode_watch_event<Node>(std::string_view);

}  // namespace ashlar::kube::proto
