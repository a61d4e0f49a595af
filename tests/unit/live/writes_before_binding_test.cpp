// Commits that meet one another or a limit: who may write for a pod, for how long a place is kept, and what is taken back
// of a pod that another scheduler has bound.
#include "commit_bench.h"

namespace ashlar::kube {
namespace {

TEST_F(Preparation, ANewPlaceThatIsDecidedAtOnceWaitsUntilTheLastIsTakenBack) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  gone(node("n", 8));
  see(node("m", 8));
  step();
  binder->submit(plan);
  wants["p0"].wait = {};
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(sent("PATCH", 0), 3u) << "written, taken back, written";
  skipped = Millis(1'100);
  ASSERT_TRUE(until([&] { return wants["p0"].ended == 2 && binder->is_idle(); }));
  EXPECT_EQ(owner(0), "p0");
  EXPECT_EQ(owner(1), "p0");
}

TEST_F(Preparation, TheRecordOfThePodSaysWhatItsBindingWaitsFor) {
  server.change([&] { volumes.answer("PATCH", 0, {429}); });
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  EXPECT_EQ(record("p0").bind_wait.view(), "");
  ASSERT_TRUE(until([&] { return !record("p0").bind_wait.empty(); }));
  EXPECT_EQ(record("p0").bind_wait.view(), "a write before it has not succeeded yet: volume pv-0: HTTP 429: no");
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  EXPECT_EQ(record("p0").bind_wait.view(), "claim ns/data is not bound");
  wants["p0"].wait = {WaitState::kNotYet, "no volume is made yet"};
  binder->look_again(tracker.pods().find("ns", "p0"));
  binder->pump();
  EXPECT_EQ(record("p0").bind_wait.view(), "no volume is made yet");
  wants["p0"].wait = {};
  binder->look_again(tracker.pods().find("ns", "p0"));
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(record("p0").bind_wait.view(), "");
}

TEST_F(Preparation, ANewPodOfTheSameNameWaitsUntilWhatWasWrittenForTheOldIsTakenBack) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  gone(pod("p0", 1));
  see(pod("other", 1));  // takes the slot
  Pod again = pod("p0", 1);
  again.uid = PooledString("uid-of-the-next");
  see(again);
  wants["p0"].wait = {};
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(sent("PATCH", 0), 3u) << "written, taken back, written";
  skipped = Millis(1'100);
  ASSERT_TRUE(until([&] { return wants["p0"].ended == 2 && binder->is_idle(); }));
  EXPECT_EQ(owner(0), "p0");
  EXPECT_EQ(owner(1), "p0");
}

TEST_F(Preparation, WhereNothingIsTakenBackNothingIsReadAndTheNextPodOfThatNameWritesAtOnce) {
  wants["p0"] = {.wait = {WaitState::kNotYet, "claim ns/data is not bound"}, .is_taken_back = false};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  gone(pod("p0", 1));
  Pod again = pod("p0", 1);
  again.uid = PooledString("uid-of-the-next");
  see(again);
  wants["p0"].wait = {};
  step();
  server.hold();
  binder->pump();
  binder->submit(plan);
  EXPECT_EQ(binder->counters().writes, 3u) << "sent in the same turn";
  server.let_go();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound && binder->is_idle(); }));
  EXPECT_EQ(wants["p0"].ended, 2);
  EXPECT_EQ(wants["p0"].given_up, 1);
  EXPECT_EQ(server.count({"GET"}), 0u);
  EXPECT_EQ(binder->counters().writes_left, 0u);
}

