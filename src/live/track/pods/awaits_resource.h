// awaits_resource: whether a pod is held only until a node has what it requests: Dynamic Resource Allocation serves it
// by a DeviceClass, and no field of the pod itself is refused.
#pragma once

#include "live/track/pod_table.h"

namespace ashlar::kube {

inline bool awaits_resource(const PodRecord& r) {
  return r.phase == PodRecord::Phase::kHeld && r.hold == HoldReason::kUnsupported &&
         (!r.rules || r.rules->unsupported.empty());
}

}  // namespace ashlar::kube
