// quota_news: whether the limits of queues may let a parked class run now, or never again.
#pragma once

#include "engine/pending/pending_queue.h"

namespace ashlar {

/// Whether the limit for which the class was parked refuses it still; if no limit has changed since the last look, its
/// quota is no news then. False also where one comparison does not tell.
bool is_refused_as_before(const State& state, const PendingQueue::Class& job_class);
/// Whether its quota now has capacity, or a limit has changed so that the job can, or cannot, ever be within it.
bool is_quota_news_for(const State& state, const PendingQueue::Class& job_class);
/// Whether its jobs need more than their queue can ever have.
bool exceeds_quota(const State& state, const PendingQueue::Class& job_class);

}  // namespace ashlar
