// step_series: a step function of time in bounded memory: mean value per bucket, where the buckets double their width
// whenever the end is reached.
// Cost: O(1) amortised a change, 16 KiB.
#pragma once

#include <cstdint>
#include <vector>

#include "base/quantity.h"

namespace ashlar::sim {

struct SeriesPoint {
  double hours = 0;  ///< start of the bucket
  double value = 0;  ///< mean over the bucket
};

class StepSeries {
 public:
  static constexpr std::size_t kBuckets = 1024;  ///< more than the pixels of a plot's width; a power of two

  explicit StepSeries(Millis start = Millis(0)) : start_(start.value), last_(start.value), sums_(kBuckets, 0.0) {}
  /// From `at` on the value is `value`. Times never decrease.
  void change(Millis at, double value);
  /// The points up to `end`, each value multiplied by `factor` (100 / devices turns busy devices into percent).
  std::vector<SeriesPoint> points(Millis end, double factor = 1.0) const;

 private:
  void advance(std::int64_t at);
  void widen();

  std::int64_t start_;
  std::int64_t last_;
  std::int64_t width_ = 1000;  ///< milliseconds per bucket
  double value_ = 0;
  std::vector<double> sums_;  ///< value x milliseconds, by bucket
};

}  // namespace ashlar::sim
