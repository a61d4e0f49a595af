#include "live/track/gangs/settle.h"

#include <algorithm>

#include "live/track/gangs/gang_hold.h"
#include "live/track/gangs/membership.h"
#include "live/track/nodes/levels.h"
#include "live/track/pods/bound_pods.h"
#include "live/track/pods/jobs.h"
#include "live/track/pods/requests.h"

#include "live/track/hold_text.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// Size, domains and duration from the settings of existing pods; those of deleted pods no longer count. The size of a
/// started gang is taken from its started members.
void sum_up_gang_settings(TrackerData& t, GangRecord& g, bool has_begun) {
  std::uint32_t size = 1;
  Estimate estimate;
  const PodRecord* within_by = nullptr;
  const PodRecord* prefer_by = nullptr;
  const auto is_first = [](const PodRecord& r, const PodRecord* than) {
    return than == nullptr || is_name_before(r.name, than->name);
  };
  for (const PodSlot s : g.pods) {
    const PodRecord& r = t.pods[s];
    if (!has_begun || r.phase == Phase::kBound || r.phase == Phase::kAssumed) size = std::max(size, r.gang_size);
    if (!r.within.empty() && is_first(r, within_by)) within_by = &r;
    if (!r.prefer.empty() && is_first(r, prefer_by)) prefer_by = &r;
    if (r.phase != Phase::kHeld && r.phase != Phase::kOnUnknownNode && r.estimate.is_known())
      estimate = !estimate.is_known()
                     ? r.estimate
                     : Estimate{std::max(estimate.p50, r.estimate.p50), std::max(estimate.p90, r.estimate.p90)};
  }
  if (!g.is_pod_group) g.size = size;
  g.within_setting = within_by == nullptr ? PooledString() : within_by->within;
  g.prefer_setting = prefer_by == nullptr ? PooledString() : prefer_by->prefer;
  take_levels(t, g);
  if (has_begun || estimate == g.estimate) return;
  g.estimate = estimate;
  if (!g.job.is_none()) t.out.add(EstimateChanged{g.job, estimate});
}

/// What its pods determine about the gang: queue, priority. A started gang stays in the queue that its members are
/// charged to.
void sum_up_gang(TrackerData& t, GangRecord& g, bool has_begun) {
  QueueId queue;
  g.has_mixed_queues = g.has_mixed_schedulers = g.has_quarantined = false;
  std::int32_t priority = INT32_MIN;
  for (const PodSlot s : g.pods) {
    const PodRecord& r = t.pods[s];
    g.has_mixed_schedulers = g.has_mixed_schedulers || r.scheduler != t.pods[g.pods.front()].scheduler;
    g.has_quarantined = g.has_quarantined || (r.phase == Phase::kHeld && r.hold == HoldReason::kQuarantined);
    if (r.phase == Phase::kHeld || r.phase == Phase::kOnUnknownNode) continue;
    priority = std::max(priority, r.priority);
    if (has_begun && r.phase == Phase::kWaiting) continue;
    if (queue.is_none()) queue = r.queue;
    g.has_mixed_queues = g.has_mixed_queues || (!has_begun && queue != r.queue);
  }
  const bool may_move = !has_begun || g.job.is_none();
  if (may_move && !queue.is_none() && !g.has_mixed_queues && queue != g.queue) {
    g.is_stale = true;
    g.queue = queue;
  }
  const auto of_class = t.classes.known.find(g.priority_class);
  const std::int32_t of_group = g.stated_priority                   ? *g.stated_priority
                                : of_class == t.classes.known.end() ? 0
                                                                    : of_class->second;
  if (of_group != 0) priority = of_group;
  if (priority == INT32_MIN || priority == g.priority) return;
  g.priority = priority;
  if (!g.job.is_none()) t.out.add(PriorityChanged{g.job, priority});
}

/// At once if the gang is complete and waits for other nodes or for another try, else when its grace period ends.
void report_if_held(TrackerData& t, GangSlot slot, HoldReason hold) {
  GangRecord& g = t.gangs.edit(slot);
  if (g.is_open) return;
  const bool is_clear = hold == HoldReason::kNoSuchDomain || hold == HoldReason::kBindFailed || g.bind_hold != 0;
  if (is_clear || t.out.now() >= g.first_seen + kGangPatience) return hold_members(t, slot);
  if (g.has_timer) return;
  g.has_timer = true;
  t.impatient.emplace_back(g.first_seen + kGangPatience, std::pair(g.ns, g.name));
  // first_seen is the time of joining: nearly sorted; keep the queue ascending for tick().
  for (std::size_t i = t.impatient.size(); i-- > 1 && t.impatient[i].first < t.impatient[i - 1].first;)
    std::swap(t.impatient[i], t.impatient[i - 1]);
}

/// Unbound members leave the engine; those bound or being bound stay.
void withdraw_waiting(TrackerData& t, GangSlot slot) {
  for (const PodSlot s : t.gangs[slot].pods)
    if (t.pods[s].phase == Phase::kWaiting) withdraw_pod(t, s);
}

/// How many must start together. If a started gang is short of pods, each one that comes back starts by itself and none
/// is surplus; the same holds for pods of a basic PodGroup.
std::uint32_t members_min_of(const TrackerData& t, const GangRecord& g) {
  if (g.is_pod_group && !g.is_gang) return 0;
  if (!g.is_started) return g.size;
  const auto bound =
      std::count_if(g.pods.begin(), g.pods.end(), [&](PodSlot s) { return t.pods[s].phase == Phase::kBound; });
  return static_cast<std::uint32_t>(bound) < g.size ? 0 : g.size;
}

