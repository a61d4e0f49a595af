#include "cluster/filters/kube_filters.h"

#include <simdjson.h>

#include <algorithm>
#include <fstream>

namespace ashlar::filters {
namespace {

/// Those of the API server that concern the scheduler.
constexpr const char* kKubeSchedulerGates = "--feature-gates=TaintTolerationComparisonOperators=true";

/// Points that Ashlar gives in other tiers, by its own rules, and of volumes, which it does not give.
constexpr const char* kOtherScores =
    ", score: {disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}, {name: VolumeBinding}]}";

std::string configuration(const std::string& kubeconfig, const std::string& scheduler_name, std::uint16_t port,
                          bool prefers) {
  return "apiVersion: kubescheduler.config.k8s.io/v1\n"
         "kind: KubeSchedulerConfiguration\n"
         "clientConnection: {kubeconfig: " +
         kubeconfig +
         ", qps: 10000, burst: 10000}\n"
         "leaderElection: {leaderElect: false}\n"
         "percentageOfNodesToScore: 100\n"
         "podInitialBackoffSeconds: 1\n"
         "podMaxBackoffSeconds: 1\n"
         "profiles:\n"
         "- schedulerName: " +
         scheduler_name +
         "\n"
         "  plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}" +
         (prefers ? kOtherScores : "") +
         "}\n"
         "extenders:\n"
         "- urlPrefix: http://127.0.0.1:" +
         std::to_string(port) +
         "\n"
         "  filterVerb: filter\n" +
         (prefers ? "  bindVerb: bind\n" : "") +
         "  nodeCacheCapable: true\n"
         "  enableHTTPS: false\n"
         "  httpTimeout: 30s\n";
}

}  // namespace

Result<std::unique_ptr<KubeFilters>> KubeFilters::start(cluster::ControlPlane& plane, const std::string& scheduler_name,
                                                        bool prefers) {
  std::unique_ptr<KubeFilters> filters(new KubeFilters);
  filters->prefers_ = prefers;
  Result<std::unique_ptr<http::Server>> server = http::Server::start(
      {},
      {{"/filter", [raw = filters.get()](const http::ServerRequest& request) { return raw->take(request.body); },
        "POST"},
       {"/bind", [raw = filters.get()](const http::ServerRequest& request) { return raw->take_choice(request.body); },
        "POST"}});
  if (!server) return server.error();
  filters->server_ = std::move(server).value();
  const std::string file = plane.folder() + "/kube-scheduler.yaml";
  std::ofstream(file) << configuration(plane.kubeconfig(), scheduler_name, filters->server_->port(), prefers);
  Result<cluster::ChildProcess*> scheduler =
      plane.run("kube-scheduler", {"--config=" + file, "--secure-port=0", kKubeSchedulerGates});
  if (!scheduler) return scheduler.error();
  filters->scheduler_ = *scheduler;
  return filters;
}

KubeFilters::~KubeFilters() {
  if (scheduler_ != nullptr) scheduler_->stop(Millis(1'000));
}

std::optional<std::vector<std::string>> KubeFilters::passed(const std::string& ns, const std::string& pod) {
  const std::lock_guard guard(lock_);
  const auto it = passed_.find({ns, pod});
  return it == passed_.end() ? std::nullopt : std::optional(it->second);
}

void KubeFilters::forget() {
  const std::lock_guard guard(lock_);
  passed_.clear();
  chosen_.clear();
}

std::optional<std::string> KubeFilters::chosen(const std::string& ns, const std::string& pod) {
  const std::lock_guard guard(lock_);
  const auto it = chosen_.find({ns, pod});
  return it == chosen_.end() ? std::nullopt : std::optional(it->second);
}

std::string KubeFilters::trouble() {
  const std::lock_guard guard(lock_);
  return trouble_;
}

/// An ExtenderArgs of k8s.io/kube-scheduler/extender/v1.
http::ServerResponse KubeFilters::take(std::string_view body) {
  const std::lock_guard guard(lock_);
  try {
    simdjson::dom::parser parser;
    const simdjson::dom::element call = parser.parse(body.data(), body.size());
    const auto text = [&](const char* pointer) { return std::string(std::string_view(call.at_pointer(pointer))); };
    std::vector<std::string> names;
    for (const simdjson::dom::element name : call["NodeNames"].get_array()) names.emplace_back(std::string_view(name));
    std::sort(names.begin(), names.end());
    passed_.try_emplace({text("/Pod/metadata/namespace"), text("/Pod/metadata/name")}, std::move(names));
  } catch (const simdjson::simdjson_error& error) {
    trouble_ = std::string("a call of kube-scheduler cannot be read: ") + error.what();
  }
  if (!prefers_) return http::json(200, R"({"NodeNames":[]})");
  const std::size_t from = body.find(R"("NodeNames":[)"), to = body.find(']', from);
  return http::json(200, "{" + std::string(body.substr(from, to + 1 - from)) + "}");
}

/// An ExtenderBindingArgs.
http::ServerResponse KubeFilters::take_choice(std::string_view body) {
  const std::lock_guard guard(lock_);
  try {
    simdjson::dom::parser parser;
    const simdjson::dom::element call = parser.parse(body.data(), body.size());
    const auto text = [&](const char* key) { return std::string(std::string_view(call[key])); };
    chosen_.try_emplace({text("PodNamespace"), text("PodName")}, text("Node"));
  } catch (const simdjson::simdjson_error& error) {
    trouble_ = std::string("a call of kube-scheduler cannot be read: ") + error.what();
  }
  return http::json(200, R"({"Error":"asked only"})");
}

}  // namespace ashlar::filters
