// Gangs of several PodGroups: a leader and its workers start together, each group in a domain of its own, and whatever
// is missing or contradictory holds all of them.
#include <algorithm>

#include "live/track/hold_text.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class GangGroups : public TrackerBench {
 protected:
  using Settings = std::vector<std::pair<std::string, std::string>>;

  /// Two racks of two nodes with 8 devices each, in one block.
  void see_racks() {
    for (int n = 0; n < 4; ++n)
      see(node("n" + std::to_string(n), 8,
               {{PooledString("l/block"), PooledString("b")},
                {PooledString("l/rack"), PooledString("r" + std::to_string(n / 2))}}));
  }
  static PodGroup group(const std::string& name, int min_count, const Settings& settings) {
    PodGroup g = ClusterObjects::group(name, min_count);
    for (const auto& [key, value] : settings)
      g.annotations.emplace_back(PooledString("ashlar.dev/" + key), PooledString(value));
    std::sort(g.annotations.begin(), g.annotations.end(),
              [](const auto& a, const auto& b) { return a.key.view() < b.key.view(); });
    return g;
  }
  static PodGroup in_rack(PodGroup g) {
    g.topology_key = PooledString("l/rack");
    return g;
  }
  static Settings of_x(const std::string& rank = "", const std::string& size = "2") {
    Settings settings{{"gang", "x"}, {"gang-size", size}};
    if (!rank.empty()) settings.emplace_back("gang-rank", rank);
    return settings;
  }
  /// One leader with one device, two workers with 8 in one rack.
  void see_leader() {
    see(group("leader", 1, of_x("0")));
    see(member("leader", 0, 1));
  }
  void see_workers(int count = 2) {
    see(in_rack(group("workers", 2, of_x("1"))));
    for (int i = 0; i < count; ++i) see(member("workers", i, 8));
  }
  std::string held(const std::string& name) {
    const Hold hold = hold_of(name);
    return std::string(hold_reason_name(hold.reason)) + ": " + hold.detail;
  }
  GangSlot slot_of(const std::string& group) {
    return tracker.gangs().find(PooledString("ns"), PooledString(group), GangKind::kPodGroup);
  }
};

// ---- a gang that is whole -------------------------------------------------------------------------------------------

TEST_F(GangGroups, StartTogetherAsOneJobEachInItsDomain) {
  see_racks();
  see_leader();
  see_workers();
  step();
  EXPECT_EQ(bound(), 3);
  EXPECT_EQ(record("leader-0").job, record("workers-0").job);
  const std::vector<GangGroup>& groups = state.gang_spec(job_of("leader-0").spec).groups;
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0], (GangGroup{1, {}, {}})) << "the leader has rank 0";
  EXPECT_EQ(groups[1], (GangGroup{2, LevelId(1), {}}));
  EXPECT_EQ(where("workers-0")[1] / 2, where("workers-1")[1] / 2) << "nodes 0, 1 and 2, 3 are racks";
}

TEST_F(GangGroups, WaitAsAWholeUntilEachGroupHasRoom) {
  see_racks();
  see(on(pod("busy-0", 8), "n0"));
  see(on(pod("busy-2", 8), "n2"));
  see_leader();
  see_workers();
  step();
  EXPECT_EQ(bound(), 2) << "neither rack has two nodes free, so the leader waits too";
  EXPECT_NE(verdict_of("leader-0").message.find("Gang x of 3"), std::string::npos) << verdict_of("leader-0").message;
  gone(pod("busy-2", 8));
  step();
  EXPECT_EQ(bound(), 4);
  EXPECT_EQ(where("workers-0")[1] / 2, where("workers-1")[1] / 2);
}

TEST_F(GangGroups, ShareADomainWhereTheirPodGroupsSaySo) {
  see_racks();
  see(on(pod("busy", 8), "n0"));
  Settings a = of_x(), b = of_x();
  a.emplace_back("gang-within", "rack");
  b.emplace_back("gang-within", "l/rack");
  see(group("a", 1, a));
  see(group("b", 1, b));
  see(member("a", 0, 8));
  see(member("b", 0, 8));
  step();
  EXPECT_EQ(where("a-0")[1] / 2, '2' / 2);
  EXPECT_EQ(where("b-0")[1] / 2, '2' / 2);
  EXPECT_EQ(job_of("a-0").within, LevelId(1));
}

