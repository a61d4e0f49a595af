// bench fidelity: our replays beside the published tables. Prints one line per trace and policy (packing) and per
// input, shrink and policy (queueing) with the largest deviation; exit status 1 beyond the tolerance. Traces are read
// from $ASHLAR_TRACES (default ../shared/traces beside the repository); without them it says so and ends with 0. Cost:
// about a minute for everything.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "fidelity/published_results.h"
#include "folders.h"
#include "policy/profile.h"
#include "sim/replay/job_replay.h"
#include "sim/replay/packing.h"
#include "sim/trace/openb.h"
#include "sim/trace/queue_trace.h"

namespace {

using namespace ashlar;
using namespace ashlar::sim;

constexpr double kPackingTolerance = 0.01;  ///< points, every bin: the rounding of the published table
constexpr double kRandomTolerance = 0.8;    ///< points, mean over the seeds at 130 %: another generator draws
constexpr std::size_t kHeadlineBin = 130;
const RestartOverhead kLucidOverhead{40, 40, 60};
constexpr std::int32_t kLucidNodes = 80;

struct Selection {
  std::vector<std::string> traces{"default",    "cpu050",     "cpu100",      "cpu200",     "cpu250",    "gpushare40",
                                  "gpushare60", "gpushare80", "gpushare100", "gpuspec10",  "gpuspec20", "gpuspec25",
                                  "gpuspec33",  "multigpu20", "multigpu30",  "multigpu40", "multigpu50"};
  std::vector<std::string> packing{"fgd", "best-fit", "dotprod", "gpu-packing", "gpu-clustering", "random"};
  std::vector<std::uint64_t> seeds{42, 43, 44, 45, 46};
  std::vector<std::int32_t> shrinks{1, 2, 3, 4};
  std::vector<std::string> queue{"fifo", "fifo-skip",   "easy",     "sjf", "sjf-skip",
                                 "qssf", "qssf-oracle", "tiresias", "srtf"};
  bool has_packing = true, has_queue = true, has_lucid = true;
};

template <class T>
T must(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "bench fidelity: %s\n", result.error().message.c_str());
  std::exit(2);
}
void must(Result<void> result) {
  if (result) return;
  std::fprintf(stderr, "bench fidelity: %s\n", result.error().message.c_str());
  std::exit(2);
}

/// Keeps the worst of all lines for the last one.
struct Verdict {
  bool is_within = true;
  std::size_t runs = 0;
  double largest = 0, largest_fragment = 0;  ///< points, of the policies that draw nothing
  double seconds = 0;
};

void compare_policy(const std::string& trace_name, const PackingTrace& trace, const std::vector<ArrivalOrder>& orders,
                    const std::vector<ExpectedPacking>* tables[3], const std::string& policy, Verdict& verdict) {
  const char* const words[3] = {"allocation", "fragmented", "fragmented/idle"};
  CurveDeviation worst[3];
  double ours_at_headline = 0, published_at_headline = 0, seconds = 0;
  for (const ArrivalOrder& order : orders) {
    const PackingRun run = run_packing(trace, order, must(builtin_profile(policy)));
    const LoadCurve* curves[3] = {&run.allocation_percent, &run.fragmented_percent, &run.fragment_ratio_percent};
    seconds += run.wall_seconds;
    for (int t = 0; t < 3; ++t) {
      const ExpectedPacking* row = find_expected(*tables[t], trace_name, policy, order.seed);
      if (row == nullptr) {
        std::printf("  no published row for %s %s seed %lu\n", trace_name.c_str(), policy.c_str(),
                    static_cast<unsigned long>(order.seed));
        verdict.is_within = false;
        return;
      }
      const CurveDeviation d = compare(*curves[t], row->percent);
      worst[t].one_sided_bins += d.one_sided_bins;
      if (d.largest > worst[t].largest) {
        worst[t].largest = d.largest;
        worst[t].bin = d.bin;
      }
      if (t == 0) {
        ours_at_headline += run.allocation_percent[kHeadlineBin].value_or(NAN) / static_cast<double>(orders.size());
        published_at_headline += row->percent[kHeadlineBin].value_or(NAN) / static_cast<double>(orders.size());
      }
    }
    ++verdict.runs;
  }
  const bool is_random = policy == "random";
  const double headline = std::abs(ours_at_headline - published_at_headline);
  bool is_within = is_random ? headline <= kRandomTolerance : true;
  if (!is_random)
    for (const CurveDeviation& d : worst)
      is_within = is_within && d.largest <= kPackingTolerance && d.one_sided_bins == 0;
  std::printf("%-12s %-15s %9.4f %9.4f  ", trace_name.c_str(), policy.c_str(), ours_at_headline, published_at_headline);
  for (int t = 0; t < 3; ++t)
    std::printf(" %s %.4f at %zu%%%s", words[t], worst[t].largest, worst[t].bin, t < 2 ? "," : "");
  std::printf("  %.2f s%s\n", seconds / static_cast<double>(orders.size()), is_within ? "" : "  BEYOND TOLERANCE");
  std::fflush(stdout);
  verdict.is_within = verdict.is_within && is_within;
  if (is_random) return;
  verdict.largest = std::max(verdict.largest, worst[0].largest);
  verdict.largest_fragment = std::max({verdict.largest_fragment, worst[1].largest, worst[2].largest});
}

