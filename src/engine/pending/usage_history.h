// UsageHistory: what queues have used, as an average that forgets: du/dt = (held - u) ln 2 / half-life. Keys of queues
// follow it in steps of a 1,440th of the half-life (a minute of a day), so that between them only what changes is
// looked at. Cost: O(counters) for a change of usage; O(queues) for each step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"
#include "base/quantity.h"

namespace ashlar {

class UsageHistory {
 public:
  /// 0: none is kept.
  explicit UsageHistory(Millis half_life) : half_life_(half_life) {}
  bool is_kept() const { return half_life_ > Millis(0); }

  /// From now on the queue holds that much, by counter. If it did before, nothing changes, not even by rounding.
  void hold(QueueId queue, std::span<const std::int64_t> held, Millis now);
  /// Its past of that counter is such that it comes to this amount, in units times milliseconds, if it had all been
  /// used now. Returns by how much the average has changed.
  double record(QueueId queue, std::size_t counter, std::int64_t amount, Millis now);
  /// The average is so much more, or less.
  void add(QueueId queue, std::size_t counter, double by, Millis now);

  /// Whether a step has begun since the last one that was taken.
  bool is_step_due(Millis now) const { return is_kept() && step_of(now) != step_; }
  /// Averages of now are those that keys follow.
  void take_step(Millis now);
  /// As of the last step.
  double average(QueueId queue, std::size_t counter) const;

 private:
  friend struct EngineFields;
  static constexpr std::int64_t kStepsPerHalfLife = 1440;
  /// Of one queue, by counter: dimensions, then keys of quotas.
  struct Past {
    Millis since;
    std::vector<double> averages;  ///< at `since`
    std::vector<std::int64_t> held;
    std::vector<double> at_step;
  };
  std::int64_t step_of(Millis now) const {
    return now.value / std::max<std::int64_t>(half_life_.value / kStepsPerHalfLife, 1);
  }
  void settle(Past& past, Millis now) const;
  Past& settled(QueueId queue, std::size_t counters, Millis now);

  Millis half_life_;
  std::int64_t step_ = -1;
  std::vector<Past> pasts_;  ///< by queue
};

}  // namespace ashlar
