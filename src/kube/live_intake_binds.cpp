// The intake's failed bindings: who waits outside the engine for how long, and what brings them back early.
#include <algorithm>

#include "base/digest.h"
#include "kube/live_intake.h"

namespace ashlar::kube {

using Phase = PodRecord::Phase;

namespace {

void count_up(std::uint8_t& count) {
  if (count < 255) ++count;
}

}  // namespace

void LiveIntake::note_assumed(PodSlot slot, NodeId node, const CardMask& cards) {
  PodRecord& r = pods_[slot];
  r.phase = Phase::kAssumed;
  r.node = node;
  r.cards = cards;
  ++r.bind_turn;
}

void LiveIntake::note_rejected(PodSlot slot) {
  PodRecord& r = pods_[slot];
  if (r.phase != Phase::kAssumed) return;
  out_.stamp();
  r.phase = Phase::kWaiting;
  r.node = NodeId::none();
  if (r.is_in_engine()) out_.add(BindRejected{r.member});
  wait_again(slot);
  if (is_gang_held(slot)) touch(r.gang);  // it leaves the engine with the others
}

/// The node of an assumed pod went, and whether the pod is bound to it nobody knows yet: no other node is asked for before.
void LiveIntake::hold_until_answered(PodSlot slot, const Text& node_name) {
  hold_pod(slot, {HoldReason::kBindFailed, "node " + node_name.str() + " went, and the binding to it is not answered yet"});
  pods_[slot].bind_hold = ++bind_holds_;
}

void LiveIntake::note_not_bound(PodSlot slot) {
  PodRecord& r = pods_[slot];
  if (!r.is_bind_under_way) return;
  r.is_bind_under_way = false;
  end_bind_hold({.pod = slot, .generation = r.generation, .number = r.bind_hold});
}

void LiveIntake::wait_again(PodSlot slot) {
  if (const auto missed = missed_.find(slot); missed != missed_.end()) {
    const Pod pod = std::move(missed->second);
    missed_.erase(missed);
    return see_pending(slot, pod);
  }
  renew_constraint(slot);
  if (!pods_[slot].names_queue) move_to_queue(slot, queue_name_in(pods_[slot].ns));
}

BindHold LiveIntake::note_bind_failed(PodSlot slot, const std::string& words) {
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
BindHold LiveIntake::hold_gang(PodSlot slot, const std::string& words) {
  const GangSlot gang = pods_[slot].gang;
  GangRecord& g = gangs_[gang];
  if (g.bind_hold != 0) return {};  // by another member, in this round
  g.bind_hold = ++bind_holds_;
  g.bind_hold_pod = slot;
  g.bind_hold_detail = Text(words);
  count_up(g.bind_failures);
  const BindHold hold{.gang = gang, .number = g.bind_hold, .times = g.bind_failures};
  const std::vector<PodSlot> members = g.pods;  // one that waits again may find that it belongs to another gang
  for (const PodSlot s : members)
    if (pods_[s].phase == Phase::kAssumed && !pods_[s].is_bind_under_way) note_rejected(s);
  touch(gang);
  return hold;
}

bool LiveIntake::is_gang_held(PodSlot slot) const {
  const GangSlot gang = pods_[slot].gang;
  return gang != kNoGang && gangs_[gang].bind_hold != 0;
}

void LiveIntake::end_bind_hold(const BindHold& hold) {
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

void LiveIntake::forget_bind_hold(GangSlot slot) {
  GangRecord& g = gangs_[slot];
  g.bind_hold = 0;
  g.bind_hold_pod = kNoPod;
  g.bind_hold_detail = Text();
  touch(slot);
}

/// Labels and our own annotations; never 0. Demands and rules have rows of their own to compare; status is not the owner's.
std::uint64_t LiveIntake::owner_hash(const Pod& pod) {
  std::uint64_t sum = 1;
  for (const std::shared_ptr<const Labels>& labels : {pod.labels, pod.annotations}) {
    if (!labels) continue;
    for (const auto& [key, value] : *labels) sum += hash_combine(key.content_hash(), value.content_hash());
    sum = mix64(sum);
  }
  return sum == 0 ? 1 : sum;
}

}  // namespace ashlar::kube
