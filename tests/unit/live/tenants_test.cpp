// What one tenant can do to others: invented names, wrong wishes, and pods that come and go in thousands.
#include <malloc.h>

#include "engine/explain/explain.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class Tenants : public TrackerBench {
 protected:
  static Pod asking(Pod p, const std::string& resource, std::int64_t amount = 1) {
    p.requests.extended.push_back({PooledString(resource), amount});
    std::sort(p.requests.extended.begin(), p.requests.extended.end(),
              [](const Amount& a, const Amount& b) { return a.name < b.name; });
    return p;
  }
  static Node having(Node n, const std::string& resource, std::int64_t amount) {
    n.allocatable.extended.push_back({PooledString(resource), amount});
    return n;
  }
  static Pod within(Pod p, const std::string& label) { return with(std::move(p), "ashlar.dev/within", label); }
  void see_nodes(int count, const Labels& labels = {}) {
    for (int n = 0; n < count; ++n) see(node("n" + std::to_string(n), 8, labels));
  }
  bool has_said(const std::string& part) const {
    return std::any_of(said.begin(), said.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
  }
  std::vector<Remedy> remedies(const std::string& name) { return find_remedies(state, engine, record(name).job); }
};

// ---- names that no node has -----------------------------------------------------------------------------------------

TEST_F(Tenants, AResourceThatNoNodeHasIsInsufficientOnAllAndTheFirstNodeWithItTakesThePod) {
  see_nodes(4);
  see(asking(pod("p", 1), "example.com/foo"));
  step();
  EXPECT_EQ(verdict_of("p").reason, "Unschedulable");
  EXPECT_EQ(verdict_of("p").message.find("0/4 nodes are available: 4 Insufficient example.com/foo."), 0u)
      << verdict_of("p").message;
  EXPECT_TRUE(remedies("p").empty()) << "nodes like those that are there would not help";
  EXPECT_TRUE(tracker.names().find_resource(PooledString("example.com/foo")).is_none());
  see(having(node("with-foo", 8), "example.com/foo", 2));
  step();
  EXPECT_EQ(where("p"), "with-foo");
  EXPECT_EQ(state.cluster().free(tracker.names().find_resource(PooledString("example.com/foo")))[4], 1);
}

TEST_F(Tenants, AGangThatWaitsForAResourceStartsWithTheNodeThatBringsIt) {
  see_nodes(1);
  for (int i = 0; i < 2; ++i) see(asking(gang_pod("g", i, 2, 1), "example.com/foo"));
  step();
  see(having(node("with-foo", 8), "example.com/foo", 2));
  step();
  EXPECT_EQ(where("g-0"), "with-foo");
  EXPECT_EQ(where("g-1"), "with-foo");
}

TEST_F(Tenants, WhatABoundPodHoldsCountsWhenItsNodeComesToHaveIt) {
  see_nodes(1);
  Pod foreign = on(asking(pod("foreign", 1), "rdma/hca"), "n0");
  foreign.scheduler_name = PooledString("somebody-else");
  see(foreign);
  step();
  see(having(node("n0", 8), "rdma/hca", 1));  // its device plugin is back
  see(asking(pod("p", 1), "rdma/hca"));
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_EQ(idle_devices("n0"), 7);
  gone(foreign);
  step();
  EXPECT_EQ(where("p"), "n0");
}

TEST_F(Tenants, InventedResourcesTakeNoColumnFromOthers) {
  see_nodes(2);
  Pod inventor = pod("inventor", 0);
  for (int i = 0; i < 64; ++i) inventor = asking(std::move(inventor), "example.com/invented-" + std::to_string(i));
  see(inventor);
  step();
  see(having(node("with-rdma", 8), "rdma/hca", 1));
  see(asking(pod("p", 1), "rdma/hca"));
  step();
  EXPECT_EQ(where("p"), "with-rdma");
  EXPECT_EQ(record("inventor").hold, HoldReason::kNone);
  EXPECT_EQ(verdict_of("inventor").reason, "Unschedulable");
}

