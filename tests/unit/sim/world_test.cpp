// The simulated world by itself: what it tells the engine, and in which order.
#include "sim/world/world.h"

#include <gtest/gtest.h>

namespace ashlar::sim {
namespace {

class WorldTest : public ::testing::Test {
 protected:
  WorldTest() {
    const DemandId one = catalog_.demand(demand_of({.devices = {.count = 1}}));
    kind_ = catalog_.add_kind({.needs = {{one, catalog_.constraint({}), 1}}});
  }
  World world(std::vector<SimJob> jobs, WorldRules rules = {}) {
    for (SimJob& job : jobs) job.kind = kind_;
    auto next = std::make_shared<std::size_t>(0);
    return World(
        clock_, catalog_,
        [jobs = std::move(jobs), next](SimJob& out) { return *next < jobs.size() && (out = jobs[(*next)++], true); },
        rules);
  }
  std::string kinds(World& w) {
    std::vector<Event> events;
    w.take(events);
    std::string text;
    for (const Event& e : events)
      text += std::string(text.empty() ? "" : " ") + std::string(kind_name(e.body)) + "@" +
              std::to_string(e.at.value / 1000);
    last_ = std::move(events);
    return text;
  }
  void bind(World& w, std::uint32_t job, std::uint32_t member) {
    Plan plan;
    plan.at = clock_.now();
    plan.actions.push_back(Bind{MemberId(member), JobId(job), NodeId(0u), {1, 0}});
    w.submit(plan);
  }

  /// Job 0 runs from now on, until it is stopped at that time. Leaves what is heard of it in last_.
  std::string start_and_stop(World& w, Millis at) {
    kinds(w);
    bind(w, 0, 0);
    clock_.advance_to(at);
    Plan stop;
    stop.at = clock_.now();
    stop.actions.push_back(Evict{JobId(0u), Millis(0)});
    w.submit(stop);
    EXPECT_EQ(w.preemptions(), 1);
    clock_.advance_to(w.next_event());
    return kinds(w);
  }

