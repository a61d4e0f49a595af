// preferences: what `prefer` gives nodes to a member with preferences about other pods, to which other pods have some,
// or of which a node has an image: the points of kube-scheduler's TaintToleration, NodeAffinity, PodTopologySpread and
// InterPodAffinity, each 0..100 among the nodes where the member fits, and ImageLocality, by their default weights 3,
// 2, 2, 2 and 1.
// Example: preferred anti-affinity (weight 10) to pods of which zone a has 2, b 1 and c none: 300 + 0, 100 and 200.
// Cost: three passes over the nodes without a lookup for affinity alone; a lookup for each soft spread and node.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policy/node_view.h"

namespace ashlar {

/// What preferences amount to, by node row; an empty column: the same on all nodes.
struct PreferenceColumns {
  static constexpr std::uint32_t kNoDomain = UINT32_MAX;
  struct Spread {
    std::int32_t skew_max = 1;
    std::span<const std::uint32_t> domain_of_node;  ///< kNoDomain: the node does not have the label
    std::span<const std::uint32_t> pods;            ///< by domain
    bool requires_all_labels = true;                ///< as of SpreadTerm
  };
  std::span<const std::int64_t> pod_affinity;  ///< a row for each node
  std::span<const std::int32_t> weights_held, soft_taints;
  std::span<const std::uint8_t> images;  ///< 0..100
  std::vector<Spread> spreads;
  bool depends_on_what_fits() const {
    return !pod_affinity.empty() || !weights_held.empty() || !soft_taints.empty() || !spreads.empty();
  }
};

/// Writes all rows; 0 where nothing fits, unless nothing depends on that. `fits` and `points` have a row for each node.
void add_up_preferences(const PreferenceColumns& columns, std::span<const std::uint16_t> fits,
                        std::span<Points> points);

}  // namespace ashlar
