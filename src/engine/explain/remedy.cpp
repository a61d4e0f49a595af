// The smallest changes that would let a waiting job start. Each is applied to a copy of the state and the job is placed
// there by the profile's own rules, all its groups together, within its quota and beside the reservations of jobs ahead
// of it; a change that does not help is not offered. Tries are counted, and the search ends when they are used up.
// Cost: one copy of the state, then at most kRemedyTriesMax placements.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/engine.h"
#include "engine/explain/explain.h"
#include "engine/place/placement.h"
#include "engine/quota.h"
#include "engine/reserve/backfill.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

constexpr std::size_t kFreeingMax = 2'000'000;  ///< nodes x members examined to find which devices to free
constexpr std::size_t kDomainsMax = 4;          ///< domains tried for free devices or new nodes, the emptiest first

/// How the job is changed before it is tried.
struct Change {
  std::optional<LevelId> within;           ///< in place of its own
  std::uint32_t members_max = UINT32_MAX;  ///< at most this many of its waiting members, the first by rank
  std::int32_t devices_max = INT32_MAX;    ///< no member requests more whole devices
};

/// The job on a copy of the state, where it can be changed and tried.
class Rehearsal {
 public:
  Rehearsal(const State& state, const Engine& engine, JobId job, ResourceId counts_devices)
      : state_(state), engine_(engine), fit_tables_(engine.profile()), job_(job), counts_devices_(counts_devices) {
    state.each_member(job, [&](MemberId id, const Member& m) {
      (m.is_placed() ? placed_ : waiting_).push_back({id, m});
    });
    const Job& j = state.job(job);
    if (engine.pending().contains(job)) entry_ = engine.pending().entry_of(job);
    needed_ = std::min<std::uint32_t>(j.members_needed(), static_cast<std::uint32_t>(waiting_.size()));
    original_ = {.job = job,
                 .queue = j.queue,
                 .priority = j.priority,
                 .members_min = j.is_each_needed ? 0 : j.members_min,
                 .within = j.within,
                 .prefer = j.prefer,
                 .submitted = j.submitted,
                 .estimate = j.estimate,
                 .order_hint = j.order_hint};
    reserve_for_those_ahead();
  }

  State& state() { return state_; }
  std::uint32_t needed() const { return needed_; }
  const Workload& original() const { return original_; }
  bool is_used_up() const { return tries_ >= kRemedyTriesMax; }
  int tries() const { return tries_; }
  std::size_t placed() const { return placed_.size(); }
  /// The needed members unchanged, those with most devices first.
  std::vector<MemberSpec> needed_members() const {
    std::vector<MemberSpec> members;
    for (std::size_t m = 0; m < needed_; ++m)
      members.push_back({waiting_[m].first, waiting_[m].second.demand, waiting_[m].second.constraint});
    const auto devices = [&](const MemberSpec& m) { return state_.demand(m.demand).devices.count; };
    std::stable_sort(members.begin(), members.end(),
                     [&](const MemberSpec& a, const MemberSpec& b) { return devices(a) > devices(b); });
    return members;
  }
  ResourceId counts_devices() const { return counts_devices_; }

  /// Whether it would start with this change.
  bool starts(const Change& change) {
    if (is_used_up()) return false;
    ++tries_;
    become(change);
    if (quota_refusal(state_, job_)) return false;
    return is_placed_beside_reservations();
  }
  /// Whether it would start unchanged if no limit applied.
  bool starts_without_limits() {
    if (is_used_up()) return false;
    ++tries_;
    become({});
    return is_placed_beside_reservations();
  }
  /// The changed job, in the copy.
  void become(const Change& change) {
    const Millis now = state_.now();
    ashlar::apply(state_, {now, Ended{job_}});
    Workload w = original_;
    if (change.within) w.within = *change.within;
    const std::size_t kept = std::min<std::size_t>(change.members_max, waiting_.size());
    if (kept < waiting_.size()) w.members_min = static_cast<std::uint32_t>(placed_.size() + kept);
    std::size_t seen = 0;
    std::vector<std::pair<MemberId, Member>> all = placed_;
    all.insert(all.end(), waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(kept));
    for (const auto& [id, m] : all)
      w.members.push_back(
          {id, seen++ < placed_.size() ? m.demand : with_devices(m.demand, change.devices_max), m.constraint});
    ashlar::apply(state_, {now, Submitted{w}});
    for (const auto& [id, m] : placed_) ashlar::apply(state_, {now, Bound{id, m.node, m.devices}});
  }

