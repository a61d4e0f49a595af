// What becomes of a gang when its PodGroup, its pods' wishes or what they belong to change; and what holds it, in which
// words.
#include "live/track/nodes/levels.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class GangChanges : public TrackerBench {
 protected:
  GangChanges() : GangChanges({}) {}
  explicit GangChanges(std::vector<std::string> scheduler_names)
      : TrackerBench(TrackerOptions{.scheduler_names = scheduler_names.empty() ? std::vector<std::string>{"ashlar"}
                                                                               : std::move(scheduler_names),
                                    .levels = {{PooledString("block"), PooledString("l/block")},
                                               {PooledString("rack"), PooledString("l/rack")}},
                                    .queues = {{"red"}, {"blue"}}}) {}
  void see_nodes(int count) {
    for (int n = 0; n < count; ++n)
      see(node("n" + std::to_string(n), 8,
               {{PooledString("l/block"), PooledString("b")}, {PooledString("l/rack"), PooledString("r")}}));
  }
  static PodGroup group(int min_count, const std::string& uid = "uid-pg") {
    PodGroup g = ClusterObjects::group("pg", min_count);
    g.uid = PooledString(uid);
    return g;
  }
  static PodGroup told(PodGroup g) {
    g.scheduled.status = ConditionStatus::kTrue;
    return g;
  }
  static Pod grouped(int index, std::int64_t gpus = 8) { return member("pg", index, gpus); }
};

// ---- levels beyond the limit ----------------------------------------------------------------------------------------

class LevelLimit : public GangChanges {
 protected:
  static Pod filler(int i) {
    return with(gang_pod("filler" + std::to_string(i), 0, 2, 1), "ashlar.dev/within", "l/level" + std::to_string(i));
  }
  /// Two levels are configured, fourteen more are labels of a node that gangs name. The node has a label besides, and
  /// no devices.
  void take_all_levels() {
    Labels labels{{PooledString("l/switch"), PooledString("s")}};
    for (int i = 0; i < 14; ++i) labels.push_back({PooledString("l/level" + std::to_string(i)), PooledString("d")});
    see(node("labelled", 0, std::move(labels)));
    for (int i = 0; i < 14; ++i) see(filler(i));
    step();
    ASSERT_EQ(tracker.names().levels().size(), 16u);
  }
};

TEST_F(LevelLimit, AHardWishForOneLevelTooManyHoldsTheGang) {
  see_nodes(2);
  take_all_levels();
  for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 8), "ashlar.dev/within", "l/switch"));
  step();
  EXPECT_EQ(bound(), 0);
  const ConditionText text = tracker.hold_condition(record("g-0"));
  EXPECT_EQ(text.reason, "SchedulerError");
  EXPECT_NE(text.message.find("l/switch"), std::string::npos) << text.message;
  EXPECT_NE(text.message.find("16"), std::string::npos) << text.message;
}

TEST_F(LevelLimit, ATopologyKeyThatIsOneLevelTooManyHoldsTheGang) {
  see_nodes(2);
  take_all_levels();
  PodGroup g = group(2);
  g.topology_key = PooledString("l/switch");
  see(g);
  for (int i = 0; i < 2; ++i) see(grouped(i));
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(tracker.hold_condition(tracker.gangs()[record("pg-0").gang]).reason, "SchedulerError");
}

TEST_F(LevelLimit, ASoftWishForOneLevelTooManyIsLetGo) {
  see_nodes(2);
  take_all_levels();
  for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 8), "ashlar.dev/prefer", "l/switch"));
  step();
  EXPECT_EQ(bound(), 2);
}

TEST_F(LevelLimit, AGangThatWaitsForALevelGetsTheOneThatAnotherGangLeaves) {
  for (int n = 0; n < 2; ++n) see(node("n" + std::to_string(n), 8, {{PooledString("l/switch"), PooledString("s")}}));
  take_all_levels();
  for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 8), "ashlar.dev/within", "l/switch"));
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(gangs_without_level(tracker.tables()), 1u);
  EXPECT_EQ(said.size(), 1u) << "said once";
  gone(filler(5));
  step();
  EXPECT_EQ(bound(), 2);
  EXPECT_EQ(gangs_without_level(tracker.tables()), 0u);
  EXPECT_EQ(tracker.names().levels().size(), 16u);
  EXPECT_EQ(tracker.names().find_level(PooledString("l/level5")), LevelId::none());
}

