#include "engine/published/kueue/candidates.h"

#include <algorithm>
#include <tuple>

namespace ashlar::kueue {

bool may_stop_own(const State& state, JobId job, const Job& running) {
  const Job& waiting = state.job(job);
  const StopRules::Own own = state.queues().stops(waiting.queue).own;
  if (own == StopRules::Own::kNever) return false;
  if (running.priority < waiting.priority) return true;
  return own == StopRules::Own::kLowerOrNewer && running.priority == waiting.priority &&
         waiting.queued_at < running.queued_at;
}

bool may_reclaim(const State& state, JobId job, const Job& running) {
  const Job& waiting = state.job(job);
  const StopRules::Reclaims reclaims = state.queues().stops(waiting.queue).reclaims;
  return reclaims == StopRules::Reclaims::kAny ||
         (reclaims == StopRules::Reclaims::kLower && running.priority < waiting.priority);
}

std::vector<JobId> users(const State& state, const Cohorts& cohorts, QueueId queue,
                         std::span<const std::size_t> columns) {
  std::vector<JobId> jobs;
  for (const JobId job : state.running().in(queue)) {
    const Job& running = state.job(job);
    if (!running.is_ours || running.is_hold) continue;
    const Amounts held = cohorts.held(job);
    if (std::ranges::any_of(columns, [&](std::size_t c) { return held[c] > 0; })) jobs.push_back(job);
  }
  return jobs;
}

bool goes_first(const State& state, QueueId own, JobId a, JobId b) {
  const auto key = [&](JobId id) {
    const Job& job = state.job(id);
    return std::tuple(job.queue == own, job.priority, -job.started_at.value, ~job.start_seq, id);
  };
  return key(a) < key(b);
}

}  // namespace ashlar::kueue
