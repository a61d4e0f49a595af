// A packing replay small enough to follow by hand.
#include "sim/replay/packing.h"

#include <gtest/gtest.h>

#include "policy/profile.h"

namespace ashlar::sim {
namespace {

OpenbPod pod(const std::string& name, std::int64_t cpu, std::int32_t gpus, std::int32_t milli,
             std::vector<std::string> models = {}) {
  OpenbPod p;
  p.name = name;
  p.cpu = MilliCores(cpu);
  p.memory = MiB(1024);
  p.gpus = gpus;
  p.milli_each = MilliGpu(milli);
  p.models = std::move(models);
  p.gpu_spec = p.models.empty() ? "" : p.models.front();
  return p;
}

OpenbNode node(const std::string& name, std::int32_t gpus, const std::string& model) {
  return {name, MilliCores(32000), MiB(262144), gpus, model};
}

TEST(Packing, CountsWhatIsPlacedAndWhatIsRefused) {
  const auto trace =
      PackingTrace::make({node("n0", 2, "T4"), node("n1", 2, "V100")},
                         {pod("a", 1000, 2, 1000), pod("b", 1000, 1, 500), pod("c", 1000, 1, 500, {"V100"})});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->total_milli(), 4000);
  // Two whole pods fill both nodes; every half device after them is refused.
  const ArrivalOrder order{.seed = 1, .arrivals = {0, 0, 1, 2}, .node_ranks = {0, 1}};
  const PackingRun run = run_packing(*trace, order, *builtin_profile("best-fit"));
  EXPECT_EQ(run.arrived_pods, 4);
  EXPECT_EQ(run.refused_pods, 2);
  EXPECT_DOUBLE_EQ(*run.allocation_percent[50], 50);
  EXPECT_DOUBLE_EQ(*run.allocation_percent[100], 100);
  EXPECT_DOUBLE_EQ(*run.allocation_percent[125], 100);
}

TEST(Packing, TiesGoToTheSmallestRank) {
  // Equal nodes: the constrained pod is refused exactly if the first one took the only V100.
  const auto run_with = [](std::vector<std::uint32_t> ranks) {
    const auto trace = PackingTrace::make({node("n0", 1, "T4"), node("n1", 1, "V100")},
                                          {pod("any", 1000, 1, 1000), pod("picky", 1000, 1, 1000, {"V100"})});
    return run_packing(*trace, {.seed = 1, .arrivals = {0, 1}, .node_ranks = std::move(ranks)},
                       *builtin_profile("best-fit"))
        .refused_pods;
  };
  EXPECT_EQ(run_with({0, 1}), 0);
  EXPECT_EQ(run_with({1, 0}), 1);
}

TEST(Packing, RefusedPodsCountAsArrivedButNotAsUsed) {
  const auto trace = PackingTrace::make({node("n0", 1, "T4")}, {pod("a", 64000, 1, 1000), pod("b", 1000, 1, 1000)});
  const PackingRun run =
      run_packing(*trace, {.seed = 1, .arrivals = {0}, .node_ranks = {0}}, *builtin_profile("best-fit"));
  EXPECT_EQ(run.refused_pods, 1);
  EXPECT_DOUBLE_EQ(*run.allocation_percent[100], 0);
}

TEST(Packing, TheSameRunTwiceIsTheSame) {
  const auto trace = PackingTrace::make({node("n0", 2, "T4"), node("n1", 2, "T4"), node("n2", 2, "T4")},
                                        {pod("a", 1000, 1, 300), pod("b", 1000, 1, 700)});
  const ArrivalOrder order{.seed = 7, .arrivals = {0, 1, 0, 0, 1, 1, 0, 1}, .node_ranks = {2, 0, 1}};
  for (const char* policy : {"fgd", "random"}) {
    PackingRun first = run_packing(*trace, order, *builtin_profile(policy)),
               second = run_packing(*trace, order, *builtin_profile(policy));
    first.wall_seconds = second.wall_seconds = 0;
    EXPECT_EQ(packing_json({&first, 1}), packing_json({&second, 1}));
  }
}

TEST(Packing, PodsOfMoreClassesThanAreComparedAreAnError) {
  std::vector<OpenbPod> pods;
  for (int i = 0; i < 1080; ++i) pods.push_back(pod("p" + std::to_string(i), 1000 + i, 1, 1000));
  const auto trace = PackingTrace::make({node("n0", 1, "T4")}, pods);
  ASSERT_FALSE(trace.ok());
  EXPECT_TRUE(trace.error().message.starts_with("1026 classes of pods make up 95 % of the mix"))
      << trace.error().message;
  pods.resize(1077);
  EXPECT_TRUE(PackingTrace::make({node("n0", 1, "T4")}, pods).ok());
}

TEST(Packing, AModelThatNoNodeHasIsAnError) {
  EXPECT_FALSE(PackingTrace::make({node("n0", 1, "T4")}, {pod("a", 1000, 1, 1000, {"H100"})}).ok());
}

}  // namespace
}  // namespace ashlar::sim
