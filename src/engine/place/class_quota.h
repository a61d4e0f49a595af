// class_quota: limits that depend on the node, such as GPUs of one class: asked once a job has been placed in a trial.
// What exceeds them is placed elsewhere: on nodes of other classes, or with as many devices of each class as the limits
// leave.
#pragma once

#include <cstdint>
#include <span>

#include "engine/place/placement.h"

namespace ashlar {

/// The job was placed by `place` in the steps of the trial from `before` on, when `needed` members had to be placed
/// together. Where a queue above it now has more than its limit, members are moved to nodes of other classes. If there
/// is no such place the trial is as it was before, and the outcome has the limit that binds.
PlacementOutcome keep_within_class_quota(const PlacementContext& context, JobId job, std::size_t before,
                                         std::uint32_t needed);

/// Blocks in the trial all that is free on nodes of these classes of what the job's waiting members request. Every pod
/// requests some resource.
void close_classes(Trial& trial, JobId job, std::span<const DeviceClassId> classes);

}  // namespace ashlar
