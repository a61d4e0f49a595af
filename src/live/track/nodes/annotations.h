// annotations: what the annotations of a node say of its GPUs. Whatever cannot be read changes nothing, and is
// logged with the node, once for each new text.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// The GPUs that take no new pods.
DeviceMask unhealthy_devices(TrackerData& t, const Node& node, NodeRecord& record, std::int32_t count);
/// Adds to what the labels say of the GPUs, which is one thing for all of them.
void state_devices(TrackerData& t, const Node& node, NodeRecord& record, NodeDevices& devices);
/// A key that is nearly one of these, or one of these as a label, says nothing, which must not go unnoticed. Logged
/// when the key changes.
void log_mistaken_key(const TrackerData& t, const Node& node, NodeRecord& record);

}  // namespace ashlar::kube
