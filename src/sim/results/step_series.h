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

  explicit StepSeries(Millis start = Millis(0))
      : start_(start.value), last_(start.value), bucket_end_(start.value + kFirstWidth), sums_(kBuckets, 0.0) {}
  /// From `at` on the value is `value`. Times never decrease.
  void change(Millis at, double value);
  /// The points up to `end`, each value multiplied by `factor` (100 / devices turns busy devices into percent).
  std::vector<SeriesPoint> points(Millis end, double factor = 1.0) const;

 private:
  static constexpr std::int64_t kFirstWidth = 1000;

  void advance(std::int64_t at) {
    if (at > bucket_end_) return fill(at);
    if (at > last_) add_until(at);
  }
  void add_until(std::int64_t at) {
    sums_[bucket_] += value_ * static_cast<double>(at - last_);
    last_ = at;
  }
  /// Beyond the present bucket.
  void fill(std::int64_t at);
  void enter(std::size_t bucket);
  void widen();

  std::int64_t start_;
  std::int64_t last_;
  std::int64_t width_ = kFirstWidth;  ///< milliseconds per bucket
  std::size_t bucket_ = 0;            ///< that is being filled
  std::int64_t bucket_end_;
  double value_ = 0;
  std::vector<double> sums_;  ///< value x milliseconds, by bucket
};

}  // namespace ashlar::sim
