// Oracle: whether a held job would delay the first waiting jobs ahead of it if it started now. The future is played
// from copies of state and engine, once without and once with the job in place: running jobs end as expected, nothing
// arrives. It shares no code with reservations.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "state/state.h"

namespace ashlar::bench {

/// A job's placement, as the cluster would report it.
using Places = std::vector<Bound>;

/// Where the engine's placement puts the job now, off these nodes; none if it finds no place.
std::optional<Places> places_now(State& state, Engine& engine, JobId job, std::span<const NodeId> off = {});

struct Start {
  JobId job;
  Millis at = Millis::max();  ///< max(): not within the future that was played
  std::vector<NodeId> nodes;
};

/// Where a future begins: what is copied, and what is started by hand.
struct Moment {
  const State& state;
  const Engine& engine;
  Millis now;  ///< of the decision
};

/// Starts of the heads if the engine goes on deciding. With `first`, that job is started now by hand.
std::vector<Start> starts_by_the_engine(const Moment& moment, std::span<const JobId> heads,
                                        const Places* first = nullptr);

/// When the head could start if no other waiting job did, but the one that `first` starts now by hand.
Start start_alone(const Moment& moment, JobId head, const Places* first = nullptr);

}  // namespace ashlar::bench
