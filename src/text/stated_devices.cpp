#include "text/stated_devices.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "text/amount_text.h"
#include "text/device_text.h"
#include "text/in_quotes.h"
#include "text/nearest_name.h"

namespace ashlar {
namespace {

/// Of a model. A node may write 256 KiB, and conditions of pods list the models that are known.
constexpr std::size_t kModelBytesMax = 253;
constexpr std::string_view kWords[] = {"model=", "memory=", "island=", "numa=", "switch=", "sliced"};

/// The first part up to one of these characters; takes it, and them, from `rest`.
std::string_view next_part(std::string_view& rest, char divider) {
  const std::size_t end = rest.find(divider);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

Result<std::uint8_t> number_of(std::string_view word, std::string_view value) {
  std::uint8_t number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (failure != std::errc() || end != value.data() + value.size() || number >= kDevicesPerNodeMax)
    return invalid(in_quotes(word) + " needs a number 0..127");
  return number;
}

/// Whether the group says already what this key says.
bool is_stated(const StatedDevices& group, std::string_view key) {
  const std::pair<std::string_view, bool> stated[] = {
      {"model=", group.model.has_value()},        {"memory=", group.memory.has_value()},
      {"island=", group.island.has_value()},      {"numa=", group.numa_node.has_value()},
      {"switch=", group.pcie_switch.has_value()}, {"sliced", group.is_sliced}};
  return std::ranges::any_of(stated, [&](const auto& one) { return one.first == key && one.second; });
}

std::optional<Error> take_word(std::string_view word, StatedDevices& into) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals == std::string_view::npos ? word.size() : equals + 1);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
  if (is_stated(into, key)) return invalid(in_quotes(key) + " stands twice for GPUs " + device_ranges(into.devices));
  if (word == "sliced") {
    into.is_sliced = true;
  } else if (key == "model=") {
    if (value.empty()) return invalid("\"model=\" needs the name of a model");
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
    if (value.size() > kModelBytesMax || std::ranges::any_of(value, is_control))
      return invalid(in_quotes(word) + " is not the name of a model: it has control characters, or more than " +
                     std::to_string(kModelBytesMax) + " bytes");
    into.model = std::string(value);
  } else if (key == "memory=") {
    const Result<MiB> memory = parse_gpu_memory(value);
    if (!memory) return invalid("memory: " + memory.error().message);
    into.memory = *memory;
  } else if (key == "island=" || key == "numa=" || key == "switch=") {
    const Result<std::uint8_t> number = number_of(word, value);
    if (!number) return number.error();
    (key == "island=" ? into.island : key == "numa=" ? into.numa_node : into.pcie_switch) = *number;
  } else {
    return invalid(in_quotes(word) + " is not known" + did_you_mean(key, kWords));
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<StatedDevices>> parse_stated_devices(std::string_view text) {
  std::vector<StatedDevices> groups;
  DeviceMask named;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view words = next_part(rest, ';');
    StatedDevices group;
    bool has_devices = false;
    while (!words.empty()) {
      const std::string_view word = next_part(words, ' ');
      if (word.empty()) continue;
      if (has_devices) {
        if (std::optional<Error> error = take_word(word, group)) return *std::move(error);
        continue;
      }
      has_devices = true;
      group.devices = parse_devices(word);
      if (group.devices.is_empty()) return invalid(in_quotes(word) + " is not a list of GPUs such as 0,2-3");
    }
    if (!has_devices) continue;  // a ";" at the end
    DeviceMask twice;
    group.devices.each([&](int i) {
      if (named.test(i)) twice.set(i);
      named.set(i);
    });
    if (!twice.is_empty()) return invalid("GPU " + device_ranges(twice) + " is named twice");
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace ashlar
