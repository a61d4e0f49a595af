#include "live/write/bind_queue.h"

#include <utility>

#include "base/check.h"

namespace ashlar::kube {

template <class Change>
void BindQueue::change(Lanes::iterator it, Change&& change) {
  Lane& lane = it->second;
  const auto count = [&](std::size_t sign) {
    if (lane.is_slow) slow_under_way_ += sign * lane.under_way;
    if (!lane.is_slow && lane.is_new) new_under_way_ += sign * lane.under_way;
    if (lane.is_hindered()) hindered_ += sign * lane.waiting.size();
    size_ += sign * lane.waiting.size();
  };
  count(std::size_t(-1));
  if (!lane.waiting.empty()) heads_of(lane).erase(head_of(it));
  change(lane);
  if (!lane.waiting.empty()) heads_of(lane).insert(head_of(it));
  count(1);
}

/// The lane of a namespace; a new one is tardy where others are known to be answered: else the engine would decide all
/// that comes first.
BindQueue::Lanes::iterator BindQueue::lane_of(const PooledString& ns) {
  const auto [it, is_first] = lanes_.try_emplace(ns);
  if (is_first) it->second.is_tardy = fastest_ != Millis::max();
  return it;
}

void BindQueue::push(const PooledString& ns, CommitTicket ticket) {
  change(lane_of(ns), [&](Lane& lane) { lane.waiting.push_back({++last_number_, std::move(ticket)}); });
}

std::optional<BindQueue::Next> BindQueue::next(bool has_room) {
  struct First {
    Heads::const_iterator at;
    bool may_go = false;
    std::size_t under_way() const { return std::get<0>(*at); }
    std::uint64_t number() const { return std::get<1>(*at); }
  };
  const auto first_of = [](const Heads& heads, std::size_t share, bool has_place) {
    const First first{heads.begin(), false};
    return First{first.at, has_place && first.at != heads.end() && first.under_way() < share};
  };
  constexpr std::size_t kAny = SIZE_MAX;
  First next = first_of(heads_, kAny, has_room);
  const First fresh =
      first_of(new_heads_, kNewShare,
               has_room && new_under_way_ < kNewInAllMax && new_under_way_ + slow_under_way_ < kUnprovenMax);
  if (fresh.may_go && (!next.may_go || *fresh.at < *next.at)) next = fresh;
  const First slow = first_of(slow_heads_, kSlowShare, slow_under_way_ < kSlowInAllMax);
  if (slow.may_go && (!next.may_go || slow.number() < next.number())) next = slow;
  if (!next.may_go) return std::nullopt;
  const auto it = lanes_.find(std::get<2>(*next.at));
  Next found{it->first, {}};
  change(it, [&](Lane& lane) {
    found.ticket = std::move(lane.waiting.front().ticket);
    lane.waiting.pop_front();
  });
  drop_if_unused(it);
  return found;
}

void BindQueue::note_sent(std::uint64_t request, const PooledString& ns, Millis now) {
  change(lane_of(ns), [](Lane& lane) { ++lane.under_way; });
  sent_[request] = {ns, now, false};
  in_time_.insert({now, request});
}

bool BindQueue::note_answered(std::uint64_t request, Millis now, bool is_unclear) {
  const auto found = sent_.find(request);
  ASHLAR_CHECK(found != sent_.end());
  const Sent sent = std::move(found->second);
  sent_.erase(found);
  in_time_.erase({sent.at, request});
  const auto it = lanes_.find(sent.ns);
  const bool was_slow = it->second.is_slow, is_bad = is_unclear || now >= sent.at + kSlowAfter;
  change(it, [&](Lane& lane) {
    --lane.under_way;
    lane.seen_at = now;
    lane.unclear = is_unclear ? lane.unclear + 1 : 0;
    if (!is_bad) note_time(lane, now - sent.at, now);
    if (!lane.is_slow) return;
    lane.in_time = is_bad ? 0 : lane.in_time + 1;
    if (is_bad) lane.late_at = now;
    if (lane.in_time >= kInTimeAgain) lane.is_slow = false;
  });
  if (was_slow && !it->second.is_slow) slow_.erase(it->first);
  if (!was_slow && it->second.unclear >= kUnclearMax) turn_slow(it, now);
  const bool says_something = !was_slow && !it->second.is_tardy;
  drop_if_unused(it);
  return says_something;
}

void BindQueue::turn_slow(Lanes::iterator it, Millis now) {
  change(it, [&](Lane& lane) {
    lane.is_slow = true;
    lane.in_time = 0;
    lane.late_at = now;
  });
  slow_.insert(it->first);
}

void BindQueue::note_time(Lane& lane, Millis took, Millis now) {
  if (took <= fastest_ || now >= fastest_at_ + kOfLate) {
    fastest_ = std::max(took, Millis(1));
    fastest_at_ = now;
  }
  lane.is_new = false;
  lane.is_tardy = took >= kTardyAfter && took.value >= kTardyFactor * fastest_.value;
}

std::shared_ptr<void> BindQueue::note_later(const PooledString& ns) {
  ++(*later_)[ns];
  return {nullptr, [later = later_, ns](void*) {
            if (--(*later)[ns] == 0) later->erase(ns);
          }};
}

bool BindQueue::may_send_again(const PooledString& ns) const {
  const auto it = lanes_.find(ns);
  return it == lanes_.end() || !it->second.is_slow ||
         (it->second.under_way < kSlowShare && slow_under_way_ < kSlowInAllMax);
}

std::size_t BindQueue::outside_window() const {
  std::size_t count = slow_under_way_;
  if (later_->empty()) return count;
  for (const PooledString& ns : slow_)
    if (const auto it = later_->find(ns); it != later_->end()) count += it->second;
  return count;
}

std::vector<PooledString> BindQueue::find_slow(Millis now) {
  std::vector<PooledString> found;
  while (!in_time_.empty() && in_time_.begin()->first + kSlowAfter <= now) {
    Sent& sent = sent_.find(in_time_.begin()->second)->second;
    in_time_.erase(in_time_.begin());
    const auto it = lanes_.find(sent.ns);
    if (it->second.is_slow) continue;
    turn_slow(it, now);
    found.push_back(sent.ns);
  }
  forget(now);
  return found;
}

/// Namespaces that have had nothing for a while, slow ones since their last late answer.
void BindQueue::forget(Millis now) {
  for (auto ns = slow_.begin(); ns != slow_.end();) {
    const auto it = lanes_.find(*ns++);
    if (!it->second.is_unused() || now < it->second.late_at + kRemembered) continue;
    slow_.erase(it->first);
    lanes_.erase(it);
  }
  if (now < forgotten_at_ + kRemembered) return;
  forgotten_at_ = now;
  std::erase_if(lanes_, [&](const auto& of) {
    return of.second.is_unused() && !of.second.is_slow && now >= of.second.seen_at + kRemembered;
  });
}

Millis BindQueue::next_look() const { return in_time_.empty() ? Millis::max() : in_time_.begin()->first + kSlowAfter; }

/// What is known of a namespace is remembered for a while.
void BindQueue::drop_if_unused(Lanes::iterator it) {
  const bool is_known = it->second.is_slow || !it->second.is_new || it->second.unclear > 0;
  if (it->second.is_unused() && !is_known) lanes_.erase(it);
}

}  // namespace ashlar::kube
