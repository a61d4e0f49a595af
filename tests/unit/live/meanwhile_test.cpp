// What changes while something else is under way: levels that are all taken, a PodGroup made anew under a gang that has
// begun, labels and neighbours of pods whose binding is not answered yet, pods that were first said to be of another
// gang.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

using Phase = PodRecord::Phase;

class Meanwhile : public TrackerBench {
 protected:
  Meanwhile() : TrackerBench(TrackerOptions{.queues = {{"red"}}}) {}
  static Pod member(int rank, const char* gang = "g") {
    return with(with(pod("g-" + std::to_string(rank), 8), "ashlar.dev/gang", gang), "ashlar.dev/gang-size", "2");
  }
  /// Every level but one is named by a gang of its own.
  void take_all_levels_but_one() {
    std::vector<KeyValue> labels;
    for (std::size_t l = 0; l + 1 < Topology::kLevelsMax; ++l)
      labels.push_back({PooledString("l/" + std::to_string(l)), PooledString("x")});
    see(node("labelled", 0, labels));
    for (std::size_t l = 0; l + 1 < Topology::kLevelsMax; ++l)
      see(with(with(with(pod("t" + std::to_string(l), 100), "ashlar.dev/gang", "t" + std::to_string(l)),
                    "ashlar.dev/gang-size", "1"),
               "ashlar.dev/within", "l/" + std::to_string(l)));
    step();
    ASSERT_EQ(tracker.names().levels().size(), Topology::kLevelsMax - 1);
  }
  void see_two_racks_of_one_node() {
    see(node("n1", 8, {{PooledString("l/rack"), PooledString("r1")}, {PooledString("l/zone"), PooledString("z")}}));
    see(node("n2", 8, {{PooledString("l/rack"), PooledString("r2")}, {PooledString("l/zone"), PooledString("z")}}));
  }
};

TEST_F(Meanwhile, TheLastLevelIsForTheHardWish) {
  take_all_levels_but_one();
  see_two_racks_of_one_node();
  for (int i = 0; i < 2; ++i) see(with(with(member(i), "ashlar.dev/within", "l/rack"), "ashlar.dev/prefer", "l/zone"));
  step();
  EXPECT_EQ(where("g-0"), "") << "no rack has room for both";
  EXPECT_EQ(where("g-1"), "");
  see(node("n3", 16, {{PooledString("l/rack"), PooledString("r3")}}));
  step();
  EXPECT_EQ(where("g-0"), "n3");
  EXPECT_EQ(where("g-1"), "n3");
}

TEST_F(Meanwhile, AHardWishThatComesLaterTakesTheLevelOfTheSoftOne) {
  take_all_levels_but_one();
  see_two_racks_of_one_node();
  see(with(member(0), "ashlar.dev/prefer", "l/zone"));
  step();
  ASSERT_EQ(tracker.names().levels().size(), Topology::kLevelsMax);
  for (int i = 0; i < 2; ++i) see(with(with(member(i), "ashlar.dev/within", "l/rack"), "ashlar.dev/prefer", "l/zone"));
  step();
  EXPECT_EQ(hold_of("g-0").detail, "");
  EXPECT_EQ(where("g-0"), "");
  see(node("n3", 16, {{PooledString("l/rack"), PooledString("r3")}}));
  step();
  EXPECT_EQ(where("g-0"), "n3");
  EXPECT_EQ(where("g-1"), "n3");
}

TEST_F(Meanwhile, AGangThatHadBegunUnderAnotherDomainKeepsToTheNewOneWhenItStartsAnew) {
  PodGroup group;
  group.ns = PooledString("ns");
  group.name = PooledString("g");
  group.uid = PooledString("first");
  group.min_count = 2;
  group.topology_key = PooledString("l/zone");
  see(group);
  const auto grouped = [](int i, int gpus) {
    Pod p = pod("g-" + std::to_string(i), gpus);
    p.group_name = PooledString("g");
    return p;
  };
  see_two_racks_of_one_node();
  for (int i = 0; i < 4; ++i) see(grouped(i, 8));
  step();
  ASSERT_EQ(where("g-0"), "n1");
  ASSERT_EQ(where("g-1"), "n2");
  gone(group);
  group.uid = PooledString("second");
  group.topology_key = PooledString("l/rack");
  see(group);
  step();
  gone(grouped(0, 8));
  gone(grouped(1, 8));
  step();
  EXPECT_EQ(where("g-2"), "") << "no rack has room for both";
  EXPECT_EQ(where("g-3"), "");
  see(node("n3", 16, {{PooledString("l/rack"), PooledString("r3")}}));
  step();
  EXPECT_EQ(where("g-2"), "n3");
  EXPECT_EQ(where("g-3"), "n3");
}

TEST_F(Meanwhile, AnAssumedPodThatWaitsAgainKnowsItsNewNeighbours) {
  is_answering = false;
  see(node("n0", 8));
  see(pod("web", 1, {{PooledString("app"), PooledString("web")}}));
  step();
  ASSERT_EQ(where("web"), "n0");
  PodRules rules;
  PodAffinityTerm term;
  term.selector.present = true;
  term.selector.match_labels = {{PooledString("app"), PooledString("web")}};
  term.topology_key = PooledString("kubernetes.io/hostname");
  rules.required_anti_affinity.push_back(term);
  Pod loner = pod("loner", 0);
  loner.scheduler_name = PooledString("default-scheduler");
  loner.rules = std::make_shared<const PodRules>(rules);
  loner.node_name = PooledString("n2");
  see(node("n2", 8, {{PooledString("kubernetes.io/hostname"), PooledString("n2")}}));
  see(loner);
  step();
  gone(node("n0", 8));
  step();
  EXPECT_EQ(where("web"), "") << "not beside the one that refuses it";
  see(node("n3", 8, {{PooledString("kubernetes.io/hostname"), PooledString("n3")}}));
  step();
  EXPECT_EQ(where("web"), "n3");
}

