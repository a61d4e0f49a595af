// What queues have used, as an average that forgets: towards what they hold, by halves, and seen in steps.
#include "engine/pending/usage_history.h"

#include <gtest/gtest.h>

#include <vector>

namespace ashlar {
namespace {

constexpr Millis kHalfLife{1'440'000};  // so that a step is a second
constexpr QueueId kQueue{2u};

class UsageHistoryTest : public ::testing::Test {
 protected:
  void hold(std::vector<std::int64_t> amounts, std::int64_t at) { history.hold(kQueue, amounts, Millis(at)); }
  double average(std::int64_t at, std::size_t counter = 0) {
    history.take_step(Millis(at));
    return history.average(kQueue, counter);
  }

  UsageHistory history{kHalfLife};
};

TEST_F(UsageHistoryTest, GoesHalfOfTheWayToWhatIsHeldInEachHalfLife) {
  hold({8000, 64}, 0);
  EXPECT_EQ(average(0), 0);
  EXPECT_EQ(average(kHalfLife.value), 4000);
  EXPECT_EQ(average(2 * kHalfLife.value, 1), 48);
  hold({0, 64}, 2 * kHalfLife.value);
  EXPECT_EQ(average(3 * kHalfLife.value), 3000);
  EXPECT_EQ(average(3 * kHalfLife.value, 1), 56);
}

TEST_F(UsageHistoryTest, WhatWasHeldBeforeAChangeCounts) {
  hold({8000}, 0);
  hold({0}, kHalfLife.value);
  EXPECT_EQ(average(2 * kHalfLife.value), 2000);
}

TEST_F(UsageHistoryTest, IsSeenAsOfTheLastStep) {
  hold({8000}, 0);
  EXPECT_TRUE(history.is_step_due(Millis(0))) << "no step was taken yet";
  history.take_step(Millis(500));
  const double seen = history.average(kQueue, 0);
  EXPECT_GT(seen, 0);
  EXPECT_FALSE(history.is_step_due(Millis(999)));
  EXPECT_TRUE(history.is_step_due(Millis(1000)));
  hold({0}, 1000);
  EXPECT_EQ(history.average(kQueue, 0), seen);
  history.take_step(Millis(1000));
  EXPECT_GT(history.average(kQueue, 0), seen);
}

TEST_F(UsageHistoryTest, ARecordReplacesThePastAndSaysHowMuchThatChanges) {
  constexpr double kLn2 = 0.69314718055994530942;
  hold({8000, 0}, 0);
  const double more = history.record(kQueue, 1, kHalfLife.value * 1000, Millis(0));
  EXPECT_DOUBLE_EQ(more, 1000 * kLn2) << "held for ever, an amount comes to itself times the half-life over ln 2";
  EXPECT_DOUBLE_EQ(average(0, 1), 1000 * kLn2);
  EXPECT_DOUBLE_EQ(history.record(kQueue, 1, 0, Millis(kHalfLife.value)), -500 * kLn2);
  EXPECT_DOUBLE_EQ(average(kHalfLife.value, 1), 0);
  EXPECT_EQ(average(kHalfLife.value), 4000) << "the other counter goes on";
}

TEST_F(UsageHistoryTest, WhatIsAddedComesToTheRest) {
  hold({8000}, 0);
  history.add(kQueue, 0, 500, Millis(kHalfLife.value));
  history.add(kQueue, 0, -100, Millis(kHalfLife.value));
  EXPECT_EQ(average(kHalfLife.value), 4400);
}

TEST_F(UsageHistoryTest, HoldingTheSameChangesNothingNotEvenByRounding) {
  UsageHistory undisturbed(kHalfLife);
  const std::vector<std::int64_t> amounts = {7919};
  undisturbed.hold(kQueue, amounts, Millis(0));
  hold(amounts, 0);
  for (std::int64_t at = 7; at < 9000; at += 131) hold(amounts, at);
  undisturbed.take_step(Millis(9000));
  EXPECT_EQ(average(9000), undisturbed.average(kQueue, 0));
}

TEST_F(UsageHistoryTest, ChangesAtOneTimeDoNotRound) {
  hold({3}, 0);
  const double before = average(777);
  for (std::int64_t held = 1; held < 400; ++held) hold({held * 1'000'003}, 777);
  EXPECT_EQ(average(777), before);
}

TEST_F(UsageHistoryTest, ATimeThatGoesBackChangesNothing) {
  hold({8000}, kHalfLife.value);
  hold({4000}, 0);
  EXPECT_EQ(average(kHalfLife.value), 0);
  EXPECT_EQ(average(2 * kHalfLife.value), 2000);
}

TEST_F(UsageHistoryTest, NothingIsKeptWithoutAHalfLife) {
  UsageHistory none(Millis(0));
  const std::vector<std::int64_t> amounts = {8000};
  none.hold(kQueue, amounts, Millis(0));
  EXPECT_EQ(none.record(kQueue, 0, 1000, Millis(0)), 0);
  none.add(kQueue, 0, 1000, Millis(0));
  EXPECT_FALSE(none.is_kept());
  EXPECT_FALSE(none.is_step_due(Millis(5)));
  none.take_step(Millis(5));
  EXPECT_EQ(none.average(kQueue, 0), 0);
}

TEST_F(UsageHistoryTest, OfAQueueOrACounterThatIsNotKnownItIsNothing) {
  hold({8000}, 0);
  history.take_step(kHalfLife);
  EXPECT_EQ(history.average(QueueId(9u), 0), 0);
  EXPECT_EQ(history.average(kQueue, 1), 0);
}

}  // namespace
}  // namespace ashlar
