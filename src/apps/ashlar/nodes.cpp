// `ashlar nodes`: what each node has free, device by device: '.' idle, '#' full, 1-9 tenths in use, '?' in use by a pod
// whose devices are not known.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <utility>
#include <vector>

#include "apps/ashlar/shared/ask.h"
#include "apps/ashlar/shared/table.h"
#include "apps/ashlar/verbs.h"
#include "text/amount_text.h"
#include "text/device_text.h"

namespace ashlar {
namespace {

using boost::json::object;

/// Pods of other schedulers do not report which devices they hold: of the devices without a known user, that number is
/// drawn as theirs.
std::string devices_picture(const object& node) {
  std::string picture;
  const DeviceMask unhealthy = parse_devices(text_of(node, "unhealthyCards"));
  std::int64_t idle = number_of(node, "idleCards");
  for (const boost::json::value& free : node.at("cardFreeMilli").as_array()) {
    const std::int64_t used = 1000 - free.as_int64();
    if (unhealthy.test(static_cast<int>(std::min<std::size_t>(picture.size(), kDevicesPerNodeMax - 1))))
      picture += 'x';
    else if (used <= 0)
      picture += idle-- > 0 ? '.' : '?';
    else
      picture += used >= 1000 ? '#' : static_cast<char>('0' + std::clamp<std::int64_t>(used / 100, 1, 9));
  }
  return picture;
}

std::string domains_text(const object& node) {
  std::string text;
  for (const auto& [level, value] : node.at("domains").as_object())
    text += (text.empty() ? "" : ",") + std::string(level) + "=" + std::string(value.as_string());
  return text;
}

/// "NVIDIA-H100 x4, NVIDIA-A100 x4" where the node has GPUs of several models.
std::string model_text(const object& node) {
  const boost::json::value* groups = node.if_contains("cardGroups");
  if (groups == nullptr) return text_of(node, "model");
  std::vector<std::pair<std::string, int>> models;
  for (const boost::json::value& value : groups->as_array()) {
    const std::string model = text_of(value.as_object(), "model");
    const int count = parse_devices(text_of(value.as_object(), "cards")).count();
    const auto it = std::find_if(models.begin(), models.end(), [&](const auto& m) { return m.first == model; });
    if (it == models.end())
      models.emplace_back(model, count);
    else
      it->second += count;
  }
  if (models.size() == 1) return models[0].first;
  std::string text;
  for (const auto& [model, count] : models)
    text += fmt::format("{}{} x{}", text.empty() ? "" : ", ", model.empty() ? "unknown" : model, count);
  return text;
}

/// "fp8, nvlink"; empty without any.
std::string capabilities_text(const object& devices) {
  const boost::json::value* names = devices.if_contains("capabilities");
  std::string text;
  if (names != nullptr)
    for (const boost::json::value& name : names->as_array())
      text += (text.empty() ? "" : ", ") + std::string(name.as_string());
  return text;
}

/// What is known of GPUs that are not all alike, a line for each kind.
std::string devices_text_of(const object& node) {
  const boost::json::value* groups = node.if_contains("cardGroups");
  if (groups == nullptr) return "";
  std::string text;
  for (const boost::json::value& value : groups->as_array()) {
    const object& group = value.as_object();
    const std::string model = text_of(group, "model");
    const DeviceMask devices = parse_devices(text_of(group, "cards"));
    text += (devices.count() == 1 ? "    GPU " : "    GPUs ") + device_ranges(devices) + ": " +
            (model.empty() ? "unknown model" : model);
    if (const std::int64_t memory = number_of(group, "memoryMiB"); memory > 0)
      text += ", " + amount_text(resource::kMemory, memory << 20);
    text += fmt::format(", island {}, NUMA node {}, PCIe switch {}", number_of(group, "island"),
                        number_of(group, "numaNode"), number_of(group, "pcieSwitch"));
    if (const std::string able = capabilities_text(group); !able.empty()) text += ", capabilities " + able;
    const boost::json::value* sliced = group.if_contains("sliced");
    if (sliced != nullptr && sliced->as_bool()) text += ", cut into slices: takes no pods";
    text += '\n';
  }
  return text;
}

/// Conditions that keep pods off the node, a line each.
std::string trouble_text(const object& node) {
  std::string text;
  if (const std::string closed = text_of(node, "closed"); !closed.empty()) text += "    closed: " + closed + '\n';
  if (const std::string devices = text_of(node, "closedCards"); !devices.empty())
    text += "    closed GPUs, claimed more than once: " + devices + '\n';
  if (const std::string devices = text_of(node, "unhealthyCards"); !devices.empty())
    text += "    unhealthy GPUs, which take no new pods: " + devices + '\n';
  if (const boost::json::value* taints = node.if_contains("taints"); taints != nullptr && !taints->as_array().empty()) {
    std::string list;
    for (const boost::json::value& taint : taints->as_array())
      list += (list.empty() ? "" : ", ") + std::string(taint.as_string());
    text += "    taints: " + list + '\n';
  }
  return text;
}

std::string nodes_text(const object& answer, const std::string& only) {
  if (!only.empty() && answer.at("nodes").as_array().empty()) refuse_name("node", only);
  Table table({"NAME", "MODEL", ">GPUS", ">IDLE", "USE", ">FREE-CPU", ">FREE-MEM", ">FREE-PODS", "DOMAINS"});
  for (const boost::json::value& value : answer.at("nodes").as_array()) {
    const object& n = value.as_object();
    table.add({text_of(n, "name"), model_text(n), std::to_string(number_of(n, "cards")),
               std::to_string(number_of(n, "idleCards")), devices_picture(n),
               fmt::format("{:.6g}", static_cast<double>(number_of(n, "freeMilliCores")) / 1000),
               rounded_bytes_word(number_of(n, "freeMemoryBytes")), std::to_string(number_of(n, "freePods")),
               domains_text(n)});
    const std::string able = only.empty() ? "" : capabilities_text(n);  // of all nodes the lines would be too many
    table.add_lines((able.empty() ? "" : "    capabilities: " + able + '\n') + devices_text_of(n) + trouble_text(n));
  }
  return table.text();
}

}  // namespace

void add_nodes(CLI::App& app) {
  auto options = std::make_shared<AskOptions>();
  auto name = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("nodes", "Free resources of each node, GPU by GPU");
  verb->add_option("NODE", *name, "Show only this node")->type_name("")->check([](const std::string& text) {
    return std::string(text.empty() ? "expected a node, got \"\"" : "");
  });
  options->add_to(*verb, {"table", "json"});
  verb->callback([options, name] {
    const std::string body =
        ask_scheduler(*options, "/api/v1/nodes" + (name->empty() ? std::string() : "?name=" + percent_encoded(*name)));
    print_answer(*options, body, "NodeList", [&](const object& answer) { return nodes_text(answer, *name); });
  });
}

}  // namespace ashlar
