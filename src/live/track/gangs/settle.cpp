#include "live/track/gangs/settle.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "live/track/gangs/gang_hold.h"
#include "live/track/gangs/groups.h"
#include "live/track/gangs/membership.h"
#include "live/track/nodes/levels.h"
#include "live/track/pods/bound_pods.h"
#include "live/track/pods/jobs.h"
#include "live/track/pods/requests.h"

#include "live/track/hold_text.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// Size and domains from the settings of existing pods; those of deleted pods no longer count. The size of a started
/// gang is taken from its started members.
void sum_up_domains(TrackerData& t, GangRecord& g, bool has_begun) {
  std::uint32_t size = 1;
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
  }
  if (g.kind == GangKind::kLabelled) g.size = size;
  g.within_setting = within_by == nullptr ? PooledString() : within_by->within;
  g.prefer_setting = prefer_by == nullptr ? PooledString() : prefer_by->prefer;
  take_levels(t, g);
}

/// Each group by its own pods; the gang by its groups.
void sum_up_groups(TrackerData& t, GangRecord& g) {
  sort_groups(t, g.groups);
  g.size = 0;
  g.within_setting = PooledString();
  for (const GangSlot slot : g.groups) {
    GangRecord& group = t.gangs.edit(slot);
    sum_up_domains(t, group, false);
    g.size += std::min(group.size, GangSpec::kMinimumMax);
    if (g.within_setting.empty()) g.within_setting = group.settings.within;
  }
  take_levels(t, g);
}

/// The longest of its pods.
void sum_up_estimate(TrackerData& t, GangRecord& g, bool has_begun) {
  Estimate estimate;
  for (const PodSlot s : g.pods) {
    const PodRecord& r = t.pods[s];
    if (!r.is_apart() && r.estimate.is_known())
      estimate = !estimate.is_known()
                     ? r.estimate
                     : Estimate{std::max(estimate.p50, r.estimate.p50), std::max(estimate.p90, r.estimate.p90)};
  }
  if (has_begun || estimate == g.estimate) return;
  g.estimate = estimate;
  if (!g.job.is_none()) t.out.add(EstimateChanged{g.job, estimate});
}

/// The priority that the PodGroup states, itself or by its class: 0 is one, since admission of 1.37 writes it to every
/// PodGroup without a class.
std::optional<std::int32_t> stated_priority(const TrackerData& t, const GangRecord& g) {
  if (g.stated_priority) return g.stated_priority;
  const auto of_class = t.classes.known.find(g.priority_class);
  return of_class == t.classes.known.end() ? std::nullopt : std::optional(of_class->second);
}

