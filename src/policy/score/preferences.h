// preferences: what `prefer` gives nodes to a member with preferences about other pods, or to which other pods have
// some: the points of kube-scheduler's TaintToleration, NodeAffinity, PodTopologySpread and InterPodAffinity, each
// 0..100 among the nodes where the member fits, by their default weights 3, 2, 2 and 2.
// Example: preferred anti-affinity (weight 10) to pods of which zone a has 2, b 1 and c none: 300 + 0, 100 and 200.
// Cost: three passes over the nodes without a lookup for affinity alone; a lookup for each soft spread and node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/node_view.h"
#include "state/counts/pod_preferences.h"

namespace ashlar {

/// Writes all rows; 0 where nothing fits. `fits` and `points` have a row for each node.
void add_up_preferences(const PodPreferences& preferences, std::span<const std::uint16_t> fits,
                        std::span<Points> points);

}  // namespace ashlar
