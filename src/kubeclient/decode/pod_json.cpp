// The pod half of the JSON decoders: spec and status field by field into a PodBuilder, one pass, about 6 us for the 1.7
// KB of a small pod. Fields that no placement depends on are skipped by the parser.
#include <algorithm>
#include <iterator>

#include "kubeclient/decode/json.h"
#include "kubeclient/volumes/disk_rules.h"

namespace ashlar::kube::json {
namespace {

/// False if an amount could not be read.
bool read_quantities(Value value, Resources& into, std::string_view where, std::string& problem) {
  bool is_sound = true;
  each_field(value, [&](std::string_view name, Value quantity) {
    const std::string key(name);
    if (Result<void> added = add_quantity(into, key, quantity_of(quantity)); !added) {
      note(problem, where, added.error());
      is_sound = false;
    }
  });
  return is_sound;
}

void read_texts(Value value, std::vector<PooledString>& into) {
  each_item(value, [&](Value item) { into.emplace_back(text_of(item)); });
}

void read_labels(Value value, Labels& into) {
  each_field(value, [&](std::string_view key, Value text) {
    const PooledString kept(key);
    into.push_back({kept, text_of(text)});
  });
}

/// False if the operator is unknown, or absent.
bool read_requirement(Value value, Requirement& requirement) {
  bool known = false;
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "key")
      requirement.key = text_of(member);
    else if (key == "operator")
      known = read_selector_op(text_of(member), requirement.op);
    else if (key == "values")
      read_texts(member, requirement.values);
  });
  return known;
}

bool read_requirements(Value value, std::vector<Requirement>& into) {
  bool known = true;
  each_item(value, [&](Value item) { known &= read_requirement(item, into.emplace_back()); });
  return known;
}

bool read_node_term(Value value, NodeTerm& term) {
  bool known = true;
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "matchExpressions")
      known &= read_requirements(member, term.expressions);
    else if (key == "matchFields")
      known &= read_requirements(member, term.fields);
  });
  return known;
}

void read_node_affinity(Value value, PodBuilder& builder) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "requiredDuringSchedulingIgnoredDuringExecution") {
      if (is_null(member)) return;
      builder.rules.has_required_affinity = true;
      each_field(member, [&](std::string_view inner, Value terms) {
        if (inner != "nodeSelectorTerms") return;
        each_item(terms, [&](Value term) {
          if (!read_node_term(term, builder.rules.required_affinity.emplace_back()))
            builder.refuse("spec.affinity.nodeAffinity.required: operator");
        });
      });
    } else if (key == "preferredDuringSchedulingIgnoredDuringExecution") {
      each_item(member, [&](Value preferred) {
        PreferredTerm term;
        bool known = true;
        each_field(preferred, [&](std::string_view inner, Value part) {
          if (inner == "weight")
            term.weight = static_cast<std::int32_t>(integer_of(part));
          else if (inner == "preference")
            known = read_node_term(part, term.term);
        });
        if (known)
          builder.rules.preferred_affinity.push_back(std::move(term));
        else
          builder.ignore("spec.affinity.nodeAffinity.preferred: operator");
      });
    }
  });
}

void read_label_selector(Value value, LabelSelector& selector, PodBuilder& builder) {
  if (is_null(value)) return;
  selector.present = true;
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "matchLabels")
      read_labels(member, selector.match_labels);
    else if (key == "matchExpressions" && !read_requirements(member, selector.expressions))
      builder.refuse("labelSelector: operator");
  });
  sort_by_key(selector.match_labels);
}

void read_affinity_term(Value value, PodAffinityTerm& term, PodBuilder& builder) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "labelSelector")
      read_label_selector(member, term.selector, builder);
    else if (key == "namespaceSelector")
      read_label_selector(member, term.namespace_selector, builder);
    else if (key == "namespaces")
      read_texts(member, term.namespaces);
    else if (key == "topologyKey")
      term.topology_key = text_of(member);
  });
}

bool has_items(Value value) {
  bool any = false;
  each_item(value, [&](Value) { any = true; });
  return any;
}

