// Timeline: when capacity is freed: the expected ends of running jobs in order. Insertion and removal cost O(log n)
// plus a move of small entries (10,000 running jobs = 240 kB), a walk O(ends until enough).
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"

namespace ashlar {

class Timeline {
 public:
  /// A running job frees `devices` (milli-GPU / 1000, rounded up) at `at`; unknown durations end at Millis::max(). The
  /// entry of one that outlasts its estimate is in the past: Job::expected_end has its expected end.
  struct End {
    Millis at;
    std::int64_t devices = 0;
    JobId job;
    friend auto operator<=>(const End&, const End&) = default;
  };

  void add_end(const End& end);
  /// The entry must exist.
  void remove_end(const End& end);
  /// Ascending by (at, devices, job).
  std::span<const End> ends() const { return ends_; }

  /// First time at which free_now plus all ends up to then reach `devices`; Millis::max() if never. `extra` is what is
  /// left over then.
  struct Window {
    Millis at;
    std::int64_t extra = 0;
  };
  Window earliest(std::int64_t free_now, std::int64_t devices) const { return earliest(ends_, free_now, devices); }
  static Window earliest(std::span<const End> ends, std::int64_t free_now, std::int64_t devices);

 private:
  friend struct StateFields;
  std::vector<End> ends_;
};

}  // namespace ashlar
