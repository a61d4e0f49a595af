// HeldJobs: the jobs that could start at a decision and are not started, found without a look at reservations: the
// engine did not say that they lack capacity or quota, their quota admits them and a place is found for them.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "engine/engine.h"
#include "state/state.h"

namespace ashlar::bench {

class HeldJobs {
 public:
  /// Those that were not held at an earlier decision, in order. Cost: O(classes) placements and O(held jobs).
  std::vector<JobId> newly(State& state, Engine& engine);

 private:
  std::unordered_set<std::uint64_t> known_;  ///< Job::backlog_seq
};

/// Whether its quota admits the job and a place is found for it.
bool could_start(State& state, Engine& engine, JobId job);

/// The first waiting job of each queue that comes before this one and cannot start, and the first one of all of the queue
/// if that is held, in order.
std::vector<JobId> heads_before(State& state, Engine& engine, JobId job);

}  // namespace ashlar::bench
