// node_changes: nodes come, change, cannot be read and go. Events to the engine, and what follows for pods bound or assumed there.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// New, changed, a heartbeat (no event) or unreadable.
void upsert_node(TrackerData& t, const Node& node);
/// Tells the engine that the node is closed or open, where it does not know.
void close_or_open(TrackerData& t, NodeId node);
/// See Tracker::node_trouble().
std::string node_trouble(const TrackerData& t, NodeId node);
/// See Tracker::closed_nodes_text().
std::string closed_nodes_text(const TrackerData& t);
/// Its pods are on an unknown node now, and bindings to it that are under way are waited for.
void remove_node(TrackerData& t, const PooledString& name);

}  // namespace ashlar::kube
