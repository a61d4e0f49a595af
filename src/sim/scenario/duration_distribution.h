// duration_distribution: run times of generated jobs: the duration at a quantile, one draw, and the exact mean of what
// is drawn (clamping included), which a stream needs to keep its load. All by the quantile function, so that a draw
// costs one random number and about 40 ns.
#pragma once

#include "base/rng.h"
#include "sim/scenario/scenario.h"

namespace ashlar::sim {

Millis draw_duration(const DurationDistribution& distribution, Rng& rng);
/// In milliseconds, by the midpoints of 65,536 equal shares; the error is below 0.1 % for those of the scenario
/// language with sigma up to 2.5.
double mean_of(const DurationDistribution& distribution);
/// The standard normal distribution's quantile (Acklam 2003; relative error below 1.2e-9).
double normal_quantile(double u);

}  // namespace ashlar::sim
