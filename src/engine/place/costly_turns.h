// CostlyTurns: gangs of many kinds of members whose search finds no place, again and again, while others wait. First
// searches and further ones have a share of the time each, by what they look at; of both each queue has its part, and
// each gang its turn. Gangs that are put off stay active.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "base/quantity.h"
#include "engine/pending/pending_queue.h"
#include "state/state.h"

namespace ashlar {

/// Nodes that are looked at for its place and for the reason that there is none, for each kind of its members; where
/// some of them are enough, in the search through several choices what costs as much. Of each about 65 ns.
std::size_t looked_at_for(const State& state, const EquivalenceClass& key);
/// Whether the class's members are of at least this many kinds, in whatever order and groups. O(runs x `least`).
bool has_kinds(const EquivalenceClass& key, std::size_t least);

class CostlyTurns {
 public:
  /// Adds what has become due since the last decision; `at_once_max`: what one decision may spend at once.
  void refill(Millis now, std::size_t at_once_max);
  /// Whether it is the job's turn; it is put off else.
  bool take_turn(const State& state, JobId job);
  /// The search that followed found no place, at that cost.
  void note_failed(const State& state, JobId job, std::size_t looked_at);
  /// The job does not wait any more.
  void forget(JobId job) { searched_at_.erase(job); }
  /// The decision has gone through all that it was to look at. When to look at those that were put off in it; max() if
  /// none was.
  Millis next_turn();

 private:
  friend struct EngineFields;
  /// What may be spent, in nodes; below 0: more was than was due.
  struct Share {
    std::int64_t left = std::int64_t{1} << 48;
    void refill(Millis passed, std::int64_t per_milli, std::int64_t most);
    Millis wait(std::int64_t per_milli) const { return left > 0 ? Millis(0) : Millis(-left / per_milli + 1); }
  };
  struct OfQueue {
    std::int64_t spent = 0;    ///< more than the queue that has spent least of those with jobs that were put off
    bool is_behind = false;    ///< it had spent more before this decision: others have their part first
    std::set<JobId> had_turn;  ///< in this round
  };
  struct PutOff {
    bool has_new = false, has_others = false, has_one_without_turn = false;
  };
  bool is_new(const State& state, JobId job) const;

  Share first_, further_;
  Millis at_;                            ///< of the last refill
  bool is_short_ = false;                ///< something was put off in the last decision
  std::map<JobId, Millis> searched_at_;  ///< last; a job that was submitted later has its row now
  std::map<QueueId, OfQueue> queues_;
  // of this decision
  std::int64_t at_once_left_ = 0;  ///< for first searches
  std::map<QueueId, PutOff> put_off_;
};

}  // namespace ashlar
