#include "engine/explain/empty_node.h"

#include <algorithm>

#include "engine/quota.h"
#include "policy/feasible_policy.h"
#include "policy/node/anti_affinity.h"
#include "policy/node/device_fit.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {

HeldByNode held_by(const State& state, JobId job) {
  HeldByNode held;
  state.each_member(job, [&](MemberId, const Member& m) {
    if (!m.is_placed()) return;
    const Demand& demand = state.demand(m.demand);
    HeldOfNode& on_node = held[m.node];
    if (demand.devices.is_whole()) {
      on_node.devices += demand.devices.count;
      state.devices_of(m).each(demand.devices, [&](int i, const DeviceShare& share) {
        const bool is_all_held = share.milli.value >= kWholeDevice;  // of one granted in part, others may have the rest
        if (is_all_held) on_node.named.set(i);
        on_node.devices -= is_all_held ? 0 : 1;
      });
    }
    on_node.ports.insert(on_node.ports.end(), demand.ports.begin(), demand.ports.end());
    for (const ResourceAmount& a : demand.amounts) {
      if (!resource::has_column(a.resource)) continue;
      if (on_node.amounts.size() <= a.resource.row()) on_node.amounts.resize(a.resource.row() + 1, 0);
      add_saturated(on_node.amounts[a.resource.row()], a.amount);
    }
  });
  return held;
}

namespace {

/// The same by the devices of a node that are not all alike.
std::int64_t fits_by_mixed_devices(const DeviceLayout& mixed, const DeviceMask& usable, const DeviceRequest& request,
                                   const HeldOfNode& held) {
  std::int64_t devices = 0, shares = 0;
  usable.each([&](int i) {
    if (held.named.test(i)) return;
    const std::int64_t memory = mixed.devices[static_cast<std::size_t>(i)].memory.value;
    ++devices;
    if (!request.is_whole() && request.milli_each.value > 0)
      shares += shares_in_device(request, kWholeDevice, memory, memory != 0);
  });
  return request.is_whole() ? devices / request.count : shares;
}

}  // namespace

std::uint64_t fits_when_empty(const Cluster& cluster, const Demand& demand, const Constraint& constraint, NodeId n,
                              const HeldOfNode& held) {
  std::int64_t fits = kFitsMax;
  const DeviceRequest& request = demand.devices;
  if (const DeviceLayout* mixed = request.count > 0 ? cluster.mixed_layout(n) : nullptr) {
    fits =
        std::min(fits, fits_by_mixed_devices(*mixed, usable_devices(cluster, n, constraint, request), request, held));
  } else if (request.count > 0) {
    const std::int64_t devices = std::max(cluster.devices()[n.row()] - held.devices, 0);
    const std::int64_t memory = cluster.facts(n).devices.memory_each.value;  // 0 = not known, not checked
    const bool has_memory = memory == 0 || request.memory_each.value <= memory;
    if (request.is_whole())
      fits = std::min(fits, has_memory ? devices / request.count : 0);
    else
      fits = std::min(fits, request.milli_each.value <= 0
                                ? 0
                                : devices * shares_in_device(request, kWholeDevice, memory, memory != 0));
  }
  if (fits <= 0) return 0;  // most nodes that are refused lack devices
  for (const ResourceAmount& a : demand.amounts) {
    const std::int64_t total =
        a.resource.row() < cluster.resource_count() ? cluster.allocatable(a.resource)[n.row()] : 0;
    fits = std::min(fits, (total - held.of(a.resource.row())) / a.amount);
  }
  const auto is_held = [&](const HostPort& p) {
    return std::any_of(held.ports.begin(), held.ports.end(), [&](const HostPort& h) { return h.clashes(p); });
  };
  if (!demand.ports.empty())
    fits = std::any_of(demand.ports.begin(), demand.ports.end(), is_held) ? 0 : std::min<std::int64_t>(fits, 1);
  if (takes_one_of_its_like(constraint, cluster.facts(n))) fits = std::min<std::int64_t>(fits, 1);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(fits, 0));
}

EmptyFits::Kind& EmptyFits::kind(DemandId demand, ConstraintId constraint) {
  const Cluster& cluster = state_.cluster();
  Open& open = open_.try_emplace(constraint, cluster.rows(), kUnknown).first->second;
  return kinds_
      .try_emplace({demand, constraint}, state_.demand(demand), cluster.constraint(constraint), open, cluster.rows())
      .first->second;
}

bool EmptyFits::is_open(Kind& kind, NodeId n) const {
  std::int8_t& is_open = kind.is_open_[n.row()];
  const Cluster& cluster = state_.cluster();
  if (is_open == kUnknown)
    is_open = cluster.is_live(n) && is_meant_for(kind.constraint_, cluster.facts(n), cluster.context()) ? 1 : 0;
  return is_open == 1;
}

std::uint64_t EmptyFits::on(Kind& kind, NodeId n) const {
  std::int32_t& fits = kind.fits_[n.row()];
  if (fits == kUnknown)
    fits = is_open(kind, n) ? static_cast<std::int32_t>(
                                  fits_when_empty(state_.cluster(), kind.demand_, kind.constraint_, n, held_on(n)))
                            : 0;
  return static_cast<std::uint64_t>(fits);
}

const HeldOfNode& EmptyFits::held_on(NodeId n) const {
  static const HeldOfNode kNothing;
  const auto it = held_.find(n);
  return it == held_.end() ? kNothing : it->second;
}

}  // namespace ashlar
