// The published tables, replayed: a subset that takes well under two minutes. Everything is in `./dev bench fidelity`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "fidelity/published_results.h"
#include "folders.h"
#include "policy/profile.h"
#include "sim/replay/job_replay.h"
#include "sim/replay/packing.h"
#include "sim/trace/openb.h"
#include "sim/trace/queue_trace.h"

namespace ashlar::sim {
namespace {

constexpr double kTolerance = 0.01;
constexpr const char* kTraces[] = {"default", "cpu250", "gpushare60", "gpushare100", "gpuspec33", "multigpu50"};
constexpr const char* kPolicies[] = {"fgd", "best-fit", "dotprod", "gpu-packing", "gpu-clustering"};
constexpr std::uint64_t kSeeds[] = {42, 43};

// Under sanitizers a part is enough: they look for slips in memory, not in numbers, and make everything twenty times
// slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

/// Empty when the published traces are not here.
std::string traces() {
  const char* const set = std::getenv("ASHLAR_TRACES");
  const std::string folder = set != nullptr && *set != '\0' ? set : ASHLAR_SOURCE_DIR "/../shared/traces";
  return std::filesystem::is_directory(folder) ? folder : std::string();
}

#define LEAVE_OUT_UNDER_SANITIZERS() \
  if (kIsSanitized) GTEST_SKIP() << "the release run covers it"

#define REQUIRE_TRACES() \
  if (traces().empty())  \
  GTEST_SKIP() << "SKIPPED: the published traces are not here; set ASHLAR_TRACES to the folder that holds them"

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

class PublishedPacking : public ::testing::TestWithParam<const char*> {};

TEST_P(PublishedPacking, EqualsEveryBinOfTheTable) {
  REQUIRE_TRACES();
  const std::string folder = traces() + "/packing", name = GetParam();
  if (kIsSanitized && name != "default") GTEST_SKIP() << "the release run covers it";
  const auto allocation = must(read_expected_packing(folder + "/fgd-expected/analysis_allo_discrete.csv.zst"));
  const auto fragment = must(read_expected_packing(folder + "/fgd-expected/analysis_frag_discrete.csv.zst"));
  const auto nodes = must(read_openb_nodes(folder + "/openb/openb_node_list_gpu_node.csv.zst"));
  const auto pods = must(read_openb_pods(folder + "/openb/openb_pod_list_" + name + ".csv.zst", nodes));
  const auto orders = must(read_arrivals(folder + "/fgd-arrivals/" + name + ".csv.xz", pods.size(), nodes.size()));
  const PackingTrace trace = must(PackingTrace::make(nodes, pods));
  for (const ArrivalOrder& order : orders) {
    if (std::find(std::begin(kSeeds), std::end(kSeeds), order.seed) == std::end(kSeeds) ||
        (kIsSanitized && order.seed != kSeeds[0]))
      continue;
    for (const char* policy : kPolicies) {
      const PackingRun run = run_packing(trace, order, must(builtin_profile(policy)));
      const ExpectedPacking* allocated = find_expected(allocation, name, policy, order.seed);
      const ExpectedPacking* fragmented = find_expected(fragment, name, policy, order.seed);
      ASSERT_TRUE(allocated != nullptr && fragmented != nullptr) << policy << " seed " << order.seed;
      const CurveDeviation a = compare(run.allocation_percent, allocated->percent),
                           f = compare(run.fragmented_percent, fragmented->percent);
      EXPECT_LE(a.largest, kTolerance) << policy << " seed " << order.seed << ": allocation at " << a.bin << " % load";
      EXPECT_LE(f.largest, kTolerance) << policy << " seed " << order.seed << ": fragments at " << f.bin << " % load";
      EXPECT_EQ(a.one_sided_bins + f.one_sided_bins, 0u) << policy << " seed " << order.seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, PublishedPacking, ::testing::ValuesIn(kTraces),
                         [](const auto& info) { return std::string(info.param); });

TEST(PublishedRandom, HasTheSameMeanOverTheSeeds) {
  LEAVE_OUT_UNDER_SANITIZERS();
  REQUIRE_TRACES();
  constexpr std::size_t kFullLoad = 130;
  const std::string folder = traces() + "/packing";
  const auto table = must(read_expected_packing(folder + "/fgd-expected/analysis_allo_discrete.csv.zst"));
  const auto nodes = must(read_openb_nodes(folder + "/openb/openb_node_list_gpu_node.csv.zst"));
  const auto pods = must(read_openb_pods(folder + "/openb/openb_pod_list_default.csv.zst", nodes));
  const auto orders = must(read_arrivals(folder + "/fgd-arrivals/default.csv.xz", pods.size(), nodes.size()));
  const PackingTrace trace = must(PackingTrace::make(nodes, pods));
  double ours = 0, published = 0;
  for (const ArrivalOrder& order : orders) {
    ours += *run_packing(trace, order, must(builtin_profile("random"))).allocation_percent[kFullLoad] /
            static_cast<double>(orders.size());
    published +=
        *find_expected(table, "default", "random", order.seed)->percent[kFullLoad] / static_cast<double>(orders.size());
  }
  EXPECT_NEAR(ours, published, 0.8);
}

void expect_equal(const QueueReplay& replay, const std::string& policy, const std::string& input) {
  const auto table = must(read_expected_queue(traces() + "/philly-p-expected.csv"));
  const QueueRun run = run_queue(replay, must(builtin_profile(policy)));
  for (const std::string& difference : differences(run, table, input, replay.shrink, replay.is_pooled))
    ADD_FAILURE() << policy << " k=" << replay.shrink << ": " << difference;
}

class PublishedQueueing : public ::testing::TestWithParam<std::int32_t> {};

TEST_P(PublishedQueueing, EqualsEveryFigureOfEveryVirtualCluster) {
  LEAVE_OUT_UNDER_SANITIZERS();
  REQUIRE_TRACES();
  const JobTrace trace = must(read_jobs(traces() + "/philly-p-octnov-replay-input.csv.xz"));
  const auto vcs = must(read_vcs(traces() + "/philly-vc-nodes.csv.xz"));
  for (const char* policy : {"fifo", "fifo-skip", "easy", "sjf", "sjf-skip", "qssf", "qssf-oracle", "tiresias", "srtf"})
    expect_equal({.trace = trace, .vcs = vcs, .shrink = GetParam()}, policy, "philly-p");
}

INSTANTIATE_TEST_SUITE_P(Shrinks, PublishedQueueing, ::testing::Values(1, 4),
                         [](const auto& info) { return "By" + std::to_string(info.param); });

TEST(PublishedPool, EqualsTheTableWithoutWallsBetweenVirtualClusters) {
  LEAVE_OUT_UNDER_SANITIZERS();
  REQUIRE_TRACES();
  const JobTrace trace = must(read_jobs(traces() + "/philly-p-octnov-replay-input.csv.xz"));
  const auto vcs = must(read_vcs(traces() + "/philly-vc-nodes.csv.xz"));
  for (const char* policy : {"fifo", "easy", "sjf-skip", "srtf"})
    expect_equal({.trace = trace, .vcs = vcs, .shrink = 4, .is_pooled = true}, policy, "philly-p");
}

TEST(PublishedLucidWeek, EqualsTheTable) {
  REQUIRE_TRACES();
  const JobTrace trace = must(read_jobs(traces() + "/philly-lucid-week-replay-input.csv.xz"));
  const std::vector<VcNodes> vcs{{"philly", 80}};
  for (const char* policy : {"fifo", "sjf", "qssf", "tiresias", "srtf"})
    expect_equal({.trace = trace, .vcs = vcs, .overhead = {40, 40, 60}}, policy, "lucid-week");
}

}  // namespace
}  // namespace ashlar::sim
