// NodeRating: what a profile says of nodes for one kind of member (a demand and a constraint): how many such members
// fit there, and how good the node is. Keeps nothing; cost: the kernels of the profile for the rows asked.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "policy/profile.h"
#include "state/state.h"

namespace ashlar {

/// What is kept for others beside whom members are to be placed.
struct FitsLimit {
  std::vector<std::uint64_t> editions;  ///< other numbers when anything but a placement has changed it
  std::function<void(const NodeView& view, NodeRange rows, std::span<std::uint16_t> fits)> lower;
};

/// Whether a constraint's rules about other pods count.
enum class AboutPods : std::uint8_t { kRules, kNothing };

class NodeRating {
 public:
  NodeRating(const Profile& profile, DemandId demand, ConstraintId constraint);

  DemandId demand() const { return demand_; }
  ConstraintId constraint() const { return constraint_; }
  const Profile& profile() const { return *profile_; }
  NodeView view(const State& state, std::uint64_t draw) const;
  /// Counts and numbers from now on leave to others what the limit keeps for them; nullptr: they leave nothing.
  void set_limit(const FitsLimit* limit) { limit_ = limit; }
  /// What preferences about other pods are worth on each node, see NodeView; empty: there are none.
  void set_preferences(std::span<const Points> preferences) { preferences_ = preferences; }
  /// A tier of the profile has the policy `prefer`.
  bool has_prefer() const { return has_prefer_; }
  /// It is the only one of its tier: what preferences about other pods are worth is all of its points.
  bool is_prefer_alone() const { return is_prefer_alone_; }
  /// The same number with other such points; 0 stays 0. Only if is_prefer_alone.
  std::uint64_t with_preferences(std::uint64_t key, Points points) const;
  /// How many such members each of these nodes could take now.
  void count(const State& state, NodeRange rows, std::span<std::uint16_t> fits,
             AboutPods about_pods = AboutPods::kRules) const;
  /// The tiers' points of these nodes as one number: higher is better, 0 = does not fit. Domain tiers are not in it.
  void rate(const State& state, NodeRange rows, std::uint64_t draw, std::span<std::uint64_t> keys,
            AboutPods about_pods = AboutPods::kRules);
  /// The same of these nodes, in ascending order.
  void rate(const State& state, std::span<const NodeId> nodes, std::uint64_t draw, std::span<std::uint64_t> keys,
            AboutPods about_pods = AboutPods::kRules);
  std::uint64_t rate(const State& state, NodeId node, std::uint64_t draw, AboutPods about_pods = AboutPods::kRules);
  /// The nodes that the constraint leaves open by its rules about other pods, among others; nullptr: it has none.
  const BitSet* open_beside_pods(const State& state) const;
  /// No node's number is above this one.
  std::uint64_t best_possible() const { return best_possible_; }
  /// What the tier that ranks domains adds to each group, and these points as bits of a key; nothing without such a
  /// tier.
  void add_domain_points(const State& state, std::span<Points> points) const;
  std::uint64_t domain_bits(Points points) const;
  bool has_domain_tier() const { return domain_policy_ != nullptr; }
  /// The same of many.
  void domain_bits(std::span<const Points> points, std::span<std::uint64_t> bits) const;
  /// A policy of the profile draws: no number can be kept.
  bool is_drawn() const { return is_drawn_; }
  /// Nodes asked about so far.
  std::uint64_t rated_count() const { return rated_count_; }  // for tests
  /// Changes when demand or constraint are given another value.
  std::uint64_t edition(const State& state) const { return state.edition(demand_, constraint_); }

 private:
  /// Adds the points of the tiers to the keys, whether the nodes fit or not.
  void rate_tiers(const State& state, NodeRange rows, std::uint64_t draw, std::span<std::uint64_t> keys);

  const Profile* profile_;
  const FitsLimit* limit_ = nullptr;
  DemandId demand_;
  ConstraintId constraint_;
  const ScorePolicy* domain_policy_ = nullptr;
  std::size_t domain_tier_ = 0;
  bool has_node_tier_ = false;
  bool is_drawn_ = false;
  bool has_prefer_ = false, is_prefer_alone_ = false;
  std::size_t prefer_tier_ = 0;
  std::span<const Points> preferences_;
  std::uint64_t best_possible_ = 0;
  std::uint64_t rated_count_ = 0;
  std::vector<Points> points_;  ///< scratch
  std::vector<std::uint16_t> fits_;
};

}  // namespace ashlar
