#include "live/track/gangs/groups.h"

#include <algorithm>

#include "live/track/gangs/membership.h"
#include "live/track/pods/bindings.h"
#include "live/track/pods/jobs.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

/// What the PodGroup's bound pods are charged to, itself or as a group; none: it has none.
QueueId charged_queue(const Tables& t, const GangRecord& g) {
  const auto is_bound = [&](PodSlot s) { return t.pods[s].phase == Phase::kBound; };
  const auto bound = std::find_if(g.pods.begin(), g.pods.end(), is_bound);
  if (bound == g.pods.end()) return QueueId::none();
  const GangRecord& with_job = job_record(t, g);
  return with_job.job.is_none() ? t.pods[*bound].queue : with_job.queue;
}

/// The gang that the PodGroup names is of another queue than its bound pods are charged to. Were they to go there, they
/// would be charged to that queue, whatever its limit, and leave their own free for more.
bool is_charged_elsewhere(const Tables& t, const GangRecord& g, QueueId charged) {
  const GangSlot whole = t.gangs.find(g.ns, g.settings.gang, GangKind::kGroups);
  if (charged.is_none() || whole == kNoGang || t.gangs[whole].pods.empty()) return false;
  const QueueId queue = t.gangs[whole].queue;
  return !queue.is_none() && queue != charged;
}

std::string charged_elsewhere_text(const Tables& t, const GangRecord& g, QueueId charged) {
  const GangSlot whole = t.gangs.find(g.ns, g.settings.gang, GangKind::kGroups);
  return "PodGroup " + g.ns.str() + "/" + g.name.str() + " names gang " + g.settings.gang.str() + " of queue " +
         t.names.queues.name(t.gangs[whole].queue).str() + ", but its running pods are charged to queue " +
         t.names.queues.name(charged).str() + ": it stays a gang by itself";
}

bool has_binding_under_way(const Tables& t, const GangRecord& g) {
  return std::any_of(g.pods.begin(), g.pods.end(), [&](PodSlot s) { return t.pods[s].phase == Phase::kAssumed; });
}

void say_charged_elsewhere(TrackerData& t, const GangRecord& g, QueueId charged) {
  std::string text = charged_elsewhere_text(t, g, charged);
  if (t.listeners.log && t.log_paces.admit(t.out.now(), g.ns, text))
    t.listeners.log(LogLevel::kWarning, {text, "podgroup", g.ns, g.name});
}

/// `charged`: the queue of its bound pods; none: it has none.
void join_whole(TrackerData& t, GangSlot slot, GangSlot whole, QueueId charged) {
  GangRecord& g = t.gangs.edit(slot);
  GangRecord& w = t.gangs.edit(whole);
  g.whole = whole;
  if (w.pods.empty()) w.first_seen = t.out.now();
  if (!charged.is_none() && (w.pods.empty() || w.queue.is_none())) w.queue = charged;  // for those that follow
  w.groups.push_back(slot);
  w.pods.insert(w.pods.end(), g.pods.begin(), g.pods.end());
  ++t.nodes_edition;  // places chosen without it may not be sent
  for (const PodSlot s : g.pods) {
    t.pods.edit(s).gang = whole;
    t.pods.edit(s).group = slot;
  }
}

}  // namespace

bool names_other_gang(const Tables& t, const GangRecord& g) {
  if (!g.is_pod_group()) return false;
  return g.is_group() ? t.gangs[g.whole].name != g.settings.gang : !g.settings.gang.empty();
}

std::string apart_text(const Tables& t, const GangRecord& g) {
  if (!names_other_gang(t, g)) return {};
  const QueueId charged = charged_queue(t, g);
  if (is_charged_elsewhere(t, g, charged)) return charged_elsewhere_text(t, g, charged);
  if (!has_binding_under_way(t, g)) return {};
  const std::string from =
      g.is_group() ? " leaves gang " + t.gangs[g.whole].name.str() : " joins gang " + g.settings.gang.str();
  return "PodGroup " + g.ns.str() + "/" + g.name.str() + from + " once its bindings under way are answered";
}

