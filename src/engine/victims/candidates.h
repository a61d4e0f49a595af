// candidates: the running jobs that a waiting one may stop, in the order in which they give way.
#pragma once

#include <cstdint>
#include <vector>

#include "state/state.h"

namespace ashlar {

struct Candidates {
  std::vector<JobId> all;
  std::vector<JobId> left_out;  ///< their queues no longer borrow once all of those have stopped
};
/// Jobs that borrow come first, then those of the job's own queue; of each the lowest priority, and of these the one
/// that started last. A queue is taken to borrow as long as the candidates before have left it more than its guarantee.
/// `first`, one that was left out, comes before all others. Cost: O(running jobs).
Candidates candidates_for(const State& state, JobId job, JobId first = JobId::none());

/// Whether there is any candidate, for many jobs of one state. Cost: O(running jobs + queues) once; for a job O(1), and
/// O(queues x depth) where guarantees are stated.
class AnyCandidate {
 public:
  explicit AnyCandidate(const State& state);
  bool exists_for(JobId job) const;

 private:
  const State& state_;
  std::vector<std::int64_t> lowest_;  ///< by queue, priority of a running job; kNobody = none runs
};

}  // namespace ashlar
