// Tracker: translates changes from the API server for the engine. It decides which pods the engine may see (complete,
// valid gangs; pods without unevaluated hard fields) and turns every change, and every report of the binder, into
// events; it never talks to the API server. Cost: a few hundred nanoseconds per change, O(members) if a gang changes,
// O(pods) if a node is removed.
#pragma once

#include <string>

#include "kubeclient/reflector.h"
#include "live/track/hold_text.h"
#include "live/track/tracker_data.h"
#include "live/track/unknown_fields.h"
#include "state/state.h"

namespace ashlar::kube {

class Tracker {
 public:
  using Listeners = TrackerListeners;

  Tracker(TrackerOptions options, EventBuffer& out, Listeners listeners);
  ~Tracker();
  /// Levels and queues: the first events of all.
  void open();

  void take(Change<Node>&& change);
  void take(Change<Pod>&& change);
  void take(Change<PodGroup>&& change);
  void take(Change<Namespace>&& change);
  void take(Change<PriorityClass>&& change);
  void take(Change<QueueObject>&& change);
  const QueueBook& queue_book() const { return data_.queue_book; }
  void take(Change<DeviceClassObject>&& change) { data_.served_resources.take(std::move(change)); }
  /// Claims, volumes and what tells where they can be used: any kind of VolumeBook.
  template <class T>
  requires requires(VolumeBook& book, Change<T>&& change) { book.take(std::move(change)); }
  void take(Change<T>&& change) {
    if constexpr (requires { change.object.unknown_spec_fields; })
      note_unknown_fields(data_, PooledString(), change.object.unknown_spec_fields);
    note_unknown_fields(data_, change.object.unknown_fields);
    data_.volumes.take(std::move(change));
  }
  /// Services and controllers of pods.
  template <SelectingKind kKind>
  void take(Change<SelectingObject<kKind>>&& change) {
    note_unknown_fields(data_, change.object.unknown_fields);
    if (!data_.default_spread.is_off()) data_.default_spread.book().take(std::move(change));
  }
  /// Why a kind of these cannot be listed now; empty: it can.
  void note_volumes(std::string_view resource, const std::string& problem) {
    data_.volumes.note_problem(resource, problem);
  }
  /// Why PodGroups cannot be read now; empty: they can. Pods whose PodGroup is not known wait and report this; known
  /// groups stay as they are.
  void note_pod_groups(const std::string& problem);
  /// Why PriorityClasses cannot be listed now; empty: they can. Known ones stay as they are.
  void note_priority_classes(const std::string& problem) {
    data_.classes_edition += problem == data_.classes.problem ? 0 : 1;
    data_.classes.problem = problem;
  }
  /// Updates queues, gangs and constraints with everything taken; to be called before the engine takes the events.
  void settle();
  /// The part of settle() that occupies nodes: gangs with a bound pod that is not in the engine (yet, or again after it
  /// was resized). To be called before the state takes events between two decisions. Costs nothing if there is no such
  /// pod, else O(members) of their gangs.
  void settle_bound();
  /// True if settle() has anything to do.
  bool has_unsettled() const {
    return !data_.dirty.empty() || data_.has_volume_news() || data_.default_spread.book().has_news() ||
           data_.served_resources.has_news() || data_.namespace_terms.has_news() || !data_.moved_namespaces.empty() ||
           !data_.changed_queues.empty() || !data_.relabelled_namespaces.empty() || data_.has_level_news ||
           data_.anti_affinity.asked().has_news() || data_.translator.images().has_news() ||
           !data_.translator.asked_keys().news().empty();
  }
  /// The engine has taken all events: rows given back may be used again.
  void note_taken();
  /// Gangs that have been short of members for too long are marked to report it. Returns when to call again;
  /// Millis::max() = never.
  Millis tick(Millis now);

