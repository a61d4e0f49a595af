// borrowing: what queues use beyond their guarantees, or of what they keep for themselves, as far as it decides about
// others.
#pragma once

#include <cstdint>
#include <span>

#include "engine/cycle.h"
#include "engine/data.h"
#include "state/trial.h"

namespace ashlar {

/// Of what a job needs or takes (QuotaDimension, then QueueTree::keys), that of one column of guarantees.
std::int64_t amount_of_column(const QueueTree& queues, const QueueShares::Column& column,
                              std::span<const std::int64_t> counters);

/// The job was placed by these steps. If its queue, or one above it, is beyond a guarantee by that, its other jobs may
/// be stopped now for some that waited in vain: those look again. Cost: O(members placed + depth x columns).
void note_new_borrowers(EngineData& e, const State& state, Cycle& cycle, JobId job, std::span<const Trial::Step> steps);

/// The same of a job that took the last of what queues kept for themselves of all nodes: nothing is refused for that
/// any more, and devices may be free that the sums do not show, where running jobs have lost theirs. Cost: the same.
void note_nothing_kept(EngineData& e, const State& state, Cycle& cycle, JobId job, std::span<const Trial::Step> steps);

}  // namespace ashlar
