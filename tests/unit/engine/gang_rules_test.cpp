// Gangs whose members have rules about other pods: which of them wait together, and when they are looked at again.
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

using Op = LabelExpression::Op;

constexpr LabelKeyId kZoneOf{1u}, kRoleOf{50u}, kTeamOf{51u};
constexpr LabelId kLeader{500u}, kWorker{501u}, kNobody{502u}, kRed{510u};
constexpr LabelSetId kLeaders{0u}, kWorkers{1u}, kOthers{2u};
constexpr NamespaceId kNamespace{0u};
constexpr PodSelectorId kLeadersOfNamespace{0u}, kLeadersOfRedTeams{1u};
constexpr ConstraintId kNearLeader{1u}, kNearRedLeader{2u};

class GangRules : public ::testing::Test {
 protected:
  State s = small_state(0);
  Engine engine{*builtin_profile("ashlar")};

  GangRules() {
    NodeFacts facts = eight_devices();
    facts.labels = {{kZoneOf, LabelId(10u), NodeLabel::kNotANumber}};
    tell(s, NodeSeen{NodeId(0u), facts});
    constexpr LabelId kRoles[] = {kLeader, kWorker, kNobody};
    for (std::uint32_t set = 0; set < 3; ++set)
      tell(s, LabelSetDefined{LabelSetId(set), {.ns = kNamespace, .labels = {{kRoleOf, kRoles[set]}}}});
    PodSelector leaders;
    leaders.all = {{kRoleOf, Op::kIn, {kLeader}, 0}};
    leaders.namespaces = {kNamespace};
    tell(s, PodSelectorDefined{kLeadersOfNamespace, leaders});
    leaders.namespaces = {};
    leaders.selects_namespaces = true;
    leaders.of_namespace = {{kTeamOf, Op::kIn, {kRed}, 0}};
    tell(s, PodSelectorDefined{kLeadersOfRedTeams, leaders});
    tell(s, NamespaceSeen{kNamespace, {.is_known = true, .labels = {}}});
    define(kNearLeader, kLeadersOfNamespace);
    define(kNearRedLeader, kLeadersOfRedTeams);
  }
  void define(ConstraintId id, PodSelectorId selector) {
    Constraint near;
    near.near = {.selector = selector, .topologies = {kZoneOf}, .matches_itself = false};
    tell(s, ConstraintDefined{id, near});
  }
  /// Two members: the first with these labels and no rule, the second a worker with the rule.
  void submit(std::uint32_t job, LabelSetId of_first, ConstraintId rule = kNearLeader) {
    Workload gang = workload(job, 10 * job, 2, kNoDevices);
    gang.members[0].labels = of_first;
    gang.members[1].labels = kWorkers;
    gang.members[1].constraint = rule;
    tell(s, Submitted{gang});
  }
  std::uint32_t placed(std::uint32_t job) const { return s.job(JobId(job)).members_placed; }
  std::size_t classes() const {
    std::size_t count = 0;
    engine.pending().each_class([&](ClassId, const PendingQueue::Class&) { ++count; });
    return count;
  }
};

TEST_F(GangRules, WhoseMembersTheyMeanTellGangsApart) {
  for (std::uint32_t job = 0; job < 8; ++job) submit(job, kOthers);
  submit(8, kLeaders);
  engine.decide(s, s.now());
  EXPECT_EQ(placed(0), 0u);
  EXPECT_EQ(placed(8), 2u);
  EXPECT_EQ(classes(), 1u) << "like gangs wait together";
}

TEST_F(GangRules, WhichOfTwoRulesMeansAMemberTellsGangsApart) {
  PodSelector nobody;
  nobody.all = {{kRoleOf, Op::kIn, {kNobody}, 0}};
  nobody.namespaces = {kNamespace};
  tell(s, PodSelectorDefined{PodSelectorId(2u), nobody});
  Constraint near_leader_alone = s.cluster().constraint(kNearLeader);
  near_leader_alone.keeps_away = {{PodSelectorId(2u), kRoleOf}};
  constexpr ConstraintId kBothRules{3u};
  tell(s, ConstraintDefined{kBothRules, near_leader_alone});
  submit(0, kOthers, kBothRules);
  submit(1, kLeaders, kBothRules);
  EXPECT_NE(class_of(s, JobId(0u)), class_of(s, JobId(1u)));
  engine.decide(s, s.now());
  EXPECT_EQ(placed(0), 0u);
  EXPECT_EQ(placed(1), 2u);
}

