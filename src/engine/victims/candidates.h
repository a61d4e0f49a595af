// candidates: the running jobs that a waiting one may stop by the rules of its queue, in the order in which they give
// way.
#pragma once

#include <cstdint>
#include <vector>

#include "model/plan.h"
#include "state/state.h"

namespace ashlar {

/// Without those for which the job gave way itself (GaveWay).
class Candidates {
 public:
  /// Cost: O(running jobs).
  Candidates(const State& state, JobId job, Millis now);
  struct Order {
    std::vector<JobId> jobs;
    std::vector<JobId> left_out;  ///< their queues no longer borrow once all of those have stopped
  };
  /// Jobs that borrow come first, then those of the job's own queue; of each the lowest priority, and of these the one
  /// that started last. A queue is taken to borrow as long as the ones before have left it more than its guarantee.
  /// `first`, one that was left out, comes before all others. Cost: O(candidates x queues above them).
  Order in_order(JobId first = JobId::none()) const;
  /// When the first of those that are protected now may be stopped; Millis::max(): there are none.
  Millis more_at() const { return more_at_; }

 private:
  const State& state_;
  JobId job_;
  std::vector<JobId> own_, others_;  ///< in the order in which they give way
  Millis more_at_ = Millis::max();
};

/// By which rule a candidate is stopped for the job. O(queues above both).
StopReason stop_reason(const State& state, JobId job, JobId candidate);

/// Whether there could be any candidate, for many jobs of one state; perhaps one that is protected. Cost: O(running
/// jobs + queues) once; for a job O(1), and O(queues x depth) where guarantees are stated.
class AnyCandidate {
 public:
  explicit AnyCandidate(const State& state);
  bool exists_for(JobId job) const;

 private:
  const State& state_;
  std::vector<std::int64_t> lowest_;  ///< by queue, priority of a running job; kNobody = none runs
};

}  // namespace ashlar
