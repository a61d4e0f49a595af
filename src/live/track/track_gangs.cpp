// The tracker's gangs: when is one complete and sound, and what does the engine hear of it?
#include <algorithm>

#include "live/read/pod_text.h"
#include "live/track/tracker.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

void Tracker::take(Change<PodGroup>&& change) {
  if (change.kind == Change<PodGroup>::Kind::kSynced) return;
  out_.stamp();
  const PodGroup& group = change.object;
  if (change.kind == Change<PodGroup>::Kind::kDeleted) {
    const GangSlot slot = gangs_.find(group.ns, group.name, true);
    if (slot == kNoGang) return;
    forget_group(gangs_[slot]);
    touch(slot);
    return remove_if_unused(slot);
  }
  const GangSlot slot = gangs_.find_or_add(group.ns, group.name, true);
  read_group(gangs_[slot], group);
  touch(slot);
}

void Tracker::note_pod_groups(const std::string& problem) {
  if (problem == groups_problem_) return;
  groups_problem_ = problem;
  for (GangSlot slot = 0; slot < gangs_.slots(); ++slot)
    if (gangs_[slot].is_used && gangs_[slot].is_pod_group && gangs_[slot].group_uid.empty()) touch(slot);
}

/// The object is gone; what was said on it went with it, and one of the same name is told everything anew.
void Tracker::forget_group(GangRecord& g) {
  g.group_uid = g.topology_key = g.priority_class = g.group_refusal = g.group_problem = PooledString();
  g.stated_priority.reset();
  g.group_condition_hash = 0;
  g.is_group_told = g.is_group_condition_due = false;
}

void Tracker::read_group(GangRecord& g, const PodGroup& group) {
  const bool is_known = g.group_uid == group.uid && g.group_problem.empty();
  if (is_known && !group.problem.empty()) return;  // what was read of it last stays
  if (g.group_uid != group.uid) forget_group(g);
  g.group_uid = group.uid;
  g.group_problem = group.problem;
  g.is_gang = group.min_count > 0;
  const auto size = static_cast<std::uint32_t>(std::max(group.min_count, 1));
  if (g.in_engine > 0 && size > g.size) ++nodes_edition_;  // the places that are chosen may be too few now
  g.size = size;
  g.group_refusal = group.unsupported;
  g.topology_key = group.topology_key;
  take_levels(g);
  g.stated_priority = group.priority;
  g.priority_class = group.priority_class;
  g.is_group_told = g.is_group_told || group.scheduled.status == ConditionStatus::kTrue;
  if (group.scheduled.status == ConditionStatus::kFalse) g.group_condition_hash = condition_hash(group.scheduled.reason, group.scheduled.message);
}

void Tracker::touch(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  if (g.is_dirty) return;
  g.is_dirty = true;
  g.hold_found = 0;
  dirty_.push_back(slot);
}

void Tracker::remove_if_unused(GangSlot slot) {
  const GangRecord& g = gangs_[slot];
  if (!g.pods.empty() || !g.group_uid.empty() || g.foreign_pods > 0) return;
  note_levels_left(g.within, g.prefer);
  gangs_.remove(slot);
}

/// The levels that the gang's wishes name. A hard one that there is not stays none and holds the gang, see gang_hold; a soft one is not looked at.
/// PodGroups without pods of ours use up no level.
void Tracker::take_levels(GangRecord& g) {
  const PooledString& hard = g.hard_setting();
  const LevelId within = g.within, prefer = g.prefer;
  g.within = g.pods.empty() ? LevelId::none() : level_for(hard);
  if (!g.pods.empty() && lacks_level(g) && !g.prefer.is_none()) {  // the soft wish gives way
    g.prefer = LevelId::none();
    g.within = level_for(hard);
  }
  // Asked for when the hard one is taken, so that it cannot be given the same row.
  g.prefer = g.pods.empty() ? LevelId::none() : level_for(g.prefer_setting);
  if (within != g.within || prefer != g.prefer) note_levels_left(within, prefer);
}

