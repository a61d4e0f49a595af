// The tracker's ground: start-up, nodes, namespaces, priority classes and levels.
#include "live/track/tracker.h"

#include <algorithm>
#include <utility>

namespace ashlar::kube {

Tracker::Tracker(TrackerOptions options, EventBuffer& out, Listeners listeners)
    : options_(std::move(options)),
      out_(out),
      listeners_(std::move(listeners)),
      names_(options_.levels),
      translator_(names_, out_),
      anti_affinity_([this](const PooledString& ns) -> const Labels* {
        const auto it = namespaces_.find(ns);
        return it == namespaces_.end() ? nullptr : &it->second.labels;
      }),
      company_(anti_affinity_, translator_) {
  for (const std::string& name : options_.scheduler_names) scheduler_names_.emplace_back(name);
  for (const std::string& model : options_.models) names_.configured_model(PooledString(model));
  names_.queues.of(PooledString("root"));
}

void Tracker::open() {
  out_.stamp();
  opened_ = out_.now();
  out_.add(LevelsDefined{names_.nested_count(), static_cast<std::uint32_t>(names_.levels().size()) - names_.nested_count()});
  bool has_default = false;
  for (const QueueSettings& queue : options_.queues) {
    has_default = has_default || queue.name == kDefaultQueue;
    const bool is_root = queue.name == "root";
    const QueueId parent = queue.parent.empty() ? QueueId(0u) : names_.queues.of(PooledString(queue.parent));
    out_.add(QueueDefined{names_.queues.of(PooledString(queue.name)), is_root ? QueueId::none() : parent, queue.quota});
  }
  if (!has_default) out_.add(QueueDefined{names_.queues.of(PooledString(kDefaultQueue)), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
}

std::size_t Tracker::scheduler_index(const PooledString& scheduler_name) const {
  return static_cast<std::size_t>(std::find(scheduler_names_.begin(), scheduler_names_.end(), scheduler_name) - scheduler_names_.begin());
}

void Tracker::take(Change<Node>&& change) {
  if (change.kind == Change<Node>::Kind::kSynced) return;
  out_.stamp();
  if (change.kind == Change<Node>::Kind::kDeleted)
    lose_node(change.object.name);
  else
    see_node(change.object);
}

void Tracker::see_node(const Node& node) {
  if (!node.problem.empty()) return see_unread_node(node);
  NodeId id = names_.nodes.find(node.name);
  const bool is_new = id.is_none();
  if (is_new) id = names_.nodes.add(node.name);
  if (id.row() >= nodes_.size()) nodes_.resize(id.row() + 1);
  const std::size_t columns = names_.column_count();
  const std::size_t refused = names_.refused_resources().size();
  NodeFacts facts = translator_.node_facts(node);
  NodeRecord& record = nodes_[id.row()];
  if (record.labels != node.labels) count_labels(record.labels, node.labels);
  if (!is_new && !anti_affinity_.is_empty() && record.labels != node.labels) move_anti_affinity(id, node.labels);
  record.labels = node.labels;
  record.problem = PooledString();
  if (is_new) record.is_asked = asked_nodes_.contains(node.name);
  facts.is_ready = !record.is_closed();
  if (!is_new && facts == record.facts) return;  // a heartbeat
  record.facts = std::move(facts);
  tell_node(id);
  say_what_is_refused(refused, node.name);
  if (names_.column_count() != columns || names_.refused_resources().size() != refused) renew_demands();
  const auto on_unknown_node = is_new ? on_unknown_node_.find(node.name) : on_unknown_node_.end();
  if (on_unknown_node == on_unknown_node_.end()) return;
  const OnUnknownNode waiting = std::move(on_unknown_node->second);
  on_unknown_node_.erase(on_unknown_node);
  for (const auto& [slot, generation] : waiting)
    if (pods_.is_current(slot, generation) && pods_[slot].phase == PodRecord::Phase::kOnUnknownNode) enter_bound(slot, id);
}

/// A node that cannot be read takes nothing new and keeps its last good facts, and so its pods; one that never could be read is not there yet.
void Tracker::see_unread_node(const Node& node) {
  const NodeId id = names_.nodes.find(node.name);
  if (id.is_none()) return;
  nodes_[id.row()].problem = node.problem;
  close_or_open(id);
}

void Tracker::close_or_open(NodeId node) {
  NodeRecord& record = nodes_[node.row()];
  if (record.facts.is_ready == !record.is_closed()) return;
  record.facts.is_ready = !record.is_closed();
  tell_node(node);
}

void Tracker::tell_node(NodeId node) {
  NodeRecord& record = nodes_[node.row()];
  record.told_at = ++nodes_edition_;
  out_.add(NodeSeen{node, record.facts});
}

std::string Tracker::node_trouble(NodeId node) const {
  const NodeRecord& record = nodes_[node.row()];
  if (!record.problem.empty()) return bounded_words(record.problem.view(), kDetailMax);
  if (record.unread_pods == 0 && !record.is_asked) return {};
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot) {
    const PodRecord& r = pods_[slot];
    if (record.is_asked && r.asked_node == names_.nodes.name(node))
      return "whether pod " + r.ns.str() + "/" + r.name.str() +
             " is bound to it is not known: the node was made anew before the binding was answered";
    if (r.closes_node && r.phase == PodRecord::Phase::kBound && r.node == node)
      return "pod " + r.ns.str() + "/" + r.name.str() + ": " + r.hold_detail.str();
  }
  return {};
}

std::string Tracker::closed_nodes_text() const {
  NodeId first;
  std::size_t count = 0;
  for (std::size_t row = 0; row < nodes_.size(); ++row) {
    if (!nodes_[row].is_closed()) continue;
    if (count++ == 0) first = NodeId(row);
  }
  if (count == 0) return "none";
  std::string text = "node " + names_.nodes.name(first).str() + " (" + node_trouble(first) + ")";
  if (count > 1) text += " and " + std::to_string(count - 1) + " more";
  return text;
}

/// Pods that refuse company do so in the domains that their node is in now.
void Tracker::move_anti_affinity(NodeId node, const Labels& labels) {
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot) {
    const PodRecord& r = pods_[slot];
    if (r.phase != PodRecord::Phase::kBound || r.node != node) continue;
    anti_affinity_.add(r.ns, r.rules, labels);  // first, so that a domain that stays is no news
    anti_affinity_.remove(r.ns, r.rules, nodes_[node.row()].labels);
  }
}

void Tracker::lose_node(const PooledString& name) {
  const NodeId id = names_.nodes.find(name);
  if (id.is_none()) return;
  std::vector<PodSlot> waiting, unanswered;
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot) {
    PodRecord& r = pods_[slot];
    if (r.node != id) continue;
    if (r.phase == PodRecord::Phase::kBound)
      note_on_unknown_node(slot);
    else if (r.phase == PodRecord::Phase::kAssumed && r.is_bind_under_way) {
      unanswered.push_back(slot);
    } else if (r.phase == PodRecord::Phase::kAssumed) {  // the engine lets it wait again by itself; a binding that is queued is of an old turn
      ++r.bind_attempt;
      r.node = NodeId::none();
      r.phase = PodRecord::Phase::kWaiting;
      waiting.push_back(slot);
    } else if (r.phase == PodRecord::Phase::kNominated) {
      lose_nomination(slot);
    }
  }
  ++nodes_edition_;  // who was to start together with its pods looks at that before it is sent
  out_.add(NodeGone{id});
  for (const PodSlot slot : waiting) wait_again(slot);
  for (const PodSlot slot : unanswered) {
    pods_[slot].asked_node = name;
    ++asked_nodes_[name];
  }
  for (const PodSlot slot : unanswered) hold_until_answered(slot);
  count_labels(nodes_[id.row()].labels, {});
  nodes_[id.row()] = NodeRecord{};
  names_.nodes.remove(id);
}

