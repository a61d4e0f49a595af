// Objects of which a part cannot be read: what is known of them stays, what is bound is counted, what is not certain is
// closed, nothing is taken for gone.
#include "live/watch/standby_cache.h"

#include "live/track/nodes/node_trouble.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class Unreadable : public TrackerBench {
 protected:
  template <class T>
  static T unreadable(T object, const std::string& problem = "status.x: is no number") {
    object.problem = PooledString(problem);
    return object;
  }
  /// A pod of which only the name and the place are known.
  static Pod bare(const std::string& name, const std::string& node_name) {
    Pod p = unreadable(on(pod(name, 0), node_name), "the object is not the JSON expected");
    p.requests = {};
    p.lacks_amounts = true;
    return p;
  }
  std::string condition_of(const std::string& name) {
    const ConditionText text = tracker.hold_condition(record(name));
    return text.reason + " " + text.message;
  }
};

TEST_F(Unreadable, ABoundPodKeepsItsLastGoodAccount) {
  see(node("n", 8));
  see(on(pod("old", 8), "n"));
  step();
  see(bare("old", "n"));
  see(pod("new", 1));
  step();
  EXPECT_EQ(idle_devices("n"), 0);
  EXPECT_EQ(where("old"), "n");
  EXPECT_EQ(where("new"), "");
  EXPECT_EQ(node_trouble(tracker.tables(), NodeId(0u)), "") << "its account is known, so its node is open";
}

TEST_F(Unreadable, APodNeverSeenBeforeIsCountedByWhatWasRead) {
  see(node("n", 8));
  see(unreadable(on(pod("old", 6), "n")));
  see(pod("fits", 2));
  see(pod("does-not", 1));
  step();
  EXPECT_EQ(where("fits"), "n");
  EXPECT_EQ(where("does-not"), "");
}

TEST_F(Unreadable, WhereAmountsAreMissingTheNodeIsClosedUntilTheyCanBeRead) {
  see(node("n", 8));
  see(bare("old", "n"));
  see(pod("new", 1));
  step();
  EXPECT_EQ(where("new"), "");
  EXPECT_EQ(verdict_of("new").message, "0/1 nodes are available: 1 node(s) were closed by the scheduler.");
  EXPECT_EQ(closed_nodes_text(tracker.tables()), "node n (pod ns/old: the object is not the JSON expected)");
  see(on(pod("old", 2), "n"));
  step();
  EXPECT_EQ(where("new"), "n");
  EXPECT_EQ(idle_devices("n"), 5);
  EXPECT_EQ(closed_nodes_text(tracker.tables()), "none");
}

TEST_F(Unreadable, APodWithAFieldThatIsTooLargeWaitsUntilItIsShortened) {
  see(node("n", 8));
  PodRules rules;
  rules.too_large = "spec.nodeSelector has 70000 bytes; the limit is 65536 bytes";
  see(under(pod("large", 1), rules));
  see(pod("other", 1));
  step();
  EXPECT_EQ(where("large"), "");
  EXPECT_EQ(where("other"), "n");
  EXPECT_EQ(condition_of("large"),
            "SchedulerError Misconfigured: spec.nodeSelector has 70000 bytes; the limit is 65536 bytes");
  see(pod("large", 1));
  step();
  EXPECT_EQ(where("large"), "n");
}

TEST_F(Unreadable, AClosedNodeOpensWhenThePodIsGone) {
  see(bare("old", "n"));
  see(node("n", 8));
  see(pod("new", 1));
  step();
  EXPECT_EQ(where("new"), "");
  gone(bare("old", "n"));
  step();
  EXPECT_EQ(where("new"), "n");
}

TEST_F(Unreadable, APodBoundInItsUnreadableVersionTakesWhatItWasKnownToAsk) {
  see(node("n", 8));
  Pod p = pod("p", 8, {}, "ns");
  p.scheduling_gates = 1;
  see(p);
  p.scheduling_gates = 0;
  see(p);
  see(bare("p", "n"));
  see(pod("new", 1));
  step();
  EXPECT_EQ(where("p"), "n");
  EXPECT_EQ(idle_devices("n"), 0);
  EXPECT_EQ(where("new"), "");
}

