// What changes between a decision and the binding that is done: nodes that go and come back, and places that are no
// longer what they were.
#include <functional>

#include "actuation_bench.h"
#include "live/track/nodes/node_trouble.h"

namespace ashlar::kube {
namespace {

/// A node that goes while the binding to it is under way: the pod is asked for nowhere else before that is answered.
class GoneUnderABinding : public Actuation {
 protected:
  /// `meanwhile`: what happens before the answer.
  void lose_the_node(int status, const std::function<void()>& meanwhile = {}) {
    server.change([&] { bind_status = status; });
    const std::size_t posts = server.count({"POST"});
    server.hold();
    place();
    ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == posts + 1; }));
    gone(node("n", 8));
    see(node("m", 8));
    decide();
    EXPECT_EQ(record("p0").hold, HoldReason::kBindFailed);
    EXPECT_EQ(hold_text(record("p0")),
              "the pod is not bound yet; the binding is retried later: node n was deleted, and the binding "
              "to it is not answered yet");
    see(pod("p0", 1, {{PooledString("app"), PooledString("x")}}));
    decide();
    EXPECT_EQ(phase(), Phase::kHeld) << "whatever its owner changes";
    if (meanwhile) meanwhile();
    server.let_go();
  }
  /// Back to the beginning, for the next case.
  void clear() {
    for (const char* name : {"p0", "c", "d"}) gone(pod(name, 1));
    for (const char* name : {"m", "n"}) gone(node(name, 8));
    see(node("n", 8));
    step();
  }
  void decide() {
    step();
    binder->submit(plan);
  }
};

TEST_F(GoneUnderABinding, ARefusalLetsItWaitAgain) {
  lose_the_node(422);
  ASSERT_TRUE(until([&] { return phase() == Phase::kWaiting; }));
  EXPECT_EQ(server.count({"POST"}), 1u);
  bind_status = 201;
  decide();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(where("p0"), "m");
}

TEST_F(GoneUnderABinding, ASuccessIsBelieved) {
  lose_the_node(201);
  ASSERT_TRUE(until([&] { return phase() == Phase::kOnUnknownNode; }));
  decide();
  EXPECT_EQ(server.count({"POST"}), 1u);
}

TEST_F(GoneUnderABinding, WhatNobodyKnowsIsReadAsOftenAsElsewhere) {
  lose_the_node(500);
  ASSERT_TRUE(until([&] { return phase() == Phase::kWaiting; }));
  EXPECT_EQ(binder->counters().reread, 3u);
  EXPECT_EQ(server.count({"POST"}), 1u);
  bind_status = 201;
  decide();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(where("p0"), "m");
}

/// A pod that gets the devices of a node that was made anew may find another there that was bound before the news came.
TEST_F(GoneUnderABinding, ANodeOfThatNameTakesNothingBeforeTheAnswer) {
  for (const int status : {201, 422, 500}) {
    lose_the_node(status, [&] {
      see(node("n", 8));
      for (const char* name : {"c", "d"}) see(pod(name, 8));
      step();
      EXPECT_EQ(where("c"), "m");
      EXPECT_EQ(where("d"), "") << "the pod of the unanswered binding may be on n";
      EXPECT_EQ(closed_nodes_text(tracker.tables()),
                "node n (it is not known whether pod ns/p0 is bound to it: the node was recreated before the binding "
                "was answered)");
      gone(node("n", 8));
      see(node("n", 8));
      step();
      EXPECT_EQ(where("d"), "") << "nor when it is made anew once more";
    });
    ASSERT_TRUE(until([&] { return binder->is_idle(); }));
    EXPECT_EQ(closed_nodes_text(tracker.tables()), "none");
    step();
    EXPECT_EQ(where("d"), status == 201 ? "" : "n") << status;
    EXPECT_EQ(idle_devices("n"), status == 201 ? 7 : 0) << status;
    clear();
  }
}

TEST_F(GoneUnderABinding, WhatTheWatchSaysOfThePodIsAnAnswerToo) {
  for (const bool is_bound : {true, false}) {
    lose_the_node(201, [&] {
      see(node("n", 8));
      Pod bound = pod("p0", 1);
      bound.node_name = PooledString("n");
      is_bound ? see(bound) : gone(bound);
      EXPECT_EQ(closed_nodes_text(tracker.tables()), "none");
      step();
      EXPECT_EQ(idle_devices("n"), is_bound ? 7 : 8);
    });
    ASSERT_TRUE(until([&] { return binder->is_idle(); }));
    clear();
  }
}