 private:
  /// By the engine's own steps: anywhere, then on what the reservations leave over.
  bool is_placed_beside_reservations() {
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
          place_job({trial, fit_tables_, engine_.profile(), draws, members_within_quota_or_needed()}, job_).is_placed;
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
  /// The reservations of queue heads ahead of it: as the engine has them, or computed here if it has not made them yet.
  void reserve_for_those_ahead() {
    if (!backfill_rule(engine_.profile()).makes_reservations || !entry_) return;
    const PendingQueue& pending = engine_.pending();
    Reservations reservations = engine_.reservation_book();
    for (const auto& head : reservations.heads_ahead(state_, pending, {*entry_, {}, original_.queue}).heads) {
      Trial trial(state_);
      Rng draws(1);
      ahead_.push_back(reservations.to({trial, fit_tables_, engine_.profile(), draws}, pending, head, state_.now()));
    }
  }
  std::uint32_t members_within_quota_or_needed() const {
    return std::max(members_within_quota(state_, job_), state_.job(job_).members_needed());
  }

  DemandId with_devices(DemandId demand, std::int32_t most) {
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

  State state_;
  const Engine& engine_;
  FitTables fit_tables_;
  JobId job_;
  ResourceId counts_devices_;
  Workload original_;
  std::optional<PendingQueue::Entry> entry_;
  std::vector<Reservation> ahead_;
  std::vector<std::pair<MemberId, Member>> placed_, waiting_;
  std::uint32_t needed_ = 0;
  std::map<std::pair<DemandId, std::int32_t>, DemandId> fewer_;
  int tries_ = 0;
};

/// The largest number in 1..high for which it works, by binary search; 0 if none was found. It may miss some if more
/// does not mean harder.
template <class Works>
std::int64_t largest(std::int64_t high, Works&& works) {
  std::int64_t found = 0, low = 1;
  while (low <= high) {
    const std::int64_t middle = high - (high - low) / 2;
    if (works(middle)) {
      found = middle;
      low = middle + 1;
    } else {
      high = middle - 1;
    }
  }
  return found;
}

/// Every limit from the queue upwards that the job would exceed, and by how much.
std::vector<Remedy::Limit> limits_in_the_way(const State& state, JobId job) {
  const QuotaVector asked = quota_needed(state, job);
  std::vector<Remedy::Limit> limits;
  for (QueueId q = state.job(job).queue; !q.is_none() && q.row() < state.queues().rows(); q = state.queues().parent(q))
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
      const std::int64_t limit = state.queues().quota(q)[d];
      if (limit == kUnlimited || asked[d] == 0) continue;
      const std::int64_t lacking = asked[d] - (limit - state.queues().used(q)[d]);
      if (lacking > 0) limits.push_back({q, static_cast<QuotaDimension>(d), lacking});
    }
  return limits;
}

void add_topology_remedies(Rehearsal& r, std::vector<Remedy>& out) {
  const LevelId within = r.original().within;
  if (within.is_none()) return;
  const std::uint32_t nested = r.state().cluster().topology().nested_count();
  for (std::uint32_t l = std::min(within.value, nested); l-- > 0;) {
    if (!r.starts({.within = LevelId(l)})) continue;
    out.push_back({.kind = Remedy::Kind::kWidenWithin, .amount = r.needed(), .level = LevelId(l)});
    break;
  }
  if (r.starts({.within = LevelId::none()})) out.push_back({.kind = Remedy::Kind::kDropWithin, .amount = r.needed()});
}

void add_smaller_jobs(Rehearsal& r, std::vector<Remedy>& out) {
  const std::int64_t members = largest(std::int64_t{r.needed()} - 1, [&](std::int64_t m) {
    return r.starts({.members_max = static_cast<std::uint32_t>(m)});
  });
  if (members > 0)
    out.push_back({.kind = Remedy::Kind::kFewerMembers,
                   .amount = members + static_cast<std::int64_t>(r.placed()),
                   .level = r.original().within});
  std::int32_t most = 0;
  for (const MemberSpec& m : r.needed_members())
    if (const DeviceRequest& request = r.state().demand(m.demand).devices; request.is_whole())
      most = std::max(most, request.count);
  const std::int64_t devices = largest(
      std::int64_t{most} - 1, [&](std::int64_t c) { return r.starts({.devices_max = static_cast<std::int32_t>(c)}); });
  if (devices > 0)
    out.push_back({.kind = Remedy::Kind::kFewerDevices, .amount = devices, .level = r.original().within});
}

/// Where devices are freed or nodes are added for the job: one list for the whole cluster, or one for each of its
/// possible domains with most capacity.
std::vector<std::vector<NodeId>> places_for(const State& state, JobId job) {
  const Cluster& cluster = state.cluster();
  const LevelId within = state.job(job).within;
  std::vector<std::vector<NodeId>> places;
  if (within.is_none()) {
    places.emplace_back();
    for (std::size_t n = 0; n < cluster.rows(); ++n)
      if (cluster.is_live(NodeId(n))) places[0].emplace_back(n);
    return places;
  }
  std::vector<std::pair<std::int64_t, DomainId>> by_idle;
  const DomainId anchor = state.job(job).members_placed > 0 ? state.anchor(job, within) : DomainId::none();
  for (std::size_t d = 0; d < cluster.topology().domain_count(within); ++d) {
    if (!anchor.is_none() && anchor != DomainId(d)) continue;
    std::int64_t idle = 0;
    for (const NodeId n : cluster.topology().nodes_of(within, DomainId(d)))
      idle += std::max(cluster.idle_devices()[n.row()], 0);
    by_idle.emplace_back(-idle, DomainId(d));
  }
  std::sort(by_idle.begin(), by_idle.end());
  for (std::size_t i = 0; i < std::min(by_idle.size(), kDomainsMax); ++i) {
    const auto nodes = cluster.topology().nodes_of(within, by_idle[i].second);
    places.emplace_back(nodes.begin(), nodes.end());
  }
  return places;
}

/// Whether the member fits on the node by everything that changes, with these demands in place of its own.
bool fits(State& state, const Profile& profile, const Demand& demand, ConstraintId constraint, NodeId n) {
  if (!state.cluster().allowed(constraint, is_allowed_by_facts).test(n.row())) return false;
  const NodeView view{state.cluster(), demand, state.cluster().constraint(constraint), &profile.mix, 0};
  std::uint16_t fit = kFitsMax;
  profile.lower_by_what_is_free(view, {n.row(), 1}, {&fit, 1});
  return fit > 0;
}

/// Devices of the copy that are made free, and taken again at the end.
class FreedDevices {
 public:
  FreedDevices(State& state, const std::vector<NodeId>& nodes) : state_(state) {
    for (const NodeId n : nodes) {
      const auto milli = state.cluster().device_free_milli(n);
      const auto mib = state.cluster().device_free_mib(n);
      for (std::size_t c = milli.size(); c-- > 0;)
        if (milli[c] != kWholeDevice || mib[c] != state.cluster().facts(n).devices.memory_each.value)
          in_use_[n].push_back(static_cast<int>(c));
    }
  }
  FreedDevices(const FreedDevices&) = delete;
  ~FreedDevices() {
    for (auto it = freed_.rbegin(); it != freed_.rend(); ++it)
      Ledger(state_).allocate(it->node, it->demand, it->devices);
  }
  /// Frees this many devices that are in use, and as much of the resource that counts them; false if fewer are in use.
  bool free(NodeId n, std::int64_t devices, std::int64_t counted, ResourceId counts_devices) {
    const std::int64_t full = state_.cluster().facts(n).devices.memory_each.value;
    for (std::vector<int>& in_use = in_use_[n]; devices > 0 && !in_use.empty(); in_use.pop_back()) {
      const auto i = static_cast<std::size_t>(in_use.back());
      const auto milli = state_.cluster().device_free_milli(n);
      const auto mib = state_.cluster().device_free_mib(n);
      DeviceMask one;
      one.set(in_use.back());
      give({n,
            {.amounts = {}, .devices = {1, MilliGpu(kWholeDevice - milli[i]), MiB(full - mib[i])}, .ports = {}},
            one});
      --devices;
      ++count_;
    }
    if (counted > 0) give({n, {.amounts = {{counts_devices, counted}}, .devices = {}, .ports = {}}, {}});
    return devices == 0;
  }
  std::int64_t count() const { return count_; }
  /// Devices of the node in use by other jobs.
  std::int64_t in_use(NodeId n) const {
    const auto it = in_use_.find(n);
    return it == in_use_.end() ? 0 : static_cast<std::int64_t>(it->second.size());
  }

