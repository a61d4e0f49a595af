#include "engine/place/small_packing.h"

#include <algorithm>
#include <array>

#include "base/grown.h"
#include "policy/node/device_fit.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

/// more members on so few nodes are many small ones, which heuristics place well
constexpr std::size_t kPackingMembersMax = 256;
/// the kinds of a node's devices are counted for each member: as many more cost another step
constexpr std::uint32_t kKindsOfOneStep = 8;

bool is_idle(const PackingNode& node, std::size_t device) {
  return node.milli[device] == kWholeDevice && node.mib[device] == node.full_mib[device];
}

bool is_usable(const PackingNode& node, std::size_t group, std::size_t device) {
  return node.usable.empty() || node.usable[group].test(static_cast<int>(device));
}

/// Idle devices that may be taken of these, all of one kind: all that the node owes may be among them.
std::int32_t idle_among(const PackingNode& node, const DeviceMask& kind) {
  std::int32_t idle = 0, owed = -node.idle_devices;
  for (std::size_t c = 0; c < node.milli.size(); ++c) {
    if (!is_idle(node, c)) continue;
    ++owed;
    idle += kind.test(static_cast<int>(c)) ? 1 : 0;
  }
  return std::max(idle - owed, 0);
}

/// Idle devices that members of the group may take.
std::int32_t idle_for(const PackingNode& node, std::size_t group) {
  if (node.kinds.empty()) return node.idle_devices;
  std::int32_t idle = 0;
  for (const DeviceMask& kind : node.kinds)
    if (kind.is_within(node.usable[group])) idle += idle_among(node, kind);
  return idle;
}

/// By kind of the node's devices: idle ones that the group may take, of it and of the kinds behind it; then 0.
std::vector<std::int32_t> idle_from_kinds(const PackingNode& node, std::size_t group) {
  std::vector<std::int32_t> idle(node.kinds.size() + 1, 0);
  for (std::size_t k = node.kinds.size(); k-- > 0;)
    idle[k] = idle[k + 1] + (node.kinds[k].is_within(node.usable[group]) ? idle_among(node, node.kinds[k]) : 0);
  return idle;
}

/// Members of a group.
struct Kind {
  const Demand& demand;
  std::size_t group;
};

/// Whether the device could take one such share.
bool takes_share(const PackingNode& node, const Kind& kind, std::size_t device) {
  if (!is_usable(node, kind.group, device)) return false;
  const auto is_its_kind = [&](const DeviceMask& of) { return of.test(static_cast<int>(device)); };
  const auto own = std::find_if(node.kinds.begin(), node.kinds.end(), is_its_kind);
  const std::int32_t idle = own == node.kinds.end() ? node.idle_devices : idle_among(node, *own);
  if (is_idle(node, device) && idle <= 0) return false;
  return shares_in_device(kind.demand.devices, node.milli[device], node.mib[device], node.full_mib[device] != 0) > 0;
}

/// Everything but the devices of a share.
bool has_room(const PackingNode& node, const Kind& kind) {
  const Demand& demand = kind.demand;
  for (const ResourceAmount& a : demand.amounts)
    if (value_at(node.free, a.resource.row()) < a.amount) return false;
  for (const HostPort& asked : demand.ports)
    if (std::any_of(node.ports.begin(), node.ports.end(), [&](const HostPort& taken) { return asked.clashes(taken); }))
      return false;
  const DeviceRequest& request = demand.devices;
  if (request.count <= 0) return true;
  if (node.idle_devices < 0) return false;
  if (!request.is_whole()) return request.milli_each.value > 0;
  const std::int64_t memory = node.full_mib.each;
  return idle_for(node, kind.group) >= request.count &&
         (request.memory_each.value <= 0 || memory == 0 || memory >= request.memory_each.value);
}

/// Takes what a member requests except devices.
void take(PackingNode& node, const Demand& demand) {
  for (const ResourceAmount& a : demand.amounts)
    if (a.resource.row() < node.free.size()) node.free[a.resource.row()] -= a.amount;
  node.ports.insert(node.ports.end(), demand.ports.begin(), demand.ports.end());
}