TEST_F(LevelLimit, GangsThatWaitForALevelCostOneSearchForItTogether) {
  take_all_levels();
  const std::uint64_t before = tracker.level_searches();
  for (int i = 0; i < 100; ++i) see(with(gang_pod("g" + std::to_string(i), 0, 2, 8), "ashlar.dev/within", "l/switch"));
  step();
  EXPECT_EQ(gangs_without_level(tracker.tables()), 100u);
  EXPECT_EQ(tracker.level_searches(), before + 1);
  gone(filler(5));
  step();
  EXPECT_EQ(gangs_without_level(tracker.tables()), 0u);
}

TEST_F(LevelLimit, TheLevelOfAGangInTheEngineIsNotGivenToAnother) {
  take_all_levels();
  see(node("n0", 8, {{PooledString("l/level5"), PooledString("d")}}));
  // waits in the engine
  for (int i = 0; i < 2; ++i) see(with(gang_pod("big", i, 2, 8), "ashlar.dev/within", "l/level5"));
  step();
  gone(filler(5));
  for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 8), "ashlar.dev/within", "l/switch"));
  step();
  EXPECT_EQ(tracker.names().levels()[tracker.names().find_level(PooledString("l/level5")).row()].label, "l/level5");
  EXPECT_EQ(gangs_without_level(tracker.tables()), 1u);
}

TEST_F(GangChanges, APodGroupWithoutPodsOfOursUsesUpNoLevel) {
  see(node("n", 8, {{PooledString("l/switch"), PooledString("s")}}));
  PodGroup g = group(2);
  g.topology_key = PooledString("l/switch");
  see(g);
  step();
  EXPECT_EQ(tracker.names().levels().size(), 2u);
  see(grouped(0));
  step();
  EXPECT_EQ(tracker.names().levels().size(), 3u);
}

TEST_F(GangChanges, PodsThatNameAnotherHardDomainThanTheirGangAreHeld) {
  see_nodes(2);
  see(with(gang_pod("g", 0, 2, 8), "ashlar.dev/within", "rack"));
  see(with(gang_pod("g", 1, 2, 8), "ashlar.dev/within", "block"));
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(hold_of("g-0").reason, HoldReason::kGroupRefused);
  EXPECT_EQ(hold_of("g-0").detail,
            "the pods of gang g have different values of ashlar.dev/within: pod g-0 has rack, pod g-1 has block; all "
            "must have the same");
}

TEST_F(GangChanges, APodGroupAndItsPodsMayNotNameDifferentDomains) {
  see_nodes(2);
  PodGroup g = group(2);
  g.topology_key = PooledString("l/rack");
  see(g);
  for (int i = 0; i < 2; ++i) see(with(grouped(i), "ashlar.dev/within", "block"));
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(hold_of("pg-0").reason, HoldReason::kGroupRefused);
}

// ---- a PodGroup whose condition is True -----------------------------------------------------------------------------

TEST_F(GangChanges, PodsThatAreAllNewStartTogetherAlthoughTheGroupWasToldTrue) {
  see_nodes(2);
  see(told(group(2)));
  see(grouped(0));
  step();
  EXPECT_EQ(bound(), 0);
  see(grouped(1));
  step();
  EXPECT_EQ(bound(), 2);
  for (int i = 0; i < 2; ++i) gone(grouped(i));
  see(grouped(7));
  step();
  EXPECT_EQ(bound(), 0);
  see(grouped(8));
  step();
  EXPECT_EQ(bound(), 2);
}

TEST_F(GangChanges, ALostMemberOfAGroupToldTrueIsReplacedAloneAfterARestart) {
  see_nodes(2);
  see(told(group(2)));
  Pod survivor = grouped(0);
  survivor.node_name = PooledString("n0");
  see(survivor);
  see(grouped(7));
  step();
  EXPECT_EQ(where("pg-7"), "n1");
}

TEST_F(GangChanges, ALostMemberThatComesBackIsNoSurplusButOneBeyondTheGangIs) {
  see_nodes(2);
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
  step();
  ASSERT_EQ(bound(), 2);
  see(gang_pod("g", 2, 2, 8));
  step();
  EXPECT_TRUE(job_of("g-2").waits_for_surplus());
  gone(gang_pod("g", 0, 2, 8));
  gone(node("n0", 8));
  step();
  EXPECT_EQ(bound(), 1);
  EXPECT_FALSE(job_of("g-2").waits_for_surplus()) << "the gang is short of a pod and waits in its old place";
  EXPECT_EQ(job_of("g-2").members_needed(), 1u);
}