TEST_F(Tenants, InventedLevelsTakeNoLevelFromOthers) {
  see_nodes(2, {{PooledString("l/nvlink"), PooledString("a")}});
  for (int i = 0; i < 16; ++i) see(within(gang_pod("bogus" + std::to_string(i), 0, 1, 1), "bogus" + std::to_string(i)));
  step();
  for (int i = 0; i < 2; ++i) see(within(gang_pod("g", i, 2, 8), "l/nvlink"));
  step();
  EXPECT_EQ(where("g-0"), "n0");
  EXPECT_EQ(where("g-1"), "n1");
  EXPECT_EQ(tracker.names().levels().size(), 3u);
}

TEST_F(Tenants, AGangWhoseLabelNoNodeHasStartsWhenNodesBringIt) {
  see_nodes(2);
  for (int i = 0; i < 2; ++i) see(within(gang_pod("g", i, 2, 8), "l/nvlink"));
  step();
  EXPECT_EQ(due, (std::vector<std::string>{"g-0", "g-1"})) << "said at once, so that nodes are added";
  const ConditionText text = tracker.hold_condition(record("g-0"));
  EXPECT_EQ(text.reason, "Unschedulable");
  EXPECT_EQ(text.message,
            "0/2 nodes are available: gang g must stay within one domain of l/nvlink, but no node has that label.");
  see(node("a0", 8, {{PooledString("l/nvlink"), PooledString("a")}}));
  step();
  EXPECT_EQ(where("g-0"), "") << "one node has not room for both";
  see(node("a1", 8, {{PooledString("l/nvlink"), PooledString("a")}}));
  step();
  EXPECT_EQ(where("g-0"), "a0");
  EXPECT_EQ(where("g-1"), "a1");
}

TEST_F(Tenants, APreferenceForALabelThatNoNodeHasIsLookedAtWhenOneBringsIt) {
  see(node("small", 1));
  for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 8), "ashlar.dev/prefer", "l/nvlink"));
  step();
  for (const char* name : {"a", "b", "c"})
    see(node(name, 8, {{PooledString("l/nvlink"), PooledString(name == std::string("b") ? "1" : "2")}}));
  step();
  EXPECT_EQ(where("g-0"), "a");
  EXPECT_EQ(where("g-1"), "c");
}

TEST_F(Tenants, WhatNodesHaveBeyondTheColumnsIsSaidAndHeld) {
  see(asking(pod("early", 0), "example.com/r60"));
  step();
  Node n = node("n", 8);
  for (int i = 2; i <= 60; ++i) n = having(std::move(n), "example.com/r" + std::to_string(i), 1);
  see(n);
  see(asking(pod("late", 0), "example.com/r60"));
  see(asking(pod("fine", 0), "example.com/r59"));
  step();
  EXPECT_EQ(tracker.names().refused_resources(), std::vector<PooledString>{PooledString("example.com/r60")});
  EXPECT_TRUE(has_said("node n has example.com/r60, but all 64 resource columns are in use"));
  for (const char* name : {"early", "late"}) {
    EXPECT_EQ(record(name).hold, HoldReason::kMalformed) << name;
    EXPECT_EQ(tracker.hold_condition(record(name)).message,
              "Misconfigured: requests example.com/r60, but all 64 resource columns are in use");
  }
  EXPECT_EQ(where("fine"), "n");
}

// ---- rows are given back --------------------------------------------------------------------------------------------

