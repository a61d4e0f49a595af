// Whose binding goes next: in the order of coming, and those of a slow namespace within their share.
#include "live/write/bind_queue.h"

#include <gtest/gtest.h>

namespace ashlar::kube {
namespace {

CommitTicket ticket(PodSlot slot) { return {.slot = slot, .first_sent = {}, .words = {}}; }

class Bindings : public ::testing::Test {
 protected:
  /// Slot of the next one, which is sent; kNoPod if none may go.
  PodSlot send(std::uint64_t request, bool has_room = true) {
    auto next = queue.next(has_room);
    if (!next) return kNoPod;
    queue.note_sent(request, next->ns, now);
    return next->ticket.slot;
  }
  /// Makes the namespace slow by its request 1000.
  void make_slow(const char* ns) {
    queue.note_sent(1000, ns, now);
    now = now + BindQueue::kSlowAfter;
    ASSERT_EQ(queue.find_slow(now), std::vector<PooledString>{ns});
  }

  BindQueue queue;
  Millis now{10'000};
};

TEST_F(Bindings, GoInTheOrderOfComing) {
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

TEST_F(Bindings, WhoIsNotAnsweredForTwoSecondsIsSlow) {
  EXPECT_EQ(queue.next_look(), Millis::max());
  queue.note_sent(1, "a", now);
  queue.note_sent(2, "b", now + Millis(1));
  EXPECT_EQ(queue.next_look(), now + Millis(2'000));
  EXPECT_TRUE(queue.find_slow(now + Millis(1'999)).empty());
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
  EXPECT_GT(queue.unhindered(), 0u);
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
    const bool is_apart = queue.unhindered() == 0;
    send(1);
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
  now = now + BindQueue::kSlowAfter;
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

}  // namespace
}  // namespace ashlar::kube