TEST_F(Meanwhile, WhatTheOwnerOfAnAssumedPodChangesCountsWhenItWaitsAgain) {
  is_answering = false;
  see(node("n0", 8));
  see(pod("lost", 1));
  see(pod("refused", 1));
  see(pod("bound", 1));
  step();
  ASSERT_EQ(where("lost"), "n0");
  for (const char* name : {"lost", "refused", "bound"}) see(with(pod(name, 1), "ashlar.dev/queue", "nosuch"));
  tracker.note_rejected(tracker.pods().find(PooledString("ns"), PooledString("refused")));
  EXPECT_EQ(record("refused").hold, HoldReason::kQueueUnknown);
  tracker.note_bound(tracker.pods().find(PooledString("ns"), PooledString("bound")), PooledString("n0"), {});
  EXPECT_EQ(record("bound").phase, Phase::kBound) << "what has begun stays";
  gone(node("n0", 8));
  EXPECT_EQ(record("lost").hold, HoldReason::kQueueUnknown);
  see(node("n1", 8));
  step();
  EXPECT_EQ(where("lost"), "");
  see(with(pod("lost", 1), "ashlar.dev/queue", "red"));
  step();
  EXPECT_EQ(where("lost"), "n1");
}

TEST_F(Meanwhile, WhatABoundMemberSaysOfItsGangCountsAsLongAsItIsThere) {
  see_two_racks_of_one_node();
  for (int i = 0; i < 3; ++i) see(with(member(i), "ashlar.dev/within", "l/zone"));
  step();
  ASSERT_EQ(where("g-0"), "n1");
  ASSERT_EQ(where("g-2"), "");
  for (const int i : {0, 2}) {
    Pod p = with(member(i), "ashlar.dev/within", "l/rack");
    if (i == 0) p.node_name = PooledString("n1");
    see(p);
  }
  step();
  EXPECT_EQ(hold_of("g-2").detail,
            "the pods of gang g have different values of ashlar.dev/within: pod g-0 has l/rack, pod g-1 has l/zone; "
            "all must have the same");
  Pod last = with(member(1), "ashlar.dev/within", "l/rack");
  last.node_name = PooledString("n2");
  see(last);
  step();
  EXPECT_EQ(hold_of("g-2").detail, "");
}

TEST_F(Meanwhile, WhoWaitedBeforeWeCameIsServedByAgeAndWhoComesLaterByArrival) {
  const auto aged = [&](const std::string& name, std::int64_t ago) {
    Pod p = pod(name, 8);
    p.created = time - Millis(ago);
    return p;
  };
  time += Millis(10);
  see(aged("a", 1'000));
  see(aged("b", 3'000));
  see(aged("c", 2'000));
  Pod g = with(with(aged("g-0", 2'500), "ashlar.dev/gang", "g"), "ashlar.dev/gang-size", "2");
  see(g);
  see(with(with(aged("g-1", 1'500), "ashlar.dev/gang", "g"), "ashlar.dev/gang-size", "2"));
  see(aged("later", -5'000));
  step();
  EXPECT_EQ(state.job(record("b").job).submitted, time - Millis(3'000));
  EXPECT_EQ(state.job(record("g-0").job).submitted, time - Millis(1'500)) << "complete with the last of them";
  EXPECT_EQ(state.job(record("later").job).submitted, time);
  see(node("n0", 8));
  step();
  EXPECT_EQ(where("b"), "n0");
  see(node("n1", 8));
  step();
  EXPECT_EQ(where("c"), "n1");
}

TEST_F(Meanwhile, APodWhoseGangIsCorrectedJoinsTheOtherOne) {
  see(node("n1", 16));
  see(member(0, "typo"));
  see(member(1));
  step();
  EXPECT_EQ(where("g-1"), "");
  see(member(0));
  step();
  EXPECT_EQ(where("g-0"), "n1");
  EXPECT_EQ(where("g-1"), "n1");
  EXPECT_EQ(tracker.gangs().find(PooledString("ns"), PooledString("typo"), GangKind::kLabelled), kNoGang);
}

TEST_F(Meanwhile, AStrangerOfAPodGroupHoldsItsGangWhereverItWasNominated) {
  see(node("n0", 8));
  see(node("n1", 16));
  PodGroup group;
  group.ns = PooledString("ns");
  group.name = PooledString("g");
  group.uid = PooledString("u");
  group.min_count = 1;
  see(group);
  Pod own = pod("own", 1);
  own.group_name = PooledString("g");
  Pod foreign_pod = pod("stranger", 1);
  foreign_pod.group_name = PooledString("g");
  foreign_pod.scheduler_name = PooledString("other");
  foreign_pod.nominated_node_name = PooledString("n0");
  see(foreign_pod);
  see(own);
  step();
  ASSERT_EQ(where("own"), "");
  gone(node("n0", 8));
  step();
  EXPECT_EQ(where("own"), "") << "it is still there";
  EXPECT_EQ(hold_of("own").detail, "pods of PodGroup g name another scheduler (other); all must name the same");
  gone(foreign_pod);
  step();
  EXPECT_EQ(where("own"), "n1");
}

}  // namespace
}  // namespace ashlar::kube