class OneOffs : public Tenants {
 protected:
  static Pod picky(const std::string& name, const std::string& key, const std::string& value, std::int64_t gpus = 0) {
    PodRules rules;
    rules.has_required_affinity = true;
    rules.required_affinity.push_back({{{PooledString(key), SelectorOp::kIn, {PooledString(value)}}}, {}});
    return under(pod(name, gpus), rules);
  }
  /// Pods that come, are placed, and go; each anywhere but where a label of its own says.
  void come_and_go(int first, int count, bool are_alike) {
    std::vector<Pod> pods;
    for (int i = first; i < first + count; ++i) {
      PodRules rules;
      rules.has_required_affinity = true;
      const std::string value = are_alike ? "same" : "value-of-pod-" + std::to_string(i);
      rules.required_affinity.push_back(
          {{{PooledString("tenant/wish"), SelectorOp::kNotIn, {PooledString(value)}}}, {}});
      pods.push_back(under(pod("p" + std::to_string(i), 0), rules));
      if (!are_alike) pods.back().requests.memory = Bytes(1'000'000 + i);
    }
    for (const Pod& p : pods) see(p);
    decide();
    EXPECT_NE(where(pods.front().name.str()), "");
    for (Pod& p : pods) gone(std::move(p));
    decide();
    decide();  // what was given back is reported
    decide();  // the list of its events is not kept
  }
  void decide() {
    tracker.settle();
    plan = driver.step();
    tracker.note_taken();
  }
  void relabel(int nodes, const std::string& value) {
    for (int n = 0; n < nodes; ++n)
      see(node("n" + std::to_string(n), 8, {{PooledString("fleet/release"), PooledString(value)}}));
  }
  static std::size_t allocated() { return ::mallinfo2().uordblks; }
};

TEST_F(OneOffs, ARowIsUsedAgainForAnotherConstraintAndDemand) {
  see(node("a", 8, {{PooledString("zone"), PooledString("a")}}));
  see(node("b", 8, {{PooledString("zone"), PooledString("b")}}));
  see(picky("p", "zone", "a", 2));
  step();
  EXPECT_EQ(where("p"), "a");
  const ConstraintId constraint = record("p").constraint;
  const DemandId demand = record("p").demand;
  gone(picky("p", "zone", "a", 2));
  step();
  see(picky("q", "zone", "b", 7));
  step();
  EXPECT_EQ(record("q").constraint, constraint);
  EXPECT_EQ(record("q").demand, demand);
  EXPECT_EQ(where("q"), "b") << "views of the former constraint are not asked";
  EXPECT_EQ(idle_devices("b"), 1);
  see(picky("r", "zone", "b", 7));
  step();
  EXPECT_EQ(where("r"), "");
}

TEST_F(OneOffs, ARowInUseIsKept) {
  see_nodes(1);
  see(pod("p", 2));
  see(pod("q", 2));
  see(pod("big", 9));  // waits
  step();
  const DemandId demand = record("p").demand;
  gone(pod("p", 2));
  step();
  see(pod("other", 3));
  step();
  EXPECT_EQ(record("q").demand, demand);
  EXPECT_NE(record("other").demand, demand);
  EXPECT_EQ(tracker.translator().demand_count(), 3u);
  gone(pod("q", 2));
  gone(pod("other", 3));
  gone(pod("big", 9));
  step();
  EXPECT_EQ(tracker.translator().demand_count(), 0u);
}

TEST_F(OneOffs, ARowThatIsWantedAgainBeforeTheEngineHeardOfItsEndIsKept) {
  see_nodes(1);
  see(pod("p", 2));
  step();
  gone(pod("p", 2));
  see(pod("q", 2));
  step();
  step();
  EXPECT_EQ(where("q"), "n0");
  EXPECT_EQ(idle_devices("n0"), 6);
  EXPECT_EQ(tracker.translator().demand_count(), 1u);
}

TEST_F(OneOffs, APodThatIsHeldBeforeItsDemandIsUsedLeavesNoRow) {
  see(with(pod("p", 2), "ashlar.dev/duration", "soon"));
  step();
  EXPECT_EQ(record("p").hold, HoldReason::kMalformed);
  EXPECT_EQ(tracker.translator().demand_count(), 0u);
}

TEST_F(OneOffs, PodsBoundToNodesThatNeverComeLeaveNothing) {
  see(on(pod("p", 2), "ghost"));
  step();
  EXPECT_EQ(tracker.on_unknown_nodes_count(), 1u);
  gone(on(pod("p", 2), "ghost"));
  step();
  EXPECT_EQ(tracker.translator().demand_count(), 0u);
  see(pod("p", 2));
  see(node("ghost", 8));
  step();
  EXPECT_EQ(idle_devices("ghost"), 6) << "the new pod only";
}

