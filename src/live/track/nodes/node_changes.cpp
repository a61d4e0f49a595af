#include "live/track/nodes/node_changes.h"

#include <algorithm>

#include "live/track/nodes/annotations.h"
#include "live/track/nodes/csi_nodes.h"
#include "live/track/pods/bindings.h"
#include "live/track/pods/bound_pods.h"
#include "live/track/pods/foreign_pods.h"
#include "live/track/pods/pod_changes.h"
#include "live/track/pods/requests.h"
#include "live/track/unknown_fields.h"
#include "live/track/volumes/pod_volumes.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// A node that cannot be read takes nothing new and keeps its last valid facts and its pods; one that never could be
/// read does not exist yet.
void see_unread_node(TrackerData& t, const Node& node) {
  const NodeId id = t.names.nodes.find(node.name);
  if (id.is_none()) return;
  t.closings.edit(id.row()).problem = node.problem;
  close_or_open(t, id);
}

/// Whether nothing is another but what CSI drivers can attach, or which volumes are left. That changes with each pod
/// with volumes that comes or goes: a place on the node is lost only where it is too little now, see is_place_outdated.
bool differ_by_volumes_alone(const TrackerData& t, NodeFacts before, const NodeFacts& after) {
  before.allocatable.resize(std::max(before.allocatable.size(), after.allocatable.size()), 0);
  std::vector<std::int64_t> allocatable = after.allocatable;
  allocatable.resize(before.allocatable.size(), 0);
  for (std::size_t column = resource::kFirstExtended; column < allocatable.size(); ++column)
    if (is_volume_resource(t.names.resource_name(ResourceId(column)).view()))
      allocatable[column] = before.allocatable[column];
  if (allocatable != before.allocatable) return false;
  before.allocatable = after.allocatable;
  return before == after;
}

/// Reports the node's new facts to the engine, of a known node only what changed.
void report_facts(TrackerData& t, NodeId node, NodeFacts facts, bool is_new) {
  NodeRecord& record = t.nodes[node.row()];
  ++t.nodes_edition;
  if (is_new || !differ_by_volumes_alone(t, record.facts, facts)) record.reported_edition = t.nodes_edition;
  if (is_new) {
    t.out.add(NodeSeen{node, facts});
  } else {
    for (EventBody& change : node_changes(node, record.facts, facts)) t.out.add(std::move(change));
  }
  t.translator.replace(record.facts.devices.layout, facts.devices.layout);
  t.served_resources.replace(record.facts.allocatable, facts.allocatable);
  record.facts = std::move(facts);
}

void report_health(TrackerData& t, NodeId node, const DeviceMask& unhealthy) {
  NodeRecord& record = t.nodes[node.row()];
  if (record.unhealthy == unhealthy) return;
  record.reported_edition = ++t.nodes_edition;
  record.unhealthy = unhealthy;
  t.out.add(DeviceHealthChanged{node, unhealthy});
}

/// Anti-affinity of the node's pods applies to the domains that the node is in now. Cost: a few hash lookups for each
/// pod of the node that has such terms, if the node is in other domains.
void move_anti_affinity(TrackerData& t, NodeId node, const Labels& labels) {
  const NodeRecord& record = t.nodes[node.row()];
  if (record.owners.empty() || !t.anti_affinity.is_by_any_of(record.labels, labels)) return;
  for (const PodSlot slot : record.owners) {
    const PodRecord& r = t.pods[slot];
    ++t.owners_moved;
    t.anti_affinity.add(r.ns, r.rules, labels);  // first, so that an unchanged domain is no change
    t.anti_affinity.remove(r.ns, r.rules, record.labels);
  }
}

void count_labels(TrackerData& t, const Labels& before, const Labels& after) {
  const std::size_t keys_before = t.node_labels.size();
  for (const KeyValue& label : after) t.has_level_news = ++t.node_labels[label.key] == 1 || t.has_level_news;
  const bool has_new_keys = t.node_labels.size() != keys_before;
  for (const KeyValue& label : before)
    if (const auto it = t.node_labels.find(label.key); --it->second == 0) t.node_labels.erase(it);
  if (has_new_keys || t.node_labels.size() != keys_before) ++t.levels_edition;
}

void log_refused_resources(TrackerData& t, std::size_t from, const PooledString& node) {
  if (!t.listeners.log) return;
  for (std::size_t i = from; i < t.names.refused_resources().size(); ++i)
    t.listeners.log(LogLevel::kWarning,
                    {"node " + node.str() + " has " + t.names.refused_resources()[i].str() + ", but all " +
                         std::to_string(resource::kColumnsMax) +
                         " resource columns are in use: it is not tracked, and pods that request it are held",
                     "node", PooledString(), node});
}

}  // namespace