TEST_F(GangChanges, PodsOfABasicPodGroupAreNoSurplus) {
  see_nodes(1);
  PodGroup basic = group(0);
  basic.topology_key = PooledString("l/rack");
  see(basic);
  for (int i = 0; i < 2; ++i) see(grouped(i));
  step();
  ASSERT_EQ(bound(), 1);
  EXPECT_FALSE(job_of("pg-1").waits_for_surplus());
}

TEST_F(GangChanges, AnotherPodGroupOfTheSameNameIsToldAnew) {
  see_nodes(2);
  see(group(2));
  for (int i = 0; i < 2; ++i) see(grouped(i));
  step();
  step();
  ASSERT_EQ(due_groups.size(), 1u);
  const GangSlot slot = record("pg-0").gang;
  tracker.gangs().marks(slot).is_group_told = true;  // as the status writer does
  tracker.gangs().marks(slot).is_group_condition_due = true;
  gone(group(2));
  step();
  see(group(2, "uid-second"));
  step();
  EXPECT_EQ(due_groups.size(), 2u);
  EXPECT_FALSE(tracker.gangs()[slot].is_group_told);
  EXPECT_FALSE(tracker.gangs()[slot].is_group_condition_due);
  see(group(2, "uid-third"));  // the deletion was missed
  step();
  EXPECT_EQ(due_groups.size(), 3u);
}

TEST_F(GangChanges, AGangWhosePodGroupGoesIsHeld) {
  see_nodes(1);
  see(group(2));
  for (int i = 0; i < 2; ++i) see(grouped(i));
  step();
  ASSERT_EQ(state.backlog_size(), 1u);
  gone(group(2));
  see_nodes(2);
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(hold_of("pg-0").reason, HoldReason::kGroupMissing);
  see(group(2, "uid-second"));
  step();
  EXPECT_EQ(bound(), 2);
}

