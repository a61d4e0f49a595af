#include "engine/published/kai/kai.h"

#include <set>
#include <vector>

#include "base/grown.h"
#include "engine/explain/explain.h"
#include "engine/explain/verdicts.h"
#include "engine/place/advance.h"
#include "engine/place/placement.h"
#include "engine/published/kai/contenders.h"
#include "engine/published/kai/search.h"
#include "engine/published/kai/stops.h"
#include "engine/quota.h"
#include "state/ledger.h"

namespace ashlar::kai {
namespace {

/// Where jobs were stopped, what waits is looked at again after this time at the latest.
constexpr Millis kNextCycle{1000};

std::vector<JobId> waiting_jobs(const PendingQueue& pending) {
  std::vector<JobId> jobs;
  pending.each_class([&](ClassId, const PendingQueue::Class& job_class) {
    job_class.each_job([&](const PendingQueue::Entry& entry) { jobs.push_back(entry.job); });
  });
  return jobs;
}

/// What their waiting members request, by queue.
std::vector<QuotaVector> requests_of(const State& state, const std::vector<JobId>& jobs) {
  std::vector<QuotaVector> requests(state.queues().rows());
  for (const JobId job : jobs) {
    QuotaVector& request = grown(requests, state.job(job).queue.row());
    state.each_member(job, [&](MemberId, const Member& m) {
      if (!m.is_placed()) add_saturated(request, state.quota_of_demand(m.demand));
    });
  }
  return requests;
}

class Decision {
 public:
  Decision(EngineData& e, State& state, Cycle& cycle)
      : e_(e),
        state_(state),
        cycle_(cycle),
        waiting_(waiting_jobs(e.pending)),
        queues_(state, requests_of(state, waiting_)) {}

  void run() {
    Line line(state_, queues_);
    for (const JobId job : waiting_) line.add(job);
    std::set<ClassId> failed;  // jobs of a class need the same, and there is only less for the later ones
    while (!line.is_empty() && !is_full()) {
      const JobId job = line.take();
      const ClassId id = e_.pending.class_id(job);
      if (failed.contains(id)) continue;
      ++cycle_.plan.examined;
      if (!allocate(job))
        failed.insert(id);
      else if (e_.pending.contains(job))
        line.add(job);
    }
    if (e_.profile->stops_in_turns())
      for (const Action action : {Action::kConsolidate, Action::kReclaim, Action::kPreempt}) stop_others(action);
    if (is_full())
      cycle_.plan.look_again_at = cycle_.plan.at;
    else
      report_those_that_wait();
  }

 private:
  bool is_full() const { return cycle_.plan.actions.size() >= e_.options.binds_per_step_max; }

  bool is_admitted(JobId job) const {
    return !quota_refusal(state_, job) && !beyond_deserved(state_, queues_, job, quota_needed(state_, job));
  }
  bool allocate(JobId job) {
    if (!is_admitted(job)) return false;
    Trial trial(state_);
    const PlacementContext context{
        trial, e_.fit_tables, *e_.profile, e_.draws, state_.job(job).members_needed(), cycle_.plan.at};
    if (!place_job(context, job).is_placed) return false;
    commit(e_, state_, cycle_, trial, e_.pending.entry_of(job));
    return true;
  }
  /// Each job that waits has its turn once.
  void stop_others(Action action) {
    Line line(state_, queues_);
    for (const JobId job : waiting_jobs(e_.pending)) line.add(job);
    std::set<ClassId> failed;  // since a job has started
    while (!line.is_empty() && !is_full()) {
      const JobId job = line.take();
      const ClassId id = e_.pending.class_id(job);
      if (failed.contains(id)) continue;
      ++cycle_.plan.examined;
      if (const auto refusal = quota_refusal(state_, job); refusal && is_of_gate(refusal->code)) continue;
      Search search(e_, state_, queues_, cycle_, action, job);
      const std::optional<Search::Found> found = search.run();
      if (!found) {
        cycle_.plan.look_again_at = std::min(cycle_.plan.look_again_at, search.more_at());
        failed.insert(id);
        continue;
      }
      failed.clear();
      take(found->lost, job, reason_of(action));
      take(found->moved, job, StopReason::kMoved);
      Trial trial(state_);
      for (const Trial::Placement& place : found->places) trial.place(place.member, place.node, place.devices);
      commit(e_, state_, cycle_, trial, e_.pending.entry_of(job));
      cycle_.plan.look_again_at = std::min(cycle_.plan.look_again_at, cycle_.plan.at + kNextCycle);
    }
  }
  void take(const std::vector<Victim>& victims, JobId for_job, StopReason reason) {
    for (const Victim& victim : victims) {
      cycle_.plan.actions.push_back(Evict{victim.job, e_.profile->grace, victim.member, for_job, reason});
      if (victim.is_whole())
        Ledger(state_).give_way(victim.job, for_job, cycle_.plan.at);
      else
        Ledger(state_).give_way(victim.member, for_job);
    }
  }

  void report_those_that_wait() {
    std::vector<ClassId> classes;
    e_.pending.each_class([&](ClassId id, const PendingQueue::Class& job_class) {
      if (job_class.is_active && !job_class.jobs.empty()) classes.push_back(id);
    });
    for (const ClassId id : classes)
      park(e_, state_, cycle_, id, verdict_on(e_.pending.class_at(id).jobs.begin()->job));
  }
  Verdict verdict_on(JobId job) {
    const Millis now = cycle_.plan.at;
    std::optional<Reason> refusal = quota_refusal(state_, job);
    if (!refusal) refusal = beyond_deserved(state_, queues_, job, quota_needed(state_, job));
    if (refusal) {
      const VerdictKind kind = refusal->code == ReasonCode::kExceedsQuota ? VerdictKind::kNeverFits
                               : is_of_gate(refusal->code)                ? VerdictKind::kWaits
                                                                          : VerdictKind::kOverQuota;
      return {kind, WakeOn::kQuota, now, {*refusal}};
    }
    if (!e_.options.has_verdicts) return {VerdictKind::kWaits, WakeOn::kCapacity, now, {}};
    return explain_shortage(state_, e_.fit_tables, *e_.profile, job, now);
  }

  EngineData& e_;
  State& state_;
  Cycle& cycle_;
  std::vector<JobId> waiting_;
  Queues queues_;
};

}  // namespace

void start(EngineData& e, State& state, Cycle& cycle) {
  if (e.pending.size() > 0) Decision(e, state, cycle).run();
}

}  // namespace ashlar::kai
