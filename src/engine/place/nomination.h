// nomination: nodes reserved for pods that other schedulers nominated. They hold only against jobs of the same or lower
// priority.
#pragma once

#include <optional>
#include <vector>

#include "engine/data.h"
#include "state/trial.h"

namespace ashlar {

/// Members of other schedulers' jobs whose claim on a node is dropped if that job takes the node.
std::vector<MemberId> outranked_nominations(const State& state, JobId job);
/// True if there are any.
bool outranks_a_nomination(const State& state, JobId job);
/// Tries without the nominations that the job outranks. The trial then has the dropped claims and the job's placement;
/// it is empty if that does not help.
bool place_over_nominations(EngineData& e, State& state, Trial& trial, JobId job, Millis now);
/// Jobs of a class are alike except for their priority, which may not determine their order: the first behind `than`
/// for which more nominations are dropped.
std::optional<PendingQueue::Entry> first_that_outranks_more(const State& state, const PendingQueue::Class& job_class,
                                                            const PendingQueue::Entry& than);

}  // namespace ashlar
