#include "object_template.h"

#include <algorithm>

#include "config/yaml/document.h"
#include "config/yaml/reader.h"
#include "json_of.h"
#include "text/text_file.h"

namespace ashlar::bench::perf {
namespace {

constexpr std::string_view kNameMark = "@object-name@", kNodeMark = "@node-name@";
constexpr std::size_t kTextsMax = 20'000;

struct KindRow {
  std::string_view kind, plural;
  bool is_namespaced = true;
};
constexpr KindRow kKinds[] = {
    {"Pod", "pods"},
    {"Node", "nodes", false},
    {"Namespace", "namespaces", false},
    {"Service", "services"},
    {"Secret", "secrets"},
    {"ConfigMap", "configmaps"},
    {"PersistentVolume", "persistentvolumes", false},
    {"PersistentVolumeClaim", "persistentvolumeclaims"},
    {"StorageClass", "storageclasses", false},
    {"CSINode", "csinodes", false},
    {"CSIDriver", "csidrivers", false},
    {"CSIStorageCapacity", "csistoragecapacities"},
    {"PriorityClass", "priorityclasses", false},
    {"PodGroup", "podgroups"},
    {"PodDisruptionBudget", "poddisruptionbudgets"},
    {"ReplicaSet", "replicasets"},
    {"Deployment", "deployments"},
    {"StatefulSet", "statefulsets"},
    {"DaemonSet", "daemonsets"},
    {"Job", "jobs"},
};

void replace_all(std::string& text, std::string_view mark, std::string_view by) {
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
}

std::string scalar_at(const YAML::Node& map, const char* key) {
  const YAML::Node value = map.IsMap() ? map[key] : YAML::Node(YAML::NodeType::Undefined);
  return value.IsDefined() && value.IsScalar() ? value.Scalar() : std::string();
}

/// A map with apiVersion and kind, and metadata to write into.
Result<YAML::Node> object_of(const std::string& text, const std::string& file) {
  Result<YAML::Node> node = config::only_document(text, file);
  if (!node) return node;
  const auto wrong = [&](const std::string& what) { return invalid(config::yaml_place(file, node->Mark()) + what); };
  if (!node->IsMap()) return wrong("a template must be a map");
  if (scalar_at(*node, "apiVersion").empty() || scalar_at(*node, "kind").empty())
    return wrong("a template needs apiVersion and kind");
  const YAML::Node metadata = (*node)["metadata"];
  if (metadata.IsDefined() && !metadata.IsMap())
    return invalid(config::yaml_place(file, metadata.Mark()) + "metadata must be a map");
  return node;
}

void edit_pod(YAML::Node object, const ObjectEdits& edits) {
  YAML::Node spec = object["spec"];
  if (!edits.scheduler_name.empty() && !spec["schedulerName"].IsDefined()) spec["schedulerName"] = edits.scheduler_name;
  if (edits.has_node) spec["nodeName"] = std::string(kNodeMark);
  if (!edits.has_claim) return;
  YAML::Node volume;
  volume["name"] = "claimed";
  volume["persistentVolumeClaim"]["claimName"] = std::string(kNameMark) + "-claim";
  spec["volumes"].push_back(volume);
}

}  // namespace

Result<std::string> collection_path(const std::string& api_version, const std::string& kind,
                                    const std::string& name_space) {
  const auto row = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindRow& r) { return r.kind == kind; });
  if (row == std::end(kKinds)) return invalid("objects of kind \"" + kind + "\" are not supported yet");
  std::string path = api_version.find('/') == std::string::npos ? "/api/" : "/apis/";
  path += api_version;
  if (row->is_namespaced) path += "/namespaces/" + (name_space.empty() ? "default" : name_space);
  return path + "/" + std::string(row->plural);
}

Result<ObjectTemplate> ObjectTemplate::read(const std::string& file, ObjectEdits edits) {
  Result<std::string> text = read_text_file(file, config::YamlReader::kBytesMax);
  if (!text) return text.error();
  return ObjectTemplate(std::move(text).value(), file, std::move(edits));
}

