// Drawn: the domains to which placed pods draw pods of a label set, or from which they push them, by preferred terms
// and required affinity of their own: sums of weights. Cost: a change is a search among the domains of the set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/id.h"

namespace ashlar {

class Drawn {
 public:
  /// A domain with the sum of weights, or what was added to that sum.
  struct To {
    LabelKeyId topology;
    LabelId value;
    std::int64_t weight = 0;
    friend bool operator==(const To&, const To&) = default;
  };
  /// Of pods seen with these labels; ascending by topology label and value, no sum is 0.
  std::span<const To> drawn_to(LabelSetId seen_as) const { return sets_[seen_as.row()].to; }

  /// Grows when the set is given another value, and with each step.
  std::uint64_t drawn_count(LabelSetId set) const { return sets_[set.row()].before + sets_[set.row()].steps.size(); }
  bool remembers_drawn(LabelSetId set, std::uint64_t since) const { return since >= sets_[set.row()].before; }
  std::span<const To> drawn_since(LabelSetId set, std::uint64_t since) const {
    return std::span(sets_[set.row()].steps).subspan(since - sets_[set.row()].before);
  }

 protected:
  void draw(LabelSetId set, const To& by);
  void ensure_drawn(std::size_t rows) {
    if (rows > sets_.size()) sets_.resize(rows);
  }
  void forget_drawn_steps(LabelSetId set);
  bool is_drawn_alike(const Drawn& other) const;

 private:
  static constexpr std::size_t kStepsMax = 128;  ///< of a set; older ones are forgotten
  struct Set {
    std::vector<To> to;
    std::vector<To> steps;
    std::uint64_t before = 0;
  };
  std::vector<Set> sets_;  ///< by label set
};

}  // namespace ashlar