void Tracker::count_labels(const Labels& before, const Labels& after) {
  const std::size_t keys_before = node_labels_.size();
  for (const KeyValue& label : after) has_level_news_ = ++node_labels_[label.key] == 1 || has_level_news_;
  const bool has_new_keys = node_labels_.size() != keys_before;
  for (const KeyValue& label : before)
    if (const auto it = node_labels_.find(label.key); --it->second == 0) node_labels_.erase(it);
  if (has_new_keys || node_labels_.size() != keys_before) ++levels_edition_;
}

void Tracker::say_what_is_refused(std::size_t from, const PooledString& node) {
  if (!listeners_.log) return;
  for (std::size_t i = from; i < names_.refused_resources().size(); ++i)
    listeners_.log(LogLevel::kWarning,
                   {"node " + node.str() + " has " + names_.refused_resources()[i].str() + ", but all " + std::to_string(resource::kColumnsMax) +
                        " resource columns are taken: it is not followed, and pods that ask for it are held",
                    "node", PooledString(), node});
}

void Tracker::renew_demands() {
  translator_.forget_templates();
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot) {
    const PodRecord& r = pods_[slot];
    if (r.phase == PodRecord::Phase::kFree || r.demand.is_none()) continue;
    const PooledString refused = translator_.refused_in(r.demand);
    if (!refused.empty() && r.phase == PodRecord::Phase::kWaiting)
      hold_pod(slot, {HoldReason::kMalformed, refusal_text(refused)});
    else if (const DemandId renewed = translator_.renewed(r.demand); renewed != r.demand)
      renew_demand(slot, renewed);
  }
}

