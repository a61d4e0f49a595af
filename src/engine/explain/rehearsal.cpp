#include "engine/explain/rehearsal.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "engine/place/placement.h"
#include "engine/quota.h"
#include "engine/reserve/backfill.h"

namespace ashlar {
namespace {

/// Nodes looked at for all tries of an answer together, each kind of members on each; some seconds.
constexpr std::size_t kNodesLookedAtMax = 48'000'000;
constexpr std::size_t kTriesMin = 4;

/// By the kinds of its members.
int tries_max(const State& state, std::size_t kinds) {
  const std::size_t of_one = std::max<std::size_t>(kinds * state.cluster().live_count(), 1);
  return static_cast<int>(std::clamp<std::size_t>(kNodesLookedAtMax / of_one, kTriesMin, kRemedyTriesMax));
}

}  // namespace

Rehearsal::Rehearsal(const State& state, const Engine& engine, JobId job, ResourceId counts_devices)
    : state_(state), engine_(engine), fit_tables_(engine.profile()), job_(job), counts_devices_(counts_devices) {
  state.each_member(job, [&](MemberId id, const Member& m) {
    if (m.is_placed()) placed_.emplace_back(id, m);
  });
  std::set<std::tuple<DemandId, ConstraintId, std::uint32_t>> kinds;
  state.each_waiting(job, [&](MemberId id, const Member& m) {
    waiting_.emplace_back(id, m);
    kinds.insert({m.demand, m.constraint, m.group});
    return true;
  });
  tries_max_ = tries_max(state, kinds.size());
  changed_spec_ = GangSpecId(state.gangs().rows());
  const Job& j = state.job(job);
  if (engine.pending().contains(job)) entry_ = engine.pending().entry_of(job);
  needed_ = std::min<std::uint32_t>(j.members_needed(), static_cast<std::uint32_t>(waiting_.size()));
  original_ = {.job = job,
               .queue = j.queue,
               .priority = j.priority,
               .members_min = j.is_each_needed ? 0 : j.members_min,
               .within = j.within,
               .prefer = j.prefer,
               .spec = j.spec,
               .submitted = j.submitted,
               .estimate = j.estimate,
               .order_hint = j.order_hint};
  reserve_for_those_ahead();
}

std::vector<MemberSpec> Rehearsal::needed_members() const {
  std::vector<MemberSpec> members;
  for (std::size_t m = 0; m < needed_; ++m)
    members.push_back({.member = waiting_[m].first,
                       .demand = waiting_[m].second.demand,
                       .constraint = waiting_[m].second.constraint,
                       .labels = waiting_[m].second.labels,
                       .group = waiting_[m].second.group});
  const auto devices = [&](const MemberSpec& m) { return state_.demand(m.demand).devices.count; };
  std::stable_sort(members.begin(), members.end(),
                   [&](const MemberSpec& a, const MemberSpec& b) { return devices(a) > devices(b); });
  return members;
}

std::size_t Rehearsal::placed_of(std::uint32_t group) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(placed_, [&](const auto& member) { return member.second.group == group; }));
}

