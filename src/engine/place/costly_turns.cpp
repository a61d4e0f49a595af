#include "engine/place/costly_turns.h"

#include <algorithm>
#include <utility>

namespace ashlar {
namespace {

/// A third of the time and a sixth, where a look takes 65 ns; for each tenant a thirtieth.
constexpr std::int64_t kFirstPerMilli = 5'000, kFurtherPerMilli = 2'500, kOwnPerMilli = 500;
/// Of all tenants that spend, together.
constexpr std::int64_t kOwnPerMilliInAll = 2'500;
/// First searches may come in a burst of what this many decisions spend at once.
constexpr std::int64_t kBurst = 8;
/// This many may have their turn in a decision since one behind them has found a place.
constexpr std::size_t kAheadMax = 4;

}  // namespace

void CostlyTurns::Share::refill(Millis passed, std::int64_t per_milli, std::int64_t most) {
  left = std::min(left, most);
  left = std::min(most, left + std::clamp<std::int64_t>(passed.value, 0, (most - left) / per_milli + 1) * per_milli);
}

void CostlyTurns::refill(Millis now, const CostlyLimits& limits) {
  const auto most = static_cast<std::int64_t>(limits.at_once_max);
  own_max_ = static_cast<std::int64_t>(limits.own_max);
  first_.refill(now - at_, kFirstPerMilli, kBurst * most);
  further_.refill(now - at_, kFurtherPerMilli, most);
  const auto spending = static_cast<std::int64_t>(own_.size());
  own_per_milli_ = std::clamp<std::int64_t>(kOwnPerMilliInAll / std::max<std::int64_t>(spending, 1), 1, kOwnPerMilli);
  for (auto& [payer, own] : own_) own.refill(now - at_, own_per_milli_, own_max_);
  std::erase_if(own_, [&](const auto& of) { return of.second.left == own_max_; });
  at_ = now;
  at_once_left_ = most;
  put_off_.clear();
  put_off_count_ = 0;
  ahead_.clear();
  ahead_left_ = kAheadMax;
}

CostlyTurns::Payer CostlyTurns::payer_of(const State& state, JobId job) {
  const Job& j = state.job(job);
  return j.tenant != 0 ? Payer{j.tenant, QueueId::none()} : Payer{0, j.queue};
}

bool CostlyTurns::is_new(const State& state, JobId job) const {
  const auto searched = searched_at_.find(job);
  return searched == searched_at_.end() || state.job(job).submitted > searched->second;
}

bool CostlyTurns::has_own_left(const Payer& payer) const {
  const auto own = own_.find(payer);
  return own == own_.end() ? own_max_ > 0 : own->second.left > 0;
}

bool CostlyTurns::take_turn(const State& state, JobId job) {
  const Payer payer = payer_of(state, job);
  if (has_own_left(payer) || std::ranges::find(ahead_, job) != ahead_.end()) return true;
  const bool is_new = this->is_new(state, job);
  const auto of = payers_.find(payer);
  const bool has_turn = is_new || of == payers_.end() || !of->second.had_turn.contains(job);
  const bool is_its_turn = !is_short_ || (has_turn && (of == payers_.end() || !of->second.is_behind));
  const bool is_due = is_new ? is_first_due() : further_.left > 0;
  if (is_due && is_its_turn) return true;
  ++put_off_count_;
  PutOff& put_off = put_off_.try_emplace(payer, PutOff{.first = job}).first->second;
  (is_new ? put_off.has_new : put_off.has_others) = true;
  put_off.has_one_without_turn = put_off.has_one_without_turn || (!is_new && has_turn);
  return false;
}

std::vector<JobId> CostlyTurns::take_ahead_of(const State& state, JobId job) {
  std::vector<JobId> taken;
  if (put_off_.empty() || !is_first_due()) return taken;
  const Payer payer = payer_of(state, job);
  for (auto& [other, put_off] : put_off_) {
    const bool goes_first = other != payer && !put_off.first.is_none() && ahead_left_ > 0 &&
                            state.job(put_off.first).priority > state.job(job).priority;
    if (!goes_first) continue;
    --ahead_left_;
    taken.push_back(std::exchange(put_off.first, JobId::none()));
  }
  ahead_.insert(ahead_.end(), taken.begin(), taken.end());
  return taken;
}

void CostlyTurns::note_failed(const State& state, JobId job, std::uint64_t looks) {
  const auto cost = static_cast<std::int64_t>(looks);
  const Payer payer = payer_of(state, job);
  const bool is_new = this->is_new(state, job);
  searched_at_[job] = at_;
  if (std::erase(ahead_, job) > 0) {
    first_.left -= cost;
    at_once_left_ -= cost;
    return;
  }
  if (has_own_left(payer)) {
    own_.try_emplace(payer, Share{own_max_}).first->second.left -= cost;
    return;
  }
  if (is_new) {
    first_.left -= cost;
    at_once_left_ -= cost;
  } else {
    further_.left -= cost;
  }
  OfPayer& of = payers_[payer];
  of.spent += cost;
  of.had_turn.insert(job);
}

Millis CostlyTurns::next_turn() {
  is_short_ = !put_off_.empty();
  if (!is_short_) {
    payers_.clear();
    return Millis::max();
  }
  std::int64_t least = INT64_MAX;
  for (const auto& [payer, put_off] : put_off_) {
    OfPayer& of = payers_[payer];
    least = std::min(least, of.spent);
    if (!put_off.has_one_without_turn) of.had_turn.clear();
  }
  for (auto& [payer, of] : payers_) {
    of.spent = std::max<std::int64_t>(of.spent - least, 0);
    of.is_behind = of.spent > 0;
  }
  Millis wait = Millis::max();  // of those whose turn is next
  for (const auto& [payer, put_off] : put_off_) {
    if (const auto own = own_.find(payer); own != own_.end()) wait = std::min(wait, own->second.wait(own_per_milli_));
    if (payers_[payer].is_behind) continue;
    if (put_off.has_new) wait = std::min(wait, first_.wait(kFirstPerMilli));
    if (put_off.has_others) wait = std::min(wait, further_.wait(kFurtherPerMilli));
  }
  return at_ + wait;
}

}  // namespace ashlar
