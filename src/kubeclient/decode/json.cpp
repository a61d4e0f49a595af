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

/// Both parts of an event and whole objects are read through this: errors of simdjson end here.
template <class Read>
Result<void> guarded(std::string_view body, std::string_view what, Read&& read) {
  try {
    simdjson::ondemand::document document = Parser::of_thread().parse(body);
    read(Value(document.get_value().value()));
    return {};
  } catch (const simdjson::simdjson_error& error) {
    return to_error(error, what);
  }
}

StatusText read_status_text(Value value) {
  StatusText status;
  std::string kind, outcome;
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "kind")
      kind = text_of(member);
    else if (key == "status")
      outcome = text_of(member);
    else if (key == "message")
      status.message = text_of(member);
    else if (key == "reason")
      status.reason = text_of(member);
    else if (key == "code")
      status.code = static_cast<std::int32_t>(integer_of(member));
    else if (key == "details") {
      each_field(member, [&](std::string_view name, Value part) {
        if (name == "retryAfterSeconds") status.retry_after_seconds = static_cast<std::int32_t>(integer_of(part));
      });
    }
  });
  status.is_success = kind == "Status" && outcome == "Success";
  if (kind != "Status") status.reason.clear();  // others' answers have fields of that name too
  return status;
}

template <class T>
std::string text_version(const T& object) {
  if constexpr (std::is_same_v<T, Lease>)
    return object.resource_version;
  else
    return std::to_string(object.resource_version);
}

template <class T>
std::string title(const T& object) {
  return object.ns.empty() ? object.name.str() : object.ns.str() + "/" + object.name.str();
}

template <class T>
void read_event_object(Value value, WatchEvent<T>& event, std::string& problem) {
  using Kind = typename WatchEvent<T>::Kind;
  if (event.kind == Kind::kError) {
    event.error = watch_error(read_status_text(value));
  } else if (event.kind == Kind::kBookmark) {
    Meta meta;
    each_field(value, [&](std::string_view key, Value member) {
      if (key == "metadata") read_meta(member, meta, problem);
    });
    event.resource_version = std::move(meta.resource_version);
    event.initial_events_end = meta.initial_events_end;
  } else {
    read_object(value, event.object, problem);
  }
}

/// The identity of an object.
template <class T>
T read_identity(std::string_view body) {
  T object;
  object.ns = text_at(body, "/metadata/namespace");
  object.name = text_at(body, "/metadata/name");
  object.uid = text_at(body, "/metadata/uid");
  if constexpr (!std::is_same_v<T, Lease>)
    object.resource_version = read_resource_version(text_at(body, "/metadata/resourceVersion"));
  return object;
}

/// The object with its problem; an error if it has no name, and for any problem of a lease.
template <class T>
Result<T> conclude(T&& object, const std::string& problem) {
  if (object.name.empty()) return invalid(problem.empty() ? "metadata.name is missing" : problem);
  if constexpr (std::is_same_v<T, Lease>) {
    if (!problem.empty()) return invalid(title(object) + ": " + problem);
  } else {
    object.problem = problem;
  }
  return std::forward<T>(object);
}

/// One object by itself.
template <class T>
Result<T> read_alone(std::string_view body) {
  T object;
  std::string problem;
  if (const Result<void> read = guarded(body, "the object", [&](Value value) { read_object(value, object, problem); });
      !read) {
    object = read_identity<T>(body);
    problem = read.error().message;
  }
  return conclude(std::move(object), problem);
}

template <class T>
void take_item(Result<T> item, ListPage<T>& page) {
  if (item)
    page.items.push_back(std::move(item).value());
  else
    page.nameless.push_back(item.error().message);
}

/// The list around its items.
template <class T, class TakeItem>
Result<void> read_list(std::string_view body, ListPage<T>& page, TakeItem&& take) {
  bool has_items = false;
  Result<void> read = guarded(body, "the list", [&](Value value) {
    each_field(value, [&](std::string_view key, Value member) {
      if (key == "metadata") {
        each_field(member, [&](std::string_view name, Value part) {
          if (name == "resourceVersion")
            page.resource_version = text_of(part);
          else if (name == "continue")
            page.continue_token = text_of(part);
        });
      } else if (key == "items") {
        has_items = true;
        each_item(member, take);
      }
    });
  });
  if (read.ok() && (!has_items || page.resource_version.empty()))
    return invalid("the answer is not a list: items or metadata.resourceVersion is missing");
  return read;
}

}  // namespace

