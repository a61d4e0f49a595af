// facts_text: a node's taints and GPUs as answers tell them.
#pragma once

#include <string>
#include <string_view>

#include "kubeclient/json_writer.h"
#include "live/track/names.h"
#include "state/cluster/node_columns.h"

namespace ashlar::kube {

/// "NoSchedule".
std::string_view effect_text(ashlar::TaintEffect effect);
/// "key=value:Effect", and "key:Effect" if there is no value.
std::string taint_text(const ObjectNames& names, const ashlar::Taint& taint);
/// The member `capabilities` of a device class; nothing for one without any.
void write_capabilities(JsonWriter& w, const ObjectNames& names, const NodeColumns& nodes, DeviceClassId device_class);
/// The member `cardGroups`: the GPUs of which the same is known, together. Nothing for a node whose GPUs are all alike.
void write_device_groups(JsonWriter& w, const ObjectNames& names, const NodeColumns& nodes, NodeId node);

}  // namespace ashlar::kube
