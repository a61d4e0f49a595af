// reflector_parts: what a reflector remembers of each object and of the list under way, its limits and its requests.
// Private to reflector.cpp.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/quantity.h"
#include "base/result.h"
#include "http/client.h"
#include "kubeclient/bind_outcome.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/objects.h"
#include "kubeclient/selecting_objects.h"
#include "kubeclient/volumes/volume_objects.h"

namespace ashlar::kube {

// A watch that ends sooner than this is counted as a failure, so that a server which closes at once is not requested in
// a hot loop.
inline constexpr Millis kWatchShortLife{1'000};
// After this many failed watches in a row the remembered version is no longer trusted.
inline constexpr int kWatchFailuresBeforeList = 5;
// A server that requests a longer pause is tried all the same, so that a misconfigured proxy cannot block a scheduler
// for long.
inline constexpr Millis kRetryAfterMax{60'000};

inline constexpr const char* kProtobufWatchType = "application/vnd.kubernetes.protobuf;stream=watch";

/// Frames of another encoding would be cut at random, and read as an event of gigabytes.
inline Result<void> check_encoding(const http::Response& answer, Encoding asked) {
  const bool is_protobuf = answer.content_type.find("protobuf") != std::string::npos;
  if (answer.status >= 300 || answer.content_type.empty() || is_protobuf == (asked == Encoding::kProtobuf)) return {};
  return invalid("the watch is answered with " + bounded_words(answer.content_type, 80) + " instead of " +
                 (is_protobuf ? kJsonType : kProtobufWatchType) +
                 "; a proxy before the API server may change requests");
}

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
template <>
inline constexpr const char* kDefaultPath<DeviceClassObject> = "/apis/resource.k8s.io/v1/deviceclasses";
template <>
inline constexpr const char* kDefaultPath<PersistentVolumeClaim> = "/api/v1/persistentvolumeclaims";
template <>
inline constexpr const char* kDefaultPath<PersistentVolume> = "/api/v1/persistentvolumes";
template <>
inline constexpr const char* kDefaultPath<StorageClass> = "/apis/storage.k8s.io/v1/storageclasses";
template <>
inline constexpr const char* kDefaultPath<CsiNode> = "/apis/storage.k8s.io/v1/csinodes";
template <>
inline constexpr const char* kDefaultPath<CsiDriver> = "/apis/storage.k8s.io/v1/csidrivers";
template <>
inline constexpr const char* kDefaultPath<CsiStorageCapacity> = "/apis/storage.k8s.io/v1/csistoragecapacities";
template <>
inline constexpr const char* kDefaultPath<VolumeAttachment> = "/apis/storage.k8s.io/v1/volumeattachments";
template <>
inline constexpr const char* kDefaultPath<Service> = "/api/v1/services";
template <>
inline constexpr const char* kDefaultPath<ReplicationController> = "/api/v1/replicationcontrollers";
template <>
inline constexpr const char* kDefaultPath<ReplicaSet> = "/apis/apps/v1/replicasets";
template <>
inline constexpr const char* kDefaultPath<StatefulSet> = "/apis/apps/v1/statefulsets";

struct Key {
  PooledString ns, name;
  friend bool operator==(const Key&, const Key&) = default;
  friend bool operator<(const Key& a, const Key& b) { return a.ns == b.ns ? a.name < b.name : a.ns < b.ns; }
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

/// The pages of a list so far: whether it ends some day.
class PagesSeen {
 public:
  /// After a page with this token, which is not empty. An error if the next page should not be asked for.
  Result<void> note(const std::string& token, bool has_nothing) {
    without_objects_ = has_nothing ? without_objects_ + 1 : 0;
    if (!tokens_.insert(token).second)
      return invalid("the server's list does not end: the same \"continue\" token twice");
    if (without_objects_ > kWithoutObjectsMax)
      return invalid("the server's list does not end: more than " + std::to_string(kWithoutObjectsMax) +
                     " pages without an object");
    return {};
  }

 private:
  /// One after another. A selector may exclude all objects of a page; at 2,000 a page this is more than a cluster has.
  static constexpr int kWithoutObjectsMax = 100;
  boost::unordered_flat_set<std::string> tokens_;
  int without_objects_ = 0;
};

}  // namespace ashlar::kube
