// object_json: each kind of object that is read from JSON, but what a list or an event adds to it.
#include "kubeclient/decode/json.h"

#include <algorithm>

#include "kubeclient/decode/group_fields.h"
#include "kubeclient/decode/unknown_fields.h"
#include "kubeclient/decode/wire_schema.h"
#include "kubeclient/pod_builder.h"
#include "text/moment_text.h"

namespace ashlar::kube::json {
namespace {

constexpr std::size_t kObjectMeta = proto::wire_message("ObjectMeta");

void read_meta_time(Value value, Millis& into, std::string_view where, std::string& problem) {
  if (is_null(value)) return;
  const Result<Millis> time = parse_moment(text_of(value));
  if (!time) return note(problem, where, time.error());
  into = *time;
}

/// Returns the condition's type.
std::string read_condition(Value value, Condition& condition, std::vector<std::string>& unknown, std::string& problem) {
  std::string type;
  each_known_field(value, "Condition", unknown, [&](std::string_view key, Value member) {
    if (key == "type")
      type = text_of(member);
    else if (key == "status")
      condition.status = read_condition_status(text_of(member));
    else if (key == "reason")
      condition.reason = text_of(member);
    else if (key == "message")
      condition.message = text_of(member);
    else if (key == "lastTransitionTime")
      read_meta_time(member, condition.last_transition, "lastTransitionTime", problem);
    return true;
  });
  return type;
}

template <class T>
void take_meta(Meta& meta, T& object) {
  object.ns = std::move(meta.ns);
  object.name = std::move(meta.name);
  object.uid = std::move(meta.uid);
  object.resource_version = read_resource_version(meta.resource_version);
}

template <class T>
void take_words(Meta& meta, T& object) {
  object.labels = std::move(meta.labels);
  object.annotations = std::move(meta.annotations);
  sort_by_key(object.labels);
  sort_by_key(object.annotations);
}

using Names = std::vector<std::string>;

void read_group_policy(Value value, PodGroup& group, Names& unknown) {
  each_known_field(value, "PodGroupSchedulingPolicy", unknown, [&](std::string_view policy, Value part) {
    if (policy != "gang") return false;
    each_known_field(part, "GangSchedulingPolicy", unknown, [&](std::string_view, Value count) {
      group.min_count = static_cast<std::int32_t>(integer_of(count));
      return true;
    });
    return true;
  });
}

void refuse(PodGroup& group, std::string_view path) {
  if (group.unsupported.empty()) group.unsupported = path;
}

void read_group_constraints(Value value, PodGroup& group, Names& unknown) {
  each_known_field(value, "PodGroupSchedulingConstraints", unknown, [&](std::string_view, Value constraints) {
    each_item(constraints, [&](Value constraint) {
      each_known_field(constraint, "TopologyConstraint", unknown, [&](std::string_view, Value text) {
        if (group.topology_key.empty())
          group.topology_key = text_of(text);
        else
          refuse(group, "spec.schedulingConstraints.topology[1]");
        return true;
      });
    });
    return true;
  });
}

/// {"all": {}}, and in v1alpha2 "PodGroup".
void read_disruption_mode(Value value, PodGroup& group, Names& unknown) {
  if (value.type().value() == simdjson::ondemand::json_type::string) {
    group.leaves_whole = text_of(value) == "PodGroup";
    return;
  }
  each_known_field(value, "DisruptionMode", unknown, [&](std::string_view mode, Value) {
    group.leaves_whole = group.leaves_whole || mode == "all";
    return false;
  });
}

void read_group_spec(Value value, PodGroup& group, Names& unknown) {
  each_known_field(value, kGroupSpecMessage, unknown, [&](std::string_view key, Value member) {
    if (key == "schedulingPolicy")
      read_group_policy(member, group, unknown);
    else if (key == "schedulingConstraints")
      read_group_constraints(member, group, unknown);
    else if (key == "priorityClassName")
      group.priority_class = text_of(member);
    else if (key == "priority" && !is_null(member))
      group.priority = static_cast<std::int32_t>(integer_of(member));
    else if (key == "preemptionPolicy")
      group.never_preempts = text_of(member) == "Never";
    else if (key == "disruptionMode" && !is_null(member))
      read_disruption_mode(member, group, unknown);
    else if (key == "parentCompositePodGroupName" && !is_null(member))
      refuse(group, "spec.parentCompositePodGroupName");
    else if (key == "resourceClaims")
      each_item(member, [&](Value claim) {
        refuse(group, "spec.resourceClaims");
        find_unknown_members(claim, "PodGroupResourceClaim", unknown);
      });
    else
      return false;
    return true;
  });
}

}  // namespace

void read_meta(Value value, Meta& meta, std::string& problem) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "name")
      meta.name = text_of(member);
    else if (key == "namespace")
      meta.ns = text_of(member);
    else if (key == "uid")
      meta.uid = text_of(member);
    else if (key == "resourceVersion")
      meta.resource_version = text_of(member);
    else if (key == "generation" && !is_null(member))
      meta.generation = integer_of(member);
    else if (key == "creationTimestamp")
      read_meta_time(member, meta.created, "metadata.creationTimestamp", problem);
    else if (key == "deletionTimestamp")
      read_meta_time(member, meta.deletion_requested, "metadata.deletionTimestamp", problem);
    else if (key == "labels" || key == "annotations") {
      const bool is_label = key == "labels";
      each_field(member, [&](std::string_view name, Value text) {
        if (is_label) {
          meta.labels.push_back({PooledString(name), text_of(text)});
        } else if (is_our_annotation(name)) {
          meta.annotations.push_back({PooledString(name), text_of(text)});
        } else if (name == "k8s.io/initial-events-end") {
          meta.initial_events_end = text_of(text) == "true";
        }
      });
    } else if (!proto::has_field(proto::kWireMessages[kObjectMeta], key)) {
      note_unknown_member("ObjectMeta", key, meta.unknown);
    }
  });
}