TEST_F(GangGroups, AreInTheOrderOfRanksThenOfNames) {
  see_racks();
  see(group("g10", 1, of_x("", "4")));
  see(group("g9", 2, of_x("", "4")));
  see(group("second", 3, of_x("1", "4")));
  see(group("first", 4, of_x("0", "4")));
  for (const auto& [name, size] : {std::pair("g10", 1), {"g9", 2}, {"second", 3}, {"first", 4}})
    for (int i = 0; i < size; ++i) see(member(name, i, 1));
  step();
  std::vector<std::uint32_t> minima;
  for (const GangGroup& g : state.gang_spec(job_of("first-0").spec).groups) minima.push_back(g.members_min);
  EXPECT_EQ(minima, (std::vector<std::uint32_t>{4, 3, 2, 1}));
  EXPECT_EQ(bound(), 10);
}

TEST_F(GangGroups, HaveSurplusInAnyGroup) {
  see_racks();
  see_leader();
  see_workers();
  see(member("leader", 1, 1));
  step();
  step();
  EXPECT_EQ(bound(), 4);
}

TEST_F(GangGroups, APodGroupWithoutTheAnnotationIsAGangByItself) {
  see_racks();
  see(group("alone", 2, {}));
  for (int i = 0; i < 2; ++i) see(member("alone", i, 8));
  step();
  EXPECT_EQ(bound(), 2);
  EXPECT_TRUE(job_of("alone-0").spec.is_none());
}

TEST_F(GangGroups, HaveTheHighestPriorityThatOneOfThemStates) {
  see_racks();
  PodGroup leader = group("leader", 1, of_x());
  leader.priority = 7;
  see(leader);
  see(member("leader", 0, 1));
  see_workers();
  step();
  EXPECT_EQ(job_of("workers-0").priority, 7);
}

/// Admission of Kubernetes 1.37 writes the priority 0 to a PodGroup without a class.
TEST_F(GangGroups, APriorityOfZeroIsOne) {
  see_racks();
  PodGroup low = group("low", 1, {});
  low.priority = 0;
  see(low);
  Pod pod_of_low = member("low", 0, 1), pod_of_old = member("old", 0, 1);
  pod_of_low.priority = pod_of_old.priority = 9;
  see(pod_of_low);
  see(group("old", 1, {}));
  see(pod_of_old);
  step();
  EXPECT_EQ(job_of("low-0").priority, 0);
  EXPECT_EQ(job_of("old-0").priority, 9) << "of a server that states none";
}

TEST_F(GangGroups, OneThatIsAddedBeforeItsPodsKeepsToItsDomain) {
  see(node("n0", 8, {{PooledString("l/rack"), PooledString("r0")}}));
  see(node("n1", 8, {{PooledString("l/rack"), PooledString("r1")}}));
  see(node("n2", 8, {{PooledString("l/rack"), PooledString("r2")}}));
  see(group("leader", 1, of_x("0", "1")));
  see(member("leader", 0, 1));
  step();
  ASSERT_EQ(bound(), 1);
  see(group("leader", 1, of_x("0", "2")));
  see(in_rack(group("workers", 2, of_x("1"))));
  step();
  EXPECT_EQ(held("leader-0"),
            "MembersMissing: PodGroup workers waits until 2 of its pods exist without scheduling gates")
      << "it takes no level yet, though a node has its label";
  for (int i = 0; i < 2; ++i) see(member("workers", i, 8));
  step();
  EXPECT_EQ(bound(), 1) << "no rack has two nodes";
  see(node("n3", 8, {{PooledString("l/rack"), PooledString("r1")}}));
  step();
  EXPECT_EQ(bound(), 3);
}

