// csi_nodes: what CSI drivers say of nodes as labels and capacities of these: a resource for each driver that limits
// its volumes anywhere.
#pragma once

#include <string_view>

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// "attachable-volumes-csi-DRIVER": how many volumes of the driver a node can attach.
PooledString attachable_resource(const PooledString& driver);
/// Whether pods request it for their volumes: it is one of these, or of VolumeRooms. Nobody else can.
bool is_volume_resource(std::string_view name);
/// The labels of a node with its name and what drivers say of it, ascending by key.
Labels labels_with_drivers(const TrackerData& t, const PooledString& node, Labels labels);
/// The node has that much of the resource, which has a column.
void set_allocatable(NodeFacts& facts, ResourceId column, std::int64_t amount);
/// Adds what the node may attach of each limited driver: its limit, less what is attached for nobody here, and the more
/// of it where pods share a volume; and what it has of VolumeRooms, by its labels as they are known.
void add_attachable(TrackerData& t, const PooledString& node, NodeFacts& facts);
/// Whether a limit has a resource that nodes do not have yet: some pod requests it now.
bool has_new_limits(const TrackerData& t);
/// Reports what has changed of nodes' drivers and attached volumes.
void settle_csi_nodes(TrackerData& t);

}  // namespace ashlar::kube
