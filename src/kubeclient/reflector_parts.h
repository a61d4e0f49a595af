// reflector_parts: what a reflector remembers of each object, and its requests. Private to reflector.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kubeclient/objects.h"

namespace ashlar::kube {

inline constexpr const char* kProtobufWatchType = "application/vnd.kubernetes.protobuf;stream=watch";

template <class T>
inline constexpr const char* kDefaultPath = "";
template <>
inline constexpr const char* kDefaultPath<Pod> = "/api/v1/pods";
template <>
inline constexpr const char* kDefaultPath<Node> = "/api/v1/nodes";
template <>
inline constexpr const char* kDefaultPath<Namespace> = "/api/v1/namespaces";
template <>
inline constexpr const char* kDefaultPath<PriorityClass> = "/apis/scheduling.k8s.io/v1/priorityclasses";

struct Key {
  PooledString ns, name;
  friend bool operator==(const Key&, const Key&) = default;
};
struct KeyHash {
  std::size_t operator()(const Key& key) const { return key.ns.hash() * 31 + key.name.hash(); }
};
/// What is remembered of an object that was reported.
struct Known {
  PooledString uid;
  std::uint64_t version = 0;
  std::uint32_t list = 0;  ///< number of the last list that contained it
  bool is_unread = false;  ///< a part of it could not be read
};

}  // namespace ashlar::kube
