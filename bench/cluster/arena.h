// The ground on which schedulers meet: one real control plane with 5,000 nodes, and what a run needs: a fresh namespace
// with pods, a scheduler started and stopped, the server's own count of writes.
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../rawbind.h"
#include "cluster/fixture/control_plane.h"
#include "observer.h"

namespace ashlar::bench {

/// What a pod of a run asks.
struct PodShape {
  int gpus = 0;
  std::string priority_class;
  bool is_own_kind = false;  ///< each pod tolerates a taint of its own, so that no two are alike
};

/// One gang, or count pods without a group where `size` is 0.
struct Batch {
  std::string prefix;
  std::size_t gangs = 0;     ///< 0: plain pods
  std::size_t size = 0;      ///< members of a gang, or number of plain pods
  std::string topology_key;  ///< of the PodGroup; empty = none
  PodShape shape;
  std::size_t pods() const { return gangs == 0 ? size : gangs * size; }
};

class Scheduler {
 public:
  enum class Kind { kKube, kAshlar, kPlain };
  Kind kind = Kind::kAshlar;
  bool holds_lease = false;  ///< of Ashlar: it leads by a Lease, kept and lost by its usual times
  std::string label() const {
    return kind == Kind::kKube ? "kube-scheduler" : kind == Kind::kPlain ? "plain-client" : "ashlar";
  }
  /// spec.schedulerName of its pods.
  std::string name() const { return kind == Kind::kKube ? "default-scheduler" : label(); }
};

class Arena {
 public:
  Arena(cluster::ControlPlane& plane, kube::Api& api, std::string ashlar_binary, int binds_in_flight)
      : plane_(plane), api_(api), ashlar_(std::move(ashlar_binary)), binds_in_flight_(binds_in_flight) {}
  /// From now on the schedulers have the rights of their service accounts, so that priority and fairness concern them:
  /// kube-scheduler its own user's, Ashlar and the plain client those of deploy/rbac.yaml. Else they are administrators.
  void use_least_rights() {
    kube_access_ = write_file("kube-scheduler.kubeconfig", kubeconfig_of(plane_.kube_scheduler_token()));
    access_ = write_file("ashlar.kubeconfig", kubeconfig_of(plane_.scheduler_token()));
  }

