#include "engine/reserve/reservation.h"

#include <algorithm>
#include <utility>

#include "engine/place/class_quota.h"
#include "engine/place/lifted_holds.h"
#include "engine/quota.h"
#include "engine/reserve/quota_taken.h"
#include "policy/node/device_fit.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

using Room = Reservation::Room;
using Spare = Reservation::Spare;
using Claims = ClaimsOfOthers;

/// There is no limit, so nothing is taken from it.
bool is_plenty(std::int64_t amount) { return amount >= Reservation::kPlenty / 2; }

/// A member is added (or removed, with sign -1) with these devices; any more that it requests is owed to it.
void take(Room& room, const Demand& demand, const DeviceMask& given, int sign = 1) {
  for (const ResourceAmount& a : demand.amounts)
    if (a.resource.row() < room.amounts.size() && !is_plenty(room.amounts[a.resource.row()]))
      room.amounts[a.resource.row()] -= sign * a.amount;
  given.each([&](int i) {
    if (static_cast<std::size_t>(i) < room.devices.size())
      take_device(room.devices[static_cast<std::size_t>(i)], demand.devices, sign);
  });
  room.owed += sign * (demand.devices.count - given.count());
}

/// What holds that the reserved job may not use yield to these placements is not taken from it, if they last beyond the
/// reserved time.
void give_yielded(Room& room, const State& state, const Reservation& reserved, NodeId node,
                  std::span<const Trial::Step> placed) {
  if (state.yielding_on(node).empty()) return;
  const HoldUser user{reserved.entry.job, reserved.lasts};
  for (const Allocation& a : kept_from(state, user, reserved.at, node, placed)) take(room, a.demand, a.devices, -1);
  for (const Allocation& a : kept_from(state, user, reserved.at, node)) take(room, a.demand, a.devices);
}

/// What is left of an amount beside the claims; kPlenty or thereabouts if the reservation's job does not request it.
std::int64_t left_of(const Room& room, const Claims& claims, std::size_t resource) {
  std::int64_t left = room.amounts[resource];
  if (!is_plenty(left))
    claims.each([&](const Reservation::Claim& claim) { left -= amount_of(claim.demand, ResourceId(resource)); });
  return left;
}

/// Whether the claims fit into what the node has.
bool holds_claims(const NodeColumns& nodes, NodeId node, const Room& room, const Claims& claims) {
  for (std::size_t r = 0; r < room.amounts.size(); ++r)
    if (left_of(room, claims, r) < 0) return false;
  return keeps_all_devices(nodes, node, room) || seat_claims(nodes, node, room, claims).fits;
}

std::vector<ResourceId> resources_requested(const State& state, JobId job, bool& requests_devices) {
  std::vector<ResourceId> asked;
  state.each_member(job, [&](MemberId, const Member& m) {
    const Demand& demand = state.demand(m.demand);
    requests_devices = requests_devices || demand.devices.count > 0;
    for (const ResourceAmount& a : demand.amounts)
      if (std::find(asked.begin(), asked.end(), a.resource) == asked.end()) asked.push_back(a.resource);
  });
  return asked;
}

bool has_clash(const Claims& claims, const Demand& demand) {
  bool is_so = false;
  claims.each([&](const Reservation::Claim& claim) {
    const std::vector<HostPort>& claimed = claim.demand.ports;
    is_so =
        is_so || std::any_of(claimed.begin(), claimed.end(), [&](const HostPort& p) {
          return std::any_of(demand.ports.begin(), demand.ports.end(), [&](const HostPort& q) { return p.clashes(q); });
        });
  });
  return is_so;
}

/// Takes from the device, in the trial, all that is free beyond this amount.
void block_device(Trial& trial, NodeId node, int device, DeviceRoom leave) {
  const Cluster& cluster = trial.state().cluster();
  const auto i = static_cast<std::size_t>(device);
  const std::int32_t milli = std::max(cluster.device_free_milli(node)[i] - std::max(leave.milli, 0), 0);
  const std::int64_t mib =
      std::max<std::int64_t>(cluster.device_free_mib(node)[i] - std::max<std::int64_t>(leave.mib, 0), 0);
  if (milli == 0 && mib == 0) return;
  DeviceMask mask;
  mask.set(device);
  trial.block(node, Demand{{}, {1, MilliGpu(milli), MiB(mib)}, {}}, mask);
}