/// A PodGroup that comes first is added while a binding of the gang is under way: its job keeps its groups until then.
TEST_F(GangGroups, AreNamedAsTheEngineNumbersThem) {
  see_racks();
  see_leader();
  see_workers();
  step();
  ASSERT_EQ(bound(), 3);
  is_answering = false;
  see(member("leader", 1, 1));
  step();
  const std::string node = where("workers-1");
  gone(on(member("workers", 1, 8), node));
  see(on(pod("busy", 8), node));
  see(member("workers", 2, 8));
  step();
  const std::string named = "PodGroup workers needs one rack";
  EXPECT_NE(verdict_of("workers-2").message.find(named), std::string::npos) << verdict_of("workers-2").message;
  see(group("a", 1, of_x("0", "3")));
  see(group("leader", 1, of_x("0", "3")));
  see(in_rack(group("workers", 2, of_x("1", "3"))));
  see(member("a", 0, 1));
  step();
  EXPECT_EQ(record("leader-1").phase, PodRecord::Phase::kAssumed);
  EXPECT_EQ(tracker.gangs()[record("a-0").gang].groups.front(), slot_of("a"));
  EXPECT_NE(verdict_of("workers-2").message.find(named), std::string::npos) << verdict_of("workers-2").message;
}

// ---- what is missing ------------------------------------------------------------------------------------------------

TEST_F(GangGroups, ALoneGroupWaitsForTheOther) {
  see_racks();
  see_leader();
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(held("leader-0"),
            "MembersMissing: 1 of 2 groups of gang x are there (PodGroup leader); it waits for one more PodGroup with "
            "the annotation ashlar.dev/gang: x");
  EXPECT_EQ(tracker.hold_condition(tracker.gangs()[slot_of("leader")]).reason, kSchedulerError);
  see_workers();
  step();
  EXPECT_EQ(bound(), 3);
}

TEST_F(GangGroups, WaitForThePodsOfEachGroup) {
  see_racks();
  see_leader();
  see_workers(1);
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(held("leader-0"),
            "MembersMissing: PodGroup workers waits until 2 of its pods exist without scheduling gates");
  see(member("workers", 1, 8));
  step();
  EXPECT_EQ(bound(), 3);
}

TEST_F(GangGroups, PodsThatComeBeforeTheirPodGroupsJoinTheGang) {
  see_racks();
  see(member("leader", 0, 1));
  for (int i = 0; i < 2; ++i) see(member("workers", i, 8));
  step();
  EXPECT_EQ(
      held("leader-0"),
      "PodGroupMissing: PodGroup leader does not exist (yet): create it in namespace ns, or create the pods without "
      "spec.schedulingGroup");
  see(in_rack(group("workers", 2, of_x())));
  see(group("leader", 1, of_x()));
  step();
  EXPECT_EQ(bound(), 3);
  EXPECT_EQ(record("leader-0").job, record("workers-0").job);
}

TEST_F(GangGroups, ReportWhatHoldsThemOnEachPodGroup) {
  see_racks();
  see_leader();
  see_workers(1);
  step();
  EXPECT_TRUE(due_groups.empty()) << "its pods may still be created";
  time += kGangPatience;
  tracker.tick(time);
  EXPECT_EQ(due_groups, (std::vector<std::string>{"leader", "workers"}));
}

// ---- bad input ------------------------------------------------------------------------------------------------------

TEST_F(GangGroups, DifferentSizesHoldAllOfThem) {
  see_racks();
  see_workers();
  see(group("leader", 1, of_x("0", "3")));
  see(member("leader", 0, 1));
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(held("workers-0"),
            "GangHeld: the PodGroups of gang x have different values of ashlar.dev/gang-size: PodGroup leader has 3, "
            "PodGroup workers has 2; all must have the same");
  see(group("leader", 1, of_x("0")));
  step();
  EXPECT_EQ(bound(), 3);
}

TEST_F(GangGroups, DifferentDomainsHoldAllOfThem) {
  see_racks();
  Settings a = of_x(), b = of_x();
  a.emplace_back("gang-within", "rack");
  b.emplace_back("gang-within", "block");
  see(group("a", 1, a));
  see(group("b", 1, b));
  see(member("a", 0, 1));
  see(member("b", 0, 1));
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(held("b-0"),
            "GangHeld: the PodGroups of gang x have different values of ashlar.dev/gang-within: PodGroup a has rack, "
            "PodGroup b has block; all must have the same");
}

