// What becomes of a plan whose bindings fail: the pod is read again, and a place is given free only when the server
// says that it is.
#include "live/write/binder.h"

#include "actuation_bench.h"

namespace ashlar::kube {
namespace {

TEST_F(Actuation, ABindingThatIsAnsweredIsConfirmed) {
  place();
  EXPECT_EQ(phase(), Phase::kAssumed);
  ASSERT_TRUE(server.until([&] { return binder->is_idle(); }));
  EXPECT_EQ(phase(), Phase::kBound);
  EXPECT_EQ(binder->counters().reread, 0u);
}

TEST_F(Actuation, AnAnswerThatDoesNotSaySuccessIsNoBinding) {
  int number = 0;
  for (const char* text : {"", "{}", "<html>welcome</html>", R"({"kind":"Status","status":"Failure"})",
                           R"({"kind":"Pod","status":"Success"})"}) {
    server.change([&] { said = text; });
    const std::string name = "q" + std::to_string(++number);
    see(pod(name, 1));
    step();
    binder->submit(plan);
    ASSERT_TRUE(until([&] { return phase(name) == Phase::kHeld; })) << text;
    EXPECT_EQ(record(name).hold_detail.view(), "the server's answer 201 does not confirm the binding");
    step();
    EXPECT_EQ(idle_devices("n"), 8) << text;
  }
}

TEST_F(Actuation, ABindingNamesTheQueueThatThePodIsChargedTo) {
  place();
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  EXPECT_EQ(server.count({"POST", R"("ashlar.dev/charged-queue":"default")"}), 1u);
}

/// A webhook of one namespace that does not answer costs the others nothing: neither its bindings nor what waits behind
/// them.
TEST_F(Actuation, ANamespaceWhoseBindingsAreNotAnsweredHoldsUpNobodyElse) {
  see(node("m", 8));
  CommitOptions small;
  small.binds = AdaptiveWindow::fixed(4);
  binder = binder_with(small);
  place();
  ASSERT_TRUE(until([&] { return binder->is_idle(); })) << "a namespace that is known";
  server.hold();
  for (int i = 0; i < 12; ++i) see(pod("w" + std::to_string(i), 1));
  step();
  binder->submit(plan);
  EXPECT_EQ(binder->in_flight(), 4u);
  EXPECT_EQ(binder->backlog(), 8u) << "the engine waits for the window";
  Pod other = pod("o", 1);
  other.ns = "other";
  see(other);
  step();
  binder->submit(plan);
  skipped = Millis(1'900);
  binder->pump();
  EXPECT_EQ(binder->in_flight(), 5u) << "what is overdue takes no place, and its namespace is silent";
  EXPECT_EQ(binder->backlog(), 0u);
  EXPECT_EQ(binder->slow_under_way(), 0u) << "not slow yet";
  skipped = Millis(2'500);
  binder->pump();
  EXPECT_EQ(server.api().in_flight(), 9u) << "a slow namespace has its share of eight, and the other the window";
  EXPECT_EQ(binder->slow_under_way(), 8u);
  EXPECT_EQ(binder->backlog(), 0u) << "the engine goes on";
  EXPECT_EQ(binder->queued(), 4u);
  RequestBudget& budget = server.api().budget();
  const Millis now = server.api().monotonic();
  budget.end(budget.begin(now), {ServerHealth::kTrouble, Millis(0)}, now);
  budget.end(budget.begin(now), {ServerHealth::kSound, Millis(0)}, now);
  Pod third = pod("third", 1);
  third.ns = "third";
  see(third);
  step();
  binder->submit(plan);
  EXPECT_EQ(server.api().in_flight(), 10u) << "nor do they fill the window that the server has after trouble";
  server.let_go();
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  EXPECT_EQ(binder->counters().bound(), 15u);
  EXPECT_EQ(binder->slow_under_way(), 0u);
}

/// As many as a server may let hang: a late one makes room for a namespace of which nothing is known yet.
TEST_F(Actuation, WhereManyHangALateBindingIsAbandonedForANewNamespace) {
  for (int i = 0; i < 20; ++i) see(node("m" + std::to_string(i), 8));
  CommitOptions wide;
  wide.binds = AdaptiveWindow::fixed(200);
  binder = binder_with(wide);
  place();
  ASSERT_TRUE(until([&] { return binder->is_idle(); })) << "a namespace that is known";
  server.hold();
  const int hanging = static_cast<int>(BindQueue::kHangingMax);
  for (int i = 0; i < hanging; ++i) see(pod("w" + std::to_string(i), 1));
  step();
  binder->submit(plan);
  ASSERT_EQ(binder->in_flight(), BindQueue::kHangingMax);
  skipped = Millis(2'500);
  binder->pump();
  EXPECT_EQ(binder->in_flight(), BindQueue::kHangingMax) << "nobody waits for it";
  Pod other = pod("o", 1);
  other.ns = "other";
  see(other);
  step();
  binder->submit(plan);
  EXPECT_EQ(binder->in_flight(), BindQueue::kHangingMax) << "one more, and one less";
  EXPECT_EQ(binder->unsettled(), BindQueue::kHangingMax + 1) << "what it did is to be read";
  EXPECT_EQ(binder->counters().of(BindOutcome::kUnknown), 1u);
  EXPECT_FALSE(server.api().budget().is_in_trouble());
  server.let_go();
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  EXPECT_EQ(binder->counters().bound(), BindQueue::kHangingMax + 2);
  EXPECT_EQ(server.count({"POST", "/pods/o/binding"}), 1u);
}

TEST_F(Actuation, APodThatIsNotFoundAndNotThereIsForgotten) {
  bind_status = 404;
  exists = false;
  place();
  ASSERT_TRUE(server.until([&] { return phase() == Phase::kFree; }));
  step();
  EXPECT_EQ(idle_devices("n"), 8);
  EXPECT_EQ(binder->counters().of(BindOutcome::kMissing), 1u);
}

TEST_F(Actuation, AnAnswerToARereadThatNoApiServerGivesForgetsNoPod) {
  const std::vector<std::pair<int, std::string>> answers{
      {404, "<html>no such page</html>"},
      {404, "{}"},
      {404, R"({"kind":"Status","message":"no"})"},
      {404, R"({"kind":"Problem","message":"no","reason":"NotFound"})"},
      {403, R"({"kind":"Status","message":"no","reason":"NotFound"})"},
      {200,
       R"({"kind":"Pod","metadata":{"name":"p0","namespace":"ns"},"spec":{"schedulerName":"ashlar","containers":[]},"status":{}})"},
  };
  for (const auto& [status, body] : answers) {
    server.change([&, status = status, body = body] { bind_status = 500, odd_status = status, odd = body; });
    const std::size_t reads = server.count({"GET"});
    place();
    ASSERT_TRUE(until([&] { return server.count({"GET"}) >= reads + 2; })) << status << " " << body;
    EXPECT_EQ(phase(), Phase::kAssumed) << body;
    server.change([&] { bind_status = 201, odd.clear(); });
    ASSERT_TRUE(until([&] { return phase() == Phase::kBound; })) << status << " " << body;
    gone(pod("p0", 1));
  }
}

TEST_F(Actuation, WhatIsDueIsDoneWithoutBeingPumped) {
  bind_status = 500;
  read_failures = 1;
  place();
  ASSERT_TRUE(server.until([&] { return binder->counters().reread == 2; })) << "the next re-read";
  server.change([&] { bind_status = 201; });
  EXPECT_TRUE(server.until([&] { return phase() == Phase::kBound; })) << "the next try";
}

TEST_F(Actuation, ARereadThatFailsIsSaidOnceUntilOneSucceeds) {
  const auto readings = [&] {
    return std::count_if(warnings.begin(), warnings.end(), [](const auto& w) { return w.starts_with("reading "); });
  };
  const auto read_again = [&](std::size_t times) {
    const std::size_t reads = binder->counters().reread;
    return until([&] { return binder->counters().reread >= reads + times && binder->in_flight() == 0; });
  };
  server.change([&] { bind_status = 500, read_status = 403; });
  place();
  ASSERT_TRUE(read_again(3));
  ASSERT_EQ(readings(), 1);
  EXPECT_EQ(
      warnings.back(),
      "reading ns/p0, to check whether it is bound: HTTP 403: no; its capacity stays reserved until that is known");
  server.change([&] { read_status = 200; });
  ASSERT_TRUE(until([&] { return server.count({"POST"}) == 2; }));
  server.change([&] { odd = R"({"kind":"Pod","metadata":{"name":"p0","namespace":"ns"}})"; });
  ASSERT_TRUE(until([&] { return readings() == 2; }));
  EXPECT_EQ(warnings.back(),
            "reading ns/p0, to check whether it is bound: the server's answer lacks the pod's uid; its capacity stays "
            "reserved until that is known");
  ASSERT_TRUE(read_again(2));
  EXPECT_EQ(readings(), 2);
}

TEST_F(Actuation, APodThatIsFoundEndedIsGoneAndIsNotBoundAgain) {
  bind_status = 500;
  odd =
      R"({"kind":"Pod","metadata":{"name":"p0","namespace":"ns","uid":"uid-ns-p0"},"spec":{"schedulerName":"ashlar","containers":[]},"status":{"phase":"Failed"}})";
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kFree; }));
  EXPECT_EQ(server.count({"POST"}), 1u);
  EXPECT_EQ(server.count({"GET"}), 1u);
  step();
  EXPECT_EQ(idle_devices("n"), 8);
}

TEST_F(Actuation, WhatTheWatchMustHaveReportedIsDueWhileAnotherReadIsPutOff) {
  Rereads::Hooks hooks{.begin = [](CommitTicket&) { return std::string(); }, .take = {}};
  RequestLane lane(server.api(), [] {});
  Rereads rereads(server.api(), lane, AdaptiveWindow::fixed(4), hooks);
  EXPECT_EQ(rereads.next_due(), Millis::max());
  rereads.confirm_later({}, Millis(700));
  EXPECT_EQ(rereads.next_due(), Millis(700));
  rereads.later({}, Millis(900));
  EXPECT_EQ(rereads.next_due(), Millis(700));
  rereads.later({}, Millis(300));
  EXPECT_EQ(rereads.next_due(), Millis(300));
}

TEST_F(Actuation, AnotherPodOfThatNameIsNotTheOneThatWasBound) {
  bind_status = 500;
  odd =
      R"({"kind":"Pod","metadata":{"name":"p0","namespace":"ns","uid":"another"},"spec":{"schedulerName":"ashlar","containers":[]},"status":{}})";
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kFree; }));
  EXPECT_EQ(server.count({"GET"}), 1u);
}

