// rekey: brings the order of queues up to date with what they use now.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// Stage, also run after each job that is started: queues whose key has changed take their new places; reservations
/// that are in another order then are dropped. No job is touched. Nothing where queues are not compared.
void rekey(EngineData& e, State& state, Cycle& cycle);

}  // namespace ashlar
