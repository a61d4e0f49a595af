// results: results of simulated runs and their three written forms. The meters take events as they happen, in O(1), and
// hold O(bins) or 16 bytes per job. Definitions are those of the published tables (docs/reference/traces.md,
// "Measures").
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/result.h"
#include "sim/results/step_series.h"

namespace ashlar::sim {

/// Arrived load in whole percent of all devices: bins 0..130.
inline constexpr std::size_t kLoadBins = 131;
using LoadCurve = std::array<std::optional<double>, kLoadBins>;

/// One policy on one arrival order.
struct PackingRun {
  std::uint64_t seed = 0;
  std::string policy;
  /// used milli-GPU of all milli-GPU, each event rounded to 2 decimals, mean of the bin's events
  LoadCurve allocation_percent;
  LoadCurve fragmented_percent;      ///< fragment amount F of all milli-GPU, not rounded
  LoadCurve fragment_ratio_percent;  ///< F of the idle milli-GPU, not rounded
  std::int64_t arrived_pods = 0;
  std::int64_t refused_pods = 0;
  double wall_seconds = 0;  ///< without reading input
};

/// The state after one arrival, whether the pod was placed or refused.
struct PackingEvent {
  std::int64_t arrived_milli = 0;  ///< requested so far, refused pods included
  std::int64_t used_milli = 0;
  double fragment_milli = 0;
};

/// Takes the events of one run. A bin without events takes the mean of its neighbours' events, as the published tables
/// do; without those it is empty.
class PackingMeter {
 public:
  explicit PackingMeter(std::int64_t total_milli) : total_milli_(total_milli) {}
  void add(const PackingEvent& event);
  /// Fills the three curves of the run.
  void finish(PackingRun& run) const;

 private:
  struct Bin {
    std::int64_t events = 0;
    double allocation = 0, fragment = 0, ratio = 0;
  };
  std::int64_t total_milli_;
  std::array<Bin, kLoadBins + 1> bins_{};  ///< one past 130 for its neighbourhood
};

/// Means of one virtual cluster or queue.
struct VcMeans {
  std::string vc;
  std::int64_t jobs = 0;
  double mean_jct_seconds = 0;
  double mean_queue_seconds = 0;
};

/// A point of a cumulative distribution: `share` of all jobs waited at most `seconds`.
struct WaitPoint {
  double seconds = 0;
  double share = 0;
};

/// One policy on one job trace. Percentiles are by index floor(p * (n - 1)) of the sorted values.
struct QueueRun {
  std::string policy;
  std::int64_t jobs = 0;             ///< that ended
  std::int64_t unfinished_jobs = 0;  ///< that had not ended at the horizon, or never can start
  double mean_jct_seconds = 0;
  double mean_queue_seconds = 0;
  double p50_queue_seconds = 0, p90_queue_seconds = 0, p99_queue_seconds = 0, p999_queue_seconds = 0;
  double p99_jct_seconds = 0;
  double makespan_seconds = 0;  ///< from the first submission to the last end; 0 if nothing ended
  std::int64_t preemptions = 0;
  /// in the order of the names given to the meter; those without jobs are left out
  std::vector<VcMeans> per_vc;
  double wall_seconds = 0;                ///< without reading input
  std::vector<WaitPoint> waits;           ///< distribution of queue times, at most kWaitPoints points, ascending
  std::vector<SeriesPoint> busy_percent;  ///< devices in use over time; empty if not measured
  std::vector<SeriesPoint> waiting_jobs;  ///< jobs in the queue over time; empty if not measured
};
inline constexpr std::size_t kWaitPoints = 400;  // for tests

/// One job at its end.
struct JobOutcome {
  std::uint32_t vc = 0;  ///< index into the meter's names
  Millis submit;
  Millis end;
  Millis queued;   ///< all waiting: before the first start and after each stop
  Millis started;  ///< for the first time
  std::int64_t devices = 0;
  std::int32_t priority = 0;
};
using OnOutcome = std::function<void(const JobOutcome&)>;

class QueueMeter {
 public:
  explicit QueueMeter(std::vector<std::string> vcs) : vcs_(std::move(vcs)), per_vc_(vcs_.size()) {}
  void reserve(std::size_t jobs);
  void add(const JobOutcome& outcome);
  /// A job was submitted at this time, whether it ends or not: the makespan counts from the first of them.
  void came(Millis submit) { first_submit_ = std::min(first_submit_, submit); }
  std::int64_t jobs() const { return static_cast<std::int64_t>(queued_.size()); }
  /// Fills everything but policy, preemptions, unfinished_jobs, wall_seconds and the series over time. Sorts; call
  /// once.
  void finish(QueueRun& run);

 private:
  struct Sums {
    std::int64_t jobs = 0;
    __int128 jct_millis = 0, queued_millis = 0;
  };
  std::vector<std::string> vcs_;
  std::vector<Sums> per_vc_;
  std::vector<std::int64_t> jct_, queued_;  ///< milliseconds
  Millis first_submit_ = Millis::max(), last_end_{0};
};

/// Rows of cells, the header first, for a table on the terminal or in a page.
using Rows = std::vector<std::vector<std::string>>;
/// One row per run: allocation at the last seven reached tens of load (70..130 on a full run); percentages with 4
/// decimals.
Rows packing_rows(std::span<const PackingRun> runs);
Rows queue_rows(std::span<const QueueRun> runs);
/// The same in less than 100 columns, for a terminal: fewer loads, shorter headings, no computing time.
Rows narrow_packing_rows(std::span<const PackingRun> runs);
Rows narrow_queue_rows(std::span<const QueueRun> runs);

/// A PackingRunList (docs/reference/json.md); empty bins are null.
std::string packing_json(std::span<const PackingRun> runs);
/// One line per run and load:
/// seed,policy,load_percent,allocation_percent,fragmented_percent,fragment_ratio_percent,refused_pods,wall_seconds.
std::string packing_csv(std::span<const PackingRun> runs);
/// A QueueRunList (docs/reference/json.md).
std::string queue_json(std::span<const QueueRun> runs);
/// One line per run and virtual cluster, and one with vc = ALL.
std::string queue_csv(std::span<const QueueRun> runs);

/// The jobs of several runs, a line each, as they ended:
/// policy,vc,gpus,priority,submit_seconds,start_seconds,end_seconds,queue_seconds.
class JobLines {
 public:
  JobLines();
  void add(std::string_view policy, std::string_view vc, const JobOutcome& outcome);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace ashlar::sim
