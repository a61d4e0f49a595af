// Which waiting jobs a freed node makes the engine look at: only those for which it could mean enough room, counted by
// the jobs looked at.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

constexpr DemandId kWholeNode{20u};
constexpr std::uint32_t kGangs = 100;

/// A leader without devices and two workers with a whole node each, from member row 10 * job on.
Workload leader_and_workers(std::uint32_t job) {
  Workload gang = workload(job, 10 * job, 3, kWholeNode);
  gang.members[0].demand = kNoDevices;
  return gang;
}

/// Four nodes, all taken by jobs 0 to 3 but for some cores, and job 4 of one core on node 0.
State full_cluster() {
  State s = small_state(4);
  tell(s, DemandDefined{kWholeNode, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  for (std::uint32_t n = 0; n < 4; ++n) {
    tell(s, Submitted{workload(n, n, 1, kWholeNode)});
    tell(s, Bound{MemberId(n), NodeId(n), {}});
  }
  tell(s, Submitted{workload(4, 4, 1, kNoDevices)});
  tell(s, Bound{MemberId(4u), NodeId(0u), {}});
  return s;
}

TEST(Wake, LikeGangsOfUnlikeMembersWaitInOneClassUntilTheirWorkersHaveRoom) {
  State s = full_cluster();
  Engine engine(*builtin_profile("ashlar"));
  for (std::uint32_t g = 0; g < kGangs; ++g) tell(s, Submitted{leader_and_workers(10 + g)});
  EXPECT_EQ(engine.decide(s, s.now()).examined, 1u);
  std::size_t classes = 0;
  engine.pending().each_class([&](ClassId, const PendingQueue::Class&) { ++classes; });
  EXPECT_EQ(classes, 1u);

  tell(s, Ended{JobId(4u)});  // room for a leader alone
  EXPECT_EQ(engine.decide(s, s.now()).examined, 0u);
  tell(s, Ended{JobId(0u)});  // and for one worker
  EXPECT_EQ(engine.decide(s, s.now()).examined, 0u);
  tell(s, Ended{JobId(1u)});
  const Plan plan = engine.decide(s, s.now());
  EXPECT_EQ(plan.actions.size(), 3u);
  EXPECT_EQ(s.job(JobId(10u)).members_placed, 3u);
}

/// The room of one end is taken by the first of many kinds. Some of the others get their reason with its new numbers,
/// the rest keep the old one without a search; the next end starts the next.
TEST(Wake, KindsWhoseRoomIsTakenAgainWaitAsBefore) {
  constexpr std::uint32_t kKinds = 60, kExplained = 16;
  State s = full_cluster();
  Engine engine(*builtin_profile("ashlar"));
  for (std::uint32_t k = 0; k < kKinds; ++k) {
    tell(s, DemandDefined{DemandId(30 + k),
                          {.amounts = {{resource::kCpu, k + 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    tell(s, Submitted{workload(10 + k, 10 + k, 1, DemandId(30 + k))});
  }
  engine.decide(s, Millis(0));
  for (std::uint32_t end = 0; end < 4; ++end) {
    const Millis now(1000 * (end + 1));
    tell(s, Ended{JobId(end)}, now);
    const Plan plan = engine.decide(s, now);
    ASSERT_EQ(plan.actions.size(), 1u);
    EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(10 + end));
    for (std::uint32_t k = end + 1; k < kKinds; ++k) {
      const Verdict verdict = engine.verdict_of(JobId(10 + k));
      EXPECT_EQ(verdict.reasons.at(0).code, ReasonCode::kInsufficientGpu);
      EXPECT_EQ(verdict.at, k <= end + kExplained ? now : Millis(k <= kExplained + end - 1 ? 1000 * end : 0)) << k;
    }
    while (engine.decide(s, now).look_again_at <= now) continue;
  }
}

/// Many kinds are woken each in its turn: those whose turn comes when the room is taken are not looked at, but for the
/// first few.
struct ManyKinds {
  static constexpr std::uint32_t kKinds = 300;
  State s = full_cluster();
  Engine engine;

  explicit ManyKinds(EngineOptions options = {}) : engine(*builtin_profile("ashlar"), options) {
    for (std::uint32_t k = 0; k < kKinds; ++k) {
      tell(s, DemandDefined{DemandId(30 + k),
                            {.amounts = {{resource::kCpu, k + 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
      tell(s, Submitted{workload(10 + k, 10 + k, 1, DemandId(30 + k))});
    }
    decide();
  }
  Plan decide() { return engine.decide(s, s.now()); }
};

TEST(Wake, OfManyKindsFewAreLookedAtOnceTheRoomIsTaken) {
  constexpr std::uint32_t kExplained = 16;
  ManyKinds many;
  for (std::uint32_t end = 0; end < 3; ++end) {
    tell(many.s, Ended{JobId(end)});
    const Plan plan = many.decide();
    ASSERT_EQ(plan.actions.size(), 1u);
    EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(10 + end));
    EXPECT_EQ(plan.examined, 1 + kExplained);
    EXPECT_LE(many.engine.pending().active_heads().size(), 1u);
  }
  for (std::uint32_t end = 0; end < 3; ++end) tell(many.s, Ended{JobId(10 + end)});
  EXPECT_EQ(many.decide().actions.size(), 3u) << "the others wait as before, and are woken again";
}

TEST(Wake, ThoseWhoseTurnHasNotComeWhenADecisionEndsAreLookedAtInTheNext) {
  ManyKinds many({.binds_per_step_max = 1});
  for (std::uint32_t end = 0; end < 3; ++end) tell(many.s, Ended{JobId(end)});
  for (std::uint32_t start = 0; start < 3; ++start) {
    const Plan plan = many.decide();
    ASSERT_EQ(plan.actions.size(), 1u) << start;
    EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(10 + start));
    EXPECT_LE(plan.look_again_at, plan.at);
  }
  while (many.decide().look_again_at <= many.s.now()) continue;
  EXPECT_TRUE(many.engine.pending().active_heads().empty());
}

TEST(Wake, OfManyKindsFewAreLookedAtWhereDecisionsEndEarly) {
  constexpr std::uint32_t kExplained = 16;
  ManyKinds many({.binds_per_step_max = 1});
  while (many.decide().look_again_at <= many.s.now()) continue;
  for (std::uint32_t end = 0; end < 3; ++end) tell(many.s, Ended{JobId(end)});
  std::size_t starts = 0;
  std::uint32_t examined = 0;
  for (bool is_over = false; !is_over;) {
    const Plan plan = many.decide();
    starts += plan.actions.size();
    examined += plan.examined;
    is_over = plan.look_again_at > plan.at;
  }
  EXPECT_EQ(starts, 3u);
  EXPECT_LE(examined, 3 + kExplained);
  EXPECT_TRUE(many.engine.pending().active_heads().empty());
}

TEST(Wake, ADecisionThatHasExplainedManyKindsGoesOnInTheNext) {
  constexpr std::uint32_t kKinds = 120;
  State s = full_cluster();
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_explained(50 * 4);
  for (std::uint32_t k = 0; k < kKinds; ++k) {
    tell(s, DemandDefined{DemandId(30 + k),
                          {.amounts = {{resource::kCpu, k + 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    tell(s, Submitted{workload(10 + k, 10 + k, 1, DemandId(30 + k))});
  }
  const Plan first = engine.decide(s, s.now());
  EXPECT_EQ(first.examined, 50u);
  EXPECT_LE(first.look_again_at, first.at);
  EXPECT_EQ(engine.verdict_of(JobId(10u)).reasons.at(0).code, ReasonCode::kInsufficientGpu);
  EXPECT_EQ(engine.verdict_of(JobId(10 + kKinds - 1)).kind, VerdictKind::kPending);
  Workload urgent = workload(5, 5, 1, kWholeNode);
  urgent.priority = 1000;
  tell(s, Submitted{std::move(urgent)});
  tell(s, Ended{JobId(0u)});
  const Plan second = engine.decide(s, s.now());
  ASSERT_EQ(second.actions.size(), 1u) << "a job that is ahead has a turn between two of them";
  EXPECT_EQ(std::get<Bind>(second.actions[0]).job, JobId(5u));
  std::size_t decisions = 2;
  for (bool is_over = false; !is_over; ++decisions) {
    const Plan plan = engine.decide(s, s.now());
    EXPECT_LE(plan.examined, 50u + 16u);
    is_over = plan.look_again_at > plan.at;
  }
  EXPECT_LE(decisions, 5u);
  for (std::uint32_t k = 0; k < kKinds; ++k)
    EXPECT_EQ(engine.verdict_of(JobId(10 + k)).reasons.at(0).code, ReasonCode::kInsufficientGpu) << k;
  EXPECT_TRUE(engine.pending().active_heads().empty());
}

/// Elastic gangs of unlike members that keep each other off their nodes: one freed node seems enough, and is not.
void submit_choices(State& s, std::uint32_t count) {
  constexpr LabelKeyId kHost{9u}, kApp{5u};
  for (std::uint32_t n = 0; n < 4; ++n) {
    NodeFacts facts = eight_devices();
    facts.labels = {{kHost, LabelId(90 + n), NodeLabel::kNotANumber}};
    tell(s, NodeSeen{NodeId(n), facts});
  }
  tell(s, LabelSetDefined{LabelSetId(0u), {.ns = NamespaceId(0u), .labels = {{kApp, LabelId(50u)}}}});
  PodSelector alike;
  alike.all = {{kApp, LabelExpression::Op::kIn, {LabelId(50u)}, 0}};
  alike.namespaces = {NamespaceId(0u)};
  tell(s, PodSelectorDefined{PodSelectorId(0u), alike});
  Constraint apart;
  apart.keeps_away = {{PodSelectorId(0u), kHost}};
  apart.keeps_itself_away = true;
  apart.seen_as = LabelSetId(0u);
  tell(s, ConstraintDefined{ConstraintId(7u), apart});
  for (std::uint32_t g = 0; g < count; ++g) {
    Workload gang = workload(20 + g, 100 + 10 * g, 3, kWholeNode);
    gang.members_min = 2;
    for (std::uint32_t m = 0; m < 3; ++m) {
      const DemandId demand(30 + 3 * g + m);
      tell(s, DemandDefined{demand,
                            {.amounts = {{resource::kCpu, 3 * g + m + 1}}, .devices = {2, MilliGpu(1000), MiB(0)}}});
      gang.members[m].demand = demand;
      gang.members[m].constraint = ConstraintId(7u);
      gang.members[m].labels = LabelSetId(0u);
    }
    tell(s, Submitted{std::move(gang)});
  }
}

/// A node is freed and taken again at each decision, which wakes more gangs than one decision looks at: a job behind
/// them that has room has its turn all the same.
TEST(Wake, WhatKeepsWakingThoseAheadKeepsNoNewcomerFromItsTurn) {
  constexpr std::uint32_t kChoices = 30, kLookedAt = 5, kRounds = 60, kNewAt = 10;
  State s = full_cluster();
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_explained(std::size_t{kLookedAt} * 3 * (4 + 4096));
  submit_choices(s, kChoices);
  while (engine.decide(s, s.now()).look_again_at <= s.now()) continue;
  std::uint32_t occupant = 3, examined_most = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    if (round % 2 == 0) {
      tell(s, Ended{JobId(occupant)});
    } else {
      occupant = occupant == 3 ? 5 : 3;
      tell(s, Submitted{workload(occupant, 10 + occupant, 1, kWholeNode)});
      tell(s, Bound{MemberId(10 + occupant), NodeId(3u), {}});
    }
    if (round == kNewAt) tell(s, Submitted{workload(6, 16, 1, kNoDevices)});
    const Plan plan = engine.decide(s, s.now());
    examined_most = std::max(examined_most, plan.examined);
    if (plan.actions.empty()) continue;
    EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(6u));
    EXPECT_LE(round, kNewAt + 2 * kChoices / kLookedAt);
    EXPECT_GE(examined_most, kLookedAt) << "gangs were woken";
    return;
  }
  FAIL() << "the newcomer had no turn in " << kRounds << " decisions";
}

/// The same of jobs that may stop others, which each freed node makes the engine look at, as far as a decision goes.
TEST(Wake, WhatKeepsWakingThoseThatMayStopOthersKeepsNoNewcomerFromItsTurn) {
  constexpr std::uint32_t kKinds = 30, kLookedAt = 5, kRounds = 40, kNewAt = 10, kOccupant = 5;
  constexpr DemandId kSevenDevices{21u};
  Profile profile = *builtin_profile("ashlar");
  profile.victim = VictimRule::kPriority;
  profile.blocking = Blocking::kSkip;
  State s = small_state(4);
  tell(s, DemandDefined{kSevenDevices, {.amounts = {{resource::kPods, 1}}, .devices = {7, MilliGpu(1000), MiB(0)}}});
  for (std::uint32_t n = 0; n < 4; ++n) {
    Workload safe = workload(n, n, 1, kSevenDevices);
    safe.stopping.is_unstoppable = true;
    tell(s, Submitted{safe});
    tell(s, Bound{MemberId(n), NodeId(n), {}});
  }
  for (std::uint32_t k = 0; k < kKinds; ++k) {
    tell(s, DemandDefined{DemandId(30 + k),
                          {.amounts = {{resource::kCpu, k + 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    Workload whole = workload(10 + k, 10 + k, 1, DemandId(30 + k));
    whole.priority = 1;
    tell(s, Submitted{whole});
  }
  Engine engine(std::move(profile));
  engine.limit_explained(std::size_t{kLookedAt} * 4);
  while (engine.decide(s, s.now()).look_again_at <= s.now()) continue;
  std::uint32_t examined_most = 0;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    if (round % 2 == 0) {
      tell(s, Submitted{workload(kOccupant, kOccupant, 1, kOneDevice)});
      tell(s, Bound{MemberId(kOccupant), NodeId(3u), {}});
    } else {
      tell(s, Ended{JobId(kOccupant)});
    }
    if (round == kNewAt) tell(s, Submitted{workload(6, 6, 1, kNoDevices)});
    const Plan plan = engine.decide(s, s.now());
    examined_most = std::max(examined_most, plan.examined);
    if (plan.actions.empty()) continue;
    EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(6u));
    EXPECT_LE(round, kNewAt + 2 * kKinds / kLookedAt);
    EXPECT_GE(examined_most, kLookedAt) << "they were woken";
    return;
  }
  FAIL() << "the newcomer had no turn in " << kRounds << " decisions";
}

/// What was freed before the rest was looked at is not forgotten when that is done.
TEST(Wake, WhatIsFreedWhileADecisionGoesOnInTheNextWakesAfterIt) {
  constexpr std::uint32_t kKinds = 60, kAtOnce = 50;
  State s = full_cluster();
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_explained(kAtOnce * 4);
  for (std::uint32_t k = 0; k < kKinds; ++k) {
    const std::int64_t cores = k < kAtOnce ? k + 1 : 64'001 + k;  // the last ones fit nowhere
    tell(s, DemandDefined{DemandId(30 + k),
                          {.amounts = {{resource::kCpu, cores}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    tell(s, Submitted{workload(10 + k, 10 + k, 1, DemandId(30 + k))});
  }
  ASSERT_EQ(engine.decide(s, s.now()).examined, kAtOnce);
  tell(s, Ended{JobId(0u)});
  Plan plan = engine.decide(s, s.now());
  EXPECT_TRUE(plan.actions.empty());
  ASSERT_LE(plan.look_again_at, plan.at);
  plan = engine.decide(s, s.now());
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(10u));
}

/// The same gangs, woken at each decision, of which it looks at a few: each of them is judged anew in its turn.
TEST(Wake, WhatWakesManyGangsAgainAndAgainLeavesEachItsTurn) {
  constexpr std::uint32_t kChoices = 30, kLookedAt = 1;
  State s = full_cluster();
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_costly({1, 0});
  submit_choices(s, kChoices);
  Millis now;
  const auto round = [&](bool ends) {
    now = now + Millis(1000);
    if (ends) {
      tell(s, Ended{JobId(3u)}, now);
    } else {
      tell(s, Submitted{workload(3, 13, 1, kWholeNode)}, now);
      tell(s, Bound{MemberId(13u), NodeId(3u), {}}, now);
    }
    EXPECT_TRUE(engine.decide(s, now).actions.empty());
  };
  std::vector<std::uint32_t> turns(kChoices, 0);
  std::vector<Millis> judged_at(kChoices);
  for (std::uint32_t r = 0; r < 16 * kChoices / kLookedAt; ++r) {
    round(r % 2 == 0);
    std::size_t of_this = 0;
    for (std::uint32_t g = 0; g < kChoices; ++g)
      if (const Verdict verdict = engine.verdict_of(JobId(20 + g));
          verdict.wake_on != WakeOn::kTime && verdict.at != judged_at[g]) {
        judged_at[g] = verdict.at;
        ++turns[g];
        ++of_this;
      }
    EXPECT_LE(of_this, 2 * kLookedAt) << "first searches and further ones";
  }
  EXPECT_GE(*std::ranges::min_element(turns), 3u);
  // those that were searched for first have had more while the others waited for their first
  EXPECT_LE(*std::ranges::max_element(turns), *std::ranges::min_element(turns) + 5);
}

/// The first of each kind is compared with the others; those behind it in its kind follow once it has had its turn.
TEST(Wake, ClassesOfOneKindAreWokenOneAfterTheOtherInTheOrderOfJobs) {
  constexpr std::uint32_t kQueues = 100;
  State s = full_cluster();
  Engine engine(*builtin_profile("ashlar"));
  for (std::uint32_t q = 0; q < kQueues; ++q) {
    tell(s, QueueDefined{QueueId(1 + q), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
    Workload w = workload(10 + q, 10 + q, 1, kWholeNode);
    w.queue = QueueId(1 + q);
    tell(s, Submitted{w});
  }
  engine.decide(s, s.now());
  for (std::uint32_t k = 0; k < kQueues; ++k) {  // come later, and first
    tell(s, DemandDefined{DemandId(30 + k),
                          {.amounts = {{resource::kCpu, k + 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    Workload w = workload(200 + k, 200 + k, 1, DemandId(30 + k));
    w.priority = k < 1 ? 1 : -1;
    tell(s, Submitted{w});
  }
  engine.decide(s, s.now());
  for (std::uint32_t end = 0; end < 4; ++end) tell(s, Ended{JobId(end)});
  const Plan plan = engine.decide(s, s.now());
  std::vector<JobId> started;
  for (const Action& action : plan.actions) started.push_back(std::get<Bind>(action).job);
  EXPECT_EQ(started, (std::vector<JobId>{JobId(200u), JobId(10u), JobId(11u), JobId(12u)}));
  EXPECT_EQ(plan.examined, 4 + 16u) << "and those that are explained";
}

TEST(Wake, OtherOrdersOfTheSameMembersAreOtherClasses) {
  State s = full_cluster();
  Engine engine(*builtin_profile("ashlar"));
  tell(s, Submitted{leader_and_workers(10)});
  Workload last = leader_and_workers(11);
  std::swap(last.members[0].demand, last.members[2].demand);
  tell(s, Submitted{last});
  EXPECT_EQ(engine.decide(s, s.now()).examined, 2u);
}

/// Six nodes in racks of two, all taken by jobs 0 to 5; gangs of two groups that need a rack each.
struct GangsOfGroups {
  State s = small_state(0);
  Engine engine{*builtin_profile("ashlar")};
  GangsOfGroups() {
    tell(s, LevelsDefined{1, 0});
    tell(s, DemandDefined{kWholeNode, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    for (std::uint32_t n = 0; n < 6; ++n) {
      NodeFacts facts = eight_devices();
      facts.domains = {DomainId(n / 2)};
      tell(s, NodeSeen{NodeId(n), facts});
      tell(s, Submitted{workload(n, n, 1, kWholeNode)});
      tell(s, Bound{MemberId(n), NodeId(n), {}});
    }
    tell(s, GangSpecDefined{GangSpecId(0u), {{{2, LevelId(0u), {}}, {2, LevelId(0u), {}}}}});
    for (std::uint32_t g = 0; g < kGangs; ++g) {
      Workload gang = workload(10 + g, 10 * (10 + g), 4, kWholeNode);
      gang.spec = GangSpecId(0u);
      gang.members[2].group = gang.members[3].group = 1;
      tell(s, Submitted{gang});
    }
  }
  std::uint32_t examined() { return engine.decide(s, s.now()).examined; }
};

TEST(Wake, LikeGangsOfGroupsWaitInOneClassUntilEachGroupHasADomain) {
  GangsOfGroups w;
  EXPECT_EQ(w.examined(), 1u);
  for (const std::uint32_t free : {0u, 2u, 4u}) {  // enough for a member in each rack
    tell(w.s, Ended{JobId(free)});
    EXPECT_EQ(w.examined(), 0u) << "no rack has room for a group";
  }
  tell(w.s, Ended{JobId(1u)});
  EXPECT_EQ(w.examined(), 0u) << "four nodes, and a rack for one group";
  tell(w.s, Ended{JobId(3u)});
  EXPECT_EQ(w.engine.decide(w.s, w.s.now()).actions.size(), 4u);
  for (const std::uint32_t member : {100u, 101u})
    EXPECT_EQ(w.s.member(MemberId(member)).node.row() / 2, w.s.member(MemberId(100u)).node.row() / 2);
  EXPECT_NE(w.s.anchor(JobId(10u), LevelId(0u), 0), w.s.anchor(JobId(10u), LevelId(0u), 1));
}

TEST(Wake, AMemberLostByAGroupWaitsForRoomInTheDomainOfItsGroup) {
  GangsOfGroups w;
  w.examined();
  for (const std::uint32_t free : {0u, 1u, 2u, 3u}) tell(w.s, Ended{JobId(free)});
  ASSERT_EQ(w.engine.decide(w.s, w.s.now()).actions.size(), 4u);
  for (std::uint32_t m = 100; m < 104; ++m) tell(w.s, Bound{MemberId(m), w.s.member(MemberId(m)).node, {}});
  const NodeId lost = w.s.member(MemberId(102u)).node;
  tell(w.s, Evicted{JobId(10u), Millis::max(), MemberId(102u)});
  Workload other = workload(9, 9, 1, kWholeNode);  // takes the place
  other.priority = 9;
  tell(w.s, Submitted{other});
  w.examined();
  ASSERT_EQ(w.s.member(MemberId(9u)).node, lost);
  tell(w.s, Ended{JobId(4u)});
  EXPECT_EQ(w.examined(), 0u) << "a node of another rack";
  tell(w.s, Ended{JobId(9u)});
  EXPECT_EQ(w.examined(), 1u);
  EXPECT_EQ(w.s.member(MemberId(102u)).node, lost);
}

/// Nodes 0 and 1 of class 0, node 2 of class 1; queue 1 may have 8 GPUs of class 0, and has them on node 0. Job 2 of
/// another queue is on node 1, and job 3 on node 2, each in two halves: members 10 and 11, 12 and 13.
State two_classes() {
  State s = small_state(2);
  NodeFacts other = eight_devices();
  other.devices.device_class = DeviceClassId(1u);
  tell(s, NodeSeen{NodeId(2u), other});
  tell(s, QueueDefined{QueueId(1u),
                       QueueId(0u),
                       {kUnlimited, kUnlimited, kUnlimited},
                       {{{ResourceId::none(), DeviceClassId(0u)}, 8000}}});
  tell(s, QueueDefined{QueueId(2u), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
  const auto run = [&](std::uint32_t job, std::uint32_t queue, std::uint32_t node) {
    for (std::uint32_t half = 0; half < 2; ++half) {
      Workload w = workload(job + half, job + half, 1, kFourDevices);
      w.queue = QueueId(queue);
      tell(s, Submitted{w});
      tell(s, Bound{w.members[0].member, NodeId(node), {}});
    }
  };
  run(10, 1, 0);
  run(12, 2, 1);
  run(14, 2, 2);
  return s;
}

/// A gang of two with 4 GPUs each waits in queue 1: the limit refuses it, though half of node 1 is free.
struct RefusedGang {
  State s = two_classes();
  Engine engine{*builtin_profile("ashlar")};
  RefusedGang() {
    tell(s, Ended{JobId(12u)});
    tell(s, Ended{JobId(13u)});
    Workload gang = workload(20, 20, 2, kFourDevices);
    gang.queue = QueueId(1u);
    tell(s, Submitted{gang});
    engine.decide(s, s.now());
  }
  std::uint32_t examined() { return engine.decide(s, s.now()).examined; }
  bool runs() const { return s.job(JobId(20u)).members_placed == 2; }
  VerdictKind verdict() const { return engine.verdict_of(JobId(20u)).kind; }
};

TEST(Wake, AJobThatALimitOfAClassRefusesSleepsUntilTheClassOrOtherNodesHaveRoom) {
  RefusedGang of_class;
  ASSERT_EQ(of_class.verdict(), VerdictKind::kOverQuota);
  tell(of_class.s, NodeSeen{NodeId(3u), eight_devices()});  // more room where the limit is reached
  EXPECT_EQ(of_class.examined(), 0u);
  tell(of_class.s, Ended{JobId(14u)});  // half of what it needs, on another class
  EXPECT_EQ(of_class.examined(), 0u);
  tell(of_class.s, Ended{JobId(10u)});  // and half within the limit
  EXPECT_EQ(of_class.examined(), 1u);
  EXPECT_TRUE(of_class.runs());

  RefusedGang elsewhere;
  tell(elsewhere.s, Ended{JobId(14u)});
  EXPECT_EQ(elsewhere.examined(), 0u);
  tell(elsewhere.s, Ended{JobId(15u)});
  EXPECT_EQ(elsewhere.examined(), 1u);
  EXPECT_TRUE(elsewhere.runs());
}

TEST(Wake, AJobThatALimitOfAClassRefusesIsLookedAtOnceTheLimitIsHighEnough) {
  RefusedGang gang;
  const auto limit = [&](std::int64_t milli) {
    tell(gang.s, QueueDefined{QueueId(1u),
                              QueueId(0u),
                              {kUnlimited, kUnlimited, kUnlimited},
                              {{{ResourceId::none(), DeviceClassId(0u)}, milli}}});
  };
  limit(12'000);
  EXPECT_EQ(gang.examined(), 1u);  // so that its verdict has the limit of now
  EXPECT_FALSE(gang.runs());
  tell(gang.s, NodeSeen{NodeId(3u), eight_devices()});
  EXPECT_EQ(gang.examined(), 0u);
  limit(16'000);
  EXPECT_EQ(gang.examined(), 1u);
  EXPECT_TRUE(gang.runs());
}

TEST(Wake, AJobThatALimitOfAClassRefusesIsToldWhatIsUsedNow) {
  RefusedGang gang;
  const auto used = [](const Verdict& verdict) { return verdict.reasons.at(0).numbers[1]; };
  const Reason reported = gang.engine.verdict_of(JobId(20u)).reasons.at(0);
  tell(gang.s, Ended{JobId(10u)});  // half of what it needs
  EXPECT_EQ(gang.examined(), 0u);
  EXPECT_EQ(used(gang.engine.verdict_of(JobId(20u))), reported.numbers[1]) << "nothing that could help it happened";
  const Reason now = gang.engine.verdict_with_numbers_of_now(gang.s, JobId(20u)).reasons.at(0);
  EXPECT_EQ(now, (Reason{reported.code,
                         reported.subject,
                         {reported.numbers[0], reported.numbers[1] - 4'000, reported.numbers[2]}}));
}

TEST(Wake, AJobThatALimitOfAClassRefusedIsLookedAtOnceIfNowTheCapacityIsShort) {
  RefusedGang gang;
  tell(gang.s, NodeGone{NodeId(1u)});
  EXPECT_EQ(gang.examined(), 1u);
  EXPECT_EQ(gang.verdict(), VerdictKind::kWaits);
  tell(gang.s, NodeSeen{NodeId(4u), eight_devices()});  // and again if it is not
  EXPECT_EQ(gang.examined(), 1u);
  EXPECT_EQ(gang.verdict(), VerdictKind::kOverQuota);
}

TEST(Wake, OthersThatAreFreedOfALimitedClassWakeNobody) {
  RefusedGang gang;
  Workload other = workload(30, 30, 1, kOneDevice);
  other.queue = QueueId(2u);
  tell(gang.s, Submitted{other});
  EXPECT_EQ(gang.examined(), 1u);
  tell(gang.s, Ended{JobId(30u)});
  EXPECT_EQ(gang.examined(), 0u);
}

/// A node of each model, and a constraint to the first one.
State two_models() {
  State s = small_state(1);
  NodeFacts other = eight_devices();
  other.devices.device_class = DeviceClassId(1u);
  tell(s, NodeSeen{NodeId(1u), other});
  tell(s, ConstraintDefined{ConstraintId(1u), {.models = {DeviceClassId(0u)}}});
  return s;
}

/// A pod of the first model, which its queue's limit on it refuses, until the queue is limited as a whole instead; what
/// then gives it room is the end of a pod on a node that it cannot use.
TEST(Wake, AJobWhoseLimitOfAClassWasLiftedStartsWhenNoOtherRefusesIt) {
  State s = two_models();
  tell(s, QueueDefined{QueueId(1u),
                       QueueId(0u),
                       {kUnlimited, kUnlimited, kUnlimited},
                       {{{ResourceId::none(), DeviceClassId(0u)}, 1000}}});
  for (std::uint32_t job = 0; job < 3; ++job) {
    Workload w = workload(job, job, 1, kOneDevice);
    w.queue = QueueId(1u);
    if (job == 2) w.members[0].constraint = ConstraintId(1u);
    tell(s, Submitted{w});
    if (job < 2) tell(s, Bound{MemberId(job), NodeId(job), {}});
  }
  Engine engine(*builtin_profile("ashlar"));
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 0u);
  EXPECT_TRUE(waits_for_class_quota(engine.verdict_of(JobId(2u))));
  tell(s, QueueDefined{QueueId(1u), QueueId(0u), {2000, kUnlimited, kUnlimited}});
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 0u);
  tell(s, Ended{JobId(1u)});
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 1u);
}

/// The limit on its model has room again while the queue as a whole has none; what then gives it room is the end of a
/// pod on a node that it cannot use.
TEST(Wake, AJobStartsWhoseLimitOfAClassWasFreedWhileAnotherRefusedIt) {
  State s = two_models();
  const auto limit = [&](std::int64_t milli) {
    tell(s, QueueDefined{QueueId(1u),
                         QueueId(0u),
                         {milli, kUnlimited, kUnlimited},
                         {{{ResourceId::none(), DeviceClassId(0u)}, 1000}}});
  };
  limit(6000);
  const auto submit = [&](std::uint32_t job, DemandId demand, ConstraintId constraint, NodeId at) {
    Workload w = workload(job, job, 1, demand);
    w.queue = QueueId(1u);
    w.members[0].constraint = constraint;
    tell(s, Submitted{w});
    if (!at.is_none()) tell(s, Bound{MemberId(job), at, {}});
  };
  submit(0, kOneDevice, kAnywhere, NodeId(0u));
  submit(1, kOneDevice, kAnywhere, NodeId(1u));
  submit(2, kOneDevice, ConstraintId(1u), NodeId::none());
  Engine engine(*builtin_profile("ashlar"));
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 0u);
  EXPECT_TRUE(waits_for_class_quota(engine.verdict_of(JobId(2u))));
  submit(3, kFourDevices, kAnywhere, NodeId(1u));
  limit(5000);
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 0u);
  tell(s, Ended{JobId(0u)});
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 0u);
  tell(s, Ended{JobId(1u)});
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 1u);
}

}  // namespace
}  // namespace ashlar
