#include "engine/place/costly_turns.h"

#include <algorithm>

namespace ashlar {
namespace {

/// About a third of the time: what costs 65 ns each would be 15,000 in all of it.
constexpr std::int64_t kNodesPerMilli = 5'000;

}  // namespace

std::size_t looked_at_for(const State& state, const EquivalenceClass& key) {
  constexpr std::size_t kOfChoices = 4096;
  const std::size_t kinds = std::max<std::size_t>(key.runs.size(), 1);
  return (state.cluster().live_count() + (key.has_choice() ? kOfChoices : 0)) * kinds;
}

void CostlyTurns::refill(Millis now, std::size_t at_once_max) {
  const auto most = static_cast<std::int64_t>(at_once_max);
  left_ = std::min(most, left_);
  const std::int64_t since = std::clamp<std::int64_t>((now - at_).value, 0, (most - left_) / kNodesPerMilli + 1);
  left_ = std::min(most, left_ + since * kNodesPerMilli);
  at_ = now;
  has_put_off_one_without_turn_ = has_put_off_any_ = false;
}

bool CostlyTurns::take_turn(JobId job) {
  const bool had_turn = had_turn_.contains(job);
  if (left_ > 0 && !(is_short_ && had_turn)) return true;
  is_short_ = true;
  has_put_off_any_ = true;
  has_put_off_one_without_turn_ = has_put_off_one_without_turn_ || !had_turn;
  return false;
}

void CostlyTurns::note_failed(JobId job, std::size_t looked_at) {
  left_ -= static_cast<std::int64_t>(looked_at);
  had_turn_.insert(job);
}

Millis CostlyTurns::next_turn(Millis now) {
  if (!has_put_off_one_without_turn_) {
    is_short_ = false;
    had_turn_.clear();
  }
  if (!has_put_off_any_) return Millis::max();
  return left_ > 0 ? now : now + Millis(-left_ / kNodesPerMilli + 1);
}

}  // namespace ashlar