void note(std::string& problem, std::string_view where, const Error& error) {
  if (problem.empty()) problem = std::string(where) + ": " + error.message;
}

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

void read_object(Value value, Namespace& ns, std::string& problem) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "metadata") {
      Meta meta;
      read_meta(member, meta, problem);
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
      Meta meta;
      read_meta(member, meta, problem);
      take_meta(meta, priority_class);
    }
  });
}

void read_object(Value value, DeviceClassObject& device_class, std::string& problem) {
  each_field(value, [&](std::string_view key, Value member) {
    if (key == "metadata") {
      Meta meta;
      read_meta(member, meta, problem);
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
      Meta meta;
      read_meta(member, meta, problem);
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
      Meta meta;
      read_meta(member, meta, problem);
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

template <class T>
Result<T> decode_object(std::string_view body) {
  return read_alone<T>(body);
}

template <class T>
Result<ListPage<T>> decode_list(std::string_view body) {
  ListPage<T> page;
  Result<void> read = read_list(body, page, [&](Value item) {
    T object;
    std::string problem;
    read_object(item, object, problem);
    take_item(conclude(std::move(object), problem), page);
  });
  if (read.ok()) return page;
  // An item is not the expected JSON, or the whole list is garbage: reading each item separately shows which.
  page = {};
  std::vector<std::string> texts;
  if (Result<void> again = read_list(body, page, [&](Value item) { texts.push_back(raw_of(item)); }); !again)
    return again.error();
  for (const std::string& text : texts) take_item(read_alone<T>(text), page);
  return page;
}

template <class T>
Result<WatchEvent<T>> decode_watch_event(std::string_view line) {
  WatchEvent<T> event;
  std::string problem, object_text;
  Result<void> kind_read;
  const auto read_with = [&](auto&& read_event) {
    return guarded(line, "the watch event", [&](Value value) {
      simdjson::ondemand::object object = value.get_object().value();
      const Result<WatchEventKind> kind = watch_event_kind(object.find_field_unordered("type").get_string().value());
      if (!kind) {
        kind_read = kind.error();
        return;
      }
      event.kind = *kind;
      read_event(Value(object.find_field_unordered("object").value()));
    });
  };
  const Result<void> read = read_with([&](Value object) { read_event_object(object, event, problem); });
  if (!kind_read) return kind_read.error();
  if (event.kind == WatchEventKind::kBookmark || event.kind == WatchEventKind::kError) {
    if (!read) return read.error();
    return event;
  }
  if (read.ok()) {
    Result<T> object = conclude(std::move(event.object), problem);
    if (!object) return object.error();
    event.object = std::move(object).value();
  } else {
    if (const Result<void> text = read_with([&](Value object) { object_text = raw_of(object); }); !text)
      return text.error();
    Result<T> object = read_alone<T>(object_text);
    if (!object) return object.error();
    event.object = std::move(object).value();
  }
  event.resource_version = text_version(event.object);
  return event;
}

Result<StatusText> decode_status(std::string_view body) {
  StatusText status;
  Result<void> read = guarded(body, "the status", [&](Value value) { status = read_status_text(value); });
  if (!read) return read.error();
  return status;
}

template Result<Namespace> decode_object<Namespace>(std::string_view);
template Result<PriorityClass> decode_object<PriorityClass>(std::string_view);
template Result<DeviceClassObject> decode_object<DeviceClassObject>(std::string_view);
template Result<PodGroup> decode_object<PodGroup>(std::string_view);
template Result<Lease> decode_object<Lease>(std::string_view);
template Result<ListPage<Namespace>> decode_list<Namespace>(std::string_view);
template Result<ListPage<PriorityClass>> decode_list<PriorityClass>(std::string_view);
template Result<ListPage<DeviceClassObject>> decode_list<DeviceClassObject>(std::string_view);
template Result<ListPage<PodGroup>> decode_list<PodGroup>(std::string_view);
template Result<ListPage<Lease>> decode_list<Lease>(std::string_view);
template Result<WatchEvent<Namespace>> decode_watch_event<Namespace>(std::string_view);
template Result<WatchEvent<PriorityClass>> decode_watch_event<PriorityClass>(std::string_view);
template Result<WatchEvent<DeviceClassObject>> decode_watch_event<DeviceClassObject>(std::string_view);
template Result<WatchEvent<PodGroup>> decode_watch_event<PodGroup>(std::string_view);
template Result<WatchEvent<Lease>> decode_watch_event<Lease>(std::string_view);

}  // namespace ashlar::kube::json
