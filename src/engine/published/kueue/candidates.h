// candidates: whom Kueue may stop for a waiting job, by the policies of its queue, and in which order.
#pragma once

#include <span>
#include <vector>

#include "engine/published/kueue/cohorts.h"
#include "model/plan.h"

namespace ashlar::kueue {

/// A running job that may be stopped.
struct Candidate {
  JobId job;
  QueueId queue;
  StopReason reason = StopReason::kNone;
};

/// Whether the job may stop that one of its own queue; of another one.
bool may_stop_own(const State& state, JobId job, const Job& running);
bool may_reclaim(const State& state, JobId job, const Job& running);
/// Those of one queue that use one of these columns, whatever the policies.
std::vector<JobId> users(const State& state, const Cohorts& cohorts, QueueId queue,
                         std::span<const std::size_t> columns);
/// Jobs of other queues before those of its own, then by lower priority, then those that started last.
bool goes_first(const State& state, QueueId own, JobId a, JobId b);

}  // namespace ashlar::kueue
