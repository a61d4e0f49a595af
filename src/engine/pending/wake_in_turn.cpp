#include "engine/pending/wake_in_turn.h"

#include <algorithm>
#include <utility>

#include "engine/pending/room_on_freed.h"
#include "engine/reserve/backfill.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

/// Whether the class is among the parked kinds that wait for capacity: its members are alike.
bool is_parked_by_kind(const PendingQueue::Class& job_class) {
  return job_class.waits_for_capacity() && !job_class.jobs.empty() && job_class.key.runs.empty() &&
         job_class.key.only.is_none();
}

/// Whether classes that may have room can be woken one by one while jobs are started: in the order of jobs, and by no
/// rule that lists them all, or looks at what stays parked behind others.
bool may_wake_in_turn(const EngineData& e, const State& state) {
  return !backfill_rule(*e.profile).is_strict && !e.pending.queue_keys().are_compared() &&
         e.profile->order->newcomers == nullptr && state.nominations().empty() && state.yielding().empty();
}

bool any_has_devices(const State& state, std::span<const NodeId> nodes, std::int64_t devices) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](NodeId n) { return has_devices_free(state.cluster(), devices, n); });
}

/// All parked classes of like members that these nodes mean room for.
WokenInTurn those_with_room(EngineData& e, State& state, std::span<const NodeId> freed) {
  WokenInTurn found;
  for (const auto& [devices, kinds] : e.pending.waiting_for_capacity().levels()) {
    if (!any_has_devices(state, freed, devices)) continue;
    IdleDevices room(state.cluster(), devices);
    for (const auto& [kind, heads] : kinds.listed) {
      const auto could_take_one = [&, &of = kind](NodeId n) {
        return could_take(state, *e.profile, {of.demand, of.constraint, 1}, n, !of.is_single);
      };
      if (std::none_of(freed.begin(), freed.end(), could_take_one)) continue;
      if (kind.is_single) {
        found.list(devices, kind, heads);
        continue;
      }
      for (const ClassHead& head : heads)
        if (has_room_with_freed(e, state, e.pending.class_at(head.job_class).key, &room)) found.list(devices, head);
    }
  }
  return found;
}

}  // namespace

std::vector<ClassId> list_those_with_room(EngineData& e, State& state, Cycle& cycle, std::span<const NodeId> freed) {
  WokenInTurn found = those_with_room(e, state, freed);
  if (found.size() <= e.woken_at_once_max || !may_wake_in_turn(e, state)) return found.take_all(e.pending);
  found.order();
  cycle.in_turn = std::move(found);
  std::vector<ClassId> at_once;
  for (const Reservation& reservation : e.reservations.all()) {
    if (!e.pending.contains(reservation.entry.job)) continue;
    const ClassId id = e.pending.class_id(reservation.entry.job);
    const PendingQueue::Class& job_class = e.pending.class_at(id);
    if (is_parked_by_kind(job_class) && has_room_on_freed(e, state, freed, job_class.key)) at_once.push_back(id);
  }
  return at_once;
}

bool is_room_taken(EngineData& e, State& state, const Cycle& cycle, ClassId id) {
  if (!std::binary_search(cycle.woken_by_room.begin(), cycle.woken_by_room.end(), id)) return false;
  const EquivalenceClass& key = e.pending.class_at(id).key;
  if (!key.runs.empty() || !key.only.is_none()) return !are_parts_helped(e, state, cycle.freed_nodes, key);
  return !has_room_on_freed(e, state, cycle.freed_nodes, key);
}

void wake_in_turn(EngineData& e, State& state, Cycle& cycle) {
  while (const WokenInTurn::Next* next = cycle.in_turn.first()) {
    const ClassHead* other = cycle.work.first();
    if (other != nullptr && *other < next->head) return;
    const ClassHead head = next->head;
    const PendingQueue::Class& job_class = e.pending.class_at(head.job_class);
    if (!is_parked_by_kind(job_class) || *job_class.jobs.begin() != head.entry) {
      cycle.in_turn.pass(e.pending);  // something else has woken it
      continue;
    }
    const bool has_room = has_room_on_freed(e, state, cycle.freed_nodes, job_class.key);
    const bool is_explained = e.options.has_verdicts && cycle.explained_again < kExplainedAgainMax;
    if (has_room || is_explained) {
      if (!has_room) ++cycle.explained_again;
      cycle.in_turn.pass(e.pending);
      e.pending.activate(head.job_class);
      cycle.work.add(head);
      return;
    }
    if (any_has_devices(state, cycle.freed_nodes, cycle.in_turn.devices_of_first()))
      cycle.in_turn.drop_kind();
    else
      cycle.in_turn.drop_devices();
  }
}

void end_turns(EngineData& e, State& state, Cycle& cycle) {
  const std::vector<ClassId> others = cycle.in_turn.take_all(e.pending);
  if (others.empty()) return;
  if (!cycle.has_begun) {
    for (const ClassId id : others) e.pending.activate(id);
    return;
  }
  for (const NodeId n : cycle.freed_nodes) Ledger(state).note_freed(n);
  cycle.plan.look_again_at = cycle.plan.at;
}

}  // namespace ashlar
