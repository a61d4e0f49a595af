// consistency: whether what the state counts along is what counting anew gives. For tests, and for bytes from outside.
#pragma once

#include <cstdint>
#include <vector>

#include "state/state.h"

namespace ashlar {

/// The counts of placed pods by labels, counted anew. Cost: O(members).
Counts counted_company(const State& state);
/// How many live jobs name each row of groups. Cost: O(jobs).
std::vector<std::uint32_t> counted_gang_uses(const State& state);
/// The members listed on each node, the device classes in use there, and the counts of pods by labels. O(members).
bool are_placements_consistent(const State& state);
/// How many members name each row of grants.
std::vector<std::uint32_t> counted_grant_uses(const State& state);
/// The running jobs of each queue, and the lowest priority of them.
bool are_running_consistent(const State& state);
/// How many members the job has, and how many of them are placed or leaving.
bool are_members_consistent(const State& state, JobId job);
/// The members of each group of the job.
bool are_groups_consistent(const State& state, JobId job);

}  // namespace ashlar
