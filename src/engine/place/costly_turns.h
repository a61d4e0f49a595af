// CostlyTurns: gangs of many kinds of members whose search finds no place, again and again, while others wait. Their
// first search is due at once, as long as not too much was spent; further ones have a share of the time, by what they
// look at, of which each queue has its part and each gang its turn. Gangs that are put off stay active.
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
  struct OfQueue {
    std::int64_t spent = 0;    ///< more than the queue that has spent least of those with jobs that were put off
    std::set<JobId> had_turn;  ///< in this round
  };
  bool is_new(const State& state, JobId job) const;
  bool has_turn(QueueId queue, JobId job) const;

  std::int64_t left_ = std::int64_t{1} << 48;  ///< nodes; below 0: more was spent than was due
  Millis at_;                                  ///< of the last refill
  bool is_short_ = false;                      ///< something was put off in the last decision
  std::map<JobId, Millis> searched_at_;        ///< last; a job that was submitted later has its row now
  std::map<QueueId, OfQueue> queues_;
  // of this decision
  std::int64_t at_once_left_ = 0, left_for_new_above_ = 0;
  bool has_put_off_new_ = false;
  std::map<QueueId, bool> put_off_;  ///< jobs that are not new: whether one had no turn
};

}  // namespace ashlar
