#include "cluster/filters/oracle.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

#include "cluster/filters/ashlar_filters.h"
#include "cluster/filters/drawn_cluster.h"
#include "cluster/filters/kube_filters.h"
#include "cluster/filters/manifest.h"
#include "cluster/filters/posting.h"

namespace ashlar::filters {
namespace {

using std::chrono::steady_clock;

constexpr const char* kSchedulerName = "filters-oracle";
constexpr const char* kAgain = "-again";  // ends the name of a copy
constexpr auto kPatience = std::chrono::seconds(60);

Error timed_out(const std::string& what) { return Error{Error::Kind::kTimeout, "no answer in a minute: " + what}; }

/// Without the claims that Ashlar names behind a sentence of kube-scheduler's that names none.
std::string upstream_part(const std::string& words) {
  const std::string sentence = "pod has unbound immediate PersistentVolumeClaims";
  return words.starts_with(sentence + ": \"") ? sentence : words;
}

/// "persistentvolumeclaim "c3-pvc7" not found" without the names.
std::string without_names(const std::string& words) {
  if (words.starts_with("PVC ")) return "PVC was not created for pod (pod is not owner)";
  std::string text;
  bool is_quoted = false;
  for (const char c : words) {
    if (c == '"') is_quoted = !is_quoted;
    if (!is_quoted || c == '"') text += c;
  }
  return text;
}

DrawnPod renamed(DrawnPod pod, const std::string& name) {
  const auto rename = [&](std::string& text) {
    for (std::size_t at = text.find(pod.name); at != std::string::npos; at = text.find(pod.name, at + name.size()))
      text.replace(at, pod.name.size(), name);
  };
  rename(pod.body);
  for (DrawnObject& object : pod.owned) {
    rename(object.name);
    rename(object.body);
  }
  pod.name = name;
  return pod;
}

/// What Ashlar counts more on purpose: a volume that a pod of the node has.
bool is_refused_for_shared(const DrawnCluster& cluster, const DrawnPod& pod, const NodeVerdict& node) {
  if (node.is_allowed || node.refused_by != std::vector<std::string>{"NodeVolumeLimits"}) return false;
  return std::ranges::any_of(pod.disks, [&](const std::string& disk) {
    return std::ranges::any_of(cluster.bound, [&](const DrawnPod& other) {
      return other.node == node.node && std::ranges::find(other.disks, disk) != other.disks.end();
    });
  });
}

class Oracle {
 public:
  Oracle(cluster::ControlPlane& plane, const OracleOptions& options) : plane_(plane), options_(options) {}

  Result<void> start();
  Result<void> compare(std::size_t number);
  OracleReport report;

 private:
  bool wait(const std::function<bool()>& until);
  Result<void> post(DrawnCluster& cluster);
  Result<void> change(DrawnCluster& cluster);
  Result<void> post_waiting(Posting& posting, DrawnCluster& cluster);
  Result<void> judge_all(const DrawnCluster& cluster);
  Result<void> rank_all(const DrawnCluster& cluster);
  void rank(const DrawnCluster& cluster, const DrawnPod& pod);
  Result<void> await_answers(const DrawnCluster& cluster);
  /// One pod, with both answers.
  struct Answers {
    std::vector<std::string> theirs;
    std::string their_words;  ///< where no node passed
    PodVerdict ours;
  };
  Answers answers(const DrawnPod& pod);
  bool are_equal(const DrawnCluster& cluster, const DrawnPod& pod, const Answers& both);
  Result<void> judge(const DrawnCluster& cluster, const DrawnPod& pod);
  Result<Answers> ask_again(const DrawnPod& pod);
  void count(const DrawnPod& pod, const PodVerdict& verdict);
  Result<std::string> of_fresh_list(const DrawnCluster& cluster, const DrawnPod& pod, Answers both);
  Result<void> clean(const DrawnCluster& cluster);
  DrawOptions draw_options() const {
    return {.scheduler_name = kSchedulerName,
            .waiting = options_.pods_of_cluster / 2,
            .has_company = options_.has_company,
            .is_about_preferences = options_.is_about_preferences};
  }

