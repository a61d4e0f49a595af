// easy_by_count: EASY backfill as published: by the number of devices of the whole cluster, on whatever node.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// A BackfillRule::may_start: whether the job ends before the first blocked job of each queue can start, or needs no
/// more than that one leaves over.
bool may_backfill_by_count(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head);

}  // namespace ashlar
