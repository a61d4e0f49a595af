// Ledger: the interface by which decisions change a State: placements, running jobs, and what the engine has taken note
// of. Readers hold the State alone.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "state/state.h"

namespace ashlar {

class Ledger {
 public:
  explicit Ledger(State& state) : state_(&state) {}
  State& state() const { return *state_; }

  /// Puts a waiting member on a node: cluster, quota and digest move together. Undone exactly by unplace.
  void place(MemberId id, NodeId node, const DeviceMask& devices, Member::Phase phase,
             DeviceGrantsId grants = {}) const {
    state_->place(id, node, devices, phase, grants);
  }
  /// The row of grants that a member is about to be placed with. Not while a trial is open: see DeviceGrantRows.
  DeviceGrantsId intern(const DeviceGrants& grants) const { return state_->grants_.intern(grants); }
  void unplace(MemberId id) const { state_->unplace(id); }
  /// Placed members of yielding holds, all on one node, keep nothing of it until they are put back. What jobs have of
  /// these holds stays counted as of them, so that no others yield for them. Each exactly undoes the other.
  void lift(std::span<const MemberId> members) const { state_->lift(members); }
  void put_back(std::span<const MemberId> members) const { state_->put_back(members); }
  /// What the job's placed members use of its queue's limits counts once more, or once less if `sign` is -1.
  void charge_quota(JobId id, int sign) const {
    state_->each_member(id, [&](MemberId, const Member& m) {
      if (m.is_placed()) state_->charge(m, m.node, sign);
    });
  }
  /// The queue, and those above it, count as using that much more, or less if `sign` is -1.
  void charge_quota(QueueId queue, const QuotaVector& amounts, int sign) const {
    state_->queues_.charge(queue, amounts, sign);
  }
  /// Takes or gives back capacity of a node that belongs to no member. Each exactly undoes the other.
  void allocate(NodeId node, const Demand& demand, const DeviceMask& devices) const {
    state_->cluster_.allocate(node, demand, devices);
  }
  void release(NodeId node, const Demand& demand, const DeviceMask& devices) const {
    state_->cluster_.release(node, demand, devices);
  }
  /// The job runs from now on with what is placed: an end goes on the timeline, and it leaves the backlog once every
  /// member is placed.
  void start(JobId id, Millis now) const { state_->start(id, now); }
  void run(JobId id, Millis now) const { state_->run(id, now); }
  /// The job no longer runs: its end leaves the timeline; served and remaining are updated.
  void stop(JobId id, Millis now) const { state_->stop(id, now); }
  /// A job gives way for another, or with its queue (`for_job` none): it has left its nodes, and waits again, as old as
  /// it was, once its pods are reported gone (Evicted).
  void give_way(JobId id, JobId for_job, Millis now) const {
    if (!for_job.is_none()) state_->gave_way_.note(id, for_job);
    set_given_way(id, true);
    state_->note_end(id, now);
    state_->stop(id, now);
    state_->each_member(id, [&](MemberId m, const Member& member) {
      if (!member.is_placed()) return;
      state_->note_freed(member.node);
      state_->take_off(m);
    });
    state_->settle_backlog(id);
  }
  void set_given_way(JobId id, bool has) const { state_->job_row(id).has_given_way = has; }
  void set_leaving(MemberId id, bool is_leaving) const { state_->set_leaving(id, is_leaving); }
  /// The same of a member beyond its job's minimum: the others run on. Nothing of the job is placed until its pod is
  /// reported gone.
  void give_way(MemberId member, JobId for_job) const {
    const JobId id = state_->member(member).job;
    state_->gave_way_.note(id, for_job);
    ++state_->unforeseen_frees_;
    state_->note_freed(state_->member(member).node);
    state_->take_off(member);
    state_->set_leaving(member, true);
    state_->settle_backlog(id);
  }
  /// Enters or leaves the backlog depending on its members.
  void settle_backlog(JobId id) const { state_->settle_backlog(id); }
  /// Makes the engine re-evaluate a waiting job, without losing its turn.
  void refresh_backlog(JobId id) const { state_->refresh_backlog(id); }
  /// Another scheduler's nomination is dropped for a job that outranks it.
  void drop_nomination(MemberId id, NodeId node) const { state_->drop_nomination(id, node); }
  /// It counts again; its member is placed where it was.
  void restore_nomination(MemberId id) const { state_->nominations_.push_back(id); }
  void expect_end(JobId id, Millis late_end) const { state_->expect_end(id, late_end, false); }
  /// A hold's time has come: from now on it is kept from all jobs but its owner's. Those that should have ended stay.
  void begin_hold(JobId id) const {
    std::vector<std::pair<MemberId, Member>> placed;
    state_->each_member(id, [&](MemberId m, const Member& member) {
      if (!member.is_placed()) return;
      placed.emplace_back(m, member);
      state_->unplace(m);
    });
    state_->holds_.begin(id);
    for (const auto& [id_of_member, member] : placed) {
      state_->place(id_of_member, member.node, member.devices, member.phase, member.grants);
      state_->changed_nodes_.push_back(member.node);
    }
  }
  /// It is over.
  void end_hold(JobId id, Millis now) const { state_->end(id, now); }
  void note_freed(NodeId node) const { state_->note_freed(node); }

  /// The engine has read the changes of that kind.
  void forget_backlog_changes() const { state_->backlog_changes_.clear(); }
  void forget_news_of_nodes() const {
    state_->freed_nodes_.clear();
    state_->cluster_.forget_rules_concerned();
  }
  /// Rules about other pods may leave other nodes open, since a decision has placed this member.
  void note_company_of(MemberId id) const { state_->cluster_.note_pod(state_->member(id).labels); }
  void forget_changed_nodes() const { state_->changed_nodes_.clear(); }
  void forget_usage_changes() const { state_->queues_.forget_usage_changes(); }
  /// See Cluster::forget_undone_changes.
  void forget_undone_changes(std::uint64_t since) const { state_->cluster_.forget_undone_changes(since); }

 private:
  State* state_;
};

}  // namespace ashlar
