// OneByOne: places members whose rules about other pods concern each other (anti-affinity among them, affinity to the
// first of them, spread): each on a node that the rules leave open once those before it are placed. What it does not
// place whole leaves the trial unchanged. Cost: O(nodes of the scope) for each member; a search for every combination
// on few nodes within a counted budget.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/place/placement.h"
#include "engine/place/scope.h"

namespace ashlar {

/// Whether nodes may open to members of the constraint while others are placed: by affinity or spread.
inline bool opens_with_pods(const Constraint& constraint) {
  return !constraint.near.selector.is_none() || !constraint.spread.empty();
}

/// How many selectors of rules about pods may mean a pod with these labels: each time that it is placed, or taken off,
/// it is compared with them.
std::size_t selectors_about(const State& state, LabelSetId labels);

class OneByOne {
 public:
  /// A member with its kind.
  struct Kind {
    MemberId member;
    DemandId demand;
    ConstraintId constraint;
  };
  OneByOne(const PlacementContext& context, const Scope& hard)
      : context_(context), state_(context.trial.state()), hard_(hard) {}

  /// Each on the best node inside both scopes.
  bool place_each(std::span<const Kind> members, const Scope& soft);
  /// Each on the best of these nodes, ascending.
  bool place_among(std::span<const Kind> members, std::span<const NodeId> nodes);
  /// Like members with affinity to each other, of which none is placed: in the tightest domain of their affinity that
  /// holds them.
  bool place_near_each_other(std::span<const Kind> members);
  /// A run whose group must be in one domain of its own; without a level it need not.
  struct OwnRun {
    Run run;
    LevelId level = {};
    DomainId domain = {};  ///< where the group is; none: all of it is in the search, which chooses
  };
  /// Tries every node for each member, members of unlike runs in every order, if only few nodes may take any. Takes a
  /// step for each member put on a node, more where many selectors may mean it, and for each few thousand nodes looked
  /// at; with too few for all of them none. `selectors`: see selectors_about.
  bool search(std::span<const OwnRun> runs, std::size_t selectors, std::uint32_t& steps);

 private:
  struct Choice;
  bool is_beyond(std::span<const OwnRun> runs, std::size_t members, std::uint32_t steps, std::size_t cost) const;
  std::size_t nodes_looked_at() const;
  bool list_choices(std::span<const OwnRun> runs, std::span<const Choice> placed, std::vector<Choice>& out,
                    std::uint32_t& steps);
  /// The domain that the run's group is in by now.
  DomainId domain_of(const OwnRun& run, std::span<const OwnRun> runs, std::span<const Choice> placed) const;
  FitTable& table(const Kind& kind) {
    return context_.fit_tables.counted(state_, kind.demand, kind.constraint, context_.draws.next());
  }
  void place(const Kind& kind, FitTable& table, NodeId node);
  /// Calls `visit(node)` for nodes inside the hard scope where such a member fits now, ascending.
  template <class Visit>
  void each_open(const FitTable& table, const Scope& scope, Visit&& visit) const;
  NodeId best_in(FitTable& table, const Scope& scope) const;
  /// Each on the node that `best_in(table)` gives for it.
  template <class Best>
  bool place_by(std::span<const Kind> members, Best&& best_in);

  const PlacementContext& context_;
  State& state_;
  Scope hard_;
  std::uint32_t looked_at_ = 0;  ///< nodes, for which no step of the search was taken yet
};

}  // namespace ashlar