Verdict compare_packing(const std::string& folder, const Selection& selection) {
  Verdict verdict;
  const auto allocation = must(read_expected_packing(folder + "/fgd-expected/analysis_allo_discrete.csv.zst"));
  const auto fragment = must(read_expected_packing(folder + "/fgd-expected/analysis_frag_discrete.csv.zst"));
  const auto ratio = must(read_expected_packing(folder + "/fgd-expected/analysis_frag_ratio_discrete.csv.zst"));
  const std::vector<ExpectedPacking>* tables[3] = {&allocation, &fragment, &ratio};
  const auto nodes = must(read_openb_nodes(folder + "/openb/openb_node_list_gpu_node.csv.zst"));
  std::printf(
      "packing: allocation %% at 130 %% load (mean of seeds), and the largest deviation in any bin of any seed\n");
  std::printf("%-12s %-15s %9s %9s\n", "trace", "policy", "ours", "published");
  for (const std::string& name : selection.traces) {
    const auto pods = must(read_openb_pods(folder + "/openb/openb_pod_list_" + name + ".csv.zst", nodes));
    auto orders = must(read_arrivals(folder + "/fgd-arrivals/" + name + ".csv.xz", pods.size(), nodes.size()));
    std::erase_if(orders, [&](const ArrivalOrder& o) {
      return std::find(selection.seeds.begin(), selection.seeds.end(), o.seed) == selection.seeds.end();
    });
    const PackingTrace trace = must(PackingTrace::make(nodes, pods));
    for (const std::string& policy : selection.packing) compare_policy(name, trace, orders, tables, policy, verdict);
  }
  std::printf(
      "packing: %zu runs, largest deviation (random apart) of allocation %.4f points, of fragments %.4f: %s\n\n",
      verdict.runs, verdict.largest, verdict.largest_fragment,
      verdict.runs == 0   ? "NOTHING COMPARED"
      : verdict.is_within ? "within tolerance"
                          : "BEYOND TOLERANCE");
  return verdict;
}

struct QueueLine {
  std::string input;
  std::int32_t shrink = 1;
  bool is_pooled = false;
  std::string policy;
};

void compare_queue(const QueueReplay& replay, const QueueLine& line, const std::vector<ExpectedQueue>& table,
                   Verdict& verdict) {
  const bool is_listed = std::any_of(table.begin(), table.end(), [&](const ExpectedQueue& e) {
    return e.input == line.input && e.shrink == line.shrink && e.is_pooled == line.is_pooled && e.policy == line.policy;
  });
  if (!is_listed) return;
  const QueueRun run = run_queue(replay, must(builtin_profile(line.policy)));
  const std::vector<std::string> found = differences(run, table, line.input, line.shrink, line.is_pooled);
  std::printf("%-10s %d %-8s %-12s %11.1f %11.1f %10.0f %10.0f %7ld  %.2f s  %s\n", line.input.c_str(), line.shrink,
              line.is_pooled ? "pooled" : "isolated", line.policy.c_str(), run.mean_jct_seconds, run.mean_queue_seconds,
              run.p999_queue_seconds, run.makespan_seconds, static_cast<long>(run.preemptions), run.wall_seconds,
              found.empty() ? "equal" : "DIFFERS");
  for (const std::string& difference : found) std::printf("    %s\n", difference.c_str());
  std::fflush(stdout);
  ++verdict.runs;
  verdict.is_within = verdict.is_within && found.empty();
}

