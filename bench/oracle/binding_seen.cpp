#include "oracle/binding_seen.h"

#include <simdjson.h>

#include "cluster/filters/storage_objects.h"
#include "kubeclient/writes.h"

namespace ashlar::binding {
namespace {

using simdjson::dom::element;

std::string text_at(const element& object, std::string_view pointer) {
  std::string_view text;
  return object.at_pointer(pointer).get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

SeenPod pod_of(const element& object) {
  SeenPod pod{.node = text_at(object, "/spec/nodeName")};
  simdjson::dom::array conditions;
  if (object.at_pointer("/status/conditions").get(conditions) != simdjson::SUCCESS) return pod;
  for (const element condition : conditions)
    if (text_at(condition, "/type") == "PodScheduled" && text_at(condition, "/status") == "False")
      pod.refusal = text_at(condition, "/reason") + ": " + text_at(condition, "/message");
  return pod;
}

SeenClaim claim_of(const element& object) {
  SeenClaim claim{.uid = text_at(object, "/metadata/uid"),
                  .volume = text_at(object, "/spec/volumeName"),
                  .class_name = text_at(object, "/spec/storageClassName"),
                  .size = text_at(object, "/spec/resources/requests/storage"),
                  .selected_node = text_at(object, "/metadata/annotations/volume.kubernetes.io~1selected-node"),
                  .provisioner = text_at(object, "/metadata/annotations/volume.kubernetes.io~1storage-provisioner")};
  claim.is_completed = !text_at(object, "/metadata/annotations/pv.kubernetes.io~1bind-completed").empty();
  for (const element mode : object.at_pointer("/spec/accessModes").get_array())
    claim.access_modes.emplace_back(std::string_view(mode));
  return claim;
}

template <class Take>
Result<void> each_of(kube::Api& api, const std::string& path, Take&& take) {
  const kube::Answer answer = kube::call(api, {.path = path, .timeout = Millis(60'000)});
  if (!answer.ok()) return answer.result.error();
  try {
    simdjson::dom::parser parser;
    for (const element object : parser.parse(answer.body)["items"].get_array()) take(object);
  } catch (const simdjson::simdjson_error& error) {
    return Error{Error::Kind::kInvalid, path + ": " + error.what()};
  }
  return {};
}

}  // namespace

std::string Seen::digest() const {
  std::string text;
  for (const auto& [name, pod] : pods) text += name + " " + pod.node + " " + pod.refusal + "\n";
  for (const auto& [name, claim] : claims)
    text += name + " " + claim.volume + " " + claim.selected_node + " " + claim.provisioner +
            (claim.is_completed ? " completed\n" : "\n");
  for (const auto& [name, volume] : volumes)
    text += name + " " + volume.claim + " " + volume.claim_uid + " " + volume.phase + "\n";
  return text;
}

Result<Seen> look(kube::Api& api) {
  Seen seen;
  const auto name = [](const element& object) { return text_at(object, "/metadata/name"); };
  Result<void> done = each_of(api, "/api/v1/namespaces/team-a/pods",
                              [&](const element& object) { seen.pods[name(object)] = pod_of(object); });
  if (done)
    done = each_of(api, filters::claims_path("team-a"),
                   [&](const element& object) { seen.claims[name(object)] = claim_of(object); });
  if (done)
    done = each_of(api, filters::kVolumesPath, [&](const element& object) {
      seen.volumes[name(object)] = {text_at(object, "/spec/claimRef/name"), text_at(object, "/spec/claimRef/uid"),
                                    text_at(object, "/status/phase")};
    });
  if (!done) return done.error();
  return seen;
}

}  // namespace ashlar::binding
