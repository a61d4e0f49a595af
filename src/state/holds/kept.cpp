#include "state/holds/kept.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace ashlar {
namespace {

struct DeviceLeft {
  int device = 0;
  std::int32_t milli = 0;
  std::int64_t mib = 0;
};

/// What one member has, or a hold keeps, of a node.
struct Share {
  std::vector<ResourceAmount> amounts;
  std::vector<DeviceLeft> devices;
  std::vector<HostPort> ports;
  std::int64_t owed = 0;  ///< devices of which nobody knows which

  Share(const Demand& demand, const GrantedDevices& held) : amounts(demand.amounts), ports(demand.ports) {
    if (demand.devices.count == 0) return;  // whatever devices are named: see Cluster::allocate
    held.each(demand.devices, [&](int i, const DeviceShare& share) {
      devices.push_back({i, share.milli.value, share.memory.value});
    });
    owed = std::max<std::int64_t>(demand.devices.count - static_cast<std::int64_t>(devices.size()), 0);
  }
};

struct HeldShare {
  MemberId member;
  const Hold* hold = nullptr;
  DeviceRequest each;  ///< of the hold's member
  int depth = 0;       ///< of its owner: the deepest is for fewest jobs
  Share left;
};

template <class Number>
void move_common(Number& from, Number& to) {
  const Number common = std::max<Number>(std::min(from, to), 0);
  from -= common;
  to -= common;
}

/// The hold yields what it has in common with what the member has not had of other holds.
void yield(HeldShare& held, Share& has) {
  for (ResourceAmount& kept : held.left.amounts)
    for (ResourceAmount& a : has.amounts)
      if (a.resource == kept.resource) move_common(kept.amount, a.amount);
  for (DeviceLeft& device : has.devices) {
    const auto kept = std::find_if(held.left.devices.begin(), held.left.devices.end(),
                                   [&](const DeviceLeft& other) { return other.device == device.device; });
    if (kept != held.left.devices.end()) {
      move_common(kept->milli, device.milli);
      move_common(kept->mib, device.mib);
    } else if (held.left.owed > 0 && device.milli > 0 && device.milli >= held.each.milli_each.value) {
      --held.left.owed;  // one of those that the node owes to the hold
      device.milli = 0;
    }
  }
  move_common(held.left.owed, has.owed);
  std::erase_if(held.left.ports, [&](const HostPort& port) {
    const auto it = std::find(has.ports.begin(), has.ports.end(), port);
    if (it == has.ports.end()) return false;
    has.ports.erase(it);
    return true;
  });
}

int depth_of(const State& state, const HoldOwner& owner) {
  if (!owner.job.is_none()) return INT32_MAX;
  int depth = 0;
  for (QueueId q = owner.queue; !q.is_none(); q = state.queues().parent(q)) ++depth;
  return depth;
}

std::vector<Allocation> allocations_of(const HeldShare& held) {
  const DeviceRequest& each = held.each;
  Allocation whole{Demand{{}, each, held.left.ports}, {}};
  for (const ResourceAmount& a : held.left.amounts)
    if (a.amount > 0) whole.demand.amounts.push_back(a);
  whole.demand.devices.count = static_cast<std::int32_t>(held.left.owed);
  std::vector<Allocation> all;
  for (const DeviceLeft& device : held.left.devices) {
    DeviceMask mask;
    mask.set(device.device);
    if (device.milli == each.milli_each.value && device.mib == each.memory_each.value) {
      whole.devices.set(device.device);
      ++whole.demand.devices.count;
    } else if (device.milli > 0 || device.mib > 0) {
      all.push_back({Demand{{}, {1, MilliGpu(device.milli), MiB(device.mib)}, {}}, mask});
    }
  }
  const bool is_nothing = whole.demand.amounts.empty() && whole.demand.devices.count == 0 && whole.demand.ports.empty();
  if (!is_nothing) all.push_back(std::move(whole));
  return all;
}

}  // namespace

bool may_use(const State& state, JobId job, const Hold& hold, Millis late_end) {
  if (hold.is_later() && late_end <= hold.from) return true;
  if (!hold.owner.job.is_none()) return hold.owner.job == job;
  return !hold.owner.queue.is_none() && state.queues().is_within(state.job(job).queue, hold.owner.queue);
}

std::vector<Kept> kept_on(const State& state, NodeId node, std::span<const MemberId> without) {
  std::vector<HeldShare> holds;
  for (const HeldPlace& place : state.yielding_on(node)) {
    const Member& m = state.member(place.member);
    const Hold* hold = state.hold_of(m.job);
    const Demand& demand = state.demand(m.demand);
    holds.push_back(
        {place.member, hold, demand.devices, depth_of(state, hold->owner), Share(demand, state.devices_of(m))});
  }
  std::vector<HeldShare*> by_depth;
  for (HeldShare& held : holds) by_depth.push_back(&held);
  std::stable_sort(by_depth.begin(), by_depth.end(), [](const auto* a, const auto* b) { return a->depth > b->depth; });
  for (const MemberId id : state.members_on(node)) {
    const Member& m = state.member(id);
    if (state.job(m.job).is_hold || std::find(without.begin(), without.end(), id) != without.end()) continue;
    Share has(state.demand(m.demand), state.devices_of(m));
    for (HeldShare* held : by_depth)
      if (may_use(state, m.job, *held->hold)) yield(*held, has);
  }
  std::vector<Kept> kept;
  for (const HeldShare& held : holds)
    if (!state.is_lifted(held.member)) kept.push_back({held.member, allocations_of(held)});
  return kept;
}

