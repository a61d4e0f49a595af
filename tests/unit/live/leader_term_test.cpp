// One leadership without a server: when it decides, and what it counts. Nothing polls, so bindings stay under way.
#include "live/lead/leader_term.h"

#include "live/read/read_api.h"
#include "term_bench.h"

namespace ashlar::kube {
namespace {

class Term : public ::testing::Test, public TermBench {
 protected:
  using TermBench::see;
  void see(const std::string& name, const std::string& rack, std::int64_t gpus = 8) { see(node_in(rack, name, gpus)); }
  void see_pod(const std::string& name, std::int64_t gpus) { see(pod(name, gpus)); }
  /// One that says how long it runs.
  void see_lasting(const std::string& name, std::int64_t gpus, const std::string& duration) {
    see(with(pod(name, gpus), "ashlar.dev/duration", duration));
  }
  std::string why(const std::string& name) {
    http::ServerRequest request;
    request.query = "name=ns%2F" + name;
    return answer_why(*replica, request).body;
  }
  std::string queue() { return answer_queue(*replica, {}).body; }
};

TEST_F(Term, GatheredEventsBringTheDecisionBeforeTheWindowIsOver) {
  options.binder.binds = AdaptiveWindow::fixed(1);
  options.window = Millis(3'600'000);
  options.events_per_step_max = 3;
  begin();
  see("n0", "r0");
  see_pod("p", 1);
  leader_term->turn();
  ASSERT_EQ(leader_term->binder().in_flight(), 1u);
  const std::uint64_t before = leader_term->steps();
  see("n1", "r0");
  see("n2", "r0");
  leader_term->turn();
  EXPECT_EQ(leader_term->steps(), before) << "a binding is under way, so news are gathered";
  see("n3", "r0");
  leader_term->turn();
  EXPECT_EQ(leader_term->steps(), before + 1);
}

TEST_F(Term, TheAgeOfTheSnapshotIsThatOfTheOldestNewsNotYetTaken) {
  options.binder.binds = AdaptiveWindow::fixed(1);
  options.window = Millis(10'000);
  begin();
  see("n0", "r0");
  see_pod("p", 1);
  leader_term->turn();
  EXPECT_EQ(replica->snapshot_age(), Millis(0));
  see("n1", "r0");
  EXPECT_LE(leader_term->turn(), now + Millis(100)) << "readers hear of it then";
  now += Millis(100);
  leader_term->turn();
  now += Millis(2'400);
  EXPECT_TRUE(says("ashlar_snapshot_age_seconds 2.5")) << all_metrics();
  now += Millis(10'000);
  leader_term->turn();
  EXPECT_EQ(replica->snapshot_age(), Millis(0));
}

TEST_F(Term, WithoutADecisionReadersAreHandedTablesTenTimesASecondWhateverTheWallClockSays) {
  begin();
  see("n0", "r0");
  leader_term->turn();
  is_leading = false;  // nothing is decided
  now += Millis(100);
  for (const std::int64_t hour : {0, 3'600'000}) {
    set_back = Millis(hour);
    see_pod("first" + std::to_string(hour), 1);
    leader_term->turn();
    const int before = hand_overs;
    for (int i = 1; i < 20; ++i) {
      see_pod("p" + std::to_string(hour + i), 1);
      now += Millis(5);
      leader_term->turn();
    }
    EXPECT_EQ(hand_overs, before) << "95 ms after the last";
    now += Millis(5);
    leader_term->turn();
    EXPECT_EQ(hand_overs, before + 1);
    EXPECT_NE(replica->tables().pods.find(PooledString("ns"), PooledString("p" + std::to_string(hour + 19))), kNoPod);
    now += Millis(100);
  }
}

TEST_F(Term, GangsAreCountedByTheInnermostLevelThatHoldsThem) {
  begin();
  for (int r = 0; r < 2; ++r)
    for (int n = 0; n < 2; ++n) see("r" + std::to_string(r) + "n" + std::to_string(n), "r" + std::to_string(r));
  EXPECT_EQ(leader_term->steps(), 0u);
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
  leader_term->turn();
  EXPECT_TRUE(says(R"(ashlar_gang_placement_total{level="rack",queue="default"} 1)")) << all_metrics();
  for (int i = 0; i < 2; ++i) see(gang_pod("h", i, 2, 4));
  leader_term->turn();
  EXPECT_TRUE(says(R"(ashlar_gang_placement_total{level="node",queue="default"} 1)"));
  EXPECT_TRUE(says(R"(ashlar_queue_wait_seconds_count{queue="default"} 2)"));
  see_pod("waits", 9);
  leader_term->turn();
  EXPECT_TRUE(says(R"(ashlar_queue_pending_jobs{queue="default")"));
  EXPECT_TRUE(says(R"(ashlar_queue_share_ratio{queue="default"})"));
  const std::string for_anybody = metrics.text(replica.get(), {}, MetricsReader::kAnybody);
  EXPECT_EQ(for_anybody.find("default"), std::string::npos) << for_anybody;
  for (const char* sum : {R"(ashlar_gang_placement_total{level="rack"} 1)", "ashlar_queue_wait_seconds_count 2",
                          "ashlar_queue_pending_jobs{reason=", R"(ashlar_queue_pending_gpus{model="any"} 9)"})
    EXPECT_NE(for_anybody.find(sum), std::string::npos) << sum << " in\n" << for_anybody;
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].message, "placed gang ns/g: 2 pods in rack r0");
  EXPECT_EQ(log[0].kind, "gang");
  EXPECT_EQ(log[0].name, PooledString("g"));
}

TEST_F(Term, TheLogCallsALonePodThatMustStayWithinADomainAPod) {
  begin();
  see("n0", "r0");
  see(pod("alone", 1, {{PooledString("ashlar.dev/within"), PooledString("rack")}}));
  leader_term->turn();
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].message, "placed pod ns/alone: 1 pod on one node");
  EXPECT_EQ(log[0].kind, "pod");
  EXPECT_EQ(log[0].name, PooledString("alone"));
}

TEST_F(Term, TheLogSaysHowManyOfAGangArePlacedNow) {
  begin();
  see("n0", "r0");
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 2));
  leader_term->turn();
  see(gang_pod("g", 2, 2, 2));
  leader_term->turn();
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].message, "placed gang ns/g: 2 pods on one node");
  EXPECT_EQ(log[1].message, "placed gang ns/g: 1 pod, 3 in total, on one node");
}

