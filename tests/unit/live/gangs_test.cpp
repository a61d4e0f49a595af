// When gangs are complete, what the engine hears of them, and what becomes of them when pods, nodes and bindings fail.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class Gangs : public TrackerBench {
 protected:
  void see_racks(int racks, int nodes_per_rack) {
    for (int r = 0; r < racks; ++r)
      for (int n = 0; n < nodes_per_rack; ++n)
        see(node("r" + std::to_string(r) + "n" + std::to_string(n), 8,
                 {{PooledString("l/block"), PooledString("b")},
                  {PooledString("l/rack"), PooledString("r" + std::to_string(r))}}));
  }
};

TEST_F(Gangs, AnIncompleteGangIsNotShownToTheEngine) {
  see_racks(1, 4);
  for (int i = 0; i < 3; ++i) see(gang_pod("g", i, 4, 8));
  step();
  EXPECT_EQ(state.backlog_size(), 0u);
  see(gang_pod("g", 3, 4, 8));
  step();
  EXPECT_EQ(bound(), 4);
}

TEST_F(Gangs, AnIncompleteGangSaysSoAfterFiveSeconds) {
  see(gang_pod("g", 0, 2, 1));
  step();
  EXPECT_EQ(tracker.tick(time), Millis(1'005'000));
  EXPECT_TRUE(due.empty());
  time = Millis(1'005'000);
  tracker.tick(time);
  EXPECT_EQ(due, std::vector<std::string>{"g-0"});
  EXPECT_EQ(tracker.gang_hold(tracker.gangs()[record("g-0").gang]).detail,
            "gang g waits until 2 of its pods exist without scheduling gates");
}

TEST_F(Gangs, MembersAreInRankOrder) {
  EXPECT_TRUE(is_name_before("w-2", "w-10"));
  EXPECT_TRUE(is_name_before("a-10", "b-2"));
  EXPECT_FALSE(is_name_before("w-2", "w-2"));
  EXPECT_TRUE(is_name_before("w-02", "w-2"));
  for (const int i : {10, 2, 1}) see(gang_pod("g", i, 3, 1));
  step();
  std::vector<std::string> order;
  state.each_member(record("g-1").job, [&](MemberId m, const Member&) {
    order.push_back(tracker.pods()[tracker.pods().of_member(m)].name.str());
  });
  EXPECT_EQ(order, (std::vector<std::string>{"g-1", "g-2", "g-10"}));
}

TEST_F(Gangs, WithinKeepsAGangInOneRack) {
  see_racks(2, 4);
  see(pod("filler", 8));
  step();
  for (int i = 0; i < 4; ++i) {
    Pod p = gang_pod("g", i, 4, 8);
    Labels labels = *p.labels;
    labels.push_back({PooledString("ashlar.dev/within"), PooledString("rack")});
    p.labels = std::make_shared<const Labels>(labels);
    see(p);
  }
  step();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(where("g-" + std::to_string(i)).substr(0, 2), "r1");
}

TEST_F(Gangs, APodGroupMustExistBeforeItsPodsCount) {
  see_racks(1, 2);
  see(member("pg", 0, 8));
  see(member("pg", 1, 8));
  step();
  EXPECT_EQ(bound(), 0);
  see(group("pg", 2));
  step();
  EXPECT_EQ(bound(), 2);
  step();
  EXPECT_EQ(due_groups, std::vector<std::string>{"pg"}) << "its condition becomes True";
}

TEST_F(Gangs, ATopologyKeyThatIsNoLevelBecomesOne) {
  for (int i = 0; i < 4; ++i)
    see(node("n" + std::to_string(i), 8, {{PooledString("example.com/switch"), PooledString(i < 2 ? "s0" : "s1")}}));
  see(pod("filler", 8));
  step();
  see(group("pg", 2, "example.com/switch"));
  see(member("pg", 0, 8));
  see(member("pg", 1, 8));
  step();
  EXPECT_EQ(where("pg-0").substr(0, 2) + where("pg-1").substr(0, 2), "n2n3");
}

TEST_F(Gangs, ABasicPodGroupIsPlacedOneByOne) {
  see_racks(1, 1);
  see(group("pg", 0));
  see(member("pg", 0, 8));
  see(member("pg", 1, 8));
  step();
  EXPECT_EQ(bound(), 1);
}

