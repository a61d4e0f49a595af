// refusals: why nodes do not take a member, counted by rule: a node that the member does not name (labels, model,
// volumes) as such, then under the first rule about pods that refuses it, then under its taints and condition, else
// under every resource that is short. A node that would be too small even if nothing ran there counts under what it is
// short of, not under a taint: no toleration would help; beside a rule about pods under both. Cost: O(rules +
// resources) a node.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "engine/place/tables/fit_table.h"
#include "model/reason.h"
#include "policy/profile.h"
#include "state/state.h"

namespace ashlar {

/// It is a rule about other pods that refuses.
bool is_about_pods(ReasonCode code);
/// A fact of nodes or a rule about other pods, not what is short.
bool is_fact(ReasonCode code);

/// Whether this rule, one by facts or about other pods, keeps members of the constraint off the node.
bool keeps_off(const FeasiblePolicy& policy, const Cluster& cluster, ConstraintId constraint, NodeId n);

/// Of what use a node that refuses a member could be to it, the most useful first.
enum class NodeUse : std::uint8_t {
  kCouldServe,  ///< would take it if nothing ran there and it were open
  kTooSmall,    ///< is one that the member names, but would not take it even if nothing ran there
  kNotMeant     ///< its labels, model or volumes are not those that the member names
};

struct Tally {
  DemandId demand;
  ConstraintId constraint;
  std::vector<Reason> reasons = {};                      ///< one per rule that refused nodes; numbers[0] counts them
  std::vector<std::array<std::int64_t, 3>> by_use = {};  ///< these, by NodeUse
  NodeUse use = NodeUse::kCouldServe;                    ///< of the node that is counted
  /// Of the class of members that is counted, where the text needs it; with one node more.
  Reason& count(ReasonCode code);
  Reason& count(ReasonCode code, std::uint32_t subject);
  void add(const Reason& reason);
};

/// The reasons that a change could resolve come first: those of the most useful nodes; among these what the end of a
/// job can resolve before facts of the nodes, and then those of most nodes.
std::vector<Reason> binding_first(const Tally& tally);

/// Counts the node under everything that refuses it: the first rule by facts, or every resource that is short. Of
/// taints, numbers[1] is the demand, by which nodes are too small.
void count_node(const State& state, const Profile& profile, const NodeView& view, NodeId n, Tally& tally);
/// Of all nodes on which no such member fits.
Tally refusals(const State& state, const Profile& profile, const FitTable& view, Tally tally);
/// What that costs, in looks (FitTables::looks).
std::uint64_t looks_of_refusals(const State& state, ConstraintId constraint);
/// What comparing a node with what the constraint says of nodes costs, in looks.
std::uint64_t looks_of_selection(const Constraint& constraint);

}  // namespace ashlar
