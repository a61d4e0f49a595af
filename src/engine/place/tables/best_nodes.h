// BestNodes: the best node for one kind of member. Topology groups are looked at in the order of the best that their
// nodes could be, and only as far as needed. Cost: a few numbers per group, and the nodes of a few groups.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/place/tables/node_rating.h"

namespace ashlar {

/// Which node of each topology group has changed last, and when: the cluster's log of changes, read once for all kinds
/// of members. Cost: O(1) for each change.
class GroupChanges {
 public:
  /// Follows the log up to now.
  void refresh(const Cluster& cluster);
  /// Calls `visit(group, node)` for each group with changes since then: of that node, or of any if it is none. A group
  /// may be visited several times. Only after refresh. Cost: O(changes) or O(groups), whichever is less.
  template <class Visit>
  void each_since(const Cluster& cluster, std::uint64_t since, Visit&& visit) const {
    if (cluster.remembers(since) && cluster.change_count() - since <= groups_.size() / 4) {
      for (const NodeId n : cluster.changed_since(since))
        if (const GroupId group = cluster.topology().group_of(n); !group.is_none()) visit(group.row(), n);
      return;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].last > since) visit(g, groups_[g].of_others > since ? NodeId::none() : groups_[g].node);
  }
  /// Whether a node of the group may have this many idle devices: none has more than the most of them.
  bool may_have_idle(const Cluster& cluster, std::size_t group, std::int64_t devices);
  /// All changes since then were undone exactly, and are about to be forgotten.
  void forget_undone_changes(std::uint64_t since);

 private:
  static constexpr std::int32_t kNotCounted = -1;
  struct Group {
    std::uint64_t last = 0;       ///< number of the cluster's changes up to and with the last one here
    std::uint64_t of_others = 0;  ///< the same of the last one of another node than that
    NodeId node;
    std::int32_t idle_most = kNotCounted;  ///< devices of the node that has most idle ones
  };
  void start_anew(const Cluster& cluster);

  std::uint64_t cursor_ = 0;
  std::uint64_t shape_version_ = 0;  ///< of the topology
  bool is_started_ = false;
  std::vector<Group> groups_;
};

class BestNodes {
 public:
  /// The nodes changed since the last call are to be looked at again. `changes` is up to date.
  void refresh(const State& state, const NodeRating& rating, const GroupChanges& changes);
  /// The node is to be looked at again too, though the cluster's log does not name it.
  void note_changed(const State& state, const NodeRating& rating, NodeId node) {
    const Topology& topology = state.cluster().topology();
    if (!is_started_ || shape_version_ != topology.shape_version()) return;
    if (const GroupId group = topology.group_of(node); !group.is_none()) note_change(rating, group.row(), node);
  }
  /// Rules about other pods have opened or closed the node; its number beside nobody is what it was.
  void note_flip(const State& state, NodeId node);
  /// Preferences about other pods were worth the one on each node, and are worth the other now. Only if
  /// NodeRating::is_prefer_alone. O(nodes of the groups looked at).
  void note_preferences(const State& state, const NodeRating& rating, std::span<const Points> before,
                        std::span<const Points> now);
  /// The best node by all tiers, ties to the lowest row; none if nothing fits. Only after refresh in the same state.
  NodeId find(const State& state, NodeRating& rating, GroupChanges& changes, std::uint64_t draw);
  std::uint64_t cursor() const { return cursor_; }
  /// The next refresh begins anew.
  void forget() { is_started_ = false, cursor_ = 0; }
  /// See FitTable::rewind.
  void rewind(std::uint64_t change_count) { cursor_ = std::min(cursor_, change_count); }

 private:
  static constexpr std::uint32_t kNoKeys = UINT32_MAX;
  /// Beyond this many groups looked at for one node, the others are looked at in the order of a heap.
  static constexpr std::size_t kScansMax = 8;
  struct Group {
    std::uint64_t best_key = 0;
    NodeId best;
    std::uint32_t first_key = kNoKeys;  ///< row of keys_ of its first node; kNoKeys: never looked at
    NodeId changed;                     ///< the one node to look at again
    std::uint64_t most_key = 0;         ///< of its nodes, those among them that rules about other pods close
    bool is_current = false;
    bool has_flips = false;  ///< beside other points for preferences nothing else has changed
  };
  struct Candidate {
    std::uint64_t bound = 0;
    std::uint32_t group = 0;
    bool operator<(const Candidate& o) const { return bound != o.bound ? bound < o.bound : group > o.group; }
  };

  void start_anew(const State& state, const NodeRating& rating);
  /// The node's group, if it was looked at; else nullptr.
  Group* known_group(const State& state, NodeId node);
  void note_change(const NodeRating& rating, std::size_t group, NodeId node);
  void look_at(const State& state, NodeRating& rating, std::uint64_t draw, std::size_t group);
  void rate_again(const State& state, NodeRating& rating, std::uint64_t draw, Group& group,
                  std::span<const NodeId> nodes);
  void bound_groups(const State& state, const NodeRating& rating, std::int64_t devices_least);
  NodeId find_among_many(const State& state, NodeRating& rating, std::uint64_t draw);

  std::uint64_t cursor_ = 0;         ///< change count of the cluster up to which changes are noted
  std::uint64_t shape_version_ = 0;  ///< of the topology
  bool is_started_ = false;
  std::vector<Group> groups_;
  std::vector<std::uint64_t> tops_;    ///< by group: the key of its best node, or the best possible; 0 = none fits
  std::vector<std::uint64_t> keys_;    ///< of the groups looked at, without rules about other pods
  std::vector<Points> points_;         ///< scratch
  std::vector<std::uint64_t> bounds_;  ///< the same: by group, no node of it is above this
  std::vector<Candidate> candidates_;
};

}  // namespace ashlar