void read_affinity(Value value, PodBuilder& builder) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "nodeAffinity") return read_node_affinity(member, builder);
    if (key != "podAffinity" && key != "podAntiAffinity") return;
    const bool is_anti = key == "podAntiAffinity";
    each_field(member, [&](std::string_view inner, Value terms) {
      if (inner == "preferredDuringSchedulingIgnoredDuringExecution") {
        if (has_items(terms))
          builder.ignore(is_anti ? "spec.affinity.podAntiAffinity.preferred" : "spec.affinity.podAffinity.preferred");
      } else if (inner == "requiredDuringSchedulingIgnoredDuringExecution") {
        std::vector<PodAffinityTerm>& read =
            is_anti ? builder.rules.required_anti_affinity : builder.rules.required_pod_affinity;
        each_item(terms, [&](Value term) { read_affinity_term(term, read.emplace_back(), builder); });
        builder.check_pod_affinity();
      }
    });
  });
}

void read_toleration(Value value, PodBuilder& builder) {
  Toleration toleration;
  bool known = true;
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "key")
      toleration.key = text_of(member);
    else if (key == "value")
      toleration.value = text_of(member);
    else if (key == "effect")
      known &= read_taint_effect(text_of(member), toleration.effect);
    else if (key == "operator") {
      const std::string_view op = text_of(member);
      toleration.exists = op == "Exists";
      known &= op == "Exists" || op == "Equal" || op.empty();
    }
  });
  // An unknown toleration tolerates nothing: the pod may wait longer, but is never placed where it must not be.
  if (known)
    builder.rules.tolerations.push_back(std::move(toleration));
  else
    builder.ignore("spec.tolerations[]: operator or effect");
}

void read_ports(Value value, std::vector<HostPort>& ports) {
  each_item(value, [&](Value item) {
    HostPort port;
    each_field(item, [&](std::string_view key, Value member) {
      if (key == "hostPort")
        port.port = static_cast<std::uint16_t>(integer_of(member));
      else if (key == "hostIP")
        port.host_ip = text_of(member);
      else if (key == "protocol") {
        const std::string_view protocol = text_of(member);
        port.protocol = protocol == "UDP"    ? HostPort::Protocol::kUdp
                        : protocol == "SCTP" ? HostPort::Protocol::kSctp
                                             : HostPort::Protocol::kTcp;
      }
    });
    if (port.host_ip == "0.0.0.0") port.host_ip = PooledString();
    if (port.port != 0) ports.push_back(std::move(port));
  });
}

void read_container(Value value, bool is_init, PodBuilder& builder, std::string& problem) {
  ContainerBuilder container;
  std::vector<HostPort> ports;
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "name")
      container.name = text_of(member);
    else if (key == "ports")
      read_ports(member, ports);
    else if (key == "restartPolicy")
      container.is_sidecar = is_init && text_of(member) == "Always";
    else if (key == "resources") {
      each_field(member, [&](std::string_view inner, Value part) {
        if (inner != "requests") return;
        if (!read_quantities(part, container.requests, "spec.containers[].resources.requests", problem))
          builder.pod.lacks_amounts = true;
      });
    }
  });
  if (!is_init || container.is_sidecar)
    builder.rules.host_ports.insert(builder.rules.host_ports.end(), ports.begin(), ports.end());
  (is_init ? builder.request.init_containers : builder.request.containers).push_back(std::move(container));
}

void read_named(Value value, NamedAmounts& into, std::string_view where, bool& is_sound, std::string& problem) {
  each_field(value, [&](std::string_view name, Value quantity) {
    const std::string kept(name);
    if (const Result<void> added = add_quantity(into, kept, quantity_of(quantity)); !added) {
      note(problem, where, added.error());
      is_sound = false;
    }
  });
}

void read_named_requests(Value value, NamedAmounts& into, std::string_view where, bool& is_sound,
                         std::string& problem) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "requests") read_named(member, into, where, is_sound, problem);
  });
}