namespace {

Meta meta_of(Value value, std::string& problem) {
  Meta meta;
  read_meta(value, meta, problem);
  return meta;
}

}  // namespace

void read_object(Value value, Namespace& ns, std::string& problem) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "metadata") {
      Meta meta = meta_of(member, problem);
      take_words(meta, ns);
      take_meta(meta, ns);
    } else if (key == "status") {
      each_field(member, [&](std::string_view name, Value part) {
        if (name == "phase") ns.is_terminating = text_of(part) == "Terminating";
      });
    }
  });
}

void read_object(Value value, PriorityClass& priority_class, std::string& problem) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "value")
      priority_class.value = static_cast<std::int32_t>(integer_of(member));
    else if (key == "globalDefault")
      priority_class.is_global_default = bool_of(member);
    else if (key == "preemptionPolicy")
      priority_class.never_preempts = text_of(member) == "Never";
    else if (key == "metadata") {
      Meta meta = meta_of(member, problem);
      take_meta(meta, priority_class);
    }
  });
}

void read_object(Value value, QueueObject& queue, std::string& problem) {
  const auto read_accepted = [&](Value item) {
    Condition condition;
    Names unknown;
    if (read_condition(item, condition, unknown, problem) == "Accepted") queue.accepted = std::move(condition);
  };
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "metadata") {
      Meta meta = meta_of(member, problem);
      take_meta(meta, queue);
      queue.generation = meta.generation;
      queue.created = meta.created;
    } else if (key == "spec") {
      queue.spec = raw_of(member);
    } else if (key == "status") {
      each_field(member, [&](std::string_view name, Value part) {
        if (name == "conditions") each_item(part, read_accepted);
      });
    }
  });
}

void read_object(Value value, DeviceClassObject& device_class, std::string& problem) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "metadata") {
      Meta meta = meta_of(member, problem);
      take_meta(meta, device_class);
    } else if (key == "spec") {
      each_field(member, [&](std::string_view name, Value part) {
        if (name == "extendedResourceName") device_class.extended_resource = text_of(part);
      });
    }
  });
}

void read_object(Value value, PodGroup& group, std::string& problem) {
  Names in_spec, elsewhere;
  const auto read_status_part = [&](std::string_view name, Value part) {
    if (name != "conditions") return false;
    each_item(part, [&](Value item) {
      Condition condition;
      const std::string type = read_condition(item, condition, elsewhere, problem);
      if (type == "PodGroupInitiallyScheduled" || type == "PodGroupScheduled") group.scheduled = std::move(condition);
    });
    return true;
  };
  each_known_field(value, kGroupMessage, elsewhere, [&](std::string_view key, Value member) {
    if (key == "metadata") {
      Meta meta = meta_of(member, problem);
      group.created = meta.created;
      group.generation = meta.generation;
      group.deletion_requested = meta.deletion_requested;
      elsewhere.insert(elsewhere.end(), meta.unknown.begin(), meta.unknown.end());
      take_words(meta, group);
      take_meta(meta, group);
    } else if (key == "spec") {
      read_group_spec(member, group, in_spec);
    } else if (key == "status") {
      each_known_field(member, "PodGroupStatus", elsewhere, read_status_part);
    }
    return true;
  });
  group.unknown_spec_fields.assign(in_spec.begin(), in_spec.end());
  group.unknown_fields = proto::joined(elsewhere);
}

void read_object(Value value, Lease& lease, std::string& problem) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "metadata") {
      Meta meta = meta_of(member, problem);
      lease.ns = std::move(meta.ns);
      lease.name = std::move(meta.name);
      lease.uid = std::move(meta.uid);
      lease.resource_version = std::move(meta.resource_version);
    } else if (key == "spec") {
      each_field(member, [&](std::string_view name, Value part) {
        if (name == "holderIdentity")
          lease.holder = text_of(part);
        else if (name == "leaseDurationSeconds")
          lease.duration_seconds = static_cast<std::int32_t>(integer_of(part));
        else if (name == "leaseTransitions")
          lease.transitions = static_cast<std::int32_t>(integer_of(part));
        else if (name == "acquireTime")
          read_meta_time(part, lease.acquired, "spec.acquireTime", problem);
        else if (name == "renewTime")
          read_meta_time(part, lease.renewed, "spec.renewTime", problem);
      });
    }
  });
}

}  // namespace ashlar::kube::json
