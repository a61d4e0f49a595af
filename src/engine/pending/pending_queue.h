// PendingQueue: the waiting jobs, in order, grouped by class. Jobs of one class have the same queue, demand,
// constraint, size and topology requirements, hence the same outcome: when the first of them cannot be placed, the
// class is parked; jobs that a reservation holds are set aside. None of these is looked at until something happens that
// could help, so a cycle costs O(active classes), whatever the number of waiting jobs.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/bitset.h"
#include "base/grown.h"
#include "base/id.h"
#include "base/spare_node.h"
#include "engine/pending/parked_kinds.h"
#include "engine/pending/queue_heads.h"
#include "engine/pending/queue_keys.h"
#include "engine/pending/waiting.h"
#include "model/plan.h"
#include "policy/order_policy.h"
#include "state/state.h"

namespace ashlar {

/// Neighbours in the order of placement that share demand, constraint and group.
struct MemberRun {
  DemandId demand;
  ConstraintId constraint;
  std::uint32_t members = 0;
  std::uint32_t group = 0;
  friend auto operator<=>(const MemberRun&, const MemberRun&) = default;
};

/// What makes two waiting jobs equal for placement.
struct EquivalenceClass {
  QueueId queue;
  DemandId demand;  ///< of the first waiting member, as the constraint
  ConstraintId constraint;
  std::uint32_t members_waiting = 0;
  std::uint32_t members_needed = 0;  ///< at least this many must be placed together
  LevelId within, prefer;
  GangSpecId spec;              ///< its groups
  std::uint32_t tenant = 0;     ///< of gangs: each pays for the searches for its own
  bool stops_none = false;      ///< others are not stopped for it
  bool is_refused = false;      ///< its queue is draining, see Job::is_refused
  DomainId anchor;              ///< domain of members already placed (then the job is its own class)
  JobId only;                   ///< set for jobs that are placed in part
  std::vector<MemberRun> runs;  ///< of the waiting members if they differ, or are in groups
  /// For each rule about other pods that must hold, which of several waiting members it means: 1 + the places in their
  /// order where those begin and end, then 0. So jobs whose labels differ are of one class as far as no rule of theirs
  /// tells them apart.
  std::vector<std::uint32_t> meant;
  /// Any of unlike members may be among those that start.
  bool has_choice() const { return !runs.empty() && members_needed < members_waiting; }
  bool is_gang() const { return members_waiting > 1 || !only.is_none(); }
  friend auto operator<=>(const EquivalenceClass&, const EquivalenceClass&) = default;
};
EquivalenceClass class_of(const State& state, JobId job);

class PendingQueue {
 public:
  using Entry = WaitingJob;
  using Head = ClassHead;
  /// A reservation as it was when it held a job.
  struct Holder {
    JobId job;  ///< for which it was reserved
    std::uint64_t edition = 0;
    friend auto operator<=>(const Holder&, const Holder&) = default;
  };
  struct Class {
    EquivalenceClass key;
    std::set<Entry> jobs;  ///< that are to be looked at, or all that are parked
    std::set<Entry> held;  ///< of an active class: could start but for reservations
    /// The reservations that hold any of them; and those of which it was seen that they hold one, ascending.
    std::vector<Holder> holders, holders_seen;
    JobId behind;                  ///< the one of those seen that is reported
    bool is_beyond_limit = false;  ///< more heads wait ahead than may have a reservation
    bool is_active = true;
    Verdict verdict;                  ///< why it is parked
    std::int64_t devices = 0;         ///< devices of one job
    bool has_company = false;         ///< a waiting member has rules about other pods
    std::vector<std::int64_t> needs;  ///< of one job, see QueueKeys::note_needs; empty: the policy does not ask

    bool is_empty() const { return jobs.empty() && held.empty(); }
    /// Parked for capacity that it might have some day.
    bool waits_for_capacity() const {
      return !is_active && verdict.wake_on == WakeOn::kCapacity && verdict.kind != VerdictKind::kNeverFits;
    }
    std::size_t count() const { return jobs.size() + held.size(); }
    template <class Visit>
    void each_job(Visit&& visit) const {
      for (const Entry& entry : jobs) visit(entry);
      for (const Entry& entry : held) visit(entry);
    }
  };

  /// `half_life` of what queues have used.
  PendingQueue(const OrderPolicy& order, const QueueOrderPolicy& queue_order, Millis half_life)
      : order_(&order), queue_keys_(queue_order, half_life) {}