/// The engine was told others. What has begun keeps them.
bool Tracker::has_other_levels(const GangRecord& g) const {
  if (g.job.is_none()) return false;
  const JobOwner& told = owners_[g.job.row()];
  return told.within != g.within || told.prefer != g.prefer;
}

void Tracker::join(PodSlot slot, const GangSettings& setting) {
  PodRecord& r = pods_[slot];
  // A pod that was alone in the engine before it was known to belong to a gang cannot be: labels of a gang are read first.
  withdraw(slot);
  r.gang = gangs_.find_or_add(r.ns, setting.name, setting.is_pod_group);
  GangRecord& g = gangs_[r.gang];
  if (g.pods.empty()) g.first_seen = out_.now();
  g.pods.push_back(slot);
  touch(r.gang);
}

void Tracker::leave_gang(PodSlot slot) {
  PodRecord& r = pods_[slot];
  withdraw(slot);
  const GangSlot gang = r.gang;
  GangRecord& g = gangs_[gang];
  if (g.bind_hold_pod == slot) forget_bind_hold(gang);
  r.gang = kNoGang;
  // Order does not matter here: members are sorted by rank when they enter the engine.
  if (const auto it = std::find(g.pods.begin(), g.pods.end(), slot); it != g.pods.end()) {
    *it = g.pods.back();
    g.pods.pop_back();
  }
  if (g.is_gang && !g.is_started) ++nodes_edition_;  // those that are left may be too few to be sent
  touch(gang);
  remove_if_unused(gang);
}

/// Holds no place any more. Its PodGroup's gang is held by it as long as it exists.
void Tracker::lose_nomination(PodSlot slot) {
  PodRecord& r = pods_[slot];
  if (r.foreign_pod_of == kNoGang) return forget(slot);
  withdraw(slot);
  r.node = NodeId::none();
  r.phase = Phase::kHeld;
  r.hold = HoldReason::kForeign;
  r.hold_detail = PooledString(bounded_words(gangs_[r.foreign_pod_of].foreign_pod_name.view()));
}

void Tracker::see_foreign_pod(PodSlot slot, const Pod& pod) {
  PodRecord& r = pods_[slot];
  if (r.foreign_pod_of != kNoGang) return;  // neither its group nor its scheduler ever changes
  r.foreign_pod_of = gangs_.find_or_add(r.ns, pod.group_name, true);
  GangRecord& g = gangs_[r.foreign_pod_of];
  ++g.foreign_pods;
  g.foreign_pod_name = pod.scheduler_name;
  touch(r.foreign_pod_of);
}

void Tracker::leave_foreign_pods(PodSlot slot) {
  const GangSlot gang = pods_[slot].foreign_pod_of;
  pods_[slot].foreign_pod_of = kNoGang;
  --gangs_[gang].foreign_pods;
  touch(gang);
  remove_if_unused(gang);
}

std::uint32_t Tracker::members_present(const GangRecord& g) const {
  return static_cast<std::uint32_t>(std::count_if(g.pods.begin(), g.pods.end(), [&](PodSlot s) {
    const Phase phase = pods_[s].phase;
    return phase == Phase::kWaiting || phase == Phase::kAssumed || phase == Phase::kBound;
  }));
}

std::string Tracker::priority_trouble(const GangRecord& g) const {
  const bool counts = g.priority_class.empty() || g.stated_priority || priority_classes_.contains(g.priority_class);
  if (counts || classes_problem_.empty()) return {};
  return "PriorityClass " + g.priority_class.str() + " of PodGroup " + g.name.str() +
         " is not known, and the priority of its pods counts: PriorityClasses cannot be listed: " + classes_problem_;
}

Hold Tracker::gang_hold(const GangRecord& g) const {
  if (g.hold_found == levels_edition_) return g.hold;
  Hold hold = find_gang_hold(g);
  hold.detail = bounded_words(hold.detail, kDetailMax);
  return hold;
}

