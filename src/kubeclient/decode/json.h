// json: the JSON half of decode.h: all kinds but pods and nodes. Each function reads one object, list or event from a
// value; a semantic error inside one object (a malformed quantity or time) is noted in `problem` and reading continues,
// so that the rest of a list stays readable. Private to the folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kubeclient/decode/decode.h"
#include "kubeclient/decode/json_reader.h"

namespace ashlar::kube::json {

/// metadata of any object, in the form all decoders need.
struct Meta {
  PooledString ns, name, uid;
  std::string resource_version;
  Labels labels, annotations;
  std::int64_t generation = 0;
  Millis created, deletion_requested;
  bool initial_events_end = false;
  std::vector<std::string> unknown;  ///< members that this release does not know: "ObjectMeta.newField"
};
void read_meta(Value value, Meta& meta, std::string& problem);

/// Notes the first problem.
void note(std::string& problem, std::string_view where, const Error& error);

// One object each; `problem` stays empty if it is valid.
void read_object(Value value, Namespace& ns, std::string& problem);
void read_object(Value value, PriorityClass& priority_class, std::string& problem);
void read_object(Value value, DeviceClassObject& device_class, std::string& problem);
void read_object(Value value, QueueObject& queue, std::string& problem);
void read_object(Value value, PodGroup& group, std::string& problem);
void read_object(Value value, Lease& lease, std::string& problem);

template <class T>
Result<T> decode_object(std::string_view body);
template <class T>
Result<ListPage<T>> decode_list(std::string_view body);
template <class T>
Result<WatchEvent<T>> decode_watch_event(std::string_view line);
Result<StatusText> decode_status(std::string_view body);

}  // namespace ashlar::kube::json
