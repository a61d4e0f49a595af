#include "case_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "config/yaml/document.h"
#include "config/yaml/reader.h"
#include "read_operation.h"
#include "text/duration_text.h"
#include "text/text_file.h"

namespace ashlar::bench::perf {
namespace {

using config::YamlReader;

Workload workload_of(YamlReader& reader, const YAML::Node& node) {
  Workload workload;
  if (!reader.is_map(node, "a workload",
                     {"name", "labels", "params", "threshold", "thresholdMetricSelector", "featureGates"}))
    return workload;
  workload.name = reader.text(node, "name", "");
  if (workload.name.empty()) reader.fail(node, "a workload needs a name");
  workload.labels = reader.texts(node, "labels");
  const auto number = [](const YAML::Node& value) { return value.IsDefined() && value.IsScalar(); };
  if (number(node["threshold"])) workload.threshold = reader.integer(node, "threshold", 0, 0, 1'000'000);
  const YAML::Node params = node["params"];
  if (params.IsDefined() && !params.IsMap()) reader.fail(params, "params must be a map");
  for (const auto& entry : params)
    if (!workload.params.emplace(entry.first.Scalar(), reader.scalar(entry.second, entry.first.Scalar())).second)
      reader.fail(entry.first, "\"" + entry.first.Scalar() + "\" is given twice");
  return workload;
}

void read_our_key(YamlReader& reader, const YAML::Node& node, Case& into) {
  if (!reader.is_map(node, "ashlar", {"times", "notYet", "remark"})) return;
  into.times = reader.integer(node, "times", into.times, 1, 1000);
  into.not_yet = reader.text(node, "notYet", "");
  into.remark = reader.text(node, "remark", "");
}

Case case_of(YamlReader& reader, const YAML::Node& node) {
  Case a_case;
  a_case.file = reader.file();
  if (!reader.is_map(node, "a case",
                     {"name", "labels", "defaultPodTemplatePath", "workloadTemplate", "workloads", "featureGates",
                      "schedulerConfigPath", "metricsCollectorConfig", "defaultThresholdMetricSelector", "ashlar"}))
    return a_case;
  a_case.name = reader.text(node, "name", "");
  if (a_case.name.empty()) reader.fail(node, "a case needs a name");
  a_case.pod_template_path = reader.text(node, "defaultPodTemplatePath", "");
  if (!a_case.pod_template_path.empty())
    a_case.pod_template_path = config::path_beside(a_case.file, a_case.pod_template_path);
  for (const char* key : {"featureGates", "schedulerConfigPath", "metricsCollectorConfig"})
    if (node[key].IsDefined()) a_case.unapplied.emplace_back(key);
  read_our_key(reader, node["ashlar"], a_case);
  if (reader.is_list(node["workloadTemplate"], "workloadTemplate"))
    for (const auto& operation : node["workloadTemplate"]) a_case.operations.push_back(operation_of(reader, operation));
  if (a_case.operations.empty()) reader.fail(node, "a case needs a workloadTemplate with operations");
  if (reader.is_list(node["workloads"], "workloads"))
    for (const auto& workload : node["workloads"]) {
      a_case.workloads.push_back(workload_of(reader, workload));
      if (a_case.workload(a_case.workloads.back().name) != &a_case.workloads.back())
        reader.fail(workload, "a second workload \"" + a_case.workloads.back().name + "\"");
    }
  return a_case;
}

/// Replaces parameters by their values; the first error is kept.
class Filling {
 public:
  Filling(const Case& a_case, const Params& params) : case_(a_case), params_(params) {}

  bool is_ok() const { return !error_.has_value(); }
  const Error& error() const { return *error_; }

