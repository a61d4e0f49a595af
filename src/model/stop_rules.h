// StopRules: whom the jobs of a queue may stop for a place, and for how long its own run before others may stop them.
#pragma once

#include <cstdint>

#include "base/quantity.h"

namespace ashlar {

struct StopRules {
  /// Of its own queue.
  enum class Own : std::uint8_t {
    kNever,
    kLower,         ///< of lower priority
    kLowerOrNewer,  ///< also of the same priority, queued later: submitted, or stopped since
    /// also of the same priority that are expected to run much longer yet, by the profile's order
    /// (OrderPolicy::gives_way_to)
    kLowerOrLonger,
  };
  /// Of queues that have what is guaranteed to it.
  enum class Reclaims : std::uint8_t {
    kNever,
    kLower,  ///< of lower priority
    kAny,
  };
  static constexpr Millis kAsAbove{-1};  ///< as the queue above; 0 for the root
  static constexpr Millis kProtectedMax{std::int64_t{366} * 24 * 3'600'000};
  static constexpr std::int32_t kNobody = INT32_MIN;

  Own own = Own::kLower;
  Reclaims reclaims = Reclaims::kAny;
  /// What follows also of the same priority, where they are expected to run much longer yet, as with kLowerOrLonger.
  bool longer_while_borrowing = false;
  /// A job with which its queue borrows may stop those of other queues that borrow, of lower priority than its own, and
  /// of at most this one.
  std::int32_t while_borrowing = kNobody;
  Millis protected_from_own = kAsAbove, protected_from_others = kAsAbove;  ///< a job of it, from its start on

  bool is_sound() const {
    const auto is_protection = [](Millis time) { return time >= kAsAbove && time <= kProtectedMax; };
    return is_protection(protected_from_own) && is_protection(protected_from_others);
  }
  friend bool operator==(const StopRules&, const StopRules&) = default;
};

}  // namespace ashlar
