// clock: virtual time: the Clock of simulated runs. It stands still during decisions and is advanced only by the run's
// loop, never backwards.
#pragma once

#include "base/check.h"
#include "engine/ports.h"

namespace ashlar::sim {

class SimClock final : public Clock {
 public:
  explicit SimClock(Millis start = Millis(0)) : now_(start) {}
  Millis now() override { return now_; }
  void advance_to(Millis at) {
    ASHLAR_CHECK(at >= now_);
    now_ = at;
  }

 private:
  Millis now_;
};

}  // namespace ashlar::sim