/// What its pods determine about the gang: queue, priority. A started gang stays in the queue that its members are
/// charged to: the one that bindings name, before that of a pod which names its node itself.
void sum_up_gang(TrackerData& t, GangRecord& g, bool has_begun) {
  QueueId queue;
  g.has_mixed_queues = g.has_mixed_schedulers = g.has_quarantined = false;
  bool is_by_binding = false;
  std::int32_t priority = INT32_MIN;
  const bool has_groups = g.kind == GangKind::kGroups;
  const std::optional<std::int32_t> of_gang = has_groups ? std::nullopt : stated_priority(t, g);
  for (const PodSlot s : g.pods) {
    const PodRecord& r = t.pods[s];
    g.has_mixed_schedulers = g.has_mixed_schedulers || r.scheduler != t.pods[g.pods.front()].scheduler;
    g.has_quarantined = g.has_quarantined || (r.phase == Phase::kHeld && r.hold == HoldReason::kQuarantined);
    if (r.is_apart()) continue;
    const std::optional<std::int32_t> stated = has_groups ? stated_priority(t, t.gangs[r.group]) : of_gang;
    priority = std::max(priority, stated.value_or(r.priority));
    if (has_begun && r.phase == Phase::kWaiting) continue;
    if (queue.is_none() || (has_begun && r.has_charged_queue && !is_by_binding)) {
      queue = r.queue;
      is_by_binding = r.has_charged_queue;
    }
    g.has_mixed_queues = g.has_mixed_queues || (!has_begun && queue != r.queue);
  }
  const bool may_move = !has_begun || g.job.is_none();
  if (may_move && !queue.is_none() && !g.has_mixed_queues && queue != g.queue) {
    g.is_stale = true;
    g.queue = queue;
  }
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

/// The PodGroup is due its condition once all its pods that must start together are bound.
void report_if_bound(TrackerData& t, GangSlot slot) {
  const GangRecord& g = t.gangs[slot];
  const bool is_to_tell = !g.group_uid.empty() && g.is_gang && !g.is_group_told && bound_members(t, g) >= g.size;
  if (is_to_tell && t.listeners.on_group_condition_due) t.listeners.on_group_condition_due(slot);
}

/// Unbound members leave the engine; those bound or being bound stay.
void withdraw_waiting(TrackerData& t, GangSlot slot) {
  for (const PodSlot s : t.gangs[slot].pods)
    if (t.pods[s].phase == Phase::kWaiting) withdraw_pod(t, s);
}

/// How many must start together. If a started gang is short of pods, each one that comes back starts by itself and none
/// is surplus; the same holds for pods of a basic PodGroup.
std::uint32_t members_min_of(const TrackerData& t, const GangRecord& g) {
  if (g.is_pod_group() && !g.is_gang) return 0;
  if (!g.is_started) return g.size;
  bool is_short = false;
  each_group(t, g, [&](const GangRecord& group) { is_short = is_short || bound_members(t, group) < group.size; });
  return is_short ? 0 : g.size;
}

/// A group has started as a gang of its own would have; the gang when each of its groups has.
void note_started(TrackerData& t, GangRecord& g) {
  if (g.kind != GangKind::kGroups) {
    const std::uint32_t bound = bound_members(t, g);
    g.is_started = bound > 0 && (g.is_started || g.is_group_told || bound >= g.size);
    return;
  }
  g.is_started = !g.groups.empty();
  for (const GangSlot slot : g.groups) {
    note_started(t, t.gangs.edit(slot));
    g.is_started = g.is_started && t.gangs[slot].is_started;
  }
}

bool has_placed_pod(const TrackerData& t, const GangRecord& g) {
  return std::ranges::any_of(
      g.pods, [&](PodSlot s) { return t.pods[s].phase == Phase::kBound || t.pods[s].phase == Phase::kAssumed; });
}

/// Its domain is not known yet: its PodGroup is not there or cannot be read, no node has the label, or it has no pods.
bool lacks_domain(const Tables& t, const GangRecord& g) {
  const bool lacks_settings = g.is_pod_group() && (g.group_uid.empty() || !g.group_problem.empty());
  return g.pods.empty() || lacks_settings || lacks_level(t, g);
}

/// What has begun keeps the levels that it began with, unless they were not known then.
bool has_late_levels(const TrackerData& t, const GangRecord& g) { return g.lacked_domain && has_other_levels(t, g); }

/// The engine has the gang with other groups. Minima no longer matter to one that has started. A group that has begun
/// keeps its levels, unless they were not known then, and one without pods has none: it takes them with its first pod.
bool has_other_groups(const TrackerData& t, const GangRecord& g) {
  if (g.kind != GangKind::kGroups || g.job.is_none()) return false;
  if (g.told_groups != g.groups) return true;
  const GangSpec& reported = t.translator.spec_of(t.owners[g.job.row()].spec);
  const GangSpec now = groups_spec(t, g);
  for (std::size_t i = 0; i < now.groups.size(); ++i) {
    const GangGroup &had = reported.groups[i], &has = now.groups[i];
    const GangRecord& group = t.gangs[g.groups[i]];
    const bool keeps_levels = group.pods.empty() || (has_placed_pod(t, group) && !group.lacked_domain);
    if (!keeps_levels && (had.within != has.within || had.prefer != has.prefer)) return true;
    if (!g.is_started && had.members_min != has.members_min) return true;
  }
  return false;
}

/// What is known now is what it has begun with, or takes.
void note_domains_known(TrackerData& t, GangRecord& g) {
  g.lacked_domain = g.lacked_domain && lacks_domain(t, g);
  for (const GangSlot slot : g.groups) {
    GangRecord& group = t.gangs.edit(slot);
    group.lacked_domain = group.lacked_domain && lacks_domain(t, group);
  }
}

/// A job keeps its groups and domain: with others it becomes a new one, to which bound members are reported at once.
void renew_job(TrackerData& t, GangRecord& g) {
  const std::vector<PodSlot> pods = g.pods;
  for (const PodSlot s : pods) withdraw_pod(t, s);
}

/// The PodGroup's minCount may change while its pods wait. Reported only if it makes a difference to the engine.
void report_members_min(TrackerData& t, GangRecord& g, std::uint32_t bound) {
  const std::uint32_t minimum = members_min_of(t, g);
  const bool is_met_both_ways = minimum > 0 && g.told_min > 0 && minimum <= bound && g.told_min <= bound;
  if (g.job.is_none() || minimum == g.told_min || is_met_both_ways) return;
  g.told_min = minimum;
  t.out.add(MembersAdded{g.job, minimum, {}});
}

/// A new job for the gang, with the groups that it has now.
JobId job_for(TrackerData& t, GangSlot slot) {
  GangRecord& g = t.gangs.edit(slot);
  g.told_groups = g.groups;
  JobOwner owner{slot, kNoPod, g.within, g.prefer, GangSpecId::none()};
  if (g.kind == GangKind::kGroups) owner.spec = t.translator.gang_spec(groups_spec(t, g));
  g.lacked_domain = lacks_domain(t, g);
  for (const GangSlot group : g.groups) t.gangs.edit(group).lacked_domain = lacks_domain(t, t.gangs[group]);
  return add_job(t, owner);
}

/// The numbers of its job's groups; none: it has no groups.
std::unordered_map<GangSlot, std::uint32_t> group_numbers(const GangRecord& g) {
  std::unordered_map<GangSlot, std::uint32_t> numbers;
  if (g.kind != GangKind::kGroups) return numbers;
  const std::size_t count = std::min(g.told_groups.size(), GangSpec::kGroupsMax);
  for (std::size_t i = 0; i < count; ++i) numbers.emplace(g.told_groups[i], static_cast<std::uint32_t>(i));
  return numbers;
}

/// The group in which each of the pods enters the job, and the pods by group and rank. A bound one of a group that the
/// job does not have is counted in the first until the job is renewed.
std::vector<std::uint32_t> sort_members(const TrackerData& t, const GangRecord& g, std::vector<PodSlot>& members) {
  sort_by_rank(t.pods, members);
  const std::unordered_map<GangSlot, std::uint32_t> numbers = group_numbers(g);
  std::vector<std::uint32_t> groups(members.size(), 0);
  if (numbers.empty()) return groups;
  const auto number_of = [&](PodSlot s) {
    const auto found = numbers.find(t.pods[s].group);
    return found == numbers.end() ? 0 : found->second;
  };
  std::ranges::stable_sort(members, {}, number_of);
  std::ranges::transform(members, groups.begin(), number_of);
  return groups;
}

/// Whether it enters the engine now.
bool may_enter(const GangRecord& g, const PodRecord& r, bool is_renewal_due) {
  if (r.is_in_engine()) return false;
  return r.phase == Phase::kBound || (r.phase == Phase::kWaiting && g.is_open && !is_renewal_due);
}

/// One of its pods or PodGroups that is to stop no others, or to leave whole, speaks for the gang. It has run
/// since the first of its pods was bound.
void add_stop_terms(const TrackerData& t, const GangRecord& g, const std::vector<PodSlot>& pods, Workload& w) {
  Millis kept_until;
  each_group(t, g, [&](const GangRecord& group) {
    w.stopping.stops_none = w.stopping.stops_none || group.stops_none;
    w.stopping.leaves_whole = w.stopping.leaves_whole || group.leaves_whole;
  });
  for (const PodSlot s : pods) {
    const PodRecord& r = t.pods[s];
    w.stopping.stops_none = w.stopping.stops_none || r.stops_none;
    if (r.phase != Phase::kBound || r.placed.value == 0) continue;
    w.runs_since = std::min({w.runs_since, r.placed, t.out.now()});
    kept_until = std::max(kept_until, r.leaves_by);
  }
  if (kept_until > w.runs_since) w.stopping.protected_for = std::min(kept_until - w.runs_since, StopTerms::kTimeMax);
}

void submit_members(TrackerData& t, GangSlot slot, bool is_renewal_due) {
  GangRecord& g = t.gangs.edit(slot);
  std::vector<PodSlot> entering;
  Millis since;  // the latest of them
  for (const PodSlot s : g.pods) {
    const PodRecord& r = t.pods[s];
    since = std::max(since, eligible_since(t, r));
    if (may_enter(g, r, is_renewal_due)) entering.push_back(s);
  }
  if (entering.empty()) return;
  std::vector<MemberSpec> members;
  members.reserve(entering.size());
  const bool is_new = g.job.is_none();
  if (is_new) g.job = job_for(t, slot);
  const std::vector<std::uint32_t> groups = sort_members(t, g, entering);
  for (const PodSlot s : entering) {
    PodRecord& r = t.pods.edit(s);
    t.pods.set_member(s, t.member_rows.add());
    r.job = g.job;
    if (r.constraint.is_none()) set_constraint(t, r, t.translator.anywhere());
    members.push_back({.member = r.member,
                       .demand = r.demand,
                       .constraint = r.constraint,
                       .labels = r.label_set,
                       .group = groups[members.size()]});
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
    w.spec = t.owners[g.job.row()].spec;
    w.submitted = g.submitted;
    w.estimate = g.estimate;
    w.tenant = tenant_of(g.ns);
    w.members = std::move(members);
    add_stop_terms(t, g, entering, w);
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
    g.told_groups.clear();
    take_levels(t, g);
    for (const GangSlot group : g.groups) t.gangs.edit(group).is_started = false;
    return remove_if_unused(t, slot);
  }
  std::uint32_t bound = 0, assumed = 0;
  for (const PodSlot s : g.pods) {
    bound += t.pods[s].phase == Phase::kBound ? 1 : 0;
    assumed += t.pods[s].phase == Phase::kAssumed ? 1 : 0;
  }
  // A PodGroup whose condition was set to True keeps it, but if all pods are new the gang has to start again.
  const bool has_begun = bound + assumed > 0;
  if (g.kind == GangKind::kGroups)
    sum_up_groups(t, g);
  else
    sum_up_domains(t, g, has_begun);
  sum_up_estimate(t, g, has_begun);
  note_started(t, g);
  sum_up_gang(t, g, has_begun);
  g.hold_found = 0;
  g.hold = gang_hold(t, g);
  g.hold_found = t.levels_edition;
  const HoldReason hold = g.hold.reason;
  if (hold == HoldReason::kNone) {
    g.is_open = true;
  } else if (g.is_open && (hold != HoldReason::kMembersMissing || !has_begun || g.kind == GangKind::kGroups)) {
    g.is_open = false;
    withdraw_waiting(t, slot);
  }
  if (((g.is_stale || has_other_levels(t, g)) && !has_begun) || g.bind_hold != 0) withdraw_waiting(t, slot);
  const bool is_renewed = has_other_groups(t, g) || has_late_levels(t, g);
  if (is_renewed && assumed == 0) renew_job(t, g);
  if (!is_renewed) note_domains_known(t, g);
  if (bound == g.pods.size()) g.bind_failures = 0;
  g.is_stale = false;
  if (g.is_started) g.submitted = Millis(0);
  submit_members(t, slot, is_renewed && assumed > 0);
  report_members_min(t, g, bound);
  each_group_slot(t, slot, [&](GangSlot group) { report_if_bound(t, group); });
  report_if_held(t, slot, hold);
}

}  // namespace