TEST_F(Preparation, PodsThatWaitForWhatIsTakenBackTakeNoPlaceOfOthers) {
  binder = binder_with({.binds = AdaptiveWindow::fixed(4)});
  wants.clear();
  const auto name = [](int i) { return "p" + std::to_string(i); };
  for (int i = 0; i < 4; ++i)
    wants[name(i)] = {.volumes = 1, .wait = {WaitState::kNotYet, "claim ns/data is not bound"}};
  place(4);
  ASSERT_TRUE(until([&] { return binder->waiting() == 4; }));
  server.change([&] { volumes.answer("GET", 0, std::vector<int>(1'000, 403)); });
  for (int i = 0; i < 4; ++i) {
    gone(pod(name(i), 1));
    Pod again = pod(name(i), 1);
    again.uid = PooledString("uid-of-the-next-" + name(i));
    see(again);
  }
  step();
  binder->submit(plan);
  skipped = Millis(1'100);
  ASSERT_TRUE(until([&] { return sent("GET", 0) >= 4 && binder->waiting() == 4; }));
  EXPECT_EQ(binder->in_window(), 0u);
  see(pod("other", 1));
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return phase("other") == Phase::kBound; }));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(phase(name(i)), Phase::kAssumed) << "it waits still";
}

TEST_F(Preparation, AnObjectThatCannotBeReadGivesThePlaceAwayAfterHalfAMinute) {
  server.change([&] {
    volumes.answer("PATCH", 0, {409});
    volumes.answer("GET", 0, std::vector<int>(1'000, 403));
  });
  place();
  ASSERT_TRUE(until([&] { return sent("GET", 0) == 1 && binder->in_flight() == 0; }));
  skipped = Millis(29'000);
  ASSERT_TRUE(until([&] { return sent("GET", 0) == 2 && binder->in_flight() == 0; }));
  EXPECT_EQ(phase(), Phase::kAssumed);
  skipped = Millis(41'000);
  expect_held("volume pv-0 cannot be read: HTTP 403: no");
  EXPECT_EQ(binder->in_window(), 0u);
}

TEST_F(Preparation, AnUndoThatCannotBeReadIsLeftInTheEnd) {
  CommitOptions o;
  o.reread_max = Millis(20);
  binder = binder_with(o);
  wants["p0"] = {.volumes = 1, .wait = {WaitState::kBroken, "claim ns/data was removed"}};
  server.change([&] { volumes.answer("GET", 0, std::vector<int>(1'000, 403)); });
  place();
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(sent("GET", 0), 20u);
  EXPECT_EQ(owner(0), "p0");
  EXPECT_EQ(binder->counters().writes_left, 1u);
}

TEST_F(Preparation, APlaceIsGivenUpWithAReasonIfTakingBackTheLastTakesHalfAMinute) {
  wants["p0"].wait = {WaitState::kNotYet, "claim ns/data is not bound"};
  place();
  ASSERT_TRUE(until([&] { return binder->waiting() == 1; }));
  server.change([&] { volumes.answer("GET", 1, std::vector<int>(1'000, 403)); });
  gone(node("n", 8));
  see(node("m", 8));
  step();
  binder->submit(plan);
  ASSERT_TRUE(until([&] { return sent("GET", 1) == 1; }));
  skipped = Millis(31'000);
  ASSERT_TRUE(until([&] { return phase() == Phase::kHeld; }));
  EXPECT_EQ(record("p0").hold_detail.view(), "what was written for its last place is still being taken back");
  EXPECT_EQ(sent("PATCH", 0), 1u);
}

TEST_F(Preparation, ADeadlineEndsWithTheWriteThatItWasFor) {
  server.change([&] { volumes.answer("PATCH", 0, {429}); });
  place();
  ASSERT_TRUE(until([&] { return sent("PATCH", 0) == 1 && binder->in_flight() == 0; }));
  server.hold();
  ASSERT_TRUE(until([&] { return sent("PATCH", 0) == 2; }));
  skipped = Millis(31'000);
  server.let_go();
  ASSERT_TRUE(until([&] { return phase() != Phase::kAssumed; }));
  EXPECT_EQ(phase(), Phase::kBound);
  EXPECT_EQ(sent("PATCH", 1), 1u);
}

TEST_F(Preparation, OfAPodThatIsFoundBoundElsewhereItIsTakenBack) {
  see(node("m", 0));
  server.change([&] {
    bind_status = 409;
    bound_to = "m";
  });
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound; }));
  EXPECT_EQ(where("p0"), "m");
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(0), "");
  EXPECT_EQ(owner(1), "");
}

TEST_F(Preparation, OfAPodThatTheWatchReportsElsewhereBeforeItIsReadItIsTakenBack) {
  see(node("m", 0));
  server.change([&] {
    bind_status = 409;
    read_status = 403;
  });
  place();
  ASSERT_TRUE(until([&] { return server.count({"GET", "/pods/p0"}) == 1 && binder->in_flight() == 0; }));
  see(on(pod("p0", 1), "m"));
  ASSERT_TRUE(is_taken_back());
  EXPECT_EQ(owner(0), "");
  EXPECT_EQ(owner(1), "");
}

TEST_F(Preparation, OfAPodThatIsFoundBoundWhereItWasSentItStays) {
  server.change([&] {
    bind_status = 409;
    bound_to = "n";
  });
  place();
  ASSERT_TRUE(until([&] { return phase() == Phase::kBound && wants["p0"].ended == 1; }));
  EXPECT_EQ(owner(0), "p0");
  EXPECT_EQ(wants["p0"].given_up, 0);
}

}  // namespace
}  // namespace ashlar::kube
