// api_json: objects of the API written as JSON, as the protobuf that a server sends of them. The messages come from the
// descriptions that protoc prints, so that whatever the API has can be written.
#pragma once

#include <string>
#include <string_view>

#include "kubeclient/decode/decode.h"
#include "kubeclient/selecting_objects.h"

namespace ashlar::kube {

/// In the envelope; `kind` as in core/v1 or apps/v1: "Pod", "NodeList". A member that the kind does not have fails the test.
std::string protobuf_of(const std::string& kind, std::string_view json);
/// One event of a watch, {"type": ..., "object": ...}, without its length; an ERROR has a Status.
std::string protobuf_event(const std::string& kind, std::string_view json);
/// The same with its length before it, as streams have it.
std::string protobuf_frame(const std::string& kind, std::string_view json);

template <class T>
inline constexpr const char* kKindOf = nullptr;
template <>
inline constexpr const char* kKindOf<Pod> = "Pod";
template <>
inline constexpr const char* kKindOf<Node> = "Node";
template <>
inline constexpr const char* kKindOf<Service> = "Service";
template <>
inline constexpr const char* kKindOf<ReplicationController> = "ReplicationController";
template <>
inline constexpr const char* kKindOf<ReplicaSet> = "ReplicaSet";
template <>
inline constexpr const char* kKindOf<StatefulSet> = "StatefulSet";

/// What the decoder of the kind reads of an object that is written as JSON.
template <class T>
Result<T> object_of_json(std::string_view json) {
  if constexpr (kKindOf<T> != nullptr)
    return decode_object<T>(protobuf_of(kKindOf<T>, json));
  else
    return decode_object<T>(json);
}
template <class T>
Result<ListPage<T>> list_of_json(std::string_view json) {
  if constexpr (kKindOf<T> != nullptr)
    return decode_list<T>(protobuf_of(std::string(kKindOf<T>) + "List", json));
  else
    return decode_list<T>(json);
}
template <class T>
Result<WatchEvent<T>> event_of_json(std::string_view json) {
  if constexpr (kKindOf<T> != nullptr)
    return decode_watch_event<T>(protobuf_event(kKindOf<T>, json));
  else
    return decode_watch_event<T>(json);
}

}  // namespace ashlar::kube