TEST_F(Term, TheLargestGangIsThatOfTheBestDomain) {
  begin();
  see("a", "r0");
  see("b", "r1");
  see("c", "r1", 4);
  leader_term->turn();
  EXPECT_TRUE(says(R"(ashlar_largest_placeable_gang_gpus{level="node",model="unknown"} 8)")) << all_metrics();
  EXPECT_TRUE(says(R"(ashlar_largest_placeable_gang_gpus{level="rack",model="unknown"} 12)"));
  EXPECT_TRUE(says(R"(ashlar_largest_placeable_gang_gpus{level="block",model="unknown"} 20)"));
  EXPECT_TRUE(says(R"(ashlar_largest_placeable_gang_gpus{level="any",model="unknown"} 20)"));
  Pod full = pod("full", 4);
  full.node_name = PooledString("c");
  see(full);
  leader_term->turn();
  EXPECT_TRUE(says(R"(ashlar_largest_placeable_gang_gpus{level="rack",model="unknown"} 8)"))
      << "a node without an idle card adds none";
  EXPECT_TRUE(says(R"(ashlar_largest_placeable_gang_gpus{level="any",model="unknown"} 16)"));
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(Term, APodHeldForAReservationIsToldSoAndCallsForNoNodes) {
  begin();
  see("a", "r0");
  see_lasting("runs", 4, "100s");
  see_lasting("head", 8, "100s");
  see_lasting("held", 4, "1000s");
  leader_term->turn();
  const ConditionText text = condition_of("held");
  EXPECT_EQ(text.reason, "SchedulerError") << "an autoscaler that reads Unschedulable adds nodes";
  EXPECT_EQ(text.message, "ReservationHeld: it may fit, but starting it now would delay a job ahead of it");
  EXPECT_EQ(condition_of("head").reason, "Unschedulable");
  EXPECT_TRUE(has(why("held"),
                  R"("headline":"ReservationHeld: it may fit, but starting it now would delay a job ahead of it, )"
                  R"(which can start in 1m40s at the latest if running jobs end as estimated","exitStatus":4)"))
      << why("held");
  EXPECT_TRUE(has(why("held"), R"("remedies":[])")) << why("held");
  EXPECT_TRUE(has(why("held"), R"("start":{"of":"ahead","expectedMillis":100000,"latestMillis":100000})"))
      << why("held");
  EXPECT_TRUE(has(why("head"), R"("start":{"of":"job","expectedMillis":100000,"latestMillis":100000})")) << why("head");
  EXPECT_TRUE(has(queue(), R"("reason":"ReservationHeld")")) << queue();
  now += Millis(30'000);
  EXPECT_TRUE(has(queue(), "can start in 1m10s at the latest")) << "it counts down though nothing happens: " << queue();
  EXPECT_TRUE(says(R"(ashlar_queue_pending_jobs{queue="default",reason="ReservationHeld"} 1)")) << all_metrics();
}

TEST_F(Term, AStartIsExpectedByTheP50AndPromisedByTheP90) {
  begin();
  see("a", "r0");
  see(with(with(pod("runs", 4), "ashlar.dev/duration", "100s"), "ashlar.dev/duration-p90", "250s"));
  see_lasting("head", 8, "100s");
  see_lasting("held", 4, "1000s");
  leader_term->turn();
  now += Millis(30'000);
  EXPECT_TRUE(has(why("held"), R"("start":{"of":"ahead","expectedMillis":70000,"latestMillis":220000})"))
      << why("held");
  EXPECT_TRUE(has(why("held"), "can start in 3m40s at the latest")) << why("held");
  EXPECT_TRUE(has(why("head"), R"("start":{"of":"job","expectedMillis":70000,"latestMillis":220000})")) << why("head");
}

TEST_F(Term, APodBehindTheHeadOfItsQueueIsToldSoAndCallsForNoNodes) {
  options.profile = [](const auto&) {
    Profile strict = builtin_profile("ashlar").value();
    strict.blocking = Blocking::kStrict;
    return strict;
  };
  begin();
  see("a", "r0");
  see_pod("runs", 4);
  see_pod("head", 8);
  see_pod("behind", 1);
  leader_term->turn();
  const ConditionText text = condition_of("behind");
  EXPECT_EQ(text.reason, "SchedulerError");
  EXPECT_EQ(text.message, "BehindHead: a job ahead of it in its queue must start first");
  EXPECT_TRUE(
      has(why("behind"), R"("headline":"BehindHead: a job ahead of it in its queue must start first","exitStatus":4)"))
      << why("behind");
  EXPECT_TRUE(has(why("behind"), R"("remedies":[])"));
  EXPECT_TRUE(has(queue(), R"("reason":"BehindHead")"));
}

TEST_F(Term, APodThatSharesADeviceIsNotToldItsNeighboursWords) {
  begin();
  see("a", "r0", 1);
  see_pod("runs", 1);
  see_pod("whole", 1);
  see(share("share", 1000));
  leader_term->turn();
  EXPECT_EQ(condition_of("whole").message, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
  EXPECT_EQ(condition_of("share").message, "0/1 nodes are available: 1 Insufficient ashlar.dev/gpu-milli.");
}

TEST_F(Term, WhySaysOnceThatDevicesAreShort) {
  begin();
  see("a", "r0");
  see_pod("runs", 4);
  see_pod("waits", 8);
  leader_term->turn();
  EXPECT_TRUE(has(
      why("waits"),
      R"("reasons":[{"code":"InsufficientGPU","message":"1 node has insufficient GPUs: at most 4 GPUs free on one node, 8 GPUs requested")"))
      << why("waits");
  EXPECT_FALSE(has(why("waits"), R"("code":"InsufficientResource")")) << why("waits");
}

TEST_F(Term, WhyOffersOnlyWhatHelpsAndCountsAnew) {
  begin();
  for (const char* name : {"a", "b"}) see(name, "r0");
  for (const char* name : {"c", "d"}) see(name, "r1");
  see_pod("runs", 8);
  for (int i = 0; i < 4; ++i) {
    see(with(gang_pod("g", i, 4, 8), "ashlar.dev/within", "rack"));
  }
  leader_term->turn();
  const std::string busy = why("g-0");
  EXPECT_TRUE(has(busy, "all nodes together have capacity for 3 of 4 members")) << busy;
  EXPECT_FALSE(has(busy, R"("kind":"WidenWithin")")) << "the block has room for three only: " << busy;
  EXPECT_TRUE(has(busy, R"({"kind":"FewerMembers","amount":2,"message":"it had 2 members"})")) << busy;
  EXPECT_TRUE(
      has(busy, R"({"kind":"MoreNodes","amount":2,"message":"there were 2 more empty nodes like c in one rack"})"))
      << busy;
  gone(pod("runs", 8));
  now += Millis(10'000);
  leader_term->turn();
  const std::string idle = why("g-0");
  EXPECT_FALSE(has(idle, R"("message":"all nodes together have capacity for 3 of 4 members")"))
      << "the numbers are those of now: " << idle;
  EXPECT_TRUE(has(
      idle,
      R"x({"kind":"WidenWithin","amount":4,"message":"it could be spread over one block (ashlar.dev/within: block)"})x"))
      << idle;
}

TEST_F(Term, WhatAPodIsToldFollowsNodesThatDoNotHelpIt) {
  begin();
  see("a", "r0");
  Pod runs = pod("runs", 8);
  runs.node_name = PooledString("a");
  see(runs);
  Node blue = node_in("r0", "b");
  blue.taints = {{PooledString("team"), PooledString("blue"), kube::TaintEffect::kNoSchedule}};
  see(blue);
  see_pod("waits", 8);
  leader_term->turn();
  EXPECT_EQ(condition_of("waits").message,
            "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint {team: blue}.");
  now += Millis(100);
  leader_term->turn();
  EXPECT_GT(leader_term->turn(), now + Millis(1'000)) << "nothing has changed";
  see(node_in("r0", "c", 4));
  leader_term->turn();
  for (int i = 0; i < 2; ++i) {
    now += Millis(100);
    leader_term->turn();
  }
  EXPECT_EQ(condition_of("waits").message,
            "0/3 nodes are available: 1 node(s) had untolerated taint {team: blue}, 2 Insufficient nvidia.com/gpu.");
  EXPECT_TRUE(has(why("waits"),
                  R"("condition":"0/3 nodes are available: 1 node(s) had untolerated taint {team: blue}, )"
                  R"(2 Insufficient nvidia.com/gpu.")"))
      << why("waits");
  blue.taints.clear();
  blue.allocatable = node_in("r0", "b", 4).allocatable;
  leader_term->take(Change<Node>{Change<Node>::Kind::kModified, blue});
  leader_term->turn();
  for (int i = 0; i < 2; ++i) {
    now += Millis(100);
    leader_term->turn();
  }
  EXPECT_EQ(condition_of("waits").message, "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.");
}

TEST_F(Term, WhatAPodIsToldFollowsWhatItsQueueUses) {
  options.tracker.queues = {{.name = "small", .parent = "", .quota = {3'000, kUnlimited, kUnlimited}}};
  begin();
  see("a", "r0");
  const auto of_small = [](const std::string& name, std::int64_t gpus) {
    return with(pod(name, gpus), "ashlar.dev/queue", "small");
  };
  const auto see_running = [&](const std::string& name) {
    Pod running = of_small(name, 1);
    running.node_name = PooledString("a");
    see(running);
  };
  see_running("runs");
  see(of_small("waits", 3));
  leader_term->turn();
  EXPECT_TRUE(has(condition_of("waits").message, "1 of its 3 GPUs")) << condition_of("waits").message;
  see_running("more");
  leader_term->turn();
  for (int i = 0; i < 2; ++i) {
    now += Millis(100);
    leader_term->turn();
  }
  EXPECT_TRUE(has(condition_of("waits").message, "2 of its 3 GPUs")) << condition_of("waits").message;
}

TEST_F(Term, AGangThatIsBeingCreatedIsToldNothingByTheReview) {
  begin();
  see("a", "r0");
  for (int i = 0; i < 3; ++i) see(gang_pod("g", i, 4, 1));
  leader_term->turn();
  for (int i = 0; i < 4; ++i) {
    now += Millis(100);
    leader_term->turn();
  }
  EXPECT_EQ(leader_term->status_writer().counters().conditions, 0u);
}

TEST_F(Term, NothingIsDecidedWithoutTheRightToWrite) {
  begin();
  see("a", "r0");
  see_pod("p", 1);
  is_leading = false;
  leader_term->turn();
  EXPECT_EQ(leader_term->steps(), 0u);
}

TEST_F(Term, ABindingThatHangsDoesNotSilenceConditionsForMoreThanTwoSeconds) {
  begin();
  see("n0", "r0");
  see_pod("p", 1);
  see_pod("impossible", 9);
  leader_term->turn();
  ASSERT_EQ(leader_term->binder().in_flight(), 1u);
  EXPECT_EQ(leader_term->status_writer().in_flight(), 0u);
  now += Millis(1'000);
  EXPECT_LE(leader_term->turn(), now + Millis(1'000)) << "the loop comes back in time";
  EXPECT_EQ(leader_term->status_writer().in_flight(), 0u);
  now += Millis(1'000);
  leader_term->turn();
  EXPECT_EQ(leader_term->status_writer().in_flight(), 1u);
  EXPECT_EQ(leader_term->status_writer().counters().conditions, 1u);
}

TEST_F(Term, TheTimeToAConfirmedBindingIsKeptApartForGangs) {
  begin();
  see("n0", "r0");
  see_pod("alone", 1);
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 1));
  leader_term->turn();
  now += Millis(3'000);
  Pod confirmed[] = {pod("alone", 1), gang_pod("g", 0, 2, 1), gang_pod("g", 1, 2, 1)};
  for (Pod& p : confirmed) {
    p.node_name = PooledString("n0");
    see(p);
  }
  EXPECT_TRUE(says(R"(ashlar_decision_latency_seconds_sum{kind="pod"} 3)")) << all_metrics();
  EXPECT_TRUE(says(R"(ashlar_decision_latency_seconds_sum{kind="gang"} 6)")) << all_metrics();
}

// What only confirms what was assumed changes no decision: it is taken with the next news, or when so much of it waits.
TEST_F(Term, ConfirmationsAloneBringADecisionOnlyWhereTheyPileUp) {
  options.events_per_step_max = 4;
  begin();
  see("n0", "r0");
  for (const char* name : {"a", "b", "c", "d"}) see_pod(name, 1);
  leader_term->turn();
  const std::uint64_t steps = leader_term->steps();
  const auto confirm = [&](const char* name) {
    Pod p = pod(name, 1);
    p.node_name = PooledString("n0");
    see(p);
    leader_term->turn();
    EXPECT_EQ(phase(name), PodRecord::Phase::kBound);
  };
  for (const char* name : {"a", "b", "c"}) {
    confirm(name);
    EXPECT_EQ(leader_term->steps(), steps) << name;
  }
  EXPECT_EQ(replica->snapshot_age(), Millis(0)) << "nothing is missed meanwhile";
  confirm("d");
  EXPECT_EQ(leader_term->steps(), steps + 1);
}

}  // namespace
}  // namespace ashlar::kube
