// preference_text: the member "preferences" of the answer of `why`: each preference of a placed pod, what its node has
// of it, and what a node that is better in it would have cost, as of now.
#pragma once

#include "kubeclient/json_writer.h"
#include "live/read/read_replica.h"

namespace ashlar::kube {

/// Nothing for a pod without a place, of another scheduler, or where no preference tells nodes apart. Cost: that of
/// preferences_met().
void write_preferences(JsonWriter& w, ReadReplica& replica, const PodRecord& pod);

}  // namespace ashlar::kube
