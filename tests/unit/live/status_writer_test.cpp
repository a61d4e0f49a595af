// Conditions and events: when they go out, which are dropped, and what becomes of those that the server does not take.
#include "live/write/status_writer.h"

#include <map>

#include "served_bench.h"

namespace ashlar::kube {
namespace {

class Lane : public ServedBench {
 protected:
  http::ServerResponse serve(const http::ServerRequest& request) override {
    if (request.method == "PATCH" && !refusals.empty()) {
      const int code = refusals.front();
      refusals.erase(refusals.begin());
      return ScriptedApi::status(code);
    }
    return http::json(200, "{}");
  }
  StatusWriterOptions options() const {
    return {.pod_groups = PodGroupVersion::kV1Beta1, .retry_min = Millis(10), .retry_max = Millis(40)};
  }
  std::unique_ptr<StatusWriter> status_writer_with(StatusWriterOptions o) {
    return std::make_unique<StatusWriter>(server.api(), tracker, std::move(o),
                                          StatusWriter::Hooks{.may_write = [] { return true; },
                                                              .is_quiet = [this] { return is_free; },
                                                              .pod_text =
                                                                  [this](PodSlot) {
                                                                    ++texts_made;
                                                                    return text;
                                                                  },
                                                              .group_text =
                                                                  [this](GangSlot, bool& is_true) {
                                                                    is_true = is_group_true;
                                                                    return text;
                                                                  }});
  }
  PodSlot waiting(const std::string& name) {
    see(pod(name, 1));
    return tracker.pods().find(PooledString("ns"), PooledString(name));
  }
  PodSlot waiting_slot(const std::string& name) { return tracker.pods().find(PooledString("ns"), PooledString(name)); }
  GangSlot group(const std::string& name) {
    see(ClusterObjects::group(name, 2));
    return tracker.gangs().find(PooledString("ns"), PooledString(name), GangKind::kPodGroup);
  }
  void pump() override { status_writer->pump(); }
  /// Until nothing waits and nothing is under way.
  void drain() {
    ASSERT_TRUE(until([&] { return status_writer->depth() == 0 && status_writer->in_flight() == 0; }));
  }
  std::size_t conditions(const std::string& name) { return server.count({"PATCH", "/pods/" + name + "/status"}); }
  std::size_t events(const std::string& name) { return server.count({"POST", "/events", "\"" + name + "\""}); }

