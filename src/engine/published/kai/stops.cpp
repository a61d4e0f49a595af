#include "engine/published/kai/stops.h"

#include <algorithm>
#include <cmath>

#include "engine/quota.h"
#include "engine/victims/siblings.h"

namespace ashlar::kai {
namespace {

/// A queue that would be that many times as far beyond its share as another one does not take from it.
constexpr double kSaturation = 1;

std::int64_t idle_devices(const Cluster& cluster) {
  std::int64_t sum = 0;
  for (const std::int32_t idle : cluster.idle_devices()) sum += idle;
  return sum * kWholeDevice;
}

}  // namespace

StopReason reason_of(Action action) {
  return action == Action::kPreempt   ? StopReason::kLowerPriority
         : action == Action::kReclaim ? StopReason::kReclaimed
                                      : StopReason::kMoved;
}

std::optional<Reason> beyond_deserved(const State& state, const Queues& queues, JobId job, const QuotaVector& step) {
  if (is_preemptible(state.job(job))) return std::nullopt;
  for (const QueueId queue : queues.path(state.job(job).queue)) {
    const QuotaVector held = queues.held_for_good(queue);
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      if (step[d] > 0 && queues.terms(queue).deserved[d] - step[d] < held[d])
        return Reason{ReasonCode::kQuotaExhausted,
                      queue.value,
                      {static_cast<std::int64_t>(d), held[d], queues.terms(queue).deserved[d]}};
  }
  return std::nullopt;
}

Stops::Stops(const State& state, const Queues& queues, Action action, JobId job)
    : state_(state), queues_(queues), action_(action), job_(job), step_(quota_needed(state, job)) {}

bool Stops::are_allowed() const {
  const Job& job = state_.job(job_);
  if (job.stopping.stops_none) return false;
  if (action_ == Action::kConsolidate) return is_preemptible(job) && idle_devices(state_.cluster()) >= step_[kGpu];
  if (beyond_deserved(state_, queues_, job_, step_)) return false;
  if (action_ == Action::kPreempt) return true;
  const QuotaVector with = sum_of(queues_.allocated(job.queue), step_);
  return job.queue != QueueTree::kRoot && is_within(with, queues_.terms(job.queue).share);
}

bool Stops::may_stop(const Job& running) const {
  if (!running.is_ours || running.is_hold || !is_preemptible(running)) return false;
  const Job& job = state_.job(job_);
  if (action_ == Action::kPreempt) return running.queue == job.queue && running.priority < job.priority;
  return action_ == Action::kConsolidate || (running.queue != job.queue && may_reclaim_from(running.queue));
}

bool Stops::may_reclaim_from(QueueId other) const {
  const auto siblings = siblings_above(state_.queues(), state_.job(job_).queue, other);
  if (!siblings) return false;
  const QueueTerms &its = queues_.terms(siblings->its), &theirs = queues_.terms(siblings->other);
  const QuotaVector& used = queues_.allocated(siblings->other);
  if (!is_within(sum_of(queues_.allocated(siblings->its), step_), its.deserved)) {
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      if (used[d] > theirs.able(d)) return true;
    return false;
  }
  bool is_any_under = false;
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
    if (step_[d] == 0) continue;
    if (used[d] > theirs.deserved[d]) return true;
    is_any_under = is_any_under || used[d] < theirs.deserved[d];
  }
  return !is_any_under;
}

Millis Stops::protected_until(const Job& running) const {
  if (action_ == Action::kConsolidate) return running.started_at;
  Millis protection = state_.queues().protected_from_own(running.queue);
  if (action_ == Action::kReclaim)
    if (const auto siblings = siblings_above(state_.queues(), state_.job(job_).queue, running.queue))
      protection = state_.queues().protected_from_others(siblings->other);
  return running.started_at + std::max(protection, running.stopping.protected_for);
}

bool Stops::allow(std::span<const Unit> lost, bool are_all_placed, std::span<const QuotaVector> before) const {
  if (action_ == Action::kConsolidate) return are_all_placed;
  return action_ == Action::kPreempt || is_claim_met(lost, before);
}

bool Stops::is_claim_met(std::span<const Unit> lost, std::span<const QuotaVector> before) const {
  const QueueId queue = state_.job(job_).queue;
  std::vector<QuotaVector> left(before.begin(), before.end());
  const std::vector<QueueId> path = queues_.path(queue);
  std::vector<std::vector<QueueId>> losers(path.size());  // its siblings at each level
  QuotaVector involved = step_;
  for (const Unit& unit : lost) {
    const QueueId other = unit.queue;
    const auto siblings = siblings_above(state_.queues(), queue, other);
    if (!siblings) return false;
    const QueueTerms& theirs = queues_.terms(siblings->other);
    const QuotaVector& has = left[siblings->other.row()];
    const bool is_deserved =
        is_within(sum_of(before[siblings->its.row()], step_), queues_.terms(siblings->its).deserved);
    bool is_beyond = false;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d)
      is_beyond = is_beyond || has[d] > theirs.able(d) || (is_deserved && has[d] > theirs.deserved[d]);
    if (!is_beyond) return false;
    add_saturated(involved, unit.amounts);
    for (const QueueId above : queues_.path(other)) left[above.row()] = without(left[above.row()], unit.amounts);
    const auto level = static_cast<std::size_t>(std::ranges::find(path, siblings->its) - path.begin());
    if (std::ranges::find(losers[level], siblings->other) == losers[level].end())
      losers[level].push_back(siblings->other);
  }
  for (std::size_t level = 0; level < path.size(); ++level) {
    const QueueTerms& its = queues_.terms(path[level]);
    for (const QueueId other : losers[level]) {
      for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
        const std::int64_t its_share = its.share[d], share = queues_.terms(other).share[d];
        const std::int64_t with = left[path[level].row()][d] + step_[d];
        if (involved[d] == 0 || share <= 0 || with <= its_share) continue;
        const double filled = its_share > 0 ? static_cast<double>(with) / static_cast<double>(its_share) : HUGE_VAL;
        if (filled * kSaturation >= static_cast<double>(left[other.row()][d]) / static_cast<double>(share))
          return false;
      }
    }
  }
  return true;
}

}  // namespace ashlar::kai
