// CostlyTurns: gangs of unlike members whose search finds no place, again and again, while others wait. Such searches
// have a share of the time, by what they look at, and each gang has its turn. Gangs that are put off stay active.
#pragma once

#include <cstddef>
#include <cstdint>
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
  /// Whether a search for the class counts.
  static bool is_costly(const EquivalenceClass& key) { return !key.runs.empty(); }

  /// Adds what has become due since the last decision; `at_once_max`: what one decision may spend at once.
  void refill(Millis now, std::size_t at_once_max);
  /// Whether it is the job's turn; it is put off else.
  bool take_turn(JobId job);
  /// The search that followed found no place, at that cost.
  void note_failed(JobId job, std::size_t looked_at);
  /// The decision has gone through all that it was to look at. When to look at those that were put off in it; max() if
  /// none was.
  Millis next_turn(Millis now);

 private:
  friend struct EngineFields;
  std::int64_t left_ = std::int64_t{1} << 48;  ///< nodes; below 0: more was spent than was due
  Millis at_;                                  ///< of the last refill
  bool is_short_ = false;                      ///< something was put off in this round since nothing was left
  std::set<JobId> had_turn_;                   ///< in this round
  // of this decision
  bool has_put_off_one_without_turn_ = false, has_put_off_any_ = false;
};

}  // namespace ashlar
