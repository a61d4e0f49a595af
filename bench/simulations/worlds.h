// drawn_simulation: a small cluster, its queues, its work, its troubles and a profile, all drawn from a seed: any of
// them beside any other. What was drawn is kept beside the scenario, so that checks need not ask the scheduler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "policy/profile.h"

namespace ashlar::bench {

inline constexpr std::int64_t kDevicesPerNode = 8;

struct DrawnQueue {
  int parent = -1;                     ///< its number; -1: none
  std::int64_t quota_gpus = -1;        ///< hard; -1: none
  Millis from_own{0}, from_others{0};  ///< for so long its jobs are protected; with what the queues above it say
};

/// A node on which only jobs of one queue, or none, may start for a time.
struct DrawnWindow {
  std::size_t node = 0;
  Millis from, until;
  int queue = -1;  ///< -1: none
};

struct DrawnSimulation {
  std::string scenario;  ///< YAML of the scenario language
  Profile profile;
  std::size_t nodes = 0, per_rack = 0;
  std::int64_t jobs = 0;
  std::vector<DrawnQueue> queues;
  std::vector<DrawnWindow> windows;
  /// Decided as by a peer, whose rules let jobs stop each other in a circle, and protect otherwise.
  bool is_of_a_peer = false;
  bool must_finish = false;  ///< no limit keeps any of its jobs waiting for ever
};

DrawnSimulation drawn_simulation(std::uint64_t seed);

}  // namespace ashlar::bench
