// load_series: load over time, collected in one place per cluster and added up afterwards. Cost: 24 bytes per change of
// load; the merge is O(changes log clusters).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "sim/results/results.h"

namespace ashlar::sim {

/// From `at` on.
struct LoadPoint {
  Millis at;
  std::int64_t busy_devices = 0;
  std::int64_t waiting_jobs = 0;
};

/// Keeps the last value of each instant.
class LoadRecorder {
 public:
  explicit LoadRecorder(std::vector<LoadPoint>& points) : points_(&points) {}
  void add(Millis at, std::int64_t busy_devices, std::int64_t waiting_jobs) {
    if (points_->empty() || points_->back().at != at) points_->push_back({at, 0, 0});
    points_->back().busy_devices = busy_devices;
    points_->back().waiting_jobs = waiting_jobs;
  }

 private:
  std::vector<LoadPoint>* points_;
};

/// Adds up the clusters and fills busy_percent and waiting_jobs of the run. `devices` is of all clusters.
void fill_series(std::span<const std::vector<LoadPoint>> clusters, std::int64_t devices, QueueRun& run);

}  // namespace ashlar::sim