TEST_F(GoneUnderABinding, ASecondUnansweredPodKeepsTheNodeClosed) {
  server.hold();
  place(2);
  ASSERT_EQ(binder->in_flight(), 2u);
  gone(node("n", 8));
  see(node("n", 8));
  gone(pod("p0", 1));
  EXPECT_NE(closed_nodes_text(tracker.tables()), "none");
  gone(pod("p1", 1));
  EXPECT_EQ(closed_nodes_text(tracker.tables()), "none");
  server.let_go();
}

TEST_F(GoneUnderABinding, ItsGangStartsNowhereElseBeforeTheAnswer) {
  const auto member = [](int i) { return with(gang_pod("g", i, 2, 8), "ashlar.dev/within", "l/rack"); };
  const auto in_rack = [](const std::string& name, const std::string& rack) {
    return node(name, 8, {{PooledString("l/rack"), PooledString(rack)}});
  };
  gone(node("n", 8));
  for (const char* name : {"a", "b"}) see(in_rack(name, "r0"));
  for (int i = 0; i < 2; ++i) see(member(i));
  server.hold();
  decide();
  ASSERT_EQ(binder->in_flight(), 2u);
  const std::string lost = where("g-1");
  gone(in_rack(lost, "r0"));
  gone(member(0));
  for (const char* name : {"c", "d"}) see(in_rack(name, "r1"));
  Pod anew = member(0);
  anew.uid = PooledString("anew");
  see(anew);
  see(member(2));
  decide();
  EXPECT_EQ(where("g-2"), "");
  EXPECT_EQ(hold_of("g-2").detail,
            "gang g waits: node " + lost + " was deleted, and the binding of pod g-1 to it is not answered yet");
  EXPECT_EQ(tracker.hold_condition(record("g-2")).message, "BindFailed: " + hold_of("g-2").detail);
  bind_status = 422;
  server.let_go();
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  bind_status = 201;
  decide();
  const std::string beside = where("g-1") == "c" ? "d" : "c";
  ASSERT_NE(where("g-1"), "");
  EXPECT_EQ((where("g-0") == beside) + (where("g-2") == beside), 1) << "all of them are tried when it is not bound";
}

TEST_F(GoneUnderABinding, PodsThatStartOneByOneWaitForNobodysAnswer) {
  PodGroup basic;
  basic.ns = PooledString("ns"), basic.name = PooledString("g"), basic.uid = PooledString("uid-g");
  see(basic);
  for (const char* name : {"a", "b"}) {
    Pod p = pod(name, 8);
    p.group_name = PooledString("g");
    see(p);
  }
  see(node("m", 8));
  binder = binder_with({.binds = AdaptiveWindow::fixed(1)});
  server.hold();
  decide();
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  const std::string sent = server.count({"POST", "pods/a/"}) == 1 ? "a" : "b", other = sent == "a" ? "b" : "a";
  gone(node(where(sent), 8));
  decide();
  EXPECT_EQ(hold_text(record(sent)).substr(0, 18), "the pod is not bou");
  EXPECT_NE(where(other), "");
  server.let_go();
  ASSERT_TRUE(until([&] {
    decide();
    return phase(other) == Phase::kBound;
  }));
}

TEST_F(GoneUnderABinding, WhatOfItsGangWasNotSentYetWaitsWithIt) {
  gone(node("n", 8));
  for (const char* name : {"a", "b"}) see(node(name, 8));
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
  binder = binder_with({.binds = AdaptiveWindow::fixed(1)});
  server.hold();
  decide();
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  const std::string sent = server.count({"POST", "g-0"}) == 1 ? "g-0" : "g-1", other = sent == "g-0" ? "g-1" : "g-0";
  gone(node(where(sent), 8));
  decide();
  EXPECT_EQ(phase(other), Phase::kWaiting);
  EXPECT_FALSE(record(other).is_in_engine());
  server.let_go();
}

