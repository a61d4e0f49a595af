// DomainSums: matching pods by domain of a topology label, summed over the nodes that a constraint allows. Kept per
// set of eligible nodes and brought up to date when asked. Cost: O(steps of the selector since it was asked last); anew
// O(nodes) when the nodes' facts or the constraint have changed.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "base/bitset.h"
#include "state/counts/counts.h"

namespace ashlar {

struct DomainSum {
  LabelId value;  ///< of the topology label
  std::uint32_t pods = 0;
  friend bool operator==(const DomainSum&, const DomainSum&) = default;
};

/// The nodes that a constraint allows, and what tells that they may have changed.
struct EligibleNodes {
  ConstraintId constraint;
  const BitSet& nodes;
  std::uint64_t definition = 0;  ///< of the constraint
  std::uint64_t facts = 0;       ///< changes of nodes' facts so far
};

class DomainSums {
 public:
  static constexpr std::size_t kKept = 1024;  ///< beyond, all are dropped and made again when asked

  /// Ascending by value: every domain with an eligible node, also without pods. Valid until the next call.
  std::span<const DomainSum> read(const Counts& counts, const NodeColumns& columns, PodSelectorId selector,
                                  LabelKeyId topology, const EligibleNodes& eligible);
  /// Sums made anew so far.
  std::uint64_t made_count() const { return made_; }  // for tests

 private:
  struct Sums {
    std::uint64_t definition = 0, facts = 0, steps = 0;
    bool is_made = false;
    std::vector<DomainSum> sums;
  };
  std::map<std::tuple<PodSelectorId, LabelKeyId, ConstraintId>, Sums> kept_;
  std::uint64_t made_ = 0;
};

}  // namespace ashlar