  kube::Api& api() { return api_; }
  cluster::ControlPlane& plane() { return plane_; }
  void post_nodes(std::size_t count) {
    pump(api_, count, 64, [&](std::size_t i, kube::OnAnswer on_answer) {
      kube::post_node(api_,
                      {.name = node_name(i),
                       .labels = {{"rack", "rack-" + std::to_string(i / 16)},
                                  {"block", "block-" + std::to_string(i / 256)},
                                  {"kubernetes.io/hostname", node_name(i)}},
                       .allocatable = {{"cpu", "64"}, {"memory", "512Gi"}, {"pods", "250"}, {"nvidia.com/gpu", "8"}}},
                      api_.now(), std::move(on_answer));
    });
  }
  /// A namespace nobody used before.
  std::string fresh_namespace() {
    const std::string ns = "bench-" + std::to_string(++namespaces_);
    pump(api_, 1, 1,
         [&](std::size_t, kube::OnAnswer on_answer) { kube::create_namespace(api_, ns, std::move(on_answer)); });
    return ns;
  }
  void create_groups(const std::string& ns, const Batch& batch) {
    pump(api_, batch.gangs, 64, [&](std::size_t g, kube::OnAnswer on_answer) {
      kube::create_pod_group(api_, kube::PodGroupVersion::kV1Beta1,
                             {.ns = ns,
                              .name = group_name(batch, g),
                              .topology_key = batch.topology_key,
                              .priority_class = batch.shape.priority_class,
                              .min_count = static_cast<std::int32_t>(batch.size)},
                             std::move(on_answer));
    });
  }
  /// Creates the pods (and groups first); returns when the last creation was answered.
  void create(const std::string& ns, const Batch& batch, const Scheduler& by) {
    create_groups(ns, batch);
    pump(api_, batch.pods(), 64, [&](std::size_t i, kube::OnAnswer on_answer) {
      kube::create_pod(api_, pod(ns, batch, by, i), std::move(on_answer));
    });
  }
  kube::PodSpec pod(const std::string& ns, const Batch& batch, const Scheduler& by, std::size_t i) const {
    kube::PodSpec spec{.ns = ns,
                       .name = batch.prefix + "-" + std::to_string(i),
                       .scheduler_name = by.name(),
                       .priority_class = batch.shape.priority_class,
                       .requests = {{"cpu", "100m"}, {"memory", "128Mi"}}};
    if (batch.gangs > 0) spec.group_name = group_name(batch, i / batch.size);
    if (batch.shape.gpus > 0) spec.requests.emplace_back("nvidia.com/gpu", std::to_string(batch.shape.gpus));
    if (batch.shape.is_own_kind)
      spec.extra_spec_json = R"("tolerations":[{"key":"kind","operator":"Equal","value":")" + std::to_string(i) +
                             R"(","effect":"NoSchedule"}])";
    return spec;
  }
  /// Pods that are bound from the start, one after the other over the nodes.
  void create_bound(const std::string& ns, std::size_t count, std::size_t nodes, int gpus) {
    pump(api_, count, 64, [&](std::size_t i, kube::OnAnswer on_answer) {
      kube::PodSpec spec{.ns = ns,
                         .name = "filler-" + std::to_string(i),
                         .node_name = node_name(i % nodes),
                         .requests = {{"cpu", "100m"}, {"memory", "128Mi"}}};
      if (gpus > 0) spec.requests.emplace_back("nvidia.com/gpu", std::to_string(gpus));
      kube::create_pod(api_, spec, std::move(on_answer));
    });
  }
  void relabel(const std::string& node, const std::string& key, const std::string& value, kube::OnAnswer on_answer) {
    api_.send({.method = http::Method::kPatch,
               .path = kube::node_path(node),
               .body = R"({"metadata":{"labels":{")" + key + R"(":")" + value + R"("}}})",
               .content_type = "application/merge-patch+json"},
              std::move(on_answer));
  }
  void delete_pods(const std::string& ns) {
    kube::call(api_, {.method = http::Method::kDelete,
                      .path = "/api/v1/namespaces/" + ns + "/pods?gracePeriodSeconds=0",
                      .timeout = Millis(300'000)});
  }

  Result<cluster::ChildProcess*> start(const Scheduler& scheduler) {
    switch (scheduler.kind) {
      case Scheduler::Kind::kKube:
        return start_kube();
      case Scheduler::Kind::kPlain:
        return start_process({"/proc/self/exe", "--plain-client", access_}, "plain-client");
      case Scheduler::Kind::kAshlar:
        return start_ashlar(scheduler.holds_lease);
    }
    return Error{Error::Kind::kInternal, "no such scheduler"};
  }

  /// Writes answered so far, by "VERB resource/subresource", from the server's own metrics; empty if they could not be
  /// read, which is said.
  std::map<std::string, double> writes() {
    std::map<std::string, double> sums;
    const kube::Answer answer = kube::call(
        api_, {.path = "/metrics", .accept = "text/plain", .timeout = Millis(5000), .has_own_connection = true});
    if (!answer.ok())
      std::fprintf(stderr, "the server's metrics could not be read: %s\n", answer.result.error().message.c_str());
    std::size_t from = 0;
    while (from < answer.body.size()) {
      const std::size_t end = std::min(answer.body.find('\n', from), answer.body.size());
      const std::string_view line = std::string_view(answer.body).substr(from, end - from);
      from = end + 1;
      if (line.rfind("apiserver_request_total{", 0) != 0) continue;
      const std::string verb = field(line, "verb");
      if (verb == "POST" || verb == "PUT" || verb == "PATCH" || verb == "DELETE")
        sums[verb + " " + field(line, "resource") + "/" + field(line, "subresource")] +=
            std::stod(std::string(line.substr(line.rfind(' ') + 1)));
    }
    return sums;
  }

 private:
  static std::string group_name(const Batch& batch, std::size_t g) { return batch.prefix + "-g" + std::to_string(g); }
  static std::string field(std::string_view line, const std::string& name) {
    const std::size_t at = line.find(name + "=\"");
    if (at == std::string_view::npos) return "";
    const std::size_t from = at + name.size() + 2;
    return std::string(line.substr(from, line.find('"', from) - from));
  }
  std::string write_file(const std::string& name, const std::string& text) {
    const std::string path = plane_.folder() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  Result<cluster::ChildProcess*> start_kube() {
    const std::string config =
        write_file("kube-scheduler.yaml",
                   "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nclientConnection:\n  "
                   "kubeconfig: " +
                       kube_access_ + "\n  qps: 10000\n  burst: 10000\nleaderElection:\n  leaderElect: false\n");
    return plane_.run("kube-scheduler", {"--config=" + config, "--secure-port=0",
                                         "--feature-gates=GenericWorkload=true,TopologyAwareWorkloadScheduling=true"});
  }
  Result<cluster::ChildProcess*> start_ashlar(bool holds_lease) {
    const std::string config = write_file(
        "ashlar.yaml",
        "apiVersion: config.ashlar.dev/v1alpha1\nkind: SchedulerConfiguration\ntopology:\n  levels: [block, rack]\n"
        "leaderElection:\n  enabled: " +
            std::string(holds_lease ? "true" : "false") +
            "\n  namespace: default\nbatch:\n  bindsInFlight: " + std::to_string(binds_in_flight_) + "\n");
    return start_process({ashlar_, "scheduler", "--kubeconfig", access_, "--config", config}, "ashlar");
  }
  Result<cluster::ChildProcess*> start_process(std::vector<std::string> command, const std::string& log) {
    auto process = cluster::ChildProcess::start(std::move(command), plane_.folder() + "/" + log + ".log");
    if (!process) return process.error();
    own_.push_back(std::make_unique<cluster::ChildProcess>(std::move(*process)));
    return own_.back().get();
  }
  std::string kubeconfig_of(const std::string& token) const {
    return "apiVersion: v1\nkind: Config\ncurrent-context: bench\nclusters:\n- name: bench\n  cluster: {server: \"" +
           plane_.server() +
           "\", certificate-authority: certs/apiserver.crt}\nusers:\n- name: bench\n  user: {token: " + token +
           "}\ncontexts:\n- name: bench\n  context: {cluster: bench, user: bench}\n";
  }

  cluster::ControlPlane& plane_;
  kube::Api& api_;
  std::string ashlar_;
  int binds_in_flight_;
  std::string kube_access_ = plane_.kubeconfig(), access_ = plane_.kubeconfig();  ///< kubeconfigs
  std::vector<std::unique_ptr<cluster::ChildProcess>> own_;
  std::size_t namespaces_ = 0;
};

}  // namespace ashlar::bench
