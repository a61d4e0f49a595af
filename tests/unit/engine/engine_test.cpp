// Engine: what decide returns and remembers, beyond what the cases show: verdicts told once, work bounded, what-if
// without a trace, remedies, the driver.
#include "engine/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "../state/small_state.h"
#include "engine/cycle.h"
#include "engine/driver.h"
#include "engine/explain/explain.h"
#include "engine/explain/never_fits.h"
#include "engine/place/placement.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

constexpr DemandId kEightDevices{9u};

State cluster_of(std::uint32_t nodes) {
  State s = small_state(nodes);
  tell(s, DemandDefined{kEightDevices, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  return s;
}

Engine default_engine(EngineOptions options = {}) { return Engine(*builtin_profile("ashlar"), options); }

std::size_t binds(const Plan& plan) {
  return static_cast<std::size_t>(std::count_if(plan.actions.begin(), plan.actions.end(),
                                                [](const Action& a) { return std::holds_alternative<Bind>(a); }));
}

TEST(Engine, AssumesItsOwnPlan) {
  State s = cluster_of(1);
  Engine engine = default_engine();
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  EXPECT_EQ(binds(engine.decide(s, Millis(0))), 1u);
  EXPECT_EQ(s.member(MemberId(0u)).phase, Member::Phase::kAssumed);
  EXPECT_EQ(binds(engine.decide(s, Millis(0))), 0u);
}

TEST(Engine, TellsAVerdictOnceUntilItChanges) {
  State s = cluster_of(1);
  Engine engine = default_engine();
  tell(s, Submitted{workload(0, 0, 1, kEightDevices)});
  tell(s, Submitted{workload(1, 1, 1, kEightDevices)});
  const Plan first = engine.decide(s, Millis(0));
  ASSERT_EQ(first.verdicts.size(), 2u);
  EXPECT_EQ(first.verdicts[0].verdict.kind, VerdictKind::kPlaced);
  EXPECT_EQ(first.verdicts[1].verdict.kind, VerdictKind::kWaits);
  tell(s, NodeSeen{NodeId(0u), eight_devices()});
  EXPECT_TRUE(engine.decide(s, Millis(1)).verdicts.empty());
  tell(s, Ended{JobId(0u)});
  const Plan second = engine.decide(s, Millis(2));
  ASSERT_EQ(second.verdicts.size(), 1u);
  EXPECT_EQ(second.verdicts[0].job, JobId(1u));
  EXPECT_EQ(second.verdicts[0].verdict.kind, VerdictKind::kPlaced);
}

/// One by one, so that somebody with thousands of impossible jobs cannot make a decision long.
TEST(Engine, ProvesAnewSixteenOfThoseThatNeverFitInADecision) {
  State s = cluster_of(1);
  Engine engine = default_engine();
  for (std::uint32_t k = 0; k < 40; ++k) {
    tell(s, DemandDefined{DemandId(20 + k),
                          {.amounts = {{resource::kPods, 1}},
                           .devices = {static_cast<std::int32_t>(9 + k), MilliGpu(1000), MiB(0)}}});
    tell(s, Submitted{workload(k, k, 1, DemandId(20 + k))});
  }
  const Plan first = engine.decide(s, Millis(0));
  EXPECT_EQ(first.verdicts.size(), 40u);
  for (const VerdictChange& v : first.verdicts) EXPECT_EQ(v.verdict.kind, VerdictKind::kNeverFits);
  NodeFacts large = eight_devices();
  large.devices.count = 64;
  large.is_ready = false;  // it could take each of them, but not now
  tell(s, NodeSeen{NodeId(1u), large});
  std::vector<std::size_t> told;
  for (std::int64_t at = 1; at <= 4; ++at) {
    const Plan plan = engine.decide(s, Millis(at));
    EXPECT_EQ(plan.look_again_at, at <= 2 ? Millis(at) : Millis::max());
    for (const VerdictChange& v : plan.verdicts) EXPECT_EQ(v.verdict.kind, VerdictKind::kWaits);
    told.push_back(plan.verdicts.size());
  }
  EXPECT_EQ(told, (std::vector<std::size_t>{16, 16, 8, 0}));
}

TEST(Engine, TellsALateComerOfAClosedShapeWhyItWaits) {
  State s = cluster_of(1);
  Engine engine = default_engine();
  for (std::uint32_t j = 0; j < 2; ++j) tell(s, Submitted{workload(j, j, 1, kEightDevices)});
  engine.decide(s, Millis(0));
  tell(s, Submitted{workload(2, 2, 1, kEightDevices)});
  const Plan plan = engine.decide(s, Millis(1));
  ASSERT_EQ(plan.verdicts.size(), 1u);
  EXPECT_EQ(plan.verdicts[0].job, JobId(2u));
  EXPECT_EQ(plan.examined, 0u);
}

TEST(Engine, LooksAtOneOfManyLikeJobsThatCannotRun) {
  State s = cluster_of(4);
  Engine engine = default_engine();
  for (std::uint32_t j = 0; j < 2000; ++j) tell(s, Submitted{workload(j, 5 * j, 5, kEightDevices)});
  EXPECT_EQ(engine.decide(s, Millis(0)).examined, 1u);
  tell(s, NodeSeen{NodeId(3u), eight_devices()});
  EXPECT_EQ(engine.decide(s, Millis(1)).examined, 1u) << "one proof for all of them";
}

TEST(Engine, StopsAStepAfterItsBindsButNeverInsideAGang) {
  State s = cluster_of(4);
  Engine engine = default_engine({.binds_per_step_max = 3});
  tell(s, Submitted{workload(0, 0, 2, kFourDevices)});
  tell(s, Submitted{workload(1, 2, 2, kFourDevices)});
  tell(s, Submitted{workload(2, 4, 1, kFourDevices)});
  const Plan first = engine.decide(s, Millis(0));
  EXPECT_EQ(binds(first), 4u);
  EXPECT_EQ(first.look_again_at, Millis(0));
  EXPECT_EQ(binds(engine.decide(s, Millis(0))), 1u);
}

Engine engine_with(Blocking blocking) {
  Profile profile = *builtin_profile("ashlar");
  profile.blocking = blocking;
  return Engine(std::move(profile));
}

Workload lasting(Workload w, std::int64_t seconds) {
  w.estimate = {Millis(seconds * 1000), Millis(seconds * 1000)};
  return w;
}

/// The last thing that the plan says of the job; kPending if nothing.
Verdict told(const Plan& plan, std::uint32_t job) {
  Verdict last;
  for (const VerdictChange& change : plan.verdicts)
    if (change.job == JobId(job)) last = change.verdict;
  return last;
}

/// Job 0 runs on four of eight devices for 100 s, job 1 wants all eight, job 2 four of them for 1000 s.
State held_up() {
  State s = cluster_of(1);
  tell(s, Submitted{lasting(workload(0, 0, 1, kFourDevices), 100)});
  tell(s, Submitted{lasting(workload(1, 1, 1, kEightDevices), 100)});
  tell(s, Submitted{lasting(workload(2, 2, 1, kFourDevices), 1000)});
  return s;
}

TEST(Engine, SaysOfAHeldJobWhatThePlanSaid) {
  State s = held_up();
  Engine engine = engine_with(Blocking::kEasy);
  const Plan plan = engine.decide(s, Millis(0));
  const Verdict held = engine.verdict_of(JobId(2u));
  EXPECT_EQ(told(plan, 2), held);
  EXPECT_EQ(held.kind, VerdictKind::kWaits);
  ASSERT_EQ(held.reasons.size(), 1u);
  EXPECT_EQ(held.reasons[0], (Reason{ReasonCode::kReservationHeld, 0, {100'000, 0, 0}}));
}

TEST(Engine, SaysUntilWhenAJobIsHeldThoughThePromiseHasMoved) {
  State s = held_up();
  tell(s, Submitted{lasting(workload(3, 3, 1, kNoDevices), 10)});
  Engine engine = engine_with(Blocking::kEasy);
  engine.decide(s, Millis(0));
  tell(s, NodeGone{NodeId(0u)}, Millis(5000));
  tell(s, NodeSeen{NodeId(0u), eight_devices()}, Millis(5000));
  tell(s, Submitted{lasting(workload(4, 4, 1, kFourDevices), 200)}, Millis(5000));
  tell(s, Bound{MemberId(4u), NodeId(0u), {}}, Millis(5000));
  tell(s, Ended{JobId(0u)}, Millis(5000));
  const Plan plan = engine.decide(s, Millis(5000));
  const Verdict held = engine.verdict_of(JobId(2u));
  ASSERT_EQ(held.reasons.size(), 1u);
  EXPECT_EQ(held.reasons[0], (Reason{ReasonCode::kReservationHeld, 0, {205'000, 0, 0}}));
  EXPECT_EQ(held.at, Millis(5000));
  EXPECT_EQ(told(plan, 2), held)
      << "the same reason is reported again when its time is off by more than a tenth of what is left";
}

TEST(Engine, SaysOfAJobBehindTheHeadWhatThePlanSaid) {
  State s = held_up();
  Engine engine = engine_with(Blocking::kStrict);
  const Plan plan = engine.decide(s, Millis(0));
  const Verdict behind = engine.verdict_of(JobId(2u));
  EXPECT_EQ(told(plan, 2), behind);
  ASSERT_EQ(behind.reasons.size(), 1u);
  EXPECT_EQ(behind.reasons[0].code, ReasonCode::kBehindHead);
  EXPECT_EQ(behind.wake_on, WakeOn::kHeadOfQueue);
}

TEST(Engine, SaysNothingOfAJobThatWasNotLookedAtYet) {
  State s = cluster_of(1);
  Engine engine = default_engine({.binds_per_step_max = 1});
  for (std::uint32_t j = 0; j < 3; ++j) tell(s, Submitted{workload(j, j, 1, j == 2 ? kEightDevices : kFourDevices)});
  engine.decide(s, Millis(0));
  EXPECT_EQ(engine.verdict_of(JobId(2u)), Verdict{});
  EXPECT_EQ(engine.verdict_of(JobId(0u)), Verdict{});
}

TEST(Engine, AWokenJobKeepsItsVerdictUntilItIsLookedAt) {
  State s = cluster_of(1);
  Engine engine = default_engine({.binds_per_step_max = 1});
  tell(s, Submitted{workload(0, 0, 1, kEightDevices)});
  tell(s, Submitted{workload(1, 1, 1, kEightDevices)});
  engine.decide(s, Millis(0));
  engine.decide(s, Millis(0));
  const Verdict before = engine.verdict_of(JobId(1u));
  ASSERT_EQ(before.kind, VerdictKind::kWaits);
  Workload first = workload(2, 2, 1, kOneDevice);
  first.priority = 5;
  tell(s, Ended{JobId(0u)}, Millis(1));
  tell(s, Submitted{first}, Millis(1));
  tell(s, Submitted{workload(3, 3, 1, kEightDevices)}, Millis(1));
  EXPECT_EQ(binds(engine.decide(s, Millis(1))), 1u);
  EXPECT_EQ(engine.verdict_of(JobId(1u)), before);
  EXPECT_EQ(engine.verdict_of(JobId(3u)), Verdict{}) << "nothing was said of the newcomer yet";
}

TEST(Engine, CountsAnewForWhoAsksWhy) {
  State s = cluster_of(1);
  Engine engine = default_engine();
  for (std::uint32_t j = 0; j < 3; ++j) tell(s, Submitted{workload(j, j, 1, j == 0 ? kFourDevices : kOneDevice)});
  tell(s, Submitted{workload(3, 3, 1, kEightDevices)});
  engine.decide(s, Millis(0));
  EXPECT_EQ(engine.verdict_of(JobId(3u)).reasons.at(0).numbers[1], 2'000);
  tell(s, Ended{JobId(1u)}, Millis(1));
  engine.decide(s, Millis(1));
  EXPECT_EQ(engine.verdict_of(JobId(3u)).reasons.at(0).numbers[1], 2'000) << "nothing that could help it happened";
  const Verdict now = engine.verdict_with_numbers_of_now(s, JobId(3u));
  EXPECT_EQ(now.reasons.at(0), (Reason{ReasonCode::kInsufficientGpu, kEightDevices.value, {1, 3'000, 8'000}}));
  EXPECT_EQ(now.at, Millis(0));
}

TEST(Engine, WithoutVerdictsDecidesTheSame) {
  State with = cluster_of(2), without = cluster_of(2);
  Engine a = default_engine(), b = default_engine({.has_verdicts = false});
  for (State* s : {&with, &without})
    for (std::uint32_t j = 0; j < 6; ++j)
      tell(*s, Submitted{workload(j, j, 1, j % 2 == 0 ? kFourDevices : kEightDevices)});
  const Plan told = a.decide(with, Millis(0)), silent = b.decide(without, Millis(0));
  EXPECT_EQ(with.digest(), without.digest());
  EXPECT_EQ(told.actions.size(), silent.actions.size());
  EXPECT_TRUE(silent.verdicts.empty());
  EXPECT_FALSE(told.verdicts.empty());
}

/// Few classes behind a blocked head stay open where nobody asks for verdicts, many are closed.
TEST(Engine, WithoutVerdictsStrictOrderDecidesTheSameAndLooksAtFewShapes) {
  for (const std::uint32_t kinds : {8u, 200u}) {
    State with = cluster_of(1), without = cluster_of(1);
    Engine a(*builtin_profile("fifo")), b(*builtin_profile("fifo"), {.has_verdicts = false});
    for (State* s : {&with, &without}) {
      for (std::uint32_t j = 0; j < 2; ++j) tell(*s, Submitted{workload(j, j, 1, kEightDevices)});
      for (std::uint32_t k = 0; k < kinds; ++k) {
        tell(*s, DemandDefined{DemandId(20 + k),
                               {.amounts = {{resource::kCpu, k + 1}}, .devices = {1, MilliGpu(1000), MiB(0)}}});
        tell(*s, Submitted{workload(2 + k, 2 + k, 1, DemandId(20 + k))});
      }
    }
    std::size_t started = 0;
    for (std::int64_t t = 0; t < 5; ++t) {
      for (State* s : {&with, &without})
        if (t == 2 || t == 3) tell(*s, Ended{JobId(static_cast<std::uint32_t>(t - 2))}, Millis(t));
      const Plan told = a.decide(with, Millis(t)), silent = b.decide(without, Millis(t));
      EXPECT_EQ(with.digest(), without.digest()) << kinds << " kinds, step " << t;
      EXPECT_TRUE(silent.examined <= 64u || (t != 1 && t != 4))
          << "nothing has happened, and it looked at " << silent.examined;
      started += binds(silent);
    }
    EXPECT_EQ(started, 10u);
  }
}

TEST(Engine, WhatIfLeavesNoTrace) {
  State s = cluster_of(2);
  Engine engine = default_engine();
  tell(s, Submitted{workload(0, 0, 2, kEightDevices)});
  const std::uint64_t digest = s.digest();
  {
    Trial trial(s);
    EXPECT_TRUE(engine.try_place(trial, JobId(0u)));
    EXPECT_EQ(trial.steps().size(), 2u);
  }
  EXPECT_EQ(s.digest(), digest);
  EXPECT_EQ(binds(engine.decide(s, Millis(0))), 2u);
}

TEST(Engine, AFailedWhatIfLeavesTheTrialUnchanged) {
  State s = cluster_of(1);
  Engine engine = default_engine();
  tell(s, Submitted{workload(0, 0, 3, kFourDevices)});
  Trial trial(s);
  EXPECT_FALSE(engine.try_place(trial, JobId(0u)));
  EXPECT_TRUE(trial.steps().empty());
}

std::vector<Remedy> remedies_for(State& s, std::uint32_t job) {
  Engine engine = default_engine();
  engine.decide(s, Millis(0));
  const std::uint64_t digest = s.digest();
  std::vector<Remedy> found = find_remedies(s, engine, JobId(job));
  EXPECT_EQ(s.digest(), digest);
  return found;
}

const Remedy* remedy(const std::vector<Remedy>& all, Remedy::Kind kind) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const Remedy& r) { return r.kind == kind; });
  return it == all.end() ? nullptr : &*it;
}

constexpr LevelId kRack{0u};

NodeFacts in_rack(std::uint32_t rack) {
  NodeFacts facts = eight_devices();
  facts.domains = {DomainId(rack)};
  return facts;
}

/// Racks as given by node, and a gang of this many whole nodes that must stay within one.
State gang_within_a_rack(std::initializer_list<std::uint32_t> rack_of_node, std::uint32_t members) {
  State s = cluster_of(0);
  tell(s, LevelsDefined{1, 0});
  std::uint32_t node = 0;
  for (const std::uint32_t rack : rack_of_node) tell(s, NodeSeen{NodeId(node++), in_rack(rack)});
  Workload gang = workload(7, 0, members, kEightDevices);
  gang.within = kRack;
  tell(s, Submitted{gang});
  return s;
}

TEST(EngineDeathTest, NamesTheJobAndStopsWhenADecisionWouldLeaveTheDomain) {
  State s = gang_within_a_rack({0, 0}, 2);
  // What no policy may do: each node whose devices it chooses moves to a rack of its own, behind the back of the
  // search.
  static const DevicePolicy mover{"mover", [](const NodeView& view, NodeId node) {
                                    auto& cluster = const_cast<Cluster&>(static_cast<const Cluster&>(view.nodes));
                                    cluster.upsert_node(node, in_rack(1 + static_cast<std::uint32_t>(node.row())));
                                    return choose_devices(cluster, node, view.demand.devices, view.constraint);
                                  }};
  Profile profile = *builtin_profile("ashlar");
  profile.device = &mover;
  Engine engine(std::move(profile));
  engine.before_stop([](JobId job) { std::fprintf(stderr, "stops for job %zu, ", job.row()); });
  EXPECT_DEATH(engine.decide(s, Millis(0)), "stops for job 7, ashlar: bug: .* this must hold: is_within_one_domain");
}

TEST(Engine, GrowsAGangThatLabelsHaveSplitInTheDomainOfItsFirstMember) {
  State s = gang_within_a_rack({0, 0, 0}, 2);
  Engine engine = default_engine();
  EXPECT_EQ(binds(engine.decide(s, Millis(0))), 2u);
  tell(s, NodeSeen{NodeId(1u), in_rack(4)});
  tell(s, MembersAdded{JobId(7u), 2, {{MemberId(2u), kEightDevices, kAnywhere}}});
  engine.decide(s, Millis(1));
  EXPECT_EQ(s.member(MemberId(2u)).node, NodeId(2u));
}

TEST(Engine, LetsAGangWaitWhoseNodesAllMovedToWhereNothingIsFree) {
  State s = gang_within_a_rack({0, 0, 0}, 2);
  Engine engine = default_engine();
  engine.decide(s, Millis(0));
  tell(s, NodeSeen{NodeId(0u), in_rack(4)});
  tell(s, NodeSeen{NodeId(1u), in_rack(4)});
  tell(s, MembersAdded{JobId(7u), 2, {{MemberId(2u), kEightDevices, kAnywhere}}});
  engine.decide(s, Millis(1));
  EXPECT_FALSE(s.member(MemberId(2u)).is_placed());
}

TEST(Placement, StaysWithinWhereWhatWasSplitBeforeIsTheFaultOfOthers) {
  State s = gang_within_a_rack({0, 1, 2, 0}, 4);
  const auto is_fine = [&](std::initializer_list<std::uint32_t> before, std::initializer_list<std::uint32_t> now) {
    Trial outer(s);
    std::uint32_t member = 0;
    for (const std::uint32_t node : before) outer.place(MemberId(member++), NodeId(node), devices(0xff));
    Trial inner(s);
    for (const std::uint32_t node : now) inner.place(MemberId(member++), NodeId(node), devices(0xff));
    return stays_within(s, JobId(7u), inner.steps());
  };
  EXPECT_TRUE(is_fine({}, {0, 3}));
  EXPECT_FALSE(is_fine({}, {0, 1}));
  EXPECT_TRUE(is_fine({0}, {3}));
  EXPECT_FALSE(is_fine({0}, {1}));
  EXPECT_TRUE(is_fine({0, 1}, {3}));
  EXPECT_TRUE(is_fine({0, 1}, {2}));
  EXPECT_FALSE(is_fine({0, 3}, {2}));
}

TEST(NeverFits, IsCountedAndSaidWhereItIsNotSettled) {
  State s = cluster_of(10);
  constexpr DemandId kFiveDevices{10u};
  tell(s, DemandDefined{kFiveDevices, {.amounts = {{resource::kPods, 1}}, .devices = {5, MilliGpu(1000), MiB(0)}}});
  Workload w = workload(0, 0, 14, kFourDevices);
  for (std::size_t m = 0; m < 10; ++m) w.members[m].demand = kFiveDevices;
  tell(s, Submitted{w});
  Engine engine = default_engine();
  const Plan plan = engine.decide(s, Millis(0));
  ASSERT_EQ(plan.verdicts.size(), 1u);
  EXPECT_EQ(plan.verdicts[0].verdict.kind, VerdictKind::kWaits);
  EXPECT_EQ(plan.verdicts[0].verdict.reasons.back(),
            (Reason{ReasonCode::kLimitReached, kLimitOfProof, {kProofStepsMax, 0, 0}}));
  EXPECT_EQ(engine.unproven_count(), 1u);
  // Three of four devices instead find their place beside the others on nodes of their own.
  tell(s, Ended{JobId(0u)});
  w.members.resize(3);
  w.members_min = 3;
  tell(s, Submitted{w});
  EXPECT_EQ(binds(engine.decide(s, Millis(1))), 3u);
  EXPECT_EQ(engine.unproven_count(), 1u);
}

TEST(NeverFits, IsNotSaidWhenTheBudgetOfTheProofIsSpent) {
  // Eight nodes of different sizes, and members of which no two orders look alike: a place exists or not, it takes too
  // long to say.
  State s = cluster_of(0);
  Workload w = workload(0, 0, 0, kOneDevice);
  for (std::uint32_t n = 0; n < 8; ++n) {
    NodeFacts facts = eight_devices();
    facts.allocatable[resource::kCpu.row()] = 100'003 + 1'009 * n;
    tell(s, NodeSeen{NodeId(n), facts});
  }
  std::int64_t left = 8 * 100'003 + 28 * 1'009;
  for (std::uint32_t m = 0; m < 24; ++m) {
    const std::int64_t cpu = m == 23 ? left : 33'331 + 37 * m;
    left -= cpu;
    tell(s, DemandDefined{DemandId(20 + m), {.amounts = {{resource::kCpu, cpu}, {resource::kPods, 1}}}});
    w.members.push_back({MemberId(m), DemandId(20 + m), kAnywhere});
  }
  w.members_min = 24;
  tell(s, Submitted{w});
  EXPECT_EQ(ever_fits(s, JobId(0u)), EverFits::kUnproven);
}

TEST(Remedies, SayHowManyMembersOrDevicesWouldFit) {
  State s = cluster_of(3);
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(s, Submitted{workload(1, 1, 3, kEightDevices)});
  const std::vector<Remedy> found = remedies_for(s, 1);
  ASSERT_NE(remedy(found, Remedy::Kind::kFewerMembers), nullptr);
  EXPECT_EQ(remedy(found, Remedy::Kind::kFewerMembers)->amount, 2);
  ASSERT_NE(remedy(found, Remedy::Kind::kFewerDevices), nullptr);
  EXPECT_EQ(remedy(found, Remedy::Kind::kFewerDevices)->amount, 4);
  ASSERT_NE(remedy(found, Remedy::Kind::kMoreNodes), nullptr);
  EXPECT_EQ(remedy(found, Remedy::Kind::kMoreNodes)->amount, 1);
}

TEST(Remedies, SayHowMuchQuotaIsLacking) {
  State s = cluster_of(3);
  tell(s, QueueDefined{QueueId(1u), QueueId(0u), {12'000, kUnlimited, kUnlimited}});
  Workload w = workload(0, 0, 2, kEightDevices);
  w.queue = QueueId(1u);
  tell(s, Submitted{w});
  const std::vector<Remedy> found = remedies_for(s, 0);
  const Remedy* quota = remedy(found, Remedy::Kind::kMoreQuota);
  ASSERT_NE(quota, nullptr);
  EXPECT_EQ(quota->limits, (std::vector<Remedy::Limit>{{QueueId(1u), QuotaKey{}, 4'000}}));
}

TEST(Remedies, OfferNoQuotaWhereTheClusterKeepsTheRestForGuarantees) {
  State s = cluster_of(2);
  tell(s,
       QueueDefined{QueueId(1u), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}, {}, {{{}, 4'000, kUnlimited, 0}}});
  tell(s, Submitted{workload(0, 0, 2, kEightDevices)});
  Engine engine = default_engine();
  engine.decide(s, Millis(0));
  ASSERT_EQ(engine.verdict_of(JobId(0u)).reasons.front().code, ReasonCode::kKeptByGuarantees);
  const std::vector<Remedy> found = find_remedies(s, engine, JobId(0u));
  EXPECT_EQ(remedy(found, Remedy::Kind::kMoreQuota), nullptr) << "the root has none that could be raised";
  EXPECT_NE(remedy(found, Remedy::Kind::kFewerMembers), nullptr);
}

TEST(Remedies, OfAJobWhoseQueueIsHeldAreNone) {
  State s = cluster_of(2);
  tell(s, QueueDefined{QueueId(1u), QueueId(0u), {4'000, kUnlimited, kUnlimited}, {}, {}, {}, {QueueGate::Is::kHeld}});
  Workload w = workload(0, 0, 1, kEightDevices);
  w.queue = QueueId(1u);
  tell(s, Submitted{w});
  Engine engine = default_engine();
  engine.decide(s, Millis(0));
  EXPECT_TRUE(find_remedies(s, engine, JobId(0u)).empty()) << "more quota alone does not let it start";
}

TEST(Remedies, SayWhichWiderLevelWouldDo) {
  State s = cluster_of(0);
  tell(s, LevelsDefined{2, 0});
  for (std::uint32_t n = 0; n < 4; ++n) {
    NodeFacts f = eight_devices();
    f.domains = {DomainId(0u), DomainId(n / 2)};
    tell(s, NodeSeen{NodeId(n), f});
  }
  Workload w = workload(0, 0, 3, kEightDevices);
  w.within = LevelId(1u);
  tell(s, Submitted{w});
  const std::vector<Remedy> found = remedies_for(s, 0);
  ASSERT_NE(remedy(found, Remedy::Kind::kWidenWithin), nullptr);
  EXPECT_EQ(remedy(found, Remedy::Kind::kWidenWithin)->level, LevelId(0u));
  EXPECT_NE(remedy(found, Remedy::Kind::kDropWithin), nullptr);
}

TEST(Remedies, AreNotOfferedWhereAReservationWouldHoldTheJobAllTheSame) {
  for (const std::int64_t seconds : {50, 1000}) {
    State s = cluster_of(1);
    tell(s, Submitted{lasting(workload(0, 0, 1, kFourDevices), 100)});
    tell(s, Submitted{lasting(workload(1, 1, 1, kEightDevices), 100)});
    tell(s, Submitted{lasting(workload(2, 2, 1, kEightDevices), seconds)});
    Engine engine = engine_with(Blocking::kEasy);
    engine.decide(s, Millis(0));
    const std::vector<Remedy> found = find_remedies(s, engine, JobId(2u));
    EXPECT_EQ(remedy(found, Remedy::Kind::kFewerDevices) != nullptr, seconds == 50)
        << "the head is promised all cards in 100 s";
  }
}

TEST(Remedies, AreNotOfferedToAJobThatWaitsForItsTurn) {
  for (const Blocking blocking : {Blocking::kEasy, Blocking::kStrict}) {
    State s = held_up();
    tell(s, Submitted{lasting(workload(3, 3, 1, kEightDevices), 100)});
    Engine engine = engine_with(blocking);
    engine.decide(s, Millis(0));
    EXPECT_FALSE(find_remedies(s, engine, JobId(1u)).empty());
    EXPECT_TRUE(find_remedies(s, engine, JobId(2u)).empty());
    EXPECT_TRUE(find_remedies(s, engine, JobId(0u)).empty()) << "it runs";
    EXPECT_EQ(find_remedies(s, engine, JobId(3u)).empty(), blocking == Blocking::kStrict)
        << "the head blocks its likes too";
  }
}

TEST(Remedies, NameEveryLimitThatMustBeRaised) {
  State s = cluster_of(3);
  tell(s, QueueDefined{QueueId(1u), QueueId(0u), {kUnlimited, 10'000, kUnlimited}});
  tell(s, QueueDefined{QueueId(2u), QueueId(1u), {16'000, kUnlimited, kUnlimited}});
  Workload runs = workload(0, 0, 1, kFourDevices);
  runs.queue = QueueId(2u);
  tell(s, Submitted{runs});
  Workload w = workload(1, 1, 1, kEightDevices);  // eight, four and one devices: 13 of the 12 left
  w.members.push_back({MemberId(2u), kFourDevices, kAnywhere});
  w.members.push_back({MemberId(3u), kOneDevice, kAnywhere});
  w.members_min = 3;
  w.queue = QueueId(2u);
  tell(s, Submitted{w});
  Engine engine = default_engine();
  engine.decide(s, Millis(0));
  const std::vector<Remedy> found = find_remedies(s, engine, JobId(1u));
  const Remedy* quota = remedy(found, Remedy::Kind::kMoreQuota);
  ASSERT_NE(quota, nullptr);
  EXPECT_EQ(quota->limits, (std::vector<Remedy::Limit>{{QueueId(2u), QuotaKey{}, 1'000}}));
  tell(s, QueueDefined{QueueId(1u), QueueId(0u), {kUnlimited, 7'000, kUnlimited}});
  engine.decide(s, Millis(1));
  const std::vector<Remedy> both = find_remedies(s, engine, JobId(1u));
  ASSERT_NE(remedy(both, Remedy::Kind::kMoreQuota), nullptr);
  EXPECT_EQ(remedy(both, Remedy::Kind::kMoreQuota)->limits,
            (std::vector<Remedy::Limit>{{QueueId(2u), QuotaKey{}, 1'000},
                                        {QueueId(1u), QuotaKey{resource::kCpu, {}}, 1'000}}));
}

TEST(Remedies, CountAllGroupsOfTheJob) {
  State s = cluster_of(2);
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  Workload w = workload(1, 1, 1, kNoDevices);  // a launcher and two workers of eight devices
  w.members.push_back({MemberId(2u), kEightDevices, kAnywhere});
  w.members.push_back({MemberId(3u), kEightDevices, kAnywhere});
  w.members_min = 3;
  tell(s, Submitted{w});
  const std::vector<Remedy> found = remedies_for(s, 1);
  const auto amount = [&](Remedy::Kind kind) {
    return remedy(found, kind) == nullptr ? 0 : remedy(found, kind)->amount;
  };
  EXPECT_EQ(amount(Remedy::Kind::kFewerMembers), 2);
  EXPECT_EQ(amount(Remedy::Kind::kFewerDevices), 4);
  EXPECT_EQ(amount(Remedy::Kind::kFreeDevices), 4);
  EXPECT_EQ(amount(Remedy::Kind::kMoreNodes), 1);
}

TEST(Remedies, DoNotPromiseNewNodesToAPodThatIsTiedToOne) {
  State s = cluster_of(0);
  for (std::uint32_t n = 0; n < 2; ++n) {
    NodeFacts f = eight_devices();
    f.labels = {{LabelKeyId(0u), LabelId(n), NodeLabel::kNotANumber}};
    tell(s, NodeSeen{NodeId(n), f});
  }
  Constraint tied;
  tied.selector.all = {{LabelKeyId(0u), LabelExpression::Op::kIn, {LabelId(0u)}, 0}};
  tell(s, ConstraintDefined{ConstraintId(1u), tied});
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  Workload w = workload(1, 1, 1, kEightDevices);
  w.members[0].constraint = ConstraintId(1u);
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  tell(s, Submitted{w});
  Engine engine = default_engine();
  engine.decide(s, Millis(0));
  const LabelKeyId name(0u);
  EXPECT_NE(remedy(find_remedies(s, engine, JobId(1u)), Remedy::Kind::kMoreNodes), nullptr);
  const std::vector<Remedy> found =
      find_remedies(s, engine, JobId(1u), {.counts_devices = {}, .node_names = {&name, 1}});
  EXPECT_EQ(remedy(found, Remedy::Kind::kMoreNodes), nullptr);
  ASSERT_NE(remedy(found, Remedy::Kind::kFreeDevices), nullptr);
  EXPECT_EQ(remedy(found, Remedy::Kind::kFreeDevices)->amount, 4);
}

struct FakeClock final : Clock {
  Millis now() override { return at; }
  Millis at{0};
};
struct FakeEvents final : EventSource {
  void take(std::vector<Event>& out) override { out = std::exchange(events, {}); }
  std::vector<Event> events;
};
struct FakeActuator final : Actuator {
  void submit(const Plan& plan) override { submitted += plan.actions.size(); }
  std::size_t submitted = 0;
};
struct FakeRecorder final : Recorder {
  void record(std::span<const Event> batch, const Plan&, std::uint64_t digest) override {
    ++records;
    events += batch.size();
    last_digest = digest;
  }
  std::size_t records = 0, events = 0;
  std::uint64_t last_digest = 0;
};

TEST(Driver, AppliesDecidesSubmitsAndRecords) {
  State s = cluster_of(1);
  Engine engine = default_engine();
  FakeClock clock;
  FakeEvents events;
  FakeActuator actuator;
  FakeRecorder recorder;
  Driver driver(s, engine, {clock, events, actuator, &recorder});
  events.events = {{Millis(0), Submitted{workload(0, 0, 1, kFourDevices)}},
                   {Millis(0), Submitted{workload(1, 1, 1, kFourDevices)}}};
  EXPECT_EQ(binds(driver.step()), 2u);
  EXPECT_EQ(actuator.submitted, 2u);
  EXPECT_EQ(recorder.records, 1u);
  EXPECT_EQ(recorder.events, 2u);
  EXPECT_EQ(recorder.last_digest, s.digest());
  EXPECT_EQ(driver.batch().size(), 2u);
}

TEST(Driver, RecordsNothingWhenNothingHappens) {
  State s = cluster_of(1);
  Engine engine = default_engine();
  FakeClock clock;
  FakeEvents events;
  FakeActuator actuator;
  FakeRecorder recorder;
  Driver driver(s, engine, {clock, events, actuator, &recorder});
  driver.step();
  const std::size_t before = recorder.records;
  clock.at = Millis(1000);
  driver.step();
  EXPECT_EQ(recorder.records, before);
}

// ---- a decision is a list of stages ---------------------------------------------------------------------------------

TEST(Stages, OneOfThemStartsJobsAndEachHasAName) {
  for (const std::string_view name : builtin_profile_names()) {
    const std::vector<Stage> stages = stages_of(builtin_profile(name).value());
    EXPECT_EQ(std::count_if(stages.begin(), stages.end(), [](const Stage& s) { return s.starts_jobs; }), 1) << name;
    for (const Stage& stage : stages) EXPECT_FALSE(stage.name.empty());
  }
}

TEST(Stages, EachLeavesTheBooksRight) {
  State s = cluster_of(2);
  EngineData data(builtin_profile("ashlar").value(), {});
  const std::vector<Stage> stages = stages_of(*data.profile);
  for (std::uint32_t job = 0; job < 5; ++job) {
    tell(s, Submitted{workload(job, job, 1, kFourDevices)}, Millis(job));
    Cycle cycle(data.pending);
    cycle.plan.at = Millis(job);
    for (const Stage& stage : stages) {
      stage.run(data, s, cycle);
      EXPECT_TRUE(s.is_consistent()) << stage.name;
    }
    EXPECT_EQ(cycle.plan.actions.size(), job < 4 ? 1u : 0u) << "two nodes of eight devices take four jobs of four";
  }
}

}  // namespace
}  // namespace ashlar
