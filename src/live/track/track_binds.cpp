// The tracker's failed bindings: who waits outside the engine for how long, and what brings them back early.
#include <algorithm>

#include "base/digest.h"
#include "live/track/tracker.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

void count_up(std::uint8_t& count) {
  if (count < 255) ++count;
}

}  // namespace

void Tracker::note_assumed(PodSlot slot, NodeId node, const DeviceMask& devices) {
  PodRecord& r = pods_[slot];
  r.phase = Phase::kAssumed;
  r.node = node;
  r.devices = devices;
  r.chosen_at = nodes_edition_;
  ++r.bind_attempt;
}

void Tracker::note_rejected(PodSlot slot) {
  PodRecord& r = pods_[slot];
  if (r.phase != Phase::kAssumed) return;
  out_.stamp();
  r.phase = Phase::kWaiting;
  r.node = NodeId::none();
  if (r.is_in_engine()) out_.add(BindRejected{r.member});
  wait_again(slot);
  if (is_gang_held(slot)) touch(r.gang);  // it leaves the engine with the others
}

bool Tracker::is_place_outdated(PodSlot slot, const Cluster* cluster) const {
  const PodRecord& r = pods_[slot];
  if (missed_.contains(slot)) return true;
  if (!anti_affinity_.is_empty() && anti_affinity_.refuses(r.ns, r.its_labels(), nodes_[r.node.row()].labels)) return true;
  if (cluster == nullptr) return false;
  const auto has_news = [&](PodSlot s) {
    const PodRecord& m = pods_[s];
    if (m.phase != Phase::kAssumed && m.phase != Phase::kBound) return false;
    if (nodes_[m.node.row()].told_at > r.chosen_at) return true;
    if (s != slot && m.is_bind_under_way) return false;  // answered before anybody can choose again
    return m.phase == Phase::kAssumed && cluster->is_overcommitted(m.node, translator_.demand_of(m.demand), m.devices);
  };
  if (has_news(slot)) return true;
  if (r.gang == kNoGang) return false;
  const GangRecord& g = gangs_[r.gang];
  const bool starts_together = g.is_gang && !g.is_started;
  if (starts_together && lacks_places(g)) return true;
  return std::any_of(g.pods.begin(), g.pods.end(), [&](PodSlot s) {
    const bool starts_with_it = starts_together && pods_[s].phase == Phase::kAssumed && !pods_[s].is_bind_under_way;
    return (starts_with_it && missed_.contains(s)) || ((!g.within.is_none() || starts_with_it) && has_news(s));
  });
}

bool Tracker::lacks_places(const GangRecord& g) const {
  std::uint32_t placed = 0;
  bool has_begun = false, has_waiting = false;
  for (const PodSlot s : g.pods) {
    const PodRecord& m = pods_[s];
    placed += m.phase == Phase::kAssumed || m.phase == Phase::kBound ? 1 : 0;
    has_begun = has_begun || m.phase == Phase::kBound || m.is_bind_under_way;
    has_waiting = has_waiting || m.phase == Phase::kWaiting;
  }
  return placed < g.size && (!has_begun || has_waiting);
}

void Tracker::choose_anew(PodSlot slot) {
  const GangSlot gang = pods_[slot].gang;
  note_rejected(slot);
  if (gang != kNoGang && gangs_[gang].is_gang && !gangs_[gang].is_started) reject_unsent(gang);
}

void Tracker::hold_until_answered(PodSlot slot) {
  const std::string node = pods_[slot].asked_node.str();
  hold_pod(slot, {HoldReason::kBindFailed, "node " + node + " went, and the binding to it is not answered yet"});
  pods_[slot].bind_hold = ++bind_holds_;
  if (pods_[slot].gang != kNoGang) reject_unsent(pods_[slot].gang);
  const auto missed = missed_.find(slot);
  if (missed == missed_.end()) return;
  const Pod pod = std::move(missed->second);
  missed_.erase(missed);
  see_pending(slot, pod);
}

/// Pods that start one by one, wherever there is room, wait for nobody's answer.
PodSlot Tracker::unanswered_in(const GangRecord& g) const {
  const bool goes_together = (g.is_gang && !g.is_started) || !g.within.is_none();
  if (asked_nodes_.empty() || !goes_together) return kNoPod;
  const auto found = std::find_if(g.pods.begin(), g.pods.end(), [&](PodSlot s) { return !pods_[s].asked_node.empty(); });
  return found == g.pods.end() ? kNoPod : *found;
}