TEST_F(OneOffs, ARelabellingLooksAtTheConstraintsInUseOnly) {
  constexpr int kNodes = 400;
  see_nodes(kNodes);
  relabel(kNodes, "0");
  see(picky("waits", "fleet/release", "never"));
  decide();
  const auto cost_of_relabelling = [&](const std::string& release) {
    const std::uint64_t before = state.cluster().evaluation_count();
    relabel(kNodes, release);
    decide();
    return state.cluster().evaluation_count() - before;
  };
  const std::uint64_t fresh = cost_of_relabelling("1");
  come_and_go(0, 1000, false);
  EXPECT_EQ(cost_of_relabelling("2"), fresh);
  EXPECT_LE(fresh, 2u * kNodes);
  const std::uint64_t helping = cost_of_relabelling("never");
  EXPECT_NE(where("waits"), "");
  EXPECT_GT(helping, 0u);
  EXPECT_LE(helping, 2u * kNodes);
}

TEST_F(OneOffs, EightThousandLeaveNoMemoryBehind) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "skipped, the sanitizer has an allocator of its own";
#endif
  constexpr int kNodes = 400, kWave = 1000;
  see_nodes(kNodes);
  for (int i = 0; i < 10'000; ++i) see(pod("runs-" + std::to_string(i), 0));
  come_and_go(0, kWave, true);  // the tables of pods, jobs and members have their size
  const std::size_t before = allocated();
  const std::size_t names = tracker.names().vocabulary();
  for (int wave = 0; wave < 8; ++wave) come_and_go(wave * kWave, kWave, false);
  EXPECT_LE(static_cast<double>(allocated()), 1.10 * static_cast<double>(before)) << allocated() << " after " << before;
  EXPECT_LE(tracker.names().vocabulary(), names + 256);
  EXPECT_EQ(tracker.translator().demand_count(), 1u);
  EXPECT_TRUE(state.is_consistent());
}

/// Each refuses pods of a label of its own, in a namespace of its own.
TEST_F(OneOffs, EightThousandThatRefuseCompanyLeaveNoMemoryBehind) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "skipped, the sanitizer has an allocator of its own";
#endif
  constexpr int kWave = 1000;
  see(node("a", 8, {{PooledString("zone"), PooledString("a")}}));
  for (int i = 0; i < 1000; ++i) see(pod("waits-" + std::to_string(i), 9));
  const auto refuse = [&](int first) {
    std::vector<Pod> pods;
    for (int i = first; i < first + kWave; ++i) {
      const PooledString own("own-" + std::to_string(i));
      PodAffinityTerm term{.selector = {.present = true, .match_labels = {{own, own}}, .expressions = {}},
                           .namespace_selector = {},
                           .namespaces = {},
                           .topology_key = PooledString("zone")};
      PodRules rules;
      rules.required_anti_affinity.push_back(std::move(term));
      pods.push_back(on(under(pod("p", 0, {}, own.str()), std::move(rules)), "a"));
      pods.back().requests = {};
      see(pods.back());
    }
    decide();
    for (Pod& p : pods) gone(std::move(p));
    pods.clear();
    for (int i = 0; i < 3; ++i) decide();
  };
  refuse(0);
  const std::size_t before = allocated();
  for (int wave = 1; wave < 9; ++wave) refuse(wave * kWave);
  EXPECT_LE(static_cast<double>(allocated()), 1.10 * static_cast<double>(before)) << allocated() << " after " << before;
}

