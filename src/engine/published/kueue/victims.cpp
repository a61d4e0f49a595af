#include "engine/published/kueue/victims.h"

#include <algorithm>

#include "engine/place/placement.h"
#include "engine/published/kueue/fair_victims.h"

namespace ashlar::kueue {

Victims::Victims(EngineData& e, State& state, Cohorts& cohorts, const Cycle& cycle, JobId job, bool by_quota_alone)
    : e_(e),
      state_(state),
      cohorts_(cohorts),
      started_(cycle.started),
      job_(job),
      queue_(state.job(job).queue),
      now_(cycle.plan.at),
      by_quota_alone_(by_quota_alone),
      requested_(cohorts.requested(job)) {}

std::optional<Found> Victims::find(const std::vector<std::size_t>& contested) {
  if (state_.job(job_).stopping.stops_none) return std::nullopt;
  contested_ = contested;
  if (e_.profile->queue_order->turns == Turns::kKueueFair) return FairVictims(*this).find();
  return find_classic();
}

bool Victims::is_admitted(bool may_borrow) const {
  for (std::size_t c = 0; c < cohorts_.columns(); ++c) {
    if (requested_[c] == 0) continue;
    if (requested_[c] > cohorts_.available(c, queue_)) return false;
    if (!may_borrow && cohorts_.used(c, queue_) + requested_[c] > cohorts_.nominal(c, queue_)) return false;
  }
  return true;
}

/// One that has come back at this instant is not stopped again at once, or a decision would have no end.
bool Victims::may_be_stopped(JobId job) const {
  const Job& running = state_.job(job);
  return !started_.contains(job) && !(running.evictions > 0 && running.started_at == now_);
}

void Victims::list_own() {
  for (const JobId job : users(state_, cohorts_, queue_, contested_)) {
    const Job& running = state_.job(job);
    if (!may_be_stopped(job) || !may_stop_own(state_, job_, running)) continue;
    const bool is_lower = running.priority < state_.job(job_).priority;
    own_.push_back({{job, queue_, is_lower ? StopReason::kLowerPriority : StopReason::kNewer}, QueueId::none()});
  }
}

/// The queues below the cohort, but not below that one, that use more than their own, reached through such alone.
void Victims::add_below(QueueId cohort, QueueId but, QueueId top, bool has_advantage) {
  for (const QueueId child : cohorts_.children(cohort)) {
    if (child == but || !cohorts_.is_over(child, contested_)) continue;
    if (cohorts_.is_cohort(child)) {
      add_below(child, but, top, has_advantage);
      continue;
    }
    const std::int32_t most = state_.queues().stops(queue_).while_borrowing;
    for (const JobId job : users(state_, cohorts_, child, contested_)) {
      const Job& running = state_.job(job);
      if (!may_be_stopped(job) || !may_reclaim(state_, job_, running)) continue;
      const bool is_without = running.priority >= state_.job(job_).priority || running.priority > most;
      const StopReason reason = has_advantage || is_without ? StopReason::kReclaimed : StopReason::kWhileBorrowing;
      (has_advantage ? hierarchical_ : by_priority_)
          .push_back({{job, child, reason}, top, !has_advantage && is_without});
    }
  }
}

void Victims::list_reclaimable() {
  if (state_.queues().stops(queue_).reclaims == StopRules::Reclaims::kNever) return;
  Amounts rest = requested_;
  bool has_advantage = true;
  for (std::size_t c = 0; c < rest.size(); ++c) {
    if (requested_[c] == 0) continue;
    has_advantage = has_advantage && cohorts_.used(c, queue_) + requested_[c] <= cohorts_.subtree(c, queue_);
    rest[c] -= std::min(rest[c], cohorts_.unused_local(c, queue_));
  }
  QueueId below = queue_;
  for (QueueId top = cohorts_.parent(queue_); !top.is_none(); below = top, top = cohorts_.parent(top)) {
    add_below(top, below, top, has_advantage);
    bool fits_here = true;
    for (std::size_t c = 0; c < rest.size(); ++c) {
      if (requested_[c] == 0) continue;
      fits_here = fits_here && cohorts_.used(c, top) + rest[c] <= cohorts_.subtree(c, top);
      rest[c] -= std::min(rest[c], cohorts_.unused_local(c, top));
    }
    has_advantage = has_advantage || fits_here;
  }
}

std::optional<Found> Victims::find_classic() {
  hierarchical_.clear(), by_priority_.clear(), own_.clear();
  list_own();
  list_reclaimable();
  std::vector<Reclaimable> order;
  for (std::vector<Reclaimable>* list : {&hierarchical_, &by_priority_, &own_}) {
    std::ranges::sort(*list, [&](const Reclaimable& a, const Reclaimable& b) {
      return goes_first(state_, queue_, a.candidate.job, b.candidate.job);
    });
    order.insert(order.end(), list->begin(), list->end());
  }
  const bool is_never = state_.queues().stops(queue_).while_borrowing == StopRules::kNobody;
  const bool is_below_nominal = std::ranges::all_of(
      contested_, [&](std::size_t c) { return cohorts_.used(c, queue_) < cohorts_.nominal(c, queue_); });
  std::vector<bool> attempts;
  if (hierarchical_.empty() && by_priority_.empty())
    attempts = {true};
  else if (is_never && !is_below_nominal)
    attempts = {true};
  else if (is_never && hierarchical_.empty())
    attempts = {false, true};
  else
    attempts = {true, false};
  for (const bool may_borrow : attempts)
    if (auto found = walk(order, may_borrow)) return found;
  return std::nullopt;
}

bool Victims::is_left_in_peace(const Reclaimable& one, bool may_borrow) const {
  if (one.cohort.is_none()) return false;
  if (may_borrow && one.is_without_borrowing) return true;
  for (QueueId q = one.candidate.queue; q != one.cohort && !q.is_none(); q = cohorts_.parent(q))
    if (!cohorts_.is_over(q, contested_)) return true;
  return false;
}

std::optional<Found> Victims::walk(std::span<const Reclaimable> order, bool may_borrow) {
  std::vector<Candidate> taken;
  bool is_enough = false;
  {
    Trial trial(state_);
    for (const Reclaimable& one : order) {
      if (is_left_in_peace(one, may_borrow)) continue;
      trial.evict(one.candidate.job);
      taken.push_back(one.candidate);
      const std::size_t before = trial.checkpoint();
      is_enough = fits(trial, may_borrow);
      trial.rollback_to(before);
      if (is_enough) break;
    }
  }
  return is_enough ? filled_back(std::move(taken), may_borrow) : std::nullopt;
}

bool Victims::fits(Trial& trial, bool may_borrow) const {
  if (!is_admitted(may_borrow)) return false;
  if (by_quota_alone_) return true;
  Rng draws(e_.draws.state());
  return place_job({trial, e_.fit_tables, *e_.profile, draws, state_.job(job_).members_needed(), now_}, job_).is_placed;
}

std::optional<Found> Victims::with_place(std::vector<Candidate> victims, bool may_borrow) {
  Trial trial(state_);
  for (const Candidate& victim : victims) trial.evict(victim.job);
  if (!fits(trial, may_borrow)) return std::nullopt;
  Found found{std::move(victims), {}};
  each_placement(trial.steps(), [&](const Trial::Placement& placed) {
    if (state_.member(placed.member).job == job_) found.places.push_back(placed);
  });
  return found;
}

std::optional<Found> Victims::filled_back(std::vector<Candidate> victims, bool may_borrow) {
  for (std::size_t i = victims.size(); i-- > 0;) {
    if (i + 1 == victims.size()) continue;  // the last one made it fit
    std::vector<Candidate> fewer = victims;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (with_place(fewer, may_borrow)) victims = std::move(fewer);
  }
  return with_place(std::move(victims), may_borrow);
}

}  // namespace ashlar::kueue