TEST_F(GangGroups, OneTooManyHoldsAllOfThem) {
  see_racks();
  see_leader();
  see_workers();
  see(group("other", 1, of_x("2")));
  see(member("other", 0, 1));
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(held("leader-0"),
            "GangHeld: gang x has 3 groups (PodGroups leader, workers, other), but ashlar.dev/gang-size is 2; delete "
            "the surplus ones, or correct the annotation on all of them");
  gone(group("other", 1, {}));
  gone(member("other", 0, 1));
  step();
  EXPECT_EQ(bound(), 3);
}

TEST_F(GangGroups, AnAnnotationThatCannotBeReadHoldsAllOfThemAndIsNamed) {
  const struct {
    Settings settings;
    std::string text;
  } cases[] = {
      {of_x("first"), "annotation ashlar.dev/gang-rank is 'first'; it must be a whole number from 0 to 1000000"},
      {of_x("-1"), "annotation ashlar.dev/gang-rank is '-1'; it must be a whole number from 0 to 1000000"},
      {of_x("0", "0"), "annotation ashlar.dev/gang-size is '0'; it must be a whole number from 1 to 4096"},
      {of_x("0", "4097"), "annotation ashlar.dev/gang-size is '4097'; it must be a whole number from 1 to 4096"},
      {of_x("0", "two"), "annotation ashlar.dev/gang-size is 'two'; it must be a whole number from 1 to 4096"},
      {{{"gang", "x"}}, "annotation ashlar.dev/gang-size is missing; state how many PodGroups gang x has"},
      {{{"gang", "x"}, {"gang-size", "2"}, {"gang-rnk", "0"}},
       "annotation ashlar.dev/gang-rnk is not a known key; did you mean \"ashlar.dev/gang-rank\"?"},
      {{{"gang-size", "2"}},
       "annotation ashlar.dev/gang-size needs ashlar.dev/gang; name the gang, or remove the annotation"},
      {{{"gang", ""}}, "annotation ashlar.dev/gang is empty; name the gang, or remove the annotation"},
      {{{"gang", "a/b"}, {"gang-size", "2"}}, "annotation ashlar.dev/gang is not a valid name: it has a slash"},
      {{{"gang", "x"}, {"gang-size", "2"}, {"gang-prefer", "rack"}},
       "annotation ashlar.dev/gang-prefer is not a known key"},
      {{{"gang", "x"}, {"gang-size", "2"}, {"prefer", "rack"}}, "annotation ashlar.dev/prefer belongs on the pods"},
      {{{"gang", "x"}, {"gang-size", "2"}, {"gang-within", std::string(318, 'r')}},
       "annotation ashlar.dev/gang-within is longer than a label key"},
      {{{"within", "rack"}},
       "annotation ashlar.dev/within belongs on the pods; for the PodGroup use spec.schedulingConstraints, for all "
       "groups "
       "of a gang ashlar.dev/gang-within"},
  };
  see_racks();
  see_workers();
  see(member("leader", 0, 1));
  for (const auto& [settings, text] : cases) {
    see(group("leader", 1, settings));
    step();
    EXPECT_EQ(bound(), 0) << text;
    EXPECT_EQ(held("leader-0"), "GangHeld: PodGroup leader: " + text);
  }
  see(group("leader", 1, of_x("0")));
  step();
  EXPECT_EQ(bound(), 3);
}