  void enter(const State& state, JobId job);
  void leave(JobId job);
  /// All of its jobs were given a verdict of that mark; 0: one of them was given another.
  void note_reported(ClassId id, std::uint16_t mark) { grown(reported_, id.row()) = {mark, false}; }
  bool are_all_reported(ClassId id, std::uint16_t mark) const {
    const Reported reported = value_at(reported_, id.row());
    return reported.mark == mark && !reported.has_newcomers;
  }
  /// Those that have entered it were given what the others were given.
  void note_newcomers_reported(ClassId id) { grown(reported_, id.row()).has_newcomers = false; }
  /// The class should be looked at again.
  void activate(ClassId id);
  /// Only the given event can help it. With WakeOn::kHeadOfQueue that is a change among the blocked heads of its queue.
  void park(ClassId id, Verdict verdict);
  /// Parks an active class as it was parked before. It was not looked at on the present nodes.
  void park_again(ClassId id);
  /// Activates the classes behind heads of queues that no longer block, or block differently. Cost: O(such classes).
  void activate_behind_moved_heads();

  bool contains(JobId job) const { return job.row() < class_of_job_.size() && !class_of_job_[job.row()].is_none(); }
  ClassId class_id(JobId job) const { return class_of_job_[job.row()]; }
  const Class& class_at(ClassId id) const { return classes_[id.row()]; }
  /// Whether jobs of that class wait and it was found never to fit.
  bool never_fits(ClassId id) const {
    return id.row() < classes_.size() && !classes_[id.row()].is_empty() && !class_at(id).is_active &&
           class_at(id).verdict.kind == VerdictKind::kNeverFits;
  }
  Entry entry_of(JobId job) const { return entry_of_job_[job.row()]; }
  Head head_of(JobId job) const { return head_of(class_id(job), entry_of(job)); }
  Head head_of(ClassId id, const Entry& entry) const { return {entry, id, class_at(id).key.queue}; }

  /// The order of jobs, in two levels: queues by their keys, and by the jobs where keys are equal. Every minimum comes
  /// before any surplus.
  bool is_before(const Entry& a, QueueId queue_of_a, const Entry& b, QueueId queue_of_b) const {
    if (queue_keys_.are_compared() && a.is_surplus == b.is_surplus)
      if (const auto order = queue_keys_.compare(queue_of_a, queue_of_b); order != 0) return order < 0;
    return a < b;
  }
  bool is_before(const Head& a, const Head& b) const { return is_before(a.entry, a.queue, b.entry, b.queue); }
  const QueueKeys& queue_keys() const { return queue_keys_; }
  QueueKeys::News look_at_queues(const State& state, Millis now);
  /// Takes the news in. Cost: O(depth x log queues) for each key; O(queues) if the tree is another.
  void rekey(const QueueKeys::News& news);

  /// First jobs of the active classes, in order.
  const std::set<Head>& active_heads() const { return active_heads_; }
  /// First jobs of the classes of one queue that wait for capacity or for quota, in order; nullptr if there are none.
  /// Surplus blocks no job.
  const Head* first_blocked(QueueId queue) const;
  /// The job could start but for these reservations: it is set aside until they change, or room beside them is freed.
  /// Until then it acts for its queue like a blocked head.
  /// `holders` ascending.
  void hold(const Head& head, std::span<const Holder> holders, JobId behind, bool is_beyond_limit);
  /// So are those of its class behind that one, up to the first for which `is_other`, by the same reservations. Returns
  /// that one; nullptr if there is none. Cost: O(those set aside), a few ns each if they are all that is left.
  template <class Predicate>
  const Entry* hold_like(const Head& held, bool is_beyond_limit, Predicate&& is_other) {
    const std::set<Entry>& jobs = class_at(held.job_class).jobs;
    const auto first = jobs.upper_bound(held.entry);
    const auto end = std::find_if(first, jobs.end(), is_other);
    return hold_range(held.job_class, first, end, is_beyond_limit);
  }
  /// The held jobs of the class are to be looked at again.
  void wake_held(ClassId id);
  /// Those of them from that one on.
  void wake_held_from(ClassId id, const Entry& first);
  /// Classes with held jobs, each with the first of them.
  const std::set<Head>& held_classes() const { return held_classes_; }
  /// The jobs whose reservations hold others, with the number of such classes.
  const std::map<JobId, std::uint32_t>& holders() const { return held_by_; }
  /// The first waiting job of a queue, blocked or held; nullptr if there is none.
  const Head* first_waiting(QueueId queue) const;
  /// These of all queues: the first one; nullptr if there is none.
  const Head* first_head() const {
    if (queue_keys_.are_compared()) return keyed_heads_.first();
    return first_heads_.empty() ? nullptr : &*first_heads_.begin();
  }
  std::size_t first_head_count() const { return first_head_count_; }
  /// All of them, in order, until `visit` returns false.
  template <class Visit>
  void each_first_head(Visit&& visit) const {
    if (queue_keys_.are_compared()) return keyed_heads_.each(visit);
    for (const Head& head : first_heads_)
      if (!visit(head)) return;
  }
  /// Grows whenever they, or their order, change.
  std::uint64_t head_changes() const { return head_changes_; }
  /// First jobs of such classes of the queue, in order.
  const std::set<Head>& blocked_heads(QueueId queue) const { return of_queue_[queue.row()].blocked; }
  /// Queues that have any, ascending. Cost: O(queues / 64) and those.
  std::vector<QueueId> blocked_queues() const;
  /// Queues whose blocked heads have changed since the last call, or a superset; ascending.
  std::vector<QueueId> take_changed_queues();
  /// Parked classes of like members that wait for capacity.
  const ParkedKinds& waiting_for_capacity() const { return waiting_for_capacity_; }
  /// Those that were found never to fit.
  const ParkedKinds& never_fitting() const { return never_fitting_; }
  /// Those that wait for quota.
  const std::set<ClassId>& waiting_for_quota() const { return waiting_for_quota_; }
  /// Those of them with unlike members, and those placed in part.
  const std::set<ClassId>& waiting_in_parts() const { return waiting_in_parts_; }
  /// Calls `visit(class)` for those with rules about other pods in which a waiting member is of the constraint; of any
  /// constraint, some classes perhaps several times, if it is none.
  template <class Visit>
  void each_with_company(ConstraintId constraint, Visit&& visit) const {
    const bool is_any = constraint.is_none();
    auto it = is_any ? with_company_.begin() : with_company_.lower_bound({constraint, ClassId(0u)});
    for (; it != with_company_.end() && (is_any || it->first == constraint); ++it) visit(it->second);
  }
  /// All classes with jobs, for readers.
  template <class Visit>
  void each_class(Visit&& visit) const {
    for (std::size_t i = 0; i < classes_.size(); ++i)
      if (!classes_[i].is_empty()) visit(ClassId(i), classes_[i]);
  }
  std::size_t size() const { return size_; }
  /// Jobs that entered a parked class since the last call, for their verdicts.
  std::vector<JobId> take_newcomers_of_parked() { return std::exchange(newcomers_of_parked_, {}); }

