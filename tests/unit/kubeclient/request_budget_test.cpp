#include "kubeclient/request_budget.h"

#include <gtest/gtest.h>

namespace ashlar::kube {
namespace {

using Pass = RequestBudget::Pass;
constexpr RequestBudget::Report kSound{}, kTrouble{ServerHealth::kTrouble, Millis(0)},
    kUnclear{ServerHealth::kUnclear, Millis(0)};

TEST(RequestBudget, IsNoLimitWhileTheServerWorks) {
  RequestBudget budget;
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(budget.may_send(Millis(0)));
    budget.begin(Millis(0));
  }
}

TEST(RequestBudget, InTroubleOneRequestGoesAtATimeAfterAPauseThatDoubles) {
  RequestBudget budget;
  budget.end(budget.begin(Millis(0)), kTrouble, Millis(0));
  Millis now(0);
  for (const std::int64_t pause : {200, 400, 800, 1'600, 3'200, 5'000, 5'000}) {
    EXPECT_FALSE(budget.may_send(now + Millis(pause - 1))) << pause;
    EXPECT_EQ(budget.next_at(), now + Millis(pause));
    now += Millis(pause);
    ASSERT_TRUE(budget.may_send(now)) << pause;
    const Pass probe = budget.begin(now);
    EXPECT_FALSE(budget.may_send(now)) << "one";
    budget.end(probe, kTrouble, now);
  }
}

TEST(RequestBudget, AProbeWithoutAnswerDoesNotKeepTheNextFromGoing) {
  RequestBudget budget;
  budget.end(budget.begin(Millis(0)), kTrouble, Millis(0));
  budget.begin(Millis(200));
  EXPECT_FALSE(budget.may_send(Millis(399)));
  EXPECT_TRUE(budget.may_send(Millis(400)));
}

TEST(RequestBudget, HonoursRetryAfterUpToAMinute) {
  RequestBudget budget;
  const Pass before = budget.begin(Millis(0));
  budget.end(budget.begin(Millis(0)), {ServerHealth::kTrouble, Millis(7'000)}, Millis(0));
  EXPECT_FALSE(budget.may_send(Millis(6'999)));
  EXPECT_TRUE(budget.may_send(Millis(7'000)));
  budget.end(before, {ServerHealth::kTrouble, Millis(3'600'000)}, Millis(1'000));
  EXPECT_FALSE(budget.may_send(Millis(60'999)));
  EXPECT_TRUE(budget.may_send(Millis(61'000)))
      << "an old request's answer may ask for more patience, and for a minute at most";
}

TEST(RequestBudget, ManyAnswersToOneBurstAreOneTrouble) {
  RequestBudget budget;
  for (int i = 0; i < 64; ++i) budget.begin(Millis(0));
  for (int i = 0; i < 64; ++i) budget.end(Pass{0}, kTrouble, Millis(0));
  EXPECT_TRUE(budget.may_send(Millis(200)));
}

TEST(RequestBudget, OnlyAnAnswerToWhatWasSentSinceEndsTheTrouble) {
  RequestBudget budget;
  const Pass before = budget.begin(Millis(0));
  budget.end(budget.begin(Millis(0)), kTrouble, Millis(0));
  budget.end(before, kSound, Millis(10));
  EXPECT_TRUE(budget.is_in_trouble());
  budget.end(budget.begin(Millis(200)), kSound, Millis(210));
  EXPECT_FALSE(budget.is_in_trouble());
  EXPECT_EQ(budget.next_at(), Millis(0));
}

TEST(RequestBudget, ANewTroubleBeginsWithAShortPause) {
  RequestBudget budget;
  budget.end(budget.begin(Millis(0)), kTrouble, Millis(0));
  budget.end(budget.begin(Millis(200)), kTrouble, Millis(200));
  budget.end(budget.begin(Millis(600)), kSound, Millis(600));
  budget.end(budget.begin(Millis(600)), kTrouble, Millis(600));
  EXPECT_EQ(budget.next_at(), Millis(800));
}

TEST(RequestBudget, AfterTroubleTheWindowGrowsWithSoundAnswers) {
  RequestBudget budget;
  budget.end(budget.begin(Millis(0)), kTrouble, Millis(0));
  budget.end(budget.begin(Millis(200)), kSound, Millis(200));
  const auto fill = [&] {
    int sent = 0;
    for (; budget.may_send(Millis(200)); ++sent) budget.begin(Millis(200));
    return sent;
  };
  EXPECT_EQ(fill(), 8);
  budget.end(Pass{1}, kSound, Millis(200));
  EXPECT_EQ(fill(), 2);
  budget.cancel();
  EXPECT_EQ(fill(), 1);
  budget.end(Pass{1}, kUnclear, Millis(200));
  EXPECT_EQ(fill(), 1) << "no growth, no trouble";
}

TEST(RequestBudget, UnclearFailuresAreTroubleOnlyWhenManyComeInARowForAWhile) {
  RequestBudget budget;
  const auto fail = [&](int times, Millis now) {
    for (int i = 0; i < times; ++i) budget.end(budget.begin(now), kUnclear, now);
  };
  fail(15, Millis(0));
  fail(1, Millis(4'999));
  EXPECT_FALSE(budget.is_in_trouble()) << "a slow webhook fails many at a time";
  budget.end(budget.begin(Millis(5'000)), kSound, Millis(5'000));
  fail(15, Millis(5'000));
  EXPECT_FALSE(budget.is_in_trouble());
  fail(1, Millis(9'999));
  EXPECT_FALSE(budget.is_in_trouble());
  fail(1, Millis(10'000));
  EXPECT_TRUE(budget.is_in_trouble());
  fail(1, Millis(10'200));
  EXPECT_FALSE(budget.may_send(Millis(10'599))) << "and go on being trouble";
}

TEST(RequestBudget, FewUnclearFailuresAreNoTroubleHoweverLongTheyTake) {
  RequestBudget budget;
  for (int i = 0; i < 15; ++i) budget.end(budget.begin(Millis(i)), kUnclear, Millis(i * 60'000));
  EXPECT_FALSE(budget.is_in_trouble());
  budget.end(budget.begin(Millis(900'000)), kUnclear, Millis(900'000));
  EXPECT_TRUE(budget.is_in_trouble());
}

TEST(RequestBudget, ASignOfLifeBetweenUnclearFailuresShowsThatTheServerWorks) {
  RequestBudget budget;
  for (int i = 0; i < 100; ++i) {
    budget.end(budget.begin(Millis(i * 1'000)), kUnclear, Millis(i * 1'000));
    if (i % 10 == 9) budget.note_other(ServerHealth::kSound);
  }
  EXPECT_FALSE(budget.is_in_trouble());
  budget.end(budget.begin(Millis(100'000)), kTrouble, Millis(100'000));
  budget.note_other(ServerHealth::kSound);
  EXPECT_TRUE(budget.is_in_trouble()) << "only an answer to what it lets through ends it";
}

TEST(RequestBudget, FailuresOfWhatNoWebhookSeesAreTroubleAtOnce) {
  for (const bool is_lease : {false, true}) {
    RequestBudget budget;
    for (int i = 0; i < 14; ++i) budget.end(budget.begin(Millis(0)), kUnclear, Millis(0));
    if (is_lease)
      budget.note_other(ServerHealth::kUnclear);
    else
      budget.end(budget.begin(Millis(0)), {ServerHealth::kUnclear, Millis(0), true}, Millis(0));
    EXPECT_FALSE(budget.is_in_trouble());
    for (int i = 0; i < 2; ++i) budget.end(budget.begin(Millis(0)), kUnclear, Millis(0));
    EXPECT_TRUE(budget.is_in_trouble()) << is_lease;
  }
  RequestBudget budget;
  budget.note_other(ServerHealth::kUnclear);
  budget.note_other(ServerHealth::kSound);
  for (int i = 0; i < 30; ++i) budget.end(budget.begin(Millis(0)), kUnclear, Millis(0));
  EXPECT_FALSE(budget.is_in_trouble()) << "a sound one has come since";
}

TEST(RequestBudget, WhatIsSetApartTakesNoPlaceInTheWindow) {
  RequestBudget budget;
  for (int i = 0; i < 20; ++i) budget.begin(Millis(0));
  budget.end(budget.begin(Millis(0)), kTrouble, Millis(0));
  budget.end(budget.begin(Millis(200)), kSound, Millis(200));
  EXPECT_FALSE(budget.may_send(Millis(200)));
  budget.set_apart(13);
  ASSERT_TRUE(budget.may_send(Millis(200)));
  budget.begin(Millis(200));
  EXPECT_FALSE(budget.may_send(Millis(200)));
  budget.set_apart(100);
  EXPECT_TRUE(budget.may_send(Millis(200))) << "more than are under way: as many as are";
}

TEST(RequestBudget, AtMost1024AreUnderWayHoweverManyWereAnswered) {
  RequestBudget budget;
  for (int i = 0; i < 100; ++i) budget.end(budget.begin(Millis(0)), kSound, Millis(0));
  int sent = 0;
  for (; sent < 2'000 && budget.may_send(Millis(0)); ++sent) budget.begin(Millis(0));
  EXPECT_EQ(sent, 1'024);
}

TEST(RequestBudget, AfterASoundAnswerAnEarlierFailedReadCountsNoMore) {
  RequestBudget budget;
  budget.end(budget.begin(Millis(0)), {ServerHealth::kUnclear, Millis(0), true}, Millis(0));
  budget.end(budget.begin(Millis(0)), kSound, Millis(0));
  for (int i = 0; i < 30; ++i) budget.end(budget.begin(Millis(0)), kUnclear, Millis(0));
  EXPECT_FALSE(budget.is_in_trouble());
}

TEST(RequestBudget, ARefusalOfAnotherRequestNeitherIsAFailedReadNorEndsOne) {
  for (const bool has_failed : {false, true}) {
    RequestBudget budget;
    if (has_failed) budget.note_other(ServerHealth::kUnclear);
    budget.note_other(ServerHealth::kTrouble);
    for (int i = 0; i < 16; ++i) budget.end(budget.begin(Millis(0)), kUnclear, Millis(0));
    EXPECT_EQ(budget.is_in_trouble(), has_failed);
  }
}

TEST(RequestBudget, AFailedProbeDoesNotShortenWhatRetryAfterAskedFor) {
  RequestBudget budget;
  const Pass before = budget.begin(Millis(0));
  budget.end(budget.begin(Millis(0)), kTrouble, Millis(0));
  const Pass probe = budget.begin(Millis(200));
  budget.end(before, {ServerHealth::kTrouble, Millis(10'000)}, Millis(250));
  budget.end(probe, kTrouble, Millis(300));
  EXPECT_EQ(budget.next_at(), Millis(10'250));
}

TEST(RequestBudget, HonoursTheRetryAfterOfAnUnclearFailureThatIsTrouble) {
  RequestBudget budget;
  for (int i = 0; i < 16; ++i)
    budget.end(budget.begin(Millis(0)), {ServerHealth::kUnclear, Millis(7'000), true}, Millis(0));
  EXPECT_EQ(budget.next_at(), Millis(7'000));
}

}  // namespace
}  // namespace ashlar::kube
