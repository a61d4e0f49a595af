#include "oracle/binding_provisioner.h"

#include "cluster/filters/storage_objects.h"
#include "kubeclient/writes.h"

namespace ashlar::binding {

void BindingProvisioner::forget() {
  served_.clear();
  failed_once_.clear();
  made_.clear();
}

void BindingProvisioner::act(const Seen& seen, const World& world) {
  for (const auto& [name, claim] : seen.claims) {
    const auto of = world.made.find(claim.class_name);
    if (of == world.made.end() || claim.provisioner != of->second.driver || !claim.volume.empty()) continue;
    if (served_.contains(claim.uid) || (of->second.is_late && claim.selected_node.empty())) continue;
    const bool fails = of->second.is_late && does_fail_first(name.substr(world.prefix.size()));
    if (fails && failed_once_.insert(claim.uid).second) {
      ++failed_;
      send({.method = http::Method::kPatch,
            .path = filters::claims_path("team-a") + "/" + name,
            .body = R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":null}}})",
            .content_type = kube::kMergePatch});
      continue;
    }
    make(name, claim, world, of->second);
  }
}

void BindingProvisioner::make(const std::string& name, const SeenClaim& claim, const World& world,
                              const MadeClass& of) {
  const std::string node = of.is_late ? claim.selected_node : of.nodes.empty() ? std::string() : *of.nodes.begin();
  const auto labels = world.labels.find(node);
  if (labels == world.labels.end() || !of.nodes.contains(node)) return;  // nowhere: it is never made
  served_.insert(claim.uid);
  const std::string value = labels->second.at(of.topology_key);
  filters::VolumeSpec spec{.name = "made-" + name, .class_name = claim.class_name};
  spec.source = filters::csi_source(of.driver, spec.name);
  spec.size = claim.size;
  spec.access = claim.access_modes;
  spec.affinity = filters::has_label(of.topology_key, {value});
  spec.claim_ref = R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"team-a","name":")" + name +
                   R"(","uid":")" + claim.uid + "\"}";
  Names& there = made_[spec.name];
  for (const auto& [other, has] : world.labels)
    if (has.at(of.topology_key) == value) there.insert(other);
  send({.method = http::Method::kPost, .path = filters::kVolumesPath, .body = filters::volume(spec).body});
}

void BindingProvisioner::send(http::Request request) {
  const std::string path = request.path;
  const kube::Answer answer = kube::call(api_, std::move(request));
  if (!answer.ok() && trouble_.empty()) trouble_ = path + ": " + answer.result.error().message;
}

}  // namespace ashlar::binding
