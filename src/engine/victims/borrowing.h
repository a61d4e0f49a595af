// borrowing: what queues use beyond their guarantees, as far as it decides who may be stopped.
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

}  // namespace ashlar
