// stop_for: carries out what a search for victims has found: they are stopped, and the job has its place.
#pragma once

#include <span>

#include "engine/cycle.h"
#include "engine/data.h"
#include "engine/victims/victim.h"
#include "model/plan.h"
#include "state/trial.h"

namespace ashlar {

/// One that is stopped, and by which rule.
struct Stop {
  Victim victim;
  StopReason reason = StopReason::kNone;
};

/// They give way for the job, which starts in these places once their pods are gone.
void stop_for(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Entry& entry, std::span<const Stop> stops,
              std::span<const Trial::Placement> places);

}  // namespace ashlar
