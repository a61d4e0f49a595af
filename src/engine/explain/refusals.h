// refusals: why nodes do not take a member, counted by rule: as kube-scheduler does, each node under the first rule by
// facts that refuses it, or under every resource that is short. Cost: O(rules) a node.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/place/tables/fit_table.h"
#include "model/reason.h"
#include "policy/profile.h"
#include "state/state.h"

namespace ashlar {

/// It is a rule about other pods that refuses.
bool is_about_pods(ReasonCode code);

struct Tally {
  DemandId demand;
  ConstraintId constraint;
  std::vector<Reason> reasons = {};  ///< one per rule that refused nodes; numbers[0] counts them
  /// Of the class of members that is counted, where the text needs it.
  Reason& of(ReasonCode code);
  Reason& of(ReasonCode code, std::uint32_t subject);
};

/// Counts the node under everything that refuses it: as kube-scheduler does, the first rule by facts, or every resource
/// that is short.
void count_node(const State& state, const Profile& profile, const NodeView& view, NodeId n, Tally& tally);
/// Of all nodes on which no such member fits.
Tally refusals(const State& state, const Profile& profile, const FitTable& view, Tally tally);
/// What that costs, in looks (FitTables::looks).
std::uint64_t looks_of_refusals(const State& state);

}  // namespace ashlar