TEST_F(Unreadable, AWaitingPodOfOursIsHeldAndToldWhichFieldItIs) {
  see(pod("p", 1));
  see(unreadable(pod("p", 1), "spec.overhead: cpu: quantity \"-1\" is negative"));
  see(unreadable(pod("q", 1), "spec.overhead: cpu: quantity \"-1\" is negative"));
  see(node("n", 8));
  step();
  EXPECT_EQ(where("p") + where("q"), "");
  for (const char* name : {"p", "q"})
    EXPECT_EQ(condition_of(name),
              "SchedulerError Unreadable: the pod cannot be read: spec.overhead: cpu: quantity \"-1\" is negative");
  EXPECT_EQ(due, (std::vector<std::string>{"p", "q"}));
  see(pod("p", 1));
  step();
  EXPECT_EQ(where("p"), "n");
}

TEST_F(Unreadable, ANodeIsClosedWithItsLastGoodFactsAndItsPodsStay) {
  see(node("n", 8));
  see(on(pod("old", 3), "n"));
  step();
  Node broken = unreadable(node("n", 0), "status.allocatable: cpu: \"x\" is no quantity");
  see(broken);
  see(pod("new", 1));
  step();
  EXPECT_EQ(where("old"), "n");
  EXPECT_EQ(where("new"), "");
  EXPECT_EQ(state.cluster().devices()[0], 8);
  EXPECT_EQ(closed_nodes_text(tracker.tables()), "node n (status.allocatable: cpu: \"x\" is no quantity)");
  see(node("n", 8));
  step();
  EXPECT_EQ(where("new"), "n");
  EXPECT_EQ(idle_devices("n"), 4);
}

TEST_F(Unreadable, ANodeThatNeverCouldBeReadIsNotThere) {
  see(unreadable(node("n", 8)));
  see(pod("p", 1));
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_EQ(state.cluster().live_count(), 0u);
}

TEST_F(Unreadable, APodGroupKeepsItsLastGoodSpecAndOneThatHasNoneHoldsItsPods) {
  PodGroup group;
  group.ns = PooledString("ns");
  group.name = PooledString("g");
  group.uid = PooledString("uid-g");
  group.min_count = 2;
  see(group);
  PodGroup broken = unreadable(group, "metadata.creationTimestamp: \"x\" is no time");
  broken.min_count = 0;
  see(broken);
  PodGroup other = broken;
  other.name = PooledString("h");
  other.uid = PooledString("uid-h");
  see(other);
  see(node("n", 8));
  const auto member = [](const std::string& name, const std::string& of) {
    Pod p = pod(name, 1);
    p.group_name = PooledString(of);
    return p;
  };
  see(member("g-0", "g"));
  see(member("h-0", "h"));
  step();
  EXPECT_EQ(where("g-0") + where("h-0"), "");
  EXPECT_EQ(hold_of("g-0").reason, HoldReason::kMembersMissing);
  EXPECT_EQ(hold_of("h-0").detail, "PodGroup h cannot be read: metadata.creationTimestamp: \"x\" is no time");
  see(member("g-1", "g"));
  step();
  EXPECT_EQ(where("g-0") + where("g-1"), "nn");
}

TEST_F(Unreadable, AStandbyRemembersTheLastGoodState) {
  StandbyCache<Node> cache;
  cache.take({Change<Node>::Kind::kAdded, node("n", 8)});
  cache.take({Change<Node>::Kind::kModified, unreadable(node("n", 0))});
  cache.take({Change<Node>::Kind::kAdded, unreadable(node("m", 8))});
  cache.drain([&](Change<Node>&& change) { tracker.take(std::move(change)); });
  step();
  EXPECT_EQ(state.cluster().live_count(), 1u);
  EXPECT_EQ(state.cluster().devices()[0], 8);
  EXPECT_EQ(node_trouble(tracker.tables(), NodeId(0u)), "status.x: is no number");
  EXPECT_EQ(cache.size(), 0u);
}

}  // namespace
}  // namespace ashlar::kube