void upsert_node(TrackerData& t, Node& node) {
  note_unknown_fields(t, node.unknown_fields);
  node.labels = labels_with_drivers(t, node.name, std::move(node.labels));
  if (!node.problem.empty()) return see_unread_node(t, node);
  NodeId id = t.names.nodes.find(node.name);
  const bool is_new = id.is_none();
  if (is_new) id = t.names.nodes.add(node.name);
  if (id.row() >= t.nodes.size()) t.nodes.resize(id.row() + 1);
  const std::size_t columns = t.names.column_count();
  const std::size_t refused = t.names.refused_resources().size();
  NodeFacts facts = t.translator.node_facts(node);
  NodeRecord& record = t.nodes[id.row()];
  change_labels(t, id, node.labels);
  add_attachable(t, node.name, facts);
  const bool has_unanswered = is_new && t.unanswered_nodes.contains(node.name);
  if (has_unanswered) t.closings.edit(id.row()).has_unanswered = true;
  if (!t.closing_of(id).problem.empty()) t.closings.edit(id.row()).problem = PooledString();
  facts.is_ready = !t.closing_of(id).is_closed();
  state_devices(t, node, record, facts.devices);
  const DeviceMask unhealthy = unhealthy_devices(t, node, record, facts.devices.count);
  log_mistaken_key(t, node, record);
  const bool is_heartbeat = !is_new && facts == record.facts;
  if (!is_heartbeat) report_facts(t, id, std::move(facts), is_new);
  report_health(t, id, unhealthy);
  t.translator.images().set(id, node.images);
  if (is_heartbeat) return;
  log_refused_resources(t, refused, node.name);
  if (t.names.column_count() != columns || t.names.refused_resources().size() != refused) renew_demands(t);
  if (is_new && !t.nominated_early.empty()) take_nominated_early(t, node.name);
  const auto on_unknown_node = is_new ? t.on_unknown_node.find(node.name) : t.on_unknown_node.end();
  if (on_unknown_node == t.on_unknown_node.end()) return;
  const TrackerData::OnUnknownNode waiting = std::move(on_unknown_node->second);
  t.on_unknown_node.erase(on_unknown_node);
  for (const auto& [slot, generation] : waiting)
    if (t.pods.is_current(slot, generation) && t.pods[slot].phase == PodRecord::Phase::kOnUnknownNode)
      enter_bound(t, slot, id);
}

void close_or_open(TrackerData& t, NodeId node) {
  const NodeRecord& record = t.nodes[node.row()];
  const bool is_open = !t.closing_of(node).is_closed();
  if (record.facts.is_ready == is_open) return;
  NodeFacts facts = record.facts;
  facts.is_ready = is_open;
  report_node(t, node, std::move(facts));
}

void report_node(TrackerData& t, NodeId node, NodeFacts facts) { report_facts(t, node, std::move(facts), false); }

void change_labels(TrackerData& t, NodeId node, Labels labels) {
  NodeRecord& record = t.nodes[node.row()];
  if (record.labels == labels) return;
  count_labels(t, record.labels, labels);
  move_anti_affinity(t, node, labels);
  record.labels = std::move(labels);
  t.volumes.touch({VolumeTopic::Kind::kNodes, {}, {}});
}

void report_asked_labels(TrackerData& t) {
  AskedKeys& asked = t.translator.asked_keys();
  const bool is_any_on_nodes =
      std::ranges::any_of(asked.news(), [&](const PooledString& key) { return t.node_labels.contains(key); });
  asked.forget_news();
  for (std::size_t row = 0; is_any_on_nodes && row < t.nodes.size(); ++row) {
    const PooledString name = t.names.nodes.name(NodeId(row));
    if (name.empty()) continue;
    NodeFacts& facts = t.nodes[row].facts;
    std::vector<NodeLabel> labels = asked.labels_of(t.nodes[row].labels, name);
    if (labels == facts.labels) continue;
    facts.labels = std::move(labels);
    t.out.add(NodeSeen{NodeId(row), facts});  // the node itself is unchanged: no binding to it is re-evaluated
  }
}

void remove_node(TrackerData& t, const PooledString& name) {
  const NodeId id = t.names.nodes.find(name);
  if (id.is_none()) return;
  std::vector<PodSlot> waiting, unanswered;
  for (PodSlot slot = 0; slot < t.pods.slots(); ++slot) {
    if (t.pods[slot].node != id) continue;
    PodRecord& r = t.pods.edit(slot);
    set_mounted(t, slot, NodeId::none());
    if (r.phase == PodRecord::Phase::kBound)
      note_on_unknown_node(t, slot);
    else if (r.phase == PodRecord::Phase::kAssumed && r.is_bind_under_way) {
      unanswered.push_back(slot);
      // the engine returns it to waiting itself; a queued binding belongs to an old attempt
    } else if (r.phase == PodRecord::Phase::kAssumed) {
      ++r.bind_attempt;
      r.node = NodeId::none();
      r.phase = PodRecord::Phase::kWaiting;
      waiting.push_back(slot);
    } else if (r.phase == PodRecord::Phase::kNominated) {
      lose_nomination(t, slot);
    }
  }
  ++t.nodes_edition;  // gangs that were to start together with its pods check that before they are sent
  t.out.add(NodeGone{id});
  for (const PodSlot slot : waiting) wait_again(t, slot);
  for (const PodSlot slot : unanswered) {
    t.pods.edit(slot).unanswered_node = name;
    ++t.unanswered_nodes[name];
  }
  for (const PodSlot slot : unanswered) hold_until_answered(t, slot);
  count_labels(t, t.nodes[id.row()].labels, {});
  t.translator.replace(t.nodes[id.row()].facts.devices.layout, DeviceLayoutId::none());
  t.served_resources.replace(t.nodes[id.row()].facts.allocatable, {});
  t.nodes[id.row()] = NodeRecord{};
  if (t.closing_of(id).is_closed()) t.closings.edit(id.row()) = NodeClosing{};
  t.translator.images().forget(id);
  t.names.nodes.remove(id);
}

}  // namespace ashlar::kube
