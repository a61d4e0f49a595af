#include "cluster/filters/posting.h"

#include "cluster/filters/vocabulary.h"
#include "kubeclient/json_writer.h"
#include "kubeclient/writes.h"

namespace ashlar::filters {
namespace {

using http::Method;

constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";

std::string pods_path(std::string_view ns) { return "/api/v1/namespaces/" + std::string(ns) + "/pods"; }

}  // namespace

std::vector<bool> Posting::send(std::vector<http::Request> requests) {
  std::vector<bool> is_refused(requests.size(), false);
  std::size_t answered = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    std::string path = requests[i].path, body = requests[i].body;
    api_.send(std::move(requests[i]), [&, i, path, body](const kube::Answer& answer) {
      ++answered;
      if (answer.ok() || answer.status == 404) return;
      is_refused[i] = true;
      if (refused_++ == 0) first_refusal_ = path + ": " + answer.result.error().message + "\n" + body;
    });
  }
  while (answered < is_refused.size()) api_.poll(Millis(100));
  return is_refused;
}

Result<void> Posting::create_nodes(const std::vector<DrawnNode>& nodes) {
  const std::size_t before = refused_;
  std::vector<http::Request> requests;
  for (const DrawnNode& node : nodes) {
    if (&node == &nodes.back()) send(std::exchange(requests, {}));
    requests.push_back({.method = Method::kPost, .path = "/api/v1/nodes", .body = node.body});
  }
  send(std::move(requests));
  return sound_since(before);
}

/// The status of a node is written apart from the rest.
Result<void> Posting::replace_nodes(const std::vector<DrawnNode>& nodes) {
  const std::size_t before = refused_;
  for (const char* part : {"", "/status"}) {
    std::vector<http::Request> requests;
    for (const DrawnNode& node : nodes)
      requests.push_back({.method = Method::kPut, .path = "/api/v1/nodes/" + node.name + part, .body = node.body});
    send(std::move(requests));
  }
  return sound_since(before);
}

Result<void> Posting::sound_since(std::size_t refused_before) const {
  if (refused_ == refused_before) return {};
  return Error{Error::Kind::kInvalid, "a drawn object is refused: " + first_refusal_};
}

void Posting::remove_pods(const std::vector<DrawnPod>& pods) {
  std::vector<http::Request> requests;
  for (const DrawnPod& pod : pods)
    requests.push_back({.method = Method::kDelete, .path = kube::pod_path(pod.ns, pod.name) + "?gracePeriodSeconds=0"});
  send(std::move(requests));
}

void Posting::create_pods(std::vector<DrawnPod>& pods) {
  std::vector<http::Request> requests;
  requests.reserve(pods.size());
  for (const DrawnPod& pod : pods)
    requests.push_back({.method = Method::kPost, .path = pods_path(pod.ns), .body = pod.body});
  const std::vector<bool> is_refused = send(std::move(requests));
  std::size_t i = 0;
  std::erase_if(pods, [&](const DrawnPod&) { return is_refused[i++]; });
}

void Posting::finish_bound(const std::vector<DrawnPod>& pods) {
  std::vector<http::Request> statuses, deletions;
  for (const DrawnPod& pod : pods) {
    const std::string path = kube::pod_path(pod.ns, pod.name);
    if (!pod.status.empty())
      statuses.push_back(
          {.method = Method::kPatch, .path = path + "/status", .body = pod.status, .content_type = kStrategicPatch});
    if (pod.is_terminating) deletions.push_back({.method = Method::kDelete, .path = path + "?gracePeriodSeconds=3600"});
  }
  send(std::move(statuses));
  send(std::move(deletions));
}

Result<void> post_namespaces(kube::Api& api) {
  for (const DrawnNamespace& ns : drawn_namespaces()) {
    kube::JsonWriter w;
    w.begin_object().member("apiVersion", "v1").member("kind", "Namespace").key("metadata").begin_object();
    w.member("name", ns.name);
    Pairs labels;
    for (const auto& [key, value] : ns.labels) labels.emplace_back(key, value);
    write_pairs(w, "labels", labels);
    w.end_object().end_object();
    const kube::Answer answer =
        kube::call(api, {.method = Method::kPost, .path = "/api/v1/namespaces", .body = w.take()});
    if (!answer.ok() && answer.reason != "AlreadyExists") return answer.result.error();
  }
  return {};
}

Result<void> remove_everything(kube::Api& api) {
  std::vector<std::string> paths;
  for (const DrawnNamespace& ns : drawn_namespaces()) paths.push_back(pods_path(ns.name));
  paths.emplace_back("/api/v1/nodes");
  for (const std::string& path : paths) {
    const kube::Answer answer =
        kube::call(api, {.method = Method::kDelete, .path = path + "?gracePeriodSeconds=0", .timeout = Millis(60'000)});
    if (!answer.ok()) return answer.result.error();
  }
  return {};
}

}  // namespace ashlar::filters
