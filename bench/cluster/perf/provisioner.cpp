#include "provisioner.h"

#include <simdjson.h>

namespace ashlar::bench::perf {
namespace {

std::string text_at(const simdjson::dom::element& object, std::string_view pointer) {
  std::string_view text;
  return object.at_pointer(pointer).get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::string volume_body(const std::string& name, const std::string& ns, const std::string& claim,
                        const std::string& uid, const std::string& node) {
  return R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":")" + name +
         R"("},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"storageClassName":"late",)"
         R"("csi":{"driver":"perf.example.com","volumeHandle":")" +
         name + R"("},"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":")" + ns +
         R"(","name":")" + claim + R"(","uid":")" + uid +
         R"("},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/hostname",)"
         R"("operator":"In","values":[")" +
         node + R"("]}]}]}}}})";
}

}  // namespace

void Provisioner::start() {
  stream_ = api_.stream({.path = "/api/v1/persistentvolumeclaims?watch=1&timeoutSeconds=3600", .timeout = Millis(0)},
                        {.on_open = [](const http::Response&) {},
                         .on_chunk =
                             [this](std::string_view chunk) {
                               return frames_
                                   .feed(chunk,
                                         [this](std::string_view frame) {
                                           take(frame);
                                           return true;
                                         })
                                   .ok();
                             },
                         .on_done = [](const Result<http::Response>&) {}},
                        Millis(0));
}

void Provisioner::take(std::string_view event) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(simdjson::padded_string(event)).get(root) != simdjson::SUCCESS) return;
  const std::string node = text_at(root, "/object/metadata/annotations/volume.kubernetes.io~1selected-node");
  const std::string uid = text_at(root, "/object/metadata/uid");
  if (node.empty() || !text_at(root, "/object/spec/volumeName").empty() || !served_.insert(uid).second) return;
  provide(text_at(root, "/object/metadata/namespace"), text_at(root, "/object/metadata/name"), uid, node);
}

void Provisioner::provide(const std::string& ns, const std::string& claim, const std::string& uid,
                          const std::string& node) {
  const std::string name = "provided-" + uid, path = "/api/v1/namespaces/" + ns + "/persistentvolumeclaims/" + claim;
  volumes_.push_back("/api/v1/persistentvolumes/" + name);
  const std::string bound =
      R"({"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":")" + name + "\"}}";
  api_.send({.method = http::Method::kPost,
             .path = "/api/v1/persistentvolumes",
             .body = volume_body(name, ns, claim, uid, node)},
            [this, path, bound](const kube::Answer& answer) {
              if (!answer.ok() && trouble_.empty()) trouble_ = answer.result.error().message;
              if (!answer.ok()) return;
              send({.method = http::Method::kPatch,
                    .path = path,
                    .body = bound,
                    .content_type = "application/merge-patch+json"});
              send({.method = http::Method::kPatch,
                    .path = path + "/status",
                    .body = R"({"status":{"phase":"Bound"}})",
                    .content_type = "application/merge-patch+json"});
            });
}

void Provisioner::send(http::Request request) {
  api_.send(std::move(request), [this](const kube::Answer& answer) {
    if (!answer.ok() && trouble_.empty()) trouble_ = answer.result.error().message;
  });
}

}  // namespace ashlar::bench::perf
