#include "engine/pending/room_on_freed.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "engine/place/one_by_one.h"
#include "engine/place/placement.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

/// Whether nodes may open to members of the constraint while those are placed which they are placed with.
bool may_open(const State& state, ConstraintId constraint) {
  return opens_with_pods(state.cluster().constraint(constraint));
}

bool has_room(const State& state, FitTable& view, const EquivalenceClass& key) {
  if (key.within.is_none()) return view.room_everywhere() >= key.members_needed;
  const auto room = view.room(state, key.within);
  return std::any_of(room.begin(), room.end(), [&](std::uint32_t r) { return r >= key.members_needed; });
}

/// Leaves those domains that have room for this many members too; false if none is left, or not the anchor.
bool keep_with_room(std::vector<std::uint8_t>& has_room, std::span<const std::uint32_t> room, std::uint32_t members,
                    DomainId anchor) {
  has_room.resize(room.size(), 1);
  bool has_any = false;
  for (std::size_t d = 0; d < room.size(); ++d) {
    has_room[d] = has_room[d] != 0 && room[d] >= members ? 1 : 0;
    has_any = has_any || (has_room[d] != 0 && (anchor.is_none() || anchor == DomainId(d)));
  }
  return has_any;
}

/// Whether each kind of the needed members has room by itself, in one domain of the level that they must stay within.
bool has_room_for_each(EngineData& e, const State& state, const EquivalenceClass& key,
                       const std::vector<MemberRun>& needed) {
  // A node under a placed member may have moved to another domain since the class was made.
  const DomainId anchor =
      key.within.is_none() || key.only.is_none() ? DomainId::none() : state.anchor(key.only, key.within);
  std::vector<std::uint8_t> has_room;  // by domain
  for (const MemberRun& run : needed) {
    if (may_open(state, run.constraint)) continue;
    FitTable& table = e.fit_tables.counted(state, run.demand, run.constraint, 0);
    if (table.room_everywhere() < run.members) return false;
    if (key.within.is_none()) continue;
    if (!keep_with_room(has_room, table.room(state, key.within), run.members, anchor)) return false;
  }
  return true;
}

/// Whether each group with a domain of its own has room in one, each of its kinds by itself; and whether the domains
/// have room for as many groups as are of one kind.
bool has_room_for_groups(EngineData& e, const State& state, const EquivalenceClass& key,
                         const std::vector<MemberRun>& needed) {
  if (key.spec.is_none()) return true;
  const std::vector<GangGroup>& groups = state.gang_spec(key.spec).groups;
  std::map<std::uint32_t, std::vector<std::uint8_t>> has_room;         // by group, by domain
  std::map<std::pair<LevelId, MemberRun>, std::uint64_t> places_left;  // for groups of that kind
  for (const MemberRun& run : needed) {
    const LevelId within = groups[run.group].within;
    if (within.is_none() || may_open(state, run.constraint)) continue;
    const auto room = e.fit_tables.counted(state, run.demand, run.constraint, 0).room(state, within);
    MemberRun kind = run;
    kind.group = 0;
    const auto [places, is_new] = places_left.try_emplace({within, kind}, 0);
    if (is_new)
      for (const std::uint32_t r : room) places->second += r / run.members;
    if (places->second-- == 0) return false;
    // A group that has members is of a class of its own, and stays where they are.
    const DomainId anchor = key.only.is_none() ? DomainId::none() : state.anchor(key.only, within, run.group);
    if (!keep_with_room(has_room[run.group], room, run.members, anchor)) return false;
  }
  return true;
}