Hold Tracker::find_gang_hold(const GangRecord& g) const {
  const auto refused = [](std::string why) { return Hold{HoldReason::kGroupRefused, std::move(why)}; };
  const std::string name = g.name.str();
  if (g.is_pod_group && g.group_uid.empty() && !groups_problem_.empty())
    return {HoldReason::kGroupsUnreadable, "PodGroups cannot be read: " + groups_problem_};
  if (g.is_pod_group && g.group_uid.empty()) return {HoldReason::kGroupMissing, "PodGroup " + name + " does not exist (yet)"};
  if (!g.group_problem.empty()) return refused("PodGroup " + name + " cannot be read: " + g.group_problem.str());
  if (!g.group_refusal.empty()) return refused("PodGroup field " + g.group_refusal.str() + " is not evaluated by Ashlar");
  const PooledString& hard = g.hard_setting();
  if (const std::string trouble = contradiction(g); !trouble.empty()) return refused(trouble);
  if (lacks_level(g) && node_labels_.contains(hard))
    return refused(g.said() + " must stay within one domain of " + hard.str() + ", which would be one topology level more than the " +
                   std::to_string(Topology::kLevelsMax) + " that are followed");
  if (!g.topology_key.empty() && !g.within_setting.empty() && names_.find_level(g.within_setting) != g.within)
    return refused("PodGroup " + name + " asks for one domain of " + g.topology_key.str() + ", its pods (ashlar.dev/within) for one of " +
                   g.within_setting.str() + "; name one of them");
  if (g.foreign_pods > 0)
    return refused("pods of PodGroup " + name + " name another scheduler (" + g.foreign_pod_name.str() + "); all must name the same");
  if (g.has_mixed_schedulers) return refused("the pods of " + g.said() + " name different schedulers; all must name the same");
  if (g.has_quarantined)
    for (const PodSlot s : g.pods)
      if (pods_[s].phase == Phase::kHeld && pods_[s].hold == HoldReason::kQuarantined)
        return {HoldReason::kQuarantined, "pod " + pods_[s].name.str() + " of the gang: " + hold_text(pods_[s])};
  if (const PodSlot s = unanswered_in(g); s != kNoPod)
    return {HoldReason::kBindFailed, g.said() + " waits, since node " + pods_[s].asked_node.str() + " went, and the binding of pod " +
                                         pods_[s].name.str() + " to it is not answered yet"};
  if (!g.is_started && members_present(g) < g.size) {
    for (const PodSlot s : g.pods)
      if (pods_[s].phase == Phase::kHeld && pods_[s].hold != HoldReason::kNone)
        return refused("pod " + pods_[s].name.str() + " of the gang cannot be placed: " + hold_text(pods_[s]));
    // Without the number that exists: the text is rewritten for every pod that comes otherwise.
    return {HoldReason::kMembersMissing,
            g.said() + " waits until " + std::to_string(g.size) + " of its pods exist" + (g.size == 1 ? "s" : "") + " without scheduling gates"};
  }
  if (g.has_mixed_queues) return refused("the pods of " + g.said() + " belong to different queues" + queues_of(g) + "; all must name the same");
  if (g.bind_hold != 0)
    return {HoldReason::kBindFailed,
            g.said() + " waits, since pod " + pods_[g.bind_hold_pod].name.str() + " could not be bound: " + g.bind_hold_detail.str()};
  if (lacks_level(g)) return {HoldReason::kNoSuchDomain, g.said() + " must stay within one domain of " + hard.str() + ", and no node has that label"};
  return {};
}