Rehearsal::Members Rehearsal::kept_members(const ChangedJob& change) const {
  if (change.small_group == ChangedJob::kNoGroup) {
    const std::size_t count = std::min<std::size_t>(change.members_max, waiting_.size());
    return {waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  Members kept;
  std::uint32_t of_group = 0;
  for (std::size_t m = 0; m < needed_; ++m)
    if (waiting_[m].second.group != change.small_group || of_group++ < change.members_max) kept.push_back(waiting_[m]);
  return kept;
}

bool Rehearsal::starts(const ChangedJob& change) {
  if (is_used_up()) return false;
  ++tries_;
  become(change);
  if (quota_refusal(state_, job_)) return false;
  return is_placed_beside_reservations();
}

bool Rehearsal::starts_without_limits() {
  if (is_used_up()) return false;
  ++tries_;
  become({});
  return is_placed_beside_reservations();
}

void Rehearsal::become(const ChangedJob& change) {
  const Millis now = state_.now();
  std::vector<Bound> bound;
  for (const auto& [id, m] : placed_) {
    const auto grants = state_.grants_of(m);
    bound.push_back({id, m.node, m.devices, {grants.begin(), grants.end()}});
  }
  ashlar::apply(state_, {now, Ended{job_}});
  Workload w = original_;
  if (change.within) w.within = *change.within;
  const Members kept = kept_members(change);
  if (kept.size() < waiting_.size()) w.members_min = static_cast<std::uint32_t>(placed_.size() + kept.size());
  if (!w.spec.is_none()) w.spec = groups_of(change, kept);
  std::size_t seen = 0;
  Members all = placed_;
  all.insert(all.end(), kept.begin(), kept.end());
  for (const auto& [id, m] : all)
    w.members.push_back({.member = id,
                         .demand = seen++ < placed_.size() ? m.demand : with_devices(m.demand, change.devices_max),
                         .constraint = m.constraint,
                         .labels = m.labels,
                         .group = m.group});
  ashlar::apply(state_, {now, Submitted{w}});
  for (const Bound& event : bound) ashlar::apply(state_, {now, event});
}

bool Rehearsal::is_placed_beside_reservations() {
  const Millis end = state_.job(job_).late_end_if_started(state_.now());
  std::vector<const Reservation*> binding;
  for (const Reservation& p : ahead_)
    if (p.at != Millis::max() && end > p.at) binding.push_back(&p);
  if (!std::all_of(binding.begin(), binding.end(),
                   [&](const Reservation* p) { return p->spares_quota_for(state_, job_); }))
    return false;
  Trial trial(state_);
  const auto places = [&](Beside beside) {
    Rng draws(1);
    const bool is_placed =
        place_job({trial, fit_tables_, engine_.profile(), draws, members_within_quota_or_needed(), state_.now()}, job_)
            .is_placed;
    trial.unblock();
    return is_placed && std::all_of(binding.begin(), binding.end(),
                                    [&](const Reservation* p) { return p->allows(state_, trial.steps(), beside); });
  };
  if (places(Beside::kItsDevices)) return true;
  for (const auto& [beside, blocks] : kTriesBesideReservations) {
    trial.rollback_to(0);
    if (binding.empty()) break;
    if (blocks)
      for (const Reservation* p : binding) p->block(trial, job_, beside);
    if (places(beside)) return true;
  }
  return false;
}

void Rehearsal::reserve_for_those_ahead() {
  if (!backfill_rule(engine_.profile()).makes_reservations || !entry_) return;
  const PendingQueue& pending = engine_.pending();
  Reservations reservations = engine_.reservation_book();
  for (const PendingQueue::Head& head :
       reservations.heads_ahead(state_, pending, {*entry_, {}, original_.queue}).heads) {
    Trial trial(state_);
    Rng draws(1);
    ahead_.push_back(reservations.to({trial, fit_tables_, engine_.profile(), draws}, pending, head, state_.now()));
  }
}

std::uint32_t Rehearsal::members_within_quota_or_needed() const {
  return std::max(members_within_quota(state_, job_), state_.job(job_).members_needed());
}

GangSpecId Rehearsal::groups_of(const ChangedJob& change, const Members& kept) {
  GangSpec spec = state_.gang_spec(original_.spec);
  std::vector<std::uint32_t> members(spec.groups.size(), 0);
  for (const auto& [id, m] : placed_) ++members[m.group];
  for (const auto& [id, m] : kept) ++members[m.group];
  for (std::size_t g = 0; g < spec.groups.size(); ++g) {
    if (kept.size() < waiting_.size()) spec.groups[g].members_min = std::min(spec.groups[g].members_min, members[g]);
    if (change.free_group == g || change.free_group == ChangedJob::kEachGroup) spec.groups[g].within = LevelId::none();
  }
  ashlar::apply(state_, {state_.now(), GangSpecDefined{changed_spec_, std::move(spec)}});
  return changed_spec_;
}

DemandId Rehearsal::with_devices(DemandId demand, std::int32_t most) {
  if (const DeviceRequest& d = state_.demand(demand).devices; !d.is_whole() || d.count <= most) return demand;
  auto [it, is_new] = fewer_.try_emplace({demand, most}, DemandId(state_.demand_rows()));
  if (!is_new) return it->second;
  Demand fewer = state_.demand(demand);
  for (ResourceAmount& a : fewer.amounts)
    if (a.resource == counts_devices_) a.amount -= fewer.devices.count - most;
  fewer.devices.count = most;
  ashlar::apply(state_, {state_.now(), DemandDefined{it->second, std::move(fewer)}});
  return it->second;
}

std::vector<Remedy::Limit> Rehearsal::class_limits_in_the_way() {
  std::vector<Remedy::Limit> limits;
  if (is_used_up()) return limits;
  ++tries_;
  become({});
  Trial trial(state_);
  Rng draws(1);
  if (!place_anywhere({trial, fit_tables_, engine_.profile(), draws, needed_}, job_).is_placed) return limits;
  const QueueTree& queues = state_.queues();
  std::vector<std::int64_t> added;
  each_placement(trial.steps(), [&](const Trial::Placement& placement) {
    add_by_key(state_, placement.member, placement.node, placement.devices, added);
  });
  for (QueueId q = original_.queue; !q.is_none() && q.row() < queues.rows(); q = queues.parent(q))
    for (std::size_t k = 0; k < added.size(); ++k) {
      const std::int64_t limit = queues.limit(k, q);
      if (queues.keys()[k].device_class.is_none() || limit == kUnlimited || added[k] == 0) continue;
      if (const std::int64_t counted = queues.counted_by_key(k, q); counted > limit)
        limits.push_back({q, queues.keys()[k], counted - limit, limit < queues.stated_limit(k, q)});
    }
  return limits;
}

bool Rehearsal::starts_with(std::span<const Remedy::Limit> raised) {
  for (const Remedy::Limit& limit : raised) raise(limit, 1);
  const bool does = starts({});
  for (const Remedy::Limit& limit : raised) raise(limit, -1);
  return does;
}

void Rehearsal::raise(const Remedy::Limit& limit, std::int64_t times) {
  QueueDefined changed = state_.queues().definition(limit.queue);
  for (QuotaLimit& stated : changed.limits)
    if (stated.of == limit.of) stated.limit += times * limit.lacking;
  for (QuotaShare& share : changed.shares)
    if (share.of == limit.of && share.borrows != kUnlimited) share.borrows += times * limit.lacking;
  ashlar::apply(state_, {state_.now(), std::move(changed)});
}

}  // namespace ashlar
