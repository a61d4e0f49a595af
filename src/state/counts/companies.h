// Companies: the nodes that rules about other pods leave open, and what preferences about them amount to, by
// constraint. A cache: what is not kept is made again when it is asked for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/id.h"
#include "model/constraint.h"
#include "state/counts/company.h"
#include "state/counts/kept_by_constraint.h"
#include "state/counts/pod_preferences.h"

namespace ashlar {

class Companies {
 public:
  static constexpr std::size_t kBytesMax = 128u << 20;  ///< of each of the two
  explicit Companies(std::size_t bytes_max = kBytesMax) : companies_(bytes_max), preferences_(bytes_max) {}

  /// A constraint with rules about other pods. `definition` is another number when its row has been given another
  /// value.
  struct Asked {
    ConstraintId id;
    std::uint64_t definition = 0;
    const Constraint& constraint;
    const NodeRules& rules;
    const Images& images;
  };
  /// Up to date. The reference holds until the next call.
  Company& of(const Asked& asked, const Counts& counts, const NodeColumns& nodes) {
    return up_to_date(companies_, asked, counts, nodes);
  }
  PodPreferences& preferences_of(const Asked& asked, const Counts& counts, const NodeColumns& nodes) {
    return up_to_date(preferences_, asked, counts, nodes);
  }
  /// Labels or taints of nodes, or which nodes there are, have changed.
  void note_labels_changed() { ++edition_; }

 private:
  template <class Of>
  Of& up_to_date(KeptByConstraint<Of>& kept, const Asked& asked, const Counts& counts, const NodeColumns& nodes);

  KeptByConstraint<Company> companies_;
  KeptByConstraint<PodPreferences> preferences_;
  LabelDomains domains_;
  std::uint64_t edition_ = 1;
  std::uint64_t made_ = 0;
};

}  // namespace ashlar
