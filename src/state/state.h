// State: everything decide() looks at, in columns, and apply(), the only way in which the outside world changes it;
// decisions change it by a Ledger or a Trial. Two states that have seen the same events are equal, digest included.
// Owned and changed by one thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/event.h"
#include "model/plan.h"
#include "state/cluster/cluster.h"
#include "state/holds/held_places.h"
#include "state/holds/holds.h"
#include "state/jobs/absent_devices.h"
#include "state/jobs/device_grant_rows.h"
#include "state/jobs/gangs.h"
#include "state/jobs/gave_way.h"
#include "state/jobs/jobs.h"
#include "state/jobs/node_members.h"
#include "state/queues/queue_tree.h"
#include "state/queues/running_jobs.h"
#include "state/time/timeline.h"

namespace ashlar {

/// The number of members that name a row, and the version of the row's value.
struct RowUse {
  std::uint32_t members = 0;
  std::uint32_t edition = 0;
};

/// A job began to wait, or stopped waiting (placed, removed, changed). In chronological order; a row may be reused in
/// between.
struct BacklogChange {
  JobId job;
  bool has_entered = false;
};

class State {
 public:
  State();
  State(const State&);
  State(State&&) noexcept;
  State& operator=(const State&);
  State& operator=(State&&) noexcept;
  ~State();

