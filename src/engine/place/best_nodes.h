// BestNodes: the best node for one kind of member. Topology groups are looked at in the order of the best that their
// nodes could be, and only as far as needed. Cost: one number per group, and the nodes of a few groups.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/place/node_rating.h"

namespace ashlar {

class BestNodes {
 public:
  /// The nodes changed since the last call are to be looked at again.
  void refresh(const State& state, const NodeRating& rating);
  /// The best node by all tiers, ties to the lowest row; none if nothing fits. Only after refresh in the same state.
  NodeId find(const State& state, NodeRating& rating, std::uint64_t draw);
  std::uint64_t cursor() const { return cursor_; }
  /// See FitTable::rewind.
  void rewind(std::uint64_t change_count) { cursor_ = std::min(cursor_, change_count); }

 private:
  static constexpr std::uint32_t kNoKeys = UINT32_MAX;
  struct Group {
    std::uint64_t best_key = 0;
    NodeId best;
    std::uint32_t first_key = kNoKeys;  ///< row of keys_ of its first node; kNoKeys: never looked at
    NodeId changed;                     ///< the one node to look at again
    bool is_current = false;
  };
  struct Candidate {
    std::uint64_t bound = 0;
    std::uint32_t group = 0;
    bool operator<(const Candidate& o) const { return bound != o.bound ? bound < o.bound : group > o.group; }
  };

  void start_anew(const State& state);
  void note_change(const Topology& topology, NodeId node);
  void look_at(const State& state, NodeRating& rating, std::uint64_t draw, std::size_t group);

  std::uint64_t cursor_ = 0;         ///< change count of the cluster up to which changes are noted
  std::uint64_t shape_version_ = 0;  ///< of the topology
  bool is_started_ = false;
  std::vector<Group> groups_;
  std::vector<std::uint64_t> keys_;  ///< of the groups looked at
  std::vector<Points> points_;       ///< scratch
  std::vector<Candidate> candidates_;
};

}  // namespace ashlar
