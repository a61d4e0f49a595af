// volumes_text: what the condition of a pod that waits for volumes says: which are too few for its gang, or that there
// is none.
#pragma once

#include <string>

#include "live/read/pod_text.h"

namespace ashlar::kube {

/// Whether it is refused everywhere because one of its claims can get no volume: none is there, and none can be made.
bool lacks_volumes(const TextContext& context, const Reason& reason);
/// That claim: "its claim "data" (storage class "fast")".
std::string unmet_claim_text(const TextContext& context, JobId job);
/// Whether the reason counts nodes with too few volumes left (see VolumeRooms).
bool lacks_room_for_volumes(const TextContext& context, const Reason& reason);
/// "volumes (class "fast", at least 10 GiB, ReadWriteOnce)": those that members of the job take and that are counted as
/// a resource of nodes; of several the first. Empty: none. O(members that wait).
std::string counted_volumes_text(const TextContext& context, JobId job);

}  // namespace ashlar::kube
