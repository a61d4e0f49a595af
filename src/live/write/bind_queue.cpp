#include "live/write/bind_queue.h"

#include <utility>

#include "base/check.h"

namespace ashlar::kube {

void BindQueue::push(const PooledString& ns, CommitTicket ticket) {
  Lane& lane = lanes_[ns];
  const std::uint64_t number = ++last_number_;
  if (lane.waiting.empty()) heads_of(lane).insert({number, ns});
  lane.waiting.push_back({number, std::move(ticket)});
  ++size_;
  if (lane.is_slow) ++hindered_;
}

std::optional<BindQueue::Next> BindQueue::next(bool has_room) {
  const auto first_of_slow = [&]() -> Heads::iterator {
    if (slow_under_way_ >= kSlowInAllMax) return slow_heads_.end();
    for (auto it = slow_heads_.begin(); it != slow_heads_.end(); ++it)
      if (lanes_.find(it->second)->second.under_way < kSlowShare) return it;
    return slow_heads_.end();
  };
  const Heads::iterator slow = first_of_slow();
  const bool has_slow = slow != slow_heads_.end();
  const bool has_other = has_room && !heads_.empty();
  if (!has_slow && !has_other) return std::nullopt;
  const bool is_slow = has_slow && (!has_other || slow->first < heads_.begin()->first);
  Heads& heads = is_slow ? slow_heads_ : heads_;
  const Heads::iterator head = is_slow ? slow : heads_.begin();
  const auto it = lanes_.find(head->second);
  heads.erase(head);
  Lane& lane = it->second;
  Next next{it->first, std::move(lane.waiting.front().ticket)};
  lane.waiting.pop_front();
  if (!lane.waiting.empty()) heads.insert({lane.waiting.front().number, it->first});
  --size_;
  if (is_slow) --hindered_;
  drop_if_unused(it);
  return next;
}

void BindQueue::note_sent(std::uint64_t request, const PooledString& ns, Millis now) {
  Lane& lane = lanes_[ns];
  ++lane.under_way;
  if (lane.is_slow) ++slow_under_way_;
  sent_[request] = {ns, now, false};
  in_time_.insert({now, request});
}

bool BindQueue::note_answered(std::uint64_t request, Millis now) {
  const auto found = sent_.find(request);
  ASHLAR_CHECK(found != sent_.end());
  const Sent sent = std::move(found->second);
  sent_.erase(found);
  in_time_.erase({sent.at, request});
  const auto it = lanes_.find(sent.ns);
  --it->second.under_way;
  Lane& lane = it->second;
  const bool was_slow = lane.is_slow;
  if (was_slow) {
    --slow_under_way_;
    const bool is_late = now >= sent.at + kSlowAfter;
    lane.in_time = is_late ? 0 : lane.in_time + 1;
    if (is_late) lane.late_at = now;
    if (lane.in_time >= kInTimeAgain) turn(it, false);
  }
  drop_if_unused(it);
  return !was_slow;
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
    turn(it, true);
    it->second.late_at = now;
    found.push_back(sent.ns);
  }
  for (auto ns = slow_.begin(); ns != slow_.end();) {
    const auto it = lanes_.find(*ns++);
    if (!it->second.is_unused() || now < it->second.late_at + kRemembered) continue;
    turn(it, false);
    lanes_.erase(it);
  }
  return found;
}

Millis BindQueue::next_look() const { return in_time_.empty() ? Millis::max() : in_time_.begin()->first + kSlowAfter; }

void BindQueue::turn(Lanes::iterator it, bool is_slow) {
  Lane& lane = it->second;
  if (!lane.waiting.empty()) heads_of(lane).erase({lane.waiting.front().number, it->first});
  lane.is_slow = is_slow;
  lane.in_time = 0;
  if (is_slow)
    slow_.insert(it->first);
  else
    slow_.erase(it->first);
  if (!lane.waiting.empty()) heads_of(lane).insert({lane.waiting.front().number, it->first});
  slow_under_way_ = is_slow ? slow_under_way_ + lane.under_way : slow_under_way_ - lane.under_way;
  hindered_ = is_slow ? hindered_ + lane.waiting.size() : hindered_ - lane.waiting.size();
}

/// A slow namespace is remembered for a while.
void BindQueue::drop_if_unused(Lanes::iterator it) {
  if (it->second.is_unused() && !it->second.is_slow) lanes_.erase(it);
}

}  // namespace ashlar::kube
