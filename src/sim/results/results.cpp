#include "sim/results/results.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace ashlar::sim {
namespace {

constexpr double kMillisPerSecond = 1000.0;

/// `value` rounded to two decimals by its exact binary value, as the published tables' Python does.
double round_to_cents(double value) {
  const double scaled = value * 100.0;
  const double whole = std::floor(scaled);
  const double rest = scaled - whole;
  // multiplying has rounded already, so near a tie only the digits themselves decide
  constexpr double kDoubtful = 1e-6;
  if (std::abs(rest - 0.5) > kDoubtful) return (rest < 0.5 ? whole : whole + 1) / 100.0;
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.2f", value);
  double rounded = value;
  std::from_chars(digits, digits + sizeof digits, rounded);
  return rounded;
}

std::size_t percentile_rank(double p, std::size_t count) {
  return static_cast<std::size_t>(std::floor(p * static_cast<double>(count - 1)));
}

double percentile(const std::vector<std::int64_t>& sorted_millis, double p) {
  if (sorted_millis.empty()) return 0;
  return static_cast<double>(sorted_millis[percentile_rank(p, sorted_millis.size())]) / kMillisPerSecond;
}

/// The same of one percentile alone, which orders no more than it must.
double percentile_of(std::vector<std::int64_t>& millis, double p) {
  if (millis.empty()) return 0;
  const auto at = millis.begin() + static_cast<std::ptrdiff_t>(percentile_rank(p, millis.size()));
  std::nth_element(millis.begin(), at, millis.end());
  return static_cast<double>(*at) / kMillisPerSecond;
}

double mean_seconds(__int128 sum_millis, std::int64_t count) {
  return count == 0 ? 0 : static_cast<double>(sum_millis) / static_cast<double>(count) / kMillisPerSecond;
}

/// At most kWaitPoints points of the distribution: half of them at equal steps of rank, the rest ever closer towards
/// the longest waits, so that both the distribution and its logarithmic tail are smooth.
std::vector<WaitPoint> distribution(const std::vector<std::int64_t>& sorted_millis) {
  const std::size_t n = sorted_millis.size();
  std::vector<std::size_t> ranks;
  if (n <= kWaitPoints) {
    for (std::size_t i = 0; i < n; ++i) ranks.push_back(i);
  } else {
    constexpr std::size_t kHalf = kWaitPoints / 2;
    for (std::size_t i = 1; i <= kHalf; ++i) ranks.push_back(i * n / kHalf - 1);
    for (std::size_t i = 0; i < kHalf; ++i) {
      const double longer = std::pow(static_cast<double>(n), static_cast<double>(i) / kHalf);  // jobs from this rank on
      ranks.push_back(n - static_cast<std::size_t>(longer));
    }
    std::sort(ranks.begin(), ranks.end());
  }
  std::vector<WaitPoint> points;
  for (std::size_t rank : ranks) {
    // Of equal waits the last counts: that many jobs waited no longer.
    const auto last = std::upper_bound(sorted_millis.begin() + static_cast<std::ptrdiff_t>(rank), sorted_millis.end(),
                                       sorted_millis[rank]);
    const double seconds = static_cast<double>(sorted_millis[rank]) / kMillisPerSecond;
    if (!points.empty() && points.back().seconds == seconds) continue;
    points.push_back({seconds, static_cast<double>(last - sorted_millis.begin()) / static_cast<double>(n)});
  }
  return points;
}

}  // namespace

void PackingMeter::add(const PackingEvent& event) {
  const double total = static_cast<double>(total_milli_);
  const double gpus = total / 1000.0;
  // Round half to even, and divide in the published order, so that loads that fall between two bins fall on the same
  // side.
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
      bin = {below.events + above.events, below.allocation + above.allocation, below.fragment + above.fragment,
             below.ratio + above.ratio};
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
  came(outcome.submit);
  last_end_ = std::max(last_end_, outcome.end);
}

void QueueMeter::finish(QueueRun& run) {
  Sums all;
  run.per_vc.clear();
  for (std::size_t i = 0; i < per_vc_.size(); ++i) {
    const Sums& sums = per_vc_[i];
    if (sums.jobs == 0) continue;
    run.per_vc.push_back(
        {vcs_[i], sums.jobs, mean_seconds(sums.jct_millis, sums.jobs), mean_seconds(sums.queued_millis, sums.jobs)});
    all.jobs += sums.jobs;
    all.jct_millis += sums.jct_millis;
    all.queued_millis += sums.queued_millis;
  }
  // Most jobs of most runs wait not at all.
  const auto first_wait = std::partition(queued_.begin(), queued_.end(), [](std::int64_t q) { return q == 0; });
  std::sort(first_wait, queued_.end());
  run.jobs = all.jobs;
  run.mean_jct_seconds = mean_seconds(all.jct_millis, all.jobs);
  run.mean_queue_seconds = mean_seconds(all.queued_millis, all.jobs);
  run.p50_queue_seconds = percentile(queued_, 0.5);
  run.p90_queue_seconds = percentile(queued_, 0.9);
  run.p99_queue_seconds = percentile(queued_, 0.99);
  run.p999_queue_seconds = percentile(queued_, 0.999);
  run.p99_jct_seconds = percentile_of(jct_, 0.99);
  run.makespan_seconds = all.jobs == 0 ? 0 : static_cast<double>((last_end_ - first_submit_).value) / kMillisPerSecond;
  run.waits = distribution(queued_);
}

}  // namespace ashlar::sim
