#include "live/read/facts_text.h"

#include <algorithm>
#include <vector>

#include "text/device_text.h"

namespace ashlar::kube {

std::string_view effect_text(ashlar::TaintEffect effect) {
  // no node has the last one
  constexpr std::string_view kEffects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", "Any"};
  return kEffects[static_cast<std::size_t>(effect)];
}

std::string taint_text(const ObjectNames& names, const ashlar::Taint& taint) {
  std::string text = names.label_text(taint.value);
  if (text == names.label_keys.name(taint.key).str() + "=") text.pop_back();
  return text.append(":").append(effect_text(taint.effect));
}

void write_capabilities(JsonWriter& w, const ObjectNames& names, const NodeColumns& nodes, DeviceClassId device_class) {
  if (device_class.is_none() || nodes.classes().row(device_class).capabilities.empty()) return;
  w.key("capabilities").begin_array();
  for (const CapabilityId id : nodes.classes().row(device_class).capabilities) w.string(names.capabilities.name(id));
  w.end_array();
}

void write_device_groups(JsonWriter& w, const ObjectNames& names, const NodeColumns& nodes, NodeId node) {
  const DeviceLayoutId id = nodes.facts(node).devices.layout;
  if (id.is_none()) return;
  const std::vector<DeviceFacts>& devices = nodes.layouts().row(id).devices;
  w.key("cardGroups").begin_array();
  for (std::size_t first = 0; first < devices.size(); ++first) {
    const DeviceFacts& of = devices[first];
    const auto end = devices.begin() + static_cast<std::ptrdiff_t>(first);
    if (std::find(devices.begin(), end, of) != end) continue;  // told with that one
    DeviceMask like;
    for (std::size_t i = first; i < devices.size(); ++i)
      if (devices[i] == of) like.set(static_cast<int>(i));
    w.begin_object().member("cards", devices_text(like));
    w.member("model", of.device_class.is_none() ? std::string_view() : names.models.name(of.device_class).view());
    write_capabilities(w, names, nodes, of.device_class);
    w.member("memoryMiB", of.memory.value).member("island", std::int64_t{of.island});
    w.member("numaNode", std::int64_t{of.numa_node}).member("pcieSwitch", std::int64_t{of.pcie_switch});
    w.member_bool("sliced", of.mode == DeviceMode::kSliced).end_object();
  }
  w.end_array();
}

}  // namespace ashlar::kube
