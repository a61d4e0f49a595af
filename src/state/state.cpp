#include "state/state.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/digest.h"
#include "state/cluster/capacity.h"
#include "state/cluster/usable_devices.h"
#include "state/consistency.h"
#include "state/holds/kept.h"

namespace ashlar {

State::State() = default;
State::State(const State&) = default;
State::State(State&&) noexcept = default;
State& State::operator=(const State&) = default;
State& State::operator=(State&&) noexcept = default;
State::~State() = default;

Job& State::job_row(JobId id) {
  if (id.row() >= jobs_.size()) jobs_.resize(id.row() + 1);
  return jobs_[id.row()];
}

Member& State::member_row(MemberId id) {
  if (id.row() >= members_.size()) members_.resize(id.row() + 1);
  return members_[id.row()];
}

DomainId State::anchor(JobId id, LevelId level, std::uint32_t group) const {
  for (MemberId m = job(id).first; !m.is_none(); m = member(m).next)
    if (member(m).is_placed() && (group == kAnyGroup || member(m).group == group))
      return cluster_.topology().domain_of(level, member(m).node);
  return DomainId::none();
}

std::uint32_t State::counted_groups_lack(JobId id) const {
  const Job& j = job(id);
  if (j.spec.is_none() || j.is_each_needed) return 0;
  const std::vector<std::uint32_t> lacking = gangs_.lacking(id, j.spec);
  return std::accumulate(lacking.begin(), lacking.end(), 0u);
}

void State::set_minimum(JobId id, std::uint32_t members_min) {
  Job& j = jobs_[id.row()];
  j.is_each_needed = members_min == 0;
  if (!j.spec.is_none() && !j.is_each_needed) members_min = gangs_.minimum(j.spec);
  j.members_min = std::max<std::uint32_t>(members_min, 1);
  j.groups_lack = counted_groups_lack(id);
}

void State::count_in_group(const Member& member, int placed) {
  Job& j = jobs_[member.job.row()];
  if (j.spec.is_none()) return;
  const bool is_needed = gangs_.note_placed(member.job, j.spec, member.group, placed);
  if (is_needed && !j.is_each_needed) j.groups_lack -= static_cast<std::uint32_t>(placed);
}

std::uint64_t State::placement_cell(MemberId id) const {
  const Member& m = members_[id.row()];
  std::uint64_t place = hash_combine(hash_combine(m.node.value, m.devices.low), m.devices.high);
  if (!m.grants.is_none()) place = grants_.digest(m.grants, place);
  return mix64(place + static_cast<std::uint64_t>(id.value) * 0x9e3779b97f4a7c15ull);
}

void State::place(MemberId id, NodeId node, const DeviceMask& devices, Member::Phase phase, DeviceGrantsId grants) {
  Member& m = members_[id.row()];
  ASHLAR_CHECK(!m.is_placed());
  ASHLAR_CHECK(m.phase == Member::Phase::kWaiting);
  m.node = node;
  m.devices = devices;
  m.grants = grants;
  m.phase = phase;
  grants_.use(grants, 1);
  charge(m, node, 1);  // its queue has a row from then on
  const bool is_held = is_yielding(m.job);
  const bool is_kept_beside = is_held || yielding_.is_any_on(node);
  if (is_kept_beside) take_kept(node, -1);
  if (!is_held) cluster_.allocate(node, demand(m.demand), devices);
  if (!is_held && !grants.is_none()) cluster_.exchange(node, demand(m.demand).devices, devices_of(m), 1);
  cluster_.add_pod(id, m.labels, m.constraint, node);
  node_members_.add(id, node);
  placement_digest_ += placement_cell(id);
  ++jobs_[m.job.row()].members_placed;
  count_in_group(m, 1);
  if (is_held) yielding_.add({node, id}), cluster_.note_held(node);
  if (is_kept_beside) take_kept(node, 1);
}

void State::charge(const Member& member, NodeId node, int sign) {
  const Job& j = job(member.job);
  if (j.is_hold) return;
  if (member.grants.is_none())
    queues_.charge(j.queue, quota_of_demand(member.demand), sign);
  else
    queues_.charge(j.queue, quota_of_member(member), sign);
  if (!queues_.keys().empty()) charge_keys(queues_, member, node, sign);
}

void State::charge_keys(QueueTree& queues, const Member& member, NodeId node, int sign) const {
  for (std::size_t key = 0; key < queues.keys().size(); ++key)
    queues.charge(key, job(member.job).queue,
                  counted_for(cluster_, node, demand(member.demand), devices_of(member), queues.keys()[key]) * sign);
}

void State::unplace(MemberId id) {
  Member& m = members_[id.row()];
  ASHLAR_CHECK(m.is_placed());
  const NodeId node = m.node;
  const bool is_held = is_yielding(m.job);
  const bool is_kept_beside = is_held || yielding_.is_any_on(node);
  if (is_kept_beside) take_kept(node, -1);
  placement_digest_ -= placement_cell(id);
  cluster_.remove_pod(id, m.labels, m.constraint, node);
  const bool is_taken = cluster_.is_live(node) && !is_held;
  if (is_taken && !m.grants.is_none()) cluster_.exchange(node, demand(m.demand).devices, devices_of(m), -1);
  if (is_taken) cluster_.release(node, demand(m.demand), m.devices);
  node_members_.remove(id, node);
  if (is_held) yielding_.remove({node, id}), cluster_.note_held(node);
  charge(m, node, -1);
  m.node = NodeId::none();
  m.devices = {};
  grants_.use(m.grants, -1);
  m.grants = {};
  m.phase = Member::Phase::kWaiting;
  --jobs_[m.job.row()].members_placed;
  count_in_group(m, -1);
  if (is_kept_beside) take_kept(node, 1);
}

void State::take_kept(NodeId node, int sign) {
  if (!cluster_.is_live(node)) return;
  for (const Kept& kept : kept_on(*this, node))
    for (const Allocation& a : kept.allocations)
      sign > 0 ? cluster_.allocate(node, a.demand, a.devices) : cluster_.release(node, a.demand, a.devices);
}

void State::lift(std::span<const MemberId> members) {
  if (members.empty()) return;
  change_kept({&member(members.front()).node, 1}, [&] {
    for (const MemberId id : members) yielding_.lift(id);
  });
}

void State::put_back(std::span<const MemberId> members) {
  if (members.empty()) return;
  change_kept({&member(members.front()).node, 1}, [&] {
    for (const MemberId id : members) yielding_.put_back(id);
  });
}

void State::list_yielding() {
  yielding_.clear();
  for (std::size_t row = 0; row < members_.size(); ++row)
    if (members_[row].is_placed() && is_yielding(members_[row].job)) yielding_.add({members_[row].node, MemberId(row)});
}

void State::charge_new_keys(std::size_t first) {
  for (std::size_t key = first; key < queues_.keys().size(); ++key)
    for (const Member& m : members_) {
      if (m.is_placed() && !job(m.job).is_hold)
        queues_.charge(key, jobs_[m.job.row()].queue,
                       counted_for(cluster_, m.node, demand(m.demand), devices_of(m), queues_.keys()[key]));
    }
}

void State::count_new_shares(std::size_t first) {
  for (std::size_t column = first; column < queues_.shares().columns().size(); ++column)
    for (std::size_t row = 0; row < cluster_.rows(); ++row)
      queues_.add_capacity(column, capacity_of(cluster_, NodeId(row), queues_.shares().columns()[column].of));
}

void State::count_capacity(NodeId node, int sign) {
  for (std::size_t column = 0; column < queues_.shares().columns().size(); ++column)
    queues_.add_capacity(column, sign * capacity_of(cluster_, node, queues_.shares().columns()[column].of));
}

void State::charge_by_class(NodeId node, int sign) {
  if (queues_.keys().empty()) return;
  for (const MemberId id : members_on(node)) {
    const Member& m = member(id);
    if (!job(m.job).is_hold) charge_keys(queues_, m, node, sign);
  }
}

void State::list_node_members() {
  node_members_.clear();
  for (std::size_t row = 0; row < members_.size(); ++row)
    if (members_[row].node.row() < cluster_.rows()) node_members_.add(MemberId(row), members_[row].node);
}

void State::start(JobId id, Millis now) {
  if (!jobs_[id.row()].is_started && jobs_[id.row()].members_lacking() == 0) run(id, now);
  settle_backlog(id);
}

void State::run(JobId id, Millis now) {
  Job& j = jobs_[id.row()];
  j.is_started = true;
  j.is_refused = false;
  j.started_at = std::min(now, std::exchange(j.runs_since, Millis::max()));
  j.start_seq = next_seq_++;
  j.end_at = j.late_end_if_started(j.started_at);
  expect_end(id, j.end_at, true);
  timeline_.add_end({j.end_at, j.devices_total, id});
  note_running(id, true);
}

void State::stop(JobId id, Millis now) {
  Job& j = jobs_[id.row()];
  if (!j.is_started) return;
  timeline_.remove_end({j.end_at, j.devices_total, id});
  note_running(id, false);
  const Millis ran = now - j.started_at;
  j.is_started = false;
  expect_end(id, Millis::max(), true);
  j.served += ran;
  if (j.remaining != Millis::max()) j.remaining = j.remaining > ran ? j.remaining - ran : Millis(0);
}

void State::end(JobId id, Millis now) {
  note_end(id, now);
  stop(id, now);
  holds_.forget_parts(id);
  while (!job(id).first.is_none()) remove_member(job(id).first, now);
  holds_.remove(id);
  for (const JobId other : gave_way_.behind(id)) refresh_backlog(other);  // they may stop others of their own now
  gave_way_.forget(id);
  holds_.end_of_owner(id, now);  // what is held for this job alone is of no use any more
  jobs_[id.row()].is_live = false;
  if (const GangSpecId spec = jobs_[id.row()].spec; !spec.is_none()) gangs_.leave(id, spec);
  settle_backlog(id);
}

void State::note_end(JobId id, Millis now) {
  if (job(id).members_placed > 0 && (!job(id).is_started || now != job(id).end_at)) ++unforeseen_frees_;
}

void State::place_hold(const Hold& hold, Millis now) {
  Job& j = job_row(hold.job);
  j = Job{};
  j.is_live = j.is_hold = true;
  j.is_ours = false;
  j.submitted = j.queued_at = now;
  if (hold.until != Millis::max()) j.remaining = std::max(Millis(0), hold.until - now);
  j.estimate = {j.remaining, j.remaining};
  std::vector<MemberSpec> members;
  for (const HoldPart& part : hold.parts) members.push_back(part.member);
  add_members(hold.job, members);
  Hold kept = hold;
  if (kept.from <= now) kept.from = Millis(0);
  std::erase_if(kept.parts, [&](const HoldPart& part) { return member(part.member.member).job != hold.job; });
  holds_.add(kept);
  run(hold.job, now);
  for (const HoldPart& part : kept.parts) take(part);
}

void State::expect_end(JobId id, Millis late_end, bool is_news) {
  Job& j = jobs_[id.row()];
  if (j.ends_by == late_end) return;
  std::vector<NodeId> nodes;
  if (!yielding_.all().empty())
    each_member(id, [&](MemberId, const Member& m) {
      if (m.is_placed() && yielding_.is_any_on(m.node)) nodes.push_back(m.node);
    });
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  change_kept(nodes, [&] { j.ends_by = late_end; });
  if (!is_news) return;
  for (const NodeId n : nodes) note_freed(n);
  changed_nodes_.insert(changed_nodes_.end(), nodes.begin(), nodes.end());
}

void State::take(const HoldPart& part) {
  const Member& m = member(part.member.member);
  if (m.is_placed() || !cluster_.is_live(part.node)) return;
  changed_nodes_.push_back(part.node);
  const DeviceMask devices = part.devices.is_empty() ? choose_devices(cluster_, part.node, demand(m.demand).devices,
                                                                      cluster_.constraint(m.constraint))
                                                     : part.devices;
  place_on(part.member.member, part.node, {devices, {}}, Member::Phase::kBound);
}

void State::place_on(MemberId id, NodeId node, const GivenDevices& given, Member::Phase phase) {
  const GivenDevices there = clip(given, node, demand(member(id).demand).devices);
  place(id, node, there.devices, phase, grants_.intern(there.grants));
  if (there.devices == given.devices)
    absent_devices_.forget(id);
  else
    absent_devices_.note(id, {node, given});
}

GivenDevices State::given_to(MemberId id) const {
  const Member& m = member(id);
  const std::span<const DeviceGrant> held = grants_of(m);
  const GivenDevices there{m.devices, {held.begin(), held.end()}};
  const AbsentDevices::Given* noted = absent_devices_.find(id);
  const bool is_current =
      noted != nullptr && noted->node == m.node && clip(noted->given, m.node, demand(m.demand).devices) == there;
  return is_current ? noted->given : there;
}

GivenDevices State::clip(const GivenDevices& given, NodeId node, const DeviceRequest& request) const {
  const std::int32_t count = cluster_.devices()[node.row()];
  GivenDevices kept{given.devices.among(count), given.grants};
  std::erase_if(kept.grants, [&](const DeviceGrant& g) { return g.device >= count; });
  if (are_as_requested(kept.grants, request)) kept.grants.clear();
  return kept;
}

void State::settle_backlog(JobId id) {
  Job& j = jobs_[id.row()];
  const bool should = j.is_live && j.is_ours && j.members_placed < j.members_present && has_minimum_present(id) &&
                      j.members_leaving == 0 && !j.has_given_way;
  if (should == j.is_in_backlog) return;
  j.is_in_backlog = should;
  backlog_size_ += should ? 1 : std::uint64_t(-1);
  if (should) j.backlog_seq = next_seq_++;
  backlog_changes_.push_back({id, should});
}

void State::send_to_tail(JobId id) {
  leave_backlog(id);
  settle_backlog(id);
}

void State::refresh_backlog(JobId id) {
  if (!jobs_[id.row()].is_in_backlog) return;
  backlog_changes_.push_back({id, false});
  backlog_changes_.push_back({id, true});
}

void State::define(DemandId id, const Demand& demand) {
  if (id.row() >= demands_.size()) {
    demands_.resize(id.row() + 1);
    demand_quota_.resize(id.row() + 1);
    demand_uses_.resize(id.row() + 1);
  } else if (demands_[id.row()] == demand) {
    return;  // duplicate
  }
  ASHLAR_CHECK(!is_used(id));
  demands_[id.row()] = demand;
  demand_quota_[id.row()] = quota_of(demand);
  ++demand_uses_[id.row()].edition;
  ++redefinitions_;
}

void State::define(ConstraintId id, const Constraint& constraint) {
  if (id.row() >= cluster_.constraint_rows())
    constraint_uses_.resize(id.row() + 1);
  else if (cluster_.constraint(id) == constraint)
    return;  // duplicate
  ASHLAR_CHECK(!is_used(id));
  cluster_.define_constraint(id, constraint);
  ++constraint_uses_[id.row()].edition;
  ++redefinitions_;
}

void State::define(LabelSetId id, const LabelSet& set) {
  const SelectorIndex& index = cluster_.counts().index();
  if (id.row() < index.label_set_rows() && index.label_set(id) == set) return;  // duplicate
  cluster_.define(id, set);
}

void State::define(PodSelectorId id, const PodSelector& selector) {
  const SelectorIndex& index = cluster_.counts().index();
  if (id.row() < index.selector_rows() && index.selector(id) == selector) return;  // duplicate
  cluster_.define(id, selector);
}

std::vector<RowUse> State::counted_demand_uses() const {
  std::vector<RowUse> uses(demands_.size());
  for (const Member& m : members_)
    if (m.phase != Member::Phase::kAbsent && m.demand.row() < uses.size()) ++uses[m.demand.row()].members;
  return uses;
}

std::vector<RowUse> State::counted_constraint_uses() const {
  std::vector<RowUse> uses(cluster_.constraint_rows());
  for (const Member& m : members_)
    if (m.phase != Member::Phase::kAbsent && m.constraint.row() < uses.size()) ++uses[m.constraint.row()].members;
  return uses;
}

void State::add_members(JobId id, const std::vector<MemberSpec>& members) {
  bool was_started = jobs_[id.row()].is_started;
  if (was_started) timeline_.remove_end({jobs_[id.row()].end_at, jobs_[id.row()].devices_total, id});
  for (const MemberSpec& spec : members) {
    if (is_live(spec.member)) continue;  // duplicate
    Member& m = member_row(spec.member);
    ASHLAR_CHECK(spec.demand.row() < demands_.size());
    ASHLAR_CHECK(spec.constraint.row() < constraint_uses_.size());
    ASHLAR_CHECK(spec.labels.is_none() || spec.labels.row() < cluster_.counts().index().label_set_rows());
    m = Member{};
    m.job = id;
    m.demand = spec.demand;
    m.constraint = spec.constraint;
    m.labels = spec.labels;
    m.group = static_cast<std::uint16_t>(spec.group);
    cluster_.use(m.labels, 1);
    m.phase = Member::Phase::kWaiting;
    ++demand_uses_[spec.demand.row()].members;
    ++constraint_uses_[spec.constraint.row()].members;
    Job& j = jobs_[id.row()];
    if (j.first.is_none())
      j.first = spec.member;
    else
      members_[j.last.row()].next = spec.member;
    j.last = spec.member;
    ++j.members_present;
    if (!j.spec.is_none()) gangs_.note_present(id, m.group, 1);
    j.devices_total += demand(spec.demand).devices.count;
  }
  if (was_started) timeline_.add_end({jobs_[id.row()].end_at, jobs_[id.row()].devices_total, id});
}

void State::remove_member(MemberId id, Millis now) {
  Member& m = members_[id.row()];
  const JobId job_id = m.job;
  forget_nomination(id);
  absent_devices_.forget(id);
  if (jobs_[job_id.row()].is_hold) holds_.forget_part(job_id, id);
  if (m.is_placed()) {
    const NodeId node = m.node;
    unplace(id);
    if (cluster_.is_live(node)) note_freed(node);
  }
  set_leaving(id, false);
  Job& j = jobs_[job_id.row()];
  const bool was_started = j.is_started;
  if (was_started) timeline_.remove_end({j.end_at, j.devices_total, job_id});
  MemberId before;
  for (MemberId at = j.first; at != id; at = members_[at.row()].next) before = at;
  if (before.is_none())
    j.first = m.next;
  else
    members_[before.row()].next = m.next;
  if (j.last == id) j.last = before;
  --j.members_present;
  if (!j.spec.is_none()) gangs_.note_present(job_id, m.group, -1);
  j.devices_total -= demand(m.demand).devices.count;
  --demand_uses_[m.demand.row()].members;
  --constraint_uses_[m.constraint.row()].members;
  cluster_.use(m.labels, -1);
  m = Member{};
  if (was_started) timeline_.add_end({j.end_at, j.devices_total, job_id});
  stop_if_empty(job_id, now);
  refresh_backlog(job_id);  // the rest may fit where the whole did not
  settle_backlog(job_id);
}

bool State::is_consistent() const {
  if (!cluster_.is_consistent() || !queues_.is_consistent() || !holds_.is_consistent() ||
      !are_running_consistent(*this))
    return false;
  QueueTree counted = queues_;
  std::uint64_t digest = 0, waiting = 0;
  std::size_t yielding = 0;
  std::size_t gangs = 0;  // with groups
  for (std::size_t row = 0; row < members_.size(); ++row) {
    const Member& m = members_[row];
    if (m.phase == Member::Phase::kAbsent) continue;
    if (!jobs_[m.job.row()].is_live) return false;
    if (!m.is_placed()) continue;
    digest += placement_cell(MemberId(row));
    if (!job(m.job).is_hold) {
      counted.charge(jobs_[m.job.row()].queue, quota_of_member(m), -1);
      charge_keys(counted, m, m.node, -1);
    }
    yielding += is_yielding(m.job) ? 1 : 0;
  }
  if (yielding != yielding_.all().size() || !are_placements_consistent(*this)) return false;
  for (std::size_t q = 0; q < counted.rows(); ++q)
    if (counted.used(QueueId(q)) != QuotaVector{}) return false;
  for (std::size_t k = 0; k < counted.keys().size(); ++k)
    for (std::size_t q = 0; q < counted.rows(); ++q)
      if (counted.used(k, QueueId(q)) != 0) return false;
  for (std::size_t row = 0; row < jobs_.size(); ++row) {
    const Job& j = jobs_[row];
    if (!j.is_live) continue;
    if (!are_members_consistent(*this, JobId(row)) || !are_groups_consistent(*this, JobId(row)) ||
        j.groups_lack != counted_groups_lack(JobId(row)))
      return false;
    gangs += j.spec.is_none() ? 0 : 1;
    waiting += j.is_in_backlog ? 1 : 0;
  }
  const auto are_as_many = [](const RowUse& a, const RowUse& b) { return a.members == b.members; };
  const std::vector<RowUse> of_demands = counted_demand_uses();
  const std::vector<RowUse> of_constraints = counted_constraint_uses();
  return digest == placement_digest_ && waiting == backlog_size_ && gangs == gangs_.count() &&
         counted_gang_uses(*this) == gangs_.uses() && counted_grant_uses(*this) == grants_.uses() &&
         std::equal(of_demands.begin(), of_demands.end(), demand_uses_.begin(), demand_uses_.end(), are_as_many) &&
         std::equal(of_constraints.begin(), of_constraints.end(), constraint_uses_.begin(), constraint_uses_.end(),
                    are_as_many);
}

}  // namespace ashlar
