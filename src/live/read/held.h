// held: what waits outside the engine, and why: held pods, and gangs with held pods; for `ashlar queue` and the
// metrics. Pods that are being deleted and those of other schedulers are left out. Cost: O(pods + members of gangs).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kubeclient/pooled_string.h"
#include "live/track/tables.h"

namespace ashlar::kube {

struct HeldThing {
  PooledString ns, name;  ///< of the pod or gang
  QueueId queue;          ///< none if the pod was held before its queue was determined
  Millis created;         ///< of the pod, or of the gang's first waiting one
  std::size_t pods = 1;
  HoldReason reason = HoldReason::kNone;
  PodSlot pod = kNoPod;  ///< the pod, or
  GangSlot gang = kNoGang;
};

/// In order of namespace and name.
std::vector<HeldThing> held_things(const Tables& tables);
/// The same pods, counted.
std::map<HoldReason, std::size_t> held_pods(const Tables& tables);
/// The reason, as text.
std::string held_text(const Tables& tables, const HeldThing& held);

}  // namespace ashlar::kube