TEST_F(GoneUnderABinding, WhateverElseHoldsThePodMeanwhileItIsAskedForNowhereElse) {
  Namespace ns;
  ns.name = PooledString("ns");
  const auto queue_goes_and_comes = [&] {
    ns.labels = {{PooledString("ashlar.dev/queue"), PooledString("nosuch")}};
    see(ns);
    tracker.settle();
    see(with(pod("p0", 1), "x", "y"));
    EXPECT_EQ(record("p0").hold, HoldReason::kQueueUnknown);
    ns.labels.clear();
    see(ns);
  };
  const auto comes_and_goes = [&](const char* label, HoldReason hold) {
    see(with(pod("p0", 1), label, "nosuch"));
    EXPECT_EQ(record("p0").hold, hold);
    see(pod("p0", 1));
  };
  const std::vector<std::function<void()>> holds{[&] { comes_and_goes("ashlar.dev/prefr", HoldReason::kMalformed); },
                                                 [&] { comes_and_goes("ashlar.dev/duration", HoldReason::kMalformed); },
                                                 [&] { comes_and_goes("ashlar.dev/queue", HoldReason::kQueueUnknown); },
                                                 queue_goes_and_comes};
  for (const auto& hold : holds) {
    const std::size_t posts = server.count({"POST"});
    lose_the_node(422, [&] {
      hold();
      decide();
      EXPECT_EQ(phase(), Phase::kHeld);
      EXPECT_EQ(record("p0").hold, HoldReason::kBindFailed);
      EXPECT_EQ(record("p0").hold_detail.view(), "node n was deleted, and the binding to it is not answered yet");
      EXPECT_EQ(server.count({"POST"}), posts + 1);
    });
    ASSERT_TRUE(until([&] { return phase() == Phase::kWaiting; }));
    clear();
  }
}

TEST_F(GoneUnderABinding, WhatItsOwnerChangedBeforeCountsAfterTheAnswer) {
  bind_status = 422;
  server.hold();
  place();
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  see(with(pod("p0", 1), "ashlar.dev/queue", "nosuch"));
  gone(node("n", 8));
  see(node("m", 8));
  server.let_go();
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  EXPECT_EQ(record("p0").hold, HoldReason::kQueueUnknown);
}

/// A place that was right when it was chosen, and a binding to it that was not done: what has changed since is looked
/// at before it is sent (again).
class ChangedBeforeTheNextTry : public Actuation {
 protected:
  ChangedBeforeTheNextTry() { binder = binder_with({}, kNextTry); }
  /// Decides, and lets the first binding of every pod fail so that it is known to be unbound and waits for its next
  /// try.
  void fail(int status) {
    server.change([&] { bind_status = status; });
    decide();
    ASSERT_TRUE(server.until([&] { return binder->in_flight() == 0 && binder->queued() == 0; }));
    server.change([&] { bind_status = 201; });
  }
  void decide() {
    step();
    binder->submit(plan);
  }
  /// Until everything is sent that can be.
  void go_on() {
    skipped += kNextTry;
    ASSERT_TRUE(until([&] {
      decide();
      return binder->is_idle();
    }));
  }
  static Node in_rack(const std::string& name, const std::string& rack) {
    return node(name, 8, {{PooledString("l/rack"), PooledString(rack)}});
  }
  static Pod member(int i) { return with(gang_pod("g", i, 2, 8), "ashlar.dev/within", "l/rack"); }
  /// On node n already, by somebody else's doing.
  static Pod foreign(const std::string& name, std::int64_t gpus) {
    Pod p = pod(name, gpus);
    p.scheduler_name = PooledString("default-scheduler");
    p.node_name = PooledString("n");
    return p;
  }
  std::size_t bindings(const std::string& pod_name, const std::string& node_name) {
    return server.count({"POST", pod_name, "\"" + node_name + "\""});
  }
  /// A pod whose first binding to n fails goes to m, where n changes meanwhile; n gets no second one.
  void expect_moved(int status, const std::function<void()>& change) {
    see(pod("p0", 1));
    const std::size_t sent = bindings("p0", "n");
    fail(status);
    change();
    see(node("m", 8));
    go_on();
    EXPECT_EQ(where("p0"), "m") << status;
    EXPECT_EQ(bindings("p0", "n"), sent + 1) << status;
    gone(pod("p0", 1));
    gone(node("m", 8));
  }