/// The kinds of a job's waiting members that request devices, each once.
class WaitingKinds {
 public:
  WaitingKinds(const State& state, JobId job) : state_(state) {
    state.each_member(job, [&](MemberId, const Member& m) {
      if (m.is_placed() || state.demand(m.demand).devices.count == 0) return;
      if (kinds_.empty() || kinds_.back() != std::pair(m.demand, m.constraint))
        kinds_.emplace_back(m.demand, m.constraint);
    });
    std::sort(kinds_.begin(), kinds_.end());
    kinds_.erase(std::unique(kinds_.begin(), kinds_.end()), kinds_.end());
  }
  bool have_whole() const {
    return std::any_of(kinds_.begin(), kinds_.end(),
                       [&](const auto& kind) { return state_.demand(kind.first).devices.is_whole(); });
  }
  /// The devices of the node that any of them may take.
  DeviceMask usable_on(NodeId node) const {
    if (state_.cluster().mixed_layout(node) == nullptr) return DeviceMask::unknown();
    DeviceMask usable;
    for (const auto& [demand, constraint] : kinds_)
      usable = usable | usable_devices(state_.cluster(), node, state_.cluster().constraint(constraint),
                                       state_.demand(demand).devices);
    return usable;
  }

 private:
  const State& state_;
  std::vector<std::pair<DemandId, ConstraintId>> kinds_;
};

/// Of the devices that will be idle, keeps as many as the whole requests need, first those of least use to the other
/// job: for whole devices those in use now, for shares those idle now.
void block_whole(Trial& trial, const Spare& spare, const Seating& seating, const WaitingKinds& others) {
  const Cluster& cluster = trial.state().cluster();
  const DeviceMemories memories = cluster.device_memories(spare.node);
  const auto milli = cluster.device_free_milli(spare.node);
  const auto mib = cluster.device_free_mib(spare.node);
  const IdleByKind::Counts needed = seating.idle.needed_sparing(others.usable_on(spare.node));
  const bool are_whole = others.have_whole();
  // What the node owes already is kept from the other job anyway.
  std::int64_t owed_now = -cluster.idle_devices()[spare.node.row()];
  for (std::size_t i = 0; i < milli.size(); ++i) owed_now += is_idle({milli[i], mib[i]}, memories[i]) ? 1 : 0;
  const std::int64_t owed_then = std::max<std::int64_t>(spare.room.owed - std::max<std::int64_t>(owed_now, 0), 0);
  std::vector<std::pair<int, std::size_t>> kept;  // use to the other, device
  for (std::size_t kind = 0; kind < seating.idle.kinds(); ++kind) {
    const std::size_t before = kept.size();
    for (std::size_t i = 0; i < spare.room.devices.size() && i < milli.size(); ++i) {
      const auto is_here = [&](const auto& share) { return share.first == static_cast<int>(i); };
      if (!is_idle(spare.room.devices[i], memories[i]) || !seating.idle.is_of(kind, static_cast<int>(i)) ||
          std::any_of(seating.shares.begin(), seating.shares.end(), is_here))
        continue;
      const bool is_idle_now = is_idle({milli[i], mib[i]}, memories[i]);
      kept.push_back({milli[i] <= 0 ? 0 : is_idle_now == are_whole ? 2 : 1, i});
    }
    std::sort(kept.begin() + static_cast<std::ptrdiff_t>(before), kept.end());
    const std::int64_t count = std::max<std::int64_t>(needed[kind] + owed_then, 0);
    kept.resize(std::min(kept.size(), before + static_cast<std::size_t>(count)));
  }
  Demand whole;
  DeviceMask idle_now;
  for (const auto& [use, device] : kept) {
    if (use == 0) continue;
    if (milli[device] != kWholeDevice) {
      block_device(trial, spare.node, static_cast<int>(device), {});
      continue;
    }
    idle_now.set(static_cast<int>(device));
    ++whole.devices.count;
  }
  if (whole.devices.count > 0) trial.block(spare.node, std::move(whole), idle_now);
}

/// The classes of which the reservation leaves less than one of the job's waiting members needs.
std::vector<DeviceClassId> scarce_classes(const State& state, const Reservation& reservation, JobId job) {
  std::vector<DeviceClassId> scarce;
  const auto keys = state.queues().keys();
  if (keys.empty()) return scarce;
  for (const Reservation::QuotaSpare& spare : reservation.quota_spares) {
    if (!state.queues().is_within(state.job(job).queue, spare.queue)) continue;
    for (std::size_t k = 0; k < spare.left_by_key.size(); ++k)
      state.each_member(job, [&](MemberId, const Member& m) {
        const std::int64_t amount = keys[k].device_class.is_none() ? 0 : amount_of(state.demand(m.demand), keys[k]);
        if (!m.is_placed() && !has_by_key(state, reservation, spare, k, {job, state.job(job).queue, amount}))
          scarce.push_back(keys[k].device_class);
      });
  }
  return scarce;
}

}  // namespace

