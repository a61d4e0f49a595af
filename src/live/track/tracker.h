// Tracker: what changes of the API server mean for the engine. Keeps the records of nodes, pods and gangs, decides which pods the engine may see
// (complete, sound gangs; pods without hard fields that we do not evaluate), and turns every change into events. It also takes the news of the
// actuator (bound, refused). It never talks to the API server. Cost: a few hundred nanoseconds a change, O(members) for a gang that changes, O(pods)
// for a node that goes.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/grown.h"
#include "kubeclient/bind_outcome.h"
#include "kubeclient/reflector.h"
#include "live/lead/log.h"
#include "live/lead/quarantine.h"
#include "live/track/anti_affinity.h"
#include "live/track/company_constraints.h"
#include "live/track/event_buffer.h"
#include "live/track/gangs.h"
#include "live/track/names.h"
#include "live/track/pods.h"
#include "live/track/translate.h"
#include "model/event.h"
#include "state/cluster/cluster.h"

namespace ashlar::kube {

inline constexpr std::string_view kDefaultQueue = "default";

struct QueueSettings {
  std::string name;
  std::string parent;  ///< empty: the root
  QuotaVector quota{kUnlimited, kUnlimited, kUnlimited};
};

struct TrackerOptions {
  std::vector<std::string> scheduler_names{"ashlar"};
  std::vector<LevelName> levels;      ///< outermost first
  std::vector<QueueSettings> queues;  ///< parents before children; `default` is added where it is missing
  std::map<std::string, std::string> queue_of_namespace;
  Quarantine* quarantine = nullptr;  ///< pods not to be shown to the engine; outlives the tracker
  std::vector<std::string> models;   ///< interned first, in this order, so that a profile's mix can name them by row
};

/// What a job of the engine is in Kubernetes: a gang, or one pod.
struct JobOwner {
  GangSlot gang = kNoGang;
  PodSlot pod = kNoPod;
  LevelId within, prefer;  ///< as the engine was told
};

/// A pod, or what is unbound of a gang, that waits outside the engine since its binding failed.
struct BindHold {
  PodSlot pod = kNoPod;
  std::uint32_t generation = 0;  ///< of the pod's slot
  GangSlot gang = kNoGang;       ///< the whole gang instead of the pod
  std::uint64_t number = 0;      ///< 0: there is none
  int times = 0;                 ///< how often in a row
};

class Tracker {
 public:
  /// Told whenever there may be something new to say on a pod or on a PodGroup.
  struct Listeners {
    std::function<void(PodSlot)> on_condition_due;
    std::function<void(GangSlot)> on_group_condition_due;
    std::function<void(PodSlot)> on_bound;            ///< a binding that this process asked for is confirmed
    std::function<void(PodSlot)> on_devices_changed;  ///< somebody else wrote other devices on a bound pod of ours than it holds
    OnLog log;
  };

  Tracker(TrackerOptions options, EventBuffer& out, Listeners listeners);
  /// Levels and queues: the first events of all.
  void open();

  void take(Change<Node>&& change);
  void take(Change<Pod>&& change);
  void take(Change<PodGroup>&& change);
  void take(Change<Namespace>&& change);
  void take(Change<PriorityClass>&& change);
  /// Why PodGroups cannot be read now; empty: they can. Pods whose PodGroup is not known wait and say so; the groups that are known stay as they are.
  void note_pod_groups(const std::string& problem);
  /// Why PriorityClasses cannot be listed now; empty: they can. Those that are known stay as they are.
  void note_priority_classes(const std::string& problem) { classes_problem_ = problem; }
  /// Brings queues, gangs and constraints up to date with everything taken; to be called before the engine takes the events.
  void settle();
  /// Of all that only what takes room on nodes: gangs of which a bound pod is not in the engine (yet, or again after it was resized). To be called
  /// before the state takes events between two decisions. Costs nothing where no such pod is, else O(members) of their gangs.
  void settle_bound();
  /// Is there anything that settle() would look at?
  bool has_unsettled() const { return !dirty_.empty() || !moved_namespaces_.empty() || has_level_news_ || anti_affinity_.has_news(); }
  /// The engine has taken all events: rows given back may be used again.
  void note_taken();
  /// Gangs that have been short of members for too long now say so. Returns when to call again; Millis::max() = never.
  Millis tick(Millis now);

