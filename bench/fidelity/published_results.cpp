#include "fidelity/published_results.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <utility>

#include "sim/trace/csv.h"

namespace ashlar::sim {
namespace {

constexpr std::string_view kWorkloadPrefix = "openb_pod_list_";

/// Names of the published experiment and ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPolicies = {
    {{"01-Random", "random"},
     {"02-DotProd", "dotprod"},
     {"03-GpuClustering", "gpu-clustering"},
     {"04-GpuPacking", "gpu-packing"},
     {"05-BestFit", "best-fit"},
     {"06-FGD", "fgd"}}};

std::string our_policy(CsvReader& csv, CsvColumn column) {
  const std::string_view published = csv.text(column);
  for (const auto& [theirs, ours] : kPolicies) {
    if (theirs == published) return std::string(ours);
  }
  csv.reject(column, "a policy of the published tables, 01-Random .. 06-FGD");
  return {};
}

std::optional<double> real_if_any(CsvReader& csv, CsvColumn column) {
  if (csv.text(column).empty()) return std::nullopt;
  return csv.real(column, "a number");
}

constexpr IntegerForm kCount{0, std::int64_t{1} << 50, "a whole number from 0"};

/// Collects the figures in which a run differs from its table.
class Differences {
 public:
  explicit Differences(std::string prefix) : prefix_(std::move(prefix)) {}
  /// Compares after rounding `ours` to `decimals`, as the table was rounded.
  void compare(std::string_view figure, double ours, double expected, int decimals) {
    const double unit = std::pow(10.0, -decimals);
    // Half a unit of rounding on either side, and nothing for the binary rounding of the sums.
    if (std::abs(ours - expected) <= 0.5 * unit * (1 + 1e-9)) return;
    char line[200];
    std::snprintf(line, sizeof line, "%s %.*s: %.*f against %.*f", prefix_.c_str(), static_cast<int>(figure.size()),
                  figure.data(), decimals + 1, ours, decimals, expected);
    found_.emplace_back(line);
  }
  void compare_if_any(std::string_view figure, double ours, const std::optional<double>& expected) {
    if (expected) compare(figure, ours, *expected, 0);
  }
  void add(std::string text) { found_.push_back(prefix_ + " " + std::move(text)); }
  void move_to(std::vector<std::string>& all) {
    for (std::string& line : found_) all.push_back(std::move(line));
  }

 private:
  std::string prefix_;
  std::vector<std::string> found_;
};

void compare_whole(const QueueRun& run, const ExpectedQueue& row, Differences& differences) {
  if (run.jobs != row.jobs)
    differences.add("jobs: " + std::to_string(run.jobs) + " against " + std::to_string(row.jobs));
  differences.compare("mean JCT", run.mean_jct_seconds, row.mean_jct, 1);
  differences.compare("mean queue", run.mean_queue_seconds, row.mean_queue, 1);
  differences.compare_if_any("p50 queue", run.p50_queue_seconds, row.p50_queue);
  differences.compare_if_any("p90 queue", run.p90_queue_seconds, row.p90_queue);
  differences.compare_if_any("p99 queue", run.p99_queue_seconds, row.p99_queue);
  differences.compare_if_any("p99.9 queue", run.p999_queue_seconds, row.p999_queue);
  differences.compare_if_any("p99 JCT", run.p99_jct_seconds, row.p99_jct);
  differences.compare_if_any("makespan", run.makespan_seconds, row.makespan);
  if (row.preemptions && run.preemptions != *row.preemptions) {
    differences.add("preemptions: " + std::to_string(run.preemptions) + " against " + std::to_string(*row.preemptions));
  }
}

void compare_vc(const QueueRun& run, const ExpectedQueue& row, Differences& differences) {
  const auto vc =
      std::find_if(run.per_vc.begin(), run.per_vc.end(), [&](const VcMeans& each) { return each.vc == row.vc; });
  if (vc == run.per_vc.end()) return differences.add("is missing");
  if (vc->jobs != row.jobs)
    differences.add("jobs: " + std::to_string(vc->jobs) + " against " + std::to_string(row.jobs));
  differences.compare("mean JCT", vc->mean_jct_seconds, row.mean_jct, 0);
  differences.compare("mean queue", vc->mean_queue_seconds, row.mean_queue, 0);
}

}  // namespace