TEST_F(Actuation, ATimeOutIsReadAgainAndMayTurnOutToBeABinding) {
  bind_status = 504;
  bound_to = "n";
  place();
  ASSERT_TRUE(server.until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(binder->counters().of(BindOutcome::kUnknown), 1u);
  EXPECT_EQ(server.count({"POST"}), 1u);
}

TEST_F(Actuation, AnUnboundPodsBindingIsSentAgainWithItsPlaceKept) {
  bind_status = 500;
  place();
  ASSERT_TRUE(until([&] { return server.count({"GET"}) == 1; }));
  EXPECT_EQ(phase(), Phase::kAssumed);
  server.change([&] { bind_status = 201; });
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(server.count({"POST"}), 2u);
}

TEST_F(Actuation, AfterThreeRereadsThatFindItUnboundAPodIsGivenUp) {
  for (const int status : {409, 404, 500, 503, 504}) {
    bind_status = status;
    place();
    const std::size_t reads = server.count({"GET"}), posts = server.count({"POST"});
    ASSERT_TRUE(until([&] { return phase() == Phase::kHeld; })) << status;
    EXPECT_EQ(server.count({"GET"}) - reads, 3u) << status;
    EXPECT_EQ(server.count({"POST"}) - posts, 3u) << status;
    EXPECT_EQ(record("p0").hold, HoldReason::kBindFailed);
    EXPECT_EQ(hold_text(record("p0")),
              "the pod is not bound yet; the binding is retried later: HTTP " + std::to_string(status) + ": no");
    step();
    EXPECT_EQ(idle_devices("n"), 8);
    gone(pod("p0", 1));
  }
}

TEST_F(Actuation, ABindingThatIsRefusedFreesItsPlaceAtOnceAndIsNotReadAgain) {
  for (const int status : {400, 401, 403, 405, 406, 413, 415, 422, 418}) {
    bind_status = status;
    place();
    const std::size_t posts = server.count({"POST"});
    ASSERT_TRUE(until([&] { return phase() == Phase::kHeld; })) << status;
    EXPECT_EQ(record("p0").hold, HoldReason::kBindFailed);
    EXPECT_EQ(tracker.hold_condition(record("p0")).reason, kSchedulerError);
    EXPECT_EQ(
        tracker.hold_condition(record("p0")).message,
        "BindFailed: the pod is not bound yet; the binding is retried later: HTTP " + std::to_string(status) + ": no");
    EXPECT_FALSE(record("p0").is_in_engine());
    step();
    EXPECT_EQ(idle_devices("n"), 8);
    EXPECT_LE(server.count({"POST"}) - posts, 1u);
    gone(pod("p0", 1));
  }
  EXPECT_EQ(server.count({"GET"}), 0u);
}

TEST_F(Actuation, APlaceStaysTakenWhileTheServerCannotSay) {
  bind_status = 504;
  read_failures = 2;
  place();
  ASSERT_TRUE(until([&] { return server.count({"GET"}) == 2; }));
  EXPECT_EQ(phase(), Phase::kAssumed);
  ASSERT_TRUE(until([&] { return server.count({"GET"}) == 3; }));
  server.change([&] { bind_status = 201; });
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
}

TEST_F(Actuation, RereadingGoesOnWhileTheRightToWriteIsAway) {
  bind_status = 504;
  read_failures = 1;
  server.hold();
  place();
  ASSERT_TRUE(until([&] { return server.count({"POST"}) == 1; }));
  is_leading = false;  // a renewal is late; it will be answered, and nothing reports that leadership was ever in doubt
  server.let_go();
  ASSERT_TRUE(until([&] { return server.count({"GET"}) == 2; }));
  server.change([&] { bind_status = 201; });
  server.poll_for(Millis(50));
  binder->pump();
  EXPECT_EQ(server.count({"POST"}), 1u);
  EXPECT_EQ(binder->counters().sent, 1u) << "not even as far as the fence";
  is_leading = true;
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
}

TEST_F(Actuation, NoMoreThanEightRereadsAreUnderWay) {
  bind_status = 504;
  read_status = 403;  // so that nothing is ever settled
  binder = binder_with({.rereads = AdaptiveWindow::fixed(8)});
  see(node("m", 8));
  place(16);
  ASSERT_TRUE(until([&] { return binder->counters().of(BindOutcome::kUnknown) == 16; }));
  server.hold();
  ASSERT_TRUE(until([&] { return binder->in_flight() == 8; }));
  server.poll_for(Millis(100));
  binder->pump();
  EXPECT_LE(binder->in_flight(), 8u);
  EXPECT_TRUE(until([&] { return binder->in_flight() == 8; }))
      << "one that was answered as the server began to hold made room";
  EXPECT_EQ(binder->unsettled(), 16u) << "what is not settled keeps its part of the window";
  server.let_go();
}

TEST_F(Actuation, OfAGangWhatIsBoundStaysAndTheRestIsHeldTogether) {
  refused_pod = "g-1";
  for (int i = 0; i < 4; ++i) see(gang_pod("g", i, 4, 2));
  binder = binder_with({.binds = AdaptiveWindow::fixed(2)});
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  tracker.settle();
  EXPECT_EQ(phase("g-0"), Phase::kBound);
  EXPECT_EQ(server.count({"POST", "g-2"}) + server.count({"POST", "g-3"}), server.count({"POST"}) - 2)
      << "what was not sent is not sent";
  for (const char* name : {"g-1", "g-2", "g-3"}) {
    if (phase(name) == Phase::kBound) continue;
    EXPECT_EQ(phase(name), Phase::kWaiting) << name;
    EXPECT_FALSE(record(name).is_in_engine()) << name;
    EXPECT_EQ(tracker.hold_condition(record(name)).message,
              "BindFailed: gang g waits: pod g-1 could not be bound: HTTP 422: no");
  }
  step();
  EXPECT_TRUE(plan.actions.empty());
  EXPECT_EQ(idle_devices("n"), 8 - 2 * static_cast<std::int64_t>(server.count({"POST"}) - 1));
  server.change([&] { refused_pod.clear(); });
  ASSERT_TRUE(until([&] {
    step();
    binder->submit(plan);
    return phase("g-1") == Phase::kBound && phase("g-2") == Phase::kBound && phase("g-3") == Phase::kBound;
  })) << "they start again together when the time is over";
}

TEST_F(Actuation, AMemberThatTurnsOutToBeUnboundWaitsWithItsHeldGang) {
  refused_pod = "g-0";
  bind_status = 409;
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 2));
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  tracker.settle();
  EXPECT_EQ(phase("g-1"), Phase::kWaiting);
  EXPECT_FALSE(record("g-1").is_in_engine());
  EXPECT_LT(server.count({"POST", "g-1"}), 3u) << "it is not sent until it is given up by itself";
}

