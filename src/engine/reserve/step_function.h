// StepFunction: how many units of something are available by which time: the times at which units become so, ascending,
// in short blocks, so that a unit comes or goes at O(log n) plus a move within one block (40,000 units: 0.1 us). Units
// that never become available are not in it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/quantity.h"

namespace ashlar {

class StepFunction {
 public:
  static constexpr std::size_t kBlockMax = 256;  ///< times; 2 kB

  StepFunction() = default;
  explicit StepFunction(std::span<const Millis> ascending);

  void add(Millis at, std::size_t units = 1);
  /// There must be as many of that time.
  void remove(Millis at, std::size_t units = 1);
  std::size_t units() const { return units_; }
  /// The first time by which that many are available: 0 for none, max() for more than there are. Cost: O(blocks).
  Millis first_with(std::size_t units) const;
  friend bool operator==(const StepFunction& a, const StepFunction& b) { return a.times() == b.times(); }
  std::vector<Millis> times() const;  // for tests

 private:
  using Block = std::vector<Millis>;
  /// The first one whose last time is not before that; the number of blocks if there is none.
  std::size_t block_for(Millis at) const;

  std::vector<Block> blocks_;  ///< none is empty
  std::size_t units_ = 0;
};

}  // namespace ashlar