  bool is_free = true, is_group_true = false;
  std::vector<int> refusals;
  int texts_made = 0;
  ConditionText text{"Unschedulable", "0/1 nodes are available"};
  std::unique_ptr<StatusWriter> status_writer = status_writer_with(options());
};

TEST_F(Lane, IsSilentWhileBindingsWaitOrAreUnderWay) {
  is_free = false;
  const PodSlot slot = waiting("a");
  status_writer->want_condition(slot, true);
  status_writer->want_failed_event(slot);
  status_writer->pump();
  server.poll_for(Millis(50));
  EXPECT_EQ(status_writer->in_flight(), 0u);
  EXPECT_EQ(status_writer->depth(), 2u);
  is_free = true;
  drain();
  EXPECT_EQ(conditions("a"), 1u);
  EXPECT_EQ(events("a"), 1u);
}

TEST_F(Lane, WhatIsOverdueGoesOutBesideBindingsAFewAtATime) {
  is_free = false;
  for (int i = 0; i < 10; ++i) status_writer->want_condition(waiting("p" + std::to_string(i)), i == 5);
  status_writer->want_failed_event(waiting("e"));
  status_writer->pump();
  EXPECT_EQ(status_writer->in_flight(), 0u);
  EXPECT_GT(status_writer->due_in(), Millis(1'000));
  EXPECT_LE(status_writer->due_in(), Millis(2'000));
  skipped += Millis(2'000);
  EXPECT_EQ(status_writer->due_in(), Millis(0));
  status_writer->pump();
  EXPECT_EQ(status_writer->in_flight(), 4u);
  status_writer->want_condition(waiting("young"), true);
  ASSERT_TRUE(until([&] { return server.count({"PATCH"}) == 10 && status_writer->in_flight() == 0; }));
  EXPECT_EQ(conditions("young"), 0u);
  EXPECT_EQ(events("e"), 0u) << "events have more time";
  skipped += Millis(8'000);
  drain();
  EXPECT_EQ(events("e"), 1u);
  EXPECT_EQ(status_writer->due_in(), Millis::max());
}

TEST_F(Lane, APodGroupsConditionIsNotSilencedByABusyClusterEither) {
  is_free = false;
  is_group_true = true;
  text = {"Scheduled", "all 2 pods"};
  status_writer->want_group_condition(group("g"));
  skipped += Millis(1'900);
  status_writer->pump();
  EXPECT_EQ(status_writer->in_flight(), 0u);
  skipped += Millis(100);
  drain();
  EXPECT_EQ(server.count({"PATCH", "/podgroups/g/status"}), 1u);
}

TEST_F(Lane, OfTooManyEventsTheOldestAreDroppedAndCounted) {
  StatusWriterOptions o = options();
  o.events_max = 2;
  status_writer = status_writer_with(o);
  is_free = false;
  for (const char* name : {"a", "b", "c"}) {
    const PodSlot slot = waiting(name);
    status_writer->want_condition(slot, false);
    status_writer->want_failed_event(slot);
  }
  EXPECT_EQ(status_writer->counters().events_dropped, 1u);
  is_free = true;
  drain();
  EXPECT_EQ(events("a"), 0u);
  EXPECT_EQ(events("b") + events("c"), 2u);
  EXPECT_EQ(server.count({"PATCH"}), 3u) << "conditions are never dropped";
}

TEST_F(Lane, AConditionThatIsNotTakenIsSentUntilItIs) {
  refusals = {409, 403, 504, 503, 422, 418};
  const PodSlot slot = waiting("a");
  status_writer->want_condition(slot, true);
  status_writer->pump();
  ASSERT_TRUE(until([&] { return conditions("a") == 7; })) << conditions("a");
  drain();
  EXPECT_EQ(status_writer->counters().failures, 6u);
  EXPECT_EQ(status_writer->counters().retries, 6u);
  server.poll_for(Millis(100));
  EXPECT_EQ(conditions("a"), 7u) << "then no more";
}

TEST_F(Lane, TheConditionOfAPodThatIsGoneIsNotSentAgain) {
  refusals = {404};
  status_writer->want_condition(waiting("a"), true);
  status_writer->want_condition(waiting("b"), true);
  drain();
  server.poll_for(Millis(100));
  EXPECT_EQ(server.count({"PATCH"}), 2u);
  EXPECT_EQ(status_writer->counters().retries, 0u);
}

TEST_F(Lane, AFailedConditionWaitsForItsTimeHoweverOftenItsTextChanges) {
  StatusWriterOptions o = options();
  o.retry_min = o.retry_max = Millis(150);
  status_writer = status_writer_with(o);
  refusals = {403};
  const PodSlot slot = waiting("a");
  status_writer->want_condition(slot, true);
  drain();
  for (const char* message : {"1", "2", "3"}) {
    text.message = message;
    status_writer->want_condition(slot, true);
    drain();
  }
  EXPECT_EQ(conditions("a"), 1u);
  ASSERT_TRUE(until([&] { return conditions("a") == 2; }));
  EXPECT_NE(server.seen({"PATCH"}).back().find(R"("message":"3")"), std::string::npos);
}

TEST_F(Lane, TwoWritesAboutOnePodAreNeverUnderWayTogether) {
  const PodSlot slot = waiting("a");
  server.hold();
  status_writer->want_condition(slot, true);
  status_writer->pump();
  text.message = "newer";
  status_writer->want_condition(slot, true);
  status_writer->pump();
  EXPECT_EQ(status_writer->in_flight(), 1u);
  server.let_go();
  ASSERT_TRUE(until([&] { return conditions("a") == 2; }));
  EXPECT_NE(server.seen({"PATCH"}).back().find("newer"), std::string::npos);
}

TEST_F(Lane, AnEqualConditionIsNotWrittenAgain) {
  const PodSlot slot = waiting("a");
  status_writer->want_condition(slot, true);
  drain();
  status_writer->want_condition(slot, true);
  drain();
  Pod known = pod("b", 1);
  known.scheduled = {ConditionStatus::kFalse, PooledString(text.reason), PooledString(text.message)};
  see(known);
  status_writer->want_condition(tracker.pods().find(PooledString("ns"), PooledString("b")), true);
  drain();
  EXPECT_EQ(server.count({"PATCH"}), 1u);
  EXPECT_EQ(status_writer->counters().equal_skipped, 2u);
}

TEST_F(Lane, ARefusalIsNotToldOfAPodThatIsBoundMeanwhile) {
  see(node("n", 8));
  is_free = false;
  const PodSlot slot = waiting("a");
  status_writer->want_failed_event(slot);
  step();
  ASSERT_EQ(where("a"), "n");
  status_writer->want_scheduled_event(slot);
  is_free = true;
  drain();
  EXPECT_EQ(events("a"), 1u);
  EXPECT_EQ(server.count({"POST", R"("reason":"Scheduled")"}), 1u);
}

TEST_F(Lane, ARefusalIsToldOnceInTheWordsThatStandWhenItIsSent) {
  is_free = false;
  const PodSlot slot = waiting("a");
  for (const char* message : {"older", "newer"}) {
    text.message = message;
    status_writer->want_failed_event(slot);
  }
  EXPECT_EQ(status_writer->depth(), 1u);
  is_free = true;
  drain();
  EXPECT_EQ(server.count({"POST", R"("note":"newer")"}), 1u);
  EXPECT_EQ(events("a"), 1u);
  status_writer->want_failed_event(slot);
  drain();
  EXPECT_EQ(events("a"), 2u) << "what was reported may be reported again";
}

TEST_F(Lane, TheTextOfARefusalIsMadeOnlyForAPodThatStillWaitsWhenItsTurnComes) {
  see(node("n", 8));
  is_free = false;
  status_writer->want_failed_event(waiting("bound"));
  step();
  ASSERT_EQ(where("bound"), "n");
  status_writer->want_failed_event(waiting("gone"));
  gone(pod("gone", 1));
  status_writer->want_failed_event(waiting("a"));
  EXPECT_EQ(texts_made, 0);
  is_free = true;
  drain();
  EXPECT_EQ(texts_made, 1);
  EXPECT_EQ(server.count({"POST"}), 1u);
  EXPECT_EQ(events("a"), 1u);
  text = {};
  status_writer->want_failed_event(waiting("b"));
  drain();
  EXPECT_EQ(server.count({"POST"}), 1u) << "nothing is known yet that could be said";
}

TEST_F(Lane, ARefusalThatWasDroppedMayBeToldLater) {
  StatusWriterOptions o = options();
  o.events_max = 1;
  status_writer = status_writer_with(o);
  is_free = false;
  status_writer->want_failed_event(waiting("a"));
  status_writer->want_failed_event(waiting("b"));
  status_writer->want_failed_event(tracker.pods().find(PooledString("ns"), PooledString("a")));
  EXPECT_EQ(status_writer->counters().events_dropped, 2u);
  is_free = true;
  drain();
  EXPECT_EQ(events("a"), 1u);
  EXPECT_EQ(events("b"), 0u);
}

TEST_F(Lane, MakesAFewTextsAtATimeWhereNoneOfThemHasToBeSent) {
  for (int i = 0; i < 150; ++i) {
    Pod p = pod("p" + std::to_string(i), 1);
    p.scheduled = {ConditionStatus::kFalse, PooledString(text.reason), PooledString(text.message)};
    see(p);
    status_writer->want_condition(tracker.pods().find(PooledString("ns"), p.name), false);
  }
  for (const int made : {64, 128}) {
    status_writer->pump();
    EXPECT_EQ(texts_made, made);
    EXPECT_EQ(status_writer->due_in(), Millis(0)) << "it asks to go on at once";
  }
  status_writer->pump();
  EXPECT_EQ(texts_made, 150);
  EXPECT_EQ(status_writer->due_in(), Millis::max());
  EXPECT_EQ(status_writer->counters().equal_skipped, 150u);
  EXPECT_EQ(server.count({"PATCH"}), 0u);
}

TEST_F(Lane, AHeldPodGetsItsEventWithItsCondition) {
  Pod p = pod("a", 1, {{PooledString("ashlar.dev/queue"), PooledString("nobody's")}});
  see(p);
  const PodSlot slot = tracker.pods().find(PooledString("ns"), PooledString("a"));
  ASSERT_EQ(record("a").phase, PodRecord::Phase::kHeld);
  for (int i = 0; i < 2; ++i) {
    status_writer->want_condition(slot, false);
    drain();
  }
  EXPECT_EQ(server.count({"POST", R"("reason":"FailedScheduling")", text.message}), 1u);
}

TEST_F(Lane, OfAGangThatIsShortOfMembersOnePodSpeaks) {
  for (int i = 0; i < 3; ++i) see(gang_pod("g", i, 4, 1));
  for (int i = 0; i < 3; ++i)
    status_writer->want_condition(tracker.pods().find(PooledString("ns"), PooledString("g-" + std::to_string(i))),
                                  false);
  drain();
  EXPECT_EQ(server.count({"PATCH"}), 3u);
  EXPECT_EQ(server.count({"POST", "FailedScheduling"}), 1u);
}

TEST_F(Lane, TheConditionOfAPodGroupIsSentUntilItIsTaken) {
  refusals = {403, 409};
  is_group_true = true;
  text = {"Scheduled", "all 2 pods"};
  const GangSlot slot = group("g");
  status_writer->want_group_condition(slot);
  status_writer->pump();
  EXPECT_FALSE(tracker.gangs()[slot].is_group_told) << "not before the server has it";
  ASSERT_TRUE(until([&] { return tracker.gangs()[slot].is_group_told; }));
  EXPECT_EQ(server.count({"PATCH", "/podgroups/g/status"}), 3u);
  is_group_true = false;
  status_writer->want_group_condition(slot);
  drain();
  EXPECT_EQ(server.count({"PATCH"}), 3u) << "it never goes back";
}

/// What was posted as an event, without what differs from run to run.
std::string without_times(std::string line) {
  for (const char* key : {R"("eventTime":")", R"("name":"a.)"}) {
    const std::size_t from = line.find(key) + std::string_view(key).size();
    line.replace(from, line.find('"', from) - from, "X");
  }
  return line;
}

TEST_F(Lane, AnEventSaysWhatHappenedToWhomAndWhoSaysSo) {
  StatusWriterOptions o = options();
  o.identity = "me";
  status_writer = status_writer_with(o);
  see(node("n", 8));
  const PodSlot slot = waiting("a");
  text.message = "no room";
  status_writer->want_failed_event(slot);
  drain();
  step();
  ASSERT_EQ(where("a"), "n");
  status_writer->want_scheduled_event(slot);
  drain();
  const std::vector<std::string> sent = server.seen({"POST"});
  const std::string start =
      R"(POST /apis/events.k8s.io/v1/namespaces/ns/events {"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"a.X","namespace":"ns"},)"
      R"("eventTime":"X","reportingController":"ashlar.dev/scheduler","reportingInstance":"me",)";
  const std::string end =
      R"(,"regarding":{"kind":"Pod","apiVersion":"v1","name":"a","namespace":"ns","uid":"uid-ns-a"}})";
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(without_times(sent[0]),
            start + R"("action":"Scheduling","reason":"FailedScheduling","type":"Warning","note":"no room")" + end);
  EXPECT_EQ(without_times(sent[1]),
            start +
                R"("action":"Binding","reason":"Scheduled","type":"Normal","note":"Successfully assigned ns/a to n")" +
                end);
  EXPECT_NE(sent[0].substr(sent[0].find("a."), 40), sent[1].substr(sent[1].find("a."), 40))
      << "each has a name of its own";
  EXPECT_EQ(status_writer->counters().events, 2u);
  EXPECT_EQ(status_writer->counters().failures, 0u);
}

TEST_F(Lane, AllIsCancelledWithTheLane) {
  server.hold();
  for (int i = 0; i < 10; ++i) status_writer->want_condition(waiting("p" + std::to_string(i)), false);
  status_writer->pump();
  EXPECT_EQ(status_writer->in_flight(), 10u);
  status_writer.reset();
  server.poll_for(Millis(20));
  EXPECT_EQ(server.api().in_flight(), 0u);
}

TEST_F(Lane, OfAGangHeldForABindingTheFailedMemberSpeaks) {
  see(node("n", 8));
  for (int i = 0; i < 3; ++i) see(gang_pod("g", i, 3, 1));
  is_answering = false;
  step();
  const PodSlot failed = tracker.pods().find(PooledString("ns"), PooledString("g-2"));
  tracker.note_bind_failed(failed, "no");
  tracker.settle();
  for (int i = 0; i < 3; ++i)
    status_writer->want_condition(tracker.pods().find(PooledString("ns"), PooledString("g-" + std::to_string(i))),
                                  false);
  drain();
  EXPECT_EQ(server.count({"PATCH"}), 3u);
  EXPECT_EQ(server.count({"POST", "FailedScheduling"}), 1u);
  EXPECT_EQ(events("g-2"), 1u);
}

TEST_F(Lane, WhatWasNotTakenIsForgottenOnceThePodIsPlaced) {
  StatusWriterOptions o = options();
  o.retry_min = o.retry_max = Millis(60'000);
  status_writer = status_writer_with(o);
  see(node("n", 8));
  refusals = {403};
  see(gang_pod("g", 0, 1, 1));
  tracker.settle();
  const PodSlot slot = tracker.pods().find(PooledString("ns"), PooledString("g-0"));
  ASSERT_TRUE(record("g-0").is_in_engine());
  status_writer->want_condition(slot, true);
  drain();
  is_answering = false;
  step();
  ASSERT_EQ(record("g-0").phase, PodRecord::Phase::kAssumed);
  skipped += Millis(60'000);
  server.api().poll(Millis(0));
  EXPECT_EQ(server.count({"PATCH"}), 1u);
  tracker.note_bind_failed(slot, "no");
  tracker.settle();
  status_writer->want_condition(slot, false);
  drain();
  EXPECT_EQ(server.count({"PATCH"}), 2u);
  EXPECT_EQ(server.count({"POST", "FailedScheduling"}), 1u) << "it is the first try, which brings the event";
}

TEST_F(Lane, AsksForItsTurnWhenAnEventIsOverdueAndNotBefore) {
  is_free = false;
  status_writer->want_failed_event(waiting("e"));
  EXPECT_GT(status_writer->due_in(), Millis(9'000));
  EXPECT_LE(status_writer->due_in(), Millis(10'000));
}

TEST_F(Lane, EachKindOfWritingIsOverdueInItsOwnTime) {
  is_free = false;
  const auto is_due_in = [&](std::int64_t millis) {
    EXPECT_LE(status_writer->due_in(), Millis(millis));
    EXPECT_GT(status_writer->due_in(), Millis(millis - 1'000));
    status_writer = status_writer_with(options());
    EXPECT_EQ(status_writer->due_in(), Millis::max());
  };
  status_writer->want_condition(waiting("first"), true);
  is_due_in(2'000);
  status_writer->want_condition(waiting("other"), false);
  is_due_in(2'000);
  status_writer->want_group_condition(group("g"));
  is_due_in(2'000);
  status_writer->want_failed_event(waiting("event"));
  is_due_in(10'000);
  status_writer->want_failed_event(waiting("both"));
  status_writer->want_condition(waiting("both"), false);
  is_due_in(2'000);
}

TEST_F(Lane, WhatIsCancelledDoesNotUseUpTheBudget) {
  server.hold();
  for (int i = 0; i < 8; ++i) status_writer->want_condition(waiting("p" + std::to_string(i)), false);
  status_writer->pump();
  ASSERT_EQ(status_writer->in_flight(), 8u);
  status_writer.reset();
  RequestBudget& budget = server.api().budget();
  budget.end(budget.begin(Millis(0)), {ServerHealth::kTrouble, Millis(0)}, Millis(0));
  budget.end(budget.begin(Millis(200)), {}, Millis(200));
  int allowed = 0;
  for (; budget.may_send(Millis(200)); ++allowed) budget.begin(Millis(200));
  EXPECT_EQ(allowed, 8);
  server.let_go();
}

TEST_F(Lane, AServerInTroubleIsAskedOneByOne) {
  refusals = {503};
  for (int i = 0; i < 3; ++i) status_writer->want_condition(waiting("p" + std::to_string(i)), false);
  server.hold();
  status_writer->pump();
  EXPECT_EQ(status_writer->in_flight(), 3u);
  server.let_go();
  ASSERT_TRUE(server.until([&] { return status_writer->in_flight() == 0; }));
  status_writer->want_condition(waiting("next"), false);
  status_writer->pump();
  EXPECT_EQ(status_writer->in_flight(), 0u);
  EXPECT_GT(status_writer->due_in(), Millis(0));
  skipped += Millis(5'000);
  status_writer->pump();
  EXPECT_EQ(status_writer->in_flight(), 1u);
  status_writer->want_condition(waiting("and the next"), false);
  status_writer->pump();
  EXPECT_EQ(status_writer->in_flight(), 1u);
  drain();
}

TEST_F(Lane, DoesNotAskForItsTurnWhileOnlyAnAnswerCanMakeRoom) {
  is_free = false;
  server.hold();
  for (int i = 0; i < 6; ++i) status_writer->want_condition(waiting("p" + std::to_string(i)), false);
  skipped += Millis(2'000);
  status_writer->pump();
  EXPECT_EQ(status_writer->in_flight(), 4u);
  EXPECT_EQ(status_writer->due_in(), Millis::max()) << "else the loop would spin";
  server.let_go();
}

// ---- numbers and times ----------------------------------------------------------------------------------------------

class Refreshes : public Lane {
 protected:
  static constexpr Millis kPace{60'000};
  Refreshes() {
    StatusWriterOptions o = options();
    o.refresh_every = kPace;
    status_writer = status_writer_with(o);
  }
};

TEST_F(Refreshes, OfNumbersGoOneByOneTheOldestFirst) {
  const PodSlot a = waiting("a"), b = waiting("b"), c = waiting("c");
  for (const PodSlot slot : {a, b, c}) status_writer->want_condition(slot, false);
  drain();
  text.message = "0/2 nodes are available";
  for (const PodSlot slot : {b, a, c}) {
    status_writer->want_condition(slot, slot == c);
    status_writer->pump();
    skipped += Millis(1);
  }
  ASSERT_TRUE(until([&] { return status_writer->counters().refreshes == 1 && status_writer->in_flight() == 0; }));
  EXPECT_EQ(conditions("b"), 2u);
  server.poll_for(Millis(50));
  status_writer->pump();
  EXPECT_EQ(status_writer->depth(), 2u);
  EXPECT_EQ(status_writer->refreshes(), 2u) << "no backlog: they are paced";
  EXPECT_GT(status_writer->due_in(), Millis(50'000));
  EXPECT_LE(status_writer->due_in(), kPace);
  skipped += kPace;
  ASSERT_TRUE(until([&] { return status_writer->counters().refreshes == 2 && status_writer->in_flight() == 0; }));
  EXPECT_EQ(conditions("a"), 2u);
  text.message = "0/3 nodes are available";
  skipped += kPace;
  drain();
  EXPECT_EQ(conditions("c"), 2u);
  EXPECT_EQ(server.count({"PATCH", "/pods/c/status", "0/3 nodes"}), 1u) << "with the numbers of the time it is sent";
}

TEST_F(Refreshes, WaitBehindNoChangeOfWordsOrReason) {
  const PodSlot a = waiting("a"), b = waiting("b");
  for (const PodSlot slot : {a, b}) status_writer->want_condition(slot, false);
  drain();
  text.message = "0/2 nodes are available";
  for (const PodSlot slot : {a, b}) status_writer->want_condition(slot, false);
  ASSERT_TRUE(until([&] { return status_writer->counters().refreshes == 1 && status_writer->in_flight() == 0; }));
  ASSERT_EQ(conditions("b"), 1u);
  text.message = "0/2 nodes are available: 2 tainted";
  status_writer->want_condition(b, false);
  ASSERT_TRUE(until([&] { return conditions("b") == 2 && status_writer->in_flight() == 0; }));
  text.reason = "SchedulerError";
  status_writer->want_condition(b, false);
  ASSERT_TRUE(until([&] { return conditions("b") == 3 && status_writer->in_flight() == 0; }));
  skipped += kPace;
  drain();
  EXPECT_EQ(conditions("b"), 3u) << "its numbers were written with its words";
}

TEST_F(Refreshes, OfPodGroupsArePacedWithThoseOfPods) {
  const GangSlot g = group("g");
  const PodSlot a = waiting("a");
  status_writer->want_group_condition(g);
  status_writer->want_condition(a, false);
  drain();
  text.message = "0/2 nodes are available";
  status_writer->want_condition(a, false);
  status_writer->pump();
  skipped += Millis(1);
  status_writer->want_group_condition(g);
  ASSERT_TRUE(until([&] { return status_writer->counters().refreshes == 1 && status_writer->in_flight() == 0; }));
  EXPECT_EQ(conditions("a"), 2u);
  EXPECT_EQ(server.count({"PATCH", "/podgroups/g/status"}), 1u);
  skipped += kPace;
  drain();
  EXPECT_EQ(server.count({"PATCH", "/podgroups/g/status"}), 2u);
  EXPECT_EQ(server.count({"PATCH", "/podgroups/g/status", "lastTransitionTime"}), 1u);
  text.message = "all pods";
  is_group_true = true;
  status_writer->want_group_condition(g);
  drain();
  EXPECT_EQ(server.count({"PATCH", "/podgroups/g/status", "lastTransitionTime", "True"}), 1u);
}

TEST_F(Lane, TheTimeOfAConditionChangesWithItsStatusOnlyAndItNamesThePodsGeneration) {
  Pod p = pod("a", 1);
  p.generation = 7;
  see(p);
  const PodSlot slot = waiting_slot("a");
  status_writer->want_condition(slot, false);
  drain();
  EXPECT_EQ(server.count({"PATCH", "lastTransitionTime", R"("observedGeneration":7)"}), 1u);
  text.message = "no node fits";
  status_writer->want_condition(slot, false);
  drain();
  EXPECT_EQ(conditions("a"), 2u);
  EXPECT_EQ(server.count({"PATCH", "lastTransitionTime"}), 1u);
  p.generation = 8;
  p.scheduled = {ConditionStatus::kFalse, PooledString("SchedulingGated"), PooledString("")};
  see(p);
  text.message = "no node fits at all";
  status_writer->want_condition(slot, false);
  drain();
  EXPECT_EQ(server.count({"PATCH", R"("observedGeneration":8)"}), 1u);
  EXPECT_EQ(server.count({"PATCH", "lastTransitionTime"}), 1u) << "the server wrote False first";
}

TEST_F(Lane, AConditionOfAPodGroupThatAnotherWriterRemovedIsWrittenWithATimeAgain) {
  PodGroup g = ClusterObjects::group("g", 2);
  g.scheduled = {ConditionStatus::kFalse, PooledString("Unschedulable"), PooledString("no node fits")};
  see(g);
  g.scheduled = {};
  see(g);
  text.message = "no node fits";
  const GangSlot slot = tracker.gangs().find(PooledString("ns"), PooledString("g"), GangKind::kPodGroup);
  status_writer->want_group_condition(slot);
  drain();
  EXPECT_EQ(server.count({"PATCH", "/podgroups/g/status", "no node fits", "lastTransitionTime"}), 1u);
}

TEST_F(Lane, AConditionOfAPodGroupThatIsRefusedWithoutATimeIsSentWithOne) {
  PodGroup g = ClusterObjects::group("g", 2);
  g.scheduled = {ConditionStatus::kFalse, PooledString("Unschedulable"), PooledString("no pods")};
  see(g);
  refusals = {500, 422};  // it is gone, and the watch is late
  status_writer->want_group_condition(tracker.gangs().find(PooledString("ns"), g.name, GangKind::kPodGroup));
  ASSERT_TRUE(until([&] { return server.count({"PATCH"}) == 3 && status_writer->in_flight() == 0; }));
  drain();
  EXPECT_EQ(server.count({"PATCH", "/podgroups/g/status", "lastTransitionTime"}), 1u);
}

TEST_F(Lane, TheConditionOfAPodGroupNamesTheGenerationThatItIsAbout) {
  PodGroup g = ClusterObjects::group("g", 2);
  g.generation = 3;
  see(g);
  status_writer->want_group_condition(tracker.gangs().find(PooledString("ns"), g.name, GangKind::kPodGroup));
  drain();
  EXPECT_EQ(server.count({"PATCH", "/podgroups/g/status", R"("observedGeneration":3)"}), 1u);
}

TEST_F(Lane, TheFirstConditionThatIsTriedAgainStillHasItsTime) {
  refusals = {500};
  status_writer->want_condition(waiting("a"), false);
  drain();
  ASSERT_TRUE(until([&] { return conditions("a") == 2 && status_writer->in_flight() == 0; }));
  EXPECT_EQ(server.count({"PATCH", "lastTransitionTime"}), 2u);
}

}  // namespace
}  // namespace ashlar::kube