  // ---- news of the actuator ----------------------------------------------------------------------------------------------------------
  void note_assumed(PodSlot slot, NodeId node, const DeviceMask& devices);
  /// The API server has the pod on this node.
  void note_bound(PodSlot slot, const PooledString& node_name, const DeviceMask& devices);
  void note_rejected(PodSlot slot);
  /// Has what its place was chosen by changed since: its node, what refuses company there, its owner's wishes, the nodes of a gang that must stay within
  /// a domain or, of one that has not started, the nodes and wishes of those that are not bound either, or whether so many have a place as must start
  /// together? `cluster`: with all that is seen so far, or null where has_node_news() says no. O(1) without, O(members) with it.
  bool is_place_outdated(PodSlot slot, const Cluster* cluster) const;
  /// Has any node changed or gone, a pod come to one by other hands, or a gang that has not started become too small or been changed by its pods'
  /// owners, since the pod's place was chosen?
  bool has_node_news(PodSlot slot) const { return nodes_edition_ != pods_[slot].chosen_at; }
  /// The engine chooses again for a pod that is known to be unbound; of a gang that has not started for all that are, so that it is tried as a whole.
  void choose_anew(PodSlot slot);
  /// The API server does not bind the pod. Its place is free at once; the pod, or what is unbound of a gang that has not started, waits outside the
  /// engine and says why in the server's words, until end_bind_hold() or a change by its owner. Number 0: its gang is held already.
  BindHold note_bind_failed(PodSlot slot, const std::string& words);
  /// It may be tried again. Does nothing where that has come about otherwise.
  void end_bind_hold(const BindHold& hold);
  /// It is known what became of the binding under way.
  void note_answered(PodSlot slot);
  /// The binding to a node that went is answered, and the pod is not bound.
  void note_not_bound(PodSlot slot);
  /// Does its gang wait outside the engine since a binding failed, or until one is answered?
  bool is_gang_held(PodSlot slot) const;
  /// The API server no longer has this pod.
  void note_gone(PodSlot slot) { forget(slot); }

  // ---- reading -----------------------------------------------------------------------------------------------------------------------
  const TrackerOptions& options() const { return options_; }
  ObjectNames& names() { return names_; }
  const ObjectNames& names() const { return names_; }
  PodTable& pods() { return pods_; }
  const PodTable& pods() const { return pods_; }
  GangTable& gangs() { return gangs_; }
  const GangTable& gangs() const { return gangs_; }
  const Translator& translator() const { return translator_; }
  /// Waiting pods whose constraint was looked at anew for their company, ever; and the lists and constraints that were made for it.
  std::uint64_t constraints_renewed() const { return constraints_renewed_; }
  const CompanyConstraints::Work& company_work() const { return company_.work(); }
  JobOwner owner(JobId job) const { return value_at(owners_, job.row()); }
  /// Labels of a node by row.
  const Labels& node_labels(NodeId node) const { return nodes_[node.row()].labels; }
  bool serves(const PooledString& scheduler_name) const { return scheduler_index(scheduler_name) < scheduler_names_.size(); }
  /// Why an incomplete or unsound gang may not be placed; kNone if it may. O(members) where something has happened to
  /// it since it was evaluated, else O(1).
  Hold gang_hold(const GangRecord& gang) const;
  /// The same in words; empty if it may.
  std::string gang_trouble(const GangRecord& gang) const { return gang_hold(gang).detail; }
  /// Why the class that its PodGroup names does not count; empty where it does, or none is named. A class that merely does not exist is not told.
  std::string priority_trouble(const GangRecord& gang) const;
  std::uint32_t members_present(const GangRecord& gang) const;
  std::size_t on_unknown_nodes_count() const;
  std::size_t quarantined_count() const;
  /// Gangs that wait because the label that they name would be a topology level too many.
  std::size_t gangs_without_level() const;
  /// Why nothing new is placed on a node that would be taken otherwise, such as "status.allocatable: ..."; empty: it is open.
  std::string node_trouble(NodeId node) const;
  /// The first of the closed nodes and how many more there are, such as "node n3 (status.allocatable: ...) and 2 more". O(nodes).
  std::string closed_nodes_text() const;
  bool is_queue_known(const PooledString& name) const { return !queue_called(name).is_none(); }

