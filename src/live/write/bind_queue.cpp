#include "live/write/bind_queue.h"

#include <utility>

#include "base/check.h"

namespace ashlar::kube {

BindQueue::Kind BindQueue::kind_of(const Lane& lane) {
  if (lane.is_slow && lane.in_time > 0) return Kind::kRecovering;
  if (lane.is_slow) return lane.under_way == 0 ? Kind::kProbed : Kind::kSlow;
  if (lane.is_new) return lane.is_silent() ? Kind::kSilent : Kind::kNew;
  return lane.is_tardy || lane.overdue > 0 ? Kind::kLate : Kind::kKnown;
}

template <class Change>
void BindQueue::change(Lanes::iterator it, Change&& change) {
  Lane& lane = it->second;
  const auto count = [&](std::size_t sign) {
    OfKind& all = of(kind_of(lane));
    all.under_way += sign * lane.under_way;
    all.overdue += sign * lane.overdue;
    hindered_ += sign * lane.exempt;
    size_ += sign * lane.waiting.size();
  };
  count(std::size_t(-1));
  if (!lane.waiting.empty()) of(kind_of(lane)).heads.erase(head_of(it));
  change(lane);
  // what was decided while the engine did not wait stays so: it must not stop the engine all at once
  lane.exempt = lane.is_hindered() ? lane.waiting.size() : std::min(lane.exempt, lane.waiting.size());
  if (!lane.waiting.empty()) of(kind_of(lane)).heads.insert(head_of(it));
  count(1);
}

BindQueue::Lanes::iterator BindQueue::lane_of(const PooledString& ns) {
  const auto [it, is_first] = lanes_.try_emplace(ns);
  if (is_first) make_new(it->second);
  return it;
}

/// A new lane is tardy where others are known to be answered: else the engine would decide all that comes first.
void BindQueue::make_new(Lane& lane) const {
  lane.is_new = true;
  lane.is_tardy = sent_.has_answer();
}

void BindQueue::push(const PooledString& ns, CommitTicket ticket) {
  change(lane_of(ns), [&](Lane& lane) { lane.waiting.push_back({++last_number_, std::move(ticket)}); });
}

std::optional<BindQueue::Next> BindQueue::next(std::size_t taken, std::size_t window) {
  struct First {
    Heads::const_iterator at;
    bool may_go = false;
    std::size_t under_way() const { return std::get<0>(*at); }
    std::uint64_t number() const { return std::get<1>(*at); }
  };
  const auto first_of = [this](Kind kind, std::size_t share, bool has_place) {
    const Heads& heads = of(kind).heads;
    const First first{heads.begin(), false};
    return First{first.at, has_place && first.at != heads.end() && first.under_way() < share};
  };
  constexpr std::size_t kAny = SIZE_MAX;
  const bool has_room = taken < window;
  const std::size_t late = of(Kind::kLate).under_way + of(Kind::kSilent).under_way;
  First next = first_of(Kind::kKnown, kAny, has_room);
  for (const First& other : {first_of(Kind::kLate, kAny, has_room && late < kApartMax + (window + 1) / 2),
                             first_of(Kind::kNew, kNewShare, has_room && has_new_place())})
    if (other.may_go && (!next.may_go || *other.at < *next.at)) next = other;
  for (const First& slow : {first_of(Kind::kSlow, kSlowShare, of(Kind::kSlow).under_way < kSlowInAllMax),
                            first_of(Kind::kProbed, kAny, has_probe_place()),
                            first_of(Kind::kRecovering, kSlowShare, of(Kind::kRecovering).under_way < kSlowInAllMax)})
    if (slow.may_go && (!next.may_go || slow.number() < next.number())) next = slow;
  if (!next.may_go) return std::nullopt;
  const auto it = lanes_.find(std::get<2>(*next.at));
  Next found{it->first, {}};
  change(it, [&](Lane& lane) {
    found.ticket = std::move(lane.waiting.front().ticket);
    lane.waiting.pop_front();
    if (lane.exempt > 0) --lane.exempt;
  });
  drop_if_unused(it);
  return found;
}

void BindQueue::note_sent(std::uint64_t request, const PooledString& ns, Millis now) {
  change(lane_of(ns), [](Lane& lane) { ++lane.under_way; });
  sent_.add(request, ns, now);
}

bool BindQueue::note_answered(std::uint64_t request, Millis now, bool is_unclear) {
  const SentBindings::Sent sent = sent_.take(request);
  const auto it = lanes_.find(sent.ns);
  const bool was_slow = it->second.is_slow, is_bad = is_unclear || now >= sent.at + SentBindings::kLateAfter;
  change(it, [&](Lane& lane) {
    --lane.under_way;
    if (sent.age != SentBindings::Age::kFresh) --lane.overdue;
    lane.seen_at = now;
    lane.unclear = is_unclear ? lane.unclear + kUnclearWeight : std::max(0, lane.unclear - 1);
    if (!is_bad) lane.is_tardy = sent_.note_time(now - sent.at, now);
    if (!is_bad && lane.overdue < kOverdueShare) lane.is_new = false;
    if (!lane.is_slow) return;
    lane.in_time = is_bad ? 0 : lane.in_time + 1;
    lane.late = is_bad ? lane.late + 1 : 0;
    if (is_bad) lane.late_at = now;
    if (lane.in_time < kInTimeAgain) return;
    lane.is_slow = false;
    lane.unclear = 0;
  });
  if (was_slow && !it->second.is_slow) slow_.erase(it->first);
  // one that was abandoned is not new again, and ahead of others
  const bool was_silent = is_unclear && it->second.is_new && sent.age != SentBindings::Age::kFresh;
  if (!was_slow && (was_silent || it->second.unclear >= kUnclearWeight * kUnclearMax)) turn_slow(it, now);
  const bool says_something = !was_slow && !it->second.is_tardy;
  drop_if_unused(it);
  return says_something;
}

/// A lane that is answered all the while is not silent because one binding hangs.
void BindQueue::note_overdue(const SentBindings::Sent& sent, Millis now) {
  const auto it = lanes_.find(sent.ns);
  bool falls_silent = false;
  change(it, [&](Lane& lane) {
    ++lane.overdue;
    falls_silent = !lane.is_slow && !lane.is_new && (lane.seen_at <= sent.at || lane.overdue >= kOverdueShare);
    if (falls_silent) make_new(lane);
  });
  if (falls_silent) note_silent(now);
}

/// Where many fall silent, what was known of the others says little, too.
void BindQueue::note_silent(Millis now) {
  if (fallen_silent_ == 0 || now >= silent_since_ + kSilentFor) {
    fallen_silent_ = 0;
    silent_since_ = now;
  }
  if (++fallen_silent_ < kSilentMax) return;
  fallen_silent_ = 0;
  for (auto it = lanes_.begin(); it != lanes_.end(); ++it)
    if (!it->second.is_slow) change(it, [&](Lane& lane) { make_new(lane); });
}

void BindQueue::turn_slow(Lanes::iterator it, Millis now) {
  change(it, [&](Lane& lane) {
    lane.is_slow = true;
    lane.in_time = 0;
    lane.late = 0;
    lane.late_at = now;
  });
  slow_.insert(it->first);
}

std::shared_ptr<void> BindQueue::note_later(const PooledString& ns) {
  ++(*later_)[ns];
  return {nullptr, [later = later_, ns](void*) {
            if (--(*later)[ns] == 0) later->erase(ns);
          }};
}

bool BindQueue::may_send_again(const PooledString& ns) const {
  const auto it = lanes_.find(ns);
  if (it == lanes_.end()) return has_new_place();
  const Lane& lane = it->second;
  const Kind kind = kind_of(lane);
  if (kind == Kind::kSlow) return has_slow_place(lane.under_way);
  if (kind == Kind::kProbed) return has_probe_place();
  if (kind == Kind::kRecovering) return lane.under_way < kSlowShare && of(kind).under_way < kSlowInAllMax;
  if (kind == Kind::kNew) return lane.under_way < kNewShare && has_new_place();
  return kind != Kind::kSilent;
}

bool BindQueue::has_new_place() const {
  const std::size_t places = sent_.overdue() < kHangingMax ? kNewInAllMax : kNewWhileHanging;
  const OfKind& silent = of(Kind::kSilent);
  return of(Kind::kNew).under_way + silent.under_way - silent.overdue < places;
}

bool BindQueue::has_probe_place() const {
  const OfKind& slow = of(Kind::kSlow);
  return slow.under_way - slow.overdue < (sent_.overdue() < kHangingMax ? kProbesMax : kProbesWhileHanging);
}

std::size_t BindQueue::apart() const {
  return slow_under_way() + std::min(of(Kind::kLate).overdue + of(Kind::kSilent).overdue, kApartMax);
}

std::size_t BindQueue::outside_window() const {
  std::size_t count = apart();
  for (const auto& [ns, later] : *later_) {
    const auto it = lanes_.find(ns);
    if (it == lanes_.end()) continue;
    if (it->second.is_slow || it->second.is_silent()) count += later;
  }
  return count;
}

std::vector<PooledString> BindQueue::find_slow(Millis now) {
  std::vector<PooledString> found;
  while (const SentBindings::Sent* sent = sent_.next_overdue(now)) note_overdue(*sent, now);
  while (const SentBindings::Sent* sent = sent_.next_late(now)) {
    const auto it = lanes_.find(sent->ns);
    if (it->second.is_slow) continue;
    turn_slow(it, now);
    found.push_back(sent->ns);
  }
  forget(now);
  return found;
}

std::optional<std::uint64_t> BindQueue::to_abandon(Millis now) const {
  if (sent_.overdue() < kHangingMax) return std::nullopt;
  const Heads& unknown = of(Kind::kNew).heads;
  const bool is_first_unknown = !unknown.empty() && std::get<0>(*unknown.begin()) == 0;
  const bool is_any_without = is_first_unknown || !of(Kind::kProbed).heads.empty();
  return is_any_without ? sent_.oldest_overdue(now - kAbandonAfter) : std::nullopt;
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

/// What is known of a namespace is remembered for a while.
void BindQueue::drop_if_unused(Lanes::iterator it) {
  const bool is_known = it->second.is_slow || !it->second.is_new || it->second.unclear > 0;
  if (it->second.is_unused() && !is_known) lanes_.erase(it);
}

}  // namespace ashlar::kube
