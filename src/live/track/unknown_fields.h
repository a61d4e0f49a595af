// unknown_fields: fields that only a newer Kubernetes has. A waiting pod with one in its spec is not placed; what other
// objects have is logged once by name and counted.
#pragma once

#include <string>

#include "kubeclient/objects.h"
#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// Those of the pod's spec that the configuration does not accept: "PodSpec.44, Container.31"; empty: none.
std::string refused_unknown_fields(const TrackerOptions& options, const Pod& pod);

void note_unknown_fields(TrackerData& t, const Pod& pod);
void note_unknown_fields(TrackerData& t, const Node& node);

}  // namespace ashlar::kube