 private:
  struct NodeRecord {
    Labels labels;
    NodeFacts facts;                ///< as the engine has them; of a node that cannot be read the last good ones
    PooledString problem;           ///< why the node itself cannot be read; empty: it can
    std::uint32_t unread_pods = 0;  ///< bound here and holding more than could be read of them
    bool is_asked = false;          ///< made anew while bindings to its predecessor of that name are not answered: who is bound here nobody knows
    std::uint64_t told_at = 0;      ///< the edition of the nodes that the engine's last word on it made
    bool is_closed() const { return unread_pods > 0 || is_asked || !problem.empty(); }
  };
  using OnUnknownNode = std::vector<std::pair<PodSlot, std::uint32_t>>;

  /// Which of the names that we serve; as many as there are: none.
  std::size_t scheduler_index(const PooledString& scheduler_name) const;
  // nodes
  void see_node(const Node& node);
  void see_unread_node(const Node& node);
  /// Tells the engine that the node is closed or open, where it does not know.
  void close_or_open(NodeId node);
  /// Tells the engine what the node's record says.
  void tell_node(NodeId node);
  void lose_node(const PooledString& name);
  /// A pod that was assumed waits again, by what was said of it, its namespace and its neighbours meanwhile.
  void wait_again(PodSlot slot);
  /// Its node, `asked_node`, went, and whether the pod is bound to it nobody knows yet: neither it nor its gang is asked for elsewhere before.
  void hold_until_answered(PodSlot slot);
  /// The first of the gang's pods that wait for such an answer; kNoPod: none does.
  PodSlot unanswered_in(const GangRecord& gang) const;
  void move_anti_affinity(NodeId node, const Labels& labels);
  void count_labels(const Labels& before, const Labels& after);
  void say_what_is_refused(std::size_t from, const PooledString& node);
  /// Nodes have a resource that they had not: pods that ask for it do so by its column from now on.
  void renew_demands();
  void renew_demand(PodSlot slot, DemandId demand);
  void announce_level(LevelId level);
  LevelId unused_level() const;
  /// Somebody names these levels no longer: where all are taken, others may have them.
  void note_levels_left(LevelId within, LevelId prefer) {
    has_level_news_ = has_level_news_ || (!names_.has_room_for_level() && !(within.is_none() && prefer.is_none()));
  }
  void touch_level_waiters();
  void look_for_unused_names();
  // pods
  void refresh(PodSlot slot, const Pod& pod);
  /// A known pod whose new version cannot be read whole.
  void keep_unread(PodSlot slot, const Pod& pod);
  void see_bound(PodSlot slot, const Pod& pod);
  void renew_settings(PodSlot slot, const Pod& pod);
  /// The devices that a bound pod of ours says it holds; nothing where it says what cannot be.
  DeviceMask claimed_devices(const Pod& pod, const Demand& demand) const;
  void check_devices(PodSlot slot, const Pod& pod);
  /// As the engine is told.
  DeviceMask devices_held(const PodRecord& r) const;
  void see_pending(PodSlot slot, const Pod& pod);
  void see_nominated(PodSlot slot, const Pod& pod);
  /// Another scheduler's pod and the PodGroup that it names: all pods of a group must share one scheduler.
  void lose_nomination(PodSlot slot);
  void see_foreign_pod(PodSlot slot, const Pod& pod);
  void leave_foreign_pods(PodSlot slot);
  Hold hold_for(PodSlot slot, const Pod& pod, GangSettings& setting);
  void enter_bound(PodSlot slot, NodeId node);
  void note_on_unknown_node(PodSlot slot);
  void unpark(PodSlot slot);
  void set_demand(PodRecord& r, DemandId demand);
  void set_constraint(PodRecord& r, ConstraintId constraint);
  void hold_pod(PodSlot slot, const Hold& hold);
  BindHold hold_gang(PodSlot slot, const std::string& words);
  /// Of a gang that has not started: have fewer of its pods a place than must start together? One that has begun goes on with what is left of it,
  /// but not where others of it wait for a place.
  bool lacks_places(const GangRecord& gang) const;
  /// Members whose binding is not under way give their places back.
  void reject_unsent(GangSlot slot);
  void forget_bind_hold(GangSlot slot);
  /// Of what the pod's owner may change; equal before and after a change of the status.
  static std::uint64_t owner_hash(const Pod& pod);
  /// Nothing holds the pod itself: shows it to the engine, or to its gang.
  void admit(PodSlot slot);
  Millis eligible_since(const PodRecord& r) const { return r.created.value > 0 && r.created < opened_ ? r.created : out_.now(); }
  void forget(PodSlot slot);
  void leave_node(PodRecord& r);
  void set_closes_node(PodSlot slot, bool closes);
  PooledString queue_name_for(const Pod& pod) const;
  /// None for the root, too: whoever is charged to the whole tree alone would be under no queue's limit.
  QueueId queue_called(const PooledString& name) const {
    const QueueId queue = names_.queues.find(name);
    return queue == QueueId(0u) ? QueueId::none() : queue;
  }
  /// The queue of pods that name none.
  PooledString queue_name_in(const PooledString& ns) const;
  /// Waiting pods of namespaces whose queue may have changed.
  void refresh_queues();
  void move_to_queue(PodSlot slot, const PooledString& name);
  ConstraintId constraint_for(const PodRecord& r);
  void submit_single(PodSlot slot);
  /// Takes the pod out of the engine, if it is in.
  void withdraw(PodSlot slot);
  void end_job(JobId job);
  JobId add_job(JobOwner owner);
  void refresh_constraints();
  void renew_constraint(PodSlot slot);
  // gangs
  void join(PodSlot slot, const GangSettings& setting);
  void leave_gang(PodSlot slot);
  void touch(GangSlot slot);
  void settle_gang(GangSlot slot);
  void evaluate(GangSlot slot);
  void sum_up(GangRecord& gang, bool has_begun);
  void sum_up_settings(GangRecord& gang, bool has_begun);
  /// gang_hold() with the words of others as they are.
  Hold find_gang_hold(const GangRecord& gang) const;
  std::string contradiction(const GangRecord& gang) const;
  std::string queues_of(const GangRecord& gang) const;
  void take_out_waiting(GangSlot slot);
  void submit_members(GangSlot slot);
  std::uint32_t minimum_of(const GangRecord& gang) const;
  void tell_minimum(GangRecord& gang, std::uint32_t bound);
  void hold_members(GangSlot slot);
  void say_if_held(GangSlot slot, HoldReason hold);
  void read_group(GangRecord& gang, const PodGroup& group);
  void forget_group(GangRecord& gang);
  void remove_if_unused(GangSlot slot);
  void take_levels(GangRecord& gang);
  LevelId level_for(const PooledString& name);
  bool lacks_level(const GangRecord& gang) const;
  bool has_other_levels(const GangRecord& gang) const;

