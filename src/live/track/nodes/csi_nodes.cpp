#include "live/track/nodes/csi_nodes.h"

#include <algorithm>
#include <set>
#include <string>

#include "kubeclient/bind_outcome.h"
#include "live/track/nodes/node_changes.h"
#include "live/track/volumes/room_counts.h"

namespace ashlar::kube {
namespace {

constexpr std::string_view kAttachablePrefix = "attachable-volumes-csi-";
/// Of a node without a limit: more than any cluster has.
constexpr std::int64_t kUnlimitedVolumes = std::int64_t{1} << 40;
constexpr std::string_view kPseudoPrefix = "csinode ";

std::optional<std::int32_t> limit_of(const CsiNode* node, const PooledString& driver) {
  if (node == nullptr) return std::nullopt;
  std::optional<std::int32_t> limit;
  for (const CsiNode::Driver& of : node->drivers)
    if (of.name == driver && of.volumes_max) limit = of.volumes_max;
  return limit;
}

/// Volumes of the driver that pods of the node have: each once, and as often as pods have them.
struct Mounted {
  std::set<PooledString> handles;
  std::int64_t in_sum = 0;
};
Mounted mounted_on(const TrackerData& t, NodeId node, const PooledString& driver) {
  Mounted mounted;
  for (const PodSlot slot : t.nodes[node.row()].mounters)
    if (const auto attached = t.attached.find(slot); attached != t.attached.end())
      for (const AttachedVolume& volume : attached->second)
        if (volume.driver == driver) {
          mounted.handles.insert(volume.handle);
          ++mounted.in_sum;
        }
  return mounted;
}

/// What is free is then the limit less the distinct volumes that pods have or that are attached.
std::int64_t attachable(const TrackerData& t, NodeId node, const PooledString& name, const PooledString& driver) {
  const std::optional<std::int32_t> limit = limit_of(t.volumes.csi_node(name), driver);
  if (!limit) return kUnlimitedVolumes;
  Mounted mounted = node.is_none() ? Mounted{} : mounted_on(t, node, driver);
  for (const VolumeAttachment* attachment : t.volumes.attachments_on(name)) {
    const PersistentVolume* volume =
        attachment->attacher == driver ? t.volumes.volume(attachment->volume_name) : nullptr;
    const bool is_csi =
        volume != nullptr && volume->plugin == MigratedPlugin::kNone && !volume->attached.driver.empty();
    if (is_csi) mounted.handles.insert(volume->attached.handle);
  }
  const auto distinct = static_cast<std::int64_t>(mounted.handles.size());
  return std::max<std::int64_t>(0, *limit + mounted.in_sum - distinct);
}

/// Resources of limited drivers that some pod requests.
std::size_t limit_columns(const TrackerData& t) {
  return static_cast<std::size_t>(std::ranges::count_if(t.volumes.limited_drivers(), [&](const PooledString& driver) {
    return !t.names.find_resource(attachable_resource(driver)).is_none();
  }));
}

void refresh(TrackerData& t, NodeId node, const PooledString& name) {
  NodeRecord& record = t.nodes[node.row()];
  Labels labels = labels_with_drivers(t, name, record.labels);
  NodeFacts facts = record.facts;
  if (labels != record.labels) {
    change_labels(t, node, std::move(labels));
    facts.labels = t.translator.asked_keys().labels_of(record.labels, name);
  }
  add_attachable(t, name, facts);
  if (facts != record.facts) report_node(t, node, std::move(facts));
}

}  // namespace

PooledString attachable_resource(const PooledString& driver) { return std::string(kAttachablePrefix) + driver.str(); }

bool is_volume_resource(std::string_view name) { return name.starts_with(kAttachablePrefix) || is_room_resource(name); }

Labels labels_with_drivers(const TrackerData& t, const PooledString& node, Labels labels) {
  std::erase_if(labels, [](const KeyValue& label) {
    return label.key.view().starts_with(kPseudoPrefix) || label.key == kNodeNameKey;
  });
  labels.push_back({kNodeNameKey, node});
  if (const CsiNode* of = t.volumes.csi_node(node); of != nullptr) {
    labels.push_back({kCsiNodeLabel, {}});
    for (const CsiNode::Driver& driver : of->drivers)
      labels.push_back({std::string(kCsiDriverLabel) + driver.name.str(), {}});
    for (const PooledString& plugin : of->migrated_plugins)
      labels.push_back({std::string(kCsiMigratedLabel) + plugin.str(), {}});
  }
  std::ranges::sort(labels, [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; });
  labels.erase(std::unique(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.key == b.key; }),
               labels.end());
  return labels;
}

void set_allocatable(NodeFacts& facts, ResourceId column, std::int64_t amount) {
  if (column.row() >= facts.allocatable.size()) facts.allocatable.resize(column.row() + 1, 0);
  facts.allocatable[column.row()] = amount;
}

void add_attachable(TrackerData& t, const PooledString& node, NodeFacts& facts) {
  const NodeId id = t.names.nodes.find(node);
  for (const PooledString& driver : t.volumes.limited_drivers()) {
    const ResourceId column = t.names.find_resource(attachable_resource(driver));
    if (column.is_none()) continue;  // no pod has requested it, or it is held, see refusal_text
    set_allocatable(facts, column, attachable(t, id, node, driver));
  }
  if (!id.is_none()) add_rooms(t, id, facts);
}

bool has_new_limits(const TrackerData& t) { return limit_columns(t) != t.limit_columns_told; }

void settle_csi_nodes(TrackerData& t) {
  if (!t.is_driver_excess_told && !t.volumes.first_unlimited().empty() && t.listeners.log) {
    t.is_driver_excess_told = true;
    t.listeners.log(LogLevel::kWarning,
                    {"CSINodes tell limits of more than " + std::to_string(VolumeBook::kLimitedDriversMax) +
                     " drivers: those of " + bounded_name(t.volumes.first_unlimited()) + " and of more are not kept"});
  }
  const std::vector<PooledString> changed = t.volumes.take_nodes();
  if (has_new_limits(t)) {
    t.limit_columns_told = limit_columns(t);
    t.translator.forget_templates();
    for (std::size_t row = 0; row < t.nodes.size(); ++row)
      if (const PooledString name = t.names.nodes.name(NodeId(row)); !name.empty()) refresh(t, NodeId(row), name);
    return;
  }
  for (const PooledString& name : changed)
    if (const NodeId node = t.names.nodes.find(name); !node.is_none()) refresh(t, node, name);
}

}  // namespace ashlar::kube