namespace {

/// Whether devices are taken of which nobody knows which: by number, or claimed beyond what one has.
bool owes_devices(const Cluster& cluster, NodeId node) {
  const auto is_overfull = [](std::int32_t milli) { return milli < 0; };
  return cluster.devices_owed(node) > 0 || std::ranges::any_of(cluster.device_free_milli(node), is_overfull);
}

}  // namespace

bool shares_beside_owed(const State& state, NodeId node, MemberId placed) {
  const Member& m = state.member(placed);
  const DeviceRequest& request = state.demand(m.demand).devices;
  if (request.count == 0 || !owes_devices(state.cluster(), node)) return false;
  const auto free = state.cluster().device_free_milli(node);
  bool is_alone = false;  // nobody else has anything of one of its devices, and it leaves part of that
  state.devices_of(m).each(request, [&](int i, const DeviceShare& share) {
    const auto at = static_cast<std::size_t>(i);
    is_alone = is_alone || (at < free.size() && free[at] > 0 && free[at] + share.milli.value == kWholeDevice);
  });
  return is_alone;
}

bool tells_devices_apart(const State& state, NodeId node, MemberId placed) {
  if (state.yielding_on(node).empty()) return false;
  const Member& m = state.member(placed);
  const DeviceRequest& request = state.demand(m.demand).devices;
  const bool is_whole = request.is_whole() && m.grants.is_none();
  const bool are_alike = state.cluster().mixed_layout(node) == nullptr && is_whole;
  if (request.count == 0 || are_alike) return false;
  const auto owes = [](const Allocation& a) { return a.devices.count() < a.demand.devices.count; };
  return std::ranges::any_of(kept_on(state, node, {&placed, 1}), [&](const Kept& kept) {
    return may_use(state, m.job, *state.hold_of(state.member(kept.member).job)) &&
           std::ranges::any_of(kept.allocations, owes);
  });
}

namespace {

/// What is free of one device without these allocations.
DeviceLeft free_of_device(const Cluster& cluster, NodeId node, int device, std::span<const Allocation> without) {
  const auto i = static_cast<std::size_t>(device);
  DeviceLeft free{device, cluster.device_free_milli(node)[i], cluster.device_free_mib(node)[i]};
  for (const Allocation& a : without) {
    if (!a.devices.test(device)) continue;
    free.milli += a.demand.devices.milli_each.value;
    free.mib += a.demand.devices.memory_each.value;
  }
  return free;
}

/// What a device adds to the idle ones of its node.
std::int32_t idle_of(const DeviceLeft& free, std::int64_t memory) {
  const bool is_idle = free.milli == kWholeDevice && free.mib == memory;
  return is_idle ? 1 : free.milli < 0 ? free.milli / kWholeDevice : 0;
}

}  // namespace

bool is_overcommitted(const State& state, NodeId node, const Demand& demand, const DeviceMask& devices) {
  const Cluster& cluster = state.cluster();
  if (state.yielding_on(node).empty()) return cluster.is_overcommitted(node, demand, devices);
  std::vector<Allocation> kept;
  for (const Kept& of_hold : kept_on(state, node))
    kept.insert(kept.end(), of_hold.allocations.begin(), of_hold.allocations.end());
  const auto lacks = [&](const ResourceAmount& a) {
    if (a.resource.row() >= cluster.resource_count()) return false;
    std::int64_t free = cluster.free(a.resource)[node.row()];
    for (const Allocation& of_hold : kept) free += amount_of(of_hold.demand, a.resource);
    return free < 0;
  };
  if (std::any_of(demand.amounts.begin(), demand.amounts.end(), lacks)) return true;
  for (const HostPort& port : demand.ports) {
    const auto clashes_in = [&](std::span<const HostPort> ports) {
      return std::count_if(ports.begin(), ports.end(), [&](const HostPort& p) { return p.clashes(port); });
    };
    auto allowed = clashes_in(demand.ports);  // its own ports may clash with each other
    for (const Allocation& of_hold : kept) allowed += clashes_in(of_hold.demand.ports);
    if (clashes_in(cluster.ports_taken(node)) > allowed) return true;
  }
  if (demand.devices.count == 0) return false;
  const DeviceMemories memories = cluster.device_memories(node);
  std::int32_t idle = cluster.idle_devices()[node.row()];
  for (const Allocation& of_hold : kept) idle += std::max(of_hold.demand.devices.count - of_hold.devices.count(), 0);
  bool is_more = false;
  for (int i = 0; i < cluster.devices()[node.row()]; ++i) {
    const std::int64_t memory = memories[static_cast<std::size_t>(i)];
    const DeviceLeft free = free_of_device(cluster, node, i, kept);
    idle += idle_of(free, memory) - idle_of(free_of_device(cluster, node, i, {}), memory);
    is_more = is_more || (devices.test(i) && (free.milli < 0 || (memory > 0 && free.mib < 0)));
  }
  return is_more || idle < 0;
}

}  // namespace ashlar