/// ": pod a-0 to team, pod a-1 to default"; of those that could start the first by name, and the first that belongs elsewhere.
std::string Tracker::queues_of(const GangRecord& g) const {
  const auto first_of = [&](auto&& is_meant) {
    PodSlot first = kNoPod;
    for (const PodSlot s : g.pods) {
      if (pods_[s].phase == Phase::kHeld || pods_[s].phase == Phase::kOnUnknownNode || !is_meant(pods_[s])) continue;
      if (first == kNoPod || is_name_before(pods_[s].name, pods_[first].name)) first = s;
    }
    return first;
  };
  const PodSlot one = first_of([](const PodRecord&) { return true; });
  const PodSlot other = first_of([&](const PodRecord& r) { return r.queue != pods_[one].queue; });
  if (other == kNoPod) return {};
  const auto said = [&](PodSlot s) { return "pod " + pods_[s].name.str() + " to " + names_.queues.name(pods_[s].queue).str(); };
  return ": " + said(one) + ", " + said(other);
}

/// What pods of the gang say against each other; empty where they agree. Those of a gang that has started need not agree on its size.
std::string Tracker::contradiction(const GangRecord& g) const {
  PodSlot size_by = kNoPod, within_by = kNoPod;  // the first by name that says anything
  const auto is_first = [&](PodSlot s, PodSlot than) { return than == kNoPod || is_name_before(pods_[s].name, pods_[than].name); };
  const auto is_same_level = [&](const PooledString& a, const PooledString& b) {
    return a == b || (names_.find_level(a) == names_.find_level(b) && !names_.find_level(a).is_none());
  };
  for (const PodSlot s : g.pods) {
    if (pods_[s].gang_size > 0 && is_first(s, size_by)) size_by = s;
    if (!pods_[s].within.empty() && is_first(s, within_by)) within_by = s;
  }
  PodSlot other_size = kNoPod, other_within = kNoPod;
  for (const PodSlot s : g.pods) {
    const bool has_other_size = !g.is_pod_group && !g.is_started && pods_[s].gang_size > 0 && pods_[s].gang_size != pods_[size_by].gang_size;
    if (has_other_size && is_first(s, other_size)) other_size = s;
    const bool has_other_within = !pods_[s].within.empty() && !is_same_level(pods_[s].within, pods_[within_by].within);
    if (has_other_within && is_first(s, other_within)) other_within = s;
  }
  const auto said = [&](PodSlot s, const std::string& what) { return "pod " + pods_[s].name.str() + " says " + what; };
  if (other_size != kNoPod)
    return "the pods of gang " + g.name.str() + " state different sizes: " + said(size_by, std::to_string(pods_[size_by].gang_size)) + ", " +
           said(other_size, std::to_string(pods_[other_size].gang_size)) + "; all must state the same (ashlar.dev/gang-size)";
  if (other_within != kNoPod)
    return "the pods of gang " + g.name.str() + " name different domains to stay within: " + said(within_by, pods_[within_by].within.str()) + ", " +
           said(other_within, pods_[other_within].within.str()) + "; all must name the same (ashlar.dev/within)";
  return {};
}

/// Size, domains and duration by what the pods that are there say; what was said by pods that are gone counts no longer. Of a gang that has begun
/// the members that have begun say its size.
void Tracker::sum_up_settings(GangRecord& g, bool has_begun) {
  std::uint32_t size = 1;
  Millis duration(0);
  const PodRecord* within_by = nullptr;
  const PodRecord* prefer_by = nullptr;
  const auto is_first = [](const PodRecord& r, const PodRecord* than) { return than == nullptr || is_name_before(r.name, than->name); };
  for (const PodSlot s : g.pods) {
    const PodRecord& r = pods_[s];
    if (!has_begun || r.phase == Phase::kBound || r.phase == Phase::kAssumed) size = std::max(size, r.gang_size);
    if (!r.within.empty() && is_first(r, within_by)) within_by = &r;
    if (!r.prefer.empty() && is_first(r, prefer_by)) prefer_by = &r;
    if (r.phase != Phase::kHeld && r.phase != Phase::kOnUnknownNode) duration = std::max(duration, r.duration);
  }
  if (!g.is_pod_group) g.size = size;
  g.within_setting = within_by == nullptr ? PooledString() : within_by->within;
  g.prefer_setting = prefer_by == nullptr ? PooledString() : prefer_by->prefer;
  take_levels(g);
  if (has_begun || duration == g.duration) return;
  g.duration = duration;
  if (!g.job.is_none()) out_.add(EstimateChanged{g.job, duration.value > 0 ? Estimate{duration, duration} : Estimate{}});
}

