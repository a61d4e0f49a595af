#include "kubeclient/pod_group_api.h"

#include "http/url.h"
#include "kubeclient/decode/json_reader.h"

namespace ashlar::kube {
namespace {

/// Whether an APIResourceList names podgroups.
bool lists_pod_groups(const std::string& body) {
  bool found = false;
  try {
    simdjson::ondemand::document document = json::Parser::of_thread().parse(body);
    json::each_field(document.get_value().value(), [&](std::string_view key, json::Value member) {
      if (key != "resources") return;
      json::each_item(member, [&](json::Value resource) {
        json::each_field(resource, [&](std::string_view name, json::Value part) {
          if (name == "name") found |= json::text_of(part) == "podgroups";
        });
      });
    });
  } catch (const simdjson::simdjson_error&) {
    return false;
  }
  return found;
}

void ask(Api& api, PodGroupVersion version, std::function<void(Result<PodGroupVersion>)> on_found) {
  http::Request request{.path = "/apis/" + std::string(group_version_text(version)), .timeout = Millis(10'000)};
  api.send(std::move(request), [&api, version, on_found = std::move(on_found)](const Answer& answer) {
    if (answer.ok() && lists_pod_groups(answer.body)) return on_found(version);
    if (!answer.ok() && answer.result.error().kind != Error::Kind::kNotFound) return on_found(answer.result.error());
    const PodGroupVersion older = version == PodGroupVersion::kV1        ? PodGroupVersion::kV1Beta1
                                  : version == PodGroupVersion::kV1Beta1 ? PodGroupVersion::kV1Alpha2
                                                                         : PodGroupVersion::kNone;
    if (older == PodGroupVersion::kNone) return on_found(older);
    ask(api, older, on_found);
  });
}

}  // namespace

std::string_view group_version_text(PodGroupVersion version) {
  switch (version) {
    case PodGroupVersion::kV1:
      return "scheduling.k8s.io/v1";
    case PodGroupVersion::kV1Beta1:
      return "scheduling.k8s.io/v1beta1";
    case PodGroupVersion::kV1Alpha2:
      return "scheduling.k8s.io/v1alpha2";
    case PodGroupVersion::kNone:
      break;
  }
  return {};
}

std::string pod_groups_path(PodGroupVersion version) {
  if (version == PodGroupVersion::kNone) return {};
  return "/apis/" + std::string(group_version_text(version)) + "/podgroups";
}

std::string pod_group_path(PodGroupVersion version, std::string_view ns, std::string_view name) {
  if (version == PodGroupVersion::kNone) return {};
  std::string path =
      "/apis/" + std::string(group_version_text(version)) + "/namespaces/" + http::percent_encode(ns) + "/podgroups";
  if (!name.empty()) path += "/" + http::percent_encode(name);
  return path;
}

std::string_view scheduled_condition_type(PodGroupVersion version) {
  return version == PodGroupVersion::kV1Alpha2 ? "PodGroupScheduled" : "PodGroupInitiallyScheduled";
}

void discover_pod_groups(Api& api, std::function<void(Result<PodGroupVersion>)> on_found) {
  ask(api, PodGroupVersion::kV1, std::move(on_found));
}

}  // namespace ashlar::kube
