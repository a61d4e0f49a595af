// quota: what a job's queue admits: whether the members that it needs together may run, and how many of an elastic
// gang's.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/plan.h"
#include "state/state.h"

namespace ashlar {

/// The usage of the members needed together. Sums beyond int64 count as the largest.
QuotaVector quota_needed(const State& state, JobId job);

/// The limit that the members needed together would exceed, on whatever nodes; none if the queue admits them.
std::optional<Reason> quota_refusal(const State& state, JobId job);

/// Adds what the member uses of each key (QueueTree::keys) on that node.
void add_by_key(const State& state, MemberId member, NodeId node, std::vector<std::int64_t>& sums);

/// How many of the job's waiting members, in rank order, its queue admits; those needed must already be within quota.
std::uint32_t members_within_quota(const State& state, JobId job);

/// The queue whose quota the verdict waits for; none if it waits for something else, or for quota of one device class:
/// capacity of another class would do as well.
QueueId limiting_queue(const Verdict& verdict);

}  // namespace ashlar
