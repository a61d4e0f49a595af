// StopTerms: what a job states about being stopped for others.
#pragma once

#include "base/quantity.h"

namespace ashlar {

struct StopTerms {
  static constexpr Millis kTimeMax{std::int64_t{366} * 24 * 3'600'000};

  /// Of each of its runs, from its start on; its queue may protect it for longer (StopRules).
  Millis protected_for{0};
  /// Run time that the next start costs. It counts as at most what the job has run.
  Millis restart{0};
  /// Jobs of its own queue do not stop it, and others only for what all such jobs have beyond what is guaranteed.
  bool is_unstoppable = false;
  /// It waits rather than that others are stopped for it.
  bool stops_none = false;
  /// It is stopped as a whole or not at all: members beyond its minimum do not give way by themselves.
  bool leaves_whole = false;

  bool is_sound() const {
    const auto is_time = [](Millis time) { return time >= Millis(0) && time <= kTimeMax; };
    return is_time(protected_for) && is_time(restart);
  }
  friend bool operator==(const StopTerms&, const StopTerms&) = default;
};

}  // namespace ashlar
