#include "live/track/tracker.h"

#include <utility>

#include "live/track/gangs/gang_hold.h"
#include "live/track/gangs/membership.h"
#include "live/track/gangs/settle.h"
#include "live/track/nodes/csi_nodes.h"
#include "live/track/nodes/levels.h"
#include "live/track/nodes/node_changes.h"
#include "live/track/nodes/node_trouble.h"
#include "live/track/pods/bindings.h"
#include "live/track/pods/bound_pods.h"
#include "live/track/pods/leaving_pods.h"
#include "live/track/pods/pod_changes.h"
#include "live/track/pods/queues.h"
#include "live/track/pods/requests.h"
#include "live/track/volumes/pod_volumes.h"
#include "live/track/volumes/room_counts.h"

namespace ashlar::kube {

Tracker::Tracker(TrackerOptions options, EventBuffer& out, Listeners listeners)
    : data_(std::move(options), out, std::move(listeners)) {}
Tracker::~Tracker() = default;

void Tracker::open() {
  data_.out.stamp();
  data_.opened = data_.out.now();
  data_.out.add(LevelsDefined{data_.names.nested_count(),
                              static_cast<std::uint32_t>(data_.names.levels().size()) - data_.names.nested_count()});
  for (const DeviceClassDefined& defined : data_.device_classes) data_.out.add(defined);
  bool has_default = false;
  for (const QueueSettings& queue : data_.options.queues) {
    has_default = has_default || queue.name == kDefaultQueue;
    define_queue(data_, queue);
  }
  if (!has_default) define_queue(data_, {.name = std::string(kDefaultQueue), .parent = {}});
}

void Tracker::take(Change<Node>&& change) {
  if (change.kind == Change<Node>::Kind::kSynced) return;
  data_.out.stamp();
  if (change.kind == Change<Node>::Kind::kDeleted)
    remove_node(data_, change.object.name);
  else
    upsert_node(data_, change.object);
}

/// A namespace may be labelled after its pods were created, and its events may arrive later than theirs: settle()
/// re-evaluates waiting pods once for all namespaces that changed.
void Tracker::take(Change<Namespace>&& change) {
  if (change.kind == Change<Namespace>::Kind::kSynced) return;
  const PooledString name = change.object.name;
  const bool is_gone = change.kind == Change<Namespace>::Kind::kDeleted;
  // what was last read of it stays
  if (!is_gone && !change.object.problem.empty() && data_.namespaces.contains(name)) return;
  const PooledString queue_before = queue_name_in(data_, name);
  bool has_other_labels = is_gone;
  if (is_gone) {
    data_.namespaces.erase(name);
  } else {
    const auto [it, is_new] = data_.namespaces.try_emplace(name);
    has_other_labels = is_new || it->second.labels != change.object.labels;
    it->second = std::move(change.object);
  }
  if (has_other_labels) {
    data_.translator.company().note_namespace_changed(name);
    data_.relabelled_namespaces.push_back(name);
  }
  if (queue_name_in(data_, name) != queue_before) data_.moved_namespaces.push_back(name);
}

void Tracker::take(Change<PriorityClass>&& change) {
  if (change.kind == Change<PriorityClass>::Kind::kSynced) return;
  const PooledString name = change.object.name;
  if (change.kind == Change<PriorityClass>::Kind::kDeleted)
    data_.classes.known.erase(name);
  else if (change.object.problem.empty() || !data_.classes.known.contains(name))
    data_.classes.known[name] = change.object.value;
  ++data_.classes_edition;
  // Pods carry the number itself; PodGroups may name a class that is created after them.
  for (GangSlot slot = 0; slot < data_.gangs.slots(); ++slot)
    if (data_.gangs[slot].is_used && data_.gangs[slot].priority_class == name) touch_gang(data_, slot);
}

void Tracker::take(Change<QueueObject>&& change) {
  data_.out.stamp();
  data_.queue_book.take(std::move(change), [this](const QueueSettings& queue) {
    define_queue(data_, queue);
    data_.changed_queues.insert(PooledString(queue.name));
  });
}

std::size_t Tracker::on_unknown_nodes_count() const {
  std::size_t count = 0;
  for (const auto& [node, pods] : data_.on_unknown_node) count += pods.size();
  return count;
}

void Tracker::settle() {
  data_.out.stamp();
  if (data_.has_volume_news() || has_new_limits(data_) || has_room_news(data_)) settle_volumes(data_);
  if (!data_.moved_namespaces.empty() || !data_.changed_queues.empty()) refresh_queues(data_);
  if (data_.served_resources.has_news()) refresh_served(data_);
  if (data_.namespace_terms.has_news()) refresh_let_in(data_);
  if (!data_.relabelled_namespaces.empty()) refresh_relabelled(data_);
  if (data_.anti_affinity.asked().has_news()) refresh_constraints(data_);
  if (data_.translator.images().has_news()) refresh_images(data_);
  if (data_.default_spread.book().has_news()) refresh_default_spread(data_);
  if (data_.has_level_news) touch_level_waiters(data_);
  data_.bound_outside.clear();  // their gangs are among these
  while (!data_.dirty.empty())  // a PodGroup that goes to another gang marks both
    for (const GangSlot slot : std::exchange(data_.dirty, {})) settle_gang(data_, slot);
  data_.bound_outside.clear();
  report_asked_labels(data_);
}

void Tracker::settle_bound() {
  report_asked_labels(data_);
  if (data_.bound_outside.empty()) return;
  data_.out.stamp();
  while (!data_.bound_outside.empty())
    for (const GangSlot slot : std::exchange(data_.bound_outside, {})) settle_gang(data_, slot);
}

void Tracker::note_taken() {
  data_.job_rows.settle();
  data_.member_rows.settle();
  data_.exclusion_constraints.forget();
  data_.translator.note_taken([this](ConstraintId id) { data_.exclusion_constraints.note_gone(id); });
  if (data_.names.is_worth_looking(data_.translator.given_back())) give_back_unused_names();
}

void Tracker::give_back_unused_names() {
  ObjectNames::InUse in_use;
  data_.translator.add_to(in_use);
  for (const NodeRecord& node : data_.nodes) in_use.add(node.facts);
  data_.names.keep_only(in_use);
  data_.translator.renew_asked_keys([&](const PooledString& key) { return data_.node_labels.contains(key); });
  data_.translator.forget_given_back();
}

Millis Tracker::tick(Millis now) {
  while (!data_.impatient.empty() && data_.impatient.front().first <= now) {
    const auto [ns, name] = data_.impatient.front().second;
    data_.impatient.pop_front();
    for (const GangKind kind : {GangKind::kLabelled, GangKind::kPodGroup, GangKind::kGroups}) {
      const GangSlot slot = data_.gangs.find(ns, name, kind);
      if (slot == kNoGang || !data_.gangs[slot].has_timer) continue;
      data_.gangs.edit(slot).has_timer = false;
      if (!data_.gangs[slot].is_open) hold_members(data_, slot);
    }
  }
  return data_.impatient.empty() ? Millis::max() : data_.impatient.front().first;
}

void Tracker::note_gone(PodSlot slot) { forget_pod(data_, slot); }
bool Tracker::serves(const PooledString& scheduler_name) const {
  return scheduler_index(data_, scheduler_name) < data_.scheduler_names.size();
}
std::vector<PodSlot> Tracker::stop_pods(const Evict& evict, const std::string& words) {
  return kube::stop_pods(data_, evict, words);
}
void Tracker::stay(PodSlot slot) {
  data_.out.stamp();
  kube::stay(data_, slot);
}
bool Tracker::awaits_departure(PodSlot slot, const State& state) const {
  return kube::awaits_departure(data_, slot, state);
}
std::vector<PodSlot> Tracker::leaving_pods() const {
  std::vector<PodSlot> all;
  for (const auto& [node, pods] : data_.leaving) all.insert(all.end(), pods.begin(), pods.end());
  std::sort(all.begin(), all.end());
  return all;
}
void Tracker::choose_anew(PodSlot slot) { kube::choose_anew(data_, slot); }
void Tracker::end_bind_hold(const BindHold& hold) { kube::end_bind_hold(data_, hold); }
Hold Tracker::gang_hold(const GangRecord& gang) const { return kube::gang_hold(data_, gang); }
ConditionText Tracker::hold_condition(const PodRecord& pod) const { return kube::hold_condition(data_, pod); }
ConditionText Tracker::hold_condition(const GangRecord& gang) const { return kube::hold_condition(data_, gang); }
bool Tracker::is_gang_held(PodSlot slot) const { return kube::is_gang_held(data_, slot); }
bool Tracker::is_place_outdated(PodSlot slot, const State* state) const {
  return kube::is_place_outdated(data_, slot, state);
}
std::uint32_t Tracker::members_present(const GangRecord& gang) const { return kube::members_present(data_, gang); }
void Tracker::note_answered(PodSlot slot) { kube::note_answered(data_, slot); }
PooledString Tracker::charged_queue(PodSlot slot) const {
  const PodRecord& r = data_.pods[slot];
  const QueueId queue = r.gang == kNoGang ? r.queue : data_.gangs[r.gang].queue;
  return queue.is_none() ? PooledString() : data_.names.queues.name(queue);
}
DeviceGrants Tracker::grants_held(PodSlot slot) const { return kube::grants_held(data_.translator, data_.pods[slot]); }
PodDevices Tracker::granted(PodSlot slot, const Bind& bind) const {
  const DeviceRequest& request = data_.translator.demand_of(data_.pods[slot].demand).devices;
  if (bind.devices.is_empty() || bind.each == requested_share(request)) return bind.devices;
  return pod_devices(grants_of(bind.devices, bind.each), request);
}
void Tracker::note_assumed(PodSlot slot, NodeId node, const PodDevices& devices) {
  kube::note_assumed(data_, slot, node, devices);
}
BindHold Tracker::note_bind_failed(PodSlot slot, const std::string& words) {
  return kube::note_bind_failed(data_, slot, words);
}
void Tracker::note_bound(PodSlot slot, const PooledString& node_name, const PodDevices& devices) {
  kube::note_bound(data_, slot, node_name, devices);
}
BindHold Tracker::note_undone(PodSlot slot, const std::string& words) { return kube::note_undone(data_, slot, words); }
void Tracker::note_not_bound(PodSlot slot) { kube::note_not_bound(data_, slot); }
void Tracker::note_pod_groups(const std::string& problem) { kube::note_pod_groups(data_, problem); }
void Tracker::note_bind_wait(PodSlot slot, const std::string& words) {
  if (data_.pods[slot].bind_wait.view() != words) data_.pods.edit(slot).bind_wait = PooledString(words);
}
void Tracker::note_rejected(PodSlot slot) { kube::note_rejected(data_, slot); }
void Tracker::take(Change<Pod>&& change) { take_pod(data_, std::move(change)); }
void Tracker::take(Change<PodGroup>&& change) { take_group(data_, std::move(change)); }

}  // namespace ashlar::kube
