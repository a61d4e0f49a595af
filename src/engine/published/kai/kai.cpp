#include "engine/published/kai/kai.h"

#include <set>
#include <vector>

#include "base/grown.h"
#include "engine/published/in_turns.h"
#include "engine/published/kai/contenders.h"
#include "engine/published/kai/search.h"
#include "engine/published/kai/stops.h"
#include "engine/quota.h"
#include "engine/victims/stop_for.h"

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
    while (!line.is_empty() && !is_full(e_, cycle_)) {
      const JobId job = line.take();
      const ClassId id = e_.pending.class_id(job);
      if (failed.contains(id)) continue;
      ++cycle_.plan.examined;
      if (refusal(job) || !start_where_it_fits(e_, state_, cycle_, job))
        failed.insert(id);
      else if (e_.pending.contains(job))
        line.add(job);
    }
    if (e_.profile->stops_in_turns())
      for (const Action action : {Action::kConsolidate, Action::kReclaim, Action::kPreempt}) stop_others(action);
    if (is_full(e_, cycle_))
      cycle_.plan.look_again_at = cycle_.plan.at;
    else
      report_those_that_wait(e_, state_, cycle_, [&](JobId job) { return refusal(job); });
  }

 private:
  std::optional<Reason> refusal(JobId job) const {
    std::optional<Reason> refusal = quota_refusal(state_, job);
    return refusal ? refusal : beyond_deserved(state_, queues_, job, quota_needed(state_, job));
  }
  /// Each job that waits has its turn once.
  void stop_others(Action action) {
    Line line(state_, queues_);
    for (const JobId job : waiting_jobs(e_.pending)) line.add(job);
    std::set<ClassId> failed;  // since a job has started
    while (!line.is_empty() && !is_full(e_, cycle_)) {
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
      std::vector<Stop> stops;
      for (const Victim& victim : found->lost) stops.push_back({victim, reason_of(action)});
      for (const Victim& victim : found->moved) stops.push_back({victim, StopReason::kMoved});
      stop_for(e_, state_, cycle_, e_.pending.entry_of(job), stops, found->places);
      cycle_.plan.look_again_at = std::min(cycle_.plan.look_again_at, cycle_.plan.at + kNextCycle);
    }
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
