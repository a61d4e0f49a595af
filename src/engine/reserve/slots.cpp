#include "engine/reserve/slots.h"

#include <numeric>

#include "base/grown.h"
#include "engine/place/choice.h"
#include "engine/place/nomination.h"
#include "state/holds/kept.h"

namespace ashlar {

namespace {

/// Adds the classes of one more member; none named: any will do.
void accept(SlotKind& kind, const std::vector<DeviceClassId>& classes, bool is_first) {
  if (is_first) {
    kind.classes = classes;
  } else if (classes.empty() || kind.classes.empty()) {
    kind.classes.clear();
  } else {
    kind.classes.insert(kind.classes.end(), classes.begin(), classes.end());
  }
  std::ranges::sort(kind.classes);
  kind.classes.erase(std::unique(kind.classes.begin(), kind.classes.end()), kind.classes.end());
}

/// Devices that nobody has and yet are not idle: those that the job may perhaps use.
std::int64_t given_devices(const State& state, JobId job) {
  std::int64_t devices = 0;
  for (const MemberId m : outranked_nominations(state, job))
    devices += state.demand(state.member(m).demand).devices.count;
  for (const HeldPlace& place : state.yielding()) {
    const Member& m = state.member(place.member);
    const Hold& hold = *state.hold_of(m.job);
    if (hold.is_later() || may_use(state, job, hold)) devices += state.demand(m.demand).devices.count;
  }
  return devices;
}

bool accepts(const SlotKind& kind, DeviceClassId device_class) {
  return kind.classes.empty() || std::ranges::binary_search(kind.classes, device_class);
}

}  // namespace

namespace {

void add_member(const State& state, const Member& m, SlotRequest& largest, SlotRequest& all) {
  const DeviceRequest& request = state.demand(m.demand).devices;
  if (!request.is_whole() || request.count == 0) return;
  const std::vector<DeviceClassId>& classes = state.cluster().constraint(m.constraint).models;
  accept(all.kind, classes, all.count == 0);
  all.count += request.count;
  if (request.count < largest.kind.devices) return;
  const bool is_larger = request.count > largest.kind.devices;
  accept(largest.kind, classes, is_larger);
  largest.kind.devices = request.count;
  largest.count = is_larger ? 1 : largest.count + 1;
}

/// Of those of whom some start, whichever: no choice of them takes less than as many of the smallest, on devices that
/// any of them accepts.
void add_smallest(const State& state, JobId job, SlotRequest& largest, SlotRequest& all) {
  std::vector<std::int32_t> devices;
  state.each_waiting(job, [&](MemberId, const Member& m) {
    const DeviceRequest& request = state.demand(m.demand).devices;
    const bool is_whole = request.is_whole() && request.count > 0;
    devices.push_back(is_whole ? request.count : 0);
    if (is_whole) accept(all.kind, state.cluster().constraint(m.constraint).models, all.count++ == 0);
    return true;
  });
  std::ranges::sort(devices);
  devices.resize(state.job(job).members_needed());
  all.count = std::accumulate(devices.begin(), devices.end(), std::int64_t{0});
  largest.kind = all.kind;
  largest.kind.devices = devices.back();
  largest.count = devices.back() == 0 ? 0 : std::ranges::count(devices, devices.back());
}

}  // namespace

NeededSlots needed_slots(const State& state, JobId job) {
  NeededSlots needed;
  auto& [largest, all] = needed;
  largest.kind.devices = 0;
  if (has_choice(state, job))
    add_smallest(state, job, largest, all);
  else
    state.each_needed(job, [&](MemberId, const Member& m) { add_member(state, m, largest, all); });
  if (!state.yielding().empty() || !state.nominations().empty()) {
    largest.count = 0;
    all.count -= given_devices(state, job);
  }
  if (largest.count * largest.kind.devices >= all.count) all.count = 0;
  if (state.job(job).members_placed > 0) largest.lasting = all.lasting = job;
  const LevelId within = state.job(job).within;
  if (!within.is_none() && within.row() < state.cluster().topology().level_count()) {
    largest.within = all.within = within;
    if (state.job(job).members_placed > 0) largest.joined = all.joined = state.anchor(job, within);
  }
  return needed;
}

DeviceMask devices_for(const NodeColumns& nodes, NodeId node, const SlotKind& kind) {
  if (!nodes.is_live(node) || !nodes.facts(node).is_ready) return {};
  const DeviceLayout* mixed = kind.classes.empty() ? nullptr : nodes.mixed_layout(node);
  if (mixed == nullptr) return accepts(kind, nodes.models()[node.row()]) ? DeviceMask::unknown() : DeviceMask{};
  DeviceMask devices;
  for (std::size_t i = 0; i < mixed->devices.size(); ++i)
    devices.set(static_cast<int>(i), accepts(kind, mixed->devices[i].device_class));
  return devices;
}

std::int32_t idle_among(const NodeColumns& nodes, NodeId node, const DeviceMask& devices) {
  if (devices == DeviceMask::unknown()) return nodes.idle_devices()[node.row()];
  std::int32_t idle = 0;  // of what the node owes nobody knows the class
  const auto milli = nodes.device_free_milli(node);
  devices.each([&](int i) { idle += milli[static_cast<std::size_t>(i)] == kWholeDevice ? 1 : 0; });
  return idle;
}

bool are_open_now(const Cluster& cluster, const SlotRequest& request) {
  const auto idle = cluster.idle_devices();
  const std::int32_t devices = request.kind.devices;
  std::vector<std::int64_t> open;  // by domain
  for (std::size_t row = 0; row < idle.size(); ++row) {
    if (idle[row] < devices) continue;
    const NodeId node(row);
    std::size_t domain = 0;
    if (!request.within.is_none()) {
      const DomainId of = cluster.topology().domain_of(request.within, node);
      if (of.is_none() || (!request.joined.is_none() && of != request.joined)) continue;
      domain = of.row();
    }
    std::int64_t& of_domain = grown(open, domain);
    of_domain += std::max(idle_among(cluster, node, devices_for(cluster, node, request.kind)), 0) / devices;
    if (of_domain >= request.count) return true;
  }
  return false;
}

}  // namespace ashlar