  const Cluster& cluster() const { return cluster_; }
  const QueueTree& queues() const { return queues_; }
  const GaveWay& gave_way() const { return gave_way_; }
  const Timeline& timeline() const { return timeline_; }
  const RunningJobs& running() const { return running_; }
  const Demand& demand(DemandId id) const { return demands_[id.row()]; }
  const QuotaVector& quota_of_demand(DemandId id) const { return demand_quota_[id.row()]; }
  std::size_t demand_rows() const { return demands_.size(); }
  /// What a placed member holds of its devices where that is not what it requests; else nothing.
  std::span<const DeviceGrant> grants_of(const Member& member) const { return grants_.of(member.grants); }
  GrantedDevices devices_of(const Member& member) const { return {member.devices, grants_of(member)}; }
  /// What a placed member counts for in its queues: what it requests, but of devices what it holds.
  QuotaVector quota_of_member(const Member& member) const {
    QuotaVector quota = quota_of_demand(member.demand);
    if (!member.grants.is_none())
      quota[static_cast<std::size_t>(QuotaDimension::kMilliGpu)] =
          held_milli(demand(member.demand).devices, grants_of(member));
    return quota;
  }
  /// Whether a member names the row. Such a row keeps its value.
  bool is_used(DemandId id) const { return id.row() < demand_uses_.size() && demand_uses_[id.row()].members > 0; }
  bool is_used(ConstraintId id) const {
    return id.row() < constraint_uses_.size() && constraint_uses_[id.row()].members > 0;
  }
  /// Grows whenever one of the two rows is given another value: what was computed for the former pair is void.
  std::uint64_t edition(DemandId demand, ConstraintId constraint) const {
    return (std::uint64_t{demand_uses_[demand.row()].edition} << 32) | constraint_uses_[constraint.row()].edition;
  }
  /// Number of times that a row was given another value.
  std::uint64_t redefinitions() const { return redefinitions_; }
  const Job& job(JobId id) const { return jobs_[id.row()]; }
  const Member& member(MemberId id) const { return members_[id.row()]; }
  std::size_t job_rows() const { return jobs_.size(); }
  std::size_t member_rows() const { return members_.size(); }
  bool is_live(JobId id) const { return id.row() < jobs_.size() && jobs_[id.row()].is_live; }
  bool is_live(MemberId id) const {
    return id.row() < members_.size() && members_[id.row()].phase != Member::Phase::kAbsent;
  }
  Revision revision() const { return revision_; }
  Millis now() const { return now_; }
  /// Members of other schedulers' jobs for which a node is reserved though they are not bound to it (Nominated); in
  /// order of arrival.
  std::span<const MemberId> nominations() const { return nominations_; }
  /// Holds that have not ended, in order of arrival.
  std::span<const Hold> holds() const { return holds_.all(); }
  /// Which of them a job may use.
  const Holds& hold_book() const { return holds_; }
  /// Nullptr if the job is none.
  const Hold* hold_of(JobId job) const { return holds_.find(job); }
  /// The placed members of holds that yield, ascending by node; those of one node.
  std::span<const HeldPlace> yielding() const { return yielding_.all(); }
  std::span<const HeldPlace> yielding_on(NodeId node) const { return yielding_.on(node); }
  /// Whether it keeps nothing in a trial: see Ledger::lift.
  bool is_lifted(MemberId held) const { return yielding_.is_lifted(held); }
  std::uint64_t backlog_size() const { return backlog_size_; }  // for tests
  /// Number of times capacity was freed, or is now known to be freed, at another time than the timeline predicted: a
  /// job ended before or after its time or has another estimate, a node was added or changed.
  std::uint64_t unforeseen_frees() const { return unforeseen_frees_; }
  const Gangs& gangs() const { return gangs_; }
  const DeviceGrantRows& grants() const { return grants_; }
  const GangSpec& gang_spec(GangSpecId id) const { return gangs_.spec(id); }
  /// The members of each group of a job with a GangSpec.
  const std::vector<GroupCount>& groups_of(JobId id) const { return gangs_.groups_of(id); }
  /// Whether all members that must start together exist, of each group.
  bool has_minimum_present(JobId id) const {
    const Job& j = job(id);
    if (j.members_present < j.members_min) return false;
    return j.spec.is_none() || j.is_each_needed || gangs_.has_minimum_present(id, j.spec);
  }
  static constexpr std::uint32_t kAnyGroup = UINT32_MAX;
  /// The domain of members already placed, at this level, of the whole job or of one group; none if none is placed
  /// there.
  DomainId anchor(JobId id, LevelId level, std::uint32_t group = kAnyGroup) const;
  /// The first member in rank order that has no node; none if all are placed.
  MemberId first_waiting_member(JobId id) const {
    for (MemberId m = job(id).first; !m.is_none(); m = member(m).next)
      if (!member(m).is_placed()) return m;
    return MemberId::none();
  }
  /// The members placed on a node, ascending. Cost: O(m log m) of them.
  std::vector<MemberId> members_on(NodeId node) const { return node_members_.on(node); }
  /// Calls `visit(const Member&)` for the same in no order.
  template <class Visit>
  void each_on(NodeId node, Visit&& visit) const {
    node_members_.each_on(node, [&](MemberId m) { visit(member(m)); });
  }
  /// Calls `visit(MemberId, const Member&)` in rank order.
  template <class Visit>
  void each_member(JobId id, Visit&& visit) const {
    for (MemberId m = job(id).first; !m.is_none();) {
      const MemberId next = member(m).next;
      visit(m, member(m));
      m = next;
    }
  }
  /// Calls `visit(MemberId, const Member&)` for the waiting members in the order in which they are placed, until it
  /// returns false: those that groups need for their minimum, then the others; both in rank order.
  template <class Visit>
  void each_waiting(JobId id, Visit&& visit) const {
    std::vector<std::uint32_t> lacking;
    if (job(id).groups_lack > 0) lacking = gangs_.lacking(id, job(id).spec);
    std::vector<MemberId> surplus;
    for (MemberId m = job(id).first; !m.is_none(); m = member(m).next) {
      if (member(m).is_placed()) continue;
      if (!lacking.empty() && lacking[member(m).group] == 0) {
        surplus.push_back(m);
        continue;
      }
      if (!lacking.empty()) --lacking[member(m).group];
      if (!visit(m, member(m))) return;
    }
    for (const MemberId m : surplus)
      if (!visit(m, member(m))) return;
  }
  /// The same of the first members_needed() of them: those that must be placed together next.
  template <class Visit>
  void each_needed(JobId id, Visit&& visit) const {
    std::uint32_t left = job(id).members_needed();
    each_waiting(id, [&](MemberId m, const Member& waiting) {
      visit(m, waiting);
      return --left > 0;
    });
  }
  /// Fingerprint of cluster, queues and placements.
  std::uint64_t digest() const { return cluster_.digest() + queues_.digest() + placement_digest_; }
  /// Recounts everything derived. For checks.
  bool is_consistent() const;