void read_spread(Value value, PodBuilder& builder) {
  each_item(value, [&](Value item) {
    TopologySpread spread;
    bool is_wish = false;
    each_field(item, [&](std::string_view key, Value member) {
      if (key == "whenUnsatisfiable")
        is_wish = text_of(member) == "ScheduleAnyway";
      else if (key == "labelSelector")
        read_label_selector(member, spread.selector, builder);
      else if (key == "topologyKey")
        spread.topology_key = text_of(member);
      else if (key == "maxSkew")
        spread.max_skew = spread_number(integer_of(member));
      else if (key == "minDomains")
        spread.min_domains = spread_number(integer_of(member));
      else if (key == "nodeAffinityPolicy")
        spread.honors_affinity = text_of(member) != "Ignore";
      else if (key == "nodeTaintsPolicy")
        spread.honors_taints = text_of(member) == "Honor";
      else if (key == "matchLabelKeys")
        read_texts(member, spread.match_label_keys);
    });
    if (is_wish)
      builder.ignore("spec.topologySpreadConstraints[] (ScheduleAnyway)");
    else
      builder.rules.spread.push_back(std::move(spread));
  });
}

void read_volume_source(Value value, VolumeFields& volume) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "claimName" || key == "pdName" || key == "volumeID" || key == "iqn" || key == "image" ||
        key == "diskURI")
      volume.id = text_of(member);
    else if (key == "pool")
      volume.pool = text_of(member);
    else if (key == "monitors")
      each_item(member, [&](Value item) { volume.monitors.emplace_back(text_of(item)); });
    else if (key == "kind")
      volume.kind = text_of(member);
    else if (key == "readOnly")
      volume.is_read_only = bool_of(member);
  });
}

void read_volumes(Value value, PodBuilder& builder) {
  constexpr std::string_view kSources[] = {"persistentVolumeClaim", "ephemeral", "gcePersistentDisk",
                                           "awsElasticBlockStore",  "azureDisk", "cinder",
                                           "portworxVolume",        "iscsi",     "rbd"};
  each_item(value, [&](Value item) {
    VolumeFields volume;
    each_field(item, [&](std::string_view key, Value member) {
      if (key == "name") volume.name = text_of(member);
      const auto* source = std::ranges::find(kSources, key);
      if (source == std::end(kSources) || is_null(member)) return;
      volume.source = *source;
      read_volume_source(member, volume);
    });
    take_volume(builder, volume);
  });
}

void read_container_status(Value value, std::vector<ContainerStatusBuilder>& into, std::string& problem) {
  ContainerStatusBuilder status;
  bool is_sound = true;
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "name")
      status.name = text_of(member);
    else if (key == "allocatedResources")
      read_named(member, status.allocated, "status.containerStatuses[].allocatedResources", is_sound, problem);
    else if (key == "resources")
      read_named_requests(member, status.in_force, "status.containerStatuses[].resources", is_sound, problem);
  });
  if (!status.allocated.empty() || !status.in_force.empty()) into.push_back(std::move(status));
}

}  // namespace

std::string read_condition(Value value, Condition& condition, std::string& problem) {
  std::string type;
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "type")
      type = text_of(member);
    else if (key == "status")
      condition.status = read_condition_status(text_of(member));
    else if (key == "reason")
      condition.reason = text_of(member);
    else if (key == "message")
      condition.message = text_of(member);
    else if (key == "lastTransitionTime" && !is_null(member)) {
      Result<Millis> time = read_time(text_of(member));
      if (time)
        condition.last_transition = *time;
      else
        note(problem, "lastTransitionTime", time.error());
    }
  });
  return type;
}

