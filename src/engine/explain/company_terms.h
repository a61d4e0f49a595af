// company_terms: how many domains each of a constraint's rules about other pods closes to a member, and which it leaves
// open, as of now. For readers: O(nodes x terms), and with the anti-affinity of placed pods O(constraints).
#pragma once

#include <cstdint>
#include <vector>

#include "model/reason.h"
#include "state/state.h"

namespace ashlar {

/// One rule, by one topology label. A domain is meant that has a node which the lasting rules about nodes allow the
/// member, as reasons count them; it is usable if all other facts of a node allow it too.
struct CompanyTerm {
  PodSelectorId selector;  ///< of the pods that it is about: for kPodAntiAffinity those that it keeps away
  LabelKeyId topology;
  std::uint32_t domains = 0;        ///< meant ones
  std::uint32_t closed = 0;         ///< those of them that it closes
  std::uint32_t nodes_without = 0;  ///< meant nodes that it closes as they lack the label
  bool is_on_nodes = false;         ///< a node has the label
  /// kPodAffinity: domains with such pods; kTopologySpread: those with fewest. Ascending; only the usable ones among
  /// them, if there are any.
  std::vector<LabelId> named;
  bool are_named_usable = false;
  NodeId example;  ///< the anti-affinities: a node with such a pod, in a meant domain
  // of kTopologySpread
  std::int32_t skew_max = 1, domains_min = 1;
  std::uint32_t fewest = 0;           ///< pods in the domains named
  std::uint32_t domains_counted = 0;  ///< if fewer than domains_min, the fewest pods are taken as 0
};

/// The terms of that rule that close a node, in the order of the constraint; empty for another reason.
std::vector<CompanyTerm> company_terms(const State& state, ConstraintId constraint, ReasonCode rule);

}  // namespace ashlar
