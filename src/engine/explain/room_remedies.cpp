#include "engine/explain/room_remedies.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "engine/explain/freed_devices.h"
#include "engine/explain/new_nodes.h"
#include "policy/profile.h"
#include "state/cluster/usable_devices.h"
#include "state/ledger.h"
#include "state/trial.h"

namespace ashlar {
namespace {

constexpr std::size_t kFreeingMax = 2'000'000;  ///< nodes x members examined to find what is lacking
constexpr std::size_t kGroupsGrownMax = 8;      ///< groups that get new nodes of their own
constexpr std::size_t kDomainsMax = 4;          ///< domains tried for free devices or new nodes, the emptiest first

/// Where devices are freed or nodes are added for the job: one list for the whole cluster, or one for each of its
/// possible domains with most capacity.
std::vector<std::vector<NodeId>> places_for(Rehearsal& r) {
  const State& state = r.state();
  const Cluster& cluster = state.cluster();
  const LevelId within = r.original().within;
  std::vector<std::vector<NodeId>> places;
  if (within.is_none()) {
    places.emplace_back();
    for (std::size_t n = 0; n < cluster.rows(); ++n)
      if (cluster.is_live(NodeId(n))) places[0].emplace_back(n);
    return places;
  }
  std::vector<std::pair<std::int64_t, DomainId>> by_idle;
  const DomainId anchor = r.placed() > 0 ? state.anchor(r.job(), within) : DomainId::none();
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

/// Needed members that share a domain: those of a group, or of a gang without groups.
struct Section {
  std::uint32_t group = 0;
  LevelId within;                   ///< of their domain: the group's own level, else the gang's
  std::vector<MemberSpec> members;  ///< those with most devices first
};

/// Those with a domain of their own first: they have fewer places.
std::vector<Section> sections_of(Rehearsal& r) {
  const LevelId of_gang = r.original().within;
  if (r.original().spec.is_none()) return {{0, of_gang, r.needed_members()}};
  const std::vector<GangGroup>& groups = r.state().gang_spec(r.original().spec).groups;
  std::map<std::uint32_t, Section> by_group;
  for (const MemberSpec& m : r.needed_members()) {
    const LevelId own = groups[m.group].within;
    by_group.try_emplace(m.group, m.group, own.is_none() ? of_gang : own, std::vector<MemberSpec>())
        .first->second.members.push_back(m);
  }
  std::vector<Section> sections;
  for (auto& [group, section] : by_group) sections.push_back(std::move(section));
  std::stable_partition(sections.begin(), sections.end(), [&](const Section& s) { return s.within != of_gang; });
  return sections;
}

/// What the member may take of the node: idle devices, or cores if it requests no devices.
std::int64_t idle_for(const Cluster& cluster, NodeId n, const Demand& demand, ConstraintId constraint) {
  if (demand.devices.count == 0) return std::max<std::int64_t>(cluster.free(resource::kCpu)[n.row()], 0);
  return std::max(usable_idle(cluster, n, cluster.constraint(constraint), demand.devices), 0);
}

/// The section's nodes among these: all, or those of one domain of its own: where members of its group are, else the
/// one with most idle capacity, of those with enough devices that are `reachable` on their nodes. Empty: there is none.
template <class Reachable>
std::vector<NodeId> nodes_for(Rehearsal& r, const Section& section, const std::vector<NodeId>& place,
                              Reachable&& reachable) {
  if (section.within == r.original().within) return place;
  const State& state = r.state();
  const Cluster& cluster = state.cluster();
  const MemberSpec& m = section.members.front();
  DomainId best = state.anchor(r.job(), section.within, section.group);
  if (best.is_none()) {
    std::int64_t wanted = 0;
    for (const MemberSpec& each : section.members) wanted += state.demand(each.demand).devices.count;
    struct Room {
      std::int64_t idle = 0, reachable = 0;
    };
    std::map<DomainId, Room> rooms;
    for (const NodeId n : place) {
      const DomainId domain = cluster.topology().domain_of(section.within, n);
      if (domain.is_none() || !cluster.allowed(m.constraint, kNodeRules).test(n.row())) continue;
      rooms[domain].idle += idle_for(cluster, n, state.demand(m.demand), m.constraint);
      rooms[domain].reachable += reachable(n);
    }
    const auto most = std::ranges::max_element(rooms, {}, [&](const auto& domain) {
      return std::pair(domain.second.reachable >= wanted, domain.second.idle);
    });
    if (most == rooms.end()) return {};
    best = most->first;
  }
  std::vector<NodeId> nodes;
  std::ranges::copy_if(place, std::back_inserter(nodes),
                       [&](NodeId n) { return cluster.topology().domain_of(section.within, n) == best; });
  return nodes;
}

/// In the order of the gang's groups.
void sort_by_group(std::vector<Remedy::OfGroup>& of_groups) {
  std::ranges::sort(of_groups, {}, &Remedy::OfGroup::group);
}

/// Whether the member fits on the node by everything that changes, with these demands in place of its own.
bool fits(State& state, const Profile& profile, const Demand& demand, ConstraintId constraint, NodeId n) {
  if (!state.cluster().allowed(constraint, kNodeRules).test(n.row())) return false;
  const NodeView view{state.cluster(), demand, state.cluster().constraint(constraint), &profile.mix, 0};
  std::uint16_t fit = kFitsMax;
  profile.lower_by_what_is_free(view, {n.row(), 1}, {&fit, 1});
  return fit > 0;
}

/// Devices that are freed, and members that are placed on them.
struct Freeing {
  Trial& trial;
  FreedDevices& freed;
};

/// Frees the fewest devices on one of the nodes, so that the member fits there; false if something else is short, too.
bool free_for(Rehearsal& r, const Profile& profile, const MemberSpec& m, const std::vector<NodeId>& nodes,
              Freeing& into) {
  State& state = r.state();
  FreedDevices& freed = into.freed;
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
  into.trial.place(m.member, best, choose_devices(state.cluster(), best, demand.devices, constraint));
  return true;
}

/// The same for all needed members, one after the other: how many devices each group lacks. Nothing if something else
/// is short.
std::optional<std::vector<Remedy::OfGroup>> free_devices_in(Rehearsal& r, const Profile& profile,
                                                            const std::vector<NodeId>& place, FreedDevices& freed) {
  Trial trial(r.state());
  Freeing freeing{trial, freed};
  std::vector<Remedy::OfGroup> of_groups;
  for (const Section& section : sections_of(r)) {
    const std::int64_t before = freed.count();
    const MemberSpec& first = section.members.front();
    const std::vector<NodeId> nodes = nodes_for(r, section, place, [&](NodeId n) {
      const Cluster& cluster = r.state().cluster();
      const Constraint& constraint = cluster.constraint(first.constraint);
      const DeviceRequest& request = r.state().demand(first.demand).devices;
      return usable_idle(cluster, n, constraint, request) +
             freed.in_use(n, usable_devices(cluster, n, constraint, request));
    });
    const auto frees = [&](const MemberSpec& m) { return free_for(r, profile, m, nodes, freeing); };
    if (!std::ranges::all_of(section.members, frees)) return std::nullopt;
    if (freed.count() > before)
      of_groups.push_back({.group = section.group, .amount = freed.count() - before, .level = section.within});
  }
  sort_by_group(of_groups);
  return of_groups;
}

/// Levels such as kubernetes.io/hostname, whose domains can never contain another node.
bool is_each_domain_one_node(const Topology& topology, LevelId level) {
  for (std::size_t d = 0; d < topology.domain_count(level); ++d)
    if (topology.nodes_of(level, DomainId(d)).size() > 1) return false;
  return true;
}

/// New nodes for a section: those of one kind, in its domain.
struct Growth {
  std::uint32_t group = 0;
  LevelId within;
  NodeId like;
  std::int64_t nodes = 0;  ///< this many are enough if each takes one member
};

/// Members that are placed where there is room, and what new nodes have of their own.
struct Growing {
  Trial& trial;
  const OwnLabels& own;
};

/// Places those members that have room; of the others, the first says which nodes would take them (none: no node).
Growth growth_of(State& state, const Profile& profile, const Section& section, const std::vector<NodeId>& nodes,
                 Growing& into) {
  Growth growth{.group = section.group, .within = section.within, .like = {}, .nodes = 0};
  const MemberSpec* lacking = nullptr;
  std::size_t at = 0;
  for (std::size_t i = 0; i < section.members.size(); ++i) {
    const MemberSpec& m = section.members[i];
    const bool is_like_last =
        i > 0 && m.demand == section.members[i - 1].demand && m.constraint == section.members[i - 1].constraint;
    if (!is_like_last) at = 0;
    const Demand& demand = state.demand(m.demand);
    while (at < nodes.size() && !fits(state, profile, demand, m.constraint, nodes[at])) ++at;
    if (at < nodes.size()) {
      into.trial.place(
          m.member, nodes[at],
          choose_devices(state.cluster(), nodes[at], demand.devices, state.cluster().constraint(m.constraint)));
      continue;
    }
    if (lacking == nullptr) lacking = &m;
    ++growth.nodes;
  }
  if (lacking == nullptr) return growth;
  const std::vector<NodeId> templates = templates_for(state, *lacking, nodes, into.own);
  if (!templates.empty()) growth.like = templates.front();
  return growth;
}

/// For each section that has no room in the place; empty if one of them cannot get any by new nodes.
std::vector<Growth> growths_in(Rehearsal& r, const Profile& profile, const std::vector<NodeId>& place,
                               const OwnLabels& own) {
  State& state = r.state();
  Trial trial(state);
  Growing growing{trial, own};
  std::vector<Growth> growths;
  for (const Section& section : sections_of(r)) {
    const std::vector<NodeId> nodes = nodes_for(r, section, place, [](NodeId) { return 0; });
    const Growth growth = growth_of(state, profile, section, nodes, growing);
    if (growth.nodes == 0) continue;
    const bool can_grow =
        section.within.is_none() || !is_each_domain_one_node(state.cluster().topology(), section.within);
    if (growth.like.is_none() || !can_grow) return {};
    growths.push_back(growth);
  }
  return growths;
}

/// As few as suffice of each kind, one after the other; `counts` of all kinds do.
void lower(NewNodes& nodes, std::vector<std::int64_t>& counts) {
  for (std::int64_t& count : counts)
    for (std::int64_t low = 0, high = count; low < high; count = high) {
      count = low + (high - low) / 2;
      if (nodes.start_with(counts))
        high = count;
      else
        low = count + 1;
    }
}

/// New nodes for each group that lacks room; false if none were found.
bool add_nodes_by_group(Rehearsal& r, const Profile& profile, const OwnLabels& own, std::vector<Remedy>& out) {
  Remedy least{.kind = Remedy::Kind::kMoreNodes, .amount = INT64_MAX, .level = r.original().within};
  for (const std::vector<NodeId>& place : places_for(r)) {
    if (place.size() * r.needed() > kFreeingMax) continue;
    const std::vector<Growth> growths = growths_in(r, profile, place, own);
    if (growths.empty() || growths.size() > kGroupsGrownMax) continue;
    std::vector<NodeFacts> kinds;
    std::vector<std::int64_t> counts;
    for (const Growth& growth : growths) {
      kinds.push_back(r.state().cluster().facts(growth.like));
      counts.push_back(growth.nodes);
    }
    NewNodes nodes(r, std::move(kinds), own);
    if (!nodes.start_with(counts)) continue;
    lower(nodes, counts);
    const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    if (total == 0 || total >= least.amount) continue;
    least.amount = total;
    least.of_groups.clear();
    for (std::size_t i = 0; i < growths.size(); ++i)
      if (counts[i] > 0) least.of_groups.push_back({growths[i].group, counts[i], growths[i].within, growths[i].like});
    sort_by_group(least.of_groups);
    least.node = least.of_groups.front().node;
  }
  if (least.amount == INT64_MAX) return false;
  out.push_back(std::move(least));
  return true;
}

/// The innermost level that the job or one of its groups must stay within; none: none must.
LevelId finest_level(Rehearsal& r) {
  LevelId finest = r.original().within;
  for (const Section& section : sections_of(r))
    if (finest.is_none() || (!section.within.is_none() && section.within.row() > finest.row())) finest = section.within;
  return finest;
}

/// The fewest nodes of one kind with which the job starts, if they are fewer than `least`; 0: none were found.
std::int64_t fewest_of(Rehearsal& r, NewNodes& nodes, std::int64_t least) {
  const auto start_with = [&](std::int64_t count) { return nodes.start_with({&count, 1}); };
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
  return found < least ? found : 0;
}

/// The fewest nodes of one kind, in one of the job's domains.
void look_for_fewer_nodes(Rehearsal& r, const OwnLabels& own, Remedy& best) {
  for (const std::vector<NodeId>& place : places_for(r))
    for (const NodeId like : templates_for(r.state(), r.needed_members().front(), place, own)) {
      if (best.amount == 1) return;
      NewNodes nodes(r, {r.state().cluster().facts(like)}, own);
      const std::int64_t found = fewest_of(r, nodes, best.amount);
      if (found == 0) continue;
      best.amount = found;
      best.node = like;
    }
}

}  // namespace

void add_free_devices(Rehearsal& r, const Profile& profile, std::vector<Remedy>& out) {
  r.become({});
  Remedy least{.kind = Remedy::Kind::kFreeDevices, .amount = INT64_MAX, .level = r.original().within};
  for (const std::vector<NodeId>& place : places_for(r)) {
    if (place.size() * r.needed() > kFreeingMax) continue;
    FreedDevices freed(r.state(), place, r.job());
    std::optional<std::vector<Remedy::OfGroup>> of_groups = free_devices_in(r, profile, place, freed);
    if (!of_groups || freed.count() == 0 || freed.count() >= least.amount || !r.starts({})) continue;
    least.amount = freed.count();
    least.of_groups = *std::move(of_groups);
  }
  if (r.original().spec.is_none()) least.of_groups.clear();
  if (least.amount != INT64_MAX) out.push_back(std::move(least));
}

void add_more_nodes(Rehearsal& r, const Profile& profile, std::span<const LabelKeyId> names, std::vector<Remedy>& out) {
  r.become({});
  const OwnLabels own = own_labels(r.state().cluster(), names);
  if (!r.original().spec.is_none() && add_nodes_by_group(r, profile, own, out)) return;
  const LevelId within = finest_level(r);
  if (!within.is_none() && is_each_domain_one_node(r.state().cluster().topology(), within)) return;
  Remedy best{.kind = Remedy::Kind::kMoreNodes, .amount = INT64_MAX, .level = within};
  look_for_fewer_nodes(r, own, best);
  if (best.node.is_none() && within.is_none()) {
    const Cluster& cluster = r.state().cluster();
    const Constraint constraint = cluster.constraint(r.needed_members().front().constraint);
    for (const LabelKeyId label : labels_that_part(cluster, constraint, own)) {
      OwnLabels with_domain = own;
      with_domain.keys.push_back(label);
      look_for_fewer_nodes(r, with_domain, best);
      if (best.node.is_none()) continue;
      best.new_domain = label;
      break;
    }
  }
  if (!best.node.is_none()) out.push_back(std::move(best));
}

}  // namespace ashlar