void read_spec(Value value, PodBuilder& builder, std::string& problem) {
  Pod& pod = builder.pod;
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "containers")
      each_item(member, [&](Value item) { read_container(item, false, builder, problem); });
    else if (key == "initContainers")
      each_item(member, [&](Value item) { read_container(item, true, builder, problem); });
    else if (key == "nodeName")
      pod.node_name = text_of(member);
    else if (key == "schedulerName")
      pod.scheduler_name = text_of(member);
    else if (key == "priority")
      pod.priority = static_cast<std::int32_t>(integer_of(member));
    else if (key == "priorityClassName")
      pod.priority_class = text_of(member);
    else if (key == "tolerations")
      each_item(member, [&](Value item) { read_toleration(item, builder); });
    else if (key == "nodeSelector")
      read_labels(member, builder.rules.node_selector);
    else if (key == "affinity")
      read_affinity(member, builder);
    else if (key == "overhead") {
      if (!read_quantities(member, builder.request.overhead, "spec.overhead", problem)) pod.lacks_amounts = true;
    } else if (key == "resources") {
      bool is_sound = true;
      read_named_requests(member, builder.request.pod_level, "spec.resources.requests", is_sound, problem);
      pod.lacks_amounts |= !is_sound;
    } else if (key == "volumes")
      read_volumes(member, builder);
    else if (key == "topologySpreadConstraints")
      read_spread(member, builder);
    else if (key == "schedulingGates")
      each_item(member, [&](Value) { pod.scheduling_gates += pod.scheduling_gates < 255; });
    else if (key == "resourceClaims") {
      if (has_items(member)) builder.refuse("spec.resourceClaims");
    } else if (key == "schedulingGroup") {
      each_field(member, [&](std::string_view inner, Value part) {
        if (inner == "podGroupName") pod.group_name = text_of(part);
      });
    } else if (key == "workloadRef" && !is_null(member)) {
      builder.refuse("spec.workloadRef");  // the gang link of Kubernetes 1.35, removed since
    }
  });
}

void read_status(Value value, PodBuilder& builder, std::string& problem) {
  RequestParts& request = builder.request;
  std::vector<ContainerStatusBuilder> init_statuses;  // after the others, in whatever order they come
  bool is_sound = true;
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "phase")
      builder.pod.phase = read_phase(text_of(member));
    else if (key == "nominatedNodeName")
      builder.pod.nominated_node_name = text_of(member);
    else if (key == "containerStatuses")
      each_item(member, [&](Value item) { read_container_status(item, request.statuses, problem); });
    else if (key == "initContainerStatuses")
      each_item(member, [&](Value item) { read_container_status(item, init_statuses, problem); });
    else if (key == "allocatedResources")
      read_named(member, request.pod_level_allocated, "status.allocatedResources", is_sound, problem);
    else if (key == "resources" && !is_null(member)) {
      request.has_status_resources = true;
      read_named_requests(member, request.pod_level_in_force, "status.resources.requests", is_sound, problem);
    } else if (key == "conditions") {
      each_item(member, [&](Value item) {
        Condition condition;
        const std::string type = read_condition(item, condition, problem);
        if (type == "PodScheduled")
          builder.pod.scheduled = std::move(condition);
        else if (type == "PodResizePending")
          request.is_resize_infeasible = condition.reason == "Infeasible";
      });
    }
  });
  std::move(init_statuses.begin(), init_statuses.end(), std::back_inserter(request.statuses));
}

void read_object(Value value, Pod& pod, std::string& problem) {
  thread_local PodBuilder builder;
  thread_local SharedParts shared;
  builder.reset();
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "metadata") {
      Meta meta;
      read_meta(member, meta, problem);
      Pod& p = builder.pod;
      p.ns = std::move(meta.ns);
      p.name = std::move(meta.name);
      p.uid = std::move(meta.uid);
      p.resource_version = read_resource_version(meta.resource_version);
      p.generation = meta.generation;
      p.owner_uid = std::move(meta.owner_uid);
      p.owner_kind = std::move(meta.owner_kind);
      p.created = meta.created;
      p.deletion_requested = meta.deletion_requested;
      builder.labels = std::move(meta.labels);
      builder.annotations = std::move(meta.annotations);
    } else if (key == "spec") {
      read_spec(member, builder, problem);
    } else if (key == "status") {
      read_status(member, builder, problem);
    }
  });
  pod = finish_pod(builder, shared);
  if (problem.empty()) problem = pod.problem.str();
}

}  // namespace ashlar::kube::json