TEST_F(Actuation, AMemberUnderWayKeepsItsPlaceInAHeldGangUntilItsAnswer) {
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 2));
  step();
  const PodSlot refused = tracker.pods().find(PooledString("ns"), PooledString("g-0")),
                sent = tracker.pods().find(PooledString("ns"), PooledString("g-1"));
  for (const PodSlot slot : {refused, sent})
    tracker.note_assumed(slot, tracker.names().nodes.find(PooledString("n")), {});
  tracker.pods().edit(sent).is_bind_under_way = true;
  tracker.note_bind_failed(refused, "no");
  tracker.settle();
  EXPECT_EQ(phase("g-1"), Phase::kAssumed) << "it may be bound by now";
  EXPECT_TRUE(record("g-1").is_in_engine());
  tracker.pods().edit(sent).is_bind_under_way = false;
  tracker.note_rejected(sent);
  tracker.settle();
  EXPECT_FALSE(record("g-1").is_in_engine()) << "then it waits with the others, not in the engine";
}

TEST_F(Actuation, AGangThatWasShortOfMembersTellsAtOnceThatABindingFailed) {
  see(gang_pod("g", 0, 2, 2));
  tracker.settle();
  see(gang_pod("g", 1, 2, 2));
  step();
  const PodSlot slot = tracker.pods().find(PooledString("ns"), PooledString("g-0"));
  tracker.note_assumed(slot, tracker.names().nodes.find(PooledString("n")), {});
  due.clear();
  tracker.note_bind_failed(slot, "no");
  tracker.settle();
  EXPECT_FALSE(due.empty());
}

