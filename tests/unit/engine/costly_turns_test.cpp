// Gangs of unlike members that are looked at in vain again and again: their share of a decision, and the turn that each
// of them has.
#include "engine/place/costly_turns.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "../state/small_state.h"
#include "base/rng.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

constexpr DemandId kHalfOfANode{20u};
constexpr std::size_t kCostAtOnce = 100;
constexpr QueueId kOurs{1u}, kTheirs{2u};
using JobRows = std::vector<std::uint32_t>;

/// JobRows 1 to 50 wait in one queue, 51 in another. All were searched for once, and all that was due is spent.
struct SearchedForOnce {
  SearchedForOnce() : state(small_state(1)) {
    for (const QueueId queue : {kOurs, kTheirs})
      tell(state, QueueDefined{queue, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
    for (std::uint32_t job = 1; job <= 51; ++job) submit(job, job == 51 ? kTheirs : kOurs, Millis(0));
    turns.refill(Millis(0), {kCostAtOnce, 0});
    for (std::uint32_t job = 1; job <= 51; ++job) turns.note_failed(state, JobId(job), 0);
    turns.next_turn();
  }
  void submit(std::uint32_t job, QueueId queue, Millis at, std::uint32_t tenant = 0) {
    Workload w = workload(job, 100 + job, 1, kOneDevice);
    w.queue = queue;
    w.submitted = at;
    w.tenant = tenant;
    tell(state, Submitted{std::move(w)});
  }
  /// Those of them that had a turn, each at that cost.
  JobRows look(Millis now, const JobRows& jobs, std::size_t cost = kCostAtOnce) {
    JobRows had;
    turns.refill(now, {kCostAtOnce, 0});
    for (const std::uint32_t job : jobs) {
      if (!turns.take_turn(state, JobId(job))) continue;
      turns.note_failed(state, JobId(job), cost);
      had.push_back(job);
    }
    next = turns.next_turn();
    return had;
  }

  State state;
  CostlyTurns turns;
  Millis next;
};

TEST(CostlyTurns, OneThatIsOverWhatIsLeftIsLookedAtWhole) {
  SearchedForOnce w;
  EXPECT_EQ(w.look(Millis(0), {1, 2}, kCostAtOnce - 1), (JobRows{1, 2})) << "something is left for the second";
  EXPECT_EQ(w.next, Millis::max());
  EXPECT_EQ(w.look(Millis(1), {3, 4}, 2'500 * 7), JobRows{3});
  EXPECT_EQ(w.next, Millis(1 + 7)) << "2,500 nodes are due each millisecond";
  EXPECT_EQ(w.look(Millis(7), {4}), JobRows{});
  EXPECT_EQ(w.look(Millis(8), {4}), JobRows{4});
}

TEST(CostlyTurns, OfAQueueAreForThoseThatHadNoneInTheRound) {
  SearchedForOnce w;
  EXPECT_EQ(w.look(Millis(0), {1, 2, 3}), JobRows{1});
  EXPECT_EQ(w.look(Millis(1000), {1, 2, 3}), JobRows{2});
  EXPECT_EQ(w.look(Millis(2000), {1, 2, 3}), JobRows{3});
  EXPECT_EQ(w.next, Millis(2001));
  EXPECT_EQ(w.look(Millis(3000), {1, 2, 3}), JobRows{1}) << "the next round";
  EXPECT_EQ(w.look(Millis(4000), {1, 2}), JobRows{2});
  EXPECT_EQ(w.look(Millis(5000), {1, 2}), JobRows{1}) << "one that waits no more keeps no round open";
  EXPECT_EQ(w.look(Millis(6000), {2}), JobRows{2});
  EXPECT_EQ(w.next, Millis::max());
}

TEST(CostlyTurns, WhereNothingIsPutOffEachMayBeLookedAtTwice) {
  SearchedForOnce w;
  EXPECT_EQ(w.look(Millis(0), {1, 1, 1}, 1), (JobRows{1, 1, 1}));
  EXPECT_EQ(w.next, Millis::max());
}

TEST(CostlyTurns, OfEachQueueAreAsManyHoweverManyJobsItHas) {
  SearchedForOnce w;
  std::size_t of_one = 0, of_other = 0;
  for (int decision = 0; decision < 100; ++decision) {
    JobRows jobs(50);
    std::iota(jobs.begin(), jobs.end(), 1);
    if (decision >= 20) jobs.push_back(51);  // it comes later, and has nothing coming for that
    for (const std::uint32_t job : w.look(Millis(1000 * (decision + 1)), jobs)) ++(job == 51 ? of_other : of_one);
  }
  EXPECT_EQ(of_one + of_other, 100u);
  EXPECT_GE(of_other, 38u);
  EXPECT_LE(of_other, 41u);
}

TEST(CostlyTurns, OfAJobThatWasNotSearchedForYetHaveAShareOfTheirOwn) {
  SearchedForOnce w;
  EXPECT_EQ(w.look(Millis(10), {1, 2}, 3 * kCostAtOnce), JobRows{1});
  w.submit(52, kOurs, Millis(10));
  EXPECT_EQ(w.look(Millis(10), {2, 52}, 1), JobRows{52}) << "though nothing is left of the other";
  EXPECT_EQ(w.look(Millis(10), {2, 52}, 1), JobRows{}) << "once";
  tell(w.state, Ended{JobId(52u)});
  w.submit(52, kOurs, Millis(11));  // another in its row, which came since
  EXPECT_EQ(w.look(Millis(10), {2, 52}, 1), JobRows{52});
  w.turns.forget(JobId(2u));
  EXPECT_EQ(w.look(Millis(10), {2, 3}, 1), JobRows{2});
}

TEST(CostlyTurns, OfNewJobsAreAsManyInADecisionAndEightTimesAsManyInABurst) {
  SearchedForOnce w;
  for (std::uint32_t job = 60; job < 80; ++job) w.submit(job, kOurs, Millis(10));
  JobRows jobs(20);
  std::iota(jobs.begin(), jobs.end(), 60);
  EXPECT_EQ(w.look(Millis(10), jobs, kCostAtOnce / 2), (JobRows{60, 61}));
  EXPECT_EQ(w.next, Millis(10));
  jobs.erase(jobs.begin(), jobs.begin() + 2);
  for (std::uint32_t job = 62; job < 68; ++job, jobs.erase(jobs.begin()))
    EXPECT_EQ(w.look(Millis(10), jobs), JobRows{job});
  EXPECT_EQ(w.look(Millis(10), jobs, 5'000 * 7), JobRows{68});
  EXPECT_EQ(w.look(Millis(10), {69, 70}), JobRows{});
  EXPECT_EQ(w.next, Millis(10 + 7)) << "5,000 nodes are due each millisecond";
}

/// Of 60 (kOurs), 61 and 62 (kTheirs), that are put off, those that go before `job` if it has found a place.
JobRows ahead_of(SearchedForOnce& w, std::uint32_t job) {
  JobRows rows;
  for (const JobId id : w.turns.take_ahead_of(w.state, JobId(job))) rows.push_back(id.value);
  return rows;
}

TEST(CostlyTurns, OfAHigherPriorityComeBeforeOneThatHasFoundAPlace) {
  SearchedForOnce w;
  const auto submit = [&](std::uint32_t job, QueueId queue, std::int32_t priority) {
    Workload of = workload(job, 100 + job, 1, kOneDevice);
    of.queue = queue;
    of.priority = priority;
    tell(w.state, Submitted{std::move(of)});
  };
  submit(60, kOurs, 5);
  submit(61, kOurs, 9);
  submit(62, kTheirs, 5);
  submit(63, kTheirs, 0);
  for (const std::uint32_t job : {60u, 61u, 62u, 63u}) w.turns.note_failed(w.state, JobId(job), kCostAtOnce);
  w.look(Millis(0), {1}, 8 * kCostAtOnce);  // nothing is left for those that were searched for
  w.turns.refill(Millis(0), {kCostAtOnce, 0});
  EXPECT_EQ(ahead_of(w, 63), JobRows{}) << "none is put off";
  for (const std::uint32_t job : {60u, 61u, 62u}) EXPECT_FALSE(w.turns.take_turn(w.state, JobId(job)));
  EXPECT_EQ(ahead_of(w, 62), JobRows{}) << "the other tenant's has the same priority";
  EXPECT_EQ(ahead_of(w, 63), JobRows{60}) << "the first of the other tenant";
  EXPECT_EQ(ahead_of(w, 63), JobRows{}) << "once";
  EXPECT_FALSE(w.turns.take_turn(w.state, JobId(61u)));
  EXPECT_TRUE(w.turns.take_turn(w.state, JobId(60u)));
  w.turns.note_failed(w.state, JobId(60u), kCostAtOnce);
  EXPECT_FALSE(w.turns.take_turn(w.state, JobId(60u))) << "it has had its turn";
  w.turns.next_turn();
  w.turns.refill(Millis(0), {kCostAtOnce, 0});
  for (const std::uint32_t job : {60u, 62u}) EXPECT_FALSE(w.turns.take_turn(w.state, JobId(job)));
  w.turns.take_ahead_of(w.state, JobId(63u));
  w.turns.note_failed(w.state, JobId(60u), 8 * kCostAtOnce);
  w.turns.next_turn();
  w.turns.refill(Millis(0), {kCostAtOnce, 0});
  EXPECT_FALSE(w.turns.take_turn(w.state, JobId(60u)));
  EXPECT_EQ(ahead_of(w, 63), JobRows{}) << "nothing is left of that share";
}

TEST(CostlyTurns, AFewInADecisionComeBeforeOneThatHasFoundAPlace) {
  SearchedForOnce w;
  for (std::uint32_t job = 60; job <= 65; ++job) {
    Workload of = workload(job, 100 + job, 1, kOneDevice);
    of.tenant = job;
    of.priority = job == 65 ? 0 : 5;
    tell(w.state, Submitted{std::move(of)});
    w.turns.note_failed(w.state, JobId(job), 0);
  }
  w.look(Millis(0), {1}, 8 * kCostAtOnce);  // nothing is left for those that were searched for
  for (int decision = 0; decision < 2; ++decision) {
    w.turns.refill(Millis(0), {kCostAtOnce, 0});
    for (std::uint32_t job = 60; job < 65; ++job) EXPECT_FALSE(w.turns.take_turn(w.state, JobId(job))) << job;
    EXPECT_EQ(ahead_of(w, 65), (JobRows{60, 61, 62, 63}));
    EXPECT_EQ(ahead_of(w, 65), JobRows{});
    w.turns.next_turn();
  }
}

TEST(CostlyTurns, OfAQueueWithoutAnyBeforeComeFirst) {
  SearchedForOnce w;
  EXPECT_EQ(w.look(Millis(0), {1, 2}), JobRows{1});
  EXPECT_EQ(w.look(Millis(1000), {51, 2}), JobRows{51});
}

/// Nor the other way round: old ones that come first in order take nothing from a new one.
TEST(CostlyTurns, OfOldJobsLeaveANewOneItsFirst) {
  SearchedForOnce w;
  w.submit(52, kOurs, Millis(10));
  EXPECT_EQ(w.look(Millis(10), {1, 2, 52}), (JobRows{1, 52}));
}

/// One queue has new jobs all the time, as many as may be searched for; another has an old one.
TEST(CostlyTurns, OfNewJobsLeaveOldOnesTheirsInTheSameQueueAndInAnother) {
  for (const std::uint32_t old : {2u, 51u}) {
    SearchedForOnce w;
    EXPECT_EQ(w.look(Millis(0), {1, old}), JobRows{1});
    std::size_t of_old = 0, of_new = 0;
    for (std::uint32_t decision = 1; decision <= 100; ++decision) {
      JobRows jobs{old};
      for (std::uint32_t job = 100 + 10 * decision; job < 110 + 10 * decision; ++job) {
        w.submit(job, kOurs, Millis(decision));
        jobs.insert(jobs.begin(), job);
      }
      for (const std::uint32_t job : w.look(Millis(decision), jobs, 5'000)) ++(job == old ? of_old : of_new);
    }
    EXPECT_GE(of_old, 30u) << old;
    EXPECT_GE(of_new, 30u) << old;
  }
}

/// However it comes that something was put off: the next decision is not at once unless it looks at something.
TEST(CostlyTurns, AreNeverWaitedForWithoutEnd) {
  Rng rng(1);
  for (int world = 0; world < 200; ++world) {
    SearchedForOnce w;
    Millis now;
    for (int step = 0; step < 100; ++step) {
      JobRows jobs;
      for (std::uint32_t job = 1; job <= 51; ++job)
        if (rng.below(10) == 0) jobs.push_back(job);
      if (rng.below(4) == 0) w.turns.forget(JobId(1 + static_cast<std::uint32_t>(rng.below(51))));
      for (int same = 0; w.look(now, jobs, 1 + rng.below(20'000)).empty() && w.next == now; ++same)
        ASSERT_LT(same, 2) << "world " << world << " step " << step;
      now = w.next == Millis::max() || rng.below(2) == 0 ? now + Millis(1) : std::max(now, w.next);
    }
  }
}

TEST(CostlyTurns, AreRefilledByTheTimeHoweverOftenThatIsAsked) {
  SearchedForOnce rarely, often;
  for (SearchedForOnce* w : {&rarely, &often}) EXPECT_EQ(w->look(Millis(0), {1}, 2'500 * 10 + kCostAtOnce), JobRows{1});
  for (int at = 1; at <= 9; ++at) EXPECT_EQ(often.look(Millis(at), {2}), JobRows{});
  EXPECT_EQ(rarely.look(Millis(9), {2}), JobRows{});
  EXPECT_EQ(often.next, rarely.next);
  EXPECT_EQ(often.next, Millis(11));
  EXPECT_EQ(often.look(Millis(3), {2}), JobRows{}) << "a clock that was set back gives nothing";
  EXPECT_EQ(often.next, Millis(3 + 2)) << "nor is it waited for";
  EXPECT_EQ(often.look(Millis(11), {2}), JobRows{2});
}

constexpr std::uint32_t kMembers = 5;

/// Of that many unlike members that need a whole node each: job 20 + `g`, from member row 100 on.
void submit_gang(State& s, std::uint32_t g, QueueId queue = QueueId(0u), std::int32_t priority = 0) {
  Workload gang = workload(20 + g, 100 + kMembers * g, kMembers, kHalfOfANode);
  gang.queue = queue;
  gang.priority = priority;
  for (std::uint32_t m = 0; m < kMembers; ++m) {
    const DemandId demand(30 + kMembers * g + m);
    const ResourceAmount cores{resource::kCpu, kMembers * g + m + 1};
    tell(s, DemandDefined{demand, {.amounts = {cores}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    gang.members[m].demand = demand;
  }
  tell(s, Submitted{std::move(gang)});
}

/// Five nodes or more, each half taken by one of jobs 0 to 4 and so on, and that many such gangs.
State with_gangs(std::uint32_t count, std::uint32_t nodes = kMembers) {
  State s = small_state(nodes);
  tell(s, DemandDefined{kHalfOfANode, {.amounts = {{resource::kPods, 1}}, .devices = {4, MilliGpu(1000), MiB(0)}}});
  for (std::uint32_t n = 0; n < nodes; ++n) {
    tell(s, Submitted{workload(n, n, 1, kHalfOfANode)});
    tell(s, Bound{MemberId(n), NodeId(n), {}});
  }
  for (std::uint32_t g = 0; g < count; ++g) submit_gang(s, g);
  return s;
}

Engine engine_blocking_by(Blocking blocking) {
  Profile profile = *builtin_profile("ashlar");
  profile.blocking = blocking;
  return Engine(std::move(profile));
}

/// Of these jobs something else is known than that they wait for their turn.
std::vector<JobId> judged_in(const Plan& plan) {
  std::vector<JobId> judged;
  for (const VerdictChange& change : plan.verdicts)
    if (change.verdict.reasons.empty() || change.verdict.reasons.front().code != ReasonCode::kSearchPutOff)
      judged.push_back(change.job);
  return judged;
}

/// Twelve gangs come at once, of which one is looked at in a decision, and behind them a job that fits.
TEST(CostlyTurns, AJobBehindManyGangsIsDecidedWithTheFirstOfThem) {
  constexpr std::uint32_t kGangs = 12;
  State s = with_gangs(kGangs);
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_costly({1, 0});
  tell(s, Submitted{workload(6, 16, 1, kHalfOfANode)});
  Plan plan = engine.decide(s, s.now());
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(6u));
  std::set<JobId> judged;
  for (std::uint32_t decision = 0; decision < kGangs; ++decision) {
    std::size_t of_this = 0;
    for (const JobId job : judged_in(plan))
      if (job.value >= 20) of_this += judged.insert(job).second ? 1 : 0;
    EXPECT_EQ(of_this, 1u);
    EXPECT_GE(plan.look_again_at, s.now());
    if (plan.look_again_at == Millis::max()) break;
    plan = engine.decide(s, plan.look_again_at);
  }
  EXPECT_EQ(judged.size(), kGangs);
  EXPECT_EQ(plan.look_again_at, Millis::max());
}

/// Of six kinds, of which five find a place on the free halves of nodes: job 20 + `g`.
void submit_gang_on_halves(State& s, std::uint32_t g, LabelSetId labels) {
  Workload gang = workload(20 + g, 100 + (kMembers + 1) * g, kMembers + 1, kHalfOfANode);
  for (std::uint32_t m = 0; m <= kMembers; ++m) {
    const DemandId demand(30 + (kMembers + 1) * g + m);
    const ResourceAmount cores{resource::kCpu, (kMembers + 1) * g + m + 1};
    tell(s, DemandDefined{demand, {.amounts = {cores}, .devices = {4, MilliGpu(1000), MiB(0)}}});
    gang.members[m].demand = demand;
    gang.members[m].labels = labels;
  }
  tell(s, Submitted{std::move(gang)});
}

/// What they cost is mostly that each member
/// is counted by each selector that means it.
TEST(CostlyTurns, OfGangsAreTheCountsThatTheirMembersChange) {
  constexpr std::uint32_t kGangs = 3;
  for (const std::uint32_t selectors : {0u, 60'000u}) {
    State s = with_gangs(0);
    tell(s, LabelSetDefined{LabelSetId(0u), {.ns = NamespaceId(0u), .labels = {}}});
    for (std::uint32_t row = 0; row < selectors; ++row)
      tell(s, PodSelectorDefined{PodSelectorId(row), {.namespaces = {NamespaceId(0u)}}});
    for (std::uint32_t g = 0; g < kGangs; ++g) submit_gang_on_halves(s, g, LabelSetId(0u));
    Engine engine(*builtin_profile("ashlar"));
    engine.limit_costly({500'000, 0});
    EXPECT_EQ(judged_in(engine.decide(s, s.now())).size(), selectors == 0 ? kGangs : 1u);
  }
}

/// Many tenants that search in vain have together no more than five of them would have.
TEST(CostlyTurns, WhatEachTenantMayAlwaysSpendIsLessWhereManyDo) {
  const auto searches = [](std::uint32_t tenants) {
    SearchedForOnce w;
    for (std::uint32_t t = 0; t < tenants; ++t) w.submit(100 + t, kOurs, Millis(0), 1 + t);
    std::size_t made = 0;
    for (Millis now(0); now < Millis(1000); now = now + Millis(1)) {
      w.turns.refill(now, {0, 1000});
      for (std::uint32_t t = 0; t < tenants; ++t) {
        if (!w.turns.take_turn(w.state, JobId(100 + t))) continue;
        w.turns.note_failed(w.state, JobId(100 + t), 1000);
        ++made;
      }
      w.turns.next_turn();
    }
    return made;
  };
  EXPECT_NEAR(static_cast<double>(searches(1)), 500, 20);
  EXPECT_NEAR(static_cast<double>(searches(5)), 2500, 100);
  EXPECT_NEAR(static_cast<double>(searches(50)), 2500, 250);
}

/// Pods of one namespace, each with a rule of its own about pods that do not exist, and behind them one that fits.
TEST(CostlyTurns, PodsWithRulesAboutOthersArePutOffAndOthersAreNot) {
  constexpr std::uint32_t kPods = 12;
  constexpr LabelKeyId kHost{9u};
  for (const bool has_rules : {true, false}) {
    State s = small_state(0);
    NodeFacts facts = eight_devices();
    facts.labels = {{kHost, LabelId(90u), NodeLabel::kNotANumber}};
    for (std::uint32_t n = 0; n < 4; ++n) tell(s, NodeSeen{NodeId(n), facts});
    for (std::uint32_t i = 0; i < kPods; ++i) {
      PodSelector selector;
      selector.namespaces = {NamespaceId(i)};
      Constraint near;
      if (has_rules) {
        tell(s, PodSelectorDefined{PodSelectorId(i), selector});
        near.near = {PodSelectorId(i), {kHost}};
      }
      tell(s, ConstraintDefined{ConstraintId(10 + i), near});
      Demand of_kind{.amounts = {{resource::kCpu, has_rules ? 1 : 10'000'000 + static_cast<std::int64_t>(i)}}};
      tell(s, DemandDefined{DemandId(30 + i), of_kind});
      Workload w = workload(20 + i, 100 + i, 1, DemandId(30 + i));
      w.members.front().constraint = ConstraintId(10 + i);
      w.tenant = 7;
      tell(s, Submitted{std::move(w)});
    }
    Engine engine(*builtin_profile("ashlar"));
    engine.limit_costly({1, 0});
    tell(s, Submitted{workload(6, 16, 1, kOneDevice)});
    const Plan plan = engine.decide(s, s.now());
    ASSERT_EQ(plan.actions.size(), 1u);
    EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(6u));
    EXPECT_EQ(engine.put_off_count(), has_rules ? kPods - 1 : 0u);
  }
}

/// A gang of priority 5 (job 20, kOurs) waits, and was searched for in vain at that very time; now there is a place.
Engine engine_that_has_searched_in_vain(State& s) {
  for (const QueueId queue : {kOurs, kTheirs})
    tell(s, QueueDefined{queue, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
  submit_gang(s, 0, kOurs, 5);
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_costly({1, 0});
  EXPECT_TRUE(engine.decide(s, Millis(0)).actions.empty());
  for (const std::uint32_t job : {0u, 1u, 2u, 3u}) tell(s, Ended{JobId(job)}, Millis(1000));
  const Plan in_vain = engine.decide(s, Millis(1000));
  EXPECT_TRUE(in_vain.actions.empty());
  EXPECT_EQ(in_vain.examined, 1u);
  tell(s, Ended{JobId(4u)}, Millis(1000));
  return engine;
}

/// The gang of the higher priority has been searched for in vain at that very time, the other one is new.
TEST(CostlyTurns, WhatAGangOfALowerPriorityFindsIsForOneThatWasPutOff) {
  State s = with_gangs(0, kMembers + 1);
  Engine engine = engine_that_has_searched_in_vain(s);
  submit_gang(s, 1, kTheirs);
  const Plan plan = engine.decide(s, Millis(1000));
  EXPECT_EQ(engine.put_off_count(), 1u);
  ASSERT_EQ(plan.actions.size(), kMembers);
  for (const Action& action : plan.actions) EXPECT_EQ(std::get<Bind>(action).job, JobId(20u));
}

/// One of a higher priority that finds no place keeps it from nobody. Jobs 38 and 39 take what the gang was woken for.
TEST(CostlyTurns, WhatOneThatWasPutOffCannotUseIsForTheOneThatFoundIt) {
  State s = with_gangs(0, kMembers + 1);
  Engine engine = engine_that_has_searched_in_vain(s);
  for (const std::uint32_t job : {38u, 39u, 40u}) {
    Workload theirs = workload(job, 160 + job, 1, kHalfOfANode);
    theirs.queue = kTheirs;
    theirs.priority = job < 40 ? 9 : 0;
    tell(s, Submitted{std::move(theirs)}, Millis(1000));
  }
  const Plan plan = engine.decide(s, Millis(1000));
  EXPECT_EQ(engine.put_off_count(), 1u);
  ASSERT_EQ(plan.actions.size(), 3u);
  EXPECT_EQ(std::get<Bind>(plan.actions.back()).job, JobId(40u));
  EXPECT_GE(plan.examined, 5u) << "the gang is put off, and searched for when 40 has found a place; then 40 again";
}

TEST(CostlyTurns, OfGangsThatStartCostNothing) {
  State s = small_state(3 * kMembers);
  for (std::uint32_t g = 0; g < 3; ++g) submit_gang(s, g);
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_costly({1, 0});
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 3 * kMembers);
}

TEST(CostlyTurns, AreChargedUnderEachBlockingRuleThatLetsJobsPass) {
  for (const Blocking blocking : {Blocking::kSkip, Blocking::kEasy}) {
    State s = with_gangs(3);
    Engine engine = engine_blocking_by(blocking);
    engine.limit_costly({1, 0});
    EXPECT_EQ(judged_in(engine.decide(s, s.now())).size(), 1u);
  }
}

/// A gang that is put off says so until its first search; then the reason of that stays, however often it is put off.
TEST(CostlyTurns, AreAwaitedWithAReasonOfTheirOwn) {
  const Verdict put_off{VerdictKind::kWaits, WakeOn::kTime, Millis(0), {{ReasonCode::kSearchPutOff, 0, {0, 0, 0}}}};
  State s = with_gangs(3, kMembers + 1);
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_costly({1, 0});
  EXPECT_EQ(engine.decide(s, Millis(0)).verdicts.size(), 3u);
  EXPECT_EQ(engine.put_off_count(), 2u);
  EXPECT_NE(engine.verdict_of(JobId(20u)), put_off);
  for (const std::uint32_t gang : {21u, 22u}) EXPECT_EQ(engine.verdict_of(JobId(gang)), put_off);
  EXPECT_TRUE(engine.decide(s, Millis(0)).verdicts.empty()) << "it is said once";
  for (Millis now(1000); now < Millis(10'000); now = now + Millis(1000)) engine.decide(s, now);
  EXPECT_EQ(engine.put_off_count(), 0u);
  std::vector<Verdict> searched;
  for (const std::uint32_t gang : {20u, 21u, 22u}) searched.push_back(engine.verdict_of(JobId(gang)));
  for (const Verdict& verdict : searched) EXPECT_EQ(verdict.wake_on, WakeOn::kCapacity);
  for (const std::uint32_t job : {0u, 1u, 2u, 3u}) tell(s, Ended{JobId(job)}, Millis(10'000));  // four whole nodes
  EXPECT_TRUE(engine.decide(s, Millis(10'000)).verdicts.empty());
  EXPECT_EQ(engine.put_off_count(), 2u);
  for (const std::uint32_t gang : {21u, 22u}) EXPECT_EQ(engine.verdict_of(JobId(gang)), searched[gang - 20]);
}

TEST(CostlyTurns, LetNoJobOfAStrictQueuePassItsHead) {
  State s = with_gangs(0);
  for (const QueueId queue : {kOurs, kTheirs})
    tell(s, QueueDefined{queue, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
  submit_gang(s, 0, kOurs);
  submit_gang(s, 1, kTheirs);
  Workload behind = workload(40, 200, 1, kHalfOfANode);
  behind.queue = kTheirs;
  tell(s, Submitted{behind});
  Engine engine = engine_blocking_by(Blocking::kStrict);
  engine.limit_costly({1, 0});
  EXPECT_TRUE(engine.decide(s, s.now()).actions.empty());
}

TEST(CostlyTurns, EndNoDecisionAtItsLimitOfNodesExplained) {
  State s = with_gangs(12);
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_explained(1);
  tell(s, Submitted{workload(6, 16, 1, kHalfOfANode)});
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 1u);
}

/// A job that is touched again and again is searched for within the share of those that were searched for before; only
/// one that ended and comes anew counts as new.
TEST(CostlyTurns, OfAJobThatIsTouchedAreNoFirstOnes) {
  const auto searches = [](bool ends) {
    State s = with_gangs(1);
    Engine engine(*builtin_profile("ashlar"));
    engine.limit_costly({2000, 0});
    std::size_t judged = 0;
    for (int touch = 0; touch < 1000; ++touch) {
      if (ends) {
        tell(s, Ended{JobId(20u)});
        engine.decide(s, s.now());
        submit_gang(s, 0);
      } else {
        tell(s, PriorityChanged{JobId(20u), touch % 2});
      }
      judged += judged_in(engine.decide(s, s.now())).size();
    }
    return judged;
  };
  EXPECT_GT(searches(false), 1u);
  EXPECT_GT(searches(true), 4 * searches(false));
}

/// Where tenants are known they have the parts, whatever their queues are.
TEST(CostlyTurns, OfEachTenantAreAsManyHoweverManyJobsAndQueuesItHas) {
  SearchedForOnce w;
  for (std::uint32_t job = 60; job < 80; ++job) w.submit(job, job % 2 == 0 ? kOurs : kTheirs, Millis(10), 7);
  w.submit(80, kOurs, Millis(10), 8);
  JobRows jobs(21);
  std::iota(jobs.begin(), jobs.end(), 60);
  for (int decision = 0; decision < 40; ++decision)
    w.look(Millis(1000 * (decision + 1)), jobs);  // each was searched for
  std::size_t of_one = 0, of_other = 0;
  for (int decision = 50; decision < 150; ++decision)
    for (const std::uint32_t job : w.look(Millis(1000 * decision), jobs)) ++(job == 80 ? of_other : of_one);
  EXPECT_GE(of_other, of_one * 4 / 5);
  EXPECT_GE(of_one, of_other * 4 / 5);
}

/// A tenant may spend a little whatever others have spent.
TEST(CostlyTurns, OfATenantThatHasSpentLittleWaitForNoOther) {
  constexpr CostlyLimits kLimits{kCostAtOnce, 50};
  SearchedForOnce w;
  w.submit(60, kOurs, Millis(0), 7);
  w.submit(61, kOurs, Millis(0), 8);
  CostlyTurns& turns = w.turns;
  turns.refill(Millis(0), kLimits);
  EXPECT_TRUE(turns.take_turn(w.state, JobId(60u)));
  turns.note_failed(w.state, JobId(60u), 1'000'000);  // by one search all of its own, for two seconds
  EXPECT_TRUE(turns.take_turn(w.state, JobId(60u))) << "further searches have their share";
  turns.note_failed(w.state, JobId(60u), 1'000'000);
  EXPECT_FALSE(turns.take_turn(w.state, JobId(60u)));
  EXPECT_TRUE(turns.take_turn(w.state, JobId(61u)));
  turns.note_failed(w.state, JobId(61u), 49);
  EXPECT_TRUE(turns.take_turn(w.state, JobId(61u)));
  turns.note_failed(w.state, JobId(61u), 1);
  EXPECT_FALSE(turns.take_turn(w.state, JobId(61u)));
  EXPECT_EQ(turns.next_turn(), Millis(1)) << "500 looks are due each millisecond";
  turns.refill(Millis(1), kLimits);
  EXPECT_TRUE(turns.take_turn(w.state, JobId(61u)));
  EXPECT_FALSE(turns.take_turn(w.state, JobId(60u)));
}

/// What is spent in one decision is not given back by the next.
TEST(CostlyTurns, OfATenantAreWhatItHasLeftFromTheDecisionsBefore) {
  constexpr CostlyLimits kLimits{kCostAtOnce, 50};
  SearchedForOnce w;
  w.submit(60, kOurs, Millis(0), 7);
  EXPECT_EQ(w.look(Millis(0), {1}, 2'500'000), JobRows{1}) << "nothing is left for others";
  CostlyTurns& turns = w.turns;
  turns.refill(Millis(0), kLimits);
  turns.note_failed(w.state, JobId(60u), 49);
  turns.next_turn();
  turns.refill(Millis(0), kLimits);
  EXPECT_TRUE(turns.take_turn(w.state, JobId(60u)));
  turns.note_failed(w.state, JobId(60u), 1 + 500 * 7);
  EXPECT_FALSE(turns.take_turn(w.state, JobId(60u)));
  EXPECT_EQ(turns.next_turn(), Millis(1 + 7)) << "500 looks are due each millisecond";
  turns.refill(Millis(7), kLimits);
  EXPECT_FALSE(turns.take_turn(w.state, JobId(60u)));
  turns.next_turn();
  turns.refill(Millis(8), kLimits);
  EXPECT_TRUE(turns.take_turn(w.state, JobId(60u)));
}

TEST(CostlyTurns, OfATenantThatSpendsItsOwnLeaveTheSharesToOthers) {
  constexpr CostlyLimits kLimits{kCostAtOnce, 50};
  SearchedForOnce w;
  w.submit(60, kOurs, Millis(10), 7);
  w.submit(61, kOurs, Millis(10), 8);
  w.submit(52, kOurs, Millis(10));
  CostlyTurns& turns = w.turns;
  turns.refill(Millis(10), kLimits);
  turns.note_failed(w.state, JobId(1u), 50);           // all that its queue has of its own
  turns.note_failed(w.state, JobId(60u), 10'000'000);  // a first search
  turns.note_failed(w.state, JobId(61u), 0);
  turns.note_failed(w.state, JobId(61u), 10'000'000);  // a further one
  EXPECT_TRUE(turns.take_turn(w.state, JobId(52u))) << "a first search";
  EXPECT_TRUE(turns.take_turn(w.state, JobId(2u))) << "a further one";
}

/// One that has had more than its part waits for its own all the same.
TEST(CostlyTurns, OfATenantThatIsBehindAreAwaitedForWhatItHasOfItsOwn) {
  constexpr CostlyLimits kLimits{kCostAtOnce, 50};
  SearchedForOnce w;
  w.submit(60, kOurs, Millis(0), 7);
  CostlyTurns& turns = w.turns;
  turns.refill(Millis(0), kLimits);
  turns.note_failed(w.state, JobId(1u), 50 + 500 * 1000);
  turns.note_failed(w.state, JobId(60u), 50 + 500 * 3);
  turns.note_failed(w.state, JobId(60u), kCostAtOnce + 2'500 * 100);
  EXPECT_FALSE(turns.take_turn(w.state, JobId(60u)));
  EXPECT_FALSE(turns.take_turn(w.state, JobId(1u)));
  EXPECT_EQ(turns.next_turn(), Millis(1 + 3));
  turns.refill(Millis(4), kLimits);
  EXPECT_TRUE(turns.take_turn(w.state, JobId(60u)));
}

/// While it has nothing to search for, what others spend gives it nothing for later.
TEST(CostlyTurns, OfAQueueThatWasAwayAreNoMoreForThat) {
  SearchedForOnce w;
  for (const std::uint32_t job : {60u, 61u}) w.submit(job, kTheirs, Millis(0));
  std::size_t of_other = 0;
  for (int decision = 0; decision < 100; ++decision) {
    JobRows jobs(50);
    std::iota(jobs.begin(), jobs.end(), 1);
    if (decision < 6 || decision >= 20) jobs.insert(jobs.end(), {60, 61});
    for (const std::uint32_t job : w.look(Millis(1000 * (decision + 1)), jobs))
      of_other += job >= 60 && decision >= 20 ? 1 : 0;
  }
  EXPECT_GE(of_other, 38u);
  EXPECT_LE(of_other, 41u);
}

/// Of a published order all that came is gone through at once.
TEST(CostlyTurns, AreNotAskedForWhereAllJobsHaveJustComeInAnOrderOfTheirOwn) {
  Profile profile = *builtin_profile("qssf");
  profile.blocking = Blocking::kSkip;
  State s = with_gangs(3);
  Engine engine(std::move(profile));
  engine.limit_costly({1, 0});
  engine.limit_explained(1);
  const Plan plan = engine.decide(s, s.now());
  EXPECT_EQ(judged_in(plan).size(), 3u);
  EXPECT_EQ(engine.put_off_count(), 0u);
  EXPECT_EQ(plan.look_again_at, Millis::max());
}

/// A gang that ran, was stopped and waits anew counts as new; one that waited all the time does not.
TEST(CostlyTurns, OfAGangThatHasRunMeanwhileAreFirstOnesAgain) {
  State s = with_gangs(2);
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_costly({1, 0});
  for (Millis now(0); now < Millis(3000); now = now + Millis(1000)) engine.decide(s, now);
  for (std::uint32_t job = 0; job < kMembers; ++job) tell(s, Ended{JobId(job)}, Millis(3000));
  ASSERT_EQ(engine.decide(s, Millis(3000)).actions.size(), kMembers) << "one of them starts";
  const JobId started = s.job(JobId(20u)).is_started ? JobId(20u) : JobId(21u);
  tell(s, Evicted{started, Millis::max(), {}}, Millis(4000));
  for (std::uint32_t n = 0; n < kMembers; ++n) {
    tell(s, Submitted{workload(n, n, 1, kHalfOfANode)}, Millis(4000));
    tell(s, Bound{MemberId(n), NodeId(n), {}}, Millis(4000));
  }
  for (const std::uint32_t gang : {20u, 21u}) tell(s, PriorityChanged{JobId(gang), 1}, Millis(4000));
  engine.decide(s, Millis(4000));
  EXPECT_EQ(engine.put_off_count(), 0u) << "each has its share";
}

/// A decision that ends before the turn of those that were put off takes no turn from them.
TEST(CostlyTurns, ComeNextAlsoAfterADecisionThatWasCut) {
  State s = with_gangs(2);
  Engine engine(*builtin_profile("ashlar"), {.binds_per_step_max = 1});
  engine.limit_costly({1, 0});
  for (Millis now(0); now < Millis(2000); now = now + Millis(1000)) engine.decide(s, now);
  for (const std::uint32_t gang : {20u, 21u}) tell(s, PriorityChanged{JobId(gang), 1}, Millis(2000));
  engine.decide(s, Millis(2000));
  ASSERT_EQ(engine.put_off_count(), 1u);
  const bool is_first = engine.verdict_of(JobId(20u)).at == Millis(2000);
  const JobId had(is_first ? 20u : 21u), is_next(is_first ? 21u : 20u);
  Workload urgent = workload(6, 16, 1, kHalfOfANode);
  urgent.priority = 1000;
  tell(s, Submitted{urgent}, Millis(3000));
  ASSERT_EQ(engine.decide(s, Millis(3000)).actions.size(), 1u);
  tell(s, PriorityChanged{had, 2}, Millis(4000));
  engine.decide(s, Millis(4000));
  EXPECT_EQ(engine.put_off_count(), 1u);
  EXPECT_EQ(engine.verdict_of(is_next).at, Millis(4000));
}

/// Nor are those free that a reservation holds as it held their like: it may have to be made anew for each look.
TEST(CostlyTurns, OfGangsThatAReservationHoldsAreCharged) {
  State s = small_state(1);
  const auto submit = [&](Workload w, std::int64_t seconds) {
    if (seconds > 0) w.estimate = {Millis(1000 * seconds), Millis(1000 * seconds)};
    tell(s, Submitted{std::move(w)});
  };
  const auto submit_unlike = [&](std::uint32_t job, std::uint32_t kind) {
    Workload gang = workload(job, 10 * job, 2, kOneDevice);
    const DemandId demand(30 + kind);
    tell(s, DemandDefined{demand, {.amounts = {{resource::kCpu, kind}}, .devices = {1, MilliGpu(1000), MiB(0)}}});
    gang.members[1].demand = demand;
    submit(gang, 0);
  };
  submit(workload(0, 0, 1, kFourDevices), 1000);
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  Workload head = workload(1, 1, 2, kFourDevices);  // all of the node, once that one has ended
  head.priority = 1000;
  submit(head, 1000);
  submit_unlike(2, 1);
  Engine engine = engine_blocking_by(Blocking::kEasy);
  engine.limit_costly({1, 0});
  for (Millis now(0); now < Millis(3000); now = now + Millis(1000)) engine.decide(s, now);
  ASSERT_EQ(engine.verdict_of(JobId(2u)).reasons.at(0).code, ReasonCode::kReservationHeld);
  submit_unlike(3, 1);
  submit_unlike(4, 2);
  EXPECT_TRUE(engine.decide(s, Millis(3000)).actions.empty());
  EXPECT_EQ(engine.verdict_of(JobId(3u)).reasons.at(0).code, ReasonCode::kReservationHeld);
  EXPECT_EQ(engine.put_off_count(), 1u) << "the other one";
}

TEST(CostlyTurns, AreAwaitedInSilenceWhereNoVerdictsAreAskedFor) {
  State s = with_gangs(3);
  Engine engine(*builtin_profile("ashlar"), {.has_verdicts = false});
  engine.limit_costly({1, 0});
  EXPECT_TRUE(engine.decide(s, s.now()).verdicts.empty());
  EXPECT_EQ(engine.put_off_count(), 2u);
}

/// What was counted before the search is not charged to it.
TEST(CostlyTurns, OfGangsAreNotTheCountsOfWhatCameBefore) {
  State s = with_gangs(0);
  tell(s, LabelSetDefined{LabelSetId(0u), {.ns = NamespaceId(0u), .labels = {}}});
  for (std::uint32_t row = 0; row < 2'000; ++row)
    tell(s, PodSelectorDefined{PodSelectorId(row), {.namespaces = {NamespaceId(0u)}}});
  for (std::uint32_t times = 0; times < 100; ++times) {
    Workload before = workload(50, 90, 1, kNoDevices);
    before.members[0].labels = LabelSetId(0u);
    tell(s, Submitted{before});
    tell(s, Bound{MemberId(90u), NodeId(0u), {}});
    tell(s, Ended{JobId(50u)});
  }
  ASSERT_GE(s.cluster().counts().work(), 400'000u);
  for (std::uint32_t g = 0; g < 3; ++g) submit_gang_on_halves(s, g, LabelSetId::none());
  Engine engine(*builtin_profile("ashlar"));
  engine.limit_costly({500'000, 0});
  EXPECT_EQ(judged_in(engine.decide(s, s.now())).size(), 3u);
}

}  // namespace
}  // namespace ashlar
