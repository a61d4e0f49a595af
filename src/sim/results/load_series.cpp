#include "sim/results/load_series.h"

#include <algorithm>

#include "sim/results/step_series.h"

namespace ashlar::sim {
namespace {

/// A change of a cluster's load.
struct LoadStep {
  Millis at;
  std::int64_t busy_devices = 0;
  std::int64_t waiting_jobs = 0;
};

}  // namespace

void fill_series(std::span<const std::vector<LoadPoint>> clusters, std::int64_t devices, QueueRun& run) {
  std::vector<LoadStep> steps;
  for (const std::vector<LoadPoint>& points : clusters) {
    LoadPoint before;
    for (const LoadPoint& p : points) {
      steps.push_back({p.at, p.busy_devices - before.busy_devices, p.waiting_jobs - before.waiting_jobs});
      before = p;
    }
  }
  std::stable_sort(steps.begin(), steps.end(), [](const LoadStep& a, const LoadStep& b) { return a.at < b.at; });
  StepSeries busy, waiting;
  std::int64_t busy_devices = 0, waiting_jobs = 0;
  for (const LoadStep& step : steps) {
    busy_devices += step.busy_devices;
    waiting_jobs += step.waiting_jobs;
    busy.change(step.at, static_cast<double>(busy_devices));
    waiting.change(step.at, static_cast<double>(waiting_jobs));
  }
  const Millis end = steps.empty() ? Millis(0) : steps.back().at;
  run.busy_percent = busy.points(end, devices > 0 ? 100.0 / static_cast<double>(devices) : 0.0);
  run.waiting_jobs = waiting.points(end);
}

}  // namespace ashlar::sim
