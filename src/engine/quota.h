// quota: what a job's queue says to it: may the members that it needs together run, and how many of an elastic gang's.
#pragma once

#include <cstdint>
#include <optional>

#include "model/plan.h"
#include "state/state.h"

namespace ashlar {

/// What the members needed together count for. Sums beyond int64 count as the largest.
QuotaVector quota_needed(const State& state, JobId job);

/// The limit that the members needed together would exceed; none if the queue takes them.
std::optional<Reason> quota_refusal(const State& state, JobId job);

/// How many of the job's waiting members, in rank order, its queue can take; with those needed there must be room already.
std::uint32_t members_within_quota(const State& state, JobId job);

/// The queue whose quota the verdict waits for; none if it waits for something else.
QueueId limiting_queue(const Verdict& verdict);

}  // namespace ashlar
