// nomination: nodes kept for pods that other schedulers nominated. They hold against jobs of their priority and below only.
#pragma once

#include <optional>
#include <vector>

#include "engine/data.h"
#include "state/trial.h"

namespace ashlar {

/// Members of other schedulers' jobs whose claim on a node falls if that job takes the node.
std::vector<MemberId> outranked_nominations(const State& state, JobId job);
/// Are there any?
bool outranks_a_nomination(const State& state, JobId job);
/// Tries without the nominations that the job outranks. The trial then says whose claims fall, and where the job goes; it is empty if that does not help.
bool place_over_nominations(EngineData& e, State& state, Trial& trial, JobId job);
/// Jobs of a class are alike but for their priority, which may not be what orders them: the first behind `than` before which more nominations fall.
std::optional<PendingQueue::Entry> first_that_outranks_more(const State& state, const PendingQueue::Class& job_class,
                                                            const PendingQueue::Entry& than);

}  // namespace ashlar