ReservedClaim claim_of(const State& state, MemberId member, NodeId node) {
  const Member& m = state.member(member);
  const Demand& demand = state.demand(m.demand);
  const Constraint& constraint = state.cluster().constraint(m.constraint);
  return {m.job, demand, usable_devices(state.cluster(), node, constraint, demand.devices)};
}

bool Reservation::is_due(const State& state, Millis now) const {
  const bool is_of_age_now = at == Millis::max() && made_at < holds_from && holds_from <= now;
  return queue_changes_seen != state.queues().change_count() || is_of_age_now ||
         (has_news(state, now) && now - made_at >= kRenewedAfter);
}

Millis Reservation::next_look(const State& state, Millis now) const {
  if (has_news(state, now)) return made_at + kRenewedAfter;
  return is_draining ? Millis::max() : at;
}

Millis Reservation::reserved_at(Millis now) const {
  if (is_draining) return Millis::max();
  return at > now ? at : made_at + kRenewedAfter;
}

bool Reservation::allows(const State& state, std::span<const Trial::Step> steps, Beside beside) const {
  const QuotaTaken taken = quota_taken(state, steps);
  if (!has_quota_for(state, *this, taken)) return false;
  std::vector<std::pair<const Spare*, Room>> left;  // only of nodes that are touched
  for (const Trial::Step& step : steps) {
    const auto* placement = std::get_if<Trial::Placement>(&step);
    if (placement == nullptr) continue;
    const Spare* reserved = find(placement->node);
    if (reserved == nullptr) continue;
    const Demand& demand = state.demand(state.member(placement->member).demand);
    const Claims claims{reserved->claims, taken.job};
    if (has_clash(claims, demand)) return false;
    const bool is_apart = keeps_all_devices(state.cluster(), placement->node, reserved->room);
    if (is_apart && demand.devices.count > 0) return false;
    if (!is_apart && beside == Beside::kItsDevices)
      for (const auto& [device, request] : seat_claims(state.cluster(), placement->node, reserved->room, claims).shares)
        if (placement->devices.test(device)) return false;
    auto it = std::find_if(left.begin(), left.end(), [&](const auto& l) { return l.first == reserved; });
    if (it == left.end()) it = left.insert(left.end(), {reserved, reserved->room});
    take(it->second, demand, placement->devices);
  }
  for (auto& [spare, room] : left) give_yielded(room, state, *this, spare->node, steps);
  return std::all_of(left.begin(), left.end(), [&](const auto& l) {
    return holds_claims(state.cluster(), l.first->node, l.second, {l.first->claims, taken.job});
  });
}

namespace {

/// Members that fit into what is left of the amounts beside the claims.
std::int64_t fit_by_amounts(const Room& room, const Claims& claims, const Demand& demand) {
  std::int64_t fit = kFitsMax;
  for (const ResourceAmount& a : demand.amounts)
    if (a.resource.row() < room.amounts.size())
      fit = std::min(fit, std::max<std::int64_t>(left_of(room, claims, a.resource.row()), 0) / a.amount);
  return fit;
}

/// What is free on one device, now or at the reserved time.
DeviceRoom room_now(const NodeColumns& nodes, NodeId node, std::size_t device) {
  return {nodes.device_free_milli(node)[device], nodes.device_free_mib(node)[device]};
}

/// The same by devices. Shares that are claimed are left out, so a share may be counted where there is none. A device
/// that was to be in use at the reserved time, and is free now since something ended early, is none of those that the
/// claims take.
std::int64_t fit_by_devices(const NodeView& view, const Spare& spare, const Claims& claims) {
  const DeviceRequest& request = view.demand.devices;
  if (spare.room.devices.empty() || request.count == 0) return kFitsMax;
  const DeviceMask usable = usable_devices(view.nodes, spare.node, view.constraint, request);
  const DeviceMemories memories = view.nodes.device_memories(spare.node);
  IdleByKind idle(view.nodes, spare.node, spare.room);
  claims.each([&](const Reservation::Claim& claim) {
    const DeviceRequest& claimed = claim.demand.devices;
    if (claimed.count > 0 && claimed.is_whole()) idle.need(claim.usable, claimed.count);
  });
  std::int64_t freed = 0, shares = 0, of_one = 0;
  for (std::size_t i = 0; i < spare.room.devices.size(); ++i) {
    if (!usable.test(static_cast<int>(i))) continue;
    const auto shares_in = [&](const DeviceRoom& room) {
      return std::int64_t{shares_in_device(request, room.milli, room.mib, memories[i] > 0)};
    };
    of_one = std::max(of_one, shares_in({kWholeDevice, memories[i]}));
    if (is_idle(spare.room.devices[i], memories[i])) continue;
    const DeviceRoom now = room_now(view.nodes, spare.node, i);
    if (request.is_whole())
      freed += is_idle(now, memories[i]) ? 1 : 0;
    else
      shares += std::max(shares_in(spare.room.devices[i]), shares_in(now));
  }
  const std::int64_t left = std::max<std::int64_t>(idle.spare(usable), 0);
  return request.is_whole() ? (left + freed) / request.count : shares + left * of_one;
}

}  // namespace

