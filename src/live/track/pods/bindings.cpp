#include "live/track/pods/bindings.h"

#include <algorithm>

#include "live/track/gangs/groups.h"
#include "live/track/gangs/membership.h"
#include "live/track/nodes/node_changes.h"
#include "live/track/pods/bound_pods.h"
#include "live/track/pods/pod_changes.h"
#include "live/track/pods/queues.h"
#include "live/track/pods/requests.h"
#include "live/track/volumes/pod_volumes.h"
#include "state/holds/kept.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

void count_up(std::uint8_t& count) {
  if (count < 255) ++count;
}

/// Fewer of the group's pods have a place than must start together, or it is to leave the gang.
bool lacks_placed_members(const TrackerData& t, const GangRecord& group) {
  const auto placed = std::count_if(group.pods.begin(), group.pods.end(), [&](PodSlot s) {
    return t.pods[s].phase == Phase::kAssumed || t.pods[s].phase == Phase::kBound;
  });
  return static_cast<std::uint32_t>(placed) < group.size || (group.is_group() && names_other_gang(t, group));
}

/// For a gang that has not started: whether fewer of its pods have a place than must start together. A started one
/// continues with what is left of it, but not while other pods of it wait for a place.
bool lacks_places(const TrackerData& t, const GangRecord& g) {
  bool lacks = false, has_begun = false, has_waiting = false;
  each_group(t, g, [&](const GangRecord& group) { lacks = lacks || lacks_placed_members(t, group); });
  for (const PodSlot s : g.pods) {
    const PodRecord& m = t.pods[s];
    has_begun = has_begun || m.phase == Phase::kBound || m.is_bind_under_way;
    has_waiting = has_waiting || m.phase == Phase::kWaiting;
  }
  return lacks && (!has_begun || has_waiting);
}

/// Members whose binding is not under way give their places back.
void reject_unsent(TrackerData& t, GangSlot slot) {
  // one that waits again may turn out to belong to another gang
  const std::vector<PodSlot> members = t.gangs[slot].pods;
  for (const PodSlot s : members)
    if (t.pods[s].phase == Phase::kAssumed && !t.pods[s].is_bind_under_way) note_rejected(t, s);
}

/// What is bound stays; what is under way is answered first; the rest gives its places back with the one that failed,
/// so that the remaining minimum is tried as a whole.
BindHold hold_gang(TrackerData& t, PodSlot slot, const std::string& words) {
  const GangSlot gang = t.pods[slot].gang;
  GangRecord& g = t.gangs.edit(gang);
  if (g.bind_hold != 0) return {};  // by another member, in this round
  g.bind_hold = ++t.bind_holds;
  g.bind_hold_pod = slot;
  g.bind_hold_detail = PooledString(words);
  count_up(g.bind_failures);
  const BindHold hold{.gang = gang, .number = g.bind_hold, .times = g.bind_failures};
  reject_unsent(t, gang);
  touch_gang(t, gang);
  return hold;
}

}  // namespace

void note_assumed(TrackerData& t, PodSlot slot, NodeId node, const PodDevices& devices) {
  PodRecord& r = t.pods.edit(slot);
  r.phase = Phase::kAssumed;
  r.node = node;
  r.devices = devices.devices;
  r.grants = devices.grants;
  r.has_stated_grants = false;
  r.is_bound_seen = false;
  r.bind_wait = PooledString();
  r.chosen_at = t.nodes_edition;
  ++r.bind_attempt;
  end_keeping_apart(t, slot);
  set_mounted(t, slot, node);
}

void note_rejected(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  if (r.phase != Phase::kAssumed) return;
  t.out.stamp();
  r.phase = Phase::kWaiting;
  r.node = NodeId::none();
  set_mounted(t, slot, NodeId::none());
  if (r.is_in_engine()) t.out.add(BindRejected{r.member});
  wait_again(t, slot);
  if (r.gang == kNoGang) return;
  const bool waits_for_answers = t.gangs[r.gang].kind == GangKind::kGroups || names_other_gang(t, t.gangs[r.gang]);
  if (is_gang_held(t, slot) || waits_for_answers) touch_gang(t, r.gang);  // it leaves the engine with the others
}

bool is_place_outdated(const TrackerData& t, PodSlot slot, const State* state) {
  const PodRecord& r = t.pods[slot];
  if (t.missed.contains(slot) || has_lost_volumes(t, slot)) return true;
  if (!t.anti_affinity.is_empty() && t.anti_affinity.refuses(r.ns, r.its_labels(), t.nodes[r.node.row()].labels))
    return true;
  if (state == nullptr) return false;
  const auto has_news = [&](PodSlot s) {
    const PodRecord& m = t.pods[s];
    if (m.phase != Phase::kAssumed && m.phase != Phase::kBound) return false;
    if (t.nodes[m.node.row()].reported_edition > r.chosen_at) return true;
    if (s != slot && m.is_bind_under_way) return false;  // answered before a new place may be chosen
    return m.phase == Phase::kAssumed && is_overcommitted(*state, m.node, t.translator.demand_of(m.demand), m.devices);
  };
  if (has_news(slot)) return true;
  if (r.gang == kNoGang) return false;
  const GangRecord& g = t.gangs[r.gang];
  const bool starts_together = g.is_gang && !g.is_started;
  if (starts_together && lacks_places(t, g)) return true;
  const bool goes_together = has_domain(t, g);
  return std::any_of(g.pods.begin(), g.pods.end(), [&](PodSlot s) {
    const bool starts_with_it = starts_together && t.pods[s].phase == Phase::kAssumed && !t.pods[s].is_bind_under_way;
    return (starts_with_it && t.missed.contains(s)) || ((goes_together || starts_with_it) && has_news(s));
  });
}