TEST_F(GangGroups, SettingsInTheWrongPlaceAreNotIgnored) {
  see_racks();
  PodGroup labelled = group("leader", 1, {});
  labelled.labels.emplace_back(PooledString("ashlar.dev/gang"), PooledString("x"));
  see(PodGroup(labelled));
  see(member("leader", 0, 1));
  Pod p = member("leader", 1, 1);
  p.annotations =
      std::make_shared<const Labels>(Labels{{PooledString("ashlar.dev/gang-within"), PooledString("rack")}});
  see(p);
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(held("leader-0"),
            "GangHeld: PodGroup leader: label ashlar.dev/gang of a PodGroup has no effect; write it as an annotation");
  see(group("leader", 1, {}));
  step();
  EXPECT_EQ(bound(), 1);
  EXPECT_EQ(hold_text(record("leader-1")), "ashlar.dev/gang-within is an annotation of PodGroups, not of pods");
}

TEST_F(GangGroups, ABasicPodGroupIsNoGroupOfAGang) {
  see_racks();
  see_workers();
  see(group("leader", 0, of_x("0")));
  see(member("leader", 0, 1));
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(held("workers-0"),
            "GangHeld: PodGroup leader of a gang of PodGroups has the policy basic; give it gang.minCount, or remove "
            "ashlar.dev/gang");
}