void Reservation::lower_by_claims(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits) const {
  auto spare = std::lower_bound(spares.begin(), spares.end(), NodeId(rows.first),
                                [](const Spare& s, NodeId n) { return s.node < n; });
  for (; spare != spares.end() && spare->node.row() < rows.first + rows.count; ++spare) {
    std::uint16_t& fit = fits[spare->node.row() - rows.first];
    if (fit == 0) continue;
    const Claims claims{spare->claims, JobId::none()};
    std::int64_t least = has_clash(claims, view.demand) ? 0 : fit_by_amounts(spare->room, claims, view.demand);
    if (keeps_all_devices(view.nodes, spare->node, spare->room))
      least = view.demand.devices.count > 0 ? 0 : least;
    else if (least > 0)
      least = std::min(least, fit_by_devices(view, *spare, claims));
    fit = static_cast<std::uint16_t>(std::min<std::int64_t>(fit, least));
  }
}

bool Reservation::spares_quota_for(const State& state, JobId job) const {
  return quota_spares.empty() || has_quota_for(state, *this, {job, state.job(job).queue, quota_needed(state, job)});
}

void Reservation::block(Trial& trial, JobId from, Beside beside) const {
  const Cluster& cluster = trial.state().cluster();
  const WaitingKinds others(trial.state(), from);
  close_classes(trial, from, scarce_classes(trial.state(), *this, from));
  for (const Spare& spare : spares) {
    const Claims claims{spare.claims, from};
    Demand kept;
    for (std::size_t r = 0; r < spare.room.amounts.size() && r < cluster.resource_count(); ++r) {
      const std::int64_t left = left_of(spare.room, claims, r);
      const std::int64_t over = cluster.free(ResourceId(r))[spare.node.row()] - std::max<std::int64_t>(left, 0);
      if (over > 0) kept.amounts.push_back({ResourceId(r), over});
    }
    claims.each([&](const Claim& claim) {
      kept.ports.insert(kept.ports.end(), claim.demand.ports.begin(), claim.demand.ports.end());
    });
    if (!kept.amounts.empty() || !kept.ports.empty()) trial.block(spare.node, std::move(kept), {});
    if (spare.room.devices.empty() || cluster.free_milli()[spare.node.row()] <= 0) continue;
    if (keeps_all_devices(cluster, spare.node, spare.room)) {
      for (std::size_t i = 0; i < cluster.device_free_milli(spare.node).size(); ++i)
        block_device(trial, spare.node, static_cast<int>(i), {});
      continue;
    }
    const Seating seating = seat_claims(cluster, spare.node, spare.room, claims);
    if (!seating.shares.empty()) {
      std::vector<DeviceRoom> left = spare.room.devices;  // beside the shares
      for (const auto& [device, request] : seating.shares)
        take_device(left[static_cast<std::size_t>(device)], *request);
      for (const auto& [device, request] : seating.shares)
        block_device(trial, spare.node, device,
                     beside == Beside::kItsDevices ? DeviceRoom{} : left[static_cast<std::size_t>(device)]);
    }
    block_whole(trial, spare, seating, others);
  }
}

void Reservation::charge(const State& state, std::span<const Trial::Step> steps) {
  charge_quota(state, *this, quota_taken(state, steps));
  each_placement(steps, [&](const Trial::Placement& step) {
    if (Spare* spare = find(step.node)) take(spare->room, state.demand(state.member(step.member).demand), step.devices);
  });
  if (state.yielding().empty()) return;
  for (Spare& spare : spares) give_yielded(spare.room, state, *this, spare.node, steps);
}

bool Reservation::has_shares() const {
  return std::any_of(spares.begin(), spares.end(), [](const Spare& spare) {
    return !spare.room.devices.empty() && std::any_of(spare.claims.begin(), spare.claims.end(), [](const Claim& c) {
      return c.demand.devices.count > 0 && !c.demand.devices.is_whole();
    });
  });
}

