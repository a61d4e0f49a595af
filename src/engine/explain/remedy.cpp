// The smallest changes that would let a waiting job start. Each is applied to a copy of the state and the job is placed
// there by the profile's own rules, all its groups together, within its quota and beside the reservations of jobs ahead
// of it; a change that does not help is not offered. Tries are counted, and the search ends when they are used up.
// Cost: one copy of the state, then at most kRemedyTriesMax placements.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/engine.h"
#include "engine/explain/explain.h"
#include "engine/explain/rehearsal.h"
#include "engine/place/placement.h"
#include "engine/quota.h"
#include "engine/reserve/backfill.h"
#include "state/cluster/usable_devices.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

constexpr std::size_t kFreeingMax = 2'000'000;  ///< nodes x members examined to find which devices to free
constexpr std::uint32_t kGroupsTriedMax = 8;    ///< groups without their domain, one at a time
constexpr std::size_t kDomainsMax = 4;          ///< domains tried for free devices or new nodes, the emptiest first

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

/// Every limit from the queue upwards that the job would exceed wherever it is placed, and by how much.
std::vector<Remedy::Limit> limits_in_the_way(const State& state, JobId job) {
  const QueueTree& queues = state.queues();
  const QuotaVector asked = quota_needed(state, job);
  const std::vector<std::int64_t> asked_by_key = quota_needed_by_key(state, job);
  std::vector<Remedy::Limit> limits;
  for (QueueId q = state.job(job).queue; !q.is_none() && q.row() < queues.rows(); q = queues.parent(q)) {
    const auto add = [&](const QuotaKey& of, std::int64_t amount, std::int64_t limit, std::int64_t used) {
      if (limit == kUnlimited || amount == 0) return;
      if (const std::int64_t lacking = amount - (limit - used); lacking > 0) limits.push_back({q, of, lacking});
    };
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      add(quota_key(static_cast<std::int64_t>(d)), asked[d], queues.quota(q)[d], queues.used(q)[d]);
    for (std::size_t k = 0; k < asked_by_key.size(); ++k)
      add(queues.keys()[k], asked_by_key[k], queues.limit(k, q), queues.used(k, q));
  }
  return limits;
}

