#include "live/track/nodes/annotations.h"

#include <utility>

#include "kubeclient/bind_outcome.h"
#include "kubeclient/pod_builder.h"
#include "text/nearest_name.h"

namespace ashlar::kube {
namespace {

void log_line(const TrackerData& t, const PooledString& node, NodeRecord& record, std::string text) {
  if (t.listeners.log && record.log_pace.admit(t.out.now(), text))
    t.listeners.log(LogLevel::kWarning, {text, "node", PooledString(), node});
}

void log_setting(const TrackerData& t, const PooledString& node, NodeRecord& record, std::string_view key,
                 const std::string& problem) {
  log_line(t, node, record, "annotation " + std::string(key) + " of node " + node.str() + " " + problem);
}

PooledString setting_of(const Node& node, std::string_view key) {
  const PooledString* found = find_label(node.annotations, key);
  return found == nullptr ? PooledString() : *found;
}

/// Reads the annotation where it has changed. A text that cannot be read leaves what was stated before.
void read_stated(const TrackerData& t, const Node& node, NodeRecord& record) {
  const PooledString setting = setting_of(node, kStatedDevicesAnnotation);
  if (setting == record.stated_setting) return;
  record.stated_setting = setting;
  Result<std::vector<StatedDevices>> stated = parse_stated_devices(setting.view());
  if (stated) {
    record.stated = *std::move(stated);
    return;
  }
  log_setting(t, node.name, record, kStatedDevicesAnnotation,
              "cannot be read: " + bounded_words(stated.error().message) + "; until it is corrected, " +
                  (record.stated.empty() ? "all GPUs are as the node's labels say" : "the GPUs are as stated before") +
                  " (write e.g. 0-3 model=NVIDIA-H100-80GB-HBM3 memory=80Gi; 4-7 model=NVIDIA-A100-SXM4-40GB sliced)");
}

/// A key of ours that is nearly the annotation's, or the annotation's own as a label.
bool is_mistaken(std::string_view key, std::string_view annotation, bool is_label) {
  const std::size_t near = annotation == kStatedDevicesAnnotation ? 1 : 2;  // a short word has more neighbours
  if (!is_our_annotation(key) || key.size() > annotation.size() + near) return false;
  const std::size_t distance = edit_distance(key, annotation);
  return distance <= near && (distance > 0 || is_label);
}

/// The first such key and the annotation that it was meant to be; empty if there is none.
std::pair<PooledString, std::string_view> mistaken_key(const Node& node) {
  for (const Labels* labels : {&node.annotations, &node.labels})
    for (const auto& [key, value] : *labels)
      for (const std::string_view annotation : {kUnhealthyAnnotation, kStatedDevicesAnnotation})
        if (is_mistaken(key.view(), annotation, labels == &node.labels)) return {key, annotation};
  return {};
}

}  // namespace

DeviceMask unhealthy_devices(TrackerData& t, const Node& node, NodeRecord& record, std::int32_t count) {
  const PooledString setting = setting_of(node, kUnhealthyAnnotation);
  if (setting == record.unhealthy_setting && count == record.facts.devices.count) return record.unhealthy;
  record.unhealthy_setting = setting;
  const DeviceMask named = parse_devices(setting);
  const DeviceMask known = named.among(count);
  if (named.is_empty() && !setting.empty()) {
    log_setting(t, node.name, record, kUnhealthyAnnotation,
                "is not a list of GPUs such as 0,2-3: '" + bounded_words(setting.view()) +
                    "'; until it is corrected, " +
                    (record.unhealthy.is_empty() ? "no GPU counts as unhealthy"
                                                 : "GPUs " + devices_text(record.unhealthy) + " stay unhealthy"));
    return record.unhealthy;
  }
  if (known != named)
    log_setting(t, node.name, record, kUnhealthyAnnotation,
                "names GPUs that the node does not have: '" + bounded_words(setting.view()) + "', of " +
                    std::to_string(count) +
                    " counted from 0; unhealthy GPUs: " + (known.is_empty() ? "none" : devices_text(known)));
  return known;
}

void state_devices(TrackerData& t, const Node& node, NodeRecord& record, NodeDevices& devices) {
  const bool is_news = record.stated_setting != setting_of(node, kStatedDevicesAnnotation) ||
                       devices.count != record.facts.devices.count;
  read_stated(t, node, record);
  if (record.stated.empty()) return;
  DeviceMask named;
  for (const StatedDevices& group : record.stated) group.devices.each([&](int i) { named.set(i); });
  if (is_news && named.among(devices.count) != named)
    log_setting(t, node.name, record, kStatedDevicesAnnotation,
                "names GPUs that the node does not have, which are left out: '" +
                    bounded_words(record.stated_setting.view()) + "', of " + std::to_string(devices.count) +
                    " counted from 0");
  devices = t.translator.devices(devices, record.stated);
}

void log_mistaken_key(const TrackerData& t, const Node& node, NodeRecord& record) {
  const auto [key, annotation] = mistaken_key(node);
  if (key == record.mistaken_key) return;
  record.mistaken_key = key;
  if (key.empty()) return;
  const std::string problem = key.view() == annotation ? " is ignored as a label; write it as an annotation"
                                                       : " is not a known key" + meant_text(annotation);
  log_line(t, node.name, record, bounded_name(key) + " of node " + node.name.str() + problem);
}

}  // namespace ashlar::kube