/// Also of a pod that is bound: what it holds had no column while no node had it.
void Tracker::renew_demand(PodSlot slot, DemandId demand) {
  PodRecord& r = pods_[slot];
  const NodeId node = r.node;
  const bool is_bound = r.phase == PodRecord::Phase::kBound;
  const bool was_in_engine = r.is_in_engine();
  if (is_bound) leave_node(r);
  withdraw(slot);
  set_demand(r, demand);
  if (is_bound) return enter_bound(slot, node);
  if (!was_in_engine || r.gang != kNoGang) return;
  submit_single(slot);
  if (r.phase == PodRecord::Phase::kNominated) out_.add(Nominated{r.member, node, r.priority});
}

/// The level stands for another label than before, or is new: every node is in the domain that its label says.
void Tracker::announce_level(LevelId level) {
  ++levels_edition_;
  out_.add(LevelsDefined{names_.nested_count(), static_cast<std::uint32_t>(names_.levels().size()) - names_.nested_count()});
  for (std::size_t row = 0; row < nodes_.size(); ++row) {
    if (names_.nodes.name(NodeId(row)).empty()) continue;
    NodeFacts& facts = nodes_[row].facts;
    facts.domains.resize(names_.levels().size());
    const DomainId before = facts.domains[level.row()];
    const PooledString* value = find_label(nodes_[row].labels, names_.levels()[level.row()].label);
    facts.domains[level.row()] = value == nullptr ? DomainId::none() : names_.domain(level, DomainId::none(), *value);
    // The node is what it was: no binding to it is looked at anew.
    if (facts.domains[level.row()] != before) out_.add(NodeSeen{NodeId(row), facts});
  }
}

/// A level that no gang names any more; none where all are named. The configured ones stay.
LevelId Tracker::unused_level() const {
  std::vector<bool> is_used(names_.levels().size(), false);
  const auto use = [&](LevelId level) {
    if (!level.is_none()) is_used[level.row()] = true;
  };
  for (GangSlot slot = 0; slot < gangs_.slots(); ++slot) {
    use(gangs_[slot].within);
    use(gangs_[slot].prefer);
  }
  for (const JobOwner& owner : owners_) {
    use(owner.within);
    use(owner.prefer);
  }
  for (std::size_t l = names_.nested_count(); l < is_used.size(); ++l)
    if (!is_used[l]) return LevelId(l);
  return LevelId::none();
}

/// The level of a name or of a label that a node has; none for an empty name, where no node has the label, and where it would be one too many.
LevelId Tracker::level_for(const PooledString& name) {
  if (name.empty()) return LevelId::none();
  if (const LevelId known = names_.find_level(name); !known.is_none()) return known;
  if (!node_labels_.contains(name)) return LevelId::none();
  const LevelId level = names_.add_level(name, names_.has_room_for_level() ? LevelId::none() : unused_level());
  if (!level.is_none()) {
    announce_level(level);
  } else if (listeners_.log && std::find(levels_told_.begin(), levels_told_.end(), name) == levels_told_.end()) {
    levels_told_.push_back(name);
    listeners_.log(LogLevel::kWarning,
                   {"gangs ask for the node label " + name.str() + " as a topology level, but all " + std::to_string(Topology::kLevelsMax) +
                    " levels are in use: they wait, and preferences for it are not looked at"});
  }
  return level;
}

bool Tracker::lacks_level(const GangRecord& g) const {
  const PooledString& hard = g.hard_setting();
  return !hard.empty() && (g.within.is_none() || names_.find_level(hard) != g.within);
}

