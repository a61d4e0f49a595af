// Watches: the kinds of objects that are followed, a row each, and their cache while no term leads. Nodes, namespaces
// and pods are required: nothing is decided without them. The others (priority classes, DeviceClasses, PodGroups, the
// objects about volumes, Services and controllers of pods) are optional: if they cannot be listed (no such API, no
// permission), that is logged once, retried with increasing delays, and stops nothing else.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kubeclient/pod_group_api.h"
#include "live/watch/watched_kind.h"

namespace ashlar::kube {

struct WatchesOptions {
  Millis discovery_min{1'000}, discovery_max{30'000};  ///< before PodGroup's version is requested again, doubling
  Millis silence_max{240'000};                         ///< a watch without a byte for this long is considered dead
  bool follows_queues = false;                         ///< Queue objects
  bool follows_selecting = false;                      ///< Services and controllers of pods: something depends on them
  OnLog log;
};

class Watches {
 public:
  Watches(Api& api, WatchesOptions options);
  ~Watches();
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  /// Lists and follows everything. No effect if already running.
  void start();
  /// Forgets everything and stops all requests.
  void stop();
  bool is_running() const { return is_running_; }
  /// Starts the kinds that wait for others. To be called after each poll.
  void advance();
  /// Hands over all that is known and from then on every change; pods are listed again, since the last bindings of an
  /// old leader may not have arrived by watch yet. Empty: keeps changes for the next term.
  void feed(OnWatched to_leader);

  /// True if the required kinds are known completely, and the optional ones or why they are not.
  bool is_synced() const;
  /// Of the first required kind that cannot be listed; empty: none is known to be such.
  std::string trouble() const;
  std::size_t known_nodes() const { return nodes_->known_objects(); }
  std::size_t known_pods() const { return pods_->known_objects(); }
  void add_facts(std::map<std::string_view, ProcessFacts::Watch>& facts) const;

 private:
  template <class T>
  WatchedKind* add(WatchedKindRow row);
  template <class T>
  void add_of_volumes(std::string_view resource, std::string_view object);
  /// Claims, volumes and what tells where they can be used.
  void add_volumes();
  /// Services and controllers of pods.
  void add_selecting();

  // ---- which PodGroups exist ----------------------------------------------------------------------------------------
  void find_pod_groups();
  void take_version(Result<PodGroupVersion> found);
  /// Unless a request is already under way.
  void find_pod_groups_later();

  Api& api_;
  WatchesOptions options_;
  std::shared_ptr<RetryPace> pace_ = std::make_shared<RetryPace>();
  WatchedKind::Shared shared_;
  std::vector<std::unique_ptr<WatchedKind>> kinds_;
  WatchedKind *nodes_ = nullptr, *pods_ = nullptr, *groups_ = nullptr;
  PodGroupVersion version_ = PodGroupVersion::kNone;
  std::string version_problem_;  ///< why no version is known
  Millis discovery_delay_;
  bool is_running_ = false, is_finding_ = false;
  std::shared_ptr<char> life_ = std::make_shared<char>();  ///< answers that arrive after the end find it gone
};

}  // namespace ashlar::kube
