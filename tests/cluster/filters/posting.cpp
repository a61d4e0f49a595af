#include "cluster/filters/posting.h"

#include <simdjson.h>

#include "cluster/filters/storage_objects.h"
#include "cluster/filters/vocabulary.h"
#include "kubeclient/json_writer.h"
#include "kubeclient/writes.h"

namespace ashlar::filters {
namespace {

using http::Method;

constexpr const char* kStrategicPatch = "application/strategic-merge-patch+json";

std::string with_owner(std::string body, const std::string& uid) {
  for (std::size_t at = body.find(kOwnerUid); at != std::string::npos; at = body.find(kOwnerUid, at + uid.size()))
    body.replace(at, kOwnerUid.size(), uid);
  return body;
}

/// Of an object that the server answers with.
std::string uid_in(const std::string& body) {
  simdjson::dom::parser parser;
  std::string_view uid;
  return parser.parse(body).at_pointer("/metadata/uid").get(uid) == simdjson::SUCCESS ? std::string(uid)
                                                                                      : std::string();
}

std::string pods_path(std::string_view ns) { return "/api/v1/namespaces/" + std::string(ns) + "/pods"; }

}  // namespace

std::vector<std::optional<std::string>> Posting::send(std::vector<http::Request> requests) {
  std::vector<std::optional<std::string>> answers(requests.size());
  std::size_t answered = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    std::string path = requests[i].path, body = requests[i].body;
    api_.send(std::move(requests[i]), [&, i, path, body](const kube::Answer& answer) {
      ++answered;
      if (answer.ok() || answer.status == 404) {
        answers[i] = answer.body;
        return;
      }
      if (refused_++ == 0) first_refusal_ = path + ": " + answer.result.error().message + "\n" + body;
    });
  }
  while (answered < answers.size()) api_.poll(Millis(100));
  return answers;
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

void Posting::remove_nodes(const std::vector<std::string>& names) {
  std::vector<http::Request> requests;
  for (const std::string& name : names)
    requests.push_back({.method = Method::kDelete, .path = "/api/v1/nodes/" + name});
  send(std::move(requests));
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
  const std::vector<std::optional<std::string>> answers = send(std::move(requests));
  std::vector<DrawnObject> owned;
  std::vector<http::Request> starts;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    if (!answers[i] || pods[i].owned.empty()) continue;
    for (const DrawnObject& object : pods[i].owned)
      owned.push_back({object.collection, object.name, with_owner(object.body, uid_in(*answers[i]))});
    if (pods[i].node.empty())
      starts.push_back({.method = Method::kPatch,
                        .path = kube::pod_path(pods[i].ns, pods[i].name),
                        .body = R"({"spec":{"schedulingGates":null}})",
                        .content_type = kube::kMergePatch});
  }
  create_objects(owned);
  send(std::move(starts));
  std::size_t i = 0;
  std::erase_if(pods, [&](const DrawnPod&) { return !answers[i++]; });
}

void Posting::create_objects(const std::vector<DrawnObject>& objects) {
  std::vector<http::Request> requests, statuses, deletions;
  for (const DrawnObject& object : objects)
    requests.push_back({.method = Method::kPost, .path = object.collection, .body = object.body});
  const std::vector<std::optional<std::string>> answers = send(std::move(requests));
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!answers[i]) continue;
    const std::string path = objects[i].path();
    if (!objects[i].status.empty())
      statuses.push_back({.method = Method::kPatch,
                          .path = path + "/status",
                          .body = objects[i].status,
                          .content_type = kube::kMergePatch});
    if (objects[i].is_terminating) deletions.push_back({.method = Method::kDelete, .path = path});
  }
  send(std::move(statuses));
  send(std::move(deletions));
}

void Posting::patch_objects(const std::vector<DrawnPatch>& patches) {
  std::vector<http::Request> requests;
  for (const DrawnPatch& patch : patches)
    requests.push_back(
        {.method = Method::kPatch, .path = patch.path, .body = patch.body, .content_type = kube::kMergePatch});
  send(std::move(requests));
}

void Posting::remove_objects(const std::vector<DrawnObject>& objects) {
  std::vector<DrawnPatch> releases;
  std::vector<http::Request> requests;
  for (const DrawnObject& object : objects) {
    if (object.is_terminating) releases.push_back({object.path(), R"({"metadata":{"finalizers":null}})"});
    requests.push_back({.method = Method::kDelete, .path = object.path()});
  }
  patch_objects(releases);
  send(std::move(requests));
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

Result<void> post_drivers(kube::Api& api) {
  Posting posting(api);
  posting.create_objects(csi_drivers());
  return posting.refused() == 0 ? Result<void>{} : Error{Error::Kind::kInvalid, posting.first_refusal()};
}

Result<void> remove_everything(kube::Api& api) {
  std::vector<std::string> paths;
  for (const DrawnNamespace& ns : drawn_namespaces()) paths.push_back(pods_path(ns.name));
  for (const DrawnNamespace& ns : drawn_namespaces()) paths.push_back(claims_path(ns.name));
  paths.push_back(kVolumesPath);
  for (const char* kind : {"volumeattachments", "csinodes", "storageclasses", "namespaces/team-a/csistoragecapacities"})
    paths.push_back(kStoragePath + kind);
  paths.emplace_back("/api/v1/nodes");
  for (const std::string& path : paths) {
    const kube::Answer answer =
        kube::call(api, {.method = Method::kDelete, .path = path + "?gracePeriodSeconds=0", .timeout = Millis(60'000)});
    if (!answer.ok()) return answer.result.error();
  }
  return {};
}

}  // namespace ashlar::filters