  static constexpr Millis kNextTry{10'000};  ///< after the first; nothing is tried again before go_on() moves the clock
};

TEST_F(ChangedBeforeTheNextTry, APodIsDecidedAnewWhereItsNodeIsNoLongerWhatItWas) {
  Node cordoned = node("n", 8), tainted = node("n", 8);
  cordoned.unschedulable = true;
  tainted.taints = {{PooledString("d"), PooledString("x"), TaintEffect::kNoSchedule}};
  for (const int status : {429, 500})
    for (const Node& changed : {cordoned, tainted, node("n", 0)}) {
      expect_moved(status, [&] { see(changed); });
      see(node("n", 8));
    }
}

TEST_F(ChangedBeforeTheNextTry, AHeartbeatIsNoChange) {
  see(pod("p0", 1));
  fail(429);
  const std::uint32_t turn = record("p0").bind_attempt;
  see(node("n", 8));
  see(node("m", 8));
  go_on();
  EXPECT_EQ(where("p0"), "n");
  EXPECT_EQ(record("p0").bind_attempt, turn);
}

TEST_F(ChangedBeforeTheNextTry, WhatWasNeverSentIsDecidedAnewToo) {
  binder = binder_with({.binds = AdaptiveWindow::fixed(1)});
  server.hold();
  place(2);
  Node cordoned = node("n", 8);
  cordoned.unschedulable = true;
  see(cordoned);
  see(node("m", 8));
  server.let_go();
  go_on();
  EXPECT_EQ((where("p0") == "n") + (where("p1") == "n"), 1) << "one was under way";
  EXPECT_EQ((where("p0") == "m") + (where("p1") == "m"), 1);
}

TEST_F(ChangedBeforeTheNextTry, APodIsDecidedAnewWhereSomebodyElseHasTakenItsPlace) {
  Pod many_devices = foreign("q", 8), much_cpu = foreign("q", 0),
      of_ours = annotated(pod("q", 8), "ashlar.dev/cards", "0-7");
  much_cpu.requests.cpu = node("n", 8).allocatable.cpu;
  of_ours.node_name = PooledString("n");
  for (const int status : {429, 500})
    for (const Pod& taken : {many_devices, much_cpu, of_ours}) {
      expect_moved(status, [&] { see(taken); });
      gone(taken);
    }
}

TEST_F(ChangedBeforeTheNextTry, APodThatWaitedBesideItAndWasBoundByHandHasTakenItsPlace) {
  see(pod("p0", 1));
  fail(429);
  Pod q = pod("q", 8);
  see(q);
  q.node_name = PooledString("n");
  see(q);
  go_on();
  EXPECT_EQ(phase(), Phase::kWaiting);
  EXPECT_EQ(bindings("p0", "n"), 1u);
}

/// Devices 0 and 1 hold a share each, and p0 has four of the other six: as a sum 3 whole devices fit beside them, as
/// devices they do not.
TEST_F(ChangedBeforeTheNextTry, WholeDevicesAreNoSumOfWhatIsLeftOnOthers) {
  for (const char* device : {"0", "1"}) {
    Pod s = annotated(share(std::string("s") + device, 500), "ashlar.dev/cards", device);
    s.node_name = PooledString("n");
    see(s);
  }
  see(pod("p0", 4));
  fail(429);
  see(foreign("q", 3));
  see(node("m", 8));
  go_on();
  EXPECT_EQ(where("p0"), "m");
  EXPECT_EQ(bindings("p0", "n"), 1u);
}

TEST_F(ChangedBeforeTheNextTry, AShareIsDecidedAnewWhereItsDeviceIsTakenAndStaysWhereItIsNot) {
  for (const int milli : {500, 400}) {
    see(node("n", 1));
    see(share("p0", 600));
    fail(429);
    Pod beside = annotated(share("s", milli), "ashlar.dev/cards", "0");
    beside.node_name = PooledString("n");
    see(beside);
    see(node("m", 8));
    go_on();
    EXPECT_EQ(where("p0"), milli == 500 ? "m" : "n");
    for (const char* name : {"p0", "s"}) gone(pod(name, 1));
    gone(node("m", 8));
  }
}

TEST_F(ChangedBeforeTheNextTry, APodIsDecidedAnewWhereItsHostPortIsTaken) {
  PodRules rules;
  rules.host_ports.push_back({HostPort::Protocol::kTcp, 8080, PooledString()});
  for (const bool is_taken : {true, false}) {
    see(under(pod("p0", 1), rules));
    fail(429);
    see(is_taken ? under(foreign("q", 0), rules) : foreign("q", 0));
    see(node("m", 8));
    go_on();
    EXPECT_EQ(where("p0"), is_taken ? "m" : "n") << "its own port is not taken by somebody else";
    for (const char* name : {"p0", "q"}) gone(pod(name, 1));
    gone(node("m", 8));
  }
}

TEST_F(ChangedBeforeTheNextTry, WhatFillsAnotherNodeOrWhatItDoesNotAskForIsNoChange) {
  for (const std::int64_t gpus : {8, 0}) {
    see(pod("p0", gpus));
    fail(429);
    const std::uint32_t turn = record("p0").bind_attempt;
    see(node("m", 8));
    Pod taker = foreign("q", 20);
    if (gpus > 0) taker.node_name = PooledString("m");
    see(taker);
    go_on();
    EXPECT_EQ(where("p0"), "n") << gpus;
    EXPECT_EQ(record("p0").bind_attempt, turn) << gpus;
    for (const char* name : {"p0", "q"}) gone(pod(name, 1));
    gone(node("m", 8));
  }
}

TEST_F(ChangedBeforeTheNextTry, AResizedPodIsDecidedAnew) {
  see(pod("p0", 1));
  fail(500);
  Pod larger = pod("p0", 1);
  larger.requests.cpu = MilliCores(node("n", 8).allocatable.cpu.value + 1);
  see(larger);
  Node huge = node("m", 8);
  huge.allocatable.cpu = MilliCores(larger.requests.cpu.value * 2);
  see(huge);
  go_on();
  EXPECT_EQ(where("p0"), "m");
  EXPECT_EQ(bindings("p0", "n"), 1u);
}

TEST_F(ChangedBeforeTheNextTry, OfAGangThatHasNotStartedAllWaitWhereOneHasLostItsPlace) {
  see(node("m", 8));
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
  fail(429);
  Pod taker = foreign("q", 8);
  taker.node_name = PooledString(where("g-1"));
  see(taker);
  go_on();
  EXPECT_EQ(where("g-0") + where("g-1"), "");
  EXPECT_EQ(server.count({"POST"}), 2u);
}

TEST_F(ChangedBeforeTheNextTry, WhatTheWatchSaysOfItsNodeIsLaterThanTheAnswer) {
  see(node("m", 8));
  server.hold();
  place();
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  const std::string asked = where("p0"), other = asked == "n" ? "m" : "n";
  Pod there = pod("p0", 1);
  there.node_name = PooledString(other);
  see(there);
  server.let_go();
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  EXPECT_EQ(where("p0"), other);
}

TEST_F(ChangedBeforeTheNextTry, ANeighbourThatLeavesRoomIsNoChange) {
  see(pod("p0", 7));
  fail(429);
  const std::uint32_t turn = record("p0").bind_attempt;
  see(foreign("q", 1));
  see(node("m", 8));
  go_on();
  EXPECT_EQ(where("p0"), "n");
  EXPECT_EQ(record("p0").bind_attempt, turn);
}

TEST_F(ChangedBeforeTheNextTry, OnlyAsManyAreDecidedAnewAsNoLongerFit) {
  binder = binder_with({.binds = AdaptiveWindow::fixed(1)}, kNextTry);
  server.hold();
  for (int i = 0; i < 3; ++i) see(pod("p" + std::to_string(i), 2));
  decide();
  see(foreign("q", 3));
  see(node("m", 8));
  server.let_go();
  go_on();
  EXPECT_EQ((where("p0") == "n") + (where("p1") == "n") + (where("p2") == "n"), 2);
  EXPECT_EQ((where("p0") == "m") + (where("p1") == "m") + (where("p2") == "m"), 1);
}

TEST_F(ChangedBeforeTheNextTry, AnotherTenantsTopologyLevelIsNoChangeOfANode) {
  gone(node("n", 8));
  for (const char* name : {"a", "b"}) see(node(name, 8, {{PooledString("vendor/x"), PooledString("1")}}));
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
  fail(429);
  see(with(pod("evil", 0, {}, "other"), "ashlar.dev/within", "vendor/x"));
  Pod urgent = pod("urgent", 8);
  urgent.priority = 1000;
  see(urgent);
  tracker.settle();
  go_on();
  EXPECT_EQ(where("g-0") + where("g-1") == "ab" || where("g-0") + where("g-1") == "ba", true)
      << where("g-0") << " " << where("g-1");
  EXPECT_EQ(where("urgent"), "");
}

TEST_F(ChangedBeforeTheNextTry, WhatIsUnderWayIsNotGivenUpForAChange) {
  server.hold();
  place();
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  see(node("n", 0));
  see(node("m", 8));
  decide();
  EXPECT_EQ(where("p0"), "n");
  server.let_go();
  go_on();
  EXPECT_EQ(where("p0"), "n");
  EXPECT_EQ(server.count({"POST"}), 1u);
}

TEST_F(ChangedBeforeTheNextTry, AGangThatHasNotStartedIsDecidedAnewAsAWhole) {
  gone(node("n", 8));
  for (const char* name : {"a", "b"}) see(in_rack(name, "r0"));
  for (int i = 0; i < 2; ++i) see(member(i));
  fail(429);
  see(in_rack("b", "r1"));
  for (const char* name : {"c", "d"}) see(in_rack(name, "r2"));
  go_on();
  EXPECT_EQ(where("g-0") + where("g-1") == "cd" || where("g-0") + where("g-1") == "dc", true)
      << where("g-0") << " " << where("g-1");
}

TEST_F(ChangedBeforeTheNextTry, NoMemberIsSentAloneWhereThePlaceOfAnotherIsNoMore) {
  see(node("m", 8));
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
  fail(429);
  see(node(where("g-1"), 0));
  go_on();
  EXPECT_EQ(where("g-0") + where("g-1"), "");
  EXPECT_EQ(server.count({"POST"}), 2u);
}

TEST_F(ChangedBeforeTheNextTry, NoMemberIsSentAloneWhereTheNodeOfAnotherWent) {
  for (const char* gone_from : {"g-0", "g-1"}) {
    see(node("m", 8));
    for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
    fail(429);
    const std::size_t posts = server.count({"POST"});
    gone(node(where(gone_from), 8));
    go_on();
    EXPECT_EQ(where("g-0") + where("g-1"), "") << gone_from;
    EXPECT_EQ(server.count({"POST"}), posts) << gone_from;
    for (int i = 0; i < 2; ++i) gone(gang_pod("g", i, 2, 8));
    see(node("n", 8));
  }
}

TEST_F(ChangedBeforeTheNextTry, AMemberIsSentWhereTheOtherHasAnotherPlaceByThen) {
  for (const char* name : {"m", "x"}) see(node(name, 8));
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
  fail(429);
  const std::string stays = where("g-0"), goes = where("g-1");
  const std::uint32_t turn = record("g-0").bind_attempt;
  gone(node(goes, 8));
  decide();
  go_on();
  EXPECT_EQ(record("g-1").phase, Phase::kBound);
  EXPECT_EQ(where("g-0"), stays);
  EXPECT_EQ(record("g-0").bind_attempt, turn);
}

TEST_F(ChangedBeforeTheNextTry, NoMemberOfAGangThatHasBegunIsSentWhileAnotherWaitsForAPlace) {
  for (const char* name : {"m", "x"}) see(node(name, 8));
  for (int i = 0; i < 3; ++i) see(gang_pod("g", i, 3, 8));
  fail(429);
  tracker.note_bound(tracker.pods().find(PooledString("ns"), PooledString("g-0")), PooledString(where("g-0")), {});
  gone(node(where("g-1"), 8));
  go_on();
  EXPECT_EQ(where("g-1") + where("g-2"), "");
  EXPECT_EQ(server.count({"POST", "g-2"}), 1u);
}

TEST_F(ChangedBeforeTheNextTry, NoMemberIsSentAloneWhereTheOthersAreGone) {
  for (const bool is_gone : {true, false}) {
    see(node("m", 8));
    for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
    fail(429);
    const std::size_t posts = server.count({"POST"});
    Pod leaves = gang_pod("g", 1, 2, 8);
    leaves.deletion_requested = time;
    is_gone ? gone(leaves) : see(leaves);
    go_on();
    EXPECT_EQ(where("g-0"), "") << is_gone;
    EXPECT_EQ(server.count({"POST"}), posts) << is_gone;
    for (int i = 0; i < 2; ++i) gone(gang_pod("g", i, 2, 8));
    step();
  }
}

TEST_F(ChangedBeforeTheNextTry, NoMemberIsSentWhereMoreMustStartThanHaveAPlace) {
  PodGroup group;
  group.ns = PooledString("ns"), group.name = PooledString("g"), group.uid = PooledString("uid-g");
  group.min_count = 2;
  see(group);
  see(node("m", 8));
  for (const char* name : {"g-0", "g-1", "g-2"}) {
    Pod p = pod(name, 8);
    p.group_name = PooledString("g");
    see(p);
  }
  fail(429);
  ASSERT_EQ(server.count({"POST"}), 2u);
  group.min_count = 3;
  see(group);
  go_on();
  EXPECT_EQ(where("g-0") + where("g-1") + where("g-2"), "");
  EXPECT_EQ(server.count({"POST"}), 2u);
}

TEST_F(ChangedBeforeTheNextTry, AGangThatHasBegunGoesOnWithThoseThatAreLeft) {
  for (const char* name : {"m", "x"}) see(node(name, 8));
  for (int i = 0; i < 3; ++i) see(gang_pod("g", i, 3, 8));
  fail(429);
  for (const char* name : {"g-0", "g-1"})
    tracker.note_bound(tracker.pods().find(PooledString("ns"), PooledString(name)), PooledString(where(name)), {});
  gone(gang_pod("g", 0, 3, 8));
  go_on();
  EXPECT_EQ(phase("g-2"), Phase::kBound) << "a member that is over takes nobody with it";
}

TEST_F(ChangedBeforeTheNextTry, NoMemberIsSentAloneWhereAnotherNoLongerBelongsToTheQueue) {
  for (const int leaves : {0, 1}) {
    see(node("m", 8));
    for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8));
    fail(429);
    const std::size_t posts = server.count({"POST"});
    see(with(gang_pod("g", leaves, 2, 8), "ashlar.dev/queue", "nosuch"));
    go_on();
    EXPECT_EQ(where("g-0") + where("g-1"), "") << leaves;
    EXPECT_EQ(server.count({"POST"}), posts) << leaves;
    for (int i = 0; i < 2; ++i) gone(gang_pod("g", i, 2, 8));
    step();
  }
}

