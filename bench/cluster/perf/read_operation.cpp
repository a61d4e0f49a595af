#include "read_operation.h"

#include <algorithm>
#include <span>

#include "config/yaml/document.h"
#include "text/nearest_name.h"

namespace ashlar::bench::perf {
namespace {

using config::YamlReader;

constexpr std::int64_t kObjectsMax = 1'000'000;

void read_amount(YamlReader& reader, const YAML::Node& node, const char* value_key, const char* param_key,
                 Amount& into) {
  if (value_key != nullptr) into.value = reader.integer(node, value_key, into.value, 0, kObjectsMax);
  const std::string param = reader.text(node, param_key, "");
  if (param.empty()) return;
  if (param.size() < 2 || param.front() != '$')
    return reader.fail(node[param_key], std::string(param_key) + " must name a parameter, such as $initNodes");
  into.param = param.substr(1);
}

void read_count(YamlReader& reader, const YAML::Node& node, Operation& into) {
  read_amount(reader, node, "count", "countParam", into.count);
  read_amount(reader, node, nullptr, "countMultiplierParam", into.multiplier);
  if (node["count"].IsDefined() == node["countParam"].IsDefined())
    reader.fail(node, "it needs count or countParam, one of them");
}

std::string path_of(YamlReader& reader, const YAML::Node& node, const char* key) {
  const std::string name = reader.text(node, key, "");
  return name.empty() ? name : config::path_beside(reader.file(), name);
}

Texts pairs_of(YamlReader& reader, const YAML::Node& node, const char* what) {
  Texts pairs;
  if (!node.IsDefined() || node.IsNull()) return pairs;
  if (!node.IsMap()) return reader.fail(node, std::string(what) + " must be a map"), pairs;
  for (const auto& entry : node) pairs.emplace_back(entry.first.Scalar(), reader.scalar(entry.second, what));
  return pairs;
}

/// What of the language is not carried out is refused where a case uses it.
void refuse(YamlReader& reader, const YAML::Node& node, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (node[key].IsDefined()) reader.fail(node[key], std::string(key) + " is not supported yet");
}

void read_nodes(YamlReader& reader, const YAML::Node& node, Operation& into) {
  if (!reader.is_map(node, "createNodes",
                     {"opcode", "count", "countParam", "nodeTemplatePath", "labelNodePrepareStrategy",
                      "uniqueNodeLabelStrategy", "nodeAllocatableStrategy", "templateParams"}))
    return;
  read_count(reader, node, into);
  into.template_path = path_of(reader, node, "nodeTemplatePath");
  into.template_params = pairs_of(reader, node["templateParams"], "templateParams");
  const YAML::Node label = node["labelNodePrepareStrategy"];
  if (reader.is_map(label, "labelNodePrepareStrategy", {"labelKey", "labelValues"})) {
    into.label_key = reader.text(label, "labelKey", "");
    for (const auto& value : label["labelValues"]) into.label_values.push_back(reader.scalar(value, "labelValues"));
    if (into.label_key.empty() || into.label_values.empty()) reader.fail(label, "it needs labelKey and labelValues");
  }
  const YAML::Node unique = node["uniqueNodeLabelStrategy"];
  if (reader.is_map(unique, "uniqueNodeLabelStrategy", {"labelKey"}))
    into.unique_label_key = reader.text(unique, "labelKey", "");
  const YAML::Node allocatable = node["nodeAllocatableStrategy"];
  if (!reader.is_map(allocatable, "nodeAllocatableStrategy",
                     {"nodeAllocatable", "csiNodeAllocatable", "migratedPlugins"}))
    return;
  into.allocatable = pairs_of(reader, allocatable["nodeAllocatable"], "nodeAllocatable");
  refuse(reader, allocatable, {"csiNodeAllocatable", "migratedPlugins"});
}

void read_pods(YamlReader& reader, const YAML::Node& node, Operation& into) {
  if (!reader.is_map(
          node, "createPods",
          {"opcode", "count", "countParam", "countMultiplierParam", "podTemplatePath", "namespace", "collectMetrics",
           "skipWaitToCompletion", "persistentVolumeTemplatePath", "persistentVolumeClaimTemplatePath",
           "templateParams", "steadyState", "duration", "durationParam", "mixedMode"}))
    return;
  refuse(reader, node, {"steadyState", "duration", "durationParam", "mixedMode"});
  read_count(reader, node, into);
  into.template_path = path_of(reader, node, "podTemplatePath");
  into.template_params = pairs_of(reader, node["templateParams"], "templateParams");
  into.name_space = reader.text(node, "namespace", "");
  into.collects_metrics = reader.boolean(node, "collectMetrics", false);
  into.skips_wait = reader.boolean(node, "skipWaitToCompletion", false);
  into.volume_path = path_of(reader, node, "persistentVolumeTemplatePath");
  into.claim_path = path_of(reader, node, "persistentVolumeClaimTemplatePath");
  if (into.claim_path.empty() && !into.volume_path.empty())
    reader.fail(node["persistentVolumeTemplatePath"], "a volume needs persistentVolumeClaimTemplatePath");
  if (into.collects_metrics && into.skips_wait)
    reader.fail(node,
                "pods that are measured are waited for: collectMetrics and skipWaitToCompletion exclude each other");
}

void read_pod_sets(YamlReader& reader, const YAML::Node& node, Operation& into) {
  if (!reader.is_map(node, "createPodSets", {"opcode", "count", "countParam", "namespacePrefix", "createPodsOp"}))
    return;
  read_count(reader, node, into);
  into.prefix = reader.text(node, "namespacePrefix", "");
  if (into.prefix.empty()) reader.fail(node, "createPodSets needs namespacePrefix");
  const YAML::Node pods = node["createPodsOp"];
  if (!pods.IsDefined()) return reader.fail(node, "createPodSets needs createPodsOp");
  Operation of_each{.opcode = Opcode::kCreatePods, .place = config::yaml_place(reader.file(), pods.Mark())};
  read_pods(reader, pods, of_each);
  if (!of_each.name_space.empty()) reader.fail(pods["namespace"], "each set has a namespace of its own");
  into.of_each_set.push_back(std::move(of_each));
}

void read_namespaces(YamlReader& reader, const YAML::Node& node, Operation& into) {
  if (!reader.is_map(node, "createNamespaces", {"opcode", "count", "countParam", "prefix", "namespaceTemplatePath"}))
    return;
  read_count(reader, node, into);
  into.prefix = reader.text(node, "prefix", "");
  if (into.prefix.empty()) reader.fail(node, "createNamespaces needs prefix");
  into.template_path = path_of(reader, node, "namespaceTemplatePath");
}

void read_any(YamlReader& reader, const YAML::Node& node, Operation& into) {
  if (!reader.is_map(
          node, "it",
          {"opcode", "count", "countParam", "countMultiplierParam", "templatePath", "namespace", "templateParams"}))
    return;
  if (into.opcode == Opcode::kCreatePodGroups || node["count"].IsDefined() || node["countParam"].IsDefined())
    read_count(reader, node, into);
  into.template_path = path_of(reader, node, "templatePath");
  if (into.template_path.empty()) reader.fail(node, "it needs templatePath");
  into.template_params = pairs_of(reader, node["templateParams"], "templateParams");
  into.name_space = reader.text(node, "namespace", "");
}

void read_churn(YamlReader& reader, const YAML::Node& node, Operation& into) {
  if (!reader.is_map(node, "churn", {"opcode", "mode", "number", "intervalMilliseconds", "templatePaths", "namespace"}))
    return;
  constexpr std::string_view kModes[] = {"create", "recreate"};
  into.recreates = reader.choice(node, "mode", 0, kModes) == 1;
  if (!node["mode"].IsDefined()) reader.fail(node, "churn needs mode: create or recreate");
  into.number = reader.integer(node, "number", 0, 0, kObjectsMax);
  if (into.recreates && into.number == 0) reader.fail(node, "churn that recreates needs number");
  into.interval = Millis(reader.integer(node, "intervalMilliseconds", 500, 1, 3'600'000));
  for (const std::string& path : reader.texts(node, "templatePaths"))
    into.template_paths.push_back(config::path_beside(reader.file(), path));
  if (into.template_paths.empty()) reader.fail(node, "churn needs templatePaths");
  into.name_space = reader.text(node, "namespace", "");
}

void read_barrier(YamlReader& reader, const YAML::Node& node, Operation&) {
  if (!reader.is_map(node, "barrier", {"opcode", "stageRequirement", "namespaces", "labelSelector"})) return;
  refuse(reader, node, {"namespaces", "labelSelector"});
  constexpr std::string_view kStages[] = {"Scheduled", "Attempted"};
  if (reader.choice(node, "stageRequirement", 0, kStages) == 1)
    reader.fail(node["stageRequirement"], "stageRequirement Attempted is not supported yet");
}

void read_sleep(YamlReader& reader, const YAML::Node& node, Operation& into) {
  if (!reader.is_map(node, "sleep", {"opcode", "duration", "durationParam"})) return;
  into.duration = reader.duration(node, "duration", Millis(0));
  const std::string param = reader.text(node, "durationParam", "");
  if (!param.empty()) into.duration_param = param.front() == '$' ? param.substr(1) : param;
  if (param.empty() == !node["duration"].IsDefined())
    reader.fail(node, "sleep needs duration or durationParam, one of them");
}

void read_deletion(YamlReader& reader, const YAML::Node& node, Operation& into) {
  if (!reader.is_map(node, "deletePods",
                     {"opcode", "namespace", "labelSelector", "deletePodsPerSecond", "skipWaitToCompletion"}))
    return;
  refuse(reader, node, {"labelSelector"});
  into.name_space = reader.text(node, "namespace", "");
  if (into.name_space.empty()) reader.fail(node, "deletePods needs namespace");
  into.deletions_per_second = reader.integer(node, "deletePodsPerSecond", 0, 0, kObjectsMax);
  into.skips_wait = reader.boolean(node, "skipWaitToCompletion", false);
}

using ReadFields = void (*)(YamlReader&, const YAML::Node&, Operation&);
struct Row {
  std::string_view name;
  Opcode opcode;
  ReadFields read;
};
constexpr Row kOperations[] = {
    {"createNodes", Opcode::kCreateNodes, read_nodes},
    {"createNamespaces", Opcode::kCreateNamespaces, read_namespaces},
    {"createPods", Opcode::kCreatePods, read_pods},
    {"createPodSets", Opcode::kCreatePodSets, read_pod_sets},
    {"createPodGroups", Opcode::kCreatePodGroups, read_any},
    {"createAny", Opcode::kCreateAny, read_any},
    {"churn", Opcode::kChurn, read_churn},
    {"barrier", Opcode::kBarrier, read_barrier},
    {"sleep", Opcode::kSleep, read_sleep},
    {"deletePods", Opcode::kDeletePods, read_deletion},
};
/// Known to upstream's language and not carried out here.
constexpr std::string_view kRefused[] = {"createResourceDriver",     "createResourceClaims",   "allocResourceClaims",
                                         "createCompositePodGroups", "updateDeviceConditions", "checkPodScheduled",
                                         "startCollectingMetrics",   "stopCollectingMetrics"};

}  // namespace

Operation operation_of(YamlReader& reader, const YAML::Node& node) {
  Operation operation{.place = config::yaml_place(reader.file(), node.Mark())};
  if (!node.IsMap()) return reader.fail(node, "an operation must be a map"), operation;
  const std::string name = reader.text(node, "opcode", "");
  const YAML::Node opcode = node["opcode"];
  const auto row =
      std::find_if(std::begin(kOperations), std::end(kOperations), [&](const Row& r) { return r.name == name; });
  if (row != std::end(kOperations)) {
    operation.opcode = row->opcode;
    row->read(reader, node, operation);
  } else if (std::find(std::begin(kRefused), std::end(kRefused), name) != std::end(kRefused)) {
    reader.fail(opcode, "the operation " + name + " is not supported yet");
  } else if (name.empty()) {
    reader.fail(node, "an operation needs an opcode");
  } else {
    std::vector<std::string_view> known;
    for (const Row& r : kOperations) known.push_back(r.name);
    reader.fail(opcode, "unknown operation \"" + name + "\"" + did_you_mean(name, known));
  }
  return operation;
}

}  // namespace ashlar::bench::perf