 private:
  struct Freed {
    NodeId node;
    Demand demand;
    DeviceMask devices;
  };
  void give(Freed freed) {
    Ledger(state_).release(freed.node, freed.demand, freed.devices);
    freed_.push_back(std::move(freed));
  }
  State& state_;
  std::map<NodeId, std::vector<int>> in_use_;  ///< by other jobs, and not freed yet
  std::vector<Freed> freed_;
  std::int64_t count_ = 0;
};

/// Frees, member by member, the fewest devices on one of the nodes; false if something else is short as well.
bool free_devices_for(Rehearsal& r, const Profile& profile, const std::vector<NodeId>& nodes, FreedDevices& freed) {
  State& state = r.state();
  Trial trial(state);
  for (const MemberSpec& m : r.needed_members()) {
    const Demand demand = state.demand(m.demand);
    if (demand.devices.count > 0 && !demand.devices.is_whole()) return false;
    Demand without = demand;
    without.devices.count = 0;
    std::erase_if(without.amounts, [&](const ResourceAmount& a) { return a.resource == r.counts_devices(); });
    const std::int64_t counted = amount_of(demand, r.counts_devices());
    if (counted > 0 && r.counts_devices().row() >= state.cluster().resource_count()) return false;  // no node has it
    NodeId best;
    std::int64_t least = INT64_MAX, least_counted = 0;
    for (const NodeId n : nodes) {
      const std::int64_t memory = state.cluster().facts(n).devices.memory_each.value;
      if (state.cluster().devices()[n.row()] < demand.devices.count ||
          (memory != 0 && memory < demand.devices.memory_each.value))
        continue;
      // what no job holds cannot be freed
      if (counted > 0 && state.cluster().allocatable(r.counts_devices())[n.row()] < counted) continue;
      const std::int64_t lacking =
          std::max<std::int64_t>(demand.devices.count - state.cluster().idle_devices()[n.row()], 0);
      const std::int64_t uncounted =
          counted == 0 ? 0 : std::max<std::int64_t>(counted - state.cluster().free(r.counts_devices())[n.row()], 0);
      if (lacking > freed.in_use(n) || std::max(lacking, uncounted) >= least ||
          !fits(state, profile, without, m.constraint, n))
        continue;
      best = n;
      least = std::max(lacking, uncounted);
      least_counted = uncounted;
    }
    if (best.is_none() ||
        !freed.free(best,
                    demand.devices.count - std::min(state.cluster().idle_devices()[best.row()], demand.devices.count),
                    least_counted, r.counts_devices()))
      return false;
    trial.place(m.member, best, choose_devices(state.cluster(), best, demand.devices));
  }
  return true;
}

void add_free_devices(Rehearsal& r, const Profile& profile, JobId job, std::vector<Remedy>& out) {
  r.become({});
  std::int64_t least = INT64_MAX;
  for (const std::vector<NodeId>& nodes : places_for(r.state(), job)) {
    if (nodes.size() * r.needed() > kFreeingMax) continue;
    FreedDevices freed(r.state(), nodes);
    if (!free_devices_for(r, profile, nodes, freed) || freed.count() == 0 || freed.count() >= least) continue;
    if (r.starts({})) least = freed.count();
  }
  if (least != INT64_MAX)
    out.push_back({.kind = Remedy::Kind::kFreeDevices, .amount = least, .level = r.original().within});
}

/// Nodes without the labels that identify a single one, since a new node would not have them.
NodeFacts copy_of(const NodeFacts& facts, std::span<const LabelKeyId> names) {
  NodeFacts copy = facts;
  std::erase_if(copy.labels, [&](const NodeLabel& label) {
    return std::find(names.begin(), names.end(), label.key) != names.end();
  });
  return copy;
}

/// The node of the place that would take the member with most devices if it were empty, the largest first.
NodeId template_for(Rehearsal& r, const std::vector<NodeId>& nodes) {
  State& state = r.state();
  const MemberSpec m = r.needed_members().front();
  const Demand& demand = state.demand(m.demand);
  NodeId best;
  for (const NodeId n : nodes) {
    const NodeFacts& facts = state.cluster().facts(n);
    const bool is_large_enough =
        std::all_of(demand.amounts.begin(), demand.amounts.end(), [&](const ResourceAmount& a) {
          return a.resource.row() < facts.allocatable.size() && facts.allocatable[a.resource.row()] >= a.amount;
        });
    if (!is_large_enough || facts.devices.count < demand.devices.count ||
        !state.cluster().allowed(m.constraint, is_allowed_by_facts).test(n.row()))
      continue;
    if (best.is_none() || facts.devices.count > state.cluster().facts(best).devices.count) best = n;
  }
  return best;
}

/// Levels such as kubernetes.io/hostname, whose domains can never contain another node.
bool is_each_domain_one_node(const Topology& topology, LevelId level) {
  for (std::size_t d = 0; d < topology.domain_count(level); ++d)
    if (topology.nodes_of(level, DomainId(d)).size() > 1) return false;
  return true;
}

void add_more_nodes(Rehearsal& r, JobId job, std::span<const LabelKeyId> names, std::vector<Remedy>& out) {
  r.become({});
  State& state = r.state();
  const LevelId within = r.original().within;
  if (!within.is_none() && is_each_domain_one_node(state.cluster().topology(), within)) return;
  const Millis now = state.now();
  std::int64_t least = INT64_MAX;
  NodeId like;
  for (const std::vector<NodeId>& nodes : places_for(state, job)) {
    const NodeId model = template_for(r, nodes);
    if (model.is_none()) continue;
    const NodeFacts facts = copy_of(state.cluster().facts(model), names);
    const auto first = static_cast<std::uint32_t>(state.cluster().rows());
    std::uint32_t there = 0;
    const auto start_with = [&](std::int64_t count) {
      for (; there < count; ++there) ashlar::apply(state, {now, NodeSeen{NodeId(first + there), facts}});
      for (; there > count; --there) ashlar::apply(state, {now, NodeGone{NodeId(first + there - 1)}});
      return r.starts({});
    };
    std::int64_t high = 1;
    while (high < r.needed() && high < least && !start_with(high)) high = std::min<std::int64_t>(high * 2, r.needed());
    std::int64_t found = 0;
    for (std::int64_t low = 1; low <= high && !r.is_used_up();) {
      const std::int64_t middle = low + (high - low) / 2;
      if (start_with(middle)) {
        found = middle;
        high = middle - 1;
      } else {
        low = middle + 1;
      }
    }
    start_with(0);
    if (found == 0 || found >= least) continue;
    least = found;
    like = model;
  }
  if (!like.is_none())
    out.push_back({.kind = Remedy::Kind::kMoreNodes, .amount = least, .level = within, .node = like});
}

/// Whether it waits for capacity or quota, with no job ahead of it.
bool is_its_turn(const Engine& engine, JobId job) {
  const PendingQueue& pending = engine.pending();
  if (!pending.contains(job)) return false;
  const WakeOn wake_on = engine.verdict_of(job).wake_on;
  if (wake_on != WakeOn::kCapacity && wake_on != WakeOn::kQuota) return false;
  if (!backfill_rule(engine.profile()).is_strict) return true;
  const PendingQueue::Head* blocked = pending.first_blocked(pending.class_at(pending.class_id(job)).key.queue);
  return blocked == nullptr || !(blocked->entry < pending.entry_of(job));
}

std::vector<Remedy> search(Rehearsal& rehearsal, const State& state, const Engine& engine, JobId job,
                           const RemedyOptions& options) {
  std::vector<Remedy> out;
  if (rehearsal.starts({})) return out;  // something has helped it already: it only has not been looked at since
  add_topology_remedies(rehearsal, out);
  add_smaller_jobs(rehearsal, out);
  std::vector<Remedy::Limit> limits = limits_in_the_way(state, job);
  if (!limits.empty()) {
    if (rehearsal.starts_without_limits())
      out.push_back({.kind = Remedy::Kind::kMoreQuota, .limits = std::move(limits)});
    return out;
  }
  add_free_devices(rehearsal, engine.profile(), job, out);
  add_more_nodes(rehearsal, job, options.node_names, out);
  return out;
}

}  // namespace

std::vector<Remedy> find_remedies(const State& state, const Engine& engine, JobId job, const RemedyOptions& options) {
  if (options.tries != nullptr) *options.tries = 0;
  if (!is_its_turn(engine, job) || state.first_waiting_member(job).is_none()) return {};
  Rehearsal rehearsal(state, engine, job, options.counts_devices);
  std::vector<Remedy> found = search(rehearsal, state, engine, job, options);
  if (options.tries != nullptr) *options.tries = rehearsal.tries();
  return found;
}

}  // namespace ashlar
