// Nodes that go, and nodes that move: what becomes of the pods there, bound, chosen or nominated.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class LostNodes : public TrackerBench {
 protected:
  static Node in_rack(const std::string& name, const std::string& rack) {
    return node(name, 8, {{PooledString("l/rack"), PooledString(rack)}});
  }
  static Pod nominated(const std::string& name, const std::string& node_name) {
    Pod p = pod(name, 8);
    p.scheduler_name = PooledString("other");
    p.nominated_node_name = PooledString(node_name);
    p.priority = 10;
    return p;
  }
};

TEST_F(LostNodes, APlaceKeptOnAGoneNodeIsForgotten) {
  see(node("n0", 8));
  see(node("n1", 8));
  see(nominated("here", "n0"));
  see(nominated("there", "n1"));
  step();
  ASSERT_EQ(record("here").phase, PodRecord::Phase::kNominated);
  gone(node("n0", 8));
  EXPECT_EQ(tracker.pods().find(PooledString("ns"), PooledString("here")), kNoPod);
  EXPECT_EQ(record("there").phase, PodRecord::Phase::kNominated) << "on another node";
  step();
  see(node("n0", 8));
  see(pod("p", 8));
  step();
  EXPECT_EQ(where("p"), "n0");
}

TEST_F(LostNodes, APlaceKeptOnANodeThatIsNotKnownYetCountsOnceItIs) {
  for (const char* name : {"here", "changed", "gone"}) see(nominated(name, "n0"));
  see(nominated("changed", "n2"));
  gone(nominated("gone", "n0"));
  EXPECT_EQ(tracker.pods().size(), 0u);
  see(node("n0", 8));
  see(pod("p", 8));
  step();
  EXPECT_EQ(record("here").phase, PodRecord::Phase::kNominated);
  EXPECT_EQ(where("p"), "") << "the node is another pod's";
  see(node("n2", 8));
  step();
  EXPECT_EQ(record("changed").phase, PodRecord::Phase::kNominated);
  EXPECT_EQ(where("p"), "");
  gone(nominated("here", "n0"));
  step();
  EXPECT_EQ(where("p"), "n0");
}

TEST_F(LostNodes, ABindingToAGoneNodeIsOfAnOldTurnAndThePodWaitsAgain) {
  is_answering = false;
  see(node("n0", 8));
  see(pod("p", 1));
  step();
  ASSERT_EQ(record("p").phase, PodRecord::Phase::kAssumed);
  const std::uint32_t turn = record("p").bind_attempt;
  gone(node("n0", 8));
  EXPECT_EQ(record("p").phase, PodRecord::Phase::kWaiting);
  EXPECT_EQ(record("p").bind_attempt, turn + 1);
  EXPECT_TRUE(record("p").node.is_none());
  see(node("n1", 8));
  step();
  EXPECT_EQ(where("p"), "n1");
}

TEST_F(LostNodes, BoundPodsAreParkedUntilTheNodeIsBack) {
  see(node("n0", 8));
  see(pod("p", 3));
  step();
  ASSERT_EQ(where("p"), "n0");
  gone(node("n0", 8));
  gone(node("unknown", 8));
  EXPECT_EQ(record("p").phase, PodRecord::Phase::kOnUnknownNode);
  step();
  see(node("n0", 8));
  step();
  EXPECT_EQ(where("p"), "n0");
  EXPECT_EQ(idle_devices("n0"), 5);
}

TEST_F(LostNodes, PodsThatRefuseCompanyDoSoWhereTheirNodeIsNow) {
  PodRules rules;
  rules.required_anti_affinity = {
      {.selector = {.present = true, .match_labels = {{PooledString("app"), PooledString("web")}}},
       .topology_key = PooledString("l/rack")}};
  see(in_rack("a", "r0"));
  see(in_rack("b", "r1"));
  see(in_rack("c", "r2"));
  for (const char* name : {"a", "b"}) {
    Pod loner = under(pod(std::string("on-") + name, 1), rules);
    loner.node_name = PooledString(name);
    see(loner);
  }
  step();
  see(in_rack("a", "r2"));
  step();
  PodRules in_r2;
  in_r2.node_selector = {{PooledString("l/rack"), PooledString("r2")}};
  see(under(pod("web", 1, {{PooledString("app"), PooledString("web")}}), in_r2));
  step();
  EXPECT_EQ(where("web"), "") << "the pod on a is in r2 now";
  see(in_rack("d", "r0"));
  see(pod("second", 1, {{PooledString("app"), PooledString("web")}}));
  step();
  EXPECT_EQ(where("second"), "d") << "and no longer in r0";
  PodRules in_r1;
  in_r1.node_selector = {{PooledString("l/rack"), PooledString("r1")}};
  see(under(pod("third", 1, {{PooledString("app"), PooledString("web")}}), in_r1));
  step();
  EXPECT_EQ(where("third"), "") << "the pod on b stayed";
}

}  // namespace
}  // namespace ashlar::kube