 private:
  friend struct EngineFields;
  /// The classes of one queue that do not start.
  struct OfQueue {
    std::set<Head> blocked;          ///< first jobs of those that wait for capacity or for quota
    std::set<Head> held;             ///< first held jobs, but of surplus
    std::set<ClassId> behind_heads;  ///< parked until the head of the queue has changed
    std::optional<Head> first;       ///< as it is among the first heads
    bool has_changed = false;        ///< is among the changed queues
  };
  /// Verdicts given to the jobs of a class that are to be looked at, or are parked.
  struct Reported {
    std::uint16_t mark = 0;  ///< 0: not all the same
    bool has_newcomers = false;
  };
  OfQueue& of_queue(QueueId queue);
  void note_changed(QueueId queue);
  const Entry* hold_range(ClassId id, std::set<Entry>::const_iterator first, std::set<Entry>::const_iterator end,
                          bool is_beyond_limit);
  void list_head(ClassId id);
  void unlist_head(ClassId id);
  /// The list of parked classes of its verdict.
  ParkedKinds& kinds_like(const Class& job_class);
  void list_held(ClassId id);
  void index_company(ClassId id, bool is_in);
  void unlist_held(ClassId id);
  void note_first(QueueId queue);
  void forget_holders(Class& job_class);
  /// Makes all lists anew from the classes and their jobs.
  void list_anew();

  const OrderPolicy* order_;
  QueueKeys queue_keys_;
  using Ids = std::map<EquivalenceClass, ClassId>;
  Ids ids_;
  std::vector<Class> classes_;
  std::vector<ClassId> spare_;
  std::vector<ClassId> class_of_job_;
  std::vector<Entry> entry_of_job_;
  std::set<Head> active_heads_;
  std::vector<OfQueue> of_queue_;  ///< [queue]
  BitSet has_blocked_;             ///< [queue]
  /// With blocked heads, or heads that were closed for quota; lost in a snapshot: a reader of one re-evaluates all
  /// queues first.
  std::vector<QueueId> changed_queues_;
  std::set<Head> held_classes_;
  std::map<JobId, std::uint32_t> held_by_;  ///< by holder: how many classes
  std::size_t first_head_count_ = 0;        ///< queues that have one
  std::set<Head> first_heads_;              ///< where queues are not compared, else:
  QueueHeads keyed_heads_;
  bool are_heads_keyed_ = false;  ///< not yet after they were listed anew
  std::uint64_t head_changes_ = 0;
  ParkedKinds waiting_for_capacity_, never_fitting_;
  std::set<ClassId> waiting_for_quota_;
  std::set<QueueId> moved_heads_;  ///< queues with classes behind heads, whose blocked heads have changed
  std::set<ClassId> waiting_in_parts_;
  std::set<std::pair<ConstraintId, ClassId>> with_company_;
  std::vector<JobId> newcomers_of_parked_;
  std::vector<Reported> reported_;  ///< [class]; lost in a snapshot: all get theirs again then, which is no news
  std::size_t size_ = 0;
  SpareNode<Ids> spare_id_;
  SpareNode<std::set<Entry>> spare_entry_;
  SpareNode<std::set<Head>> spare_head_;
};

}  // namespace ashlar