/// Whether enough members have room, each kind by itself, in one domain of the level that they must stay within.
bool has_room_for_some(EngineData& e, const State& state, const EquivalenceClass& key,
                       const std::vector<MemberRun>& kinds) {
  std::uint64_t everywhere = 0;
  std::vector<std::uint64_t> by_domain;
  for (const MemberRun& run : kinds) {
    if (may_open(state, run.constraint)) return true;
    FitTable& table = e.fit_tables.counted(state, run.demand, run.constraint, 0);
    everywhere += std::min<std::uint64_t>(table.room_everywhere(), run.members);
    if (key.within.is_none()) continue;
    const auto room = table.room(state, key.within);
    by_domain.resize(room.size(), 0);
    for (std::size_t d = 0; d < room.size(); ++d) by_domain[d] += std::min(room[d], run.members);
  }
  if (key.within.is_none()) return everywhere >= key.members_needed;
  const DomainId anchor = key.only.is_none() ? DomainId::none() : state.anchor(key.only, key.within);
  if (!anchor.is_none()) return anchor.row() < by_domain.size() && by_domain[anchor.row()] >= key.members_needed;
  return std::ranges::any_of(by_domain, [&](std::uint64_t members) { return members >= key.members_needed; });
}

/// Whether the devices of all nodes together have as much free as that many of these request, the smallest first: no
/// table is needed to see that not.
bool are_devices_enough(const State& state, std::span<const MemberRun> needed, std::uint64_t members) {
  std::int64_t asked = 0, free = 0;
  std::vector<std::pair<std::int64_t, std::uint32_t>> by_size;
  for (const MemberRun& run : needed) by_size.emplace_back(state.demand(run.demand).devices.milli_total(), run.members);
  std::ranges::sort(by_size);
  for (const auto& [milli, count] : by_size) {
    const std::uint64_t taken = std::min<std::uint64_t>(count, members);
    asked += milli * static_cast<std::int64_t>(taken);
    members -= taken;
  }
  for (const std::int32_t milli : state.cluster().free_milli()) free += milli;
  return asked <= free;
}

}  // namespace

bool could_take(State& state, const Profile& profile, const MemberRun& run, NodeId n, bool is_of_several) {
  const Cluster& cluster = state.cluster();
  const Demand& demand = state.demand(run.demand);
  if (!cluster.is_live(n)) return false;
  if (demand.devices.count > 0) {
    if (demand.devices.is_whole() ? cluster.idle_devices()[n.row()] < demand.devices.count
                                  : cluster.free_milli()[n.row()] < demand.devices.milli_each.value)
      return false;
  }
  const bool is_allowed =
      is_of_several && may_open(state, run.constraint)
          ? is_allowed_by_facts(cluster.constraint(run.constraint), cluster.facts(n), cluster.context())
          : cluster.allowed(run.constraint, kNodeRules).test(n.row());
  if (!is_allowed) return false;
  const NodeView view{cluster, demand, cluster.constraint(run.constraint), &profile.mix, 0};
  std::uint16_t fits = kFitsMax;
  profile.lower_by_what_is_free(view, {n.row(), 1}, {&fits, 1});
  return fits > 0;
}

bool could_take_any(State& state, const Profile& profile, std::span<const MemberRun> runs, NodeId n) {
  const bool are_several = runs.size() > 1 || (runs.size() == 1 && runs.front().members > 1);
  return std::any_of(runs.begin(), runs.end(),
                     [&](const MemberRun& run) { return could_take(state, profile, run, n, are_several); });
}

bool has_devices_free(const Cluster& cluster, std::int64_t devices, NodeId n) {
  return devices == 0 || cluster.idle_devices()[n.row()] >= devices ||
         (devices == 1 && cluster.free_milli()[n.row()] > 0);
}

std::vector<MemberRun> needed_runs(const EquivalenceClass& key) {
  std::uint32_t left = key.members_needed;
  if (key.runs.empty()) return {{key.demand, key.constraint, std::min(left, key.members_waiting)}};
  std::vector<MemberRun> needed;
  for (auto run = key.runs.begin(); run != key.runs.end() && left > 0; ++run) {
    needed.push_back(*run);
    if (key.has_choice()) continue;
    needed.back().members = std::min(left, run->members);
    left -= needed.back().members;
  }
  const auto kind = [](const MemberRun& run) { return std::tuple(run.demand, run.constraint, run.group); };
  if (!std::ranges::is_sorted(needed, {}, kind)) std::ranges::stable_sort(needed, {}, kind);
  std::size_t kinds = 0;
  for (const MemberRun& run : needed) {
    if (kinds > 0 && kind(needed[kinds - 1]) == kind(run))
      needed[kinds - 1].members += run.members;
    else
      needed[kinds++] = run;
  }
  needed.resize(kinds);
  if (key.has_choice())
    for (MemberRun& run : needed) run.members = std::min(run.members, key.members_needed);
  return needed;
}

