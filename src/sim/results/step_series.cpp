#include "sim/results/step_series.h"

#include <algorithm>

namespace ashlar::sim {

void StepSeries::widen() {
  for (std::size_t i = 0; i < kBuckets / 2; ++i) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
  std::fill(sums_.begin() + kBuckets / 2, sums_.end(), 0.0);
  width_ *= 2;
}

void StepSeries::enter(std::size_t bucket) {
  bucket_ = bucket;
  bucket_end_ = start_ + (static_cast<std::int64_t>(bucket) + 1) * width_;
}

void StepSeries::fill(std::int64_t at) {
  const std::int64_t width_before = width_;
  while (at - start_ > width_ * static_cast<std::int64_t>(kBuckets)) widen();
  if (width_ != width_before || last_ == bucket_end_) enter(static_cast<std::size_t>((last_ - start_) / width_));
  while (at > bucket_end_) {
    add_until(bucket_end_);
    enter(bucket_ + 1);
  }
  add_until(at);
}

void StepSeries::change(Millis at, double value) {
  advance(at.value);
  value_ = value;
}

std::vector<SeriesPoint> StepSeries::points(Millis end, double factor) const {
  constexpr double kMillisPerHour = 3'600'000.0;
  StepSeries whole = *this;
  whole.advance(end.value);
  std::vector<SeriesPoint> points;
  const std::int64_t length = whole.last_ - start_;
  for (std::size_t i = 0; i < kBuckets && static_cast<std::int64_t>(i) * whole.width_ < length; ++i) {
    const std::int64_t from = static_cast<std::int64_t>(i) * whole.width_;
    const std::int64_t covered = std::min(whole.width_, length - from);
    points.push_back(
        {static_cast<double>(from) / kMillisPerHour, factor * whole.sums_[i] / static_cast<double>(covered)});
  }
  return points;
}

}  // namespace ashlar::sim