  /// Changes since the engine last looked; Ledger::forget_news clears them. Freed nodes are those with more free
  /// capacity; changed nodes those of which another scheduler took capacity, or whose facts changed.
  std::span<const BacklogChange> backlog_changes() const { return backlog_changes_; }
  std::span<const NodeId> freed_nodes() const { return freed_nodes_; }
  std::span<const NodeId> changed_nodes() const { return changed_nodes_; }

 private:
  friend struct StateFields;
  friend struct Applier;
  friend class Ledger;
  friend void apply(State& state, const Event& event);

  /// Puts a waiting member on a node: cluster, quota and digest move together. Undone exactly by unplace.
  void place(MemberId id, NodeId node, const DeviceMask& devices, Member::Phase phase, DeviceGrantsId grants = {});
  void unplace(MemberId id);
  /// The job runs from now on with what is placed: an end goes on the timeline, and it leaves the backlog once every
  /// member is placed.
  void start(JobId id, Millis now);
  /// The same whatever its minimum: a gang that lost members since it started runs on.
  void run(JobId id, Millis now);
  /// The job no longer runs: its end leaves the timeline; served and remaining are updated.
  void stop(JobId id, Millis now);
  /// The whole job is over; what it held is freed.
  void end(JobId id, Millis now);
  /// Its last member is no longer placed, so it no longer runs. A hold lasts all the same.
  void stop_if_empty(JobId id, Millis now) {
    if (job(id).members_placed == 0 && !job(id).is_hold) stop(id, now);
  }
  /// What the job holds is freed, and not at the time in the timeline.
  void note_end(JobId id, Millis now);
  void place_hold(const Hold& hold, Millis now);
  /// The job is expected to have ended by then, or not to run (max()). Undone exactly by the time before, unless it is
  /// news for waiting jobs.
  void expect_end(JobId id, Millis late_end, bool is_news);
  /// Whether the job is a hold that is not kept from all jobs.
  bool is_yielding(JobId job) const {
    const Hold* hold = jobs_[job.row()].is_hold ? hold_of(job) : nullptr;
    return hold != nullptr && hold->yields();
  }
  /// Gives back what yielding holds keep of the node (-1), or takes it.
  void take_kept(NodeId node, int sign);
  /// Around a change of what holds keep of these nodes: of which jobs may use it, or of which are lifted.
  template <class Change>
  void change_kept(std::span<const NodeId> nodes, Change&& change) {
    for (const NodeId n : nodes) take_kept(n, -1);
    change();
    for (const NodeId n : nodes) take_kept(n, 1);
  }
  void list_yielding();
  /// See Ledger::lift. Cost: once O(members x holds) of the node.
  void lift(std::span<const MemberId> members);
  void put_back(std::span<const MemberId> members);
  /// Takes what the part holds, if its node is there and it does not yet.
  void take(const HoldPart& part);
  /// On these devices: those that the node does not have now are owed, and remembered until it has them.
  void place_on(MemberId id, NodeId node, const GivenDevices& given, Member::Phase phase);
  /// What a placed member was given, whether its node has it or not.
  GivenDevices given_to(MemberId id) const;
  /// Those that the node has, as a member that requests this holds them.
  GivenDevices clip(const GivenDevices& given, NodeId node, const DeviceRequest& request) const;
  /// For good: unlike in a trial, its devices are forgotten.
  void take_off(MemberId id) {
    absent_devices_.forget(id);
    unplace(id);
  }
  /// Charges a member placed on a node to its queues, or gives it back (-1).
  void charge(const Member& member, NodeId node, int sign);
  /// The same of every key.
  void charge_keys(QueueTree& queues, const Member& member, NodeId node, int sign) const;
  /// Enters or leaves the backlog depending on its members.
  void settle_backlog(JobId id);
  void leave_backlog(JobId id) {
    if (!jobs_[id.row()].is_in_backlog) return;
    jobs_[id.row()].is_in_backlog = false;
    --backlog_size_;
    backlog_changes_.push_back({id, false});
  }
  /// A job starts, or stops, as which it is listed in running_.
  void note_running(JobId id, bool is_running) {
    const Job& j = job(id);
    if (!j.is_ours || j.is_hold) return;
    is_running ? running_.add(id, j.queue, j.priority) : running_.remove(id, j.queue, j.priority);
  }
  /// Of a member that waits: whether its pod is still where it was.
  void set_leaving(MemberId id, bool is_leaving) {
    Member& m = members_[id.row()];
    if (m.is_leaving == is_leaving) return;
    m.is_leaving = is_leaving;
    jobs_[m.job.row()].members_leaving += is_leaving ? 1 : std::uint32_t(-1);
  }
  /// Leaves and enters again, behind all others.
  void send_to_tail(JobId id);
  /// Makes the engine re-evaluate a waiting job, without losing its turn.
  void refresh_backlog(JobId id);
  /// Another scheduler's nomination no longer counts; its member stays where it is placed, or not placed.
  void forget_nomination(MemberId id) { std::erase(nominations_, id); }
  /// A nomination is withdrawn or dropped for a job that outranks it: the capacity it leaves is a change for waiting
  /// jobs and for reservations beside it.
  void drop_nomination(MemberId id, NodeId node) {
    forget_nomination(id);
    note_freed(node);
    ++unforeseen_frees_;
  }
  void note_freed(NodeId node) { freed_nodes_.push_back(node); }