TEST_F(Gangs, ARestartInTheMiddleCompletesTheGangInItsRack) {
  see_racks(3, 2);
  Pod first = gang_pod("g", 0, 2, 8);
  Labels labels = *first.labels;
  labels.push_back({PooledString("ashlar.dev/within"), PooledString("rack")});
  first.labels = std::make_shared<const Labels>(labels);
  Pod second = gang_pod("g", 1, 2, 8);
  second.labels = first.labels;
  first.node_name = PooledString("r2n1");
  see(first);
  see(second);
  step();
  EXPECT_EQ(where("g-1"), "r2n0");
}

TEST_F(Gangs, AMemberWhoseBindingFailsIsHeldForTheSameDomain) {
  see_racks(2, 2);
  is_answering = false;
  for (int i = 0; i < 2; ++i) {
    Pod p = gang_pod("g", i, 2, 8);
    Labels labels = *p.labels;
    labels.push_back({PooledString("ashlar.dev/within"), PooledString("rack")});
    p.labels = std::make_shared<const Labels>(labels);
    see(p);
  }
  step();
  const PodSlot kept = tracker.pods().find(PooledString("ns"), PooledString("g-0")),
                lost = tracker.pods().find(PooledString("ns"), PooledString("g-1"));
  const std::string rack = where("g-0").substr(0, 2);
  tracker.note_bound(kept, PooledString(where("g-0")), {});
  tracker.note_rejected(lost);
  see(pod("thief", 8));  // arrives while the member waits; it may not push the gang out of its rack
  step();
  EXPECT_EQ(where("g-1").substr(0, 2), rack);
}

TEST_F(Gangs, ALostMemberIsReplacedBesideTheSurvivors) {
  see_racks(2, 3);
  for (int i = 0; i < 2; ++i) {
    Pod p = gang_pod("g", i, 2, 8);
    Labels labels = *p.labels;
    labels.push_back({PooledString("ashlar.dev/within"), PooledString("rack")});
    p.labels = std::make_shared<const Labels>(labels);
    see(p);
  }
  step();
  ASSERT_EQ(bound(), 2);
  const std::string rack = where("g-0").substr(0, 2);
  Pod dead = gang_pod("g", 1, 2, 8);
  gone(dead);
  Pod fresh = gang_pod("g", 7, 2, 8);
  Labels labels = *fresh.labels;
  labels.push_back({PooledString("ashlar.dev/within"), PooledString("rack")});
  fresh.labels = std::make_shared<const Labels>(labels);
  see(fresh);
  step();
  EXPECT_EQ(where("g-7").substr(0, 2), rack);
}

TEST_F(Gangs, ANodeThatGoesFreesWhatItsPodsHeld) {
  see_racks(1, 2);
  see(pod("p", 8));
  step();
  const std::string on = where("p");
  gone(node(on, 8));
  step();
  EXPECT_EQ(record("p").phase, PodRecord::Phase::kOnUnknownNode);
  EXPECT_EQ(state.cluster().live_count(), 1u);
  gone(pod("p", 8));
  step();
  EXPECT_EQ(tracker.pods().size(), 0u);
}

TEST_F(Gangs, ANodeThatGoesWhileABindingIsUnderWay) {
  see_racks(1, 2);
  is_answering = false;
  see(pod("p", 8));
  step();
  const std::string first = where("p");
  const std::uint32_t turn = record("p").bind_attempt;
  gone(node(first, 8));
  step();
  EXPECT_NE(where("p"), first);
  EXPECT_NE(where("p"), "");
  EXPECT_GT(record("p").bind_attempt, turn);
  // The first binding had gone through after all: the pod is where the server says, and the second place is free again.
  const std::string second = where("p");
  tracker.note_bound(tracker.pods().find(PooledString("ns"), PooledString("p")), PooledString(first), {});
  step();
  EXPECT_EQ(record("p").phase, PodRecord::Phase::kOnUnknownNode);
  EXPECT_EQ(idle_devices(second), 8);
}