/// On a small base it shows that the tables keep the size that the most pods at once gave them, about 1,100 bytes a
/// pod; those that come after add a fifth until the 17,000th, as tables fill up, and nothing from then on.
TEST_F(OneOffs, WhatRemainsIsOfTheMostThatWereThereAtOnce) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "skipped, the sanitizer has an allocator of its own";
#endif
  constexpr int kNodes = 400, kWave = 1000;
  see_nodes(kNodes);
  decide();
  const std::size_t before = allocated();
  come_and_go(0, kWave, false);
  const std::size_t after_one = allocated();
  // of it the late end, the groups of a gang and what they lack of a job, and the group of a member: 24; the PodGroup of
  // a pod within a gang, and what it holds of each GPU: 16; the capabilities and classes that it asks for, and the queue
  // that it is charged to: 56; its rules about other pods, and as which labels it is counted: 64; its volumes, and where
  // they can be used: 64; what it prefers of other pods, and its generation: 56; which of a gang the rules of a class
  // mean: 24; what a class needs of what queues share: 28; what a job says about being stopped, and since when it runs: 40;
  // whose it is, whether others are stopped for it, when it was placed and by when it leaves: 36
  EXPECT_LE(after_one, before + 1888u * kWave);
  for (int wave = 1; wave < 20; ++wave) come_and_go(wave * kWave, kWave, false);
  const std::size_t after_twenty = allocated();
  EXPECT_LE(static_cast<double>(after_twenty), 1.25 * static_cast<double>(after_one)) << after_twenty;
  for (int wave = 20; wave < 40; ++wave) come_and_go(wave * kWave, kWave, false);
  EXPECT_LE(static_cast<double>(allocated()), 1.02 * static_cast<double>(after_twenty)) << allocated();
}

TEST_F(OneOffs, NamesOfNodesThatWentAreGivenBack) {
  see_nodes(1);
  for (int i = 0; i < 5000; ++i) {
    const Node n = node("auto-" + std::to_string(i), 8,
                        {{PooledString("l/block"), PooledString("b" + std::to_string(i))},
                         {PooledString("gfd.timestamp"), PooledString(std::to_string(i))}});
    see(n);
    gone(n);
    if (i % 100 == 0) decide();
  }
  decide();
  EXPECT_LE(tracker.names().vocabulary(), 1500u);
  see(node("last", 8, {{PooledString("l/block"), PooledString("b-last")}}));
  step();
  const NodeId last = tracker.names().nodes.find(PooledString("last"));
  EXPECT_EQ(tracker.names().domain_name(LevelId(0u), state.cluster().facts(last).domains[0]), "b-last");
}

// ---- wishes of a gang -----------------------------------------------------------------------------------------------

class Settings : public Tenants {
 protected:
  Hold hold() { return hold_of("g-0"); }
};

TEST_F(Settings, AWrongSizeGoesWithThePodThatStatedIt) {
  see_nodes(2);
  see(gang_pod("g", 0, 2, 8));
  see(gang_pod("g", 1, 200, 8));
  step();
  EXPECT_EQ(hold().reason, HoldReason::kGroupRefused);
  EXPECT_EQ(hold().detail,
            "the pods of gang g have different values of ashlar.dev/gang-size: pod g-0 has 2, pod g-1 has 200; all "
            "must have the same");
  gone(gang_pod("g", 1, 200, 8));
  step();
  EXPECT_EQ(hold().detail, "gang g waits until 2 of its pods exist without scheduling gates");
  see(gang_pod("g", 1, 2, 8));
  step();
  EXPECT_EQ(where("g-0"), "n0");
  EXPECT_EQ(where("g-1"), "n1");
}

TEST_F(Settings, APodMayBeGivenTheRightSizeWhereItIs) {
  see_nodes(2);
  see(gang_pod("g", 0, 200, 8));
  see(gang_pod("g", 1, 200, 8));
  step();
  EXPECT_EQ(hold().reason, HoldReason::kMembersMissing);
  see(gang_pod("g", 0, 2, 8));
  see(gang_pod("g", 1, 2, 8));
  step();
  EXPECT_EQ(where("g-1"), "n1");
}