Result<std::vector<ExpectedPacking>> read_expected_packing(const std::string& path) {
  Result<CsvReader> csv = CsvReader::open(path);
  if (!csv) return csv.error();
  const CsvColumn workload = csv->column("workload"), policy = csv->column("sc_policy"), seed = csv->column("seed");
  std::array<CsvColumn, kLoadBins> bins;
  for (std::size_t k = 0; k < kLoadBins; ++k) bins[k] = csv->column(std::to_string(k));
  std::vector<ExpectedPacking> table;
  while (csv->next_row()) {
    ExpectedPacking row;
    std::string_view name = csv->word(workload, "the name of a pod list");
    if (name.substr(0, kWorkloadPrefix.size()) == kWorkloadPrefix) name.remove_prefix(kWorkloadPrefix.size());
    row.workload = name;
    row.policy = our_policy(*csv, policy);
    row.seed = static_cast<std::uint64_t>(csv->integer(seed, kCount));
    for (std::size_t k = 0; k < kLoadBins; ++k) row.percent[k] = real_if_any(*csv, bins[k]);
    table.push_back(std::move(row));
  }
  if (csv->failed()) return csv->error();
  return table;
}

const ExpectedPacking* find_expected(const std::vector<ExpectedPacking>& table, const std::string& workload,
                                     const std::string& policy, std::uint64_t seed) {
  for (const ExpectedPacking& row : table) {
    if (row.seed == seed && row.policy == policy && row.workload == workload) return &row;
  }
  return nullptr;
}

CurveDeviation compare(const LoadCurve& ours, const LoadCurve& published) {
  CurveDeviation deviation;
  for (std::size_t k = 0; k < kLoadBins; ++k) {
    if (ours[k].has_value() != published[k].has_value()) ++deviation.one_sided_bins;
    if (!ours[k] || !published[k]) continue;
    const double difference = std::abs(*ours[k] - *published[k]);
    if (difference > deviation.largest) {
      deviation.largest = difference;
      deviation.bin = k;
    }
  }
  return deviation;
}

Result<std::vector<ExpectedQueue>> read_expected_queue(const std::string& path) {
  Result<CsvReader> csv = CsvReader::open(path);
  if (!csv) return csv.error();
  const CsvColumn input = csv->column("input"), shrink = csv->column("shrink"), policy = csv->column("policy"),
                  walls = csv->column("walls");
  const CsvColumn vc = csv->column("vc"), jobs = csv->column("jobs"), jct = csv->column("mean_jct"),
                  queue = csv->column("mean_queue");
  const CsvColumn p50 = csv->column("p50_queue"), p90 = csv->column("p90_queue"), p99 = csv->column("p99_queue"),
                  p999 = csv->column("p999_queue");
  const CsvColumn p99_jct = csv->column("p99_jct"), makespan = csv->column("makespan"),
                  preemptions = csv->column("preemptions");
  std::vector<ExpectedQueue> table;
  while (csv->next_row()) {
    ExpectedQueue row;
    row.input = csv->word(input, "the name of an input");
    row.shrink =
        static_cast<std::int32_t>(csv->integer(shrink, {1, 1000, "a divisor of node counts, a whole number 1..1000"}));
    row.policy = csv->word(policy, "the name of a policy");
    row.is_pooled = csv->text(walls) == "pooled";
    if (!row.is_pooled && csv->text(walls) != "isolated") csv->reject(walls, "isolated or pooled");
    row.vc = csv->word(vc, "the name of a virtual cluster, or ALL");
    row.jobs = csv->integer(jobs, kCount);
    row.mean_jct = csv->real(jct, "seconds");
    row.mean_queue = csv->real(queue, "seconds");
    row.p50_queue = real_if_any(*csv, p50);
    row.p90_queue = real_if_any(*csv, p90);
    row.p99_queue = real_if_any(*csv, p99);
    row.p999_queue = real_if_any(*csv, p999);
    row.p99_jct = real_if_any(*csv, p99_jct);
    row.makespan = real_if_any(*csv, makespan);
    row.preemptions = csv->integer_if_any(preemptions, kCount);
    table.push_back(std::move(row));
  }
  if (csv->failed()) return csv->error();
  return table;
}

std::vector<std::string> differences(const QueueRun& run, const std::vector<ExpectedQueue>& table,
                                     const std::string& input, std::int32_t shrink, bool is_pooled) {
  std::vector<std::string> all;
  std::size_t matches = 0;
  for (const ExpectedQueue& row : table) {
    if (row.input != input || row.shrink != shrink || row.policy != run.policy || row.is_pooled != is_pooled) continue;
    ++matches;
    Differences found(row.vc);
    if (row.vc == "ALL") {
      compare_whole(run, row, found);
    } else {
      compare_vc(run, row, found);
    }
    found.move_to(all);
  }
  if (matches == 0)
    all.push_back("the table has no row for " + input + ", shrink " + std::to_string(shrink) + ", " + run.policy);
  return all;
}

}  // namespace ashlar::sim