/// What the gang is by what its pods say: queue, priority. A gang that has begun stays in the queue that its members are charged to.
void Tracker::sum_up(GangRecord& g, bool has_begun) {
  QueueId queue;
  g.has_mixed_queues = g.has_mixed_schedulers = g.has_quarantined = false;
  std::int32_t priority = INT32_MIN;
  for (const PodSlot s : g.pods) {
    const PodRecord& r = pods_[s];
    g.has_mixed_schedulers = g.has_mixed_schedulers || r.scheduler != pods_[g.pods.front()].scheduler;
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
  const auto of_class = priority_classes_.find(g.priority_class);
  const std::int32_t of_group = g.stated_priority ? *g.stated_priority : of_class == priority_classes_.end() ? 0 : of_class->second;
  if (of_group != 0) priority = of_group;
  if (priority == INT32_MIN || priority == g.priority) return;
  g.priority = priority;
  if (!g.job.is_none()) out_.add(PriorityChanged{g.job, priority});
}

void Tracker::evaluate(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  if (g.pods.empty()) {  // what its pods wished and were ends with them
    g.is_open = g.is_started = false;
    g.submitted = g.duration = Millis(0);
    g.bind_failures = 0;
    g.within_setting = g.prefer_setting = PooledString();
    take_levels(g);
    return remove_if_unused(slot);
  }
  std::uint32_t bound = 0, assumed = 0;
  for (const PodSlot s : g.pods) {
    bound += pods_[s].phase == Phase::kBound ? 1 : 0;
    assumed += pods_[s].phase == Phase::kAssumed ? 1 : 0;
  }
  // A PodGroup that was told True stays so, but pods that are all new are a gang to be started again.
  const bool has_begun = bound + assumed > 0;
  sum_up_settings(g, has_begun);
  g.is_started = bound > 0 && (g.is_started || g.is_group_told || bound >= g.size);
  sum_up(g, has_begun);
  g.hold_found = 0;
  g.hold = gang_hold(g);
  g.hold_found = levels_edition_;
  const HoldReason hold = g.hold.reason;
  if (hold == HoldReason::kNone) {
    g.is_open = true;
  } else if (g.is_open && (hold != HoldReason::kMembersMissing || !has_begun)) {
    g.is_open = false;
    take_out_waiting(slot);
  }
  if (((g.is_stale || has_other_levels(g)) && !has_begun) || g.bind_hold != 0) take_out_waiting(slot);
  if (bound == g.pods.size()) g.bind_failures = 0;
  g.is_stale = false;
  if (g.is_started) g.submitted = Millis(0);
  submit_members(slot);
  tell_minimum(g, bound);
  const bool is_to_tell = !g.group_uid.empty() && g.is_gang && bound >= g.size && !g.is_group_told;
  if (is_to_tell && listeners_.on_group_condition_due) listeners_.on_group_condition_due(slot);
  say_if_held(slot, hold);
}

/// At once where the gang is complete and waits for other nodes or for another try, else when its patience ends.
void Tracker::say_if_held(GangSlot slot, HoldReason hold) {
  GangRecord& g = gangs_[slot];
  if (g.is_open) return;
  const bool is_clear = hold == HoldReason::kNoSuchDomain || hold == HoldReason::kBindFailed || g.bind_hold != 0;
  if (is_clear || out_.now() >= g.first_seen + kGangPatience) return hold_members(slot);
  if (g.has_timer) return;
  g.has_timer = true;
  impatient_.emplace_back(g.first_seen + kGangPatience, std::pair(g.ns, g.name));
  // first_seen is the time of joining: nearly sorted; keep the queue ascending for tick().
  for (std::size_t i = impatient_.size(); i-- > 1 && impatient_[i].first < impatient_[i - 1].first;) std::swap(impatient_[i], impatient_[i - 1]);
}

/// Members that have no node leave the engine; what is bound or being bound stays.
void Tracker::take_out_waiting(GangSlot slot) {
  for (const PodSlot s : gangs_[slot].pods)
    if (pods_[s].phase == Phase::kWaiting) withdraw(s);
}

/// The PodGroup's minCount may change while its pods wait. Said only where it makes a difference to the engine.
void Tracker::tell_minimum(GangRecord& g, std::uint32_t bound) {
  const std::uint32_t minimum = minimum_of(g);
  const bool is_met_both_ways = minimum > 0 && g.told_min > 0 && minimum <= bound && g.told_min <= bound;
  if (g.job.is_none() || minimum == g.told_min || is_met_both_ways) return;
  g.told_min = minimum;
  out_.add(MembersAdded{g.job, minimum, {}});
}

/// How many must start together. Where a gang that has started is short of pods, each that comes back starts by itself and none is surplus; so are
/// the pods of a basic PodGroup.
std::uint32_t Tracker::minimum_of(const GangRecord& g) const {
  if (g.is_pod_group && !g.is_gang) return 0;
  if (!g.is_started) return g.size;
  const auto bound = std::count_if(g.pods.begin(), g.pods.end(), [&](PodSlot s) { return pods_[s].phase == Phase::kBound; });
  return static_cast<std::uint32_t>(bound) < g.size ? 0 : g.size;
}

void Tracker::submit_members(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  std::vector<PodSlot> entering;
  Millis since;  // the last of them
  for (const PodSlot s : g.pods) {
    const PodRecord& r = pods_[s];
    since = std::max(since, eligible_since(r));
    if (r.is_in_engine()) continue;
    if (r.phase == Phase::kBound || (r.phase == Phase::kWaiting && g.is_open)) entering.push_back(s);
  }
  if (entering.empty()) return;
  sort_by_rank(pods_, entering);
  std::vector<MemberSpec> members;
  members.reserve(entering.size());
  const bool is_new = g.job.is_none();
  if (is_new) g.job = add_job({slot, kNoPod, g.within, g.prefer});
  for (const PodSlot s : entering) {
    PodRecord& r = pods_[s];
    pods_.set_member(s, member_rows_.add());
    r.job = g.job;
    if (r.constraint.is_none()) set_constraint(r, translator_.anywhere());
    members.push_back({r.member, r.demand, r.constraint});
  }
  g.in_engine += static_cast<std::uint32_t>(entering.size());
  g.told_min = minimum_of(g);
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
    if (g.duration.value > 0) w.estimate = {g.duration, g.duration};
    w.members = std::move(members);
    out_.add(Submitted{std::move(w)});
  } else {
    out_.add(MembersAdded{g.job, g.told_min, std::move(members)});
  }
  for (const PodSlot s : entering)
    if (pods_[s].phase == Phase::kBound) out_.add(Bound{pods_[s].member, pods_[s].node, devices_held(pods_[s])});
}

void Tracker::hold_members(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  if (listeners_.on_group_condition_due && g.is_pod_group && g.is_gang && !g.group_uid.empty()) listeners_.on_group_condition_due(slot);
  if (!listeners_.on_condition_due) return;
  // One sentence for all; who has it already is not asked for again at every change of one of them.
  const ConditionText text = hold_condition(*this, g);
  const std::uint64_t hash = condition_hash(text.reason, text.message);
  for (const PodSlot s : g.pods)
    if (pods_[s].phase == Phase::kWaiting && pods_[s].condition_hash != hash) listeners_.on_condition_due(s);
}

}  // namespace ashlar::kube
