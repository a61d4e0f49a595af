// Simulation: one that is drawn from a seed, played twice under the checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks.h"
#include "sim/scenario/run.h"
#include "worlds.h"

namespace ashlar::bench {

struct Sums {
  std::int64_t decisions = 0, starts = 0, stops = 0, faulty = 0;
};

class Simulation {
 public:
  /// Throws std::runtime_error where what is drawn is no scenario, or its profile cannot decide.
  explicit Simulation(std::uint64_t seed);
  /// What is wrong with it, in words. Throws std::runtime_error where it does not come to an end.
  std::vector<std::string> play(Sums& sums) const;

 private:
  sim::QueueRun play_once(const sim::ScenarioRun& run, Checks& checks) const;

  DrawnSimulation drawn_;
  sim::Scenario scenario_;
};

}  // namespace ashlar::bench
