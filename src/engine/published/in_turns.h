// in_turns: what the decisions of peers have in common: a job starts on its nodes, and those that wait get a verdict.
#pragma once

#include <functional>
#include <optional>

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Whether the plan has as many actions as a decision may have; then it goes on in the next one.
bool is_full(const EngineData& e, const Cycle& cycle);

/// Starts the members that the job needs next, if they find a place. False: nothing has changed.
bool start_where_it_fits(EngineData& e, State& state, Cycle& cycle, JobId job);

/// Each class that was not found to wait before gets its verdict: that of `refusal` where its first job has one, else
/// why no place was found.
void report_those_that_wait(EngineData& e, State& state, Cycle& cycle,
                            const std::function<std::optional<Reason>(JobId)>& refusal);

}  // namespace ashlar