TEST_F(GangChanges, PodsWhosePodGroupIsMissingHaveAConditionThatSaysWhatToDo) {
  see_nodes(1);
  see(grouped(0));
  step();
  EXPECT_TRUE(due.empty()) << "it may be created at any moment";
  time += Millis(5'000);
  tracker.tick(time);
  EXPECT_EQ(due, std::vector<std::string>{"pg-0"});
  const ConditionText text = tracker.hold_condition(record("pg-0"));
  EXPECT_EQ(text.reason, "SchedulerError");
  EXPECT_EQ(text.message,
            "PodGroupMissing: PodGroup pg does not exist (yet): create it in namespace ns, or create the pods without "
            "spec.schedulingGroup");
}

// ---- minCount -------------------------------------------------------------------------------------------------------

TEST_F(GangChanges, ALowerMinCountLetsAWaitingGangStart) {
  see_nodes(2);
  see(group(4));
  for (int i = 0; i < 4; ++i) see(grouped(i));
  step();
  EXPECT_EQ(bound(), 0);
  see(group(2));
  step();
  EXPECT_EQ(bound(), 2);
}

TEST_F(GangChanges, AHigherMinCountHoldsAGangThatWaits) {
  see_nodes(1);
  see(group(2));
  for (int i = 0; i < 2; ++i) see(grouped(i));
  step();
  ASSERT_EQ(state.backlog_size(), 1u);
  see(group(3));
  see_nodes(3);
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(hold_of("pg-0").reason, HoldReason::kMembersMissing);
  see(grouped(2));
  step();
  EXPECT_EQ(bound(), 3);
}

TEST_F(GangChanges, MembersThatAreBoundStayWhenMinCountChanges) {
  see_nodes(2);
  see(group(3));
  Pod first = grouped(0);  // of an earlier leader, whose other bindings failed
  first.node_name = PooledString("n0");
  see(first);
  for (int i = 1; i < 3; ++i) see(grouped(i));
  step();
  EXPECT_EQ(bound(), 1);
  see(group(2));
  step();
  EXPECT_EQ(bound(), 2);
  EXPECT_EQ(where("pg-0"), "n0");
}

TEST_F(GangChanges, BoundMembersAreAStartedGangOnceMinCountIsThatLow) {
  see_nodes(2);
  see(group(3));
  for (int i = 0; i < 2; ++i) {
    Pod p = grouped(i);
    p.node_name = PooledString("n" + std::to_string(i));
    see(p);
  }
  step();
  EXPECT_FALSE(job_of("pg-0").is_started);
  see(group(2));
  step();
  EXPECT_TRUE(job_of("pg-0").is_started);
}

TEST_F(GangChanges, AGangThatIsTakenOutForAWhileKeepsItsAge) {
  see_nodes(1);
  see(group(2));
  for (int i = 0; i < 2; ++i) see(grouped(i));
  step();
  const Millis submitted = job_of("pg-0").submitted;
  time = time + Millis(60'000);
  see(group(3));
  step();
  see(group(2));
  step();
  EXPECT_EQ(job_of("pg-0").submitted, submitted);
}

// ---- whose pods, whose queue ----------------------------------------------------------------------------------------

TEST_F(GangChanges, APodOfAnotherSchedulerHoldsThePodGroup) {
  see_nodes(3);
  see(group(2));
  Pod foreign_pod = grouped(9);
  foreign_pod.scheduler_name = PooledString("somebody-else");
  see(foreign_pod);
  for (int i = 0; i < 2; ++i) see(grouped(i));
  step();
  EXPECT_EQ(bound(), 0);
  const ConditionText text = tracker.hold_condition(record("pg-0"));
  EXPECT_EQ(text.reason, "SchedulerError");
  EXPECT_NE(text.message.find("somebody-else"), std::string::npos) << text.message;
  EXPECT_TRUE(tracker.hold_condition(record("pg-9")).reason.empty()) << "nothing is said on a pod of another scheduler";
  gone(foreign_pod);
  step();
  EXPECT_EQ(bound(), 2);
}

TEST_F(GangChanges, APodGroupOfAnotherSchedulerIsNoneOfOurBusiness) {
  see(group(2));
  Pod foreign_pod = grouped(0);
  foreign_pod.scheduler_name = PooledString("somebody-else");
  see(foreign_pod);
  step();
  time = time + Millis(60'000);
  tracker.tick(time);
  step();
  EXPECT_TRUE(due.empty());
  EXPECT_TRUE(due_groups.empty());
  gone(foreign_pod);
  gone(group(2));
  EXPECT_EQ(tracker.gangs().find(PooledString("ns"), PooledString("pg"), GangKind::kPodGroup), kNoGang);
  EXPECT_EQ(tracker.pods().size(), 0u);
}

class TwoNames : public GangChanges {
 protected:
  TwoNames() : GangChanges({"ashlar", "ashlar-batch"}) {}
};

TEST_F(TwoNames, AGangWhosePodsNameTwoOfOurSchedulersIsHeld) {
  see_nodes(2);
  see(gang_pod("g", 0, 2, 8));
  Pod other = gang_pod("g", 1, 2, 8);
  other.scheduler_name = PooledString("ashlar-batch");
  see(other);
  step();
  EXPECT_EQ(bound(), 0);
  EXPECT_EQ(hold_of("g-0").detail, "the pods of gang g name different schedulers; all must name the same");
  gone(other);
  see(gang_pod("g", 2, 2, 8));
  step();
  EXPECT_EQ(bound(), 2);
}

TEST_F(GangChanges, ALongNameLeavesTheSentenceAboutItWhole) {
  see_nodes(1);
  const std::string name(250'000, 'w');
  see(annotated(pod("p", 1), "ashlar.dev/queue", name));
  step();
  EXPECT_EQ(tracker.hold_condition(record("p")).message, "QueueUnknown: queue " + std::string(317, 'w') +
                                                             "... is not configured; `ashlar queue` lists the "
                                                             "configured queues");
  for (int i = 0; i < 2; ++i) {
    Pod member = gang_pod("g", i, 2, 1);
    see(annotated(member, "ashlar.dev/within", i == 0 ? name : "v" + name));
  }
  step();
  EXPECT_EQ(hold_of("g-0").detail, "the pods of gang g have different values of ashlar.dev/within: pod g-0 has " +
                                       std::string(317, 'w') + "..., pod g-1 has v" + std::string(316, 'w') +
                                       "...; all must have the same");
}

TEST_F(GangChanges, AGangMovesToItsNewQueueWhenAllItsPodsHave) {
  see_nodes(1);
  for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 8), "ashlar.dev/queue", "red"));
  step();
  EXPECT_EQ(job_of("g-0").queue, tracker.names().queues.find(PooledString("red")));
  see(with(gang_pod("g", 0, 2, 8), "ashlar.dev/queue", "blue"));
  step();
  EXPECT_EQ(state.backlog_size(), 0u) << "half of it belongs to another queue";
  EXPECT_EQ(tracker.hold_condition(record("g-0")).message,
            "GangHeld: the pods of gang g belong to different queues: pod g-0 to blue, pod g-1 to red; all must belong "
            "to the same");
  // When its patience is over all get a condition, and at a change of one of them only those that do not have it yet.
  time = time + Millis(3'600'000);
  tracker.tick(time);
  step();
  due.clear();
  const ConditionText told = tracker.hold_condition(record("g-0"));
  tracker.pods().marks(tracker.pods().find(PooledString("ns"), PooledString("g-1"))).condition_hash =
      condition_hash(told.reason, told.message);
  see(with(with(gang_pod("g", 0, 2, 8), "ashlar.dev/queue", "blue"), "x", "y"));
  see(with(gang_pod("g", 0, 2, 8), "ashlar.dev/queue", "red"));
  see(with(gang_pod("g", 0, 2, 8), "ashlar.dev/queue", "blue"));
  step();
  EXPECT_EQ(std::count(due.begin(), due.end(), "g-1"), 0);
  EXPECT_GE(std::count(due.begin(), due.end(), "g-0"), 1);
  see(with(gang_pod("g", 1, 2, 8), "ashlar.dev/queue", "blue"));
  step();
  EXPECT_EQ(state.backlog_size(), 1u);
  EXPECT_EQ(job_of("g-0").queue, tracker.names().queues.find(PooledString("blue")));
}

TEST_F(GangChanges, APriorityClassThatComesLateCounts) {
  PodGroup g = group(2);
  g.priority_class = PooledString("urgent");
  see(g);
  for (int i = 0; i < 2; ++i) see(grouped(i));
  step();
  EXPECT_EQ(job_of("pg-0").priority, 0);
  PriorityClass urgent;
  urgent.name = PooledString("urgent");
  urgent.value = 1000;
  see(urgent);
  step();
  EXPECT_EQ(job_of("pg-0").priority, 1000);
}

// ---- words ----------------------------------------------------------------------------------------------------------

TEST_F(GangChanges, AFieldOfThePodGroupThatIsNotEvaluatedIsSaidOnPodsAndGroup) {
  see_nodes(2);
  PodGroup g = group(2);
  g.unsupported = PooledString("spec.resourceClaims");
  see(g);
  for (int i = 0; i < 2; ++i) see(grouped(i));
  step();
  EXPECT_EQ(bound(), 0);
  for (const ConditionText& text :
       {tracker.hold_condition(record("pg-0")), tracker.hold_condition(tracker.gangs()[record("pg-0").gang])}) {
    EXPECT_EQ(text.reason, "SchedulerError");
    EXPECT_EQ(text.message, "GangHeld: PodGroup field spec.resourceClaims is not evaluated by Ashlar");
  }
}

TEST_F(GangChanges, TheGroupOfAMemberThatIsNotEvaluatedIsNotCalledUnschedulable) {
  see_nodes(2);
  see(group(2));
  see(grouped(0));
  PodRules rules;
  rules.unsupported = PooledString("spec.resourceClaims");
  see(under(grouped(1), rules));
  step();
  EXPECT_EQ(tracker.hold_condition(tracker.gangs()[record("pg-0").gang]).reason, "SchedulerError");
  EXPECT_EQ(tracker.hold_condition(record("pg-1")).message.find("FieldNotEvaluated: spec.resourceClaims"), 0u);
}

TEST_F(GangChanges, NoAutoscalerIsAskedForNodesWhereNodesWouldNotHelp) {
  see(gang_pod("g", 0, 2, 8));
  step();
  const ConditionText text = tracker.hold_condition(record("g-0"));
  EXPECT_EQ(text.reason, "SchedulerError");
  EXPECT_EQ(text.message, "MembersMissing: gang g waits until 2 of its pods exist without scheduling gates");
  EXPECT_EQ(hold_reason_token(HoldReason::kQueueUnknown), "SchedulerError");
  EXPECT_EQ(hold_reason_token(HoldReason::kQuarantined), "SchedulerError");
  EXPECT_EQ(hold_reason_token(HoldReason::kGated), "SchedulingGated");
}

}  // namespace
}  // namespace ashlar::kube
