// An API server that says what a test wants: every request is kept, answered by the test's script, and can be held back
// at will.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "apijson/api_json.h"
#include "http/server.h"
#include "kubeclient/api.h"

namespace ashlar::kube {

class ScriptedApi {
 public:
  using Script = std::function<http::ServerResponse(const http::ServerRequest&)>;

  /// `monotonic`: the clock of the client's timers, if not the real one.
  explicit ScriptedApi(Script script, std::function<Millis()> monotonic = {}) : script_(std::move(script)) {
    std::vector<http::Route> routes;
    for (const char* method : {"GET", "POST", "PUT", "PATCH"})
      routes.push_back({"/", [this](const http::ServerRequest& request) { return take(request); }, method});
    auto server = http::Server::start({}, std::move(routes));
    EXPECT_TRUE(server.ok());
    server_ = std::move(server).value();
    auto api =
        Api::create({.access = {.origin = "test", .server = "http://127.0.0.1:" + std::to_string(server_->port())},
                     .now = monotonic,
                     .monotonic = monotonic});
    EXPECT_TRUE(api.ok());
    api_ = std::move(api).value();
  }
  ~ScriptedApi() { close(); }
  /// The script is not read any more.
  void close() {
    let_go();
    server_.reset();
  }

  Api& api() { return *api_; }
  /// Polls until `is_done`, at most for ten seconds.
  template <class IsDone>
  bool until(IsDone&& is_done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!is_done()) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
      api_->poll(Millis(5));
    }
    return true;
  }
  void poll_for(Millis time) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(time.value);
    while (std::chrono::steady_clock::now() < deadline) api_->poll(Millis(5));
  }

  /// Polls until every request is answered.
  bool settle() {
    return until([this] { return api_->in_flight() == 0; });
  }

  /// From now on requests are taken but not answered.
  void hold() {
    const std::lock_guard lock(lock_);
    is_holding_ = true;
  }
  void let_go() {
    const std::lock_guard lock(lock_);
    is_holding_ = false;
    changed_.notify_all();
  }
  /// Changes what the script reads; it runs on the server's thread.
  template <class Change>
  void change(Change&& change) {
    const std::lock_guard lock(lock_);
    change();
  }
  /// Requests whose "METHOD path body" holds all parts, oldest first.
  std::vector<std::string> seen(const std::vector<std::string>& parts) {
    const std::lock_guard lock(lock_);
    std::vector<std::string> found;
    for (const std::string& line : seen_)
      if (std::all_of(parts.begin(), parts.end(),
                      [&](const std::string& part) { return line.find(part) != std::string::npos; }))
        found.push_back(line);
    return found;
  }
  std::size_t count(const std::vector<std::string>& parts) { return seen(parts).size(); }
  /// What was seen so far.
  void forget() {
    const std::lock_guard lock(lock_);
    seen_.clear();
  }

  /// The pod that is written as JSON, as API servers send it.
  static http::ServerResponse whole_pod(const std::string& json) {
    return {200, kProtobufType, protobuf_of("Pod", json)};
  }
  /// A pod of one device of ClusterObjects, as a re-read finds it; `node`: where it is bound.
  static http::ServerResponse pod(const http::ServerRequest& request, const std::string& node = "") {
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    const std::string at = node.empty() ? "" : R"("nodeName":")" + node + R"(",)";
    return whole_pod(
        R"({"kind":"Pod","metadata":{"name":")" + name + R"(","namespace":"ns","uid":"uid-ns-)" + name +
        R"("},"spec":{)" + at +
        R"("schedulerName":"ashlar","containers":[{"resources":{"requests":{"nvidia.com/gpu":"1"}}}]},"status":{}})");
  }
  /// What an API server answers to a binding that it has done.
  static http::ServerResponse done() {
    return http::json(201, R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201})");
  }
  static http::ServerResponse status(int code, const std::string& message = "no") {
    return http::json(code, R"({"kind":"Status","message":")" + message + R"("})");
  }
  /// What an API server says of an object that it does not have.
  static http::ServerResponse missing() {
    return http::json(404,
                      R"({"kind":"Status","status":"Failure","message":"not found","reason":"NotFound","code":404})");
  }
  static http::ServerResponse busy(int retry_after_seconds) {
    return http::json(429, R"({"kind":"Status","message":"too many requests","details":{"retryAfterSeconds":)" +
                               std::to_string(retry_after_seconds) + "}}");
  }

 private:
  http::ServerResponse take(const http::ServerRequest& request) {
    std::unique_lock lock(lock_);
    seen_.push_back(request.method + " " + request.path + " " + request.body);
    changed_.wait(lock, [this] { return !is_holding_; });
    return script_(request);
  }

  Script script_;
  std::mutex lock_;
  std::condition_variable changed_;
  bool is_holding_ = false;
  std::vector<std::string> seen_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<Api> api_;
};

}  // namespace ashlar::kube
