// Companies: the nodes that rules about other pods leave open, by constraint. A cache: what is not kept is made again
// when it is asked for.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/id.h"
#include "model/constraint.h"
#include "state/counts/company.h"

namespace ashlar {

class Companies {
 public:
  /// A constraint with rules about other pods. `definition` is another number when its row has been given another
  /// value.
  struct Asked {
    ConstraintId id;
    std::uint64_t definition = 0;
    const Constraint& constraint;
    const NodeRules& rules;
  };
  /// Up to date. The reference holds until the next call.
  Company& of(const Asked& asked, const Counts& counts, const NodeColumns& nodes);
  /// Labels or taints of nodes, or which nodes there are, have changed.
  void note_labels_changed() { ++edition_; }

 private:
  static constexpr std::size_t kKept = 2048;  ///< beyond, all are dropped
  struct Kept {
    std::uint64_t definition = 0;
    Company company;
  };
  std::unordered_map<std::uint32_t, Kept> kept_;
  LabelDomains domains_;
  std::uint64_t edition_ = 1;
  std::uint64_t made_ = 0;
};

}  // namespace ashlar
