// NodeTally: live nodes by their taints and by what they have, and the device classes that nodes have. Kept until a
// node is added, removed or changes its facts: then one look at each node (5,000 nodes: 0.5 ms). untolerated() looks at
// unlike nodes only, of which there are a few, and at each node for pods that name some.
#pragma once

#include <cstdint>
#include <vector>

#include "state/cluster/cluster.h"

namespace ashlar::kube {

/// For one cluster, whatever the query.
class NodeTally {
 public:
  struct Tainted {
    ashlar::Taint taint;
    std::int64_t nodes = 0;
  };
  /// Live nodes that a pod's own choice (labels, models, volumes) leaves it, no other pods keep it off, and that are
  /// large enough when nothing runs there, by the first taint that it does not tolerate, each taint once; in no
  /// particular order. O(nodes) if such a taint is there and the pod chooses.
  std::vector<Tainted> untolerated(const Cluster& cluster, const Demand& demand, ConstraintId constraint);
  /// Whether a live node has a device of each class, by its row; shorter than their rows.
  const std::vector<bool>& classes(const Cluster& cluster);
  /// Nodes looked at so far, for taints.
  std::uint64_t looks() const { return looks_; }

 private:
  /// Nodes that have the same, and the same taints that can refuse a pod, in the same order.
  struct Alike {
    std::vector<ashlar::Taint> taints;
    NodeId example;
    std::int64_t nodes = 0;
  };
  void bring_up(const Cluster& cluster);

  std::uint64_t seen_ = 0;  ///< changes of facts; 0: nothing counted
  std::vector<Alike> alike_;
  std::vector<std::uint32_t> alike_of_;  ///< by node; kNotLive if there is none
  std::uint64_t looks_ = 0;
  std::uint64_t classes_seen_ = 0;  ///< as seen_, of classes_
  std::vector<bool> classes_;
};

}  // namespace ashlar::kube
