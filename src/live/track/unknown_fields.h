// unknown_fields: fields that only a newer Kubernetes has. A waiting pod with one in its spec is not placed, nor one
// whose PodGroup or unbound claim has one in its own; what other objects have is logged once by name and counted.
#pragma once

#include <set>
#include <span>
#include <string>

#include "kubeclient/objects.h"
#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// Those of a spec that the configuration does not accept: "PodSpec.44, Container.31"; empty: none.
std::string refused_unknown_fields(const std::set<std::string>& accepted, std::span<const PooledString> fields);

void note_unknown_fields(TrackerData& t, const Pod& pod);
/// Of any other object: as its decoder names them, "NodeSpec.9, NodeStatus.15", and one by one.
void note_unknown_fields(TrackerData& t, const PooledString& elsewhere, std::span<const PooledString> in_spec = {});

}  // namespace ashlar::kube
