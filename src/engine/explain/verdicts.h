// Verdicts: the last verdict reported for each waiting job, and the reporting of new ones.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// See Engine::verdict_of and Engine::verdict_with_numbers_of_now.
Verdict verdict_of(const EngineData& e, JobId job);
Verdict verdict_with_numbers_of_now(EngineData& e, State& state, JobId job);

/// What a job is that its queue refuses for that reason.
VerdictKind kind_of_refusal(const Reason& refusal);

/// Keeps the verdict, and adds it to the plan unless the job's last one was of the same kind and reason.
void report(EngineData& e, Cycle& cycle, JobId job, const Verdict& verdict);
/// Parks the class, and reports the verdict to all its jobs.
void park(EngineData& e, const State& state, Cycle& cycle, ClassId id, const Verdict& verdict);

/// The search for the class's jobs is put off: those without a verdict get this one, and the others keep theirs, since
/// each may be put off and searched for again and again.
void report_put_off(EngineData& e, Cycle& cycle, ClassId id);

/// Stage: jobs that entered a parked class get the verdict of its other jobs.
void report_newcomers(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
