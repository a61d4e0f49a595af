#include "engine/place/costly_turns.h"

#include <algorithm>

namespace ashlar {
namespace {

/// A third of the time and a sixth: what costs 65 ns each would be 15,000 in all of it.
constexpr std::int64_t kFirstPerMilli = 5'000, kFurtherPerMilli = 2'500;
/// First searches may come in a burst of what this many decisions spend at once.
constexpr std::int64_t kBurst = 8;

}  // namespace

std::size_t looked_at_for(const State& state, const EquivalenceClass& key) {
  constexpr std::size_t kOfChoices = 4096, kMost = 16'000'000;  // the limits of a search end it about there
  const std::size_t kinds = std::max<std::size_t>(key.runs.size(), 1);
  return std::min(kMost, (state.cluster().live_count() + (key.has_choice() ? kOfChoices : 0)) * kinds);
}

bool has_kinds(const EquivalenceClass& key, std::size_t least) {
  std::set<std::pair<DemandId, ConstraintId>> kinds;
  return std::ranges::any_of(key.runs, [&](const MemberRun& run) {
    kinds.emplace(run.demand, run.constraint);
    return kinds.size() >= least;
  });
}

void CostlyTurns::Share::refill(Millis passed, std::int64_t per_milli, std::int64_t most) {
  left = std::min(left, most);
  left = std::min(most, left + std::clamp<std::int64_t>(passed.value, 0, (most - left) / per_milli + 1) * per_milli);
}

void CostlyTurns::refill(Millis now, std::size_t at_once_max) {
  const auto most = static_cast<std::int64_t>(at_once_max);
  first_.refill(now - at_, kFirstPerMilli, kBurst * most);
  further_.refill(now - at_, kFurtherPerMilli, most);
  at_ = now;
  at_once_left_ = most;
  put_off_.clear();
}

bool CostlyTurns::is_new(const State& state, JobId job) const {
  const auto searched = searched_at_.find(job);
  return searched == searched_at_.end() || state.job(job).submitted > searched->second;
}

bool CostlyTurns::take_turn(const State& state, JobId job) {
  const QueueId queue = state.job(job).queue;
  const bool is_new = this->is_new(state, job);
  const auto of = queues_.find(queue);
  const bool has_turn = is_new || of == queues_.end() || !of->second.had_turn.contains(job);
  const bool is_its_turn = !is_short_ || (has_turn && (of == queues_.end() || !of->second.is_behind));
  const bool is_due = is_new ? first_.left > 0 && at_once_left_ > 0 : further_.left > 0;
  if (is_due && is_its_turn) return true;
  PutOff& put_off = put_off_[queue];
  (is_new ? put_off.has_new : put_off.has_others) = true;
  put_off.has_one_without_turn = put_off.has_one_without_turn || (!is_new && has_turn);
  return false;
}

void CostlyTurns::note_failed(const State& state, JobId job, std::size_t looked_at) {
  const auto nodes = static_cast<std::int64_t>(looked_at);
  if (is_new(state, job)) {
    first_.left -= nodes;
    at_once_left_ -= nodes;
  } else {
    further_.left -= nodes;
  }
  searched_at_[job] = at_;
  OfQueue& of = queues_[state.job(job).queue];
  of.spent += nodes;
  of.had_turn.insert(job);
}

Millis CostlyTurns::next_turn() {
  is_short_ = !put_off_.empty();
  if (!is_short_) {
    queues_.clear();
    return Millis::max();
  }
  std::int64_t least = INT64_MAX;
  for (const auto& [queue, put_off] : put_off_) {
    OfQueue& of = queues_[queue];
    least = std::min(least, of.spent);
    if (!put_off.has_one_without_turn) of.had_turn.clear();
  }
  for (auto& [queue, of] : queues_) {
    of.spent = std::max<std::int64_t>(of.spent - least, 0);
    of.is_behind = of.spent > 0;
  }
  Millis wait = Millis::max();  // of those whose turn is next
  for (const auto& [queue, put_off] : put_off_) {
    if (queues_[queue].is_behind) continue;
    if (put_off.has_new) wait = std::min(wait, first_.wait(kFirstPerMilli));
    if (put_off.has_others) wait = std::min(wait, further_.wait(kFurtherPerMilli));
  }
  return at_ + wait;
}

}  // namespace ashlar
