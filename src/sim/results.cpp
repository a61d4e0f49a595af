#include "sim/results.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace ashlar::sim {
namespace {

constexpr double kMillisPerSecond = 1000.0;

/// `value` rounded to two decimals as its exact binary value asks for, which is what the published tables' Python does.
double round_to_cents(double value) {
  const double scaled = value * 100.0;
  const double whole = std::floor(scaled);
  const double rest = scaled - whole;
  constexpr double kDoubtful = 1e-6;  // multiplying has rounded already, so near a tie only the digits themselves can tell
  if (std::abs(rest - 0.5) > kDoubtful) return (rest < 0.5 ? whole : whole + 1) / 100.0;
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.2f", value);
  double rounded = value;
  std::from_chars(digits, digits + sizeof digits, rounded);
  return rounded;
}

double percentile(const std::vector<std::int64_t>& sorted_millis, double p) {
  if (sorted_millis.empty()) return 0;
  const auto index = static_cast<std::size_t>(std::floor(p * static_cast<double>(sorted_millis.size() - 1)));
  return static_cast<double>(sorted_millis[index]) / kMillisPerSecond;
}

double mean_seconds(std::int64_t sum_millis, std::int64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum_millis) / static_cast<double>(count) / kMillisPerSecond;
}

/// At most kWaitPoints points of the distribution, denser where it is steep: equal steps of rank, and the tail's last jobs one by one.
std::vector<WaitPoint> distribution(const std::vector<std::int64_t>& sorted_millis) {
  std::vector<WaitPoint> points;
  const std::size_t n = sorted_millis.size();
  const auto take = [&](std::size_t index) {
    const double seconds = static_cast<double>(sorted_millis[index]) / kMillisPerSecond;
    const double share = static_cast<double>(index + 1) / static_cast<double>(n);
    if (!points.empty() && points.back().seconds == seconds) {
      points.back().share = share;
    } else {
      points.push_back({seconds, share});
    }
  };
  constexpr std::size_t kTail = 100;
  const std::size_t body_points = kWaitPoints - kTail;
  if (n <= kWaitPoints) {
    for (std::size_t i = 0; i < n; ++i) take(i);
    return points;
  }
  const std::size_t body = n - kTail;
  for (std::size_t i = 0; i < body_points; ++i) take((i + 1) * body / body_points - 1);
  for (std::size_t i = body; i < n; ++i) take(i);
  return points;
}

}  // namespace

void PackingMeter::add(const PackingEvent& event) {
  const double total = static_cast<double>(total_milli_);
  const double gpus = total / 1000.0;
  // Round half to even, and divide in the published order, so that loads that fall between two bins fall on the same side.
  const double load = std::nearbyint(static_cast<double>(event.arrived_milli) / gpus / 10.0);
  if (!(load >= 0 && load <= static_cast<double>(kLoadBins))) return;
  Bin& bin = bins_[static_cast<std::size_t>(load)];
  const double idle = static_cast<double>(total_milli_ - event.used_milli);
  ++bin.events;
  bin.allocation += round_to_cents(static_cast<double>(event.used_milli) / gpus / 10.0);
  bin.fragment += 100.0 * event.fragment_milli / total;
  bin.ratio += idle > 0 ? 100.0 * event.fragment_milli / idle : 0.0;
}

void PackingMeter::finish(PackingRun& run) const {
  for (std::size_t k = 0; k < kLoadBins; ++k) {
    Bin bin = bins_[k];
    if (bin.events == 0) {
      const Bin& below = bins_[k == 0 ? 0 : k - 1];
      const Bin& above = bins_[k + 1];
      bin = {below.events + above.events, below.allocation + above.allocation, below.fragment + above.fragment, below.ratio + above.ratio};
    }
    run.allocation_percent[k] = run.fragmented_percent[k] = run.fragment_ratio_percent[k] = std::nullopt;
    if (bin.events == 0) continue;
    const double events = static_cast<double>(bin.events);
    run.allocation_percent[k] = bin.allocation / events;
    run.fragmented_percent[k] = bin.fragment / events;
    run.fragment_ratio_percent[k] = bin.ratio / events;
  }
}

void QueueMeter::reserve(std::size_t jobs) {
  jct_.reserve(jobs);
  queued_.reserve(jobs);
}

void QueueMeter::add(const JobOutcome& outcome) {
  const std::int64_t jct = outcome.end.value - outcome.submit.value;
  Sums& sums = per_vc_[outcome.vc];
  ++sums.jobs;
  sums.jct_millis += jct;
  sums.queued_millis += outcome.queued.value;
  jct_.push_back(jct);
  queued_.push_back(outcome.queued.value);
  last_end_ = std::max(last_end_, outcome.end.value);
}

void QueueMeter::finish(QueueRun& run) {
  Sums all;
  run.per_vc.clear();
  for (std::size_t i = 0; i < per_vc_.size(); ++i) {
    const Sums& sums = per_vc_[i];
    if (sums.jobs == 0) continue;
    run.per_vc.push_back({vcs_[i], sums.jobs, mean_seconds(sums.jct_millis, sums.jobs), mean_seconds(sums.queued_millis, sums.jobs)});
    all.jobs += sums.jobs;
    all.jct_millis += sums.jct_millis;
    all.queued_millis += sums.queued_millis;
  }
  std::sort(jct_.begin(), jct_.end());
  std::sort(queued_.begin(), queued_.end());
  run.jobs = all.jobs;
  run.mean_jct_seconds = mean_seconds(all.jct_millis, all.jobs);
  run.mean_queue_seconds = mean_seconds(all.queued_millis, all.jobs);
  run.p50_queue_seconds = percentile(queued_, 0.5);
  run.p90_queue_seconds = percentile(queued_, 0.9);
  run.p99_queue_seconds = percentile(queued_, 0.99);
  run.p999_queue_seconds = percentile(queued_, 0.999);
  run.p99_jct_seconds = percentile(jct_, 0.99);
  run.makespan_seconds = static_cast<double>(last_end_) / kMillisPerSecond;
  run.waits = distribution(queued_);
}

}  // namespace ashlar::sim
