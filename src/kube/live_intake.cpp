// The intake's ground: start-up, nodes, namespaces, priority classes and levels.
#include "kube/live_intake.h"

#include <algorithm>

namespace ashlar::kube {

LiveIntake::LiveIntake(IntakeOptions options, LiveSource& out, Listeners listeners)
    : options_(std::move(options)),
      out_(out),
      listeners_(std::move(listeners)),
      names_(options_.levels),
      translator_(names_, out_),
      anti_affinity_([this](const Text& ns) -> const Labels* {
        const auto it = namespaces_.find(ns);
        return it == namespaces_.end() ? nullptr : &it->second.labels;
      }) {
  for (const std::string& name : options_.scheduler_names) scheduler_names_.emplace_back(name);
  for (const std::string& model : options_.models) names_.models.of(Text(model));
  names_.queues.of(Text("root"));
}

void LiveIntake::open() {
  out_.stamp();
  out_.add(LevelsDefined{names_.nested_count(), static_cast<std::uint32_t>(names_.levels().size()) - names_.nested_count()});
  bool has_default = false;
  for (const LiveQueue& queue : options_.queues) {
    has_default = has_default || queue.name == kDefaultQueue;
    const bool is_root = queue.name == "root";
    const QueueId parent = queue.parent.empty() ? QueueId(0u) : names_.queues.of(Text(queue.parent));
    out_.add(QueueDefined{names_.queues.of(Text(queue.name)), is_root ? QueueId::none() : parent, queue.quota});
  }
  if (!has_default) out_.add(QueueDefined{names_.queues.of(Text(kDefaultQueue)), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
}

std::size_t LiveIntake::scheduler_index(const Text& scheduler_name) const {
  return static_cast<std::size_t>(std::find(scheduler_names_.begin(), scheduler_names_.end(), scheduler_name) - scheduler_names_.begin());
}

void LiveIntake::take(Change<Node>&& change) {
  if (change.kind == Change<Node>::Kind::kSynced) return;
  out_.stamp();
  if (change.kind == Change<Node>::Kind::kDeleted)
    lose_node(change.object.name);
  else
    see_node(change.object);
}

void LiveIntake::see_node(const Node& node) {
  NodeId id = names_.nodes.find(node.name);
  const bool is_new = id.is_none();
  if (is_new) id = names_.nodes.add(node.name);
  if (id.row() >= nodes_.size()) nodes_.resize(id.row() + 1);
  NodeFacts facts = translator_.node_facts(node);
  NodeRecord& record = nodes_[id.row()];
  if (!is_new && !anti_affinity_.is_empty() && record.labels != node.labels) move_anti_affinity(id, node.labels);
  record.labels = node.labels;
  if (!is_new && facts == record.facts) return;  // a heartbeat
  record.facts = facts;
  out_.add(NodeSeen{id, std::move(facts)});
  const auto parked = is_new ? parked_.find(node.name) : parked_.end();
  if (parked == parked_.end()) return;
  const Parked waiting = std::move(parked->second);
  parked_.erase(parked);
  for (const auto& [slot, generation] : waiting)
    if (pods_.is_current(slot, generation) && pods_[slot].phase == PodRecord::Phase::kParked) enter_bound(slot, id);
}

/// Pods that refuse company do so in the domains that their node is in now.
void LiveIntake::move_anti_affinity(NodeId node, const Labels& labels) {
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot) {
    const PodRecord& r = pods_[slot];
    if (r.phase != PodRecord::Phase::kBound || r.node != node) continue;
    anti_affinity_.remove(r.ns, r.rules, nodes_[node.row()].labels);
    anti_affinity_.add(r.ns, r.rules, labels);
  }
}

void LiveIntake::lose_node(const Text& name) {
  const NodeId id = names_.nodes.find(name);
  if (id.is_none()) return;
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot) {
    PodRecord& r = pods_[slot];
    if (r.node != id) continue;
    if (r.phase == PodRecord::Phase::kBound)
      park(slot);
    else if (r.phase == PodRecord::Phase::kAssumed) {  // the engine lets it wait again by itself; a binding under way is answered for an old turn
      ++r.bind_turn;
      r.node = NodeId::none();
      r.phase = PodRecord::Phase::kWaiting;
    } else if (r.phase == PodRecord::Phase::kNominated) {
      forget(slot);
    }
  }
  out_.add(NodeGone{id});
  nodes_[id.row()] = NodeRecord{};
  names_.nodes.remove(id);
}

void LiveIntake::announce_levels() {
  out_.add(LevelsDefined{names_.nested_count(), static_cast<std::uint32_t>(names_.levels().size()) - names_.nested_count()});
  // The new level is the last one; every node that carries its label is told anew.
  const LevelId level(names_.levels().size() - 1);
  const Text& label = names_.levels()[level.row()].label;
  for (std::size_t row = 0; row < nodes_.size(); ++row) {
    const Text* value = find_label(nodes_[row].labels, label);
    if (value == nullptr || names_.nodes.name(NodeId(row)).empty()) continue;
    NodeFacts& facts = nodes_[row].facts;
    facts.domains.resize(names_.levels().size());
    facts.domains[level.row()] = names_.domain(level, DomainId::none(), *value);
    out_.add(NodeSeen{NodeId(row), facts});
  }
}

/// None for an empty name, and where the name would be one level too many.
LevelId LiveIntake::level_for(const Text& name) {
  if (name.empty()) return LevelId::none();
  bool is_new = false;
  const LevelId level = names_.level_of_label(name, is_new);
  if (is_new) announce_levels();
  return level;
}

/// A namespace may be labelled after its pods were made, and its news may come later than theirs: pods that wait are looked at again by settle(),
/// once for all namespaces that changed.
void LiveIntake::take(Change<Namespace>&& change) {
  if (change.kind == Change<Namespace>::Kind::kSynced) return;
  const Text name = change.object.name;
  const Text queue_before = queue_name_in(name);
  if (change.kind == Change<Namespace>::Kind::kDeleted) {
    namespaces_.erase(name);
    anti_affinity_.note_namespace_changed();
  } else {
    const auto [it, is_new] = namespaces_.try_emplace(name);
    const bool has_other_labels = is_new || it->second.labels != change.object.labels;
    it->second = std::move(change.object);
    if (has_other_labels) anti_affinity_.note_namespace_changed();
  }
  if (queue_name_in(name) != queue_before) moved_namespaces_.push_back(name);
}

void LiveIntake::take(Change<PriorityClass>&& change) {
  if (change.kind == Change<PriorityClass>::Kind::kSynced) return;
  const Text name = change.object.name;
  if (change.kind == Change<PriorityClass>::Kind::kDeleted)
    priority_classes_.erase(name);
  else
    priority_classes_[name] = change.object.value;
  // Pods carry the number itself; PodGroups may name a class that is made after them.
  for (GangSlot slot = 0; slot < gangs_.slots(); ++slot)
    if (gangs_[slot].is_used && gangs_[slot].priority_class == name) touch(slot);
}

std::size_t LiveIntake::parked_count() const {
  std::size_t count = 0;
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot) count += pods_[slot].phase == PodRecord::Phase::kParked ? 1 : 0;
  return count;
}

