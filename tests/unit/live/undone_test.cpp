// A binding that is answered with success and not carried out: a webhook or a proxy has answered in the server's place.
#include "actuation_bench.h"

namespace ashlar::kube {
namespace {

class Undone : public Actuation {
 protected:
  static constexpr Millis kPatience{60'000};
  Undone() { odd = unbound("p0"); }
  /// What a re-read finds of a pod of ClusterObjects that has no node.
  static std::string unbound(const std::string& name, const std::string& labels = "") {
    return R"({"kind":"Pod","metadata":{"name":")" + name + R"(","namespace":"ns","uid":"uid-ns-)" + name +
           R"(","labels":{)" + labels +
           R"(}},"spec":{"schedulerName":"ashlar","containers":[{"resources":{"requests":{"cpu":"1","nvidia.com/gpu":)"
           R"("1"}}}]},"status":{}})";
  }
  void decide() {
    step();
    binder->submit(plan);
  }
  /// What the watch reports of a pod that is bound.
  void see_bound(const std::string& name, const std::string& node_name) {
    Pod p = pod(name, 1);
    p.node_name = PooledString(node_name);
    see(std::move(p));
  }
  void place_and_confirm() {
    place();
    ASSERT_TRUE(until([&] { return binder->is_idle(); }));
    ASSERT_EQ(phase(), Phase::kBound);
  }
  void pass(Millis time) {
    skipped += time;
    binder->pump();
    ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  }
};

TEST_F(Undone, APodWithoutANodeAMinuteLaterIsScheduledAgain) {
  place_and_confirm();
  pass(kPatience - Millis(5'000));
  EXPECT_EQ(server.count({"GET"}), 0u);
  pass(Millis(6'000));
  EXPECT_EQ(server.count({"GET"}), 1u);
  ASSERT_EQ(phase(), Phase::kHeld);
  EXPECT_EQ(tracker.hold_condition(record("p0")).message,
            "BindFailed: the pod is not bound yet; the binding is retried later: the binding to node n was "
            "answered with success, but 60 s later the pod has no node; an admission webhook or a proxy may have "
            "answered in the API server's place");
  EXPECT_EQ(binder->counters().undone, 1u);
  ASSERT_EQ(warnings.size(), 1u);
  step();
  EXPECT_EQ(idle_devices("n"), 8);
  pass(Millis(2'000));
  ASSERT_EQ(phase(), Phase::kWaiting);
  decide();
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  EXPECT_EQ(server.count({"POST"}), 2u);
  see_bound("p0", "n");
  pass(kPatience + kPatience);
  EXPECT_EQ(phase(), Phase::kBound);
  EXPECT_EQ(server.count({"GET"}), 1u);
}

TEST_F(Undone, APodThatTheWatchReportsIsNotReadAgain) {
  place_and_confirm();
  see_bound("p0", "n");
  pass(kPatience + kPatience);
  EXPECT_EQ(server.count({"GET"}), 0u);
  EXPECT_EQ(phase(), Phase::kBound);
}

TEST_F(Undone, AWatchThatIsLateCostsOneReadAndNoPod) {
  server.change([&] { odd.clear(), bound_to = "n"; });
  place_and_confirm();
  pass(kPatience);
  pass(kPatience);
  EXPECT_EQ(server.count({"GET"}), 1u);
  EXPECT_EQ(phase(), Phase::kBound);
  step();
  EXPECT_EQ(idle_devices("n"), 7);
}

TEST_F(Undone, UntilItCanBeReadItsCapacityStaysTaken) {
  place_and_confirm();
  server.change([&] { read_status = 500; });
  skipped += kPatience;
  ASSERT_TRUE(until([&] { return binder->counters().reread >= 2; }));
  EXPECT_EQ(phase(), Phase::kBound);
  server.change([&] { read_status = 200; });
  ASSERT_TRUE(until([&] { return phase() == Phase::kHeld; }));
}

TEST_F(Undone, APodThatIsGoneIsForgotten) {
  place_and_confirm();
  server.change([&] { exists = false; });
  pass(kPatience);
  EXPECT_EQ(phase(), Phase::kFree);
  step();
  EXPECT_EQ(idle_devices("n"), 8);
}

TEST_F(Undone, APodWithRulesOfItsOwnWaitsForItsRetryToo) {
  PodRules rules;
  rules.node_selector = {{PooledString("zone"), PooledString("a")}};
  see(node("z", 8, {{PooledString("zone"), PooledString("a")}}));
  see(under(pod("p0", 1), rules));
  decide();
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  ASSERT_EQ(where("p0"), "z");
  server.change([&] {
    const std::size_t at = odd.find(R"("spec":{)") + 8;
    odd.insert(at, R"("nodeSelector":{"zone":"a"},)");
  });
  pass(kPatience);
  EXPECT_EQ(phase(), Phase::kHeld);
  pass(Millis(2'000));
  decide();
  EXPECT_EQ(where("p0"), "z");
}

TEST_F(Undone, ANodeThatIsRemovedMeanwhileMakesNoDifference) {
  place_and_confirm();
  gone(node("n", 8));
  ASSERT_EQ(phase(), Phase::kOnUnknownNode);
  pass(kPatience);
  EXPECT_EQ(phase(), Phase::kHeld);
  see(node("m", 8));
  pass(Millis(2'000));
  decide();
  EXPECT_EQ(where("p0"), "m");
}

TEST_F(Undone, WhatItsOwnerHasChangedSinceCounts) {
  place_and_confirm();
  see(with(pod("p0", 1), "ashlar.dev/queue", "nosuch"));
  ASSERT_EQ(phase(), Phase::kBound) << "an older version may arrive late";
  server.change([&] { odd = unbound("p0", R"("ashlar.dev/queue":"nosuch")"); });
  pass(kPatience);
  EXPECT_EQ(record("p0").hold, HoldReason::kQueueUnknown);
}

TEST_F(Undone, TheOthersOfItsGangStay) {
  server.change([&] { odd = unbound("g-1", R"("ashlar.dev/gang":"g","ashlar.dev/gang-size":"2")"); });
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 1));
  decide();
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  Pod bound = gang_pod("g", 0, 2, 1);
  bound.node_name = PooledString("n");
  see(bound);
  pass(kPatience);
  EXPECT_EQ(phase("g-0"), Phase::kBound);
  EXPECT_EQ(phase("g-1"), Phase::kHeld);
  step();
  EXPECT_EQ(idle_devices("n"), 7);
  pass(Millis(2'000));
  decide();
  EXPECT_EQ(where("g-1"), "n");
}

}  // namespace
}  // namespace ashlar::kube
