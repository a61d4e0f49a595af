// empty_node: how many members a node could take if nothing ran there but what a job keeps. By allocatable amounts,
// devices and ports; labels are not looked at. Cost: O(resources of the demand), O(devices) of a mixed node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "state/state.h"

namespace ashlar {

/// What running members of the job hold of a node, and keep: they are not placed again. Shares of a device are left
/// out, so less may be counted than is held.
struct HeldOfNode {
  std::int32_t devices = 0;
  DeviceMask named;                   ///< which of them, as far as it is known
  std::vector<std::int64_t> amounts;  ///< by ResourceId, as far as any is held
  std::vector<HostPort> ports;

  std::int64_t of(std::size_t resource) const { return resource < amounts.size() ? amounts[resource] : 0; }
};
using HeldByNode = std::map<NodeId, HeldOfNode>;

HeldByNode held_by(const State& state, JobId job);

/// Members that the node could take if nothing else ran there.
std::uint64_t fits_when_empty(const Cluster& cluster, const Demand& demand, const Constraint& constraint, NodeId n,
                              const HeldOfNode& held);

/// The same for many questions about one state, of kinds of members and by labels and taints too: each kind is counted
/// once on each node, and labels and taints are compared once for all kinds of one constraint. Cost: of one that is
/// known, O(log kinds).
class EmptyFits {
 public:
  /// Of a job that keeps this; `held` outlives it.
  EmptyFits(const State& state, const HeldByNode& held) : state_(state), held_(held) {}

  /// Whether nodes are meant for a constraint's members, as far as it was asked for: kUnknown, 0 or 1.
  using Open = std::vector<std::int8_t>;
  /// Of one kind, by node as far as it was asked for.
  class Kind {
   public:
    Kind(const Demand& demand, const Constraint& constraint, Open& open, std::size_t nodes)
        : demand_(demand), constraint_(constraint), is_open_(open), fits_(nodes, kUnknown) {}

   private:
    friend class EmptyFits;
    const Demand& demand_;
    const Constraint& constraint_;
    Open& is_open_;
    std::vector<std::int32_t> fits_;
  };
  Kind& kind(DemandId demand, ConstraintId constraint);
  /// Of a node that is gone 0.
  std::uint64_t on(Kind& kind, NodeId n) const;
  const HeldOfNode& held_on(NodeId n) const;

 private:
  static constexpr std::int8_t kUnknown = -1;
  bool is_open(Kind& kind, NodeId n) const;

  const State& state_;
  const HeldByNode& held_;
  std::map<ConstraintId, Open> open_;
  std::map<std::pair<DemandId, ConstraintId>, Kind> kinds_;
};

}  // namespace ashlar
