// reflector_parts: what a reflector remembers of each object and of the list under way, its limits and its requests.
// Private to reflector.cpp.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/quantity.h"
#include "base/result.h"
#include "http/client.h"
#include "http/url.h"
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
inline constexpr const char* kDefaultPath<QueueObject> = "/apis/scheduling.ashlar.dev/v1alpha1/queues";
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

/// The pages of a list: what the next one asks for, and whether the list ends some day. After a page that is too long
/// fewer objects are asked for, and after short ones step by step as many as before.
class Paging {
 public:
  /// `items_max` 0: all in one answer, of any length.
  Paging(std::size_t items_max, std::size_t bytes_max, bool from_watch_cache)
      : items_max_(items_max), bytes_max_(bytes_max), from_watch_cache_(from_watch_cache), items_(items_max) {}
  void restart() { *this = Paging(items_max_, bytes_max_, from_watch_cache_); }

  /// Of the next page, as it stands in the query.
  std::string parameters() const {
    std::string text = from_watch_cache_ ? "resourceVersion=0" : "limit=0";
    if (items_ > 0) text = "limit=" + std::to_string(items_);
    return token_.empty() ? text : text + "&continue=" + http::percent_encode(token_);
  }
  /// Of a page; 0: any number.
  std::size_t bytes_max() const { return items_ > 0 ? bytes_max_ : 0; }

  /// The page is too long. False if it cannot be shorter; else it is to be asked for again.
  bool note_too_long() {
    if (items_ <= 1) return false;
    items_ = std::max<std::size_t>(1, items_ / kFewer);
    return true;
  }
  /// A page was read, and the next one has this token, which is not empty. An error if it should not be asked for.
  Result<void> go_on(const std::string& token, std::size_t bytes, bool has_nothing) {
    if (bytes <= bytes_max_ / kSpare) items_ = std::min(items_max_, items_ * 2);
    token_ = token;
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
  static constexpr std::size_t kSpare = 4, kFewer = 8;
  std::size_t items_max_, bytes_max_;
  bool from_watch_cache_;
  std::size_t items_;
  std::string token_;
  boost::unordered_flat_set<std::string> tokens_;
  int without_objects_ = 0;
};

}  // namespace ashlar::kube
