#include "kubeclient/decode/json.h"

#include <algorithm>

#include "kubeclient/pod_builder.h"

namespace ashlar::kube::json {
namespace {

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

#define ASHLAR_INSTANTIATE(T)                                    \
  template Result<T> decode_object<T>(std::string_view);         \
  template Result<ListPage<T>> decode_list<T>(std::string_view); \
  template Result<WatchEvent<T>> decode_watch_event<T>(std::string_view);
ASHLAR_INSTANTIATE(Namespace)
ASHLAR_INSTANTIATE(PriorityClass)
ASHLAR_INSTANTIATE(DeviceClassObject)
ASHLAR_INSTANTIATE(QueueObject)
ASHLAR_INSTANTIATE(PodGroup)
ASHLAR_INSTANTIATE(Lease)
#undef ASHLAR_INSTANTIATE

}  // namespace ashlar::kube::json