/// The last answer about a node of that name opens it, and the gang may go on.
void Tracker::note_answered(PodSlot slot) {
  PodRecord& r = pods_[slot];
  r.is_bind_under_way = false;
  if (r.asked_node.empty()) return;
  out_.stamp();
  const PooledString name = r.asked_node;
  r.asked_node = PooledString();
  if (r.gang != kNoGang) touch(r.gang);
  const auto asked = asked_nodes_.find(name);
  if (--asked->second > 0) return;
  asked_nodes_.erase(asked);
  const NodeId node = names_.nodes.find(name);
  if (node.is_none()) return;
  nodes_[node.row()].is_asked = false;
  close_or_open(node);
}

void Tracker::note_not_bound(PodSlot slot) {
  PodRecord& r = pods_[slot];
  if (!r.is_bind_under_way) return;
  note_answered(slot);
  end_bind_hold({.pod = slot, .generation = r.generation, .number = r.bind_hold});
}

void Tracker::wait_again(PodSlot slot) {
  if (const auto missed = missed_.find(slot); missed != missed_.end()) {
    const Pod pod = std::move(missed->second);
    missed_.erase(missed);
    return see_pending(slot, pod);
  }
  renew_constraint(slot);
  if (!pods_[slot].names_queue) move_to_queue(slot, queue_name_in(pods_[slot].ns));
}

BindHold Tracker::note_bind_failed(PodSlot slot, const std::string& words) {
  note_rejected(slot);
  PodRecord& r = pods_[slot];
  if (r.phase != Phase::kWaiting) return {};
  const bool is_held_together = r.gang != kNoGang && gangs_[r.gang].is_gang && !gangs_[r.gang].is_started;
  if (is_held_together) return hold_gang(slot, words);
  hold_pod(slot, {HoldReason::kBindFailed, words});
  r.bind_hold = ++bind_holds_;
  count_up(r.bind_failures);
  return {.pod = slot, .generation = r.generation, .number = r.bind_hold, .times = r.bind_failures};
}

/// What is bound stays; what is under way is answered first; the rest gives its places back with the one that failed, so that the minimum that is left
/// is tried as a whole.
BindHold Tracker::hold_gang(PodSlot slot, const std::string& words) {
  const GangSlot gang = pods_[slot].gang;
  GangRecord& g = gangs_[gang];
  if (g.bind_hold != 0) return {};  // by another member, in this round
  g.bind_hold = ++bind_holds_;
  g.bind_hold_pod = slot;
  g.bind_hold_detail = PooledString(words);
  count_up(g.bind_failures);
  const BindHold hold{.gang = gang, .number = g.bind_hold, .times = g.bind_failures};
  reject_unsent(gang);
  touch(gang);
  return hold;
}

void Tracker::reject_unsent(GangSlot slot) {
  const std::vector<PodSlot> members = gangs_[slot].pods;  // one that waits again may find that it belongs to another gang
  for (const PodSlot s : members)
    if (pods_[s].phase == Phase::kAssumed && !pods_[s].is_bind_under_way) note_rejected(s);
}

bool Tracker::is_gang_held(PodSlot slot) const {
  const GangSlot gang = pods_[slot].gang;
  return gang != kNoGang && (gangs_[gang].bind_hold != 0 || unanswered_in(gangs_[gang]) != kNoPod);
}

void Tracker::end_bind_hold(const BindHold& hold) {
  out_.stamp();
  if (hold.gang != kNoGang) {
    if (gangs_[hold.gang].is_used && gangs_[hold.gang].bind_hold == hold.number) forget_bind_hold(hold.gang);
    return;
  }
  if (!pods_.is_current(hold.pod, hold.generation)) return;
  const PodRecord& r = pods_[hold.pod];
  if (r.phase == Phase::kHeld && r.hold == HoldReason::kBindFailed && r.bind_hold == hold.number)
    r.names_queue ? admit(hold.pod) : move_to_queue(hold.pod, queue_name_in(r.ns));  // the namespace's queue may have changed meanwhile
}

void Tracker::forget_bind_hold(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  g.bind_hold = 0;
  g.bind_hold_pod = kNoPod;
  g.bind_hold_detail = PooledString();
  touch(slot);
}

/// Labels and our own annotations; never 0. Demands and rules have rows of their own to compare; status is not the owner's.
std::uint64_t Tracker::owner_hash(const Pod& pod) {
  std::uint64_t sum = 1;
  for (const std::shared_ptr<const Labels>& labels : {pod.labels, pod.annotations}) {
    if (!labels) continue;
    for (const auto& [key, value] : *labels) sum += hash_combine(key.content_hash(), value.content_hash());
    sum = mix64(sum);
  }
  return sum == 0 ? 1 : sum;
}

}  // namespace ashlar::kube