Verdict compare_queues(const std::string& folder, const Selection& selection) {
  Verdict verdict;
  const auto table = must(read_expected_queue(folder + "/philly-p-expected.csv"));
  std::printf("queueing: every figure of every virtual cluster, to the digits of the expected table\n");
  std::printf("%-10s k %-8s %-12s %11s %11s %10s %10s %7s\n", "input", "walls", "policy", "mean JCT", "mean queue",
              "p99.9", "makespan", "stops");
  if (selection.has_queue) {
    const JobTrace trace = must(read_jobs(folder + "/philly-p-octnov-replay-input.csv.xz"));
    const auto vcs = must(read_vcs(folder + "/philly-vc-nodes.csv.xz"));
    for (const bool is_pooled : {false, true})
      for (const std::int32_t k : selection.shrinks)
        for (const std::string& policy : selection.queue) {
          const QueueReplay replay{.trace = trace, .vcs = vcs, .shrink = k, .is_pooled = is_pooled};
          must(check_replay(replay));
          compare_queue(replay, {"philly-p", k, is_pooled, policy}, table, verdict);
        }
  }
  if (selection.has_lucid) {
    const JobTrace trace = must(read_jobs(folder + "/philly-lucid-week-replay-input.csv.xz"));
    const std::vector<VcNodes> vcs{{"philly", kLucidNodes}};
    for (const std::string& policy : selection.queue)
      compare_queue({.trace = trace, .vcs = vcs, .overhead = kLucidOverhead}, {"lucid-week", 1, false, policy}, table,
                    verdict);
  }
  std::printf("queueing: %zu runs: %s\n", verdict.runs,
              verdict.runs == 0   ? "NOTHING COMPARED"
              : verdict.is_within ? "all equal"
                                  : "DIFFERENCES");
  return verdict;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Our replays beside the published tables, with the largest deviation."};
  Selection selection;
  std::vector<std::string> parts;
  app.add_option("--traces", selection.traces, "packing traces")->delimiter(',');
  app.add_option("--packing-policies", selection.packing, "packing policies")->delimiter(',');
  app.add_option("--seeds", selection.seeds, "seeds of the arrival orders")->delimiter(',');
  app.add_option("--shrink", selection.shrinks, "divisors of the virtual clusters")->delimiter(',');
  app.add_option("--queue-policies", selection.queue, "queueing policies")->delimiter(',');
  app.add_option("--only", parts, "packing, queue, lucid; several with commas")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  if (!parts.empty()) {
    const auto has = [&](const char* part) { return std::find(parts.begin(), parts.end(), part) != parts.end(); };
    selection.has_packing = has("packing");
    selection.has_queue = has("queue");
    selection.has_lucid = has("lucid");
  }
  const char* const set = std::getenv("ASHLAR_TRACES");
  const std::string folder = set != nullptr && *set != '\0' ? set : ASHLAR_SOURCE_DIR "/../shared/traces";
  if (!std::filesystem::is_directory(folder)) {
    std::printf("bench fidelity: SKIPPED: no published traces in %s; set ASHLAR_TRACES to the folder that holds them\n",
                folder.c_str());
    return 0;
  }
  bool is_within = true;
  if (selection.has_packing) is_within = compare_packing(folder + "/packing", selection).is_within && is_within;
  if (selection.has_queue || selection.has_lucid) is_within = compare_queues(folder, selection).is_within && is_within;
  return is_within ? 0 : 1;
}
