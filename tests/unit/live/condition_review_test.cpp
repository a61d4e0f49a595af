// The review of conditions, step by step: when it is due, whose pods it looks at, and which verdict it hands out.
#include "live/write/condition_review.h"

#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

/// Node a, on which one pod has all eight GPUs.
class Review : public TrackerBench {
 protected:
  Review() {
    see(node("a", 8));
    see(on(pod("runs", 8), "a"));
  }
  /// Those whose pods were asked about by a step at this time; of those in `stale` the condition reads otherwise.
  std::vector<std::string> step_at(Millis now) {
    std::vector<std::string> asked;
    review.step(engine, state, tracker.tables(), now, [&](PodSlot slot) {
      asked.push_back(tracker.pods()[slot].name.str());
      return std::ranges::count(stale, asked.back()) > 0;
    });
    return asked;
  }
  /// Steps until nothing is left to be looked at.
  void finish() {
    for (int i = 0; i < 50 && review.due_in(state, at) != Millis::max(); ++i) step_at(at += Millis(100));
    ASSERT_EQ(review.due_in(state, at), Millis::max());
  }
  Verdict reviewed(const std::string& name) { return review.verdict_of(engine, record(name).job); }
  using Names = std::vector<std::string>;

  Names stale;
  Millis at{5'000};
  ConditionReview review;
};

TEST_F(Review, EachTimeOneClassIsCountedTenTimesASecond) {
  for (const int gpus : {1, 2, 3}) see(pod("w" + std::to_string(gpus), gpus));
  step();
  EXPECT_EQ(review.due_in(state, at), Millis(0));
  EXPECT_EQ(step_at(at), Names{"w1"});
  EXPECT_EQ(review.due_in(state, at), Millis(100));
  EXPECT_EQ(step_at(at + Millis(99)), Names{});
  EXPECT_EQ(review.due_in(state, at + Millis(350)), Millis(0)) << "not before now";
  EXPECT_EQ(step_at(at + Millis(100)), Names{"w2"});
  EXPECT_EQ(step_at(at + Millis(200)), Names{"w3"});
  EXPECT_EQ(review.due_in(state, at + Millis(300)), Millis::max());
}

TEST_F(Review, OneConditionIsWrittenAtATimeAndThenTheNextPodsAreLookedAt) {
  for (int i = 0; i < 3; ++i) see(pod("w" + std::to_string(i), 1));
  see(pod("other", 2));
  step();
  stale = {"w0", "w1"};
  EXPECT_EQ(step_at(at), Names{"w0"});
  EXPECT_EQ(step_at(at + Millis(100)), Names{"w1"});
  stale = {};
  EXPECT_EQ(step_at(at + Millis(200)), (Names{"w2", "other", "w0", "w1"})) << "all since one was written";
  EXPECT_EQ(review.due_in(state, at + Millis(300)), Millis::max());
}

TEST_F(Review, WhatIsCountedIsNotCountedAgainAsLongAsNothingChanges) {
  for (const int gpus : {1, 2, 3}) see(pod("w" + std::to_string(gpus), gpus));
  step();
  stale = {"w3"};
  EXPECT_EQ(step_at(at), Names{"w1"});
  EXPECT_EQ(step_at(at + Millis(100)), Names{"w2"});
  EXPECT_EQ(step_at(at + Millis(200)), Names{"w3"});
  stale = {};
  EXPECT_EQ(step_at(at + Millis(300)), (Names{"w1", "w2", "w3"})) << "in one step";
}

TEST_F(Review, NoMorePodsAreLookedAtInOneStepThanTheLimitAndHeldOnesAreAmongThem) {
  for (int i = 0; i < 15; ++i) see(pod("w" + std::to_string(i), 1));
  for (int i = 0; i < 5; ++i)
    see(pod("h" + std::to_string(i), 1, {{PooledString("ashlar.dev/queue"), PooledString("no-such-queue")}}));
  step();
  ASSERT_EQ(record("h0").phase, PodRecord::Phase::kHeld);
  const Names first = step_at(at);
  ASSERT_EQ(first.size(), ConditionReview::kLooksMax);
  EXPECT_EQ(first.back(), "h0");
  EXPECT_EQ(step_at(at + Millis(100)), (Names{"h1", "h2", "h3", "h4"}));
  EXPECT_EQ(review.due_in(state, at + Millis(100)), Millis::max());
}

TEST_F(Review, BeginsAnewOnceWhatIsPlacedOrANodeOrAQueueHasChanged) {
  see(pod("w", 1));
  step();
  finish();
  see(node("b", 0));
  step();
  EXPECT_LE(review.due_in(state, at), Millis(100)) << "another node";
  finish();
  Node tainted = node("b", 0);
  tainted.taints = {{PooledString("team"), PooledString("blue"), kube::TaintEffect::kNoSchedule}};
  see(tainted);
  step();
  EXPECT_LE(review.due_in(state, at), Millis(100)) << "another taint";
  finish();
  see(on(pod("small", 0), "b"));
  step();
  EXPECT_LE(review.due_in(state, at), Millis(100)) << "another pod";
  finish();
  apply(state, {time, QueueDefined{QueueId(0u), QueueId::none(), {8'000, kUnlimited, kUnlimited}}});
  EXPECT_LE(review.due_in(state, at), Millis(100)) << "another limit";
}

TEST_F(Review, AClassNotYetCountedAnewKeepsTheNumbersOfTheLastTime) {
  for (const int gpus : {1, 2}) see(pod("w" + std::to_string(gpus), gpus));
  step();
  const auto nodes_short = [&](const std::string& name) { return reviewed(name).reasons.at(0).numbers[0]; };
  see(node("b", 0));
  step();
  EXPECT_EQ(nodes_short("w1"), 1) << "as the engine found it";
  finish();
  EXPECT_EQ(nodes_short("w1"), 2);
  EXPECT_EQ(nodes_short("w2"), 2);
  see(node("c", 0));
  step();
  step_at(at += Millis(100));
  std::vector<std::int64_t> both{nodes_short("w1"), nodes_short("w2")};
  std::ranges::sort(both);
  EXPECT_EQ(both, (std::vector<std::int64_t>{2, 3}));
}

TEST_F(Review, WhatTheEngineFindsLaterIsSaid) {
  see(pod("first", 8));
  step();
  Pod second = pod("w", 8);
  second.requests.cpu = MilliCores(2'000);
  see(second);
  step();
  finish();
  const Verdict before = engine.verdict_of(record("w").job);
  EXPECT_EQ(reviewed("w"), before);
  see(node("b", 8));
  step();
  ASSERT_EQ(where("first"), "b");
  ASSERT_NE(engine.verdict_of(record("w").job), before) << "it was looked at again";
  EXPECT_EQ(reviewed("w"), engine.verdict_of(record("w").job));
}

TEST_F(Review, OfAJobThatIsNotWaitingItSaysWhatTheEngineSays) {
  see(pod("w", 1));
  tracker.settle();  // and nothing is decided yet
  EXPECT_EQ(step_at(at), Names{"w"});
  EXPECT_EQ(reviewed("w"), engine.verdict_of(record("w").job));
  EXPECT_EQ(reviewed("runs"), engine.verdict_of(record("runs").job));
}

}  // namespace
}  // namespace ashlar::kube