/// The first devices that are idle, of a node on which all are alike.
DeviceMask first_idle(const PackingNode& node, std::int32_t count) {
  DeviceMask devices;
  for (std::size_t c = 0; c < node.milli.size() && count > 0; ++c) {
    if (!is_idle(node, c)) continue;
    devices.set(static_cast<int>(c));
    --count;
  }
  return devices;
}

void take_whole(PackingNode& node, const DeviceMask& devices, std::int32_t count) {
  node.idle_devices -= count;
  devices.each([&](int c) {
    node.milli[static_cast<std::size_t>(c)] = 0;
    node.mib[static_cast<std::size_t>(c)] = 0;
  });
}

void take_share(PackingNode& node, const DeviceRequest& request, std::size_t device) {
  if (is_idle(node, device)) --node.idle_devices;
  node.milli[device] -= request.milli_each.value;
  node.mib[device] -= request.memory_each.value;
}

/// Like members that the node could take if no others did; may overestimate.
std::uint64_t room_for(const PackingNode& node, const Kind& kind) {
  if (!has_room(node, kind)) return 0;
  const Demand& demand = kind.demand;
  std::int64_t room = kFitsMax;
  for (const ResourceAmount& a : demand.amounts) room = std::min(room, node.free[a.resource.row()] / a.amount);
  if (!demand.ports.empty()) room = 1;
  const DeviceRequest& request = demand.devices;
  if (request.count > 0 && request.is_whole())
    room = std::min<std::int64_t>(room, idle_for(node, kind.group) / request.count);
  if (request.count > 0 && !request.is_whole()) {
    std::int64_t shares = 0;
    for (std::size_t c = 0; c < node.milli.size(); ++c)
      if (takes_share(node, kind, c))
        shares += shares_in_device(request, node.milli[c], node.mib[c], node.full_mib[c] != 0);
    room = std::min(room, shares);
  }
  return static_cast<std::uint64_t>(room);
}

}  // namespace

PackingNode node_as_it_is(const Cluster& cluster, NodeId n) {
  PackingNode node;
  for (std::size_t r = 0; r < cluster.resource_count(); ++r) node.free.push_back(cluster.free(ResourceId(r))[n.row()]);
  node.milli.assign(cluster.device_free_milli(n).begin(), cluster.device_free_milli(n).end());
  node.mib.assign(cluster.device_free_mib(n).begin(), cluster.device_free_mib(n).end());
  node.full_mib = cluster.device_memories(n);
  node.classes = &cluster.classes();
  node.kinds.assign(cluster.device_kinds(n).begin(), cluster.device_kinds(n).end());
  node.idle_devices = cluster.idle_devices()[n.row()];
  node.ports.assign(cluster.ports_taken(n).begin(), cluster.ports_taken(n).end());
  return node;
}

PackingNode node_when_empty(const Cluster& cluster, NodeId n) {
  PackingNode node;
  for (std::size_t r = 0; r < cluster.resource_count(); ++r)
    node.free.push_back(cluster.allocatable(ResourceId(r))[n.row()]);
  node.full_mib = cluster.device_memories(n);
  node.classes = &cluster.classes();
  node.kinds.assign(cluster.device_kinds(n).begin(), cluster.device_kinds(n).end());
  node.idle_devices = cluster.devices()[n.row()];
  node.milli.assign(static_cast<std::size_t>(node.idle_devices), kWholeDevice);
  for (std::size_t c = 0; c < node.milli.size(); ++c) node.mib.push_back(node.full_mib[c]);
  return node;
}

SmallPacking::Outcome SmallPacking::search(std::uint32_t& steps) {
  chosen_.clear();
  devices_.clear();
  std::uint64_t members = 0;
  for (const PackingGroup& group : groups_) members += group.members;
  if (members > kPackingMembersMax) return Outcome::kBudgetSpent;
  for (PackingNode& node : nodes_) {
    if (node.full_mib.mixed == nullptr) continue;
    for (const PackingGroup& group : groups_)
      node.usable.push_back(
          usable_devices(*node.full_mib.mixed, *node.classes, *group.constraint, group.demand->devices));
  }
  domains_.assign(nodes_.empty() ? 0 : nodes_.front().domains.size(), DomainId::none());
  if (!have_all_room(0)) return Outcome::kImpossible;
  return place({}, steps);
}