TEST_F(Actuation, AfterAPauseTheActuatorGoesOnByItself) {
  bind_status = 503;
  place();
  EXPECT_TRUE(server.until([&] { return server.count({"POST"}) == 2; }));
}

TEST_F(Actuation, AHeldPodComesBackEarlyWhenItsOwnerChangesItAndNotWhenItsStatusChanges) {
  binder = binder_with({.hold_min = Millis(3'600'000), .hold_max = Millis(3'600'000)});
  bind_status = 403;
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kHeld; }));
  Pod told = pod("p0", 1);
  told.scheduled = {ConditionStatus::kFalse, PooledString("SchedulerError"), PooledString("no")};
  see(told);
  EXPECT_EQ(phase(), Phase::kHeld);
  see(with(told, "licence", "yes"));
  EXPECT_EQ(phase(), Phase::kWaiting);
  server.change([&] { bind_status = 201; });
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(record("p0").bind_failures, 0);
}

TEST_F(Actuation, AChangeOfOneMemberBringsItsHeldGangBackAndANewMemberDoesNot) {
  binder = binder_with({.hold_min = Millis(3'600'000), .hold_max = Millis(3'600'000)});
  bind_status = 403;
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 2));
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  see(gang_pod("g", 2, 2, 2));
  step();
  EXPECT_TRUE(plan.actions.empty());
  EXPECT_EQ(hold_of("g-0").reason, HoldReason::kBindFailed);
  see(with(gang_pod("g", 0, 2, 2), "licence", "yes"));
  step();
  EXPECT_EQ(plan.actions.size(), 2u) << "its minimum";
  step();
  EXPECT_EQ(plan.actions.size(), 1u) << "what is beyond the minimum follows";
}

