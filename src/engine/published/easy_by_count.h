// easy_by_count: EASY backfill as it was published: by the number of devices of the whole cluster, whatever node they are on.
#pragma once

#include "engine/cycle.h"
#include "engine/data.h"

namespace ashlar {

/// A BackfillRule::may_start: does the job end before the first blocked job of each queue can start, or need no more than that one leaves over?
bool may_backfill_by_count(EngineData& e, State& state, Cycle& cycle, const PendingQueue::Head& head);

}  // namespace ashlar