TEST_F(Settings, PodsThatJoinAGangThatRunsNeedNotStateItsSize) {
  see_nodes(3);
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
  step();
  see(gang_pod("g", 2, 3, 8));
  step();
  EXPECT_EQ(where("g-2"), "n2");
}

TEST_F(Settings, AWrongDomainGoesWithThePodThatNamedIt) {
  for (int n = 0; n < 2; ++n) see(node("n" + std::to_string(n), 8, {{PooledString("l/rack"), PooledString("r")}}));
  see(within(gang_pod("g", 0, 2, 8), "rock"));
  see(within(gang_pod("g", 1, 2, 8), "rack"));
  step();
  EXPECT_NE(hold().detail.find("pod g-0 has rock, pod g-1 has rack"), std::string::npos) << hold().detail;
  gone(within(gang_pod("g", 0, 2, 8), "rock"));
  see(within(gang_pod("g", 0, 2, 8), "l/rack"));  // the same level by its label
  step();
  EXPECT_EQ(where("g-0"), "n0");
  EXPECT_EQ(where("g-1"), "n1");
}

TEST_F(Settings, AWrongDurationGoesWithThePodThatStatedIt) {
  see_nodes(1);
  see(with(gang_pod("g", 0, 2, 8), "ashlar.dev/duration", "100h"));
  see(with(gang_pod("g", 1, 2, 8), "ashlar.dev/duration", "1h"));
  step();
  EXPECT_EQ(state.job(record("g-0").job).estimate.p50, Millis(360'000'000));
  gone(gang_pod("g", 0, 2, 8));
  see(with(gang_pod("g", 0, 2, 8), "ashlar.dev/duration", "1h"));
  step();
  EXPECT_EQ(state.job(record("g-0").job).estimate.p50, Millis(3'600'000));
  see(with(gang_pod("g", 1, 2, 8), "ashlar.dev/duration", "2h"));
  step();
  EXPECT_EQ(state.job(record("g-0").job).estimate.p50, Millis(7'200'000));
}

TEST_F(Tenants, WhatTheySayIsOneLineAndMovesNoCursor) {
  see_nodes(2);
  const std::string evil = "x\n\x1b[31mred\xc2\x9b" + std::string(100'000, 'y');
  see(with(pod("p", 1), "ashlar.dev/queue", evil));
  const std::string queue = hold_text(record("p"));
  EXPECT_EQ(queue.find("queue x  [31mred yyy"), 0u) << queue.substr(0, 100);
  EXPECT_LT(queue.size(), 3'000u);
  see(within(gang_pod("g", 0, 1, 1), evil));
  step();
  const std::string domain = tracker.hold_condition(record("g-0")).message;
  EXPECT_EQ(domain.find("0/2 nodes are available: gang g must stay within one domain of x  [31mred yyy"), 0u)
      << domain.substr(0, 100);
  EXPECT_LT(domain.size(), 3'000u);
  Pod named = with(pod("q", 1), "ashlar.dev/gang-size", "1");
  see(with(named, "ashlar.dev/gang", "a\x1b[2J"));
  EXPECT_EQ(hold_text(record("q")), "ashlar.dev/gang is not a valid name: it has control characters, or is too long");
  Pod bound = pod("b", 1);
  bound.annotations = with(bound, "ashlar.dev/cards", evil).labels;
  bound.node_name = PooledString("n0");
  see(bound);
  ASSERT_FALSE(said.empty());
  EXPECT_NE(said.back().find("'x  [31mred yyy"), std::string::npos) << said.back().substr(0, 200);
  EXPECT_LE(said.back().size(), kLogLineMax);
}

TEST_F(Tenants, TheWholeTreeIsNoQueueThatAPodMayName) {
  see_nodes(1);
  see(with(pod("p", 1), "ashlar.dev/queue", "root"));
  step();
  EXPECT_EQ(where("p"), "") << "it would be under no queue's limit";
  EXPECT_EQ(hold_text(record("p")), "queue root is not configured; `ashlar queue` lists the configured queues");
}

}  // namespace
}  // namespace ashlar::kube
