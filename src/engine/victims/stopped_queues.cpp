#include "engine/victims/stopped_queues.h"

#include <algorithm>
#include <vector>

#include "state/ledger.h"

namespace ashlar {
namespace {

/// In the queue: those that run, and what is left of gangs that have lost members.
std::vector<JobId> placed_jobs(const EngineData& e, const State& state) {
  const QueueTree& queues = state.queues();
  std::vector<JobId> found;
  for (std::size_t row = 0; row < queues.rows(); ++row)
    if (const QueueId queue(row); !queues.stopped_above(queue).is_none())
      for (const JobId job : state.running().in(queue)) found.push_back(job);
  e.pending.each_class([&](ClassId, const PendingQueue::Class& job_class) {
    const JobId broken = job_class.key.only;
    if (!broken.is_none() && !queues.stopped_above(job_class.key.queue).is_none()) found.push_back(broken);
  });
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

void stop_jobs_of_stopped_queues(EngineData& e, State& state, Cycle& cycle) {
  if (!state.queues().is_any(QueueGate::Is::kStopped)) return;
  for (const JobId job : placed_jobs(e, state)) {
    if (!state.is_live(job) || state.job(job).members_placed == 0) continue;
    cycle.plan.actions.push_back(
        Evict{job, e.profile->grace, MemberId::none(), JobId::none(), StopReason::kQueueStopped});
    Ledger(state).give_way(job, JobId::none(), cycle.plan.at);
  }
}

}  // namespace ashlar