TEST_F(Actuation, TheGangOfAFailedMemberThatIsDeletedIsTriedAgain) {
  binder = binder_with({.hold_min = Millis(3'600'000), .hold_max = Millis(3'600'000)});
  refused_pod = "g-0";
  for (int i = 0; i < 3; ++i) see(gang_pod("g", i, 2, 2));
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  gone(gang_pod("g", 0, 2, 2));
  EXPECT_EQ(hold_of("g-1").reason, HoldReason::kNone);
}

TEST_F(Actuation, ALateSuccessKeepsTheDevicesOfItsOwnBinding) {
  server.hold();
  place();
  const DeviceMask first = record("p0").devices;
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  gone(node("n", 8));
  see(node("n", 8));
  see(pod("other", 1));
  tracker.note_assumed(tracker.pods().find(PooledString("ns"), PooledString("p0")),
                       tracker.names().nodes.find(PooledString("n")), parse_devices("7"));
  server.let_go();
  ASSERT_TRUE(server.until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(devices_text(record("p0").devices), devices_text(first));
}

TEST_F(Actuation, WhatStillWaitsForAConnectionDoesNotLeaveOnceTheRightToWriteEnded) {
  server.hold();
  place(8);
  EXPECT_EQ(binder->in_flight(), 8u);
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  // what has a connection is on its way; the client opens four at most, each for one request of HTTP/1.1
  server.poll_for(Millis(50));
  is_leading = false;
  server.let_go();
  ASSERT_TRUE(until([&] {
    return binder->counters().reread == 8 - binder->counters().bound() && binder->in_flight() == 0;
  })) << "reading needs no such right";
  const std::size_t sent = server.count({"POST"});
  EXPECT_LE(sent, 4u);
  EXPECT_EQ(binder->counters().bound(), sent);
  EXPECT_EQ(binder->counters().of(BindOutcome::kUnknown), 8 - sent);
}

TEST_F(Actuation, AllIsCancelledWithTheActuator) {
  server.hold();
  place(8);
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  binder.reset();
  server.poll_for(Millis(20));
  server.let_go();
  server.poll_for(Millis(100));
  EXPECT_LE(server.count({"POST"}), 4u);
  EXPECT_EQ(server.api().in_flight(), 0u);
  EXPECT_EQ(phase(), Phase::kAssumed) << "the next leader lists everything";
}

TEST_F(Actuation, NoMoreThanTheWindowIsUnderWay) {
  binder = binder_with({.binds = AdaptiveWindow::fixed(3)});
  place(8);
  EXPECT_EQ(binder->in_flight(), 3u);
  EXPECT_EQ(binder->queued(), 5u);
  ASSERT_TRUE(server.until([&] { return binder->is_idle(); }));
  EXPECT_EQ(binder->counters().bound(), 8u);
}

TEST_F(Actuation, WhatIsNotSettledKeepsItsPartOfTheWindow) {
  binder = binder_with({.binds = AdaptiveWindow::fixed(3)});
  said = "{}";  // of a server that works
  read_failures = 1'000;
  place(8);
  ASSERT_TRUE(until([&] { return server.count({"GET"}) >= 3; }));
  EXPECT_EQ(server.count({"POST"}), 3u);
  EXPECT_EQ(binder->queued(), 5u);
  EXPECT_FALSE(binder->is_idle());
}

TEST_F(Actuation, WhatTheWatchBringsEndsTheRereading) {
  bind_status = 504;
  read_failures = 1'000;
  place();
  ASSERT_TRUE(until([&] { return server.count({"GET"}) == 1; }));
  Pod bound = pod("p0", 1);
  bound.node_name = PooledString("n");
  see(bound);
  ASSERT_TRUE(until([&] { return binder->is_idle(); }));
  EXPECT_EQ(phase(), Phase::kBound);
}

TEST_F(Actuation, TheServersWordsArePassedOnInBoundedLength) {
  refusal = std::string(3'000, 'x');
  bind_status = 422;
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kHeld; }));
  EXPECT_EQ(record("p0").hold_detail.view(), "HTTP 422: " + std::string(387, 'x') + "...");
}