/// Limits by device class: as much more as the job lacks where it fits best. Of a single one no more than it needs for
/// what has no place on nodes of other classes, if its members are alike.
void add_class_quota(Rehearsal& r, std::vector<Remedy>& out) {
  std::vector<Remedy::Limit> limits = r.class_limits_in_the_way();
  if (limits.empty() || !r.starts_with(limits)) return;
  const std::vector<MemberSpec> members = r.needed_members();
  const auto amount = [&](const MemberSpec& m) { return amount_of(r.state().demand(m.demand), limits[0].of); };
  const std::int64_t each = amount(members.front());
  const bool are_alike = std::all_of(members.begin(), members.end(), [&](const auto& m) { return amount(m) == each; });
  if (limits.size() == 1 && are_alike && each > 0) {
    const std::int64_t lacking = limits[0].lacking;
    const std::int64_t spared = largest((lacking - 1) / each, [&](std::int64_t count) {
      return r.starts_with({{{limits[0].queue, limits[0].of, lacking - count * each}}});
    });
    limits[0].lacking -= spared * each;
  }
  out.push_back({.kind = Remedy::Kind::kMoreQuota, .limits = std::move(limits)});
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

/// The first group, or all of them, that would have to do without a domain of its own.
void add_group_remedies(Rehearsal& r, std::vector<Remedy>& out) {
  if (r.original().spec.is_none()) return;
  const std::vector<GangGroup> groups = r.state().gang_spec(r.original().spec).groups;
  std::uint32_t with_domain = 0;
  for (std::uint32_t g = 0; g < groups.size() && with_domain < kGroupsTriedMax; ++g) {
    if (groups[g].within.is_none()) continue;
    ++with_domain;
    if (!r.starts({.free_group = g})) continue;
    out.push_back({.kind = Remedy::Kind::kDropGroupWithin, .amount = g + 1, .level = groups[g].within});
    return;
  }
  if (with_domain > 1 && r.starts({.free_group = ChangedJob::kEachGroup}))
    out.push_back({.kind = Remedy::Kind::kDropGroupWithin});
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
      DeviceMask closed = state.cluster().unhealthy_devices(n);  // no job's end makes them usable
      for (const MemberId id : state.holds().empty() ? std::vector<MemberId>() : state.members_on(n))
        if (state.job(state.member(id).job).is_hold && !state.is_lifted(id))
          state.member(id).devices.each([&](int i) { closed.set(i); });
      const DeviceMemories full = state.cluster().device_memories(n);
      for (std::size_t c = milli.size(); c-- > 0;)
        if (!closed.test(static_cast<int>(c)) && (milli[c] != kWholeDevice || mib[c] != full[c]))
          in_use_[n].push_back(static_cast<int>(c));
    }
  }
  FreedDevices(const FreedDevices&) = delete;
  ~FreedDevices() {
    for (auto it = freed_.rbegin(); it != freed_.rend(); ++it)
      Ledger(state_).allocate(it->node, it->demand, it->devices);
  }
  /// Frees this many of those devices that are in use, and as much of the resource that counts them; false if fewer are
  /// in use.
  struct Wanted {
    DeviceMask among;
    std::int64_t devices = 0, counted = 0;
    ResourceId counts_devices;
  };
  bool free(NodeId n, const Wanted& wanted) {
    auto [among, devices, counted, counts_devices] = wanted;
    const DeviceMemories full = state_.cluster().device_memories(n);
    std::vector<int>& in_use = in_use_[n];
    for (std::size_t at = in_use.size(); devices > 0 && at-- > 0;) {
      if (!among.test(in_use[at])) continue;
      const auto i = static_cast<std::size_t>(in_use[at]);
      const auto milli = state_.cluster().device_free_milli(n);
      const auto mib = state_.cluster().device_free_mib(n);
      DeviceMask one;
      one.set(in_use[at]);
      give({n, {{}, {1, MilliGpu(kWholeDevice - milli[i]), MiB(full[i] - mib[i])}, {}}, one});
      in_use.erase(in_use.begin() + static_cast<std::ptrdiff_t>(at));
      --devices;
      ++count_;
    }
    if (counted > 0) give({n, {.amounts = {{counts_devices, counted}}, .devices = {}, .ports = {}}, {}});
    return devices == 0;
  }
  std::int64_t count() const { return count_; }
  /// Those of the node's devices that are in use by other jobs.
  std::int64_t in_use(NodeId n, const DeviceMask& among) const {
    const auto it = in_use_.find(n);
    if (it == in_use_.end()) return 0;
    return std::count_if(it->second.begin(), it->second.end(), [&](int i) { return among.test(i); });
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
    const Constraint& constraint = state.cluster().constraint(m.constraint);
    for (const NodeId n : nodes) {
      const std::int64_t memory = state.cluster().facts(n).devices.memory_each.value;
      const DeviceMask usable = usable_devices(state.cluster(), n, constraint, demand.devices);
      if (usable.among(state.cluster().devices()[n.row()]).count() < demand.devices.count ||
          (memory != 0 && memory < demand.devices.memory_each.value))
        continue;
      // what no job holds cannot be freed
      if (counted > 0 && state.cluster().allocatable(r.counts_devices())[n.row()] < counted) continue;
      const std::int64_t lacking =
          std::max<std::int64_t>(demand.devices.count - usable_idle(state.cluster(), n, constraint, demand.devices), 0);
      const std::int64_t uncounted =
          counted == 0 ? 0 : std::max<std::int64_t>(counted - state.cluster().free(r.counts_devices())[n.row()], 0);
      if (lacking > freed.in_use(n, usable) || std::max(lacking, uncounted) >= least ||
          !fits(state, profile, without, m.constraint, n))
        continue;
      best = n;
      least = std::max(lacking, uncounted);
      least_counted = uncounted;
    }
    if (best.is_none()) return false;
    const DeviceMask usable = usable_devices(state.cluster(), best, constraint, demand.devices);
    const std::int32_t idle = usable_idle(state.cluster(), best, constraint, demand.devices);
    if (!freed.free(best, {.among = usable,
                           .devices = demand.devices.count - std::min(idle, demand.devices.count),
                           .counted = least_counted,
                           .counts_devices = r.counts_devices()}))
      return false;
    trial.place(m.member, best, choose_devices(state.cluster(), best, demand.devices, constraint));
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
  add_group_remedies(rehearsal, out);
  add_smaller_jobs(rehearsal, out);
  std::vector<Remedy::Limit> limits = limits_in_the_way(state, job);
  if (!limits.empty()) {
    if (rehearsal.starts_without_limits())
      out.push_back({.kind = Remedy::Kind::kMoreQuota, .limits = std::move(limits)});
    return out;
  }
  add_class_quota(rehearsal, out);
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
