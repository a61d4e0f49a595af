// published_results: the published and measured tables that simulated runs are compared with
// (docs/reference/traces.md). For packing these are the tables that came with FGD, with one column per percent of load;
// for queueing it is philly-p-expected.csv.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/results/results.h"

namespace ashlar::sim {

/// One row of a published packing table.
struct ExpectedPacking {
  std::string workload;  ///< "default", "gpuspec33": without the prefix openb_pod_list_
  std::string policy;    ///< our name: random, dotprod, gpu-clustering, gpu-packing, best-fit, fgd
  std::uint64_t seed = 0;
  LoadCurve percent;  ///< in percent, as published
};
/// Any of the three tables (allocation, fragment amount, fragment ratio).
Result<std::vector<ExpectedPacking>> read_expected_packing(const std::string& path);
/// Null where the table has no such row.
const ExpectedPacking* find_expected(const std::vector<ExpectedPacking>& table, const std::string& workload,
                                     const std::string& policy, std::uint64_t seed);

/// Largest difference between two curves over the bins that both have, and where. Bins that only one has are counted
/// apart.
struct CurveDeviation {
  double largest = 0;
  std::size_t bin = 0;
  std::size_t one_sided_bins = 0;
};
CurveDeviation compare(const LoadCurve& ours, const LoadCurve& published);

/// One row of the expected queueing results. Rows of single virtual clusters have the two means only, rounded to 1 s.
struct ExpectedQueue {
  std::string input;  ///< philly-p or lucid-week
  std::int32_t shrink = 1;
  std::string policy;
  bool is_pooled = false;
  std::string vc;  ///< a name, or ALL
  std::int64_t jobs = 0;
  double mean_jct = 0, mean_queue = 0;  ///< seconds, and so below
  std::optional<double> p50_queue, p90_queue, p99_queue, p999_queue, p99_jct, makespan;
  std::optional<std::int64_t> preemptions;
};
Result<std::vector<ExpectedQueue>> read_expected_queue(const std::string& path);

/// Every figure in which the run differs from its expected rows, after rounding to the digits of the table, as "name:
/// ours against expected"; empty = equal.
std::vector<std::string> differences(const QueueRun& run, const std::vector<ExpectedQueue>& table,
                                     const std::string& input, std::int32_t shrink, bool is_pooled);

}  // namespace ashlar::sim
