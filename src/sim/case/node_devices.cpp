#include "sim/case/node_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "text/device_text.h"

namespace ashlar::sim {
namespace {

constexpr std::int64_t kTiB = std::int64_t{1} << 40;
constexpr std::string_view kShapeForm = "a shape such as h100x8 (model and GPUs), h100x4+a100x4 or cpu (no GPUs)";

/// "h100x4".
void add_part(CaseReading& c, Words& words, std::string_view part, std::vector<DeviceFacts>& devices) {
  const std::size_t x = part.rfind('x');
  int count = 0;
  const std::string_view number = x == std::string_view::npos ? std::string_view() : part.substr(x + 1);
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), count);
  if (number.empty() || x == 0 || failure != std::errc() || end != number.data() + number.size())
    return words.fail(fmt::format("\"{}\" is not a shape", part), kShapeForm);
  const std::int64_t in_total = static_cast<std::int64_t>(devices.size()) + count;
  if (count < 1 || in_total > kDevicesPerNodeMax)
    return words.fail(fmt::format("{} GPUs on one node", count < 1 ? count : in_total),
                      fmt::format("1 to {}", kDevicesPerNodeMax));
  devices.resize(static_cast<std::size_t>(in_total), {.device_class = c.file.names.models.of(part.substr(0, x))});
}

/// One amount for all, or one for each model in the order of the shape.
void set_memory(Words& words, std::string_view amounts, std::vector<DeviceFacts>& devices) {
  std::vector<MiB> stated;
  for (const std::string_view amount : split(amounts, '+')) stated.push_back(MiB(bytes_of(words, amount) >> 20));
  std::size_t models = devices.empty() ? 0 : 1;
  for (std::size_t i = 1; i < devices.size(); ++i)
    models += devices[i].device_class != devices[i - 1].device_class ? 1 : 0;
  if (stated.size() != 1 && stated.size() != models)
    return words.fail(fmt::format("{} amounts for {} model{}", stated.size(), models, models == 1 ? "" : "s"),
                      "one amount, or one for each model of the shape");
  std::size_t at = 0;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (i > 0 && stated.size() > 1 && devices[i].device_class != devices[i - 1].device_class) ++at;
    devices[i].memory = stated[at];
  }
}

/// Divides the GPUs, in order, into that many equal parts.
void divide(Words& words, const KeyValue& option, std::vector<DeviceFacts>& devices,
            std::uint8_t DeviceFacts::*number) {
  std::size_t parts = 0;
  const auto [end, failure] = std::from_chars(option.value.data(), option.value.data() + option.value.size(), parts);
  if (failure != std::errc() || end != option.value.data() + option.value.size() || parts == 0 ||
      devices.size() % parts != 0 || devices.empty())
    return words.fail(fmt::format("{} GPUs cannot be divided into \"{}\" equal parts", devices.size(), option.value),
                      fmt::format("a number by which they can, \"{}=2\"", option.key));
  for (std::size_t i = 0; i < devices.size(); ++i)
    devices[i].*number = static_cast<std::uint8_t>(i / (devices.size() / parts));
}

void set_sliced(Words& words, std::string_view list, std::vector<DeviceFacts>& devices) {
  const DeviceMask sliced = parse_devices(list);
  if (sliced.is_empty() || sliced.among(static_cast<std::int32_t>(devices.size())) != sliced)
    return words.fail(fmt::format("\"{}\" is not a list of GPUs of the node", list), "GPUs such as 2 or 0-3,6");
  for (std::size_t i = 0; i < devices.size(); ++i)
    devices[i].mode = sliced.test(static_cast<int>(i)) ? DeviceMode::kSliced : DeviceMode::kWhole;
}

bool are_alike(const std::vector<DeviceFacts>& devices) {
  return std::all_of(devices.begin(), devices.end(), [&](const DeviceFacts& d) {
    return d == DeviceFacts{.device_class = devices.front().device_class, .memory = devices.front().memory};
  });
}

}  // namespace

std::vector<DeviceFacts> devices_of(const CaseReading& c, const NodeFacts& facts) {
  if (!facts.devices.layout.is_none()) return c.file.names.layouts.value(facts.devices.layout).devices;
  return std::vector<DeviceFacts>(static_cast<std::size_t>(facts.devices.count),
                                  {.device_class = facts.devices.device_class, .memory = facts.devices.memory_each});
}

void take_shape(CaseReading& c, Words& words, StatedNode& node) {
  const std::string_view shape = words.take(kShapeForm);
  node.facts.allocatable = {256'000, 2 * kTiB, 16 * kTiB, 1000};
  if (shape == "cpu") return;
  for (const std::string_view part : split(shape, '+')) {
    add_part(c, words, part, node.devices);
    if (words.has_failed()) return;
  }
  node.facts.devices.count = static_cast<std::int32_t>(node.devices.size());
}

bool take_device_option(Words& words, std::vector<DeviceFacts>& devices) {
  const KeyValue option = key_value(words.peek());
  if (!option.has_value) return false;
  const auto take = [&] { words.take("an option about GPUs"); };
  if (option.key == "card-memory")
    take(), set_memory(words, option.value, devices);
  else if (option.key == "islands")
    take(), divide(words, option, devices, &DeviceFacts::island);
  else if (option.key == "numa")
    take(), divide(words, option, devices, &DeviceFacts::numa_node);
  else if (option.key == "switches")
    take(), divide(words, option, devices, &DeviceFacts::pcie_switch);
  else if (option.key == "sliced")
    take(), set_sliced(words, option.value, devices);
  else
    return false;
  return true;
}

void settle_devices(CaseReading& c, StatedNode& node, Millis at) {
  const auto count = static_cast<std::int32_t>(node.devices.size());
  if (count == 0) {
    node.facts.devices = {};
    return;
  }
  if (are_alike(node.devices)) {
    const DeviceFacts& all = node.devices.front();
    node.facts.devices = {.count = count, .memory_each = all.memory, .device_class = all.device_class};
    return;
  }
  const DeviceLayout layout{node.devices};
  node.facts.devices = devices_with(row_of<DeviceLayoutDefined>(c, at, c.file.names.layouts, layout), layout);
}

}  // namespace ashlar::sim