TEST_F(Actuation, WhatIsCancelledDoesNotUseUpTheBudget) {
  server.hold();
  place(8);
  ASSERT_TRUE(server.until([&] { return server.count({"POST"}) == 1; }));
  binder.reset();
  RequestBudget& budget = server.api().budget();
  budget.end(budget.begin(Millis(0)), {ServerHealth::kTrouble, Millis(0)}, Millis(0));
  budget.end(budget.begin(Millis(200)), {}, Millis(200));
  int allowed = 0;
  for (; budget.may_send(Millis(200)); ++allowed) budget.begin(Millis(200));
  EXPECT_EQ(allowed, 8);
  server.let_go();
}

TEST_F(Actuation, TheNextHoldOfAPodOrGangIsLonger) {
  bind_status = 422;
  for (int times = 1; times <= 3; ++times) {
    place();
    ASSERT_TRUE(until([&] { return phase() == Phase::kHeld; }));
    EXPECT_EQ(record("p0").bind_failures, times);
    see(with(pod("p0", 1), "try", std::to_string(times)));
  }
  gone(pod("p0", 1));
  for (int times = 1; times <= 3; ++times) {
    for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 2), "try", std::to_string(times)));
    step();
    binder->submit(plan);
    ASSERT_TRUE(until([&] { return binder->is_idle(); }));
    EXPECT_EQ(tracker.gangs()[record("g-0").gang].bind_failures, times) << "once for both members";
    tracker.settle();
  }
  server.change([&] { bind_status = 201; });
  for (int i = 0; i < 2; ++i) see(with(gang_pod("g", i, 2, 2), "try", "again"));
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return phase("g-0") == Phase::kBound && phase("g-1") == Phase::kBound; }));
  tracker.settle();
  EXPECT_EQ(tracker.gangs()[record("g-0").gang].bind_failures, 0);
}

