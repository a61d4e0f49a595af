// node_view: what a policy about nodes sees and gives: the columns of the cluster, one member's demand and constraint,
// and the profile's parameters. A kernel is called once per decision for a range of rows; it reads only this view, does
// not allocate, and has no branch per node where that can be avoided.
#pragma once

#include <cstdint>
#include <span>

#include "state/cluster/node_columns.h"

namespace ashlar {

struct Constraint;
struct FgdMix;

/// Rows [first, first + count) of the node columns. Output spans are indexed from 0 = first.
struct NodeRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// A policy adds 0..kPointsMax to a node on which the member fits; domain policies, and those that draw,
/// 0..kDomainPointsMax.
using Points = std::int32_t;
inline constexpr Points kPointsMax = 1000;
inline constexpr Points kDomainPointsMax = 65535;

struct NodeView {
  const NodeColumns& nodes;
  const Demand& demand;
  const Constraint& constraint;
  const FgdMix* mix = nullptr;  ///< target workload of FGD, if the profile has one
  std::uint64_t draw = 0;       ///< a fresh random number per decision, for policies that draw
  /// what add_up_preferences gives each node, by row; empty: none of them is about other pods
  std::span<const Points> preferences = {};
};

inline constexpr std::uint16_t kFitsMax = 1024;  ///< members of one demand on one node; more are not counted

}  // namespace ashlar
