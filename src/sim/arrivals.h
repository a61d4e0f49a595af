// The jobs of a scenario's arrival streams, drawn one by one. Answers: which job is submitted next, when, and for how long will it run? The same
// scenario gives the same jobs on every machine (base/rng.h). Cost: O(streams) a job and no memory beyond the streams, so a million jobs need
// no list.
#pragma once

#include <cstdint>
#include <vector>

#include "base/quantity.h"
#include "base/rng.h"
#include "sim/readers/scenario.h"

namespace ashlar::sim {

struct DrawnJob {
  std::uint32_t stream = 0;  ///< index into Scenario::arrivals
  std::uint32_t shape = 0;   ///< index into its jobs
  std::int32_t queue = 0;    ///< index into Scenario::queues
  Millis submit;
  Millis duration;           ///< true run time, at least 1 ms
  Millis estimate;           ///< believed run time; Millis::max() = not known
};

/// Mean of what the law draws, clamping included, in seconds.
double mean_seconds(const DurationLaw& law);
/// The value of the law at quantile u in [0, 1), clamped.
Millis draw_duration(const DurationLaw& law, double u);
/// Jobs per hour of a stream, from its rate, its load, or its count and window.
double rate_per_hour(const ArrivalStream& stream, const Scenario& scenario);

class ArrivalDraws {
 public:
  /// `scenario` must outlive this.
  explicit ArrivalDraws(const Scenario& scenario);
  /// The next job by submit time (ties: the earlier stream); false when all streams have ended.
  bool next(DrawnJob& job);

 private:
  struct Stream {
    std::uint32_t index = 0;
    Rng rng;
    double at = 0;               ///< milliseconds of the next arrival
    double gap = 0;              ///< mean milliseconds between arrivals
    double end = 0;              ///< no arrivals from here on
    std::int64_t left = 0;
    double weights = 0;          ///< sum over the shapes
  };
  void step(Stream& stream);
  void fill(Stream& stream, DrawnJob& job);

  const Scenario& scenario_;
  std::vector<Stream> streams_;
};

}  // namespace ashlar::sim
