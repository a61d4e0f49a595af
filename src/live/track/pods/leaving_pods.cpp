#include "live/track/pods/leaving_pods.h"

#include <algorithm>
#include <map>

#include "live/track/gangs/membership.h"
#include "live/track/pods/bindings.h"
#include "live/track/pods/bound_pods.h"
#include "live/track/pods/jobs.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// Another may be stopped instead, before the same is tried again; each time for twice as long, up to eight minutes.
constexpr std::int64_t kKept = 30'000;
constexpr int kDoublingsMax = 4;

bool keeps_others_away(const PodRecord& r) { return r.rules && !r.rules->required_anti_affinity.empty(); }

/// Of the job in the engine, in the order of the gang.
std::vector<PodSlot> pods_of(const TrackerData& t, const Evict& evict) {
  if (!evict.member.is_none()) return {t.pods.of_member(evict.member)};
  const JobOwner owner = t.owner(evict.job);
  if (owner.gang == kNoGang) return owner.pod == kNoPod ? std::vector<PodSlot>{} : std::vector<PodSlot>{owner.pod};
  std::vector<PodSlot> pods = t.gangs[owner.gang].pods;
  std::erase_if(pods, [&](PodSlot s) { return t.pods[s].job != evict.job; });
  return pods;
}

/// It leaves the engine and comes back as a new job, or with its gang.
void wait_as_new(TrackerData& t, PodSlot slot) {
  if (t.pods[slot].phase == Phase::kAssumed) note_rejected(t, slot);
  withdraw_pod(t, slot);
  if (t.pods[slot].gang == kNoGang && t.pods[slot].phase == Phase::kWaiting) submit_single(t, slot);
}

}  // namespace

std::vector<PodSlot> stop_pods(TrackerData& t, const Evict& evict, const std::string& words) {
  t.out.stamp();
  std::vector<PodSlot> leaving;
  for (const PodSlot slot : pods_of(t, evict)) {
    const PodRecord& r = t.pods[slot];
    if (r.phase == Phase::kBound || (r.phase == Phase::kAssumed && r.is_bind_under_way)) {
      note_leaving(t, slot, t.out.now());
      t.pods.edit(slot).bind_wait = PooledString(words);
      leaving.push_back(slot);
    } else {
      wait_as_new(t, slot);
    }
  }
  return leaving;
}

void note_leaving(TrackerData& t, PodSlot slot, Millis leaves_by) {
  const PooledString node =
      t.pods[slot].phase == Phase::kAssumed ? t.names.nodes.name(t.pods[slot].node) : t.pods[slot].node_name;
  leave_node(t, slot);
  withdraw_pod(t, slot);
  PodRecord& r = t.pods.edit(slot);
  r.phase = Phase::kLeaving;
  r.hold = HoldReason::kNone;
  r.bind_wait = PooledString();
  r.node_name = node;
  if (!r.is_leaving) r.leaves_by = leaves_by;
  t.leaving[node].push_back(slot);
  if (r.gang != kNoGang) touch_gang(t, r.gang);
}

void end_leaving(TrackerData& t, PodSlot slot) {
  const auto of_node = t.leaving.find(t.pods[slot].node_name);
  if (of_node == t.leaving.end() || std::erase(of_node->second, slot) == 0) return;
  if (of_node->second.empty()) t.leaving.erase(of_node);
  t.pods.edit(slot).phase = Phase::kHeld;
  if (t.listeners.on_left) t.listeners.on_left();
}

void stay(TrackerData& t, PodSlot slot) {
  if (t.pods[slot].phase != Phase::kLeaving) return;
  end_leaving(t, slot);
  PodRecord& r = t.pods.edit(slot);
  r.leaves_by = t.out.now() + Millis(kKept << std::min<int>(r.times_kept, kDoublingsMax));
  r.times_kept = static_cast<std::uint8_t>(std::min(r.times_kept + 1, 255));
  if (r.placed.value == 0) r.placed = t.out.now();
  note_bound(t, slot, r.node_name, PodDevices(r.devices, r.grants));
}

bool awaits_departure(const TrackerData& t, PodSlot slot, const State& state) {
  const PodRecord& r = t.pods[slot];
  if (t.leaving.empty() || r.node.is_none()) return false;
  const auto leaving = t.leaving.find(t.names.nodes.name(r.node));
  if (leaving == t.leaving.end()) return false;
  std::map<ResourceId, std::int64_t> still_taken;
  for (const PodSlot s : leaving->second) {
    const PodRecord& other = t.pods[s];
    if (other.demand.is_none()) return true;
    const Demand& demand = t.translator.demand_of(other.demand);
    const bool are_devices_unknown = demand.devices.count > 0 && other.devices.is_empty() && !r.devices.is_empty();
    const bool has_one_of_its = ((other.devices.low & r.devices.low) | (other.devices.high & r.devices.high)) != 0;
    if (keeps_others_away(r) || keeps_others_away(other)) return true;
    if (other.volumes || !demand.ports.empty() || are_devices_unknown || has_one_of_its) return true;
    for (const ResourceAmount& a : demand.amounts) still_taken[a.resource] += a.amount;
  }
  return std::ranges::any_of(t.translator.demand_of(r.demand).amounts, [&](const ResourceAmount& a) {
    const auto taken = still_taken.find(a.resource);
    return a.amount > 0 && taken != still_taken.end() && state.cluster().free(a.resource)[r.node.row()] < taken->second;
  });
}

}  // namespace ashlar::kube