  Job& job_row(JobId id);
  Member& member_row(MemberId id);
  std::uint64_t placement_cell(MemberId id) const;
  void add_members(JobId id, const std::vector<MemberSpec>& members);
  void remove_member(MemberId id, Millis now);
  void define(DemandId id, const Demand& demand);
  void define(ConstraintId id, const Constraint& constraint);
  /// Another number must start together; 0: see Workload::members_min. Of a job with groups their minima count.
  void set_minimum(JobId id, std::uint32_t members_min);
  std::uint32_t counted_groups_lack(JobId id) const;
  /// A member of the job's group was placed (1) or is placed no more (-1).
  void count_in_group(const Member& member, int placed);
  /// Tells the queues what all nodes have of what they share from this column on, which is new.
  void count_new_shares(std::size_t first);
  /// Adds what the node has of what queues share, or takes it off (-1).
  void count_capacity(NodeId node, int sign);
  /// Charges what is placed for the keys of queues from this one on, which are new.
  void charge_new_keys(std::size_t first);
  /// Charges the members on a node, by its class, or gives them back (-1).
  void charge_by_class(NodeId node, int sign);
  void list_node_members();
  std::vector<RowUse> counted_demand_uses() const;
  std::vector<RowUse> counted_constraint_uses() const;
  void define(LabelSetId id, const LabelSet& set);
  void define(PodSelectorId id, const PodSelector& selector);

  Cluster cluster_;
  QueueTree queues_;
  Timeline timeline_;
  RunningJobs running_;  ///< not kept in a snapshot
  std::vector<Demand> demands_;
  std::vector<QuotaVector> demand_quota_;
  std::vector<RowUse> demand_uses_, constraint_uses_;
  Gangs gangs_;
  DeviceGrantRows grants_;
  std::uint64_t redefinitions_ = 0;
  std::vector<Job> jobs_;
  std::vector<Member> members_;
  NodeMembers node_members_;  ///< derived; not in snapshots
  std::vector<BacklogChange> backlog_changes_;
  std::vector<NodeId> freed_nodes_, changed_nodes_;
  std::vector<MemberId> nominations_;
  AbsentDevices absent_devices_;
  GaveWay gave_way_;
  Holds holds_;
  HeldPlaces yielding_;  ///< derived; not in snapshots
  std::uint64_t unforeseen_frees_ = 0;
  std::uint64_t placement_digest_ = 0;
  std::uint64_t backlog_size_ = 0;
  std::uint64_t next_seq_ = 1;
  Revision revision_ = 0;
  Millis now_;
};

/// The world changed. Events about rows that do not exist (any more) are no-ops: deliveries may be late or duplicated.
/// Cost: O(size of the event); of a node that loses devices or is gone, O(its members). `event.at` never makes time run
/// backwards.
void apply(State& state, const Event& event);

}  // namespace ashlar