/// Whether the groups from this one on fit, each taken alone.
bool SmallPacking::have_all_room(std::size_t group) const {
  for (std::size_t g = group; g < groups_.size(); ++g) {
    if (room_of(g) < groups_[g].members) return false;
  }
  return true;
}

/// Of the nodes where it may be; if its domain is still to be chosen, of those of the best one.
std::uint64_t SmallPacking::room_of(std::size_t group) const {
  const std::uint32_t choice = groups_[group].choice;
  const bool is_to_choose = choice != PackingGroup::kAnyDomain && domains_[choice].is_none();
  std::array<std::uint64_t, kPackingNodesMax> room{};  // with a choice: of the domain of each node
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].allows[group] == 0 || !is_in_its_domain(group, n)) continue;
    std::size_t at = 0;
    while (is_to_choose && nodes_[at].domains[choice] != nodes_[n].domains[choice]) ++at;
    room[at] += room_for(nodes_[n], {*groups_[group].demand, group});
  }
  return *std::max_element(room.begin(), room.end());
}

DomainId* SmallPacking::choice_of(std::size_t group) {
  const std::uint32_t choice = groups_[group].choice;
  return choice == PackingGroup::kAnyDomain ? nullptr : &domains_[choice];
}

bool SmallPacking::is_in_its_domain(std::size_t group, std::size_t node) const {
  const std::uint32_t choice = groups_[group].choice;
  if (choice == PackingGroup::kAnyDomain) return true;
  return domains_[choice].is_none() || domains_[choice] == nodes_[node].domains[choice];
}

/// A node identical to one just tried for the same member gives the same answer.
bool SmallPacking::is_mirror(std::size_t first_node, std::size_t node) const {
  for (std::size_t other = first_node; other < node; ++other)
    if (nodes_[other] == nodes_[node]) return true;
  return false;
}

/// Members of a group go to nodes in ascending order, shares on one node to devices in ascending order, and whole
/// devices of several kinds are taken in descending order of their numbers by kind: they are alike.
SmallPacking::Outcome SmallPacking::place(const Turn& turn, std::uint32_t& steps) {
  if (turn.group == groups_.size()) return Outcome::kFound;
  if (turn.placed == groups_[turn.group].members)
    return have_all_room(turn.group + 1) ? place({.group = turn.group + 1}, steps) : Outcome::kImpossible;
  for (std::size_t n = turn.node; n < nodes_.size(); ++n) {
    if (nodes_[n].allows[turn.group] == 0 || !has_room(nodes_[n], {*groups_[turn.group].demand, turn.group})) continue;
    if (!is_in_its_domain(turn.group, n)) continue;
    // The node being searched already holds members of this group, so it is no mirror of another.
    if (is_mirror(turn.placed == 0 ? 0 : turn.node + 1, n)) continue;
    DomainId* const choice = choice_of(turn.group);
    const bool is_first_choice = choice != nullptr && choice->is_none();
    if (is_first_choice) *choice = nodes_[n].domains[groups_[turn.group].choice];
    const bool is_same_node = turn.placed > 0 && n == turn.node;
    const Outcome outcome =
        is_same_node ? place_on(turn, n, steps) : place_on({.group = turn.group, .placed = turn.placed}, n, steps);
    if (outcome != Outcome::kImpossible) return outcome;
    if (is_first_choice) *choice = DomainId::none();
  }
  return Outcome::kImpossible;
}

