// A cluster of a few lines: an API server that lists what a test puts there and refuses what the test says. Watches end
// at once, so that lists come often.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "http/server.h"
#include "kubeclient/api.h"
#include "scripted_api.h"

namespace ashlar::kube {

class SmallCluster {
 public:
  using Clock = std::chrono::steady_clock;

  SmallCluster() {
    std::vector<http::Route> routes;
    for (const char* method : {"GET", "POST", "PUT", "PATCH"})
      routes.push_back({.path = "/",
                        .handler = [this](const http::ServerRequest& request) { return take(request); },
                        .method = method});
    auto server = http::Server::start({}, std::move(routes));
    EXPECT_TRUE(server.ok());
    server_ = std::move(server).value();
  }
  ~SmallCluster() {
    hold_bindings(false);
    server_.reset();
  }

  std::uint16_t port() const { return server_->port(); }
  Access access() const { return {.origin = "test", .server = "http://127.0.0.1:" + std::to_string(port())}; }

  // ---- what is there ------------------------------------------------------------------------------------------------
  void put_node(const std::string& name, int gpus, const std::string& resource = "nvidia.com/gpu") {
    put("nodes", name,
        R"("status":{"allocatable":{"cpu":"64","memory":"512Gi","pods":"110",")" + resource + R"(":")" +
            std::to_string(gpus) + R"("},"conditions":[{"type":"Ready","status":"True"}]})");
  }
  void put_pod(const std::string& name, int gpus, const std::string& group = "",
               const std::string& resource = "nvidia.com/gpu") {
    const std::string of_group = group.empty() ? "" : R"(,"schedulingGroup":{"podGroupName":")" + group + R"("})";
    put("pods", name,
        R"("spec":{"schedulerName":"ashlar","containers":[{"name":"c","resources":{"requests":{")" + resource +
            R"(":")" + std::to_string(gpus) + R"("}}}])" + of_group + R"(},"status":{"phase":"Pending"})");
  }
  void put_device_class(const std::string& name, const std::string& resource) {
    put("deviceclasses", name, R"("spec":{"extendedResourceName":")" + resource + R"("})");
  }
  void put_group(const std::string& name, int count, const std::string& priority_class = "") {
    const std::string of_class = priority_class.empty() ? "" : R"(,"priorityClassName":")" + priority_class + "\"";
    put("podgroups", name,
        R"("spec":{"schedulingPolicy":{"gang":{"minCount":)" + std::to_string(count) + "}}" + of_class + "}");
  }
  /// Each binding is answered after so long, one after another: no two answers come together.
  void slow_bindings_down(std::chrono::milliseconds each) {
    const std::lock_guard lock(lock_);
    binding_takes_ = each;
  }
  /// Answers lists and watches of the resource with this status, 200 = as it should; "" = everything, "v1beta1" = what
  /// that version serves.
  void refuse(const std::string& resource, int status) {
    const std::lock_guard lock(lock_);
    status_[resource] = status;
  }
  /// The one version of PodGroup that is served besides v1 without them, as in 1.37; empty: none.
  void serve_groups(const std::string& version) {
    const std::lock_guard lock(lock_);
    group_version_ = version;
  }
  /// Answers that path below /openapi/v3/ with this description; others are not there.
  void describe(const std::string& path, const std::string& text) {
    const std::lock_guard lock(lock_);
    descriptions_["/openapi/v3/" + path] = text;
  }
  /// Bindings are taken, and not answered any more until that is over; the server is silent meanwhile.
  void hold_bindings(bool is_holding) {
    const std::lock_guard lock(lock_);
    is_holding_ = is_holding;
    changed_.notify_all();
  }

  // ---- what was asked -----------------------------------------------------------------------------------------------
  /// Requests whose "METHOD path?query body" holds all parts.
  std::size_t count(const std::vector<std::string>& parts) {
    const std::lock_guard lock(lock_);
    return static_cast<std::size_t>(std::count_if(seen_.begin(), seen_.end(), [&](const auto& one) {
      return std::all_of(parts.begin(), parts.end(),
                         [&](const std::string& part) { return one.second.find(part) != std::string::npos; });
    }));
  }
  /// Requests that arrived in that time.
  std::size_t count_between(Clock::time_point from, Clock::time_point end) {
    const std::lock_guard lock(lock_);
    return static_cast<std::size_t>(
        std::count_if(seen_.begin(), seen_.end(), [&](const auto& s) { return s.first >= from && s.first < end; }));
  }

 private:
  void put(const std::string& resource, const std::string& name, const std::string& rest) {
    const std::lock_guard lock(lock_);
    const std::string ns = resource == "nodes" || resource == "deviceclasses" ? "" : R"("namespace":"ns",)";
    items_[resource][name] = R"({"metadata":{"name":")" + name + R"(",)" + ns + R"("uid":"uid-)" + name +
                             R"(","resourceVersion":")" + std::to_string(++version_) + R"("},)" + rest + "}";
  }
  static http::ServerResponse status(int code) {
    return http::json(code, R"({"kind":"Status","message":"refused","code":)" + std::to_string(code) + "}");
  }

  http::ServerResponse take(const http::ServerRequest& request) {
    std::unique_lock lock(lock_);
    seen_.emplace_back(Clock::now(), request.method + " " + request.path + "?" + request.query + " " + request.body);
    const bool is_binding = request.path.ends_with("/binding");
    if (is_binding) changed_.wait(lock, [this] { return !is_holding_; });
    if (is_binding) std::this_thread::sleep_for(binding_takes_);
    if (status_.contains("") && status_[""] != 200) return status(status_[""]);
    if (request.path.find("/leases") != std::string::npos) return lease(request);
    if (is_binding) return ScriptedApi::done();
    if (request.method != "GET") return http::json(201, "{}");
    if (request.path.starts_with("/openapi/"))
      return descriptions_.contains(request.path) ? http::json(200, descriptions_[request.path]) : status(404);
    return list(request);
  }
  http::ServerResponse lease(const http::ServerRequest& request) {
    if (request.method == "GET") return lease_.empty() ? status(404) : http::json(200, lease_);
    lease_ = request.body;
    const std::size_t metadata = lease_.find(R"("metadata":{)") + 12;
    lease_.insert(metadata, R"("resourceVersion":")" + std::to_string(++version_) + R"(",)");
    return http::json(200, lease_);
  }
  http::ServerResponse list(const http::ServerRequest& request) {
    const std::string scheduling = "/apis/scheduling.k8s.io/";
    const std::string resource = request.path.substr(request.path.rfind('/') + 1);
    if (request.path == scheduling + "v1") return http::json(200, R"({"resources":[{"name":"priorityclasses"}]})");
    const bool is_served = !group_version_.empty() && request.path.starts_with(scheduling + group_version_);
    if (request.path.starts_with(scheduling) && resource != "priorityclasses" && !is_served) return status(404);
    if (status_.contains(resource) && status_[resource] != 200) return status(status_[resource]);
    if (request.path == scheduling + group_version_) return http::json(200, R"({"resources":[{"name":"podgroups"}]})");
    // of volumes and of what selects pods there are none, and an empty list is the same of all kinds
    const bool is_of_volumes =
        request.path.starts_with("/apis/storage.k8s.io/") || resource.starts_with("persistentvolume");
    const bool selects_pods =
        request.path.starts_with("/apis/apps/") || resource == "services" || resource == "replicationcontrollers";
    const bool is_protobuf = is_of_volumes || selects_pods || resource == "nodes" || resource == "pods";
    if (request.query.find("watch=1") != std::string::npos)
      return {200, is_protobuf ? std::string(kProtobufType) + ";stream=watch" : kJsonType, ""};
    std::string items;
    for (const auto& [name, item] : items_[resource]) items += (items.empty() ? "" : ",") + item;
    const std::string list =
        R"({"metadata":{"resourceVersion":")" + std::to_string(version_) + R"("},"items":[)" + items + "]}";
    if (!is_protobuf) return http::json(200, list);
    return {200, kProtobufType, protobuf_of(resource == "nodes" ? "NodeList" : "PodList", list)};
  }

  std::mutex lock_;
  std::condition_variable changed_;
  bool is_holding_ = false;
  std::chrono::milliseconds binding_takes_{0};
  int version_ = 100;
  std::string group_version_ = "v1beta1", lease_;
  std::map<std::string, std::string> descriptions_;
  std::map<std::string, int> status_;
  std::map<std::string, std::map<std::string, std::string>> items_;
  std::vector<std::pair<Clock::time_point, std::string>> seen_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace ashlar::kube
