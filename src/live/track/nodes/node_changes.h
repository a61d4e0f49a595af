// node_changes: nodes are added, change, cannot be read and are removed. Events to the engine, and the effects on pods
// bound or assumed there.
#pragma once

#include "live/track/tracker_data.h"

namespace ashlar::kube {

/// New, changed, a heartbeat (no event) or unreadable. What CSI drivers say of the node is added to its labels.
void upsert_node(TrackerData& t, Node& node);
/// Reports to the engine what has changed of a known node.
void report_node(TrackerData& t, NodeId node, NodeFacts facts);
/// A node has these labels from now on; its facts are up to the caller.
void change_labels(TrackerData& t, NodeId node, Labels labels);
/// Reports to the engine that the node is closed or open, if that is new.
void close_or_open(TrackerData& t, NodeId node);
/// Labels that constraints newly ask for become facts of the nodes that have them. O(nodes) if any node does.
void report_asked_labels(TrackerData& t);
/// Its pods are now on an unknown node, and bindings to it that are under way are awaited.
void remove_node(TrackerData& t, const PooledString& name);

}  // namespace ashlar::kube
