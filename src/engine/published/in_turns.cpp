#include "engine/published/in_turns.h"

#include <vector>

#include "engine/explain/explain.h"
#include "engine/explain/verdicts.h"
#include "engine/place/advance.h"
#include "engine/place/placement.h"

namespace ashlar {
namespace {

Verdict verdict_on(EngineData& e, State& state, JobId job, const std::optional<Reason>& refusal, Millis now) {
  if (refusal) return {kind_of_refusal(*refusal), WakeOn::kQuota, now, {*refusal}};
  if (!e.options.has_verdicts) return {VerdictKind::kWaits, WakeOn::kCapacity, now, {}};
  return explain_shortage(state, e.fit_tables, *e.profile, job, now);
}

}  // namespace

bool is_full(const EngineData& e, const Cycle& cycle) {
  return cycle.plan.actions.size() >= e.options.binds_per_step_max;
}

bool start_where_it_fits(EngineData& e, State& state, Cycle& cycle, JobId job) {
  Trial trial(state);
  const PlacementContext context{trial,        e.fit_tables, *e.profile, e.draws, state.job(job).members_needed(),
                                 cycle.plan.at};
  if (!place_job(context, job).is_placed) return false;
  commit(e, state, cycle, trial, e.pending.entry_of(job));
  return true;
}

void report_those_that_wait(EngineData& e, State& state, Cycle& cycle,
                            const std::function<std::optional<Reason>(JobId)>& refusal) {
  std::vector<ClassId> classes;
  e.pending.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
    if (job_class.is_active && !job_class.jobs.empty()) classes.push_back(id);
  });
  for (const ClassId id : classes) {
    const JobId job = e.pending.class_at(id).jobs.begin()->job;
    park(e, state, cycle, id, verdict_on(e, state, job, refusal(job), cycle.plan.at));
  }
}

}  // namespace ashlar
