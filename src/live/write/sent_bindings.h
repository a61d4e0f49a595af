// SentBindings: bindings that are under way, by how long they are: fresh; overdue, after several times as long as the
// fastest answer of late took; late, after two seconds. Times are monotonic. Cost: O(log requests).
//
//   sent.add(request, ns, now);
//   while (const SentBindings::Sent* one = sent.next_overdue(now)) ...;  // and next_late()
//   const SentBindings::Sent answered = sent.take(request);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/quantity.h"
#include "kubeclient/pooled_string.h"

namespace ashlar::kube {

class SentBindings {
 public:
  static constexpr Millis kLateAfter{2'000};
  /// Overdue is what takes this long, and this many times as long as the fastest of late.
  static constexpr Millis kOverdueAfter{250};
  static constexpr std::int64_t kOverdueFactor = 8;
  static constexpr Millis kOfLate{30'000};
  enum class Age : std::uint8_t { kFresh, kOverdue, kLate };
  struct Sent {
    PooledString ns;
    Millis at;
    Age age = Age::kFresh;  ///< as next_overdue() and next_late() have reported
  };

  void add(std::uint64_t request, const PooledString& ns, Millis now) {
    sent_[request] = {ns, now, Age::kFresh};
    of(Age::kFresh).insert({now, request});
  }
  /// The request was answered, or will not be.
  Sent take(std::uint64_t request) {
    const auto found = sent_.find(request);
    ASHLAR_CHECK(found != sent_.end());
    Sent sent = std::move(found->second);
    of(sent.age).erase({sent.at, request});
    sent_.erase(found);
    return sent;
  }
  /// One more that is overdue by now; null if there is none. Valid until the next change.
  const Sent* next_overdue(Millis now) { return next(Age::kFresh, overdue_after(), now); }
  /// The same of late ones; all of them were overdue before.
  const Sent* next_late(Millis now) { return next(Age::kOverdue, kLateAfter, now); }
  /// When one of them has one more; max() if nothing is under way.
  Millis next_look() const { return std::min(due(Age::kFresh, overdue_after()), due(Age::kOverdue, kLateAfter)); }

  /// An answer that was not late took so long; whether it was overdue.
  bool note_time(Millis took, Millis now) {
    if (took <= fastest_ || now >= fastest_at_ + kOfLate) {
      fastest_ = std::max(took, Millis(1));
      fastest_at_ = now;
    }
    return took >= overdue_after();
  }
  /// Whether anything is known of how fast the server answers.
  bool has_answer() const { return fastest_ != Millis::max(); }
  std::size_t overdue() const { return of(Age::kOverdue).size() + of(Age::kLate).size(); }
  /// The one that was sent first of those that are overdue; nothing if it was sent after that time.
  std::optional<std::uint64_t> oldest_overdue(Millis sent_by) const {
    const ByTime& overdue = of(of(Age::kLate).empty() ? Age::kOverdue : Age::kLate);
    if (overdue.empty() || overdue.begin()->first > sent_by) return std::nullopt;
    return overdue.begin()->second;
  }

 private:
  using ByTime = std::set<std::pair<Millis, std::uint64_t>>;
  ByTime& of(Age age) { return by_age_[static_cast<std::size_t>(age)]; }
  const ByTime& of(Age age) const { return by_age_[static_cast<std::size_t>(age)]; }
  Millis overdue_after() const {
    return has_answer() ? std::clamp(Millis(fastest_.value * kOverdueFactor), kOverdueAfter, kLateAfter)
                        : kOverdueAfter;
  }
  Millis due(Age age, Millis after) const { return of(age).empty() ? Millis::max() : of(age).begin()->first + after; }
  const Sent* next(Age age, Millis after, Millis now) {
    if (due(age, after) > now) return nullptr;
    auto first = of(age).extract(of(age).begin());
    Sent& sent = sent_.find(first.value().second)->second;
    sent.age = age == Age::kFresh ? Age::kOverdue : Age::kLate;
    of(sent.age).insert(std::move(first));
    return &sent;
  }

  std::map<std::uint64_t, Sent> sent_;  ///< by request
  ByTime by_age_[3];
  Millis fastest_ = Millis::max(), fastest_at_;  ///< answer of late, and when
};

}  // namespace ashlar::kube
