// FitCounts: for one kind of member, how many each node and each domain could take now, kept up to date from the change
// logs of cluster and topology. Cost: 2 bytes per node; a refresh O(nodes changed since the last).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/place/tables/node_rating.h"

namespace ashlar {

class FitCounts {
 public:
  void refresh(const State& state, const NodeRating& rating);
  /// These nodes are to be counted again too, though the cluster's log does not name them.
  void note_changed(std::span<const NodeId> nodes) {
    if (is_started_) noted_.insert(noted_.end(), nodes.begin(), nodes.end());
  }
  /// Only after refresh in the same state, as all that follows.
  std::span<const std::uint16_t> fits() const { return fits_; }
  std::uint64_t total() const { return total_; }
  /// Members that fit in each domain of a level, by DomainId.
  std::span<const std::uint32_t> room(const State& state, LevelId level);
  /// So much has changed since the last refresh that the next one begins anew.
  bool must_start(const Cluster& cluster) const;
  std::uint64_t cursor() const { return cursor_; }
  /// Another number when other nodes have room for any.
  std::uint64_t edition() const { return edition_; }
  /// The next refresh begins anew.
  void forget() { is_started_ = false, cursor_ = 0; }
  /// See FitTable::rewind.
  void rewind(std::uint64_t change_count) { cursor_ = std::min(cursor_, change_count); }

 private:
  void start_anew(const State& state, const NodeRating& rating);
  void update(const State& state, const NodeRating& rating, NodeRange rows);
  void update_changed(const State& state, const NodeRating& rating, std::span<const NodeId> changed);
  /// The totals after the node's count was another one.
  void follow(const State& state, NodeId node, std::uint16_t before);
  void follow_moves(const Topology& topology);
  bool has_rooms(std::uint32_t level) const { return (levels_with_rooms_ >> level & 1) != 0; }
  void build_rooms(const Topology& topology, std::uint32_t level);

  std::uint64_t cursor_ = 0;         ///< change count of the cluster up to which this is current
  std::uint64_t shape_version_ = 0;  ///< of the topology
  std::uint64_t edition_ = 0;
  bool is_started_ = false;
  std::uint32_t levels_with_rooms_ = 0;  ///< as bits: a level's are counted when they are first asked for
  std::uint64_t total_ = 0;
  std::vector<std::uint16_t> fits_;
  std::vector<NodeId> noted_;
  std::vector<std::vector<std::uint32_t>> rooms_;  ///< [level][domain]
};

}  // namespace ashlar
