#include "sim/scenario/duration_distribution.h"

#include <algorithm>
#include <cmath>

namespace ashlar::sim {
namespace {

constexpr int kMeanShares = 1 << 16;
constexpr double kMillisMax = 9e15;  ///< longer than any run; keeps the conversion to integers defined

double seconds_at(const DurationDistribution& distribution, double u) {
  switch (distribution.kind) {
    case DurationDistribution::Kind::kFixed:
      return distribution.first;
    case DurationDistribution::Kind::kExponential:
      return -distribution.first * std::log1p(-u);
    case DurationDistribution::Kind::kLognormal:
      return distribution.first * std::exp(distribution.second * normal_quantile(u));
    case DurationDistribution::Kind::kUniform:
      return distribution.first + (distribution.second - distribution.first) * u;
  }
  return distribution.first;
}

}  // namespace

double normal_quantile(double u) {
  constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                          1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02, 6.680131188771972e+01,
                          -1.328068155288572e+01};
  constexpr double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                          -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00};
  constexpr double kTail = 0.02425;
  const auto tail = [&](double q) {
    return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
           ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  };
  u = std::clamp(u, 1e-300, 1 - 1e-16);
  if (u < kTail) return tail(std::sqrt(-2 * std::log(u)));
  if (u > 1 - kTail) return -tail(std::sqrt(-2 * std::log1p(-u)));
  const double q = u - 0.5, r = q * q;
  return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
         (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

namespace {

/// Duration below which the share `u` in (0, 1) of all jobs lies; whole milliseconds between its min and max.
Millis quantile_of(const DurationDistribution& distribution, double u) {
  const double millis = std::clamp(seconds_at(distribution, u) * 1000.0, 0.0, kMillisMax);
  return std::clamp(Millis(std::llround(millis)), distribution.min, std::max(distribution.min, distribution.max));
}

}  // namespace

Millis draw_duration(const DurationDistribution& distribution, Rng& rng) {
  return quantile_of(distribution, distribution.kind == DurationDistribution::Kind::kFixed ? 0.5 : rng.uniform());
}

double mean_of(const DurationDistribution& distribution) {
  double sum = 0;
  for (int i = 0; i < kMeanShares; ++i)
    sum += static_cast<double>(quantile_of(distribution, (i + 0.5) / kMeanShares).value);
  return sum / kMeanShares;
}

}  // namespace ashlar::sim
