#include "provisioner.h"

#include "kubeclient/volumes/binding_writes.h"

namespace ashlar::bench::perf {
namespace {

std::string volume_body(const std::string& name, const kube::PersistentVolumeClaim& claim) {
  return R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":")" + name +
         R"("},"spec":{"accessModes":["ReadWriteOnce"],"capacity":{"storage":"1Gi"},"storageClassName":"late",)"
         R"("csi":{"driver":"perf.example.com","volumeHandle":")" +
         name + R"("},"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":")" + claim.ns.str() +
         R"(","name":")" + claim.name.str() + R"(","uid":")" + claim.uid.str() +
         R"("},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/hostname",)"
         R"("operator":"In","values":[")" +
         claim.selected_node.str() + R"("]}]}]}}}})";
}

}  // namespace

Provisioner::Provisioner(kube::Api& api)
    : api_(api), claims_(api, {}, [this](kube::Change<kube::PersistentVolumeClaim>&& change) {
        using Kind = kube::Change<kube::PersistentVolumeClaim>::Kind;
        const bool is_there = change.kind == Kind::kAdded || change.kind == Kind::kModified;
        if (is_there && change.object.has_selected_node && change.object.volume_name.empty()) provide(change.object);
      }) {}

void Provisioner::provide(const kube::PersistentVolumeClaim& claim) {
  if (!served_.insert(claim.uid.str()).second) return;
  const std::string name = "provided-" + claim.uid.str(), path = kube::claim_path(claim.ns, claim.name);
  volumes_.push_back("/api/v1/persistentvolumes/" + name);
  const std::string bound =
      R"({"metadata":{"annotations":{"pv.kubernetes.io/bind-completed":"yes"}},"spec":{"volumeName":")" + name + "\"}}";
  api_.send({.method = http::Method::kPost, .path = "/api/v1/persistentvolumes", .body = volume_body(name, claim)},
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