/// evaluate() changes no other gang and has seen its own changes: the mark is cleared afterwards.
void settle_gang(TrackerData& t, GangSlot slot) {
  if (!t.gangs[slot].is_used || !t.gangs[slot].is_dirty) return;
  const std::vector<GangSlot> groups = t.gangs[slot].groups;
  for (const GangSlot group : groups) move_group(t, group);
  move_group(t, slot);
  if (!t.gangs[slot].is_used) return;
  if (!t.gangs[slot].is_group()) evaluate_gang(t, slot);
  t.gangs.edit(slot).is_dirty = false;
}

void hold_members(TrackerData& t, GangSlot slot) {
  GangRecord& g = t.gangs.edit(slot);
  each_group_slot(t, slot, [&](GangSlot group) {
    const GangRecord& its = t.gangs[group];
    if (t.listeners.on_group_condition_due && its.is_pod_group() && its.is_gang && !its.group_uid.empty())
      t.listeners.on_group_condition_due(group);
  });
  if (!t.listeners.on_condition_due) return;
  // One message for all; pods that already have it are not marked again at every change of another.
  const ConditionText text = hold_condition(t, g);
  const std::uint64_t hash = condition_hash(text.reason, text.message);
  for (const PodSlot s : g.pods)
    if (t.pods[s].phase == Phase::kWaiting && t.pods[s].condition_hash != hash) t.listeners.on_condition_due(s);
}

}  // namespace ashlar::kube
