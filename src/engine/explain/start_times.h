// start_times: when a waiting job with a reservation starts: to be expected (running jobs end by their p50), and at the
// latest (by their p90). For readers; no decision depends on it. Cost: a copy of the state, and for each of at most 8
// jobs ahead two searches for its earliest start.
#pragma once

#include <optional>

#include "base/id.h"
#include "base/quantity.h"
#include "engine/engine.h"
#include "state/state.h"

namespace ashlar {

struct StartTimes {
  JobId job;                ///< whose
  Millis expected, latest;  ///< neither is in the past; equal where each duration has one estimate
  friend bool operator==(const StartTimes&, const StartTimes&) = default;
};

/// Those of the job itself if it is the first waiting one of its queue, and of the job ahead whose reservation holds it
/// if it is held. None if it has no reservation (blocking other than easy, more than 8 jobs ahead), or no known end
/// allows its start.
std::optional<StartTimes> start_times(const State& state, const Engine& engine, JobId job, Millis now);

}  // namespace ashlar
