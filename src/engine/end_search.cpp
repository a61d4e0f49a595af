#include "engine/end_search.h"

#include <algorithm>

#include "engine/quota.h"

namespace ashlar {

EndSearch::EndSearch(const PlacementContext& context, JobId job, Millis now, std::span<const Promise* const> ahead)
    : context_(context), state_(context.trial.state()), job_(job), ahead_(ahead), draws_(context.draws), ends_(expected_ends(state_, now)) {
  lasts_ = state_.job(job).late_end_if_started(Millis(0));
  std::vector<Millis> others;  // ends of promised jobs
  for (const Promise* p : ahead)
    if (p->ends != Millis::max()) others.push_back(p->ends);
  std::sort(others.begin(), others.end());
  std::size_t next = 0;
  const auto note = [&](Millis at, std::size_t ends) {
    if (moments_.empty() || moments_.back().at != at) moments_.push_back({at, ends});
    moments_.back().ends = ends;
  };
  for (std::size_t e = 0; e < ends_.size(); ++e) {
    for (; next < others.size() && others[next] < ends_[e].at; ++next) note(others[next], e);
    note(ends_[e].at, e + 1);
  }
  for (; next < others.size(); ++next) note(others[next], ends_.size());
  checkpoints_.push_back(0);
}

std::optional<Millis> EndSearch::run() {
  std::size_t first = std::min(moments_.size(), std::max({enough_cards(), enough_quota(), std::size_t{1}}));
  while (first > 0 && first <= moments_.size()) {
    const std::size_t last = stretch_from(first);
    if (const std::size_t enough = least_within(first, last); enough > 0) return moments_[enough - 1].at;
    first = last + 1;
  }
  return std::nullopt;
}

EndSearch::Presence EndSearch::presence_of(const Promise& promise, Millis at) const {
  const bool is_over = promise.ends <= at;
  const bool is_before = lasts_ != Millis::max() && at + lasts_ <= promise.at;
  return is_over || is_before ? Presence::kApart : Presence::kBeside;
}

std::size_t EndSearch::stretch_from(std::size_t first) const {
  if (ahead_.empty()) return moments_.size();
  const Millis at = moments_[first - 1].at;
  Millis until = Millis::max();  // from then on somebody comes or goes
  for (const Promise* p : ahead_) {
    if (presence_of(*p, at) == Presence::kBeside)
      until = std::min(until, p->ends);
    else if (at < p->at)
      until = std::min(until, p->at - lasts_ + Millis(1));
  }
  const auto it = std::lower_bound(moments_.begin(), moments_.end(), until, [](const Moment& m, Millis t) { return m.at < t; });
  return static_cast<std::size_t>(it - moments_.begin());
}

std::size_t EndSearch::least_within(std::size_t first, std::size_t last) {
  // In one stretch more ends never make less room, so where its end is not enough nothing in it is.
  if (last < moments_.size() && !fits_after(last)) return 0;
  std::size_t failed = first - 1;
  std::size_t next = first;
  for (std::size_t step = 1; failed < last; step *= 2) {
    if (fits_after(next)) return between(failed, next);
    failed = next;
    next = std::min(last, next + step);
  }
  return 0;
}

std::size_t EndSearch::between(std::size_t failed, std::size_t enough) {
  bool is_placed = true;
  while (enough - failed > 1) {
    const std::size_t middle = failed + (enough - failed) / 2;
    is_placed = fits_after(middle);
    (is_placed ? enough : failed) = middle;
  }
  if (!is_placed) fits_after(enough);
  return enough;
}

std::size_t EndSearch::enough_cards() const {
  std::int64_t free = 0, asked = 0;
  for (const std::int64_t idle : state_.cluster.group_idle_cards()) free += std::max<std::int64_t>(idle, 0);
  const Job& j = state_.job(job_);
  const std::uint32_t needed = j.members_needed();
  std::vector<std::int64_t> asks;
  state_.each_member(job_, [&](MemberId, const Member& m) {
    const CardAsk& ask = state_.demand(m.demand).cards;
    if (!m.is_placed()) asks.push_back(ask.is_whole() ? ask.count : 0);
  });
  std::sort(asks.begin(), asks.end());
  for (std::size_t i = 0; i < asks.size() && i < needed; ++i) asked += asks[i];
  std::size_t count = 0;
  for (std::size_t e = 0; count < moments_.size() && free < asked; ++count)
    for (; e < moments_[count].ends; ++e) free += ends_[e].cards;
  return count;
}

std::size_t EndSearch::enough_quota() const {
  std::optional<Reason> refusal = quota_refusal(state_, job_);
  if (!refusal || refusal->code != ReasonCode::kQuotaExhausted) return 0;
  const QueueId limiting(refusal->subject);
  const auto dimension = static_cast<std::size_t>(refusal->numbers[0]);
  std::int64_t lacking = state_.queues.used(limiting)[dimension] + quota_needed(state_, job_)[dimension] - state_.queues.quota(limiting)[dimension];
  std::size_t count = 0;
  for (std::size_t e = 0; count < moments_.size() && lacking > 0; ++count)
    for (; e < moments_[count].ends; ++e) lacking -= held_of(ends_[e].job, limiting)[dimension];
  return count;
}

QuotaVector EndSearch::held_of(JobId job, QueueId queue) const {
  QuotaVector held{};
  if (job == job_ || !state_.queues.is_within(state_.job(job).queue, queue)) return held;
  state_.each_member(job, [&](MemberId, const Member& m) {
    if (!m.is_placed()) return;
    for (std::size_t d = 0; d < kQuotaDimensions; ++d) held[d] += state_.quota_of_demand(m.demand)[d];
  });
  return held;
}

void EndSearch::evict_until(std::size_t moments) {
  Trial& trial = context_.trial;
  // checkpoints_[k] is the trial's length after the ends of k moments.
  if (checkpoints_.size() > moments + 1) checkpoints_.resize(moments + 1);
  trial.rollback_to(checkpoints_.back());
  while (checkpoints_.size() <= moments) {
    const std::size_t k = checkpoints_.size() - 1;
    for (std::size_t e = k == 0 ? 0 : moments_[k - 1].ends; e < moments_[k].ends; ++e)
      if (ends_[e].job != job_) trial.evict(ends_[e].job);
    checkpoints_.push_back(trial.checkpoint());
  }
}

bool EndSearch::seat(const Promise& promise) {
  for (const Promise::Place& place : promise.places) {
    if (!state_.is_live(place.member) || !state_.cluster.is_live(place.node)) return false;
    const Member& m = state_.member(place.member);
    if (m.job != promise.entry.job || m.is_placed()) return false;
    const CardAsk& ask = state_.demand(m.demand).cards;
    const CardMask cards = choose_cards(state_.cluster, place.node, ask);
    if (cards.count() < ask.count) return false;
    context_.trial.take(place.member, place.node, cards);
  }
  return true;
}

bool EndSearch::fits_after(std::size_t moments) {
  evict_until(moments);
  Trial& trial = context_.trial;
  const Millis at = moments_[moments - 1].at;
  std::vector<const Promise*> later;
  for (const Promise* p : ahead_) {
    if (presence_of(*p, at) == Presence::kApart) continue;
    if (p->at > at)
      later.push_back(p);
    else if (!seat(*p))
      return false;
  }
  if (quota_refusal(state_, job_)) return false;
  for (const Promise* p : later)
    if (!p->spares_quota_for(state_, job_)) return false;
  for (const Promise* p : later) p->withhold(trial, job_, Beside::kItsNeeds);
  draws_ = context_.draws;
  // Members above the minimum are the first to give way: nobody waits for them.
  const std::size_t before = trial.checkpoint();
  const bool is_placed = place_job({trial, context_.views, context_.profile, draws_, state_.job(job_).members_needed()}, job_).is_placed;
  trial.hand_out();
  const std::span<const Trial::Step> placed = std::span(trial.steps()).subspan(before);
  return is_placed && std::all_of(later.begin(), later.end(), [&](const Promise* p) { return p->allows(state_, placed, Beside::kItsNeeds); });
}

}  // namespace ashlar