SmallPacking::Outcome SmallPacking::place_on(const Turn& turn, std::size_t node, std::uint32_t& steps) {
  const PackingNode& here = nodes_[node];
  const Demand& demand = *groups_[turn.group].demand;
  const Turn next{.group = turn.group, .placed = turn.placed + 1, .node = node};
  if (demand.devices.count <= 0) return place_there(next, {}, steps);
  if (demand.devices.is_whole() && here.kinds.empty())
    return place_there(next, first_idle(here, demand.devices.count), steps);
  if (demand.devices.is_whole()) {
    const std::vector<std::int32_t> idle = idle_from_kinds(here, turn.group);
    const bool is_as_before = !turn.counts.empty();
    return place_by_kind(turn, node, {.idle_from = idle, .missing = demand.devices.count, .is_as_before = is_as_before},
                         steps);
  }
  for (std::size_t c = turn.device; c < here.milli.size(); ++c) {
    if (!takes_share(here, {demand, turn.group}, c)) continue;
    const auto is_like = [&](std::size_t other) {
      const bool is_one_kind = here.full_mib.mixed == nullptr ||
                               is_of_one_kind(here.full_mib.mixed->devices[other], here.full_mib.mixed->devices[c]);
      return is_one_kind && here.milli[other] == here.milli[c] && here.mib[other] == here.mib[c];
    };
    bool is_tried = false;
    for (std::size_t other = turn.device + 1; other < c; ++other) is_tried = is_tried || is_like(other);
    if (is_tried) continue;
    DeviceMask device;
    device.set(static_cast<int>(c));
    Turn at_device = next;
    at_device.device = c;
    const Outcome outcome = place_there(at_device, device, steps);
    if (outcome != Outcome::kImpossible) return outcome;
  }
  return Outcome::kImpossible;
}

/// Whole devices of a node with several kinds: every number of each kind, the kinds one after the other, of which those
/// left have as many as are missing. Else a node of 40 kinds has 2^40 choices that lead nowhere, and none is a step.
SmallPacking::Outcome SmallPacking::place_by_kind(const Turn& turn, std::size_t node, const Choice& choice,
                                                  std::uint32_t& steps) {
  const PackingNode& here = nodes_[node];
  const std::size_t kind = choice.counts.size();
  if (kind == here.kinds.size()) {
    if (choice.missing > 0) return Outcome::kImpossible;
    return place_there({.group = turn.group, .placed = turn.placed + 1, .node = node, .counts = choice.counts},
                       choice.devices, steps);
  }
  const std::int32_t behind = choice.idle_from[kind + 1];
  std::int32_t most = std::min(choice.idle_from[kind] - behind, choice.missing);
  if (choice.is_as_before) most = std::min(most, turn.counts[kind]);
  for (std::int32_t count = most; count >= std::max(choice.missing - behind, 0); --count) {
    Choice with = choice;
    with.counts.push_back(count);
    with.missing -= count;
    with.is_as_before = choice.is_as_before && count == turn.counts[kind];
    std::int32_t left = count;
    here.kinds[kind].each([&](int c) {
      if (left == 0 || !is_idle(here, static_cast<std::size_t>(c))) return;
      with.devices.set(c);
      --left;
    });
    const Outcome outcome = place_by_kind(turn, node, with, steps);
    if (outcome != Outcome::kImpossible) return outcome;
  }
  return Outcome::kImpossible;
}

/// The member before `next` takes these devices of the node; then the others are placed.
SmallPacking::Outcome SmallPacking::place_there(const Turn& next, const DeviceMask& devices, std::uint32_t& steps) {
  if (steps == 0) return Outcome::kBudgetSpent;
  PackingNode& here = nodes_[next.node];
  steps -= std::min(steps, 1 + static_cast<std::uint32_t>(here.kinds.size()) / kKindsOfOneStep);
  const Demand& demand = *groups_[next.group].demand;
  const PackingNode before = here;
  take(here, demand);
  if (demand.devices.count > 0 && demand.devices.is_whole()) take_whole(here, devices, demand.devices.count);
  if (demand.devices.count > 0 && !demand.devices.is_whole()) take_share(here, demand.devices, next.device);
  chosen_.push_back(static_cast<std::uint32_t>(next.node));
  devices_.push_back(here.kinds.empty() ? DeviceMask{} : devices);
  const Outcome outcome = place(next, steps);
  if (outcome != Outcome::kImpossible) return outcome;
  chosen_.pop_back();
  devices_.pop_back();
  here = before;
  return Outcome::kImpossible;
}

}  // namespace ashlar
