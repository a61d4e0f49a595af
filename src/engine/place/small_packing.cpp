#include "engine/place/small_packing.h"

#include <algorithm>

#include "base/grown.h"
#include "policy/node/device_fit.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

/// more members on so few nodes are many small ones, which heuristics place well
constexpr std::size_t kPackingMembersMax = 256;

bool is_idle(const PackingNode& node, std::size_t device) {
  return node.milli[device] == kWholeDevice && node.mib[device] == node.full_mib[device];
}

bool is_usable(const PackingNode& node, std::size_t group, std::size_t device) {
  return node.usable.empty() || node.usable[group].test(static_cast<int>(device));
}

/// At most this many of the idle devices that the group may take: all that the node owes may be among them.
std::int32_t idle_for(const PackingNode& node, std::size_t group) {
  std::int32_t left = node.idle_devices;
  for (std::size_t c = 0; c < node.milli.size() && !node.usable.empty(); ++c)
    if (is_idle(node, c) && !is_usable(node, group, c)) --left;
  return left;
}

/// Members of a group.
struct Kind {
  const Demand& demand;
  std::size_t group;
};

/// Whether the device could take one such share.
bool takes_share(const PackingNode& node, const Kind& kind, std::size_t device) {
  if (!is_usable(node, kind.group, device)) return false;
  if (is_idle(node, device) && idle_for(node, kind.group) <= 0) return false;
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

/// Takes what a member requests except the device of a share.
void take(PackingNode& node, const Kind& kind) {
  const Demand& demand = kind.demand;
  for (const ResourceAmount& a : demand.amounts)
    if (a.resource.row() < node.free.size()) node.free[a.resource.row()] -= a.amount;
  node.ports.insert(node.ports.end(), demand.ports.begin(), demand.ports.end());
  if (demand.devices.count <= 0 || !demand.devices.is_whole()) return;
  node.idle_devices -= demand.devices.count;
  std::int32_t missing = demand.devices.count;
  for (std::size_t c = 0; c < node.milli.size() && missing > 0; ++c) {
    if (!is_idle(node, c) || !is_usable(node, kind.group, c)) continue;
    node.milli[c] = 0;
    node.mib[c] = 0;
    --missing;
  }
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
  node.idle_devices = cluster.idle_devices()[n.row()];
  node.ports.assign(cluster.ports_taken(n).begin(), cluster.ports_taken(n).end());
  return node;
}

PackingNode node_when_empty(const Cluster& cluster, NodeId n) {
  PackingNode node;
  for (std::size_t r = 0; r < cluster.resource_count(); ++r)
    node.free.push_back(cluster.allocatable(ResourceId(r))[n.row()]);
  node.full_mib = cluster.device_memories(n);
  node.idle_devices = cluster.devices()[n.row()];
  node.milli.assign(static_cast<std::size_t>(node.idle_devices), kWholeDevice);
  for (std::size_t c = 0; c < node.milli.size(); ++c) node.mib.push_back(node.full_mib[c]);
  return node;
}

SmallPacking::Outcome SmallPacking::search(std::uint32_t& steps) {
  chosen_.clear();
  std::uint64_t members = 0;
  for (const PackingGroup& group : groups_) members += group.members;
  if (members > kPackingMembersMax) return Outcome::kBudgetSpent;
  for (PackingNode& node : nodes_)
    for (const PackingGroup& group : groups_)
      if (node.full_mib.mixed != nullptr)
        node.usable.push_back(usable_devices(*node.full_mib.mixed, *group.constraint, group.demand->devices));
  if (!have_all_room(0)) return Outcome::kImpossible;
  const Outcome outcome = place(0, 0, 0, 0, steps);
  return outcome == Outcome::kImpossible && have_unlike_devices() ? Outcome::kBudgetSpent : outcome;
}

bool SmallPacking::have_unlike_devices() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const PackingNode& node) { return !node.usable.empty(); });
}

/// Whether the groups from this one on fit, each taken alone.
bool SmallPacking::have_all_room(std::size_t group) const {
  for (std::size_t g = group; g < groups_.size(); ++g) {
    std::uint64_t room = 0;
    for (const PackingNode& node : nodes_)
      if (node.allows[g] != 0) room += room_for(node, {*groups_[g].demand, g});
    if (room < groups_[g].members) return false;
  }
  return true;
}

/// A node identical to one just tried for the same member gives the same answer.
bool SmallPacking::is_mirror(std::size_t first_node, std::size_t node) const {
  for (std::size_t other = first_node; other < node; ++other)
    if (nodes_[other] == nodes_[node]) return true;
  return false;
}

/// Members of a group go to nodes in ascending order, shares on one node to devices in ascending order: they are alike.
SmallPacking::Outcome SmallPacking::place(std::size_t group, std::uint32_t placed, std::size_t first_node,
                                          std::size_t first_device, std::uint32_t& steps) {
  if (group == groups_.size()) return Outcome::kFound;
  if (placed == groups_[group].members)
    return have_all_room(group + 1) ? place(group + 1, 0, 0, 0, steps) : Outcome::kImpossible;
  for (std::size_t n = first_node; n < nodes_.size(); ++n) {
    if (nodes_[n].allows[group] == 0 || !has_room(nodes_[n], {*groups_[group].demand, group})) continue;
    // The node being searched already holds members of this group, so it is no mirror of another.
    if (is_mirror(placed == 0 ? 0 : first_node + 1, n)) continue;
    const Outcome outcome = place_on(group, placed, n, n == first_node ? first_device : 0, steps);
    if (outcome != Outcome::kImpossible) return outcome;
  }
  return Outcome::kImpossible;
}

SmallPacking::Outcome SmallPacking::place_on(std::size_t group, std::uint32_t placed, std::size_t node,
                                             std::size_t first_device, std::uint32_t& steps) {
  const Demand& demand = *groups_[group].demand;
  const bool is_share = demand.devices.count > 0 && !demand.devices.is_whole();
  const std::size_t devices = is_share ? nodes_[node].milli.size() : 1;
  for (std::size_t c = is_share ? first_device : 0; c < devices; ++c) {
    if (is_share && !takes_share(nodes_[node], {demand, group}, c)) continue;
    const auto is_like = [&](std::size_t other) {
      return nodes_[node].usable.empty() && nodes_[node].milli[other] == nodes_[node].milli[c] &&
             nodes_[node].mib[other] == nodes_[node].mib[c];
    };
    bool is_tried = false;
    for (std::size_t other = first_device + 1; is_share && other < c; ++other) is_tried = is_tried || is_like(other);
    if (is_tried) continue;
    if (steps == 0) return Outcome::kBudgetSpent;
    --steps;
    const PackingNode before = nodes_[node];
    take(nodes_[node], {demand, group});
    if (is_share) take_share(nodes_[node], demand.devices, c);
    chosen_.push_back(static_cast<std::uint32_t>(node));
    const Outcome outcome = place(group, placed + 1, node, is_share ? c : 0, steps);
    if (outcome != Outcome::kImpossible) return outcome;
    chosen_.pop_back();
    nodes_[node] = before;
  }
  return Outcome::kImpossible;
}

}  // namespace ashlar
