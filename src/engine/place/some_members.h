// some_members: places some of a gang's waiting members, where all of them, or the first, find no place and others may
// start without them. Greedy: those that have room, by their ranks or the smallest first. Cost: O(members x domains
// tried x nodes of a domain).
#pragma once

#include <functional>

#include "engine/place/placement.h"
#include "engine/place/run_placer.h"

namespace ashlar {

/// Places as many as must be placed together, or more; or nothing. The job has a choice (has_choice).
bool place_some(RunPlacer& placer, const PlacementContext& context, JobId job);

/// The same one by one, no more than must be placed together, each where `is_within()` holds once it is placed.
bool place_some_within(const PlacementContext& context, JobId job, const std::function<bool()>& is_within);

}  // namespace ashlar
