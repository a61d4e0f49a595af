// Spreader: distributes like members over nodes, level by level over as few domains as possible: one that holds them
// all if there is one, else the largest ones whole and the last remainder in the tightest that takes it. Cost: O(nodes
// x levels x log nodes).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/place/tables/fit_table.h"
#include "state/state.h"

namespace ashlar {

class Spreader {
 public:
  /// Members on one node.
  struct Share {
    NodeId node;
    std::uint32_t members = 0;
  };

  Spreader(const State& state, FitTable& table) : state_(state), table_(table) {}

  /// Distributes `count` members over nodes with capacity for at least that many. `nodes` is in ascending order, and is
  /// reordered.
  void spread(std::span<NodeId> nodes, std::uint32_t level, std::uint64_t count);
  /// In the order of the walk, which is that of the ranks.
  const std::vector<Share>& shares() const { return shares_; }

 private:
  /// A part of the scope with its capacity: a domain's nodes, or one node.
  struct Part {
    std::uint64_t room = 0;
    std::uint32_t first = 0;  ///< range in the node list
    std::uint32_t count = 0;
    NodeId lowest;                 ///< tie-break
    std::uint64_t wishes_met = 0;  ///< see FitTable
  };
  /// A node with what decides its turn.
  struct Rated {
    std::uint16_t fits = 0;
    std::uint64_t key = 0;
    NodeId node;
  };
  static std::size_t pick(const std::vector<Part>& parts, const std::vector<std::uint8_t>& is_used,
                          std::uint64_t count);
  std::vector<Part> split(std::span<NodeId> nodes, std::uint32_t level) const;
  void spread_over_nodes(std::span<const NodeId> nodes, std::uint64_t count);

  const State& state_;
  FitTable& table_;
  std::vector<Share> shares_;
  std::vector<Rated> rated_;  ///< scratch
  std::vector<std::uint64_t> keys_;
};

}  // namespace ashlar