void Reservation::note_spares(const State& state, std::span<const Trial::Step> steps) {
  bool requests_devices = false;
  const std::vector<ResourceId> asked = resources_requested(state, entry.job, requests_devices);
  const Cluster& cluster = state.cluster();
  std::size_t columns = 0;
  for (const ResourceId r : asked)
    if (r.row() < cluster.resource_count()) columns = std::max(columns, r.row() + 1);
  spares.reserve(places.size());
  for (const Reservation::Place& place : places) spares.push_back({place.node, {}, {}});
  std::sort(spares.begin(), spares.end(), [](const Spare& a, const Spare& b) { return a.node < b.node; });
  spares.erase(
      std::unique(spares.begin(), spares.end(), [](const Spare& a, const Spare& b) { return a.node == b.node; }),
      spares.end());
  for (Spare& spare : spares) {
    if (requests_devices) {
      const auto milli = cluster.device_free_milli(spare.node);
      const auto mib = cluster.device_free_mib(spare.node);
      const DeviceMemories full_mib = cluster.device_memories(spare.node);
      std::int64_t idle = 0;
      spare.room.devices.reserve(milli.size());
      for (std::size_t i = 0; i < milli.size(); ++i) {
        spare.room.devices.push_back({milli[i], mib[i]});
        idle += is_idle(spare.room.devices.back(), full_mib[i]) ? 1 : 0;
      }
      spare.room.owed = idle - cluster.idle_devices()[spare.node.row()];
    }
    spare.room.amounts.reserve(columns);
    for (const ResourceId r : asked) {
      if (r.row() >= cluster.resource_count()) continue;
      if (spare.room.amounts.size() <= r.row()) spare.room.amounts.resize(r.row() + 1, Reservation::kPlenty);
      spare.room.amounts[r.row()] = cluster.free(r)[spare.node.row()];
    }
  }
  each_placement(steps, [&](const Trial::Placement& step) {
    Spare* spare = find(step.node);
    if (spare == nullptr) return;
    const Member& m = state.member(step.member);
    const Demand& demand = state.demand(m.demand);
    take(spare->room, demand, step.devices, -1);
    spare->claims.push_back(claim_of(state, step.member, step.node));
  });
  if (state.yielding().empty()) return;
  for (Spare& spare : spares)  // what is held for the job is room for it
    for (const Allocation& a : kept_for(state, {entry.job, lasts}, spare.node))
      take(spare.room, a.demand, a.devices, -1);
}

void Reservation::note_quota_spares(const State& state) {
  QueueId queue = job_class.queue;
  if (queue.row() >= state.queues().rows()) return;
  for (; !queue.is_none(); queue = state.queues().parent(queue)) {
    QuotaSpare spare{.queue = queue};
    bool has_limit = false;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
      const std::int64_t limit = state.queues().quota(queue)[d];
      spare.left[d] = limit == kUnlimited ? kPlenty : limit - state.queues().counted(d, queue);
      has_limit = has_limit || limit != kUnlimited;
    }
    for (std::size_t k = 0; k < state.queues().keys().size(); ++k) {
      const std::int64_t limit = state.queues().limit(k, queue);
      spare.left_by_key.push_back(limit == kUnlimited ? kPlenty : limit - state.queues().counted_by_key(k, queue));
      has_limit = has_limit || limit != kUnlimited;
    }
    if (has_limit) quota_spares.push_back(spare);
  }
  quota_kept.clear();
  for (const QueueShares::Column& column : state.queues().shares().columns())
    for (std::size_t row = 0; column.keeps_any && row < state.queues().rows(); ++row)
      if (const std::int64_t idle = QueueShares::idle(column, QueueId(row)); idle > 0)
        quota_kept.push_back({QueueId(row), quota_number(column.of), idle});
}

bool Reservation::has_places_of(std::span<const Trial::Step> steps) const {
  std::vector<std::pair<MemberId, NodeId>> taken;
  taken.reserve(steps.size());
  each_placement(steps, [&](const Trial::Placement& step) { taken.emplace_back(step.member, step.node); });
  std::ranges::sort(taken);
  return std::ranges::all_of(places, [&](const Place& place) {
    return std::ranges::binary_search(taken, std::pair(place.member, place.node));
  });
}

const Spare* Reservation::find(NodeId node) const {
  const auto it =
      std::lower_bound(spares.begin(), spares.end(), node, [](const Spare& s, NodeId n) { return s.node < n; });
  return it == spares.end() || it->node != node ? nullptr : &*it;
}

Spare* Reservation::find(NodeId node) { return const_cast<Spare*>(std::as_const(*this).find(node)); }

}  // namespace ashlar