std::size_t LiveIntake::quarantined_count() const {
  std::size_t count = 0;
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot)
    count += pods_[slot].phase == PodRecord::Phase::kHeld && pods_[slot].hold == HoldReason::kQuarantined ? 1 : 0;
  return count;
}

void LiveIntake::settle() {
  out_.stamp();
  if (!moved_namespaces_.empty()) refresh_queues();
  if (anti_affinity_seen_ != anti_affinity_.change_count()) refresh_constraints();
  // evaluate() touches no other gang, and what it does to its own it has seen: the mark falls afterwards.
  std::vector<GangSlot> dirty;
  dirty.swap(dirty_);
  for (const GangSlot slot : dirty) {
    if (!gangs_[slot].is_used || !gangs_[slot].is_dirty) continue;
    evaluate(slot);
    gangs_[slot].is_dirty = false;
  }
}

void LiveIntake::note_taken() {
  job_rows_.settle();
  member_rows_.settle();
}

Millis LiveIntake::tick(Millis now) {
  while (!impatient_.empty() && impatient_.front().first <= now) {
    const auto [ns, name] = impatient_.front().second;
    impatient_.pop_front();
    for (const bool is_pod_group : {false, true}) {
      const GangSlot slot = gangs_.find(ns, name, is_pod_group);
      if (slot == kNoGang || !gangs_[slot].has_timer) continue;
      gangs_[slot].has_timer = false;
      if (!gangs_[slot].is_open) hold_members(slot);
    }
  }
  return impatient_.empty() ? Millis::max() : impatient_.front().first;
}

}  // namespace ashlar::kube
