#include "engine/pending/impossible_heads.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/grown.h"
#include "engine/explain/never_fits.h"
#include "engine/reserve/backfill.h"

namespace ashlar {
namespace {

/// Whether the blocked head was evaluated before nodes were added, removed or changed.
bool is_outdated(const EngineData& e, const State& state, const PendingQueue::Head& head) {
  if (state.cluster().live_count() == 0) return false;  // every job waits for the first node
  const std::size_t row = head.job_class.row();
  const bool is_judged = row < e.judged_on.size() && e.judged_on[row] == state.cluster().facts_change_count();
  const WakeOn wake_on = e.pending.class_at(head.job_class).verdict.wake_on;
  return !is_judged && (wake_on == WakeOn::kCapacity || wake_on == WakeOn::kQuota);
}

/// One, anywhere: whether some node would fit is all there is to prove.
bool needs_one_member(const EquivalenceClass& key) {
  return key.members_needed == 1 && key.within.is_none() && key.spec.is_none() && key.runs.empty() &&
         key.only.is_none();
}

bool could_take_when_empty(const State& state, const EquivalenceClass& key, NodeId n) {
  return state.cluster().is_live(n) && could_ever_take(state, key.demand, key.constraint, n);
}

/// What was proven in one walk over the queues: whether gangs of like members can never run, by the level that they
/// must stay within and the members that must start together.
using GangProofs = std::map<std::pair<LevelId, MemberRun>, bool>;

/// Whether the first job of a class that needs more than one member, or these in one domain, can never run. What is
/// proven for gangs of like members is true of those of all queues.
bool can_never_start(const EngineData& e, const State& state, GangProofs& proofs, const PendingQueue::Head& head) {
  const EquivalenceClass& key = e.pending.class_at(head.job_class).key;
  const auto prove = [&] { return ever_fits(state, head.entry.job) == EverFits::kNo; };
  if (!key.spec.is_none() || !key.runs.empty() || !key.only.is_none()) return prove();
  const MemberRun needed{key.demand, key.constraint, key.members_needed};
  const auto [proof, is_new] = proofs.try_emplace({key.within, needed}, false);
  if (is_new) proof->second = prove();
  return proof->second;
}

/// Whether the class's first job can never run. Of a class of single members the node is kept on which one was last
/// seen to fit: mostly that node is as it was, and nothing else is looked at.
bool can_never_run(EngineData& e, const State& state, GangProofs& proofs, const PendingQueue::Head& head) {
  const EquivalenceClass& key = e.pending.class_at(head.job_class).key;
  if (!needs_one_member(key)) return can_never_start(e, state, proofs, head);
  NodeId& known = grown(e.would_fit_on, head.job_class.row());
  const std::size_t rows = state.cluster().rows();
  if (known.row() < rows && could_take_when_empty(state, key, known)) return false;
  const std::size_t first = known.row() < rows ? known.row() : 0;
  for (std::size_t i = 0; i < rows; ++i)  // nodes like that one are mostly its neighbours
    if (const NodeId n((first + i) % rows); could_take_when_empty(state, key, n)) {
      known = n;
      return false;
    }
  return true;
}

std::size_t kind_count(const PendingQueue& pending) {
  std::size_t kinds = 0;
  for (const auto& [devices, level] : pending.waiting_for_capacity().levels()) kinds += level.listed.size();
  return kinds;
}

/// Queues in which a head may have become impossible, ascending: all with one or, where kinds are fewer than those,
/// the ones in which more waits than single members of kinds that still fit somewhere.
std::vector<QueueId> queues_to_look_at(EngineData& e, const State& state, GangProofs& proofs) {
  std::vector<QueueId> queues = e.pending.blocked_queues();
  if (queues.size() <= kind_count(e.pending)) return queues;
  queues.clear();
  for (const auto& [devices, level] : e.pending.waiting_for_capacity().levels())
    for (const auto& [kind, heads] : level.listed) {
      if (kind.is_single && !can_never_run(e, state, proofs, *heads.begin())) continue;
      for (const PendingQueue::Head& head : heads) queues.push_back(head.queue);
    }
  for (const std::set<ClassId>* classes : {&e.pending.waiting_for_quota(), &e.pending.waiting_in_parts()})
    for (const ClassId id : *classes) queues.push_back(e.pending.class_at(id).key.queue);
  std::sort(queues.begin(), queues.end());
  queues.erase(std::unique(queues.begin(), queues.end()), queues.end());
  return queues;
}

bool activate_in(EngineData& e, const State& state, Cycle& cycle, GangProofs& proofs, QueueId queue) {
  bool has_activated = false;
  if (!e.options.has_verdicts) return has_activated;  // nothing is found never to fit then
  for (const PendingQueue::Head* first = e.pending.first_blocked(queue); first != nullptr;
       first = e.pending.first_blocked(queue)) {
    const PendingQueue::Head head = *first;
    if (!is_outdated(e, state, head)) return has_activated;
    // Noted where a proof takes time: only those are looked at in each walk, after a restart as before it.
    if (!needs_one_member(e.pending.class_at(head.job_class).key))
      grown(e.judged_on, head.job_class.row()) = state.cluster().facts_change_count();
    if (!can_never_run(e, state, proofs, head)) return has_activated;
    cycle.impossible.insert(head.job_class);
    e.pending.activate(head.job_class);
    cycle.work.add(head);
    has_activated = true;
  }
  return has_activated;
}

}  // namespace

bool activate_impossible_heads(EngineData& e, const State& state, Cycle& cycle, QueueId queue) {
  GangProofs proofs;
  return activate_in(e, state, cycle, proofs, queue);
}

bool activate_impossible_heads(EngineData& e, const State& state, Cycle& cycle) {
  bool has_activated = false;
  if (!backfill_rule(*e.profile).has_blocking_heads || !e.options.has_verdicts) return has_activated;
  GangProofs proofs;
  std::vector<QueueId> changed = e.pending.take_changed_queues();
  if (std::exchange(e.heads_walked_on, state.cluster().facts_change_count()) != state.cluster().facts_change_count())
    changed = queues_to_look_at(e, state, proofs);  // those that have changed are among them
  for (const QueueId queue : changed) has_activated = activate_in(e, state, cycle, proofs, queue) || has_activated;
  return has_activated;
}

}  // namespace ashlar
