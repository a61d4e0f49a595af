// What one node says of itself, as a kubelet that lies may say it, costs the others nothing.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class LyingNodes : public TrackerBench {
 protected:
  /// With that many resources, of other names in each round.
  static Node with_resources(int count, int round) {
    Node n = node("liar", 1);
    for (int i = 0; i < count; ++i)
      n.allocatable.extended.push_back(
          {PooledString("example.com/r" + std::to_string(round) + "-" + std::to_string(i)), 1});
    return n;
  }
  static Node stating(const std::string& name, const std::string& gpus) {
    Node n = node(name, 2);
    n.annotations = {{PooledString("ashlar.dev/gpus"), PooledString(gpus)}};
    return n;
  }
  static Pod of_class(const std::string& name, const std::string& device_class) {
    PodRules rules;
    rules.gpu_classes = PooledString(device_class);
    return under(annotated(pod(name, 1), "ashlar.dev/gpu-classes", device_class), rules);
  }
};

TEST_F(LyingNodes, ResourcesWithoutEndAreNotAllRemembered) {
  for (int round = 0; round < 4; ++round) see(with_resources(500, round));
  EXPECT_EQ(tracker.names().refused_resources().size(), ObjectNames::kRefusedMax);
  const std::size_t lines = said.size();
  see(with_resources(500, 9));
  EXPECT_EQ(said.size(), lines);
  see(node("n", 8));
  see(pod("p", 8));
  Pod beyond = pod("q", 0);
  beyond.requests.extended = {{PooledString("example.com/r9-7"), 1}};
  see(beyond);
  step();
  EXPECT_EQ(where("p"), "n");
  EXPECT_EQ(where("q"), "") << "no node is known to have it";
}

TEST_F(LyingNodes, ResourcesOfTheFirstNodeLeaveColumnsForGpus) {
  Node first = with_resources(70, 0);
  first.allocatable.extended.erase(first.allocatable.extended.begin(), first.allocatable.extended.begin() + 2);
  see(first);
  see(node("n", 8));
  see(pod("p", 4));
  see(share("q", 500));
  step();
  EXPECT_EQ(tracker.names().refused_resources().size(), 70u - 58u);
  EXPECT_EQ(where("p"), "n");
  EXPECT_EQ(where("q"), "n");
}

/// The gang's members are unlike and fit the node each alone, not together: whatever GPUs the first takes is tried.
TEST_F(LyingNodes, GpusOfAsManyKindsAsThereAreDoNotKeepADecisionFromItsEnd) {
  constexpr int kGpus = 40;
  std::string gpus;
  for (int i = 0; i < kGpus; ++i) gpus += std::to_string(i) + " memory=" + std::to_string(i + 1) + "Gi;";
  Node liar = stating("liar", gpus);
  liar.allocatable.extended = node("liar", kGpus).allocatable.extended;
  see(liar);
  PodRules rules;
  rules.host_ports = {{.port = 80}};
  see(under(gang_pod("g", 0, 2, kGpus), rules));
  see(under(gang_pod("g", 1, 2, 0), rules));
  see(pod("p", 1));
  step();
  EXPECT_EQ(where("g-0"), "");
  EXPECT_EQ(where("p"), "liar");
}

TEST_F(LyingNodes, ModelsOfAnyLengthAreNotListedInTheConditionsOfPods) {
  see(stating("liar", "0 model=" + std::string(200'000, 'x')));
  see(stating("liar2", "0 model=A\x1b[2J\n100"));
  see(stating("n", "0 model=H100"));
  see(of_class("p", "B200"));
  step();
  EXPECT_LT(verdict_of("p").message.size(), 400u);
  EXPECT_TRUE(verdict_of("p").message.ends_with("known: H100.")) << verdict_of("p").message;
  ASSERT_EQ(said.size(), 2u);
  EXPECT_NE(said[0].find("is not the name of a model"), std::string::npos) << said[0];
}

}  // namespace
}  // namespace ashlar::kube
