// The intake's gangs: when is one complete and sound, and what does the engine hear of it?
#include <algorithm>

#include "kube/live_intake.h"
#include "kube/live_text.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

void LiveIntake::take(Change<PodGroup>&& change) {
  if (change.kind == Change<PodGroup>::Kind::kSynced) return;
  out_.stamp();
  const PodGroup& group = change.object;
  if (change.kind == Change<PodGroup>::Kind::kDeleted) {
    const GangSlot slot = gangs_.find(group.ns, group.name, true);
    if (slot == kNoGang) return;
    gangs_[slot].group_uid = Text();
    if (gangs_[slot].pods.empty())
      gangs_.remove(slot);
    else
      touch(slot);
    return;
  }
  const GangSlot slot = gangs_.find_or_add(group.ns, group.name, true);
  read_group(gangs_[slot], group);
  touch(slot);
}

void LiveIntake::read_group(GangRecord& g, const PodGroup& group) {
  g.group_uid = group.uid;
  g.is_gang = group.min_count > 0;
  g.size = static_cast<std::uint32_t>(std::max(group.min_count, 1));
  g.group_refusal = group.unsupported;
  if (!group.topology_key.empty()) g.within = level_for(group.topology_key);
  if (group.priority)
    g.priority = *group.priority;
  else if (const auto it = priority_classes_.find(group.priority_class); it != priority_classes_.end())
    g.priority = it->second;
  g.is_group_told = g.is_group_told || group.scheduled.status == ConditionStatus::kTrue;
  g.is_started = g.is_started || group.scheduled.status == ConditionStatus::kTrue;
  if (group.scheduled.status == ConditionStatus::kFalse) g.group_condition_hash = condition_hash(group.scheduled.reason, group.scheduled.message);
}

void LiveIntake::touch(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  if (g.is_dirty) return;
  g.is_dirty = true;
  dirty_.push_back(slot);
}

void LiveIntake::join(PodSlot slot, const GangWish& wish) {
  PodRecord& r = pods_[slot];
  // A pod that was alone in the engine before it was known to belong to a gang cannot be: labels of a gang are read first.
  withdraw(slot);
  r.gang = gangs_.find_or_add(r.ns, wish.name, wish.is_pod_group);
  GangRecord& g = gangs_[r.gang];
  if (g.pods.empty()) g.first_seen = out_.now();
  g.pods.push_back(slot);
  if (!wish.is_pod_group) g.size = std::max(g.size, wish.size);
  if (g.within.is_none()) g.within = level_for(wish.within);
  if (g.prefer.is_none()) g.prefer = level_for(wish.prefer);
  touch(r.gang);
}

void LiveIntake::leave_gang(PodSlot slot) {
  PodRecord& r = pods_[slot];
  withdraw(slot);
  const GangSlot gang = r.gang;
  GangRecord& g = gangs_[gang];
  r.gang = kNoGang;
  // Order does not matter here: members are sorted by rank when they enter the engine.
  if (const auto it = std::find(g.pods.begin(), g.pods.end(), slot); it != g.pods.end()) {
    *it = g.pods.back();
    g.pods.pop_back();
  }
  touch(gang);
  if (g.pods.empty() && g.group_uid.empty()) gangs_.remove(gang);
}

std::uint32_t LiveIntake::members_present(const GangRecord& g) const {
  return static_cast<std::uint32_t>(std::count_if(g.pods.begin(), g.pods.end(), [&](PodSlot s) {
    const Phase phase = pods_[s].phase;
    return phase == Phase::kWaiting || phase == Phase::kAssumed || phase == Phase::kBound;
  }));
}

std::string LiveIntake::gang_trouble(const GangRecord& g) const {
  if (g.is_pod_group && g.group_uid.empty()) return "PodGroup " + g.name.str() + " does not exist (yet)";
  if (!g.group_refusal.empty()) return "PodGroup field " + g.group_refusal.str() + " is not evaluated by Ashlar";
  const std::uint32_t present = members_present(g);
  if (present < g.size && !g.is_started) {
    for (const PodSlot s : g.pods)
      if (pods_[s].phase == Phase::kHeld && pods_[s].hold != HoldReason::kNone)
        return "pod " + pods_[s].name.str() + " of the gang cannot be placed: " + hold_text(pods_[s]);
    // Without the number that exists: the text is rewritten for every pod that comes otherwise.
    return "gang " + g.name.str() + " waits until " + std::to_string(g.size) + " of its pods exist";
  }
  if (g.is_mixed) return "the pods of gang " + g.name.str() + " name different schedulers or queues";
  return {};
}