  SimClock clock_;
  Catalog catalog_;
  KindId kind_;
  std::vector<Event> last_;
};

TEST_F(WorldTest, EndsComeBeforeArrivalsOfTheSameInstant) {
  World w =
      world({{.submit = Millis(0), .duration = Millis(5000)}, {.submit = Millis(5000), .duration = Millis(1000)}});
  EXPECT_EQ(w.next_event(), Millis(0));
  EXPECT_EQ(kinds(w), "Submitted@0");
  bind(w, 0, 0);
  EXPECT_EQ(w.next_event(), Millis(5000));
  clock_.advance_to(Millis(5000));
  EXPECT_EQ(kinds(w), "Bound@0 Ended@5 Submitted@5");
  // The row of the ended job is used again.
  EXPECT_EQ(std::get<Submitted>(last_.back().body).workload.job, JobId(0u));
  EXPECT_EQ(w.present(), 1);
}

TEST_F(WorldTest, AStopIsAnsweredWithTheWorkThatIsLeftAndItsRestart) {
  World w = world({{.submit = Millis(0), .duration = Millis(10000)}},
                  {.end_lag = Millis(1000), .restart_of_one = Millis(7000)});
  EXPECT_EQ(start_and_stop(w, Millis(4000)), "Bound@0 Evicted@4");
  EXPECT_EQ(std::get<Evicted>(last_.back().body).remaining, Millis(13000));
  EXPECT_EQ(w.next_event(), Millis::max()) << "the outdated end must not come";
  bind(w, 0, 0);
  EXPECT_EQ(w.next_event(), clock_.now() + Millis(14000)) << "13 s of work, seen a second late";
}

/// The engine learns of a stopped job no more than it could know: its estimate stays as wrong as it was.
TEST_F(WorldTest, AStopTellsNothingOfTheTrueRunTime) {
  const auto told = [&](Estimate estimate) {
    clock_ = {};
    World w = world({{.submit = Millis(0), .duration = Millis(10000), .estimate = estimate}},
                    {.restart_of_one = Millis(7000), .tells_by_estimates = true});
    start_and_stop(w, Millis(4000));
    return std::get<Evicted>(last_.back().body).remaining;
  };
  EXPECT_EQ(told({Millis(50'000), Millis(60'000)}), Millis(46'000 + 7000));
  EXPECT_EQ(told({Millis(6000), Millis(6000)}), Millis(2000 + 7000));
  EXPECT_EQ(told({Millis(1), Millis(1)}), Millis(7000 - 4000 + 1));
  EXPECT_EQ(told({Millis::max(), Millis::max()}), Millis::max());
}

/// Jobs 0, 1 and 2, of which the first runs on the first device, is stopped at 4 s with a grace of 3 s for the second,
/// and gives it its device.
class GraceTest : public WorldTest {
 protected:
  World stopped(Millis duration, Plan& plan) {
    World w = world({{.submit = Millis(0), .duration = duration},
                     {.submit = Millis(0), .duration = Millis(5000)},
                     {.submit = Millis(0), .duration = Millis(5000)}},
                    {.restart_of_one = Millis(2000), .has_grace = true});
    kinds(w);
    bind(w, 0, 0);
    clock_.advance_to(Millis(4000));
    plan.at = clock_.now();
    plan.actions = {Evict{JobId(0u), Millis(3000), {}, JobId(1u)}, Bind{MemberId(1u), JobId(1u), NodeId(0u), {1, 0}}};
    return w;
  }
  std::string kinds_at(World& w, std::int64_t seconds) {
    clock_.advance_to(Millis(1000 * seconds));
    return kinds(w);
  }
};

TEST_F(GraceTest, PodsRunOnAndWhatTakesTheirDevicesWaitsForThem) {
  Plan plan;
  World w = stopped(Millis(10'000), plan);
  w.submit(plan);
  EXPECT_EQ(w.preemptions(), 0);
  EXPECT_EQ(kinds(w), "Bound@0");
  EXPECT_EQ(w.next_event(), Millis(7000));
  EXPECT_EQ(kinds_at(w, 7), "Evicted@7 Bound@7");
  EXPECT_EQ(std::get<Evicted>(last_.front().body).remaining, Millis(3000 + 2000)) << "less what it ran in its grace";
  EXPECT_EQ(w.preemptions(), 1);
  EXPECT_EQ(w.next_event(), Millis(12'000)) << "the end of the job that took its place";
}

TEST_F(GraceTest, AJobThatEndsInItsGraceIsNotStopped) {
  Plan plan;
  World w = stopped(Millis(6000), plan);
  w.submit(plan);
  EXPECT_EQ(kinds_at(w, 6), "Bound@0 Ended@6 Bound@6");
  EXPECT_EQ(kinds_at(w, 7), "");
  EXPECT_EQ(w.preemptions(), 0);
  EXPECT_EQ(w.next_event(), Millis(11'000));
}

TEST_F(GraceTest, RoomIsMadeForTheJobThatIsNamedAndItsDevicesAreKeptFromAll) {
  const auto played = [&](JobId for_job, std::uint64_t devices) {
    clock_ = SimClock();
    Plan plan;
    World w = stopped(Millis(10'000), plan);
    std::get<Evict>(plan.actions[0]).for_job = for_job;
    std::get<Bind>(plan.actions[1]).devices = {devices, 0};
    w.submit(plan);
    const std::string at_once = kinds(w);
    return at_once + "; " + kinds_at(w, 7);
  };
  EXPECT_EQ(played(JobId(1u), 2), "Bound@0; Evicted@7 Bound@7") << "room is made for it";
  EXPECT_EQ(played(JobId(2u), 2), "Bound@0 Bound@4; Evicted@7") << "it needs nothing of it";
  EXPECT_EQ(played(JobId(2u), 3), "Bound@0; Evicted@7 Bound@7");
  EXPECT_EQ(played(JobId::none(), 1), "Bound@0; Evicted@7 Bound@7");
}

TEST_F(GraceTest, ABindOfThePodsThatRunOnIsGoneWithThem) {
  Plan plan;
  World w = stopped(Millis(10'000), plan);
  plan.actions[1] = Bind{MemberId(0u), JobId(0u), NodeId(0u), {2, 0}};
  w.submit(plan);
  EXPECT_EQ(kinds_at(w, 7), "Bound@0 Evicted@7");
  EXPECT_EQ(w.next_event(), Millis::max());
}

TEST_F(GraceTest, WhatWaitsForAPlaceIsStoppedAtOnce) {
  Plan plan;
  World w = stopped(Millis(10'000), plan);
  w.submit(plan);
  kinds(w);
  plan.actions = {Evict{JobId(1u), Millis(3000), {}, JobId(2u)}, Bind{MemberId(2u), JobId(2u), NodeId(0u), {1, 0}}};
  clock_.advance_to(Millis(5000));
  plan.at = clock_.now();
  w.submit(plan);
  EXPECT_EQ(kinds(w), "Evicted@5");
  EXPECT_EQ(kinds_at(w, 7), "Evicted@7 Bound@7");
  EXPECT_EQ(std::get<Bound>(last_.back().body).member, MemberId(2u))
      << "of the pods of the first job it waits all the same";
}

TEST_F(GraceTest, ANodeThatIsLostTakesThePodsAndTheBindsThatWaitForThem) {
  Plan plan;
  World w = stopped(Millis(10'000), plan);
  const std::vector<NodeFacts> facts(1);
  w.set_node_changes({{.at = Millis(5000), .node = NodeId(0u), .is_there = false}}, facts);
  w.submit(plan);
  EXPECT_EQ(kinds_at(w, 5), "Bound@0 NodeGone@5 Evicted@5 EstimateChanged@5 BindRejected@5")
      << "the stopped job waits again: nothing else will report its end";
  EXPECT_EQ(kinds_at(w, 7), "");
  EXPECT_EQ(w.next_event(), Millis::max());
}

TEST_F(WorldTest, QueueTimeIsEveryWait) {
  World w = world({{.submit = Millis(1000), .duration = Millis(10000)}});
  JobOutcome outcome;
  w.listen({.ended = [&](const JobOutcome& o) { outcome = o; }, .load = {}});
  clock_.advance_to(Millis(1000));
  kinds(w);
  clock_.advance_to(Millis(3000));
  bind(w, 0, 0);
  clock_.advance_to(Millis(8000));
  Plan stop;
  stop.at = clock_.now();
  stop.actions.push_back(Evict{JobId(0u), Millis(0)});
  w.submit(stop);
  clock_.advance_to(Millis(12000));
  kinds(w);
  bind(w, 0, 0);
  clock_.advance_to(w.next_event());
  kinds(w);
  EXPECT_EQ(outcome.queued, Millis(2000 + 4000));
  EXPECT_EQ(outcome.end, Millis(17000));
}

TEST_F(WorldTest, ARefusalThatIsFinalWithdrawsTheJobWhenTheNextComes) {
  World w =
      world({{.submit = Millis(0), .duration = Millis::max()}, {.submit = Millis(1000), .duration = Millis::max()}},
            {.is_refusal_final = true});
  EXPECT_EQ(kinds(w), "Submitted@0");
  clock_.advance_to(Millis(1000));
  EXPECT_EQ(kinds(w), "Ended@1 Submitted@1");
  bind(w, 0, 0);
  EXPECT_EQ(w.next_event(), Millis::max()) << "what never ends by itself has no end";
  EXPECT_EQ(kinds(w), "Bound@1");
  EXPECT_EQ(w.present(), 1);
}

/// A script with two nodes and one job of one member that runs for 10 s; binds take a second unless a test says
/// otherwise.
class ScriptedWorldTest : public WorldTest {
 protected:
  ScriptedWorldTest() {
    for (const unsigned n : {0u, 1u}) script_.push_back({Millis(0), EventBody(NodeSeen{NodeId(n), {}})});
    Workload w;
    w.job = JobId(0u);
    w.members = {{MemberId(0u), DemandId(0u), ConstraintId(0u)}};
    script_.push_back({Millis(0), EventBody(Submitted{w})});
    script_.push_back({Millis(0), RunsFor{JobId(0u), Millis(10'000)}});
  }
  World scripted(WorldRules rules = {}) {
    return World(
        clock_, script_, [this](const Action&) { return fate_; }, rules);
  }
  void bind_to(World& w, std::uint32_t node) {
    Plan plan;
    plan.at = clock_.now();
    plan.actions.push_back(Bind{MemberId(0u), JobId(0u), NodeId(node), {1, 0}});
    w.submit(plan);
  }
  std::string kinds_at(World& w, std::int64_t seconds) {
    clock_.advance_to(Millis(1000 * seconds));
    return kinds(w);
  }

  std::vector<ScriptedEvent> script_;
  Fate fate_{.after = Millis(1000)};
};

TEST_F(ScriptedWorldTest, AJobRunsFromWhenItsBindIsCarriedOut) {
  World w = scripted();
  EXPECT_EQ(kinds(w), "NodeSeen@0 NodeSeen@0 Submitted@0");
  bind_to(w, 0);
  EXPECT_EQ(kinds_at(w, 1), "Bound@1");
  EXPECT_EQ(w.next_event(), Millis(11'000));
  EXPECT_EQ(kinds_at(w, 11), "Ended@11");
  EXPECT_EQ(w.present(), 0);
}

TEST_F(ScriptedWorldTest, ARefusedBindIsAnsweredAndNothingRuns) {
  World w = scripted();
  kinds(w);
  fate_.is_refused = true;
  bind_to(w, 0);
  EXPECT_EQ(kinds_at(w, 1), "BindRejected@1");
  EXPECT_EQ(w.next_event(), Millis::max());
}

TEST_F(ScriptedWorldTest, ARefusalOfAnEarlierBindIsNoNewsOnceThereIsAnother) {
  World w = scripted();
  kinds(w);
  fate_.is_refused = true;
  bind_to(w, 0);
  fate_.is_refused = false;
  bind_to(w, 1);
  EXPECT_EQ(kinds_at(w, 1), "Bound@1");
}

TEST_F(ScriptedWorldTest, WhoeverHasANodeKeepsIt) {
  World w = scripted();
  kinds(w);
  bind_to(w, 0);
  bind_to(w, 1);
  EXPECT_EQ(kinds_at(w, 1), "Bound@1 Bound@1");
  EXPECT_EQ(std::get<Bound>(last_.back().body).node, NodeId(0u));
}

TEST_F(ScriptedWorldTest, AnAnswerIsToldTwiceOnlyWhileItHolds) {
  fate_.reported_again_after = Millis(2000);
  {
    World w = scripted();
    kinds(w);
    bind_to(w, 0);
    EXPECT_EQ(kinds_at(w, 3), "Bound@1 Bound@3");
  }
  clock_ = SimClock();
  script_.push_back({Millis(2000), EventBody(NodeGone{NodeId(0u)})});
  World w = scripted();
  kinds(w);
  bind_to(w, 0);
  EXPECT_EQ(kinds_at(w, 3), "Bound@1 NodeGone@2 EstimateChanged@2");
}

TEST_F(ScriptedWorldTest, ABindThatIsNotAnsweredWhenItsJobIsStoppedNeverIs) {
  fate_.after = Millis(4000);
  fate_.reported_again_after = Millis(1000);
  script_.push_back({Millis(1000), EventBody(Evicted{JobId(0u), Millis(10'000)})});
  World w = scripted();
  kinds(w);
  bind_to(w, 0);
  EXPECT_EQ(kinds_at(w, 1), "Evicted@1");
  fate_ = {.after = Millis(1000)};
  bind_to(w, 1);
  EXPECT_EQ(kinds_at(w, 2), "Bound@2") << "what is bound anew is answered";
  EXPECT_EQ(std::get<Bound>(last_.back().body).node, NodeId(1u));
  EXPECT_EQ(kinds_at(w, 5), "") << "the old binding's answers are not told";
  EXPECT_EQ(w.next_event(), Millis(12'000));
}

TEST_F(ScriptedWorldTest, AStopByThePlanDropsBindsThatAreNotAnswered) {
  const auto stopped = [&](bool is_refused) {
    clock_ = SimClock();
    fate_ = {.after = Millis(4000), .is_refused = is_refused};
    World w = scripted();
    kinds(w);
    bind_to(w, 0);
    fate_ = {};
    Plan plan;
    plan.actions.push_back(Evict{JobId(0u)});
    w.submit(plan);
    std::string told = kinds_at(w, 10);
    EXPECT_EQ(w.next_event(), Millis::max()) << "nothing runs";
    return told;
  };
  EXPECT_EQ(stopped(false), "Evicted@0");
  EXPECT_EQ(stopped(true), "Evicted@0");
}

TEST_F(ScriptedWorldTest, OneMemberIsEvictedAfterItsGraceAndTheOthersRunOn) {
  Workload two;
  two.job = JobId(1u);
  two.members = {{MemberId(1u), DemandId(0u), ConstraintId(0u)}, {MemberId(2u), DemandId(0u), ConstraintId(0u)}};
  script_.push_back({Millis(0), EventBody(Submitted{two})});
  script_.push_back({Millis(0), RunsFor{JobId(1u), Millis(20'000)}});
  fate_.after = Millis(0);
  World w = scripted();
  kinds(w);
  Plan plan;
  plan.actions = {Bind{MemberId(1u), JobId(1u), NodeId(0u), {1, 0}}, Bind{MemberId(2u), JobId(1u), NodeId(0u), {2, 0}}};
  w.submit(plan);
  EXPECT_EQ(kinds(w), "Bound@0 Bound@0");
  fate_.after = Millis(1000);
  plan.actions = {Evict{JobId(1u), Millis(5000), MemberId(2u), JobId(0u)}};
  w.submit(plan);
  bind_to(w, 1);
  EXPECT_EQ(kinds_at(w, 4), "") << "the binding waits until there is room for its job";
  EXPECT_EQ(kinds_at(w, 5), "Bound@5");
  EXPECT_EQ(kinds_at(w, 6), "Evicted@6") << "answered a second later";
  const auto& evicted = std::get<Evicted>(last_.back().body);
  EXPECT_EQ(evicted.job, JobId(1u));
  EXPECT_EQ(evicted.member, MemberId(2u));
  EXPECT_EQ(w.preemptions(), 0) << "the job runs on";
  EXPECT_EQ(kinds_at(w, 20), "Ended@15 Ended@20");
}

TEST_F(ScriptedWorldTest, APodThatIsStoppedOtherwiseInItsGraceIsEvictedOnce) {
  script_.push_back({Millis(3000), EventBody(Evicted{JobId(0u), Millis(10'000)})});
  World w = scripted();
  kinds(w);
  bind_to(w, 0);
  kinds_at(w, 1);
  Plan plan;
  plan.at = clock_.now();
  plan.actions = {Evict{JobId(0u), Millis(5000)}};
  w.submit(plan);
  EXPECT_EQ(kinds_at(w, 10), "Evicted@3");
}

TEST_F(ScriptedWorldTest, APodThatSomebodyElseMovesIsStillOne) {
  script_.push_back({Millis(3000), EventBody(Bound{MemberId(0u), NodeId(1u), {1, 0}})});
  script_.push_back({Millis(5000), EventBody(NodeGone{NodeId(1u)})});
  World w = scripted();
  kinds(w);
  bind_to(w, 0);
  EXPECT_EQ(kinds_at(w, 3), "Bound@1 Bound@3");
  EXPECT_EQ(kinds_at(w, 5), "NodeGone@5 EstimateChanged@5");
  EXPECT_EQ(w.next_event(), Millis::max()) << "nothing runs any more";
}

TEST_F(ScriptedWorldTest, WhoLosesItsNodeStartsOverUnlessItKeepsGoing) {
  Workload two;
  two.job = JobId(1u);
  two.members = {{MemberId(1u), DemandId(0u), ConstraintId(0u)}, {MemberId(2u), DemandId(0u), ConstraintId(0u)}};
  two.members_min = 2;
  script_.push_back({Millis(0), EventBody(Submitted{two})});
  script_.push_back({Millis(0), RunsFor{JobId(1u), Millis(8000)}});
  script_.push_back({Millis(5000), EventBody(NodeGone{NodeId(1u)})});
  const auto play = [&](bool keeps_going) {
    clock_ = SimClock();
    fate_.after = Millis(0);
    World w = scripted({.keeps_going = keeps_going});
    kinds(w);
    Plan plan;
    plan.actions.push_back(Bind{MemberId(1u), JobId(1u), NodeId(0u), {}});
    plan.actions.push_back(Bind{MemberId(2u), JobId(1u), NodeId(1u), {}});
    w.submit(plan);
    std::string text = kinds(w);
    text += " " + kinds_at(w, 5) + " ";
    return text + (w.next_event() == Millis::max() ? "nothing" : kinds_at(w, 8));
  };
  EXPECT_EQ(play(true), "Bound@0 Bound@0 NodeGone@5 Ended@8");
  EXPECT_EQ(play(false), "Bound@0 Bound@0 NodeGone@5 EstimateChanged@5 nothing");
}

}  // namespace
}  // namespace ashlar::sim
