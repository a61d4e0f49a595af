#include "sim/scenario/node_gpus.h"

#include <algorithm>

#include "sim/trace/text_source.h"
#include "text/amount_text.h"

namespace ashlar::sim {
namespace {

constexpr IntegerForm kDevices{0, kDevicesPerNodeMax, "the number of GPUs of a node, a whole number 0..128"};
constexpr IntegerForm kLike{1, kDevicesPerNodeMax, "the number of like GPUs, a whole number 1..128"};
constexpr IntegerForm kParts{1, kDevicesPerNodeMax, "a number of equal parts, a whole number 1..128"};

bool read_flag(YamlMap& map, const std::string& key) {
  const std::string text = map.text(key).value_or("false");
  if (text != "true" && text != "false") map.reject(key, YamlMap::expected("true or false", text));
  return text == "true";
}

/// An entry of `gpus`; what it leaves out is as the node says.
void add_like(YamlMap& map, const ScenarioNode& node, std::vector<ScenarioDevice>& devices) {
  const std::int64_t count = map.integer("count", kLike).value_or(1);
  ScenarioDevice device{.model = map.text("model").value_or(node.model)};
  device.memory = read_gpu_memory(map, node.gpu_memory);
  device.is_sliced = read_flag(map, "sliced");
  map.finish();
  devices.insert(devices.end(), static_cast<std::size_t>(count), device);
}

/// Numbers the parts into which the GPUs, in order, are divided.
void divide(YamlMap& map, const std::string& key, std::vector<ScenarioDevice>& devices,
            std::uint8_t ScenarioDevice::*number) {
  const std::optional<std::int64_t> parts = map.integer(key, kParts);
  if (!parts) return;
  const auto count = static_cast<std::size_t>(*parts);
  if (devices.empty()) return map.reject(key, "expected it only on nodes with GPUs");
  if (devices.size() % count != 0)
    return map.reject(key, "expected a number by which " + std::to_string(devices.size()) +
                               " GPUs can be divided, got \"" + std::to_string(*parts) + "\"");
  for (std::size_t i = 0; i < devices.size(); ++i)
    devices[i].*number = static_cast<std::uint8_t>(i / (devices.size() / count));
}

}  // namespace

MiB read_gpu_memory(YamlMap& map, MiB otherwise) {
  const std::optional<std::string> text = map.text("gpu_memory");
  if (!text) return otherwise;
  const Result<MiB> memory = parse_gpu_memory(*text);
  if (!memory) map.reject("gpu_memory", printable(memory.error().message));
  return memory ? *memory : MiB(0);
}

void read_gpus(YamlMap& map, YamlMistake& mistake, ScenarioNode& node) {
  const YAML::Node* gpus = map.find("gpus");  // first, so that it is the first that a misspelt key may mean
  node.gpu_memory = read_gpu_memory(map);
  node.model = map.text("model").value_or("");
  std::vector<ScenarioDevice> devices;
  if (gpus != nullptr && gpus->IsSequence()) {
    for (const auto& [item, where] : map.items("gpus")) {
      YamlMap like(mistake, item, where);
      add_like(like, node, devices);
    }
    if (devices.size() > static_cast<std::size_t>(kDevicesPerNodeMax))
      return map.reject("gpus", "expected at most 128 GPUs on one node, got " + std::to_string(devices.size()));
  } else if (gpus != nullptr && gpus->IsMap()) {
    return map.reject("gpus", "expected a number, or a list such as [{count: 4, model: H100}], got a map");
  } else {
    devices.assign(static_cast<std::size_t>(map.integer("gpus", kDevices).value_or(0)),
                   {.model = node.model, .memory = node.gpu_memory});
  }
  divide(map, "islands", devices, &ScenarioDevice::island);
  divide(map, "numa", devices, &ScenarioDevice::numa_node);
  divide(map, "switches", devices, &ScenarioDevice::pcie_switch);
  node.gpus = static_cast<std::int32_t>(devices.size());
  const ScenarioDevice like_the_node{.model = node.model, .memory = node.gpu_memory};
  if (std::any_of(devices.begin(), devices.end(), [&](const ScenarioDevice& d) { return d != like_the_node; }))
    node.devices = std::move(devices);
}

}  // namespace ashlar::sim
