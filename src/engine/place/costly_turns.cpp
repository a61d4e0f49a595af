#include "engine/place/costly_turns.h"

#include <algorithm>

namespace ashlar {
namespace {

/// About a third of the time: what costs 65 ns each would be 15,000 in all of it.
constexpr std::int64_t kNodesPerMilli = 5'000;
/// What is spent at once may be exceeded by first searches, which are due again sooner than others.
constexpr std::int64_t kDebtOfNew = 8;

}  // namespace

std::size_t looked_at_for(const State& state, const EquivalenceClass& key) {
  constexpr std::size_t kOfChoices = 4096, kMost = 16'000'000;  // the limits of a search end it about there
  const std::size_t kinds = std::max<std::size_t>(key.runs.size(), 1);
  return std::min(kMost, (state.cluster().live_count() + (key.has_choice() ? kOfChoices : 0)) * kinds);
}

void CostlyTurns::refill(Millis now, std::size_t at_once_max) {
  const auto most = static_cast<std::int64_t>(at_once_max);
  left_ = std::min(most, left_);
  const std::int64_t since = std::clamp<std::int64_t>((now - at_).value, 0, (most - left_) / kNodesPerMilli + 1);
  left_ = std::min(most, left_ + since * kNodesPerMilli);
  at_ = now;
  at_once_left_ = most;
  left_for_new_above_ = -kDebtOfNew * most;
  has_put_off_new_ = false;
  put_off_.clear();
}

bool CostlyTurns::is_new(const State& state, JobId job) const {
  const auto searched = searched_at_.find(job);
  return searched == searched_at_.end() || state.job(job).submitted > searched->second;
}

bool CostlyTurns::has_turn(QueueId queue, JobId job) const {
  const auto of = queues_.find(queue);
  return of == queues_.end() || !of->second.had_turn.contains(job);
}

bool CostlyTurns::take_turn(const State& state, JobId job) {
  if (is_new(state, job)) {
    const bool may_look = at_once_left_ > 0 && left_ > left_for_new_above_;
    has_put_off_new_ = has_put_off_new_ || !may_look;
    return may_look;
  }
  const QueueId queue = state.job(job).queue;
  const bool has_turn = this->has_turn(queue, job);
  const auto of = queues_.find(queue);
  const bool is_its_turn = has_turn && (of == queues_.end() || of->second.spent == 0);
  if (left_ > 0 && (!is_short_ || is_its_turn)) return true;
  put_off_[queue] = put_off_[queue] || has_turn;
  return false;
}

void CostlyTurns::note_failed(const State& state, JobId job, std::size_t looked_at) {
  const auto nodes = static_cast<std::int64_t>(looked_at);
  left_ -= nodes;
  at_once_left_ -= nodes;
  searched_at_[job] = at_;
  OfQueue& of = queues_[state.job(job).queue];
  of.spent += nodes;
  of.had_turn.insert(job);
}

Millis CostlyTurns::next_turn() {
  is_short_ = !put_off_.empty();
  if (!is_short_) queues_.clear();
  std::int64_t least = INT64_MAX;
  for (const auto& [queue, has_one_without_turn] : put_off_) {
    OfQueue& of = queues_[queue];
    least = std::min(least, of.spent);
    if (!has_one_without_turn) of.had_turn.clear();
  }
  for (auto& [queue, of] : queues_) of.spent = std::max<std::int64_t>(of.spent - least, 0);
  if (!is_short_ && !has_put_off_new_) return Millis::max();
  const std::int64_t enough = has_put_off_new_ ? left_for_new_above_ : 0;
  return left_ > enough ? at_ : at_ + Millis((enough - left_) / kNodesPerMilli + 1);
}

}  // namespace ashlar