void Tracker::touch_level_waiters() {
  has_level_news_ = false;
  for (GangSlot slot = 0; slot < gangs_.slots(); ++slot) {
    const GangRecord& g = gangs_[slot];
    if (g.is_used && !g.pods.empty() && (lacks_level(g) || (g.prefer.is_none() && !g.prefer_setting.empty()))) touch(slot);
  }
}

std::size_t Tracker::gangs_without_level() const {
  std::size_t count = 0;
  for (GangSlot slot = 0; slot < gangs_.slots(); ++slot) {
    const GangRecord& g = gangs_[slot];
    const PooledString& hard = g.hard_setting();
    count += g.is_used && !g.pods.empty() && lacks_level(g) && node_labels_.contains(hard) ? 1 : 0;
  }
  return count;
}

/// A namespace may be labelled after its pods were made, and its news may come later than theirs: pods that wait are looked at again by settle(),
/// once for all namespaces that changed.
void Tracker::take(Change<Namespace>&& change) {
  if (change.kind == Change<Namespace>::Kind::kSynced) return;
  const PooledString name = change.object.name;
  const bool is_gone = change.kind == Change<Namespace>::Kind::kDeleted;
  if (!is_gone && !change.object.problem.empty() && namespaces_.contains(name)) return;  // what was read of it last stays
  const PooledString queue_before = queue_name_in(name);
  if (is_gone) {
    namespaces_.erase(name);
    anti_affinity_.note_namespace_changed(name);
  } else {
    const auto [it, is_new] = namespaces_.try_emplace(name);
    const bool has_other_labels = is_new || it->second.labels != change.object.labels;
    it->second = std::move(change.object);
    if (has_other_labels) anti_affinity_.note_namespace_changed(name);
  }
  if (queue_name_in(name) != queue_before) moved_namespaces_.push_back(name);
}

void Tracker::take(Change<PriorityClass>&& change) {
  if (change.kind == Change<PriorityClass>::Kind::kSynced) return;
  const PooledString name = change.object.name;
  if (change.kind == Change<PriorityClass>::Kind::kDeleted)
    priority_classes_.erase(name);
  else if (change.object.problem.empty() || !priority_classes_.contains(name))
    priority_classes_[name] = change.object.value;
  // Pods carry the number itself; PodGroups may name a class that is made after them.
  for (GangSlot slot = 0; slot < gangs_.slots(); ++slot)
    if (gangs_[slot].is_used && gangs_[slot].priority_class == name) touch(slot);
}

std::size_t Tracker::on_unknown_nodes_count() const {
  std::size_t count = 0;
  for (const auto& [node, pods] : on_unknown_node_) count += pods.size();
  return count;
}

std::size_t Tracker::quarantined_count() const {
  std::size_t count = 0;
  for (PodSlot slot = 0; slot < pods_.slots(); ++slot)
    count += pods_[slot].phase == PodRecord::Phase::kHeld && pods_[slot].hold == HoldReason::kQuarantined ? 1 : 0;
  return count;
}

void Tracker::settle() {
  out_.stamp();
  if (!moved_namespaces_.empty()) refresh_queues();
  if (anti_affinity_.has_news()) refresh_constraints();
  if (has_level_news_) touch_level_waiters();
  bound_outside_.clear();  // their gangs are among these
  for (const GangSlot slot : std::exchange(dirty_, {})) settle_gang(slot);
}

/// evaluate() touches no other gang, and what it does to its own it has seen: the mark falls afterwards.
void Tracker::settle_gang(GangSlot slot) {
  if (!gangs_[slot].is_used || !gangs_[slot].is_dirty) return;
  evaluate(slot);
  gangs_[slot].is_dirty = false;
}

void Tracker::settle_bound() {
  if (bound_outside_.empty()) return;
  out_.stamp();
  for (const GangSlot slot : std::exchange(bound_outside_, {})) settle_gang(slot);
}

void Tracker::note_taken() {
  job_rows_.settle();
  member_rows_.settle();
  company_.forget();
  translator_.note_taken();
  if (names_.is_worth_looking(translator_.given_back())) look_for_unused_names();
}

void Tracker::look_for_unused_names() {
  ObjectNames::InUse in_use;
  translator_.add_to(in_use);
  for (const NodeRecord& node : nodes_) in_use.add(node.facts);
  names_.keep_only(in_use);
  translator_.forget_given_back();
}

Millis Tracker::tick(Millis now) {
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