void LiveIntake::open_if_ready(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  QueueId queue;
  g.is_mixed = false;
  std::int32_t priority = INT32_MIN;
  for (const PodSlot s : g.pods) {
    const PodRecord& r = pods_[s];
    if (r.phase == Phase::kHeld || r.phase == Phase::kParked) continue;
    if (queue.is_none()) queue = r.queue;
    g.is_mixed = g.is_mixed || queue != r.queue || !r.is_ours;
    priority = std::max(priority, r.priority);
    g.duration = std::max(g.duration, r.duration);
  }
  if (g.queue.is_none() || g.job.is_none()) g.queue = queue;
  if (!g.is_pod_group || g.priority == 0) g.priority = priority == INT32_MIN ? 0 : priority;
  if (!g.is_open && gang_trouble(g).empty()) g.is_open = true;
}

void LiveIntake::evaluate(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  if (g.pods.empty()) {
    g.is_open = g.is_started = false;
    if (g.group_uid.empty()) gangs_.remove(slot);
    return;
  }
  std::uint32_t bound = 0;
  for (const PodSlot s : g.pods) bound += pods_[s].phase == Phase::kBound ? 1 : 0;
  if (bound >= g.size) g.is_started = true;
  if (bound == 0 && !g.is_group_told) g.is_started = false;
  open_if_ready(slot);
  submit_members(slot);
  if (g.is_pod_group && g.is_gang && bound >= g.size && !g.is_group_told && listeners_.on_group_condition_due)
    listeners_.on_group_condition_due(slot);
  if (g.is_open || g.has_timer) return;
  if (out_.now() >= g.first_seen + kGangPatience) return hold_members(slot);
  g.has_timer = true;
  impatient_.emplace_back(g.first_seen + kGangPatience, std::pair(g.ns, g.name));
  // first_seen is the time of joining: nearly sorted; keep the queue ascending for tick().
  for (std::size_t i = impatient_.size(); i-- > 1 && impatient_[i].first < impatient_[i - 1].first;) std::swap(impatient_[i], impatient_[i - 1]);
}

void LiveIntake::submit_members(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  std::vector<PodSlot> entering;
  for (const PodSlot s : g.pods) {
    const PodRecord& r = pods_[s];
    if (r.is_in_engine()) continue;
    if (r.phase == Phase::kBound || (r.phase == Phase::kWaiting && g.is_open)) entering.push_back(s);
  }
  if (entering.empty()) return;
  sort_by_rank(pods_, entering);
  std::vector<MemberSpec> members;
  members.reserve(entering.size());
  const bool is_new = g.job.is_none();
  if (is_new) g.job = add_job({slot, kNoPod});
  for (const PodSlot s : entering) {
    PodRecord& r = pods_[s];
    pods_.set_member(s, member_rows_.add());
    r.job = g.job;
    if (r.constraint.is_none()) r.constraint = translator_.anywhere();
    members.push_back({r.member, r.demand, r.constraint});
  }
  g.in_engine += static_cast<std::uint32_t>(entering.size());
  const std::uint32_t members_min = g.is_started ? 1 : g.size;
  if (is_new) {
    Workload w;
    w.job = g.job;
    w.queue = g.queue;
    w.priority = g.priority;
    w.members_min = members_min;
    w.within = g.within;
    w.prefer = g.prefer;
    w.submitted = out_.now();
    if (g.duration.value > 0) w.estimate = {g.duration, g.duration};
    w.members = std::move(members);
    out_.add(Submitted{std::move(w)});
  } else {
    out_.add(MembersAdded{g.job, members_min, std::move(members)});
  }
  for (const PodSlot s : entering)
    if (pods_[s].phase == Phase::kBound) out_.add(Bound{pods_[s].member, pods_[s].node, pods_[s].cards});
}

void LiveIntake::hold_members(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  if (listeners_.on_group_condition_due && g.is_pod_group && g.is_gang && !g.group_uid.empty()) listeners_.on_group_condition_due(slot);
  if (!listeners_.on_condition_due) return;
  for (const PodSlot s : g.pods)
    if (pods_[s].phase == Phase::kWaiting) listeners_.on_condition_due(s);
}

}  // namespace ashlar::kube
