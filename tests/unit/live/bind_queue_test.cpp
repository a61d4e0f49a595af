// Whose binding goes next: in the order of coming, and those of a slow namespace within their share.
#include "live/write/bind_queue.h"

#include <gtest/gtest.h>

#include <set>

namespace ashlar::kube {
namespace {

CommitTicket ticket(PodSlot slot) { return {.slot = slot, .first_sent = {}, .words = {}}; }

class Bindings : public ::testing::Test {
 protected:
  /// Slot of the next one, which is sent; kNoPod if none may go.
  PodSlot send(std::uint64_t request, bool has_room = true) {
    auto next = queue.next(has_room ? 0 : kWindow, kWindow);
    if (!next) return kNoPod;
    queue.note_sent(request, next->ns, now);
    return next->ticket.slot;
  }
  /// A binding of the namespace was answered at once.
  void know(const char* ns) {
    queue.note_sent(999, ns, now);
    queue.note_answered(999, now);
  }
  /// Makes the namespace slow by its request 1000.
  void make_slow(const char* ns) {
    queue.note_sent(1000, ns, now);
    now = now + SentBindings::kLateAfter;
    ASSERT_EQ(queue.find_slow(now), std::vector<PooledString>{ns});
  }

  static constexpr std::size_t kWindow = 64;
  BindQueue queue;
  Millis now{10'000};
};

TEST_F(Bindings, GoInTheOrderOfComing) {
  for (const char* ns : {"a", "b"}) know(ns);
  queue.push("a", ticket(1));
  queue.push("b", ticket(2));
  queue.push("a", ticket(3));
  EXPECT_EQ(queue.size(), 3u);
  EXPECT_EQ(queue.unhindered(), 3u);
  EXPECT_EQ(send(1, false), kNoPod) << "the window is full";
  EXPECT_EQ(send(1), 1u);
  EXPECT_EQ(send(2), 2u);
  EXPECT_EQ(send(3), 3u);
  EXPECT_EQ(send(4), kNoPod);
  EXPECT_TRUE(queue.is_empty());
  EXPECT_EQ(queue.slow_under_way(), 0u);
}

TEST_F(Bindings, OfTheNamespaceWithTheFewestUnderWayGoFirst) {
  queue.note_sent(100, "many", now);
  queue.note_answered(100, now);
  for (PodSlot slot = 0; slot < 50; ++slot) queue.push("many", ticket(slot));
  for (PodSlot slot = 0; slot < 20; ++slot) ASSERT_EQ(send(slot + 1), slot);
  queue.push("few", ticket(90));
  queue.push("few", ticket(91));
  EXPECT_EQ(send(31), 90u);
  EXPECT_EQ(send(32), 91u);
  EXPECT_EQ(send(33), 20u);
}

TEST_F(Bindings, UntilOneIsAnsweredOnlyAFewOfANamespaceAreUnderWay) {
  for (PodSlot slot = 0; slot < 10; ++slot) queue.push("new", ticket(slot));
  for (PodSlot slot = 0; slot < BindQueue::kNewShare; ++slot) EXPECT_EQ(send(slot + 1), slot);
  EXPECT_EQ(send(50), kNoPod);
  EXPECT_EQ(queue.unhindered(), 10u - BindQueue::kNewShare) << "nothing is known of others";
  queue.note_answered(1, now + Millis(10));
  EXPECT_EQ(queue.unhindered(), 10u - BindQueue::kNewShare) << "and for those of one that is known it does";
  EXPECT_NE(send(51), kNoPod);
  EXPECT_NE(send(52), kNoPod);
}

TEST_F(Bindings, NewNamespacesTogetherLeaveTheServerRoom) {
  for (int n = 0; n < 10; ++n)
    for (PodSlot slot = 0; slot < 10; ++slot) queue.push("new" + std::to_string(n), ticket(slot));
  queue.note_sent(1000, "known", now);
  queue.note_answered(1000, now + Millis(10));
  std::uint64_t request = 0;
  std::size_t sent = 0;
  while (send(++request) != kNoPod) ++sent;
  EXPECT_EQ(sent, BindQueue::kNewInAllMax);
  queue.note_answered(1, now + Millis(10));
  EXPECT_NE(send(++request), kNoPod) << "one is new no more";
}

TEST_F(Bindings, TheEngineDoesNotWaitForTardyNamespaces) {
  queue.note_sent(1, "fast", now);
  queue.note_answered(1, now + Millis(20));
  queue.note_sent(2, "late", now);
  for (PodSlot slot = 0; slot < 10; ++slot) queue.push("late", ticket(slot));
  queue.note_answered(2, now + Millis(250));
  EXPECT_EQ(queue.unhindered(), 0u);
  EXPECT_NE(send(3), kNoPod) << "it has a place in the window";
  EXPECT_TRUE(queue.note_answered(3, now + Millis(249))) << "and counts there";
  queue.push("late", ticket(10));
  EXPECT_EQ(queue.unhindered(), 1u) << "for those that come from now on";
}

TEST_F(Bindings, TheEngineDoesNotWaitForANamespaceThatIsNewWhereOthersAreKnown) {
  know("known");
  queue.push("new", ticket(0));
  EXPECT_EQ(queue.unhindered(), 0u) << "before anything of it is sent";
  ASSERT_EQ(send(1), 0u);
  for (PodSlot slot = 1; slot < 4; ++slot) queue.push("new", ticket(slot));
  EXPECT_EQ(queue.unhindered(), 0u) << "and while its first is under way";
  queue.note_answered(1, now + Millis(5));
  queue.push("new", ticket(4));
  EXPECT_EQ(queue.unhindered(), 1u);
}

TEST_F(Bindings, WhereAllAreAnsweredLateNoneIsTardy) {
  queue.note_sent(1, "a", now);
  queue.note_answered(1, now + Millis(200));
  queue.note_sent(2, "late", now);
  queue.note_answered(2, now + Millis(1'599));
  for (PodSlot slot = 0; slot < 10; ++slot) queue.push("late", ticket(slot));
  EXPECT_EQ(queue.unhindered(), 10u);
  ASSERT_NE(send(3), kNoPod);
  queue.note_answered(3, now + Millis(1'600));
  EXPECT_EQ(queue.unhindered(), 0u) << "eight times as late as the fastest";
  now = now + SentBindings::kOfLate;
  ASSERT_NE(send(4), kNoPod);
  EXPECT_TRUE(queue.note_answered(4, now + Millis(1'700))) << "the server is slow, not this namespace";
  queue.push("late", ticket(10));
  EXPECT_EQ(queue.unhindered(), 1u) << "the fastest of half a minute ago counts no more";
}

TEST_F(Bindings, ATardyAnswerSaysNothingOfTheServer) {
  queue.note_sent(1, "fast", now);
  EXPECT_TRUE(queue.note_answered(1, now + Millis(20)));
  queue.note_sent(2, "late", now);
  EXPECT_FALSE(queue.note_answered(2, now + Millis(1'900)));
}

TEST_F(Bindings, ANamespaceWhoseBindingsFailAgainAndAgainStaysApart) {
  std::uint64_t request = 0;
  const auto answer = [&](bool is_unclear) {
    queue.note_sent(++request, "failing", now);
    return queue.note_answered(request, now + Millis(5), is_unclear);
  };
  for (int i = 0; i < BindQueue::kUnclearMax; ++i) EXPECT_TRUE(answer(true));
  EXPECT_FALSE(answer(true));
  queue.push("failing", ticket(1));
  EXPECT_EQ(queue.unhindered(), 0u);
  for (int i = 0; i < BindQueue::kInTimeAgain; ++i) EXPECT_FALSE(answer(false));
  EXPECT_TRUE(answer(false)) << "until some in a row do not";
  queue.push("failing", ticket(2));
  EXPECT_EQ(queue.unhindered(), 1u);
  for (int i = 1; i < BindQueue::kUnclearMax; ++i) EXPECT_TRUE(answer(true));
  EXPECT_TRUE(answer(false)) << "and then it has no failures";
}

TEST_F(Bindings, ANamespaceOfWhichMoreThanAFifthFailsStaysApart) {
  for (const int every : {4, 5}) {
    queue = {};
    std::uint64_t request = 0;
    bool was_apart = false;
    for (int i = 0; i < 60; ++i) {
      queue.note_sent(++request, "failing", now);
      was_apart = !queue.note_answered(request, now + Millis(5), i % every == 0) || was_apart;
    }
    EXPECT_EQ(was_apart, every == 4);
  }
}

TEST_F(Bindings, ANewNamespaceWhoseBindingsAllFailOneAfterTheOtherStaysApart) {
  for (int i = 0; i < BindQueue::kUnclearMax; ++i) {
    queue.note_sent(1, "failing", now);
    EXPECT_TRUE(queue.note_answered(1, now + Millis(5), true));
  }
  queue.note_sent(1, "failing", now);
  EXPECT_FALSE(queue.note_answered(1, now + Millis(5), true));
  queue.push("failing", ticket(1));
  EXPECT_EQ(queue.unhindered(), 0u);
}

/// Otherwise each that hangs would make room for others that do.
TEST_F(Bindings, WhatHangsHasALimit) {
  std::uint64_t request = 0;
  std::set<std::uint64_t> under_way;
  for (int round = 0; round < 20; ++round) {
    for (int n = 0; n < 10; ++n)
      for (PodSlot slot = 0; slot < 10; ++slot) queue.push(std::to_string(round * 10 + n), ticket(slot));
    while (send(++request) != kNoPod) under_way.insert(request);
    now = now + SentBindings::kLateAfter;
    queue.find_slow(now);
    while (const auto late = queue.to_abandon(now)) {
      EXPECT_EQ(*late, *under_way.begin()) << "the one that is late for the longest";
      under_way.erase(*late);
      queue.note_answered(*late, now, true);
    }
    EXPECT_LE(under_way.size(), BindQueue::kHangingMax + BindQueue::kNewInAllMax);
  }
  EXPECT_GE(under_way.size(), BindQueue::kHangingMax - 1);
  queue.note_sent(100'000, "known", now);
  queue.note_answered(100'000, now + Millis(10));
  queue.push("known", ticket(77));
  PodSlot slot = kNoPod;
  for (request = 100'001; (slot = send(request)) != 77 && slot != kNoPod;) ++request;
  EXPECT_EQ(slot, 77u) << "the others' window is free";
}

TEST_F(Bindings, ANamespaceIsKnownForAMinute) {
  const auto may_have = [&] {
    for (PodSlot slot = 0; slot < 20; ++slot) queue.push("a", ticket(slot));
    std::uint64_t request = 1'000;
    std::size_t sent = 0;
    while (send(++request) != kNoPod) ++sent;
    for (std::uint64_t of = 1'001; of < 1'001 + sent; ++of) queue.note_answered(of, now);
    while (send(++request) != kNoPod) queue.note_answered(request, now);
    return sent;
  };
  EXPECT_EQ(may_have(), BindQueue::kNewShare);
  queue.find_slow(now);
  now = now + Millis(59'999);
  queue.find_slow(now);
  EXPECT_EQ(may_have(), 20u);
  now = now + Millis(120'000);
  queue.find_slow(now);
  EXPECT_EQ(may_have(), BindQueue::kNewShare);
}

TEST_F(Bindings, WhoIsNotAnsweredForTwoSecondsIsSlow) {
  EXPECT_EQ(queue.next_look(), Millis::max());
  queue.note_sent(1, "a", now);
  queue.note_sent(2, "b", now + Millis(1));
  EXPECT_EQ(queue.next_look(), now + Millis(250));
  EXPECT_TRUE(queue.find_slow(now + Millis(1'999)).empty());
  EXPECT_EQ(queue.next_look(), now + Millis(2'000));
  EXPECT_EQ(queue.find_slow(now + Millis(2'000)), std::vector<PooledString>{"a"});
  EXPECT_EQ(queue.slow_under_way(), 1u);
  queue.note_answered(2, now + Millis(2'000));
  EXPECT_EQ(queue.next_look(), Millis::max());
  queue.note_sent(3, "a", now + Millis(2'000));
  EXPECT_EQ(queue.slow_under_way(), 2u);
  EXPECT_TRUE(queue.find_slow(now + Millis(9'000)).empty()) << "said once";
  EXPECT_EQ(queue.next_look(), Millis::max());
}

TEST_F(Bindings, ASlowNamespaceHasItsShareAndTakesNothingOfTheWindow) {
  know("other");
  make_slow("slow");
  for (PodSlot slot = 0; slot < 20; ++slot) queue.push("slow", ticket(slot));
  queue.push("other", ticket(99));
  EXPECT_EQ(queue.unhindered(), 1u);
  EXPECT_EQ(queue.size(), 21u);
  for (PodSlot slot = 0; slot + 1 < BindQueue::kSlowShare; ++slot) EXPECT_EQ(send(slot + 1, false), slot);
  EXPECT_EQ(send(50, false), kNoPod);
  EXPECT_EQ(send(50), 99u);
  EXPECT_EQ(queue.slow_under_way(), BindQueue::kSlowShare);
  EXPECT_EQ(queue.unhindered(), 0u);
  queue.note_answered(1000, now);
  EXPECT_EQ(send(51, false), BindQueue::kSlowShare - 1) << "a late answer makes room, and the namespace stays slow";
  EXPECT_EQ(send(52, false), kNoPod);
}

TEST_F(Bindings, SomeAnswersInTimeEndIt) {
  make_slow("slow");
  for (PodSlot slot = 0; slot < 20; ++slot) queue.push("slow", ticket(slot));
  EXPECT_EQ(send(1, false), 0u);
  queue.note_answered(1, now + Millis(2'000));
  EXPECT_EQ(queue.unhindered(), 0u) << "2 s are too long";
  const auto answer_in_time = [this](std::uint64_t request) {
    ASSERT_NE(send(request, false), kNoPod);
    queue.note_answered(request, now + Millis(1'999));
  };
  for (std::uint64_t request = 2; request < 1 + BindQueue::kInTimeAgain; ++request) answer_in_time(request);
  EXPECT_EQ(queue.unhindered(), 0u);
  ASSERT_NE(send(20, false), kNoPod);
  queue.note_answered(20, now + Millis(2'000));
  for (std::uint64_t request = 21; request < 20 + BindQueue::kInTimeAgain; ++request) answer_in_time(request);
  EXPECT_EQ(queue.unhindered(), 0u) << "they are counted from the last late one on";
  answer_in_time(30);
  queue.push("slow", ticket(99));
  EXPECT_EQ(queue.unhindered(), 1u);
  EXPECT_EQ(queue.slow_under_way(), 0u) << "what is still under way counts in the window again";
  EXPECT_EQ(send(40, false), kNoPod);
  EXPECT_NE(send(40), kNoPod);
}

TEST_F(Bindings, WhatASlowNamespaceHasToSendAgainTakesNothingOfTheWindow) {
  std::shared_ptr<void> again = queue.note_later("slow");
  EXPECT_EQ(queue.outside_window(), 0u);
  make_slow("slow");
  EXPECT_EQ(queue.outside_window(), 2u) << "one under way, and one for later";
  const std::shared_ptr<void> other = queue.note_later("other");
  EXPECT_EQ(queue.outside_window(), 2u);
  EXPECT_TRUE(queue.may_send_again("other"));
  EXPECT_TRUE(queue.may_send_again("slow"));
  for (PodSlot slot = 0; slot < 20; ++slot) queue.push("slow", ticket(slot));
  for (PodSlot slot = 0; slot + 1 < BindQueue::kSlowShare; ++slot) send(slot + 1, false);
  EXPECT_FALSE(queue.may_send_again("slow")) << "it has its share";
  again.reset();
  EXPECT_EQ(queue.outside_window(), BindQueue::kSlowShare);
}

/// Its answers may take half a minute, between which it has nothing to send.
TEST_F(Bindings, ASlowNamespaceIsRememberedForAMinute) {
  make_slow("slow");
  queue.note_answered(1000, now + Millis(28'000));
  const auto waits_apart = [this] {
    queue.push("slow", ticket(1));
    const bool is_apart = send(1, false) != kNoPod;
    if (!is_apart) send(1);
    queue.note_answered(1, now + Millis(28'000));
    return is_apart;
  };
  now = now + Millis(28'000 + 59'999);
  queue.find_slow(now);
  EXPECT_TRUE(waits_apart());
  now = now + Millis(28'000 + 60'000);
  queue.find_slow(now);
  EXPECT_FALSE(waits_apart());
}

TEST_F(Bindings, SlowNamespacesTogetherHaveALimit) {
  for (int n = 0; n < 10; ++n) {
    const std::string ns = "slow" + std::to_string(n);
    queue.note_sent(1000 + static_cast<std::uint64_t>(n), ns, now);
    for (PodSlot slot = 0; slot < 10; ++slot) queue.push(ns, ticket(slot));
  }
  now = now + SentBindings::kLateAfter;
  EXPECT_EQ(queue.find_slow(now).size(), 10u);
  std::uint64_t request = 0;
  while (send(++request, false) != kNoPod) {
  }
  EXPECT_EQ(queue.slow_under_way(), BindQueue::kSlowInAllMax);
  queue.note_answered(1000, now);
  EXPECT_NE(send(++request, false), kNoPod);
  EXPECT_EQ(send(++request, false), kNoPod);
}

TEST_F(Bindings, OfThoseThatMayGoTheOldestGoesFirst) {
  make_slow("slow");
  queue.push("slow", ticket(1));
  queue.push("other", ticket(2));
  queue.push("slow", ticket(3));
  EXPECT_EQ(send(1), 1u);
  EXPECT_EQ(send(2), 2u);
  EXPECT_EQ(send(3), 3u);
}

TEST_F(Bindings, OfASlowNamespaceDoNotCountInTheWindowWhenTheyAreAnswered) {
  make_slow("slow");
  queue.push("slow", ticket(1));
  queue.push("other", ticket(2));
  ASSERT_EQ(send(1), 1u);
  ASSERT_EQ(send(2), 2u);
  EXPECT_FALSE(queue.note_answered(1, now));
  EXPECT_TRUE(queue.note_answered(2, now));
}

TEST_F(Bindings, WhereManyHangFewNewOnesGoAndLateOnesAreAbandonedForThem) {
  for (std::uint64_t n = 0; n < BindQueue::kHangingMax - 1; ++n) queue.note_sent(1'000 + n, "hangs", now);
  now = now + SentBindings::kLateAfter;
  queue.find_slow(now);
  for (int n = 0; n < 50; ++n) queue.push("new" + std::to_string(n), ticket(0));
  EXPECT_EQ(queue.to_abandon(now), std::nullopt) << "one less than too many";
  queue.note_sent(900, "other", now - SentBindings::kOverdueAfter);
  queue.find_slow(now);
  EXPECT_EQ(queue.to_abandon(now), 1'000u) << "the first of those that are late, not the one that is overdue only";
  EXPECT_EQ(queue.to_abandon(now - SentBindings::kLateAfter + BindQueue::kAbandonAfter - Millis(1)), std::nullopt);
  EXPECT_EQ(queue.to_abandon(now - SentBindings::kLateAfter + BindQueue::kAbandonAfter), 1'000u);
  std::uint64_t request = 0;
  while (send(++request) != kNoPod) {
  }
  EXPECT_EQ(request - 1, BindQueue::kNewWhileHanging);
  queue.note_answered(1'000, now, true);
  EXPECT_EQ(queue.to_abandon(now), std::nullopt);
  while (send(++request) != kNoPod) {
  }
  EXPECT_EQ(request - 2, BindQueue::kNewInAllMax);
}

/// Otherwise one that was late once would wait for those that hang.
TEST_F(Bindings, ASlowNamespaceHasAPlaceOfItsOwnAndMoreOnceItIsAnswered) {
  for (std::uint64_t n = 0; n < 20; ++n) queue.note_sent(1'000 + n, "hangs" + std::to_string(n), now);
  queue.note_sent(900, "late", now);
  now = now + SentBindings::kLateAfter;
  queue.find_slow(now);
  queue.note_answered(900, now);
  for (std::uint64_t n = 0; n < 20; ++n) queue.push("hangs" + std::to_string(n), ticket(1));
  for (PodSlot slot = 10; slot < 30; ++slot) queue.push("late", ticket(slot));
  EXPECT_TRUE(queue.may_send_again("late"));
  EXPECT_FALSE(queue.may_send_again("hangs0"));
  EXPECT_EQ(send(1, false), 10u);
  EXPECT_EQ(send(2, false), kNoPod) << "the others hang";
  queue.note_answered(1, now + Millis(10));
  for (std::size_t i = 0; i < BindQueue::kSlowShare; ++i) EXPECT_NE(send(2 + i, false), kNoPod);
  EXPECT_EQ(send(50, false), kNoPod);
  for (std::size_t i = 0; i < BindQueue::kSlowShare; ++i) queue.note_answered(2 + i, now + Millis(20));
  while (send(60) != kNoPod) queue.note_answered(60, now);
  EXPECT_EQ(queue.size(), 20u) << "it is not slow any more";
}

TEST_F(Bindings, WhereManyHangASlowNamespaceGetsThePlaceOfAnotherOne) {
  constexpr std::size_t kLate = BindQueue::kProbesWhileHanging + 1;
  for (std::uint64_t n = 0; n < BindQueue::kHangingMax; ++n) queue.note_sent(1'000 + n, "hangs", now);
  for (std::uint64_t n = 0; n < kLate; ++n) queue.note_sent(900 + n, "late" + std::to_string(n), now);
  now = now + SentBindings::kLateAfter;
  queue.find_slow(now);
  for (std::uint64_t n = 0; n < kLate; ++n) queue.note_answered(900 + n, now);
  EXPECT_EQ(queue.to_abandon(now), std::nullopt) << "nothing waits";
  for (std::uint64_t n = 0; n < kLate; ++n) queue.push("late" + std::to_string(n), ticket(1));
  std::uint64_t request = 0;
  while (send(request + 1, false) != kNoPod) ++request;
  EXPECT_EQ(request, BindQueue::kProbesWhileHanging);
  ASSERT_EQ(queue.to_abandon(now), 1'000u);
  queue.note_answered(1'000, now, true);
  EXPECT_EQ(send(50, false), 1u);
}

TEST_F(Bindings, WhatWasDecidedWithoutWaitingForItsNamespaceDoesNotStopTheEngineLater) {
  know("fast");
  queue.note_sent(1, "tardy", now);
  queue.note_answered(1, now + Millis(300));
  for (PodSlot slot = 0; slot < 100; ++slot) queue.push("tardy", ticket(slot));
  EXPECT_EQ(queue.unhindered(), 0u);
  know("tardy");
  EXPECT_EQ(queue.unhindered(), 0u) << "it is prompt now, and 100 wait";
  queue.push("tardy", ticket(100));
  EXPECT_EQ(queue.unhindered(), 1u) << "those that come from now on count";
  for (PodSlot slot = 0; slot < 100; ++slot) {
    ASSERT_EQ(send(2), slot);
    queue.note_answered(2, now);
  }
  EXPECT_EQ(queue.unhindered(), 1u);
  ASSERT_EQ(send(2), 100u);
  EXPECT_EQ(queue.unhindered(), 0u);
}

TEST_F(Bindings, WhatSilentNamespacesSendAgainTakesNoPlace) {
  know("a");
  const std::shared_ptr<void> again = queue.note_later("a"), of_new = queue.note_later("new");
  queue.push("new", ticket(1));
  EXPECT_EQ(queue.outside_window(), 0u);
  queue.note_sent(1, "a", now);
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  EXPECT_EQ(queue.outside_window(), 2u) << "with the one that is overdue";
}

TEST_F(Bindings, NothingIsAbandonedUnlessANewNamespaceWaits) {
  know("known");
  for (std::uint64_t n = 0; n < 2 * BindQueue::kHangingMax; ++n) queue.note_sent(1'000 + n, "hangs", now);
  now = now + SentBindings::kLateAfter;
  queue.find_slow(now);
  queue.push("known", ticket(1));
  EXPECT_EQ(queue.to_abandon(now), std::nullopt);
  queue.push("new", ticket(2));
  EXPECT_NE(queue.to_abandon(now), std::nullopt);
  ASSERT_EQ(send(1), 1u);
  ASSERT_EQ(send(2), 2u);
  queue.push("new", ticket(3));
  EXPECT_EQ(queue.to_abandon(now), std::nullopt) << "one of it is under way, and may be answered";
}

TEST_F(Bindings, WhatIsOverdueTakesNoPlaceInTheWindow) {
  know("a");
  for (std::uint64_t n = 0; n < 100; ++n) queue.note_sent(1'000 + n, "a", now);
  queue.find_slow(now + Millis(249));
  EXPECT_EQ(queue.apart(), 0u);
  queue.find_slow(now + Millis(250));
  EXPECT_EQ(queue.apart(), BindQueue::kApartMax) << "up to a limit";
  for (std::uint64_t n = 0; n < 50; ++n) queue.note_answered(1'000 + n, now + Millis(260));
  EXPECT_EQ(queue.apart(), 50u);
  queue.find_slow(now + Millis(2'000));
  EXPECT_EQ(queue.apart(), 50u) << "as one that is slow";
  EXPECT_EQ(queue.slow_under_way(), 50u);
}

TEST_F(Bindings, ANamespaceThatFallsSilentIsNewAndWaitsForAnAnswer) {
  know("silent");
  queue.note_sent(1, "silent", now);
  for (PodSlot slot = 0; slot < 20; ++slot) queue.push("silent", ticket(slot));
  EXPECT_EQ(queue.unhindered(), 20u);
  EXPECT_TRUE(queue.may_send_again("silent"));
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  EXPECT_EQ(queue.unhindered(), 0u) << "the engine does not wait for it";
  EXPECT_EQ(send(2), kNoPod);
  EXPECT_FALSE(queue.may_send_again("silent"));
  EXPECT_FALSE(queue.note_answered(1, now + Millis(300))) << "this answer was overdue";
  EXPECT_TRUE(queue.may_send_again("silent"));
  std::uint64_t request = 1;
  while (send(++request) != kNoPod) {
  }
  EXPECT_TRUE(queue.is_empty()) << "it is known again";
}

TEST_F(Bindings, OneThatHangsAmongOthersThatAreAnsweredDoesNotStopItsNamespace) {
  know("a");
  queue.note_sent(1, "a", now);
  queue.note_sent(2, "a", now);
  queue.note_answered(2, now + Millis(5));
  queue.push("a", ticket(3));
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  EXPECT_EQ(queue.unhindered(), 1u);
  EXPECT_EQ(send(3), 3u);
}

TEST_F(Bindings, ManyThatHangStopTheirNamespaceWhateverElseIsAnswered) {
  know("a");
  for (std::uint64_t n = 0; n < BindQueue::kOverdueShare; ++n) queue.note_sent(1 + n, "a", now);
  const auto know_later = [&](Millis after) {
    queue.note_sent(999, "a", now + after);
    queue.note_answered(999, now + after);
  };
  know_later(Millis(5));
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  queue.push("a", ticket(3));
  EXPECT_EQ(send(50), kNoPod);
  know_later(Millis(1));
  EXPECT_EQ(send(50), kNoPod) << "an answer to another one does not help";
  queue.note_answered(1, now + Millis(5));
  EXPECT_EQ(send(50), 3u);
}

TEST_F(Bindings, WhereManyFallSilentNothingIsKnownOfTheOthers) {
  for (const Millis pause : {Millis(0), BindQueue::kSilentFor}) {
    queue = {};
    know("other");
    for (PodSlot slot = 0; slot < 20; ++slot) queue.push("other", ticket(slot));
    for (std::size_t n = 0; n < BindQueue::kSilentMax; ++n) {
      EXPECT_EQ(queue.unhindered(), 20u) << n << " is less than many";
      if (n + 1 == BindQueue::kSilentMax) now = now + pause;
      const std::string ns = "silent" + std::to_string(n);
      know(ns.c_str());
      queue.note_sent(100 + n, ns, now);
      now = now + SentBindings::kOverdueAfter;
      queue.find_slow(now);
    }
    EXPECT_EQ(queue.unhindered(), pause.value > 0 ? 20u : 0u) << "within ten seconds";
    std::uint64_t request = 200;
    while (send(++request) != kNoPod) {
    }
    EXPECT_EQ(queue.size(), pause.value > 0 ? 0u : 20 - BindQueue::kNewShare);
  }
}

TEST_F(Bindings, NeitherAFailureNorALateAnswerMakesANamespaceKnown) {
  for (const bool is_late : {false, true}) {
    queue = {};
    for (PodSlot slot = 0; slot < 20; ++slot) queue.push("new", ticket(slot));
    ASSERT_EQ(send(1), 0u);
    queue.note_answered(1, now + (is_late ? SentBindings::kLateAfter : Millis(5)), !is_late);
    queue.push("other", ticket(90));
    EXPECT_EQ(queue.unhindered(), 20u) << "it tells nothing of how fast others are answered";
    ASSERT_EQ(send(2), 1u);
    ASSERT_EQ(send(3), 90u);
    std::uint64_t request = 3;
    while (send(++request) != kNoPod) {
    }
    EXPECT_EQ(queue.size(), 19u - BindQueue::kNewShare) << is_late;
  }
}

TEST_F(Bindings, TheFastestAnswerCountsForHalfAMinute) {
  const auto is_tardy = [&](Millis after) {
    queue = {};
    know("fast");
    queue.note_sent(1, "late", now + after - Millis(1'000));
    return !queue.note_answered(1, now + after);
  };
  EXPECT_TRUE(is_tardy(Millis(29'999)));
  EXPECT_FALSE(is_tardy(Millis(30'000))) << "perhaps all are answered so late by now";
}

TEST_F(Bindings, AnAnswerAsFastAsTheFastestRenewsIt) {
  know("fast");
  queue.note_sent(1, "fast", now + Millis(20'000));
  queue.note_answered(1, now + Millis(20'001));
  queue.note_sent(2, "late", now + Millis(35'000));
  EXPECT_FALSE(queue.note_answered(2, now + Millis(36'000))) << "one millisecond is as good as none";
}

TEST_F(Bindings, OneThatTurnsSlowAgainHasToShowAllOfItAgain) {
  const auto answer_in_time = [&] {
    queue.note_sent(1, "slow", now);
    return queue.note_answered(1, now + Millis(5));
  };
  for (int round = 0; round < 2; ++round) {
    make_slow("slow");
    for (int i = 0; i < BindQueue::kInTimeAgain; ++i) EXPECT_FALSE(answer_in_time()) << round << " " << i;
    EXPECT_TRUE(answer_in_time()) << round;
    queue.note_answered(1000, now);
  }
}

TEST_F(Bindings, WhatANamespaceThatIsNotSlowAnyMoreHasToSendAgainTakesItsPlaceInTheWindow) {
  make_slow("answered");
  const std::shared_ptr<void> again = queue.note_later("answered");
  queue.note_answered(1000, now);
  EXPECT_EQ(queue.outside_window(), 1u);
  for (int i = 0; i < BindQueue::kInTimeAgain; ++i) know("answered");
  EXPECT_EQ(queue.outside_window(), 0u) << "it is answered in time";
  make_slow("forgotten");
  const std::shared_ptr<void> too = queue.note_later("forgotten");
  queue.note_answered(1000, now);
  now = now + BindQueue::kRemembered;
  EXPECT_EQ(queue.outside_window(), 1u);
  queue.find_slow(now);
  EXPECT_EQ(queue.outside_window(), 0u) << "it is forgotten";
}

TEST_F(Bindings, EachThatIsToBeSentAgainIsCounted) {
  make_slow("slow");
  std::shared_ptr<void> one = queue.note_later("slow");
  const std::shared_ptr<void> other = queue.note_later("slow");
  EXPECT_EQ(queue.outside_window(), 3u);
  one.reset();
  EXPECT_EQ(queue.outside_window(), 2u);
}

TEST_F(Bindings, WhileOneIsUnderWayOrWaitsItsNamespaceIsNotForgotten) {
  make_slow("slow");
  const std::shared_ptr<void> again = queue.note_later("slow");
  know("known");
  queue.push("known", ticket(1));
  now = now + Millis(120'000);
  queue.find_slow(now);
  EXPECT_EQ(queue.outside_window(), 2u);
  queue.push("known", ticket(2));
  ASSERT_EQ(queue.unhindered(), 2u);
  EXPECT_EQ(send(1), 1u);
  EXPECT_EQ(send(2), 2u);
}

TEST_F(Bindings, ANamespaceIsForgottenAMinuteAfterItsLastAnswer) {
  know("known");
  now = now + Millis(60'000);
  queue.find_slow(now);
  for (PodSlot slot = 0; slot < 20; ++slot) queue.push("known", ticket(slot));
  std::uint64_t request = 0;
  while (send(request + 1) != kNoPod) ++request;
  EXPECT_EQ(request, BindQueue::kNewShare);
}

TEST_F(Bindings, ALateAnswerIsNoFailure) {
  std::uint64_t request = 0;
  const auto answer = [&](Millis after, bool is_unclear) {
    queue.note_sent(++request, "a", now);
    queue.note_answered(request, now + after, is_unclear);
  };
  know("a");
  for (int i = 1; i < BindQueue::kUnclearMax; ++i) answer(Millis(5), true);
  answer(SentBindings::kLateAfter, false);
  answer(Millis(5), true);
  queue.push("a", ticket(1));
  EXPECT_EQ(queue.unhindered(), 1u) << "it outweighs half a failure";
}

TEST_F(Bindings, WhatSlowNamespacesSendAgainIsWithinTheirLimitTogether) {
  make_slow("other");
  for (const char* ns : {"slow1", "slow2"}) {
    make_slow(ns);
    queue.note_answered(1000, now);
  }
  EXPECT_TRUE(queue.may_send_again("other"));
  std::uint64_t request = 0;
  for (const char* ns : {"slow1", "slow2"})
    for (PodSlot slot = 0; slot < BindQueue::kSlowShare; ++slot) queue.push(ns, ticket(slot));
  while (send(++request, false) != kNoPod) {
  }
  EXPECT_EQ(queue.slow_under_way(), 1 + BindQueue::kProbesMax) << "before they are overdue";
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  while (send(++request, false) != kNoPod) {
  }
  ASSERT_EQ(queue.slow_under_way(), 16u);
  EXPECT_FALSE(queue.may_send_again("other"));
  queue.note_answered(1, now);
  EXPECT_TRUE(queue.may_send_again("other"));
}

TEST_F(Bindings, TardyNamespacesFillHalfOfTheWindowBesideWhatTakesNoPlace) {
  for (const std::size_t window : {std::size_t(1), kWindow}) {
    queue = {};
    know("fast");
    queue.note_sent(1, "tardy", now);
    queue.note_answered(1, now + Millis(300));
    for (PodSlot slot = 0; slot < 200; ++slot) queue.push("tardy", ticket(slot));
    std::uint64_t request = 1;
    while (const auto next = queue.next(0, window)) queue.note_sent(++request, next->ns, now);
    EXPECT_EQ(request - 1, BindQueue::kApartMax + (window + 1) / 2) << "one if there is only one place";
    queue.push("fast", ticket(500));
    EXPECT_EQ(send(500), 500u);
  }
}

TEST_F(Bindings, TardyNamespacesShareTheirHalfWithSilentOnes) {
  know("fast");
  know("silent");
  queue.note_sent(1, "tardy", now);
  queue.note_answered(1, now + Millis(300));
  for (PodSlot slot = 0; slot < 200; ++slot) queue.push("tardy", ticket(slot));
  for (std::uint64_t n = 0; n < 20; ++n) queue.note_sent(1'000 + n, "silent", now);
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  std::uint64_t request = 1;
  while (send(++request) != kNoPod) {
  }
  EXPECT_EQ(request - 2, BindQueue::kApartMax + kWindow / 2 - 20);
}

TEST_F(Bindings, OneThatIsOverdueAmongOthersThatAreAnsweredTakesNoPlace) {
  know("a");
  queue.note_sent(1, "a", now);
  queue.note_sent(2, "a", now);
  queue.note_answered(2, now + Millis(5));
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  EXPECT_EQ(queue.apart(), 1u);
  EXPECT_EQ(queue.outside_window(), 1u);
}

TEST_F(Bindings, SlowOnesWhoseLastAnswerWasInTimeHaveALimitTogetherToo) {
  for (const char* ns : {"slow1", "slow2", "slow3"}) {
    make_slow(ns);
    queue.note_answered(1000, now);
    know(ns);
    for (PodSlot slot = 0; slot < 20; ++slot) queue.push(ns, ticket(slot));
  }
  std::uint64_t request = 0;
  const auto send_to = [&](const char* ns) { queue.note_sent(++request, ns, now); };
  for (std::size_t i = 0; i < BindQueue::kSlowShare; ++i) {
    EXPECT_TRUE(queue.may_send_again("slow1"));
    send_to("slow1");
  }
  EXPECT_FALSE(queue.may_send_again("slow1")) << "it has its share";
  EXPECT_TRUE(queue.may_send_again("slow2"));
  while (send(++request, false) != kNoPod) {
  }
  EXPECT_EQ(queue.slow_under_way(), BindQueue::kSlowInAllMax);
  queue.note_answered(1, now);
  ASSERT_TRUE(queue.may_send_again("slow1"));
  send_to("slow2");
  EXPECT_FALSE(queue.may_send_again("slow1")) << "together they have theirs";
}

TEST_F(Bindings, AFailureIsAnAnswerToo) {
  know("a");
  queue.note_sent(1, "a", now);
  queue.note_sent(2, "a", now);
  queue.note_answered(2, now + Millis(5), true);
  queue.push("a", ticket(3));
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  EXPECT_EQ(queue.unhindered(), 1u) << "it is not silent";
  EXPECT_EQ(send(3), 3u);
}

TEST_F(Bindings, ManyAnswersDoNotOutweighFailuresThatComeLater) {
  for (int i = 0; i < 50; ++i) know("failing");
  const auto fail = [&] {
    queue.note_sent(1, "failing", now);
    return queue.note_answered(1, now + Millis(5), true);
  };
  for (int i = 0; i < BindQueue::kUnclearMax; ++i) EXPECT_TRUE(fail());
  EXPECT_FALSE(fail());
}

TEST_F(Bindings, SomeAnswersInARowDoNotOutweighMoreThanTheirShareOfFailures) {
  const auto answer = [&](bool is_unclear) {
    queue.note_sent(1, "failing", now);
    return queue.note_answered(1, now + Millis(5), is_unclear);
  };
  answer(true);
  answer(false);
  answer(true);
  for (int i = 0; i < 4; ++i) answer(false);
  answer(true);
  answer(false);
  answer(true);
  EXPECT_FALSE(answer(false)) << "4 - 1 + 4 - 4 + 4 - 1 + 4 is more than two failures";
}

TEST_F(Bindings, TheSlowOneThatWasLateTheFewestTimesGoesFirst) {
  for (const char* ns : {"often", "once", "again"}) {
    make_slow(ns);
    queue.note_answered(1000, now);
  }
  const auto answer = [&](const char* ns, Millis after) {
    queue.note_sent(1, ns, now);
    queue.note_answered(1, now + after);
  };
  for (const char* ns : {"often", "often", "again", "again", "again"}) answer(ns, SentBindings::kLateAfter);
  answer("again", Millis(5));
  for (int i = 0; i < 2; ++i) answer("again", SentBindings::kLateAfter);
  queue.push("often", ticket(1));
  queue.push("again", ticket(2));
  queue.push("once", ticket(3));
  EXPECT_EQ(send(1, false), 3u);
  EXPECT_EQ(send(2, false), 2u) << "twice since its answer in time";
  EXPECT_EQ(send(3, false), 1u);
}

TEST_F(Bindings, ASlowNamespaceIsForgottenAMinuteAfterItsLastLateAnswer) {
  make_slow("slow");
  const std::shared_ptr<void> again = queue.note_later("slow");
  queue.note_answered(1000, now);
  const Millis late_at = now;
  now = now + Millis(30'000);
  know("slow");
  queue.find_slow(late_at + Millis(59'999));
  EXPECT_EQ(queue.outside_window(), 1u);
  queue.find_slow(late_at + Millis(60'000));
  EXPECT_EQ(queue.outside_window(), 0u) << "the one in time does not count";
}

TEST_F(Bindings, OneThatIsNotSlowAnyMoreIsKnownForAMinuteAsOthersAre) {
  make_slow("slow");
  queue.note_answered(1000, now);
  const Millis late_at = now;
  now = now + Millis(30'000);
  for (int i = 0; i < BindQueue::kInTimeAgain; ++i) know("slow");
  queue.find_slow(late_at + BindQueue::kRemembered);
  for (PodSlot slot = 0; slot < 20; ++slot) queue.push("slow", ticket(slot));
  EXPECT_EQ(queue.unhindered(), 20u);
  for (std::uint64_t request = 1; request <= 20; ++request) EXPECT_NE(send(request), kNoPod);
}

TEST_F(Bindings, AnOverdueAnswerMakesNoSilentNamespaceSlow) {
  know("silent");
  for (std::uint64_t n = 0; n < BindQueue::kOverdueShare + 1; ++n) queue.note_sent(1 + n, "silent", now);
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  queue.note_answered(1, now);
  EXPECT_EQ(queue.slow_under_way(), 0u);
  queue.note_answered(2, now, true);
  EXPECT_EQ(queue.slow_under_way(), BindQueue::kOverdueShare - 1) << "a failure does";
}

TEST_F(Bindings, AnOverdueFailureMakesNoKnownNamespaceSlow) {
  know("a");
  queue.note_sent(1, "a", now);
  queue.note_sent(2, "a", now);
  queue.note_answered(2, now + Millis(5));
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  EXPECT_TRUE(queue.note_answered(1, now, true));
  queue.push("a", ticket(1));
  EXPECT_EQ(queue.unhindered(), 1u);
}

TEST_F(Bindings, ANewNamespaceOfWhichNothingIsLeftIsJudgedAfresh) {
  queue.note_sent(1, "late", now);
  queue.note_answered(1, now + SentBindings::kLateAfter);  // before it was found slow
  queue.push("gone", ticket(1));
  queue.next(0, kWindow);
  know("known");
  queue.push("late", ticket(2));
  queue.push("gone", ticket(3));
  EXPECT_EQ(queue.unhindered(), 0u) << "others are known by now";
}

TEST_F(Bindings, SlowOnesDoNotFallSilent) {
  know("other");
  for (PodSlot slot = 0; slot < 20; ++slot) queue.push("other", ticket(slot));
  const auto each = [](const auto& act) {
    for (std::size_t n = 0; n < BindQueue::kSilentMax; ++n) act(n, "slow" + std::to_string(n));
  };
  each([&](std::size_t n, const std::string& ns) { queue.note_sent(100 + n, ns, now); });
  now = now + SentBindings::kLateAfter;
  queue.find_slow(now);
  each([&](std::size_t n, const std::string& ns) {
    queue.note_answered(100 + n, now);
    know(ns.c_str());
    queue.note_sent(200 + n, ns, now);
  });
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  EXPECT_EQ(queue.unhindered(), 20u);
}

class FallingSilent : public Bindings {
 protected:
  FallingSilent() { know("other"); }
  /// That many fall silent at that time.
  void fall_silent(std::size_t count, Millis at) {
    now = at - SentBindings::kOverdueAfter;
    for (; count > 0; --count) {
      const std::string ns = "silent" + std::to_string(++last_);
      know(ns.c_str());
      queue.note_sent(1'000 + last_, ns, now);
    }
    now = at;
    queue.find_slow(now);
  }
  bool is_other_known() {
    queue.push("other", ticket(1));
    const bool is_known = queue.unhindered() == 1;
    queue.next(0, kWindow);
    return is_known;
  }
  std::uint64_t last_ = 0;
  const Millis start = now + Millis(1'000);
};

TEST_F(FallingSilent, ManyAreCountedForTenSeconds) {
  for (const Millis after : {BindQueue::kSilentFor - Millis(1), BindQueue::kSilentFor}) {
    queue = {};
    now = Millis(10'000);
    know("other");
    fall_silent(BindQueue::kSilentMax - 1, start);
    fall_silent(1, start + after);
    EXPECT_EQ(is_other_known(), after == BindQueue::kSilentFor);
  }
}

TEST_F(FallingSilent, TheyAreCountedAgainAfterMany) {
  fall_silent(BindQueue::kSilentMax, start);
  EXPECT_FALSE(is_other_known());
  know("other");
  fall_silent(BindQueue::kSilentMax - 1, start + Millis(1'000));
  EXPECT_TRUE(is_other_known());
  fall_silent(1, start + Millis(1'300));
  EXPECT_FALSE(is_other_known());
}

TEST_F(FallingSilent, TheTenSecondsStartAgainAfterMany) {
  fall_silent(BindQueue::kSilentMax, start);
  know("other");
  fall_silent(BindQueue::kSilentMax - 1, start + Millis(9'000));
  EXPECT_TRUE(is_other_known());
  fall_silent(1, start + Millis(11'000));
  EXPECT_FALSE(is_other_known());
}

TEST_F(Bindings, OneThatIsSlowForItsFailuresIsRememberedForAMinute) {
  for (int i = 0; i < BindQueue::kUnclearMax; ++i) {
    queue.note_sent(1, "failing", now);
    queue.note_answered(1, now, true);
  }
  const std::shared_ptr<void> again = queue.note_later("failing");
  now = now + BindQueue::kRemembered;
  queue.find_slow(now - Millis(1));
  EXPECT_EQ(queue.outside_window(), 1u);
  queue.find_slow(now);
  EXPECT_EQ(queue.outside_window(), 0u);
}

TEST_F(Bindings, ASlowOneSendsNothingAgainWhileProbesOfManyAreUnderWay) {
  const auto name = [](std::size_t n) { return "slow" + std::to_string(n); };
  for (std::size_t n = 0; n <= BindQueue::kProbesMax; ++n) queue.note_sent(100 + n, name(n), now);
  now = now + SentBindings::kLateAfter;
  queue.find_slow(now);
  for (std::size_t n = 0; n <= BindQueue::kProbesMax; ++n) queue.note_answered(100 + n, now);
  for (std::size_t n = 0; n < BindQueue::kProbesMax; ++n) {
    EXPECT_TRUE(queue.may_send_again(name(BindQueue::kProbesMax)));
    queue.note_sent(100 + n, name(n), now);
  }
  EXPECT_FALSE(queue.may_send_again(name(BindQueue::kProbesMax)));
}

TEST_F(Bindings, WhatNewNamespacesSendAgainIsWithinTheirLimits) {
  for (const char* ns : {"new1", "new2", "new3"}) queue.push(ns, ticket(1));
  std::uint64_t request = 0;
  while (request < BindQueue::kNewShare) {
    EXPECT_TRUE(queue.may_send_again("new1"));
    queue.note_sent(++request, "new1", now);
  }
  EXPECT_FALSE(queue.may_send_again("new1")) << "it has its share";
  while (request < BindQueue::kNewInAllMax) {
    EXPECT_TRUE(queue.may_send_again("new3"));
    EXPECT_TRUE(queue.may_send_again("never heard of"));
    queue.note_sent(++request, "new2", now);
  }
  EXPECT_FALSE(queue.may_send_again("never heard of"));
  EXPECT_FALSE(queue.may_send_again("new3")) << "together they have theirs";
}

TEST_F(Bindings, WhatIsNotOverdueOfSilentNamespacesCountsAmongNewOnes) {
  queue.note_sent(1'000, "silent", now);
  for (std::uint64_t n = 1; n < BindQueue::kNewShare; ++n) queue.note_sent(1'000 + n, "silent", now + Millis(1));
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  for (int n = 0; n < 50; ++n) queue.push("new" + std::to_string(n), ticket(0));
  std::uint64_t request = 0;
  while (send(++request) != kNoPod) {
  }
  EXPECT_EQ(request - 1, BindQueue::kNewInAllMax - (BindQueue::kNewShare - 1)) << "all but the one that is overdue";
}

TEST_F(Bindings, WhatIsForgottenIsLookedForOnceAMinute) {
  now = Millis(100'000);
  queue.find_slow(now);
  know("known");
  now = now + BindQueue::kRemembered;
  queue.find_slow(now);
  for (PodSlot slot = 0; slot < 20; ++slot) queue.push("known", ticket(slot));
  std::uint64_t request = 0;
  while (send(request + 1) != kNoPod) ++request;
  EXPECT_EQ(request, BindQueue::kNewShare);
}

TEST_F(Bindings, AQuarterOfAFailureIsRemembered) {
  const auto answer = [&](bool is_unclear) {
    queue.note_sent(1, "new", now);
    return queue.note_answered(1, now + SentBindings::kLateAfter, is_unclear);
  };
  for (const bool is_unclear : {true, false, false, false, true, false, true}) EXPECT_TRUE(answer(is_unclear));
  EXPECT_FALSE(answer(false));
}

TEST_F(Bindings, ANamespaceOfWhichNothingIsKnownOrWaitsSendsAgainIfANewOneMay) {
  EXPECT_TRUE(queue.may_send_again("forgotten"));
  for (const char* ns : {"new1", "new2"})
    for (PodSlot slot = 0; slot < BindQueue::kNewShare; ++slot) queue.push(ns, ticket(slot));
  std::uint64_t request = 0;
  while (send(++request) != kNoPod) {
  }
  ASSERT_EQ(request - 1, BindQueue::kNewInAllMax);
  EXPECT_FALSE(queue.may_send_again("forgotten"));
}

TEST_F(Bindings, NothingIsAbandonedForASilentNamespaceThatWaits) {
  for (std::uint64_t n = 0; n < BindQueue::kHangingMax; ++n) queue.note_sent(1'000 + n, "hangs", now);
  now = now + BindQueue::kAbandonAfter;
  queue.find_slow(now);
  queue.push("hangs", ticket(1));
  EXPECT_EQ(queue.to_abandon(now), std::nullopt);
  queue.push("new", ticket(2));
  EXPECT_EQ(queue.to_abandon(now), 1'000u);
}

TEST_F(Bindings, TheEngineDoesNotWaitForASilentNamespaceWhereNothingIsKnown) {
  queue.note_sent(1, "new", now);
  queue.push("new", ticket(1));
  EXPECT_EQ(queue.unhindered(), 1u);
  now = now + SentBindings::kOverdueAfter;
  queue.find_slow(now);
  EXPECT_EQ(queue.unhindered(), 0u);
}

}  // namespace
}  // namespace ashlar::kube
