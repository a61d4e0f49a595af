// capacity: what nodes have of what quotas count.
#pragma once

#include <cstdint>

#include "model/quota.h"
#include "state/cluster/cluster.h"

namespace ashlar {

/// Of one node: thousandths of devices, unhealthy ones too, or an amount of a resource; 0 if it is not live.
std::int64_t capacity_of(const Cluster& cluster, NodeId node, const QuotaKey& key);

/// Of all nodes; a sum beyond int64 counts as the largest. O(nodes).
std::int64_t capacity_of(const Cluster& cluster, const QuotaKey& key);

}  // namespace ashlar
