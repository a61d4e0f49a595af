// Reflector<T>: lists one resource page by page, then follows it by watch with bookmarks, and reports each change
// exactly once, in Api::poll(). It survives what real servers do: streams that end or fall silent, 410, duplicates and
// stale versions, objects that cannot be read whole, frames that are no event, errors. Memory: about 60 bytes for each
// known object.
//
//   kube::Reflector<kube::Pod> pods(api, {.field_selector = "status.phase!=Succeeded,status.phase!=Failed"},
//                                   [&](kube::Change<kube::Pod>&& change) { queue.push_back(std::move(change)); });
//   pods.start();
//   while (!pods.is_synced()) api.poll(100_ms);
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/quantity.h"
#include "kubeclient/api.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/objects.h"
#include "kubeclient/selecting_objects.h"
#include "kubeclient/volumes/volume_objects.h"

namespace ashlar::kube {

template <class T>
struct Change {
  enum class Kind : unsigned char {
    kAdded,
    kModified,
    kDeleted,  ///< `object` is the last state, or only namespace, name and uid where the deletion was found by a relist
    kSynced,   ///< the (re)list is complete: what was reported so far is the state of the server; `object` is empty
  };
  Kind kind = Kind::kSynced;
  T object;
};

/// Keeps several reflectors from sending requests to a server in trouble all at once: a new attempt of any of them
/// follows the last one after an interval. With the lease's and the writes' own limits five kinds stay within ten
/// requests a second.
class RetryPace {
 public:
  explicit RetryPace(Millis interval = Millis(250)) : interval_(interval) {}
  /// 0: the caller may send now (monotonic); else how long it has to wait before it calls again.
  Millis ask(Millis now) {
    const Millis wait = next_ - now;
    if (wait > Millis(0)) return wait;
    next_ = now + interval_;
    return Millis(0);
  }

 private:
  Millis interval_, next_;
};

struct ReflectorOptions {
  /// not metadata.namespace=X: servers (1.37.1) cut such lists after the first page; use `path`
  std::string field_selector, label_selector;
  /// default: the resource's cluster-wide path; needed for PodGroup (see pod_group_api.h)
  std::string path;
  /// list page; 0: all in one answer (as quick, but the body is held whole: +100 MB at 20,000 pods)
  std::size_t page_items = 2000;
  /// a longer page is given up and asked for again with fewer objects: some are a thousand times as long as others
  std::size_t page_bytes_max = 32u << 20;
  /// first list may be served from the server's cache (resourceVersion=0) if page_items is 0
  bool from_watch_cache = true;
  Millis list_timeout{60'000};
  /// the server ends the watch in this range; then it is reopened
  Millis watch_timeout_min{300'000}, watch_timeout_max{600'000};
  /// a watch without a byte for so long is taken for dead; servers send bookmarks each minute, but none while
  Millis silence_max{240'000};
  ///< nothing changes at all (1.37.1); dead connections are found by TCP within a minute
  /// a scheduler is one client: short, so that it recovers soon after its server
  Millis backoff_min{100}, backoff_max{3'000};
  /// back-off if the server has no such kind (404, 406) or reading it is not permitted (403)
  Millis refused_max{30'000};
  std::shared_ptr<RetryPace> pace;             ///< shared with other reflectors; null: none
  std::function<void(const Error&)> on_error;  ///< errors survived, for the log; never called for orderly ends
};

struct ReflectorCounters {
  std::uint64_t lists = 0, watches = 0, events = 0, bookmarks = 0, stale_dropped = 0, bad_events = 0, expired = 0,
                errors = 0;
  std::uint64_t unreadable = 0;  ///< objects whose last version could not be read whole
};

/// Reactions: a stream that ends or falls silent: a watch from the last version; 410 or a frame that is no event
/// (named): a new list, of which the difference is reported, deletions included; an object that cannot be read whole: a
/// report with its `problem`, once for each version, and no new list; an error, or a list without an end: a pause with
/// jitter.
template <class T>
class Reflector {
 public:
  using OnChange = std::function<void(Change<T>&&)>;
  Reflector(Api& api, ReflectorOptions options, OnChange on_change);
  ~Reflector();  ///< stops; must not run inside its own callbacks
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  void start();
  /// Drops list, watch and timers; start() continues from a fresh list and reports the difference.
  void stop();
  /// Lists again and reports the difference, for a leader that must not trust an old cache; is_synced() is false
  /// meanwhile.
  void relist();

  bool is_synced() const;
  /// Why the list under way, or the one waited for, last failed; empty if the last list was complete.
  const std::string& list_trouble() const;
  /// The server did not know the path when it was listed last (404), or not in this encoding (406).
  bool is_path_gone() const;
  /// Lists the same objects from another path and continues there: another version of the API.
  void list_from(const std::string& path);
  /// Last resourceVersion seen, bookmarks included.
  const std::string& resource_version() const;
  /// When the last byte or answer arrived (Api::monotonic()).
  Millis last_contact() const;
  std::size_t known_objects() const;
  const ReflectorCounters& counters() const;

 private:
  struct Follower;
  std::shared_ptr<Follower> follower_;
};

/// `X(T)` for each kind that is followed.
// clang-format off
#define ASHLAR_WATCHED_KINDS(X)                                                                                   \
  X(Pod) X(Node) X(Namespace) X(PriorityClass) X(DeviceClassObject) X(QueueObject) X(PodGroup)                    \
  X(PersistentVolumeClaim) X(PersistentVolume) X(StorageClass) X(CsiNode) X(CsiDriver) X(CsiStorageCapacity)      \
  X(VolumeAttachment) X(Service) X(ReplicationController) X(ReplicaSet) X(StatefulSet)
// clang-format on
#define ASHLAR_DECLARE(T) extern template class Reflector<T>;
ASHLAR_WATCHED_KINDS(ASHLAR_DECLARE)
#undef ASHLAR_DECLARE

}  // namespace ashlar::kube