void choose_anew(TrackerData& t, PodSlot slot) {
  const GangSlot gang = t.pods[slot].gang;
  note_rejected(t, slot);
  if (gang != kNoGang && t.gangs[gang].is_gang && !t.gangs[gang].is_started) reject_unsent(t, gang);
}

void hold_until_answered(TrackerData& t, PodSlot slot) {
  const std::string node = t.pods[slot].unanswered_node.str();
  hold_pod(t, slot,
           {HoldReason::kBindFailed, "node " + node + " was deleted, and the binding to it is not answered yet"});
  t.pods.edit(slot).bind_hold = ++t.bind_holds;
  if (t.pods[slot].gang != kNoGang) reject_unsent(t, t.pods[slot].gang);
  const auto missed = t.missed.find(slot);
  if (missed == t.missed.end()) return;
  const Pod pod = std::move(missed->second);
  t.missed.erase(missed);
  see_pending(t, slot, pod);
}

/// Pods that start one by one, anywhere, do not wait for each other's answers.
PodSlot unanswered_in(const Tables& t, const GangRecord& g) {
  const bool goes_together = (g.is_gang && !g.is_started) || has_domain(t, g);
  if (!goes_together) return kNoPod;
  const auto found =
      std::find_if(g.pods.begin(), g.pods.end(), [&](PodSlot s) { return !t.pods[s].unanswered_node.empty(); });
  return found == g.pods.end() ? kNoPod : *found;
}

/// The last answer about a node of that name opens it, and the gang may continue.
void note_answered(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  r.is_bind_under_way = false;
  if (r.unanswered_node.empty()) return;
  t.out.stamp();
  const PooledString name = r.unanswered_node;
  r.unanswered_node = PooledString();
  if (r.gang != kNoGang) touch_gang(t, r.gang);
  const auto asked = t.unanswered_nodes.find(name);
  if (--asked->second > 0) return;
  t.unanswered_nodes.erase(asked);
  const NodeId node = t.names.nodes.find(name);
  if (node.is_none()) return;
  t.closings.edit(node.row()).has_unanswered = false;
  close_or_open(t, node);
}

void note_not_bound(TrackerData& t, PodSlot slot) {
  PodRecord& r = t.pods.edit(slot);
  if (!r.is_bind_under_way) return;
  note_answered(t, slot);
  end_bind_hold(t, {.pod = slot, .generation = r.generation, .number = r.bind_hold});
}

BindHold note_bind_failed(TrackerData& t, PodSlot slot, const std::string& words) {
  note_rejected(t, slot);
  PodRecord& r = t.pods.edit(slot);
  if (r.phase != Phase::kWaiting) return {};
  const bool is_held_together = r.gang != kNoGang && t.gangs[r.gang].is_gang && !t.gangs[r.gang].is_started;
  if (is_held_together) return hold_gang(t, slot, words);
  hold_pod(t, slot, {HoldReason::kBindFailed, words});
  r.bind_hold = ++t.bind_holds;
  count_up(r.bind_failures);
  return {.pod = slot, .generation = r.generation, .number = r.bind_hold, .times = r.bind_failures};
}

BindHold note_undone(TrackerData& t, PodSlot slot, const std::string& words) {
  t.out.stamp();
  PodRecord& r = t.pods.edit(slot);
  if (r.phase == Phase::kOnUnknownNode) leave_unknown_node(t, slot);
  leave_node(t, slot);
  r.node_name = PooledString();
  r.devices = {};
  r.grants.reset();
  r.has_stated_grants = false;
  hold_pod(t, slot, {HoldReason::kBindFailed, words});
  set_constraint(t, r, constraint_for(t, slot));  // of a bound pod it was another
  r.bind_hold = ++t.bind_holds;
  count_up(r.bind_failures);
  return {.pod = slot, .generation = r.generation, .number = r.bind_hold, .times = r.bind_failures};
}

bool is_gang_held(const TrackerData& t, PodSlot slot) {
  const GangSlot gang = t.pods[slot].gang;
  if (gang == kNoGang) return false;
  return t.gangs[gang].bind_hold != 0 || (!t.unanswered_nodes.empty() && unanswered_in(t, t.gangs[gang]) != kNoPod);
}

void end_bind_hold(TrackerData& t, const BindHold& hold) {
  t.out.stamp();
  if (hold.gang != kNoGang) {
    if (t.gangs[hold.gang].is_used && t.gangs[hold.gang].bind_hold == hold.number) forget_bind_hold(t, hold.gang);
    return;
  }
  if (!t.pods.is_current(hold.pod, hold.generation)) return;
  const PodRecord& r = t.pods[hold.pod];
  if (r.phase == Phase::kHeld && r.hold == HoldReason::kBindFailed && r.bind_hold == hold.number)
    admit_again(t, hold.pod);
}

void forget_bind_hold(TrackerData& t, GangSlot slot) {
  GangRecord& g = t.gangs.edit(slot);
  g.bind_hold = 0;
  g.bind_hold_pod = kNoPod;
  g.bind_hold_detail = PooledString();
  touch_gang(t, slot);
}

}  // namespace ashlar::kube
