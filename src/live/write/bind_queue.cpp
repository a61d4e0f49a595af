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
  const bool was_slow = it->second.is_slow;
  if (was_slow) --slow_under_way_;
  if (was_slow && now < sent.at + kSlowAfter) turn(it, false);
  drop_if_unused(it);
  return !was_slow;
}

std::vector<PooledString> BindQueue::find_slow(Millis now) {
  std::vector<PooledString> found;
  while (!in_time_.empty() && in_time_.begin()->first + kSlowAfter <= now) {
    Sent& sent = sent_.find(in_time_.begin()->second)->second;
    in_time_.erase(in_time_.begin());
    const auto it = lanes_.find(sent.ns);
    if (it->second.is_slow) continue;
    turn(it, true);
    found.push_back(sent.ns);
  }
  return found;
}

Millis BindQueue::next_look() const { return in_time_.empty() ? Millis::max() : in_time_.begin()->first + kSlowAfter; }

void BindQueue::turn(Lanes::iterator it, bool is_slow) {
  Lane& lane = it->second;
  if (!lane.waiting.empty()) heads_of(lane).erase({lane.waiting.front().number, it->first});
  lane.is_slow = is_slow;
  if (!lane.waiting.empty()) heads_of(lane).insert({lane.waiting.front().number, it->first});
  slow_under_way_ = is_slow ? slow_under_way_ + lane.under_way : slow_under_way_ - lane.under_way;
  hindered_ = is_slow ? hindered_ + lane.waiting.size() : hindered_ - lane.waiting.size();
}

/// A slow namespace is remembered while any of its bindings waits or is under way.
void BindQueue::drop_if_unused(Lanes::iterator it) {
  if (it->second.waiting.empty() && it->second.under_way == 0) lanes_.erase(it);
}

}  // namespace ashlar::kube