bool move_group(TrackerData& t, GangSlot slot) {
  if (!names_other_gang(t, t.gangs[slot])) return false;
  if (has_binding_under_way(t, t.gangs[slot])) return false;
  const std::vector<PodSlot> pods = t.gangs[slot].pods;
  const QueueId charged = charged_queue(t, t.gangs[slot]);
  const bool joins = !t.gangs[slot].settings.gang.empty() && !is_charged_elsewhere(t, t.gangs[slot], charged);
  if (!joins && !t.gangs[slot].settings.gang.empty()) say_charged_elsewhere(t, t.gangs[slot], charged);
  if (!joins && !t.gangs[slot].is_group()) return false;
  for (const PodSlot s : pods)  // whatever queue they name now
    if (t.pods[s].phase == Phase::kBound) t.pods.edit(s).queue = charged;
  if (t.gangs[slot].bind_hold != 0) forget_bind_hold(t, slot);
  for (const PodSlot s : pods) withdraw_pod(t, s);
  if (t.gangs[slot].is_group()) leave_whole(t, slot);
  const PooledString ns = t.gangs[slot].ns, name = t.gangs[slot].settings.gang;
  if (joins) join_whole(t, slot, t.gangs.find_or_add(ns, name, GangKind::kGroups), charged);
  GangRecord& g = t.gangs.edit(slot);
  g.is_open = g.is_started = false;
  g.submitted = Millis(0);
  g.hold_found = 0;
  if (!charged.is_none()) t.bound_outside.push_back(g.is_group() ? g.whole : slot);
  touch_gang(t, slot);
  return true;
}

void leave_whole(TrackerData& t, GangSlot slot) {
  GangRecord& g = t.gangs.edit(slot);
  const GangSlot whole = g.whole;
  GangRecord& w = t.gangs.edit(whole);
  if (w.bind_hold != 0 && w.bind_hold_pod != kNoPod && t.pods[w.bind_hold_pod].group == slot)
    forget_bind_hold(t, whole);
  std::erase(w.groups, slot);
  std::erase_if(w.pods, [&](PodSlot s) { return t.pods[s].group == slot; });
  for (const PodSlot s : g.pods) {
    t.pods.edit(s).gang = slot;
    t.pods.edit(s).group = kNoGang;
  }
  g.whole = kNoGang;
  ++t.nodes_edition;  // what is left of the gang may be too little to be sent
  touch_gang(t, whole);
  remove_if_unused(t, whole);
}

void sort_groups(const Tables& t, std::vector<GangSlot>& groups) {
  std::sort(groups.begin(), groups.end(), [&](GangSlot a, GangSlot b) {
    const GangRecord &x = t.gangs[a], &y = t.gangs[b];
    return x.settings.rank != y.settings.rank ? x.settings.rank < y.settings.rank : is_name_before(x.name, y.name);
  });
}

GangSpec groups_spec(const Tables& t, const GangRecord& g) {
  GangSpec spec;
  for (const GangSlot slot : g.groups) {
    if (spec.groups.size() == GangSpec::kGroupsMax) break;  // such a gang is held
    const GangRecord& group = t.gangs[slot];
    spec.groups.push_back({std::min(group.size, GangSpec::kMinimumMax), group.within, group.prefer});
  }
  return spec;
}

const GangRecord* told_group(const Tables& t, const GangRecord& g, std::size_t number) {
  if (number >= g.told_groups.size()) return nullptr;
  const GangRecord& group = t.gangs[g.told_groups[number]];
  return group.is_group() && &t.gangs[group.whole] == &g ? &group : nullptr;  // the slot may be another's by now
}

std::string told_group_text(const Tables& t, const GangRecord* g, std::size_t number) {
  const GangRecord* group = g == nullptr ? nullptr : told_group(t, *g, number);
  return group == nullptr ? "group " + std::to_string(number + 1) + " of the gang" : group->said();
}

bool has_domain(const Tables& t, const GangRecord& g) {
  bool has = !g.within.is_none();
  each_group(t, g, [&](const GangRecord& group) { has = has || !group.within.is_none(); });
  return has;
}

}  // namespace ashlar::kube
