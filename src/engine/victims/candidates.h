// candidates: the running jobs that a waiting one may stop by the rules of its queue, and the members that such jobs
// run on without, in the order in which they give way.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "engine/victims/victim.h"
#include "model/plan.h"
#include "policy/order_policy.h"
#include "state/state.h"

namespace ashlar {

/// Without those for which the job gave way itself (GaveWay). Where they go by what is lost, a job that gave way stops
/// none of its own queue: more would be lost for one start. A job's members beyond its minimum go one by one, before
/// the rest of it.
class Candidates {
 public:
  /// In which order those of a queue give way that differ in nothing else.
  enum class First {
    kLowestPriority,     ///< of these the one that started last
    kLeastLost,          ///< by all its devices, see LostWork; members beyond a minimum before all else
    kLeastLostByDevice,  ///< by one of them, see Job::lost_if_stopped; likewise
  };
  /// `order`: of the profile. `started`: jobs that the plan has started, which it does not stop again: the next one
  /// may. Cost: O(queues x depth), and O(running jobs and their members) of queues of which some may be stopped.
  Candidates(const State& state, const OrderPolicy& order, JobId job, Millis now, First first,
             const std::set<JobId>& started = {});
  /// Those of them that have a pod on a node that the job may use by its rules. Cost: O(their members x constraints of
  /// the job).
  Candidates on_its_nodes() const;
  std::size_t size() const { return own_.size() + others_.size() + unstoppable_.size(); }
  struct Order {
    std::vector<Victim> victims;
    std::vector<Victim> left_out;  ///< their queues no longer borrow once all of those have stopped
  };
  /// Jobs that borrow come first, then those of the job's own queue. A queue is taken to borrow as long as the ones
  /// before have left it more than its guarantee; unstoppable ones are stopped last, the newest of them first,
  /// and those that their queue's guarantee covers are not. `first`, one that was left out, comes before all others.
  /// Cost: O(candidates x queues above them), and O(running jobs) if any is unstoppable.
  Order in_order(const Victim& first = {}) const;
  /// When the first of those that are protected now, or do not have much more to run yet, may be stopped;
  /// Millis::max(): there are none.
  Millis more_at() const { return more_at_; }

 private:
  void add_unstoppable(const QueueTree& left, std::vector<Victim>& order) const;

  const State& state_;
  const OrderPolicy& order_;
  JobId job_;
  Millis now_;
  std::vector<Victim> own_, others_;  ///< in the order in which they give way
  std::vector<Victim> unstoppable_;   ///< jobs of other queues
  Millis more_at_ = Millis::max();
};

/// By which rule a candidate is stopped for the job. O(queues above both).
StopReason stop_reason(const State& state, const OrderPolicy& order, JobId job, JobId candidate, Millis now);

/// Whether there could be any candidate, for many jobs of one state; perhaps one that is protected. Cost: for a job
/// O(1), and O(queues x depth) where guarantees are stated; O(running jobs) once where the order has longer ones.
class AnyCandidate {
 public:
  AnyCandidate(const State& state, const OrderPolicy& order, Millis now);
  bool exists_for(JobId job) const;

 private:
  const State& state_;
  const OrderPolicy& order_;
  std::vector<OrderKey> gives_way_to_;  ///< by queue, the last key of a running job; empty if the order says none
};

}  // namespace ashlar
