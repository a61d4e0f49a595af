#include "live/track/gangs/membership.h"

#include <algorithm>

#include "live/track/gangs/groups.h"
#include "live/track/nodes/levels.h"
#include "live/track/pods/bindings.h"
#include "live/track/pods/jobs.h"

#include "live/track/hold_text.h"
#include "live/track/unknown_fields.h"
#include "live/track/volumes/pod_volumes.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// The object is gone and its conditions with it; a new one of the same name gets all of them again.
void forget_group(GangRecord& g) {
  g.group_uid = g.topology_key = g.priority_class = g.group_refusal = g.group_unknown = g.group_problem =
      PooledString();
  g.settings = GroupSettings();
  g.stated_priority.reset();
  g.group_condition_hash = g.group_condition_words = 0;
  g.is_group_told = g.is_group_condition_due = g.is_group_refresh_due = g.is_group_condition_there = false;
}

void read_group(TrackerData& t, GangRecord& g, const PodGroup& group) {
  const bool is_known = g.group_uid == group.uid && g.group_problem.empty();
  if (is_known && !group.problem.empty()) return;  // what was last read of it stays
  if (g.group_uid != group.uid) forget_group(g);
  g.group_uid = group.uid;
  g.group_generation = group.generation;
  g.group_problem = group.problem;
  g.is_gang = group.min_count > 0;
  const auto size = static_cast<std::uint32_t>(std::max(group.min_count, 1));
  if (job_record(t, g).in_engine > 0 && size > g.size) ++t.nodes_edition;  // the chosen places may be too few now
  g.size = size;
  g.group_refusal = group.unsupported;
  g.group_unknown = PooledString(refused_unknown_fields(t.options.accepted_fields, group.unknown_spec_fields));
  g.settings = group.problem.empty() ? read_group_settings(group) : GroupSettings();
  g.topology_key = group.topology_key;
  take_levels(t, g);
  g.stated_priority = group.priority;
  g.stops_none = group.never_preempts;
  g.leaves_whole = group.leaves_whole;
  g.priority_class = group.priority_class;
  g.is_group_told = g.is_group_told || group.scheduled.status == ConditionStatus::kTrue;
  const Condition& there = group.scheduled;  // another writer may have removed it
  const bool is_false = there.status == ConditionStatus::kFalse;
  g.is_group_condition_there = is_false;
  g.group_condition_hash = is_false ? condition_hash(there.reason, there.message) : 0;
  g.group_condition_words = is_false ? condition_words(there.reason, there.message) : 0;
}

}  // namespace

void take_group(TrackerData& t, Change<PodGroup>&& change) {
  if (change.kind == Change<PodGroup>::Kind::kSynced) return;
  t.out.stamp();
  const PodGroup& group = change.object;
  if (change.kind == Change<PodGroup>::Kind::kDeleted) {
    const GangSlot slot = t.gangs.find(group.ns, group.name, GangKind::kPodGroup);
    if (slot == kNoGang) return;
    forget_group(t.gangs.edit(slot));
    touch_gang(t, slot);
    return remove_if_unused(t, slot);
  }
  note_unknown_fields(t, group.unknown_fields, group.unknown_spec_fields);
  const GangSlot slot = t.gangs.find_or_add(group.ns, group.name, GangKind::kPodGroup);
  read_group(t, t.gangs.edit(slot), group);
  touch_gang(t, slot);
}

void note_pod_groups(TrackerData& t, const std::string& problem) {
  if (problem == t.groups_problem) return;
  t.groups_problem = problem;
  for (GangSlot slot = 0; slot < t.gangs.slots(); ++slot)
    if (t.gangs[slot].is_used && t.gangs[slot].is_pod_group() && t.gangs[slot].group_uid.empty()) touch_gang(t, slot);
}

void touch_gang(TrackerData& t, GangSlot slot) {
  if (const GangSlot whole = t.gangs[slot].whole; whole != kNoGang) touch_gang(t, whole);
  GangRecord& g = t.gangs.edit(slot);
  if (g.is_dirty) return;
  g.is_dirty = true;
  g.hold_found = 0;
  t.dirty.push_back(slot);
}

void remove_if_unused(TrackerData& t, GangSlot slot) {
  const GangRecord& g = t.gangs[slot];
  if (!g.pods.empty() || !g.groups.empty() || !g.group_uid.empty() || g.foreign_pods > 0) return;
  if (g.is_group()) leave_whole(t, slot);
  note_levels_left(t, g.within, g.prefer);
  t.gangs.remove(slot);
}

void join_gang(TrackerData& t, PodSlot slot, const GangSettings& setting) {
  PodRecord& r = t.pods.edit(slot);
  // A single pod in the engine cannot turn out to belong to a gang later: labels of a gang are read first.
  withdraw_pod(t, slot);
  const GangSlot named = t.gangs.find_or_add(r.ns, setting.name, setting.kind);
  const GangSlot whole = t.gangs[named].whole;
  r.group = whole == kNoGang ? kNoGang : named;
  r.gang = whole == kNoGang ? named : whole;
  for (const GangSlot gang : {named, whole}) {
    if (gang == kNoGang) continue;
    GangRecord& g = t.gangs.edit(gang);
    if (g.pods.empty()) g.first_seen = t.out.now();
    g.pods.push_back(slot);
  }
  touch_gang(t, named);
}

void leave_gang(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  withdraw_pod(t, slot);
  const GangSlot gang = r.gang, group = r.group;
  if (t.gangs[gang].bind_hold_pod == slot) forget_bind_hold(t, gang);
  r.gang = r.group = kNoGang;
  touch_companions(t, slot);
  if (t.gangs[gang].is_gang && !t.gangs[gang].is_started)
    ++t.nodes_edition;  // the remaining ones may be too few to be sent
  for (const GangSlot of : {group, gang}) {
    if (of == kNoGang) continue;
    // Order does not matter here: members are sorted by rank when they enter the engine.
    GangRecord& g = t.gangs.edit(of);
    if (const auto it = std::find(g.pods.begin(), g.pods.end(), slot); it != g.pods.end()) {
      *it = g.pods.back();
      g.pods.pop_back();
    }
    touch_gang(t, of);
    remove_if_unused(t, of);
  }
}

bool has_bound_member(const Tables& t, const GangRecord& g) {
  return std::any_of(g.pods.begin(), g.pods.end(), [&](PodSlot s) { return t.pods[s].phase == Phase::kBound; });
}

std::uint32_t bound_members(const Tables& t, const GangRecord& g) {
  return static_cast<std::uint32_t>(
      std::count_if(g.pods.begin(), g.pods.end(), [&](PodSlot s) { return t.pods[s].phase == Phase::kBound; }));
}

std::uint32_t members_present(const Tables& t, const GangRecord& g) {
  return static_cast<std::uint32_t>(std::count_if(g.pods.begin(), g.pods.end(), [&](PodSlot s) {
    const Phase phase = t.pods[s].phase;
    return phase == Phase::kWaiting || phase == Phase::kAssumed || phase == Phase::kBound;
  }));
}

}  // namespace ashlar::kube