  // ---- reports of the actuator --------------------------------------------------------------------------------------
  void note_assumed(PodSlot slot, NodeId node, const PodDevices& devices);
  /// What the binding of the assumed pod waits for, in words; empty: for nothing any more.
  void note_bind_wait(PodSlot slot, const std::string& words);
  /// The API server has the pod on this node.
  void note_bound(PodSlot slot, const PooledString& node_name, const PodDevices& devices);
  void note_rejected(PodSlot slot);
  /// The devices that a decision gives the pod.
  PodDevices granted(PodSlot slot, const Bind& bind) const;
  /// What the pod holds of each of its devices, as its annotation says it.
  DeviceGrants grants_held(PodSlot slot) const;
  /// True if anything by which its place was chosen has changed since: its node, other pods' anti-affinity there, its
  /// owner's settings, the nodes of a gang that must stay within a domain or, for a gang that has not started, the
  /// nodes and settings of its other unbound pods, or whether as many have a place as must start together. `state`:
  /// with everything seen so far, or null if has_node_news() is false. O(1) without, O(members) with it.
  bool is_place_outdated(PodSlot slot, const State* state) const;
  /// True if, since the pod's place was chosen, any node changed or was removed, another scheduler bound a pod to one,
  /// or a gang that has not started became too small or was changed by its pods' owners.
  bool has_node_news(PodSlot slot) const { return data_.nodes_edition != data_.pods[slot].chosen_at; }
  /// The engine chooses again for a pod known to be unbound; for a gang that has not started, for all such pods, so
  /// that it is tried as a whole.
  void choose_anew(PodSlot slot);
  /// The API server does not bind the pod. Its place is free at once; the pod, or the unbound part of a gang that has
  /// not started, waits outside the engine and reports the server's message, until end_bind_hold() or a change by its
  /// owner. Number 0: its gang is held already.
  BindHold note_bind_failed(PodSlot slot, const std::string& words);
  /// A binding was answered with success, but the pod has no node: its place is free, and it waits as after
  /// note_bind_failed(), its gang without it.
  BindHold note_undone(PodSlot slot, const std::string& words);
  /// It may be tried again. Does nothing if that has already happened otherwise.
  void end_bind_hold(const BindHold& hold);
  /// The result of the binding under way is known.
  void note_answered(PodSlot slot);
  /// The binding to a removed node is answered, and the pod is not bound.
  void note_not_bound(PodSlot slot);
  /// True if its gang waits outside the engine since a binding failed, or until one is answered.
  bool is_gang_held(PodSlot slot) const;
  /// The API server no longer has this pod.
  void note_gone(PodSlot slot);
  /// See pods/leaving_pods.h.
  std::vector<PodSlot> stop_pods(const Evict& evict, const std::string& words);
  void stay(PodSlot slot);
  bool awaits_departure(PodSlot slot, const State& state) const;
  bool has_leaving() const { return !data_.leaving.empty(); }
  std::vector<PodSlot> leaving_pods() const;

  // ---- reading ------------------------------------------------------------------------------------------------------
  const TrackerOptions& options() const { return data_.options; }
  const Tables& tables() const { return data_; }
  /// True if anything in the tables has changed since changes were last taken.
  bool has_table_changes() const { return data_.has_changes(); }
  Tables::Changes take_table_changes() { return data_.take_changes(); }
  ObjectNames& names() { return data_.names; }
  const ObjectNames& names() const { return data_.names; }
  PodTable& pods() { return data_.pods; }
  const PodTable& pods() const { return data_.pods; }
  GangTable& gangs() { return data_.gangs; }
  const GangTable& gangs() const { return data_.gangs; }
  const Translator& translator() const { return data_.translator; }
  const VolumeBook& volumes() const { return data_.volumes; }
  const DefaultSpread& default_spread() const { return data_.default_spread; }           // for tests
  std::uint64_t late_choices_made() const { return data_.late_choices.made(); }          // for tests
  std::uint64_t claim_users_looked_for() const { return data_.claim_users_looked_for; }  // for tests
  std::uint64_t late_nodes_asked() const { return data_.late_choices.nodes_asked(); }    // for tests
  /// What the unbound claims of a pod with a place get; nullptr: it has none.
  const ChosenVolumes* chosen_volumes(PodSlot slot) const {
    const auto chosen = data_.chosen_volumes.find(slot);
    return chosen == data_.chosen_volumes.end() ? nullptr : &chosen->second;
  }
  /// Waiting pods whose constraint was re-evaluated for other pods' anti-affinity, in total; and the
  /// constraints built for it.
  std::uint64_t constraints_renewed() const { return data_.constraints_renewed; }                          // for tests
  const ExclusionConstraints::Work& exclusion_work() const { return data_.exclusion_constraints.work(); }  // for tests
  /// Label changes of nodes for which all pods were looked at, in total.
  std::uint64_t owners_moved() const { return data_.owners_moved; }      // for tests
  std::uint64_t level_searches() const { return data_.level_searches; }  // for tests
  JobOwner owner(JobId job) const { return data_.owner(job); }
  /// The name of the queue that the pod is charged to when it is bound: its own, or its gang's.
  PooledString charged_queue(PodSlot slot) const;
  /// Labels of a node by row.
  const Labels& node_labels(NodeId node) const { return data_.nodes[node.row()].labels; }
  bool serves(const PooledString& scheduler_name) const;
  /// Why an incomplete or invalid gang may not be placed; kNone if it may. O(members) if something has happened to it
  /// since it was evaluated, else O(1).
  Hold gang_hold(const GangRecord& gang) const;
  /// The condition of a pod that is held or waits in a held gang, and of the PodGroup of a held gang; see hold_text.h.
  ConditionText hold_condition(const PodRecord& pod) const;
  ConditionText hold_condition(const GangRecord& gang) const;
  std::uint32_t members_present(const GangRecord& gang) const;
  std::size_t on_unknown_nodes_count() const;  // for tests
  /// Kinds of fields seen that only a newer Kubernetes has.
  std::size_t unknown_fields_count() const { return data_.unknown_fields.size(); }

 private:
  void give_back_unused_names();

  TrackerData data_;
};

}  // namespace ashlar::kube