std::uint64_t IdleDevices::most_in_one(LevelId within) const {
  const auto idle = cluster_.idle_devices();
  const auto members = [&](std::size_t n) { return static_cast<std::uint64_t>(std::max(idle[n], 0) / devices_); };
  if (within.is_none()) {
    std::uint64_t all = 0;
    for (std::size_t n = 0; n < idle.size(); ++n) all += members(n);
    return all;
  }
  const auto domains = cluster_.topology().domains(within);
  std::vector<std::uint64_t> in_domain(cluster_.topology().domain_count(within), 0);
  for (std::size_t n = 0; n < std::min(domains.size(), idle.size()); ++n)
    if (!domains[n].is_none()) in_domain[domains[n].row()] += members(n);
  return in_domain.empty() ? 0 : *std::max_element(in_domain.begin(), in_domain.end());
}

bool IdleDevices::may_be_enough(const State& state, const EquivalenceClass& key) {
  if (devices_ <= 0 || !state.demand(key.demand).devices.is_whole()) return true;
  const auto [most, is_new] = most_.try_emplace(key.within, 0);
  if (is_new) most->second = most_in_one(key.within);
  return most->second >= key.members_needed;
}

bool has_room_with_freed(EngineData& e, const State& state, const EquivalenceClass& key, IdleDevices* devices) {
  if (key.members_needed <= 1 && key.within.is_none()) return true;
  if (!placement_rule(*e.profile).is_room_exact) return true;
  if (key.members_needed > 1 && may_open(state, key.constraint)) return true;
  if (devices != nullptr && !devices->may_be_enough(state, key)) return false;
  return has_room(state, e.fit_tables.counted(state, key.demand, key.constraint, 0), key);
}

bool has_room_on_freed(EngineData& e, State& state, std::span<const NodeId> freed, const EquivalenceClass& key) {
  const MemberRun run{key.demand, key.constraint, key.members_needed};
  const auto could_take_one = [&](NodeId n) { return could_take(state, *e.profile, run, n, run.members > 1); };
  return std::any_of(freed.begin(), freed.end(), could_take_one) && has_room_with_freed(e, state, key);
}

bool has_room_where_open(State& state, const Profile& profile, const EquivalenceClass& key) {
  if (!key.runs.empty() || key.members_waiting != 1) return true;
  if (!state.nominations().empty() || !state.yielding().empty()) return true;
  const BitSet& open = state.cluster().allowed(key.constraint, kNodeRules);
  const MemberRun run{key.demand, key.constraint, 1};
  for (std::size_t n = 0; n < open.size(); ++n)
    if (open.test(n) && could_take(state, profile, run, NodeId(n), false)) return true;
  return false;
}

bool are_parts_helped(EngineData& e, State& state, std::span<const NodeId> freed, const EquivalenceClass& key) {
  std::vector<MemberRun> needed = needed_runs(key);
  const bool may_others_be_admitted = key.has_choice() && state.queues().is_limited(key.queue);
  if (may_others_be_admitted)  // than before, whatever was freed
    std::erase_if(needed, [&](const MemberRun& run) { return !admits_one(state, key.queue, run.demand); });
  const bool could_any = may_others_be_admitted || std::any_of(freed.begin(), freed.end(), [&](NodeId n) {
                           return could_take_any(state, *e.profile, needed, n);
                         });
  if (!could_any || !placement_rule(*e.profile).is_room_exact) return could_any;
  if (!are_devices_enough(state, needed, key.members_needed)) return false;
  if (key.has_choice()) return has_room_for_some(e, state, key, needed);
  // The largest first: mostly it is for them that there is no room.
  std::ranges::sort(needed, std::greater<>(),
                    [&](const MemberRun& run) { return state.demand(run.demand).devices.milli_total(); });
  return has_room_for_each(e, state, key, needed) && has_room_for_groups(e, state, key, needed);
}

}  // namespace ashlar