TEST_F(ChangedBeforeTheNextTry, AMemberGoesWhereTheOthersOfItsGangAreNow) {
  gone(node("n", 8));
  for (const char* name : {"a", "b"}) see(in_rack(name, "r0"));
  for (int i = 0; i < 2; ++i) see(member(i));
  fail(429);
  const std::string first = where("g-0"), second = where("g-1");
  tracker.note_bound(tracker.pods().find(PooledString("ns"), PooledString("g-0")), PooledString(first), {});
  see(in_rack(first, "r1"));
  go_on();
  EXPECT_EQ(bindings("g-1", second), 1u);
  EXPECT_EQ(where("g-1"), "") << "there is no room in r1";
  see(in_rack("c", "r1"));
  go_on();
  EXPECT_EQ(where("g-1"), "c");
}

TEST_F(ChangedBeforeTheNextTry, WhatItsOwnerChangedCounts) {
  see(pod("p0", 1));
  fail(429);
  see(with(pod("p0", 1), "ashlar.dev/queue", "nosuch"));
  go_on();
  EXPECT_EQ(record("p0").hold, HoldReason::kQueueUnknown);
  EXPECT_EQ(server.count({"POST"}), 1u);
}

TEST_F(ChangedBeforeTheNextTry, APodGoesNotBesideOneThatRefusesIt) {
  const auto host = [](const std::string& name) {
    return node(name, 8, {{PooledString("kubernetes.io/hostname"), PooledString(name)}});
  };
  gone(node("n", 8));
  see(host("a"));
  see(pod("p0", 1, {{PooledString("app"), PooledString("web")}}));
  fail(429);
  PodRules rules;
  rules.required_anti_affinity = {
      {.selector = {.present = true, .match_labels = {{PooledString("app"), PooledString("web")}}},
       .topology_key = PooledString("kubernetes.io/hostname")}};
  Pod loner = under(pod("loner", 0), rules);
  loner.scheduler_name = PooledString("other");
  loner.node_name = PooledString("a");
  see(loner);
  see(host("b"));
  go_on();
  EXPECT_EQ(where("p0"), "b");
}

}  // namespace
}  // namespace ashlar::kube
