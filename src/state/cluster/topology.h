// Topology: which domain of each level (region, block, rack, NVLink domain, ...) a node belongs to, and which nodes a
// domain holds. Levels 0..nested-1 nest, outermost first; further levels are independent partitions (a PodGroup may
// name any node label). Cost of a change: O(levels + nodes of the domain).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/grown.h"
#include "base/id.h"

namespace ashlar {

using GroupId = Id<struct GroupTag>;

class Topology {
 public:
  static constexpr std::uint32_t kLevelsMax = 16;     ///< limit of levels, nested and independent together
  static constexpr std::uint32_t kRowsPerChunk = 64;  ///< nodes without a nested domain are grouped by this many rows

  void define_levels(std::uint32_t nested, std::uint32_t orthogonal);
  std::uint32_t level_count() const { return static_cast<std::uint32_t>(domain_of_.size()); }
  std::uint32_t nested_count() const { return nested_; }

  /// Puts the node into these domains (by level; missing or none = in no domain) and out of its former ones.
  void place(NodeId node, std::span<const DomainId> domains);
  void remove(NodeId node);

  /// None if the node has no such level.
  DomainId domain_of(LevelId level, NodeId node) const {
    const auto& column = domain_of_[level.row()];
    return value_at(column, node.row());
  }
  std::span<const DomainId> domains(LevelId level) const { return domain_of_[level.row()]; }
  /// Rows 0..domain_count-1 may be in use; some may be empty.
  std::size_t domain_count(LevelId level) const { return nodes_of_[level.row()].size(); }
  /// Ascending.
  std::span<const NodeId> nodes_of(LevelId level, DomainId domain) const {
    return nodes_of_[level.row()][domain.row()];
  }

  /// The group of a node: groups divide all nodes by their innermost nested domain, or by 64 rows if there is none, and
  /// caches of the best node are kept by group.
  GroupId group_of(NodeId node) const { return value_at(group_of_, node.row()); }
  std::size_t group_count() const { return nodes_of_group_.size(); }
  std::span<const NodeId> nodes_of_group(GroupId group) const { return nodes_of_group_[group.row()]; }
  /// Grows whenever a node changes its domains.
  std::uint64_t shape_version() const { return shape_version_; }

  /// A node left a domain of a level, or entered one.
  struct Move {
    NodeId node;
    LevelId level;
    DomainId from, to;  ///< one of them is none
  };
  static constexpr std::size_t kMovesMax = 1 << 14;  ///< older moves are forgotten
  /// Whether the moves since that version are known: caches laid out by domain follow them, or are rebuilt.
  bool remembers_moves(std::uint64_t since) const { return since + moves_.size() >= shape_version_; }
  std::span<const Move> moves_since(std::uint64_t since) const {
    return std::span(moves_).subspan(moves_.size() - (shape_version_ - since));
  }

 private:
  friend struct StateFields;
  GroupId choose_group(NodeId node);
  void note_move(const Move& move);

  std::uint32_t nested_ = 0;
  std::uint64_t shape_version_ = 0;
  std::vector<Move> moves_;                                 ///< the last ones, one for each version
  std::vector<std::vector<DomainId>> domain_of_;            ///< [level][node]
  std::vector<std::vector<std::vector<NodeId>>> nodes_of_;  ///< [level][domain]
  std::vector<GroupId> group_of_;                           ///< [node]
  std::vector<std::vector<NodeId>> nodes_of_group_;
  std::vector<GroupId> group_of_domain_;  ///< [innermost nested domain]
  std::vector<GroupId> group_of_chunk_;   ///< [row / kRowsPerChunk]
};

}  // namespace ashlar