TEST_F(Actuation, OfAGangThatHasStartedOnlyTheDeniedMemberWaits) {
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 1));
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return phase("g-0") == Phase::kBound && phase("g-1") == Phase::kBound; }));
  server.change([&] { refused_pod = "g-2"; });
  for (int i = 2; i < 4; ++i) see(gang_pod("g", i, 2, 1));
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return phase("g-2") == Phase::kHeld && phase("g-3") == Phase::kBound; }));
  EXPECT_EQ(hold_of("g-2").reason, HoldReason::kNone);
}

TEST_F(Actuation, AnOldHoldsEndDoesNotEndANewOne) {
  bind_status = 422;
  place();
  const PodSlot slot = tracker.pods().find(PooledString("ns"), PooledString("p0"));
  ASSERT_EQ(phase(), Phase::kAssumed);
  const BindHold first = tracker.note_bind_failed(slot, "no");
  see(with(pod("p0", 1), "licence", "yes"));
  step();
  tracker.note_assumed(slot, tracker.names().nodes.find(PooledString("n")), {});
  const BindHold second = tracker.note_bind_failed(slot, "still no");
  EXPECT_EQ(second.times, 2);
  tracker.end_bind_hold(first);
  EXPECT_EQ(phase(), Phase::kHeld);
  std::vector<Event> events;
  source.take(events);
  events.clear();
  time += Millis(5'000);
  tracker.end_bind_hold(second);
  EXPECT_EQ(phase(), Phase::kWaiting);
  source.take(events);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().at, time);
}

TEST_F(Actuation, AGangHoldOfAnOlderRoundDoesNotEndTheNext) {
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 2));
  step();
  const PodSlot slot = tracker.pods().find(PooledString("ns"), PooledString("g-0"));
  tracker.note_assumed(slot, tracker.names().nodes.find(PooledString("n")), {});
  const BindHold first = tracker.note_bind_failed(slot, "no");
  tracker.settle();
  see(with(gang_pod("g", 0, 2, 2), "licence", "yes"));
  step();
  tracker.note_assumed(slot, tracker.names().nodes.find(PooledString("n")), {});
  const BindHold second = tracker.note_bind_failed(slot, "still no");
  tracker.end_bind_hold(first);
  EXPECT_TRUE(tracker.is_gang_held(slot));
  tracker.end_bind_hold(second);
  EXPECT_FALSE(tracker.is_gang_held(slot));
}

TEST_F(Actuation, APodKeepsItsAgeAndFollowsItsNamespacesQueueOverAHold) {
  bind_status = 422;
  place();
  const Millis seen = record("p0").seen;
  ASSERT_TRUE(until([&] { return phase() == Phase::kHeld; }));
  time += Millis(60'000);
  Namespace ns;
  ns.name = PooledString("ns");
  ns.labels = {{PooledString("ashlar.dev/queue"), PooledString("nobody's")}};
  see(ns);
  tracker.settle();
  ASSERT_TRUE(until([&] { return record("p0").hold == HoldReason::kQueueUnknown; })) << "when its time is over";
  ns.labels.clear();
  see(ns);
  tracker.settle();
  EXPECT_EQ(phase(), Phase::kWaiting);
  server.change([&] { bind_status = 422; });
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return phase() == Phase::kHeld; }));
  const Millis before = record("p0").seen;
  EXPECT_GE(before, seen);
  time += Millis(60'000);
  ASSERT_TRUE(until([&] { return phase() == Phase::kWaiting; }));
  EXPECT_EQ(record("p0").seen, before);
}

}  // namespace
}  // namespace ashlar::kube
