// What is followed of the cluster, and is it all there? Watches: the reflectors of nodes, namespaces, priority classes, PodGroups and then pods,
// and what they know while nobody leads. Nodes, namespaces and pods are required: without them nothing is decided. Priority classes and PodGroups are
// optional: where they cannot be listed (no such API, no right to) that is said once, asked again ever less often, and stops nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kubeclient/pod_group_api.h"
#include "kubeclient/reflector.h"
#include "live/lead/log.h"
#include "live/lead/standby_cache.h"
#include "live/read/metrics.h"

namespace ashlar::kube {

class LeaderTerm;

struct WatchesOptions {
  Encoding encoding = Encoding::kProtobuf;             ///< of pods and nodes
  Millis discovery_min{1'000}, discovery_max{30'000};  ///< before PodGroup's version is asked for again, doubling
  Millis silence_max{240'000};                         ///< a watch without a byte for so long is taken for dead
  OnLog log;
};

class Watches {
 public:
  Watches(Api& api, WatchesOptions options);
  ~Watches();
  Watches(const Watches&) = delete;
  Watches& operator=(const Watches&) = delete;

  /// Lists and follows everything. Nothing happens where that is being done already.
  void start();
  /// Forgets all that is known, and asks for nothing more.
  void stop();
  bool is_running() const { return is_running_; }
  /// Starts what waits for others. To be called after each poll.
  void advance();
  /// Hands over all that is known and from then on every change; pods are listed again, since what an old leader bound last may not have come by
  /// watch yet. Null: keeps what comes for the next one.
  void feed(LeaderTerm* leader_term);

  /// The required kinds are known whole, and the optional ones or why they are not.
  bool is_synced() const;
  std::size_t known_nodes() const;
  std::size_t known_pods() const;
  void add_facts(std::map<std::string_view, ProcessFacts::Watch>& facts) const;

 private:
  template <class T>
  struct Kind {
    std::string_view resource;  ///< "pods"
    std::string_view object;    ///< "pod"
    std::unique_ptr<Reflector<T>> reflector;
    StandbyCache<T> cache;
    std::string said;          ///< the last trouble with its list that was logged; empty since it could be listed
    bool has_settled = false;  ///< it was listed, or it is known that it cannot be
    bool is_synced() const { return reflector && reflector->is_synced(); }
  };
  template <class T>
  void follow(Kind<T>& kind, ReflectorOptions options);
  template <class T>
  void forget(Kind<T>& kind);
  template <class T>
  void take(Kind<T>& kind, Change<T>&& change);
  template <class T>
  void note_trouble(Kind<T>& kind, const Error& error);
  template <class T>
  void note_listed(Kind<T>& kind);
  template <class T>
  void add_fact(std::map<std::string_view, ProcessFacts::Watch>& facts, const Kind<T>& kind) const;
  void log(LogLevel level, const LogLine& line) const {
    if (options_.log) options_.log(level, line);
  }

  // ---- which PodGroups are there? ------------------------------------------------------------------------------------------------------
  void find_pod_groups();
  void take_version(Result<PodGroupVersion> found);
  /// Unless it is asked for already.
  void find_pod_groups_later();
  /// Why PodGroups are not known; empty: they are, or their first list is under way.
  std::string pod_groups_problem() const;
  void tell_pod_groups();
  void tell_priority_classes() const;

  Api& api_;
  WatchesOptions options_;
  std::shared_ptr<RetryPace> pace_ = std::make_shared<RetryPace>();
  LeaderTerm* leader_term_ = nullptr;
  Kind<Node> nodes_{.resource = "nodes", .object = "node"};
  Kind<Namespace> namespaces_{.resource = "namespaces", .object = "namespace"};
  Kind<PriorityClass> classes_{.resource = "priorityclasses", .object = "priorityclass"};
  Kind<PodGroup> groups_{.resource = "podgroups", .object = "podgroup"};
  Kind<Pod> pods_{.resource = "pods", .object = "pod"};
  PodGroupVersion version_ = PodGroupVersion::kNone;
  std::string version_problem_;  ///< why no version is known
  Millis discovery_delay_;
  bool is_running_ = false, are_pods_started_ = false, is_finding_ = false;
  std::shared_ptr<char> life_ = std::make_shared<char>();  ///< answers that come after the end find it gone
};

}  // namespace ashlar::kube
