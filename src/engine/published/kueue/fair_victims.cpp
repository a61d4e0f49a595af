#include "engine/published/kueue/fair_victims.h"

#include <algorithm>

#include "engine/victims/siblings.h"

namespace ashlar::kueue {

void FairVictims::list_candidates() {
  const QueueId own = v_.queue_;
  const bool reclaims = state_.queues().stops(own).reclaims != StopRules::Reclaims::kNever;
  QueueId root = own;
  while (!cohorts_.parent(root).is_none()) root = cohorts_.parent(root);
  for (std::size_t row = 0; row < state_.running().rows(); ++row) {
    const QueueId queue(row);
    const bool is_own = queue == own;
    if (!cohorts_.is_within(queue, root) || (!is_own && (!reclaims || !cohorts_.is_over(queue, v_.contested_))))
      continue;
    std::vector<JobId> jobs;
    for (const JobId job : users(state_, cohorts_, queue, v_.contested_)) {
      const Job& running = state_.job(job);
      const bool may = is_own ? may_stop_own(state_, v_.job_, running) : may_reclaim(state_, v_.job_, running);
      if (may && v_.may_be_stopped(job)) jobs.push_back(job);
    }
    std::ranges::sort(jobs, [&](JobId a, JobId b) { return goes_first(state_, own, b, a); });
    if (!jobs.empty()) candidates_.emplace(queue, std::move(jobs));
  }
}

/// A queue or cohort that does not borrow gives nothing, but for those above the waiting job, and its own.
bool FairVictims::may_give(QueueId queue) const {
  const bool is_its = cohorts_.is_within(v_.queue_, queue);
  if (cohorts_.is_cohort(queue)) {
    const bool has_any = std::ranges::any_of(
        candidates_, [&](const auto& of) { return !of.second.empty() && cohorts_.is_within(of.first, queue); });
    return has_any && (is_its || cohorts_.share(queue) > 0);
  }
  const auto of = candidates_.find(queue);
  return of != candidates_.end() && !of->second.empty() && (is_its || cohorts_.share(queue) > 0);
}

QueueId FairVictims::next_below(QueueId cohort) {
  if (!cohorts_.is_cohort(cohort)) return cohort;
  QueueId best = QueueId::none();
  for (const QueueId child : cohorts_.children(cohort)) {
    if (!may_give(child)) continue;
    const auto goes_before = [&](QueueId a, QueueId b) {
      const double share_a = cohorts_.share(a), share_b = cohorts_.share(b);
      if (share_a != share_b) return share_a > share_b;
      if (cohorts_.is_cohort(a) != cohorts_.is_cohort(b)) return cohorts_.is_cohort(a);
      if (cohorts_.is_cohort(a)) return false;
      return goes_first(state_, v_.queue_, candidates_.at(a).back(), candidates_.at(b).back());
    };
    if (best.is_none() || goes_before(child, best)) best = child;
  }
  return best.is_none() ? best : next_below(best);
}

QueueId FairVictims::next_queue() {
  QueueId root = v_.queue_;
  while (!cohorts_.parent(root).is_none()) root = cohorts_.parent(root);
  if (!may_give(root) && root != v_.queue_) return QueueId::none();
  const QueueId queue = next_below(root);
  const auto of = queue.is_none() ? candidates_.end() : candidates_.find(queue);
  return of == candidates_.end() || of->second.empty() ? QueueId::none() : queue;
}

bool FairVictims::is_enough(Trial& trial) {
  cohorts_.add(v_.queue_, v_.requested_, -1);
  const std::size_t before = trial.checkpoint();
  const bool fits = v_.fits(trial, true);
  trial.rollback_to(before);
  cohorts_.add(v_.queue_, v_.requested_, 1);
  return fits;
}

bool FairVictims::take(Trial& trial, JobId job, StopReason reason) {
  trial.evict(job);
  taken_.push_back({job, state_.job(job).queue, reason});
  return is_enough(trial);
}

bool FairVictims::stays_nominal() const {
  return std::ranges::all_of(
      v_.contested_, [&](std::size_t c) { return cohorts_.used(c, v_.queue_) <= cohorts_.nominal(c, v_.queue_); });
}

/// Compares what the two sides borrow where they part: below the lowest cohort that is above both.
bool FairVictims::passes(Trial& trial, JobId job, Strategy strategy) {
  const auto siblings = siblings_above(state_.queues(), v_.queue_, state_.job(job).queue);
  if (!siblings) return false;  // a job of a cohort itself
  const auto [its, other] = *siblings;
  if (strategy == Strategy::kBefore) return cohorts_.share(its) < cohorts_.share(other);
  const std::size_t before = trial.checkpoint();
  trial.evict(job);
  const bool passes = cohorts_.share(its) <= cohorts_.share(other);
  trial.rollback_to(before);
  return passes;
}

bool FairVictims::walk_first(Trial& trial) {
  for (QueueId queue = next_queue(); !queue.is_none(); queue = next_queue()) {
    std::vector<JobId>& jobs = candidates_.at(queue);
    if (queue == v_.queue_ || stays_nominal()) {
      const JobId job = jobs.back();
      jobs.pop_back();
      const bool is_lower = state_.job(job).priority < state_.job(v_.job_).priority;
      const StopReason own = is_lower ? StopReason::kLowerPriority : StopReason::kNewer;
      if (take(trial, job, queue == v_.queue_ ? own : StopReason::kReclaimed)) return true;
      continue;
    }
    while (!jobs.empty()) {
      const JobId job = jobs.back();
      jobs.pop_back();
      if (passes(trial, job, Strategy::kAfter)) {
        if (take(trial, job, StopReason::kFairShare)) return true;
        break;
      }
      failed_[queue].push_back(job);
    }
  }
  return false;
}

bool FairVictims::walk_second(Trial& trial) {
  candidates_ = std::exchange(failed_, {});
  for (auto& [queue, jobs] : candidates_) std::ranges::reverse(jobs);
  for (QueueId queue = next_queue(); !queue.is_none(); queue = next_queue()) {
    std::vector<JobId>& jobs = candidates_.at(queue);
    const JobId job = jobs.back();
    jobs.clear();  // one of each queue
    if (passes(trial, job, Strategy::kBefore) && take(trial, job, StopReason::kFairShare)) return true;
  }
  return false;
}

std::optional<Found> FairVictims::find() {
  list_candidates();
  cohorts_.add(v_.queue_, v_.requested_, 1);
  bool is_found = false;
  {
    Trial trial(state_);
    is_found = walk_first(trial) || walk_second(trial);
  }
  cohorts_.add(v_.queue_, v_.requested_, -1);
  return is_found ? v_.filled_back(std::move(taken_), true) : std::nullopt;
}

}  // namespace ashlar::kueue