  cluster::ControlPlane& plane_;
  const OracleOptions& options_;
  std::unique_ptr<kube::Api> api_;
  std::unique_ptr<KubeFilters> kube_;
  std::unique_ptr<AshlarFilters> ashlar_;
};

bool Oracle::wait(const std::function<bool()>& until) {
  const auto deadline = steady_clock::now() + kPatience;
  while (!until()) {
    if (steady_clock::now() >= deadline || !kube_->is_running()) return false;
    api_->poll(Millis(2));
  }
  return true;
}

Result<void> Oracle::start() {
  Result<std::unique_ptr<kube::Api>> api = plane_.connect();
  if (!api) return api.error();
  api_ = std::move(api).value();
  if (Result<void> done = post_namespaces(*api_); !done) return done;
  Result<std::unique_ptr<KubeFilters>> kube = KubeFilters::start(plane_, kSchedulerName, options_.is_about_preferences);
  if (!kube) return kube.error();
  kube_ = std::move(kube).value();
  if (Result<void> done = post_drivers(*api_); !done) return done;
  ashlar_ = std::make_unique<AshlarFilters>(*api_, kSchedulerName);
  return wait([&] { return ashlar_->is_synced(); }) ? Result<void>{} : timed_out("the first lists");
}

/// In this order, so that kube-scheduler knows everything else when it tries the first waiting pod: it follows each kind
/// in a stream of its own, of which the beacon's is the last, and pods in another, of which the waiting ones are the
/// last.
Result<void> Oracle::post(DrawnCluster& cluster) {
  Posting posting(*api_);
  posting.create_objects(cluster.storage.objects);
  if (Result<void> done = posting.create_nodes(cluster.nodes); !done) return done;
  posting.create_pods(cluster.bound);
  posting.finish_bound(cluster.bound);
  return post_waiting(posting, cluster);
}

/// In the same order.
Result<void> Oracle::change(DrawnCluster& cluster) {
  DrawnChange change = draw_change(cluster, draw_options());
  Posting posting(*api_);
  cluster.waiting.push_back(cluster.beacon);
  posting.remove_pods(cluster.waiting);
  posting.remove_pods(change.removed);
  posting.remove_objects(change.removed_objects);
  if (posting.refused() > 0) return Error{Error::Kind::kInternal, posting.first_refusal()};
  posting.create_objects(change.storage.objects);
  posting.patch_objects(change.patches);
  posting.patch_objects(change.labels);
  posting.remove_nodes(change.removed_nodes);
  if (Result<void> done = posting.create_nodes(change.new_nodes); !done) return done;
  if (Result<void> done = posting.replace_nodes(change.nodes); !done) return done;
  if (Result<void> done = posting.create_nodes({change.beacon_node}); !done) return done;
  posting.create_pods(change.bound);
  posting.finish_bound(change.bound);
  posting.finish_bound(change.changed_pods);
  cluster = changed(std::move(cluster), change);
  return post_waiting(posting, cluster);
}

Result<void> Oracle::post_waiting(Posting& posting, DrawnCluster& cluster) {
  const std::size_t refused = posting.refused();
  posting.create_objects(cluster.beacon_storage.objects);
  if (posting.refused() > refused)
    return Error{Error::Kind::kInternal, "the server refuses what the beacon needs: " + posting.first_refusal()};
  std::vector<DrawnPod> beacon(1, cluster.beacon);
  posting.create_pods(beacon);
  if (beacon.empty()) return Error{Error::Kind::kInternal, "the server refuses the beacon: " + posting.first_refusal()};
  const std::string& node = cluster.nodes.back().name;
  const bool is_seen = wait([&] {
    const auto passed = kube_->passed(cluster.beacon.ns, cluster.beacon.name);
    return passed && std::find(passed->begin(), passed->end(), node) != passed->end();
  });
  if (!is_seen) return timed_out("kube-scheduler on pod " + cluster.beacon.name);
  if (!options_.is_about_preferences) posting.create_pods(cluster.waiting);
  report.refused_by_server += posting.refused();
  if (posting.refused() > 0 && report.first_refusal.empty()) report.first_refusal = posting.first_refusal();
  return {};
}

Result<void> Oracle::await_answers(const DrawnCluster& cluster) {
  const auto is_answered = [&](const DrawnPod& pod) {
    return kube_->passed(pod.ns, pod.name) || !ashlar_->refusal(pod.ns, pod.name).empty();
  };
  const auto is_known = [&](const DrawnPod& pod) {
    return ashlar_->knows_pod(pod.ns, pod.name) &&
           std::ranges::all_of(pod.owned, [&](const auto& claim) { return ashlar_->knows_claim(pod.ns, claim.name); });
  };
  const bool are_known = wait([&] {
    return ashlar_->knows_node(cluster.nodes.back().name) &&
           ashlar_->knows_volumes(cluster.beacon.name, cluster.nodes.back().name) &&
           ashlar_->knows_claim(cluster.beacon.ns, cluster.beacon.name) &&
           std::all_of(cluster.waiting.begin(), cluster.waiting.end(), is_known);
  });
  if (!are_known) return timed_out("the watches");
  const bool are_answered =
      wait([&] { return std::all_of(cluster.waiting.begin(), cluster.waiting.end(), is_answered); });
  if (!kube_->trouble().empty()) return Error{Error::Kind::kInvalid, kube_->trouble()};
  return are_answered ? Result<void>{} : timed_out("kube-scheduler on the waiting pods");
}

void Oracle::count(const DrawnPod& pod, const PodVerdict& verdict) {
  for (const std::string& feature : pod.features) ++report.features[feature];
  if (verdict.is_held_by_volumes) ++report.held[without_names(upstream_part(verdict.words))];
  for (const NodeVerdict& node : verdict.nodes) {
    ++report.verdicts;
    report.allowed += node.is_allowed ? 1 : 0;
    if (node.refused_by.size() != 1) continue;
    ++report.decided[node.refused_by.front()];
    if (node.refused_by.front() == "NodeResourcesFit" && node.short_of.size() == 1)
      ++report.short_of[node.short_of.front()];
  }
  report.placeable += verdict.allowed().empty() ? 0 : 1;
}

/// Whether what was followed for long and what is listed now differ: then the fault depends on what came before.
Result<std::string> Oracle::of_fresh_list(const DrawnCluster& cluster, const DrawnPod& pod, Answers both) {
  AshlarFilters fresh(*api_, kSchedulerName);
  if (!wait([&] { return fresh.is_synced(); })) return timed_out("a fresh list");
  both.ours = fresh.judge(pod.ns, pod.name);
  return std::string(are_equal(cluster, pod, both)
                         ? "a fresh list gives the right answer: it depends on what came before"
                         : "the same from a fresh list");
}

Oracle::Answers Oracle::answers(const DrawnPod& pod) {
  const std::optional<std::vector<std::string>> passed = kube_->passed(pod.ns, pod.name);
  return {.theirs = passed.value_or(std::vector<std::string>{}),
          .their_words = passed ? std::string() : ashlar_->refusal(pod.ns, pod.name),
          .ours = ashlar_->judge(pod.ns, pod.name)};
}

/// Of a pod that its volumes hold back, the words must be the same too, unless kube-scheduler asks about them node by node
/// and other filters refuse all nodes before that.
bool Oracle::are_equal(const DrawnCluster& cluster, const DrawnPod& pod, const Answers& both) {
  const PodVerdict& ours = both.ours;
  if (ours.is_held_by_volumes)
    return both.theirs.empty() &&
           (ours.words.starts_with("node(s)") || both.their_words.find(upstream_part(ours.words)) != std::string::npos);
  if (ours.kind != PodVerdict::Kind::kJudged || !ours.words.empty()) return false;
  std::vector<std::string> allowed = ours.allowed();
  for (const NodeVerdict& node : ours.nodes)
    if (std::ranges::binary_search(both.theirs, node.node) && is_refused_for_shared(cluster, pod, node)) {
      ++report.shared_counted_more;
      allowed.push_back(node.node);
    }
  std::ranges::sort(allowed);
  return allowed == both.theirs;
}

/// kube-scheduler follows many streams: what it said first may rest on an old claim. A copy of the pod is posted, and
/// both are asked about that.
Result<Oracle::Answers> Oracle::ask_again(const DrawnPod& pod) {
  ++report.asked_again;
  Posting posting(*api_);
  posting.remove_pods({pod});
  std::vector<DrawnPod> copies(1, renamed(pod, pod.name + kAgain));
  posting.create_pods(copies);
  if (copies.empty()) return Error{Error::Kind::kInternal, "a copy is refused: " + posting.first_refusal()};
  const DrawnPod& copy = copies.front();
  const bool is_answered = wait([&] {
    return ashlar_->knows_pod(copy.ns, copy.name) &&
           (kube_->passed(copy.ns, copy.name) || !ashlar_->refusal(copy.ns, copy.name).empty());
  });
  if (!is_answered) return timed_out("kube-scheduler on pod " + copy.name);
  return answers(copy);
}

Result<void> Oracle::judge(const DrawnCluster& cluster, const DrawnPod& pod) {
  Answers both = answers(pod);
  ++report.pods;
  if (both.ours.kind == PodVerdict::Kind::kNotYet) {
    ++report.not_yet[both.ours.words];
    return {};
  }
  count(pod, both.ours);
  if (!are_equal(cluster, pod, both)) {
    Result<Answers> again = ask_again(pod);
    if (!again) return again.error();
    both = *std::move(again);
  }
  const bool is_equal = are_equal(cluster, pod, both);
  ++(is_equal ? report.equal : report.different);
  if (is_equal || report.manifests.size() >= options_.manifests_max) return {};
  Result<std::string> fresh = of_fresh_list(cluster, renamed(pod, pod.name + kAgain), both);
  if (!fresh) return fresh.error();
  report.manifests.push_back(difference_text({cluster, pod, both.ours, both.theirs, both.their_words, *fresh}));
  return {};
}

/// Objects that are terminating go once nothing keeps them.
Result<void> Oracle::clean(const DrawnCluster& cluster) {
  kube_->forget();
  std::vector<DrawnObject> kept;
  for (const DrawnObject& object : cluster.storage.objects)
    if (object.is_terminating) kept.push_back(object);
  Posting(*api_).remove_objects(kept);
  Posting(*api_).patch_objects(first_namespace_labels());
  return remove_everything(*api_);
}

/// One after the other, since each is assumed to be on its node for a moment.
Result<void> Oracle::rank_all(const DrawnCluster& cluster) {
  const auto is_followed = [&] {
    return ashlar_->knows_node(cluster.nodes.back().name) && ashlar_->knows_pod(cluster.beacon.ns, cluster.beacon.name);
  };
  if (!wait(is_followed)) return timed_out("the watches");
  Posting posting(*api_);
  posting.remove_pods({cluster.beacon});
  for (const DrawnPod& pod : cluster.waiting) {
    std::vector<DrawnPod> one(1, pod);
    posting.create_pods(one);
    if (one.empty()) {
      ++report.refused_by_server;
      continue;
    }
    const bool is_answered = wait([&] {
      return ashlar_->knows_pod(pod.ns, pod.name) &&
             (kube_->chosen(pod.ns, pod.name) || !ashlar_->refusal(pod.ns, pod.name).empty());
    });
    if (!kube_->trouble().empty()) return Error{Error::Kind::kInvalid, kube_->trouble()};
    if (!is_answered) return timed_out("kube-scheduler on pod " + pod.name);
    rank(cluster, pod);
    posting.remove_pods(one);
  }
  return {};
}

void Oracle::rank(const DrawnCluster& cluster, const DrawnPod& pod) {
  const Answers both = answers(pod);
  ++report.pods;
  count(pod, both.ours);
  std::string words;
  if (!are_equal(cluster, pod, both)) {
    words = "they allow unlike nodes";
  } else if (const std::optional<std::string> chosen = kube_->chosen(pod.ns, pod.name); chosen) {
    const std::map<std::string, Points> points = ashlar_->preferences(pod.ns, pod.name);
    Points most = 0, least = UINT16_MAX;
    for (const auto& [node, value] : points) most = std::max(most, value), least = std::min(least, value);
    if (!points.empty()) ++(most == least ? report.ranked_alike : report.ranked);
    if (!points.empty() && points.at(*chosen) < most) {
      words = "kube-scheduler chooses " + *chosen + "; points of Ashlar:";
      for (const auto& [node, value] : points) words += " " + node + " " + std::to_string(value);
    }
  }
  ++(words.empty() ? report.equal : report.different);
  if (!words.empty() && report.manifests.size() < options_.manifests_max)
    report.manifests.push_back(difference_text({cluster, pod, both.ours, both.theirs, both.their_words, words}));
}

Result<void> Oracle::judge_all(const DrawnCluster& cluster) {
  if (options_.is_about_preferences) return rank_all(cluster);
  if (Result<void> done = await_answers(cluster); !done) return done;
  for (const DrawnPod& pod : cluster.waiting)
    if (Result<void> done = judge(cluster, pod); !done) return done;
  return {};
}

Result<void> Oracle::compare(std::size_t number) {
  DrawnCluster cluster = draw_cluster(options_.seed, number, draw_options());
  if (Result<void> done = post(cluster); !done) return done;
  if (Result<void> done = judge_all(cluster); !done) return done;
  if (Result<void> done = change(cluster); !done) return done;
  if (Result<void> done = judge_all(cluster); !done) return done;
  ++report.clusters;
  return clean(cluster);
}

}  // namespace

std::string OracleReport::text() const {
  std::string text;
  const auto line = [&](const std::string& what, std::size_t value) {
    char number[32];
    std::snprintf(number, sizeof number, "%10zu", value);
    text += "  " + what + std::string(what.size() < 62 ? 62 - what.size() : 1, ' ') + number + "\n";
  };
  const auto list = [&](const std::string& what, const std::map<std::string, std::size_t>& counts) {
    if (!counts.empty()) text += "  " + what + "\n";
    for (const auto& [name, value] : counts) line("  " + name, value);
  };
  line("clusters", clusters);
  line("pods", pods);
  line("pods that some node takes", placeable);
  line("verdicts (a pod on a node)", verdicts);
  line("  allowed", allowed);
  list("verdicts that one filter alone decides:", decided);
  list("of those of NodeResourcesFit, short of one resource alone:", short_of);
  list("pods that no node takes for their volumes' sake, by kube-scheduler's words:", held);
  list("pods that have:", features);
  list("pods that are not placed yet, by field:", not_yet);
  line("verdicts in which a shared volume is counted once more, on purpose", shared_counted_more);
  line("pods that kube-scheduler was asked about again", asked_again);
  line("pods whose preferences were compared", ranked);
  line("pods whose preferences tell no nodes apart", ranked_alike);
  line("drawn objects that the server refuses", refused_by_server);
  line("equal", equal);
  line("different", different);
  return text;
}

cluster::ControlPlaneOptions oracle_control_plane() {
  return {.pod_groups = kube::PodGroupVersion::kNone,
          .feature_gates = {"UserNamespacesHostNetworkSupport=true", "VolumeBindMountOptions=true",
                            "TaintTolerationComparisonOperators=true"},
          // nodes are as drawn from the first moment on, overhead needs no RuntimeClass, and claims that are in use go
          .api_server_flags = {"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,RuntimeClass,"
                               "StorageObjectInUseProtection"}};
}

Result<OracleReport> compare_filters(cluster::ControlPlane& plane, const OracleOptions& options,
                                     const std::function<void(const OracleReport&)>& on_cluster) {
  Oracle oracle(plane, options);
  if (Result<void> done = oracle.start(); !done) return done.error();
  const auto began = steady_clock::now();
  for (std::size_t number = options.only.value_or(0); oracle.report.pods < options.pods; ++number) {
    if (Result<void> done = oracle.compare(number); !done)
      return Error{done.error().kind, "cluster " + std::to_string(number) + ": " + done.error().message};
    oracle.report.seconds = std::chrono::duration<double>(steady_clock::now() - began).count();
    if (on_cluster) on_cluster(oracle.report);
    if (options.only) break;
  }
  return std::move(oracle.report);
}

}  // namespace ashlar::filters