TEST_F(GangRules, WhichMemberTheRuleOfAllMeansTellsGangsApart) {
  const LabelSetId labels[][2] = {
      {kLeaders, kWorkers}, {kWorkers, kLeaders}, {kLeaders, kLeaders}, {kOthers, kWorkers}, {kWorkers, kOthers}};
  std::vector<EquivalenceClass> of;
  for (std::uint32_t job = 0; job < std::size(labels); ++job) {
    Workload gang = workload(job, 10 * job, 2, kNoDevices);
    for (std::size_t m = 0; m < 2; ++m) {
      gang.members[m].labels = labels[job][m];
      gang.members[m].constraint = kNearLeader;
    }
    tell(s, Submitted{gang});
    of.push_back(class_of(s, JobId(job)));
  }
  for (std::size_t a = 0; a < of.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_EQ(of[a] == of[b], a == 4 && b == 3) << b << " and " << a;
}

TEST_F(GangRules, ClassesAreFoundByTheRulesOfTheirMembersWhileTheyWait) {
  submit(0, kOthers);
  submit(1, kOthers, kNearRedLeader);
  tell(s, Submitted{workload(2, 20, 2, kNoDevices)});
  engine.decide(s, s.now());
  ASSERT_EQ(placed(2), 2u);
  const auto with = [&](ConstraintId constraint) {
    std::size_t count = 0;
    engine.pending().each_with_company(constraint, [&](ClassId) { ++count; });
    return count;
  };
  EXPECT_EQ(with(kNearLeader), 1u);
  EXPECT_EQ(with(kNearRedLeader), 1u);
  EXPECT_EQ(with(kAnywhere), 2u) << "of their first members";
  tell(s, Ended{JobId(0u)});
  engine.decide(s, s.now());
  EXPECT_EQ(with(kNearLeader), 0u);
  EXPECT_EQ(with(kNearRedLeader), 1u);
  tell(s, Ended{JobId(1u)});
  engine.decide(s, s.now());
  EXPECT_EQ(with(ConstraintId::none()), 0u);
}

TEST_F(GangRules, LabelsThatNoRuleAsksForTellNoGangsApart) {
  submit(0, kOthers);
  submit(1, kWorkers);
  engine.decide(s, s.now());
  EXPECT_EQ(classes(), 1u);
}

TEST_F(GangRules, AMemberThatGetsOtherLabelsMayLetItsGangStart) {
  submit(0, kOthers);
  submit(1, kOthers);
  engine.decide(s, s.now());
  ASSERT_EQ(placed(1), 0u);
  tell(s, LabelsChanged{MemberId(10u), kLeaders});
  engine.decide(s, s.now());
  EXPECT_EQ(placed(0), 0u) << "its own members are as they were";
  EXPECT_EQ(placed(1), 2u);
}

TEST_F(GangRules, ANamespaceThatGetsOtherLabelsMayLetItsGangsStart) {
  submit(0, kLeaders, kNearRedLeader);
  submit(1, kOthers, kNearRedLeader);
  engine.decide(s, s.now());
  ASSERT_EQ(placed(0), 0u);
  tell(s, NamespaceSeen{kNamespace, {.is_known = true, .labels = {{kTeamOf, kRed}}}});
  engine.decide(s, s.now());
  EXPECT_EQ(placed(0), 2u);
}

TEST_F(GangRules, AMemberThatMustStartIsNotLeftWithoutTheSurplusMemberThatItsRuleNeeds) {
  Workload gang = workload(0, 0, 2, kFourDevices);
  gang.members_min = 1;
  gang.members[0].labels = kWorkers;
  gang.members[0].constraint = kNearLeader;
  gang.members[1].labels = kLeaders;
  tell(s, Submitted{gang});
  tell(s, Submitted{workload(1, 10, 1, kFourDevices)});
  engine.decide(s, s.now());
  EXPECT_EQ(placed(0), 2u) << "there is no worker without its leader";
  EXPECT_EQ(placed(1), 0u);
}

TEST_F(GangRules, AMemberIsNotLeftWithoutTheOneThatItsRuleNeedsWhereALimitRefusesThat) {
  constexpr DemandId kEightDevices{20u};
  NodeFacts facts = eight_devices();
  facts.labels = {{kZoneOf, LabelId(10u), NodeLabel::kNotANumber}};
  tell(s, NodeSeen{NodeId(1u), facts});
  tell(s, DemandDefined{kEightDevices, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  tell(s,
       QueueDefined{
           QueueId(1u), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}, {{QuotaKey{{}, DeviceClassId(0u)}, 4'000}}});
  Workload gang = workload(0, 0, 2, kFourDevices);
  gang.queue = QueueId(1u);
  gang.members_min = 1;
  gang.members[0].labels = kWorkers;
  gang.members[0].constraint = kNearLeader;
  gang.members[1].labels = kLeaders;
  gang.members[1].demand = kEightDevices;
  tell(s, Submitted{gang});
  engine.decide(s, s.now());
  EXPECT_EQ(placed(0), 0u) << "the limit has room for the worker alone";
}

TEST_F(GangRules, SurplusThatNoRuleNeedsComesAfterTheMinimumOfOthers) {
  Workload gang = workload(0, 0, 2, kFourDevices);
  gang.members_min = 1;
  gang.members[0].labels = kLeaders;
  gang.members[1].labels = kWorkers;
  gang.members[1].constraint = kNearLeader;
  tell(s, Submitted{gang});
  tell(s, Submitted{workload(1, 10, 1, kFourDevices)});
  engine.decide(s, s.now());
  EXPECT_EQ(placed(0), 1u);
  EXPECT_EQ(placed(1), 1u);
}

}  // namespace
}  // namespace ashlar