Result<RenderedObject> ObjectTemplate::parsed(const std::string& filled) const try {
  Result<YAML::Node> read = object_of(filled, file_);
  if (!read) return read.error();
  YAML::Node object = *read;
  RenderedObject result{.kind = scalar_at(object, "kind"), .name = scalar_at(object["metadata"], "name")};
  YAML::Node metadata = object["metadata"];
  if (edits_.is_named || result.name.empty()) {
    result.name = kNameMark;
    metadata["name"] = std::string(kNameMark);
    metadata.remove("generateName");
  }
  std::string name_space = edits_.name_space.empty() ? scalar_at(metadata, "namespace") : edits_.name_space;
  Result<std::string> collection = collection_path(scalar_at(object, "apiVersion"), result.kind, name_space);
  if (!collection) return invalid(config::yaml_place(file_, object["kind"].Mark()) + collection.error().message);
  result.collection = std::move(collection).value();
  if (result.collection.find("/namespaces/") != std::string::npos)
    metadata["namespace"] = name_space.empty() ? "default" : name_space;
  if (result.kind == "Pod") edit_pod(object, edits_);
  result.body = json_of(object);
  return result;
} catch (const YAML::Exception& error) {
  return config::yaml_error(file_, error);
}

Result<RenderedObject> ObjectTemplate::render(const TemplateValues& values, const std::string& name,
                                              const std::string& node) {
  Result<std::string> filled = expand(text_, file_, values);
  if (!filled) return filled.error();
  auto found = by_text_.find(*filled);
  if (found == by_text_.end()) {
    Result<RenderedObject> object = parsed(*filled);
    if (!object) return object;
    if (by_text_.size() >= kTextsMax) by_text_.clear();
    found = by_text_.emplace(std::move(filled).value(), std::move(object).value()).first;
  }
  RenderedObject result = found->second;
  if (result.name == kNameMark) result.name = name;
  replace_all(result.body, kNameMark, name);
  replace_all(result.body, kNodeMark, node);
  return result;
}

Result<RenderedNode> rendered_node(const std::string& text, const std::string& file, const TemplateValues& values,
                                   const std::string& name, const NodeEdits& edits) try {
  const Result<std::string> filled = expand(text, file, values);
  if (!filled) return filled.error();
  Result<YAML::Node> read = object_of(*filled, file);
  if (!read) return read.error();
  YAML::Node object = *read;
  RenderedNode result{.object = {.kind = "Node", .name = scalar_at(object["metadata"], "name")}};
  if (scalar_at(object, "kind") != "Node")
    return invalid(config::yaml_place(file, object["kind"].Mark()) + "nodeTemplatePath must name a template of a Node");
  if (result.object.name.empty()) result.object.name = name;
  object["metadata"]["name"] = result.object.name;
  object["metadata"].remove("generateName");
  for (const auto& [key, value] : edits.labels) object["metadata"]["labels"][key] = quoted(value);
  YAML::Node status = object["status"];
  for (const auto& [resource, amount] : edits.allocatable)
    status["allocatable"][resource] = quoted(amount), status["capacity"][resource] = quoted(amount);
  if (!status["conditions"].IsDefined()) {
    YAML::Node ready;
    ready["type"] = "Ready";
    ready["status"] = quoted("True");
    status["conditions"].push_back(ready);
  }
  const YAML::Node taints = object["spec"].IsMap() ? object["spec"]["taints"] : YAML::Node();
  result.taints_patch =
      R"({"spec":{"taints":)" + (taints.IsDefined() && taints.IsSequence() ? json_of(taints) : "null") + "}}";
  result.object.collection = "/api/v1/nodes";
  result.object.body = json_of(object);
  return result;
} catch (const YAML::Exception& error) {
  return config::yaml_error(file, error);
}

}  // namespace ashlar::bench::perf