TEST_F(Gangs, AMemberWithAFieldThatIsNotEvaluatedHoldsTheWholeGang) {
  see_racks(1, 2);
  see(gang_pod("g", 0, 2, 8));
  Pod bad = gang_pod("g", 1, 2, 8);
  PodRules rules;
  rules.unsupported = PooledString("spec.resourceClaims");
  bad.rules = std::make_shared<const PodRules>(rules);
  see(bad);
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(due, std::vector<std::string>{"g-1"});
  EXPECT_EQ(tracker.gang_hold(tracker.gangs()[record("g-0").gang]).detail.find("pod g-1 of the gang cannot be placed"),
            0u);
}

TEST_F(Gangs, ASizeIsAWholeNumberAndANameHasNoSlash) {
  for (const char* size : {"4x", "99999999999", "0", "100001", "-1", "1.5"}) {
    see(pod("p", 1,
            {{PooledString("ashlar.dev/gang"), PooledString("g")},
             {PooledString("ashlar.dev/gang-size"), PooledString(size)}}));
    EXPECT_EQ(record("p").hold, HoldReason::kMalformed) << size;
    EXPECT_EQ(hold_text(record("p")),
              "ashlar.dev/gang-size is '" + std::string(size) + "'; it must be a whole number from 1 to 100000");
  }
  see(pod("p", 1,
          {{PooledString("ashlar.dev/gang"), PooledString("g")},
           {PooledString("ashlar.dev/gang-size"), PooledString(std::string(250'000, '9'))}}));
  EXPECT_EQ(hold_text(record("p")),
            "ashlar.dev/gang-size is '" + std::string(64, '9') + "'; it must be a whole number from 1 to 100000");
  see(pod("q", 1,
          {{PooledString("ashlar.dev/gang"), PooledString("pod/other")},
           {PooledString("ashlar.dev/gang-size"), PooledString("2")}}));
  EXPECT_EQ(hold_text(record("q")), "ashlar.dev/gang is not a valid name: it has a slash")
      << "so are pods with a wish of their own kept apart";
}

TEST_F(Gangs, AP90StandsBesideTheDurationOrForBoth) {
  see_racks(1, 2);
  constexpr const char* kMedian = "ashlar.dev/duration";
  constexpr const char* kLate = "ashlar.dev/duration-p90";
  const auto estimate_of = [&](const std::string& name) { return state.job(record(name).job).estimate; };
  see(with(with(pod("both", 1), kMedian, "1h"), kLate, "3h"));
  see(with(pod("late", 1), kLate, "3h"));
  see(with(pod("median", 1), kMedian, "1h"));
  see(with(with(gang_pod("g", 0, 2, 1), kMedian, "1h"), kLate, "2h"));
  see(with(gang_pod("g", 1, 2, 1), kMedian, "90m"));
  step();
  EXPECT_EQ(estimate_of("both"), (Estimate{Millis(3'600'000), Millis(10'800'000)}));
  EXPECT_EQ(estimate_of("late"), (Estimate{Millis(10'800'000), Millis(10'800'000)}));
  EXPECT_EQ(estimate_of("median"), (Estimate{Millis(3'600'000), Millis(3'600'000)}));
  EXPECT_EQ(estimate_of("g-0"), (Estimate{Millis(5'400'000), Millis(7'200'000)})) << "the longest of its pods";
  see(with(with(pod("less", 1), kMedian, "1h"), kLate, "30m"));
  EXPECT_EQ(record("less").hold, HoldReason::kMalformed);
  EXPECT_EQ(hold_text(record("less")), "ashlar.dev/duration-p90: 30m00s is less than the 1h00m of ashlar.dev/duration");
  see(with(pod("odd", 1), kLate, "soon"));
  EXPECT_EQ(hold_text(record("odd")).substr(0, 32), "ashlar.dev/duration-p90: \"soon\" ");
}

TEST_F(Gangs, AKeyThatIsNearlyAWishIsNotOverlooked) {
  see(node("n0", 8, {{PooledString("l/rack"), PooledString("r0")}}));
  const std::pair<const char*, const char*> cases[] = {
      {"withn", "within"},   {"gangs", "gang"},  {"gangsize", "gang-size"}, {"gang-sized", "gang-size"},
      {"prefers", "prefer"}, {"Queue", "queue"}, {"duraton", "duration"},   {"gpumemory", "gpu-memory"}};
  for (const auto& [typed, meant] : cases) {
    const std::string key = "ashlar.dev/" + std::string(typed);
    see(pod(typed, 1, {{PooledString(key), PooledString("rack")}}));
    EXPECT_EQ(hold_text(record(typed)), key + " is not a known key; did you mean \"ashlar.dev/" + meant + "\"?");
    EXPECT_EQ(record(typed).hold, HoldReason::kMalformed) << typed;
  }
  see(pod("sized", 1,
          {{PooledString("ashlar.dev/gang"), PooledString("g")},
           {PooledString("ashlar.dev/gang-sise"), PooledString("2")}}));
  EXPECT_EQ(hold_text(record("sized")),
            "ashlar.dev/gang-sise is not a known key; did you mean \"ashlar.dev/gang-size\"?")
      << "which says more than that the size is missing";
  Pod noted = pod("annotated", 1);
  noted.annotations =
      std::make_shared<const Labels>(Labels{{PooledString("ashlar.dev/with-in"), PooledString("rack")}});
  see(noted);
  EXPECT_EQ(record("annotated").hold, HoldReason::kMalformed);
  see(pod("withn", 1, {{PooledString("ashlar.dev/within"), PooledString("rack")}}));
  step();
  EXPECT_EQ(where("withn"), "n0") << "once corrected it is placed";
}

TEST_F(Gangs, AMemberWithAMistypedKeyIsNamedByItsGang) {
  see(node("n0", 8));
  see(gang_pod("g", 0, 2, 1));
  Pod mistyped = gang_pod("g", 1, 2, 1);
  Labels labels = *mistyped.labels;
  labels.push_back({PooledString("ashlar.dev/qeue"), PooledString("red")});
  mistyped.labels = std::make_shared<const Labels>(labels);
  see(mistyped);
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(tracker.gang_hold(tracker.gangs()[record("g-0").gang]).detail,
            "pod g-1 of the gang cannot be placed: ashlar.dev/qeue is not a known key; did you mean "
            "\"ashlar.dev/queue\"?");
  see(gang_pod("g", 1, 2, 1));
  step();
  EXPECT_EQ(bound(), 2);
}

TEST_F(Gangs, AShareAskedForByALabelIsNoShare) {
  see(node("n0", 8));
  see(pod("p", 0, {{PooledString("ashlar.dev/gpu-milli"), PooledString("500")}}));
  EXPECT_EQ(hold_text(record("p")),
            "ashlar.dev/gpu-milli is a resource, not a label: write it under resources.limits of a container");
  see(pod("q", 0, {{PooledString("ashlar.dev/gpu-memory"), PooledString("10Gi")}}));
  EXPECT_EQ(
      hold_text(record("q")),
      "requests ashlar.dev/gpu-memory but no GPU; add nvidia.com/gpu or ashlar.dev/gpu-milli to resources.limits");
}

TEST_F(Gangs, OfThousandsOfOwnKeysAFewAreLookedAt) {
  see(node("n0", 8));
  Labels many;
  for (int i = 0; i < 32; ++i)
    many.push_back({PooledString("ashlar.dev/a" + std::to_string(100'000 + i)), PooledString("x")});
  Labels few(many.begin(), many.end() - 1);
  many.push_back({PooledString("ashlar.dev/withn"), PooledString("rack")});
  few.push_back({PooledString("ashlar.dev/withn"), PooledString("rack")});
  see(pod("many", 1, many));
  see(pod("few", 1, few));
  step();
  EXPECT_EQ(where("many"), "n0");
  EXPECT_EQ(record("few").hold, HoldReason::kMalformed);
}

TEST_F(Gangs, KeysThatAreLikeNoWishMeanNothing) {
  see(node("n0", 8));
  for (const char* key :
       {"ashlar.dev/team", "ashlar.dev/name", "ashlar.dev/cards", "ashlar.dev/", "example.com/withn", "withn"})
    see(pod(key, 1, {{PooledString(key), PooledString("x")}}));
  step();
  EXPECT_EQ(bound(), 6);
}

TEST_F(Gangs, AMalformedSizeIsSaid) {
  see(pod("p", 1,
          {{PooledString("ashlar.dev/gang"), PooledString("g")},
           {PooledString("ashlar.dev/gang-size"), PooledString("many")}}));
  EXPECT_EQ(record("p").hold, HoldReason::kMalformed);
  EXPECT_EQ(hold_text(record("p")), "ashlar.dev/gang-size is 'many'; it must be a whole number from 1 to 100000");
}

TEST_F(Gangs, ASizeWithoutAGangIsSaid) {
  see(node("n0", 8));
  see(pod("p", 1, {{PooledString("ashlar.dev/gang-size"), PooledString("3")}}));
  see(pod("q", 1,
          {{PooledString("ashlar.dev/gang"), PooledString("")},
           {PooledString("ashlar.dev/gang-size"), PooledString("3")}}));
  step();
  for (const char* name : {"p", "q"}) {
    EXPECT_EQ(where(name), "") << name;
    EXPECT_EQ(record(name).hold, HoldReason::kMalformed) << name;
    EXPECT_EQ(hold_text(record(name)),
              "has ashlar.dev/gang-size but not ashlar.dev/gang; name the gang whose pods start together")
        << name;
  }
}

TEST_F(Gangs, WithinBindsAPodWithoutAGangToo) {
  see(node("without", 8));
  see(pod("p", 8, {{PooledString("ashlar.dev/within"), PooledString("l/nosuch")}}));
  see(pod("q", 8, {{PooledString("ashlar.dev/within"), PooledString("rack")}}));
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_EQ(where("q"), "") << "its node has no rack";
  const ConditionText text = tracker.hold_condition(record("p"));
  EXPECT_EQ(text.reason, "Unschedulable");
  EXPECT_EQ(text.message,
            "0/1 nodes are available: pod p must stay within one domain of l/nosuch, but no node has that label.");
  see_racks(1, 1);
  see(node("with", 8, {{PooledString("l/nosuch"), PooledString("a")}}));
  step();
  EXPECT_EQ(where("p"), "with");
  EXPECT_EQ(where("q"), "r0n0");
}

TEST_F(Gangs, RowsAreUsedAgainOnlyAfterTheEngineHasSeenTheirEnd) {
  see_racks(1, 1);
  see(pod("p", 1));
  step();
  const JobId job = record("p").job;
  gone(pod("p", 1));
  see(pod("q", 1));
  EXPECT_NE(record("q").job, job);
  step();
  see(pod("r", 1));
  EXPECT_EQ(record("r").job, job);
}

TEST_F(Gangs, TheTextOfAGangThatDoesNotFitNamesTheBestRack) {
  see_racks(2, 2);
  for (int i = 0; i < 3; ++i) {
    Pod p = gang_pod("g", i, 3, 8);
    Labels labels = *p.labels;
    labels.push_back({PooledString("ashlar.dev/within"), PooledString("rack")});
    p.labels = std::make_shared<const Labels>(labels);
    see(p);
  }
  step();
  const JobId job = record("g-0").job;
  const ConditionText text = verdict_text({tracker.tables(), state}, job, engine.verdict_of(job));
  EXPECT_EQ(text.reason, "Unschedulable");
  EXPECT_NE(text.message.find("0/4 nodes are available"), std::string::npos) << text.message;
  EXPECT_NE(text.message.find("the best rack (r0) has capacity for 2 of 3 members"), std::string::npos) << text.message;
}

TEST_F(Gangs, TheTextOfAMemberThatWasReplacedNamesTheRackOfTheOthers) {
  see_racks(2, 2);
  const auto member_of = [](const std::string& name) {
    Pod p = with(gang_pod("g", 0, 2, 8), "ashlar.dev/within", "rack");
    p.name = PooledString(name);
    p.uid = PooledString("uid-" + name);
    return p;
  };
  see(member_of("g-0"));
  see(member_of("g-1"));
  step();
  const std::string other = where("g-1");
  gone(on(member_of("g-1"), other));
  see(on(pod("taker", 8), other));
  see(member_of("g-2"));
  step();
  const JobId job = record("g-2").job;
  const std::string text = reason_text({tracker.tables(), state}, job, engine.verdict_of(job).reasons.front());
  EXPECT_TRUE(text.starts_with("its rack (")) << text;
  EXPECT_TRUE(text.ends_with("has capacity for 0 of 1 member")) << text;
}

}  // namespace
}  // namespace ashlar::kube
