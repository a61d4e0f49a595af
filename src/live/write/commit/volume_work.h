// volume_work: the claims of a pod that are bound when it has a place, as kube-scheduler binds them: a volume is given
// its claim, a claim the node to make a volume for; then the binding waits until the controller has bound all of them.
// None of it is taken back: the controller and the provisioner do that.
#pragma once

#include <memory>

#include "live/track/tracker.h"
#include "live/write/commit/commit_work.h"

namespace ashlar::kube {

/// Of a pod with a place; null if all its claims are bound.
std::shared_ptr<CommitWork> volume_work_of(const Tracker& tracker, PodSlot slot);

}  // namespace ashlar::kube
