// timed_run: the loop of every timed simulation: advance the clock to the next event, let the Driver take one step,
// repeat. It contains no scheduling rule; cadence and the times to look again come from profile and plan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "engine/driver.h"
#include "sim/world/clock.h"
#include "sim/world/world.h"

namespace ashlar::sim {

struct TimedRun {
  SimClock& clock;
  World& world;
  Driver& driver;
  Millis cadence{0};                                   ///< of the profile: step only at its multiples
  std::optional<Millis> horizon;                       ///< nothing after this happens
  std::function<void(std::int64_t arrived)> progress;  ///< called every few thousand steps
  std::function<void(const Plan&)> stepped = {};       ///< called after every step
};

/// Runs until nothing can happen any more or the horizon is reached.
void run_to_end(const TimedRun& run);

}  // namespace ashlar::sim