  TrackerOptions options_;
  EventBuffer& out_;
  Listeners listeners_;
  ObjectNames names_;
  Translator translator_;
  PodTable pods_;
  GangTable gangs_;
  AntiAffinity anti_affinity_;
  CompanyConstraints company_;
  std::uint64_t constraints_renewed_ = 0;
  std::uint64_t bind_holds_ = 0;  ///< ever begun
  std::vector<PooledString> scheduler_names_;
  std::vector<NodeRecord> nodes_;
  std::uint64_t nodes_edition_ = 0;  ///< of what has_node_news() asks for, ever
  boost::unordered_flat_map<PooledString, std::uint32_t, std::hash<PooledString>>
      asked_nodes_;  ///< nodes that went, and the pods that may be bound there
  boost::unordered_flat_map<PooledString, std::uint32_t, std::hash<PooledString>> node_labels_;  ///< nodes that have a label of this key
  std::vector<PooledString> levels_told_;  ///< labels of which the log says that they would be a level too many
  bool has_level_news_ = false;            ///< gangs whose label was no level may have one now
  boost::unordered_flat_map<PooledString, OnUnknownNode, std::hash<PooledString>> on_unknown_node_;
  boost::unordered_flat_map<PooledString, Namespace, std::hash<PooledString>> namespaces_;
  boost::unordered_flat_map<PooledString, std::int32_t, std::hash<PooledString>> priority_classes_;
  std::string classes_problem_;
  Rows<JobId> job_rows_;
  Rows<MemberId> member_rows_;
  std::vector<JobOwner> owners_;
  Millis opened_;  ///< pods created before it were waiting before we were: their age counts
  std::vector<GangSlot> dirty_;
  std::vector<GangSlot> bound_outside_;  ///< of these a pod is bound and not in the engine before they are settled
  std::string groups_problem_;
  std::uint64_t levels_edition_ = 1;  ///< grows with what nodes have labels of, and with the levels made of them
  std::deque<std::pair<Millis, std::pair<PooledString, PooledString>>> impatient_;  ///< when a gang's patience ends, ascending
  boost::unordered_flat_map<PodSlot, Pod> missed_;  ///< what owners changed of assumed pods: read when they wait again
  std::vector<PooledString> moved_namespaces_;      ///< since the last settle(): pods that name no queue may belong to another one now
};

}  // namespace ashlar::kube