TEST_F(GangGroups, AnAbsurdMinimumHoldsAllOfThem) {
  see_racks();
  see_workers();
  see(group("leader", 2'000'000'000, of_x("0")));
  see(member("leader", 0, 1));
  step();
  EXPECT_NE(held("workers-0").find("minCount 2000000000; it must be at most 1048576"), std::string::npos)
      << held("workers-0");
}

// ---- changes --------------------------------------------------------------------------------------------------------

TEST_F(GangGroups, AGroupDeletedWhileTheGangWaitsHoldsTheRest) {
  see_racks();
  for (int n = 0; n < 4; ++n) see(on(pod("busy-" + std::to_string(n), 8), "n" + std::to_string(n)));
  see_leader();
  see_workers();
  step();
  EXPECT_FALSE(record("leader-0").job.is_none());
  gone(in_rack(group("workers", 2, {})));
  step();
  EXPECT_TRUE(record("leader-0").job.is_none());
  EXPECT_EQ(held("leader-0").substr(0, 33), "MembersMissing: 1 of 2 groups of ");
  EXPECT_EQ(
      held("workers-0"),
      "PodGroupMissing: PodGroup workers does not exist (yet): create it in namespace ns, or create the pods without "
      "spec.schedulingGroup");
  for (int n = 0; n < 4; ++n) gone(pod("busy-" + std::to_string(n), 8));
  step();
  EXPECT_EQ(bound(), 0);
  see_workers();
  step();
  EXPECT_EQ(bound(), 3);
}

TEST_F(GangGroups, AGroupDeletedWhileTheGangRunsLeavesTheRestRunningAndCounted) {
  see_racks();
  see_leader();
  see_workers();
  step();
  ASSERT_EQ(bound(), 3);
  const std::string place = where("workers-0");
  gone(in_rack(group("workers", 2, {})));
  step();
  EXPECT_EQ(bound(), 3);
  EXPECT_NE(record("leader-0").job, record("workers-0").job);
  EXPECT_EQ(idle_devices(place), 0) << "its pods are still counted";
  gone(member("leader", 0, 1));
  see(member("leader", 1, 1));
  step();
  EXPECT_EQ(hold_of("leader-1").reason, HoldReason::kMembersMissing) << "all pods are new: it starts again, whole";
  see_workers(0);
  step();
  EXPECT_EQ(bound(), 3) << "the group is back";
  EXPECT_EQ(record("leader-1").job, record("workers-0").job);
}

TEST_F(GangGroups, AMinimumThatChangesWhileTheGangWaits) {
  see_racks();
  see(on(pod("busy", 8), "n0"));
  see(on(pod("busier", 8), "n2"));
  see_leader();
  see_workers();
  step();
  EXPECT_EQ(bound(), 2);
  see(in_rack(group("workers", 1, of_x("1"))));
  step();
  EXPECT_EQ(bound(), 4) << "one worker is enough, the other finds no room in its rack";
  EXPECT_EQ(state.gang_spec(job_of("leader-0").spec).groups[1].members_min, 1u);
}

TEST_F(GangGroups, AMinimumThatGrowsBetweenBindingsIsWaitedFor) {
  see_racks();
  is_answering = false;
  see_leader();
  see_workers();
  step();
  const PodSlot leader = tracker.pods().find(PooledString("ns"), PooledString("leader-0"));
  const PodSlot worker = tracker.pods().find(PooledString("ns"), PooledString("workers-0"));
  see(in_rack(group("workers", 3, of_x("1"))));
  tracker.settle();
  EXPECT_TRUE(tracker.is_place_outdated(leader, &state)) << "two places for workers are too few now";
  tracker.note_bound(leader, PooledString(where("leader-0")), tracker.pods()[leader].devices);
  tracker.settle();
  EXPECT_FALSE(tracker.is_place_outdated(worker, &state)) << "what has begun goes on";
  tracker.choose_anew(worker);
  step();
  EXPECT_EQ(held("workers-0"),
            "MembersMissing: PodGroup workers waits until 3 of its pods exist without scheduling gates");
  EXPECT_EQ(bound(), 1);
  EXPECT_EQ(state.gang_spec(job_of("leader-0").spec).groups[1].members_min, 3u) << "its job has the new minimum";
  is_answering = true;
  see(member("workers", 2, 1));
  gone(member("workers", 1, 8));
  see(member("workers", 3, 1));
  step();
  EXPECT_EQ(bound(), 4);
}

TEST_F(GangGroups, ALateGroupOfARunningGangStartsWhole) {
  see_racks();
  see_leader();
  see_workers();
  step();
  ASSERT_EQ(bound(), 3);
  see(group("leader", 1, of_x("0", "3")));
  see(in_rack(group("workers", 2, of_x("1", "3"))));
  see(group("late", 2, of_x("2", "3")));
  see(member("late", 0, 8));
  step();
  EXPECT_EQ(bound(), 3);
  EXPECT_EQ(hold_of("late-0").reason, HoldReason::kMembersMissing);
  EXPECT_EQ(state.groups_of(record("leader-0").job)[1].placed, 2u) << "what runs is counted in its new job";
  see(member("late", 1, 8));
  step();
  EXPECT_EQ(bound(), 3) << "one node is free, and it needs two";
  see(node("n9", 8));
  step();
  EXPECT_EQ(bound(), 5);
  EXPECT_EQ(record("late-0").job, record("leader-0").job);
}

TEST_F(GangGroups, ALostMemberOfARunningGangIsReplacedAlone) {
  see_racks();
  see_leader();
  see_workers();
  step();
  const char rack = where("workers-0")[1] / 2;
  gone(member("workers", 0, 8));
  step();
  see(member("workers", 2, 8));
  step();
  EXPECT_EQ(bound(), 3);
  EXPECT_EQ(where("workers-2")[1] / 2, rack) << "in the domain of its group";
}

TEST_F(GangGroups, ABindingThatFailsHoldsTheRestTogether) {
  see_racks();
  is_answering = false;
  see_leader();
  see_workers();
  step();
  const PodSlot leader = tracker.pods().find(PooledString("ns"), PooledString("leader-0"));
  const PodSlot worker = tracker.pods().find(PooledString("ns"), PooledString("workers-1"));
  tracker.note_bound(leader, PooledString(where("leader-0")), tracker.pods()[leader].devices);
  const BindHold hold = tracker.note_bind_failed(worker, "no");
  step();
  EXPECT_EQ(bound(), 1);
  EXPECT_EQ(held("workers-0"), "BindFailed: gang x waits: pod workers-1 could not be bound: no");
  is_answering = true;
  tracker.end_bind_hold(hold);
  step();
  EXPECT_EQ(bound(), 3);
}

TEST_F(GangGroups, APodGroupThatNamesAnotherGangGoesThereWithItsPods) {
  see_racks();
  see_leader();
  see_workers();
  step();
  ASSERT_EQ(bound(), 3);
  see(group("leader", 1, {{"gang", "y"}, {"gang-size", "1"}}));
  step();
  EXPECT_NE(record("leader-0").job, record("workers-0").job);
  EXPECT_EQ(bound(), 3);
  see(group("leader", 1, {}));
  step();
  EXPECT_TRUE(job_of("leader-0").spec.is_none());
  EXPECT_EQ(tracker.gangs().find(PooledString("ns"), PooledString("y"), GangKind::kGroups), kNoGang);
}

TEST_F(GangGroups, NothingIsLeftOfThem) {
  see_racks();
  see_leader();
  see_workers();
  step();
  gone(group("leader", 1, {}));
  for (int i = 0; i < 2; ++i) gone(member("workers", i, 8));
  gone(member("leader", 0, 1));
  gone(group("workers", 2, {}));
  step();
  step();
  EXPECT_EQ(slot_of("leader"), kNoGang);
  EXPECT_EQ(tracker.gangs().find(PooledString("ns"), PooledString("x"), GangKind::kGroups), kNoGang);
  for (std::uint32_t row = 0; row < state.gangs().rows(); ++row)
    EXPECT_TRUE(state.gang_spec(GangSpecId(row)).groups.empty()) << "given back";
  for (int n = 0; n < 4; ++n) EXPECT_EQ(idle_devices("n" + std::to_string(n)), 8);
}

// ---- a restart ------------------------------------------------------------------------------------------------------

TEST_F(GangGroups, ARestartInTheMiddleCompletesTheGangInItsDomain) {
  see_racks();
  see(on(pod("busy", 8), "n0"));
  see_leader();
  see_workers(0);
  see(on(member("workers", 1, 8), "n2"));
  see(member("workers", 0, 8));
  step();
  EXPECT_EQ(bound(), 4);
  EXPECT_EQ(where("workers-0"), "n3") << "in the rack of the one that was bound before";
}

TEST_F(GangGroups, ARestartInTheMiddleHoldsWhatWasHeld) {
  see_racks();
  see_leader();
  see(on(member("workers", 1, 8), "n2"));
  step();
  EXPECT_EQ(bound(), 1) << "its PodGroup is not there";
  EXPECT_EQ(hold_of("leader-0").reason, HoldReason::kMembersMissing);
  see_workers(0);
  step();
  EXPECT_EQ(bound(), 1);
  EXPECT_EQ(record("leader-0").job, JobId::none());
  see(member("workers", 0, 8));
  step();
  EXPECT_EQ(bound(), 3);
}

TEST_F(GangGroups, TheOrderOfTheListMakesNoDifference) {
  std::vector<Workload> jobs;
  std::vector<GangSpec> specs;
  for (const bool is_reversed : {false, true}) {
    EventBuffer events(clock);
    Tracker other(TrackerOptions{.levels = {{PooledString("block"), PooledString("l/block")},
                                            {PooledString("rack"), PooledString("l/rack")}}},
                  events, {});
    other.open();
    std::vector<PodGroup> groups{group("leader", 1, of_x("0")), in_rack(group("workers", 2, of_x("1")))};
    std::vector<Pod> pods{member("leader", 0, 1), member("workers", 0, 8), member("workers", 1, 8)};
    if (is_reversed) std::reverse(groups.begin(), groups.end());
    if (is_reversed) std::reverse(pods.begin(), pods.end());
    for (PodGroup& g : groups) other.take(Change<PodGroup>{Change<PodGroup>::Kind::kModified, std::move(g)});
    for (Pod& p : pods) other.take(Change<Pod>{Change<Pod>::Kind::kModified, std::move(p)});
    other.settle();
    std::vector<Event> taken;
    events.take(taken);
    for (const Event& event : taken) {
      if (const auto* submitted = std::get_if<Submitted>(&event.body)) jobs.push_back(submitted->workload);
      if (const auto* defined = std::get_if<GangSpecDefined>(&event.body)) specs.push_back(defined->spec);
    }
  }
  ASSERT_EQ(jobs.size(), 2u);
  ASSERT_EQ(specs.size(), 2u);
  EXPECT_EQ(specs[0], specs[1]);
  for (std::size_t m = 0; m < 3; ++m) EXPECT_EQ(jobs[0].members[m].group, jobs[1].members[m].group);
}

}  // namespace
}  // namespace ashlar::kube