/// The PodGroup's minCount may change while its pods wait. Reported only if it makes a difference to the engine.
void report_members_min(TrackerData& t, GangRecord& g, std::uint32_t bound) {
  const std::uint32_t minimum = members_min_of(t, g);
  const bool is_met_both_ways = minimum > 0 && g.told_min > 0 && minimum <= bound && g.told_min <= bound;
  if (g.job.is_none() || minimum == g.told_min || is_met_both_ways) return;
  g.told_min = minimum;
  t.out.add(MembersAdded{g.job, minimum, {}});
}

void submit_members(TrackerData& t, GangSlot slot) {
  GangRecord& g = t.gangs.edit(slot);
  std::vector<PodSlot> entering;
  Millis since;  // the latest of them
  for (const PodSlot s : g.pods) {
    const PodRecord& r = t.pods[s];
    since = std::max(since, eligible_since(t, r));
    if (r.is_in_engine()) continue;
    if (r.phase == Phase::kBound || (r.phase == Phase::kWaiting && g.is_open)) entering.push_back(s);
  }
  if (entering.empty()) return;
  sort_by_rank(t.pods, entering);
  std::vector<MemberSpec> members;
  members.reserve(entering.size());
  const bool is_new = g.job.is_none();
  if (is_new) g.job = add_job(t, {slot, kNoPod, g.within, g.prefer});
  for (const PodSlot s : entering) {
    PodRecord& r = t.pods.edit(s);
    t.pods.set_member(s, t.member_rows.add());
    r.job = g.job;
    if (r.constraint.is_none()) set_constraint(t, r, t.translator.anywhere());
    members.push_back({r.member, r.demand, r.constraint});
  }
  g.in_engine += static_cast<std::uint32_t>(entering.size());
  g.told_min = members_min_of(t, g);
  if (is_new) {
    if (g.submitted.value == 0) g.submitted = since;
    Workload w;
    w.job = g.job;
    w.queue = g.queue;
    w.priority = g.priority;
    w.members_min = g.told_min;
    w.within = g.within;
    w.prefer = g.prefer;
    w.submitted = g.submitted;
    w.estimate = g.estimate;
    w.members = std::move(members);
    t.out.add(Submitted{std::move(w)});
  } else {
    t.out.add(MembersAdded{g.job, g.told_min, std::move(members)});
  }
  for (const PodSlot s : entering)
    if (t.pods[s].phase == Phase::kBound) t.out.add(bound_as_held(t, t.pods[s]));
}

void evaluate_gang(TrackerData& t, GangSlot slot) {
  GangRecord& g = t.gangs.edit(slot);
  if (g.pods.empty()) {  // its pods' settings and state end with them
    g.is_open = g.is_started = false;
    g.submitted = Millis(0);
    g.estimate = Estimate{};
    g.bind_failures = 0;
    g.within_setting = g.prefer_setting = PooledString();
    take_levels(t, g);
    return remove_if_unused(t, slot);
  }
  std::uint32_t bound = 0, assumed = 0;
  for (const PodSlot s : g.pods) {
    bound += t.pods[s].phase == Phase::kBound ? 1 : 0;
    assumed += t.pods[s].phase == Phase::kAssumed ? 1 : 0;
  }
  // A PodGroup whose condition was set to True keeps it, but if all pods are new the gang has to start again.
  const bool has_begun = bound + assumed > 0;
  sum_up_gang_settings(t, g, has_begun);
  g.is_started = bound > 0 && (g.is_started || g.is_group_told || bound >= g.size);
  sum_up_gang(t, g, has_begun);
  g.hold_found = 0;
  g.hold = gang_hold(t, g);
  g.hold_found = t.levels_edition;
  const HoldReason hold = g.hold.reason;
  if (hold == HoldReason::kNone) {
    g.is_open = true;
  } else if (g.is_open && (hold != HoldReason::kMembersMissing || !has_begun)) {
    g.is_open = false;
    withdraw_waiting(t, slot);
  }
  if (((g.is_stale || has_other_levels(t, g)) && !has_begun) || g.bind_hold != 0) withdraw_waiting(t, slot);
  if (bound == g.pods.size()) g.bind_failures = 0;
  g.is_stale = false;
  if (g.is_started) g.submitted = Millis(0);
  submit_members(t, slot);
  report_members_min(t, g, bound);
  const bool is_to_tell = !g.group_uid.empty() && g.is_gang && bound >= g.size && !g.is_group_told;
  if (is_to_tell && t.listeners.on_group_condition_due) t.listeners.on_group_condition_due(slot);
  report_if_held(t, slot, hold);
}

}  // namespace

/// evaluate() changes no other gang and has seen its own changes: the mark is cleared afterwards.
void settle_gang(TrackerData& t, GangSlot slot) {
  if (!t.gangs[slot].is_used || !t.gangs[slot].is_dirty) return;
  evaluate_gang(t, slot);
  t.gangs.edit(slot).is_dirty = false;
}

void hold_members(TrackerData& t, GangSlot slot) {
  GangRecord& g = t.gangs.edit(slot);
  if (t.listeners.on_group_condition_due && g.is_pod_group && g.is_gang && !g.group_uid.empty())
    t.listeners.on_group_condition_due(slot);
  if (!t.listeners.on_condition_due) return;
  // One message for all; pods that already have it are not marked again at every change of another.
  const ConditionText text = hold_condition(t, g);
  const std::uint64_t hash = condition_hash(text.reason, text.message);
  for (const PodSlot s : g.pods)
    if (t.pods[s].phase == Phase::kWaiting && t.pods[s].condition_hash != hash) t.listeners.on_condition_due(s);
}

}  // namespace ashlar::kube