  void fill(Operation op, std::vector<Operation>& out) {
    fill(op, op.count);
    fill(op, op.multiplier);
    for (auto& [name, value] : op.template_params)
      if (value.size() > 1 && value.front() == '$') value = param(op, value.substr(1));
    if (!op.duration_param.empty()) fill_duration(op);
    if (op.opcode == Opcode::kCreatePodSets) return fill_sets(op, out);
    if (op.opcode == Opcode::kCreatePods && op.template_path.empty()) op.template_path = case_.pod_template_path;
    if (op.opcode == Opcode::kCreatePods && op.template_path.empty())
      fail(op, "createPods without podTemplatePath in a case without defaultPodTemplatePath");
    out.push_back(std::move(op));
  }

 private:
  void fail(const Operation& op, const std::string& message) {
    if (is_ok()) error_ = invalid(op.place + message);
  }
  std::string param(const Operation& op, const std::string& name) {
    const auto found = params_.find(name);
    if (found != params_.end()) return found->second;
    fail(op, "the workload has no parameter \"" + name + "\"");
    return {};
  }
  void fill(const Operation& op, Amount& amount) {
    if (amount.param.empty()) return;
    const std::string text = param(op, amount.param);
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), amount.value);
    if (is_ok() && (code != std::errc() || end != text.data() + text.size() || amount.value < 0))
      fail(op, "the parameter \"" + amount.param + "\" must be a number of objects, not \"" + text + "\"");
    amount.param.clear();
  }
  void fill_duration(Operation& op) {
    const Result<Millis> duration = parse_duration(param(op, op.duration_param));
    if (duration)
      op.duration = *duration;
    else
      fail(op, "the parameter \"" + op.duration_param + "\": " + duration.error().message);
    op.duration_param.clear();
  }
  void fill_sets(const Operation& sets, std::vector<Operation>& out) {
    for (std::int64_t i = 0; i < sets.count.value && is_ok(); ++i)
      for (Operation one : sets.of_each_set) {
        one.name_space = sets.prefix + "-" + std::to_string(i);
        fill(std::move(one), out);
      }
  }

  const Case& case_;
  const Params& params_;
  std::optional<Error> error_;
};

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

const Workload* Case::workload(std::string_view of_name) const {
  const auto found =
      std::find_if(workloads.begin(), workloads.end(), [&](const Workload& w) { return w.name == of_name; });
  return found == workloads.end() ? nullptr : &*found;
}

Result<std::vector<Case>> parse_cases(std::string_view text, const std::string& file) try {
  YamlReader reader(file);
  const YAML::Node document = reader.document(text);
  std::vector<Case> cases;
  if (reader.is_list(document, "a file of cases"))
    for (const auto& node : document) {
      cases.push_back(case_of(reader, node));
      const auto same = [&](const Case& other) { return other.name == cases.back().name; };
      if (std::find_if(cases.begin(), cases.end(), same) != cases.end() - 1)
        reader.fail(node, "a second case \"" + cases.back().name + "\"");
    }
  if (!reader.is_ok()) return reader.error();
  return cases;
} catch (const YAML::Exception& error) {
  return config::yaml_error(file, error);
}

Result<std::vector<Case>> read_cases(const std::string& file) {
  const Result<std::string> text = read_text_file(file, config::YamlReader::kBytesMax);
  if (!text) return text.error();
  return parse_cases(*text, file);
}

Result<std::vector<Operation>> instantiated(const Case& a_case, const Params& params) {
  Filling filling(a_case, params);
  std::vector<Operation> operations;
  for (const Operation& op : a_case.operations) filling.fill(op, operations);
  if (!filling.is_ok()) return filling.error();
  return operations;
}

Params scaled(const Params& params, double nodes, double pods) {
  Params result = params;
  for (auto& [name, value] : result) {
    const double factor = ends_with(name, "Nodes")                              ? nodes
                          : ends_with(name, "Pods") || ends_with(name, "Gangs") ? pods
                                                                                : 1;
    double number = 0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (code != std::errc() || end != value.data() + value.size() || factor == 1) continue;
    value = std::to_string(std::max(1LL, std::llround(number * factor)));
  }
  return result;
}

}  // namespace ashlar::bench::perf
