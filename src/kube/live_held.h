// What waits outside the engine, and why: pods that are held, and gangs whose pods are. For `ashlar queue` and the metrics, which would otherwise
// not know them.
#pragma once

#include <string>
#include <vector>

#include "kube/live_intake.h"
#include "kube/text.h"

namespace ashlar::kube {

struct HeldThing {
  Text ns, name;   ///< of the pod or gang
  QueueId queue;   ///< none where it is not known
  Millis created;  ///< of the pod, or of the gang's first
  std::size_t pods = 1;
  HoldReason reason = HoldReason::kNone;
  std::string message;
};

/// In order of namespace and name. Pods that are being deleted and other schedulers' wait for nothing and are left out. Cost: O(pods + gangs).
std::vector<HeldThing> held_things(const LiveIntake& intake);

}  // namespace ashlar::kube
