// Reservations that are brought up to date: what of them changes when something ends unforeseen, and which others are
// made anew with them.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

constexpr QueueId kLimited{1u}, kOther{2u};

constexpr QuotaVector gpus(std::int64_t count) { return {count * 1000, kUnlimited, kUnlimited}; }

/// Two nodes of eight devices. On the first a job of four devices runs until 100 s, and its queue's quota of seven does
/// not admit the next one of four; beside it runs a job of another queue until 500 s.
class Renewed : public testing::Test {
 protected:
  Renewed() : state_(small_state(2)), engine_(*builtin_profile("ashlar")) {
    tell(state_, QueueDefined{kLimited, QueueId(0u), gpus(7)});
    tell(state_, QueueDefined{kOther, QueueId(0u), gpus(4)});
    submit({.job = 0, .demand = kFourDevices, .queue = kLimited, .seconds = 100});
    tell(state_, Bound{MemberId(0u), NodeId(0u), {}});
    submit({.job = 1, .demand = kOneDevice, .queue = kOther, .seconds = 500});
    tell(state_, Bound{MemberId(1u), NodeId(0u), {}});
    submit({.job = 2, .demand = kFourDevices, .queue = kLimited, .seconds = 1000});
    decide_at(Millis(0));
  }

  struct Asked {
    std::uint32_t job;
    DemandId demand;
    QueueId queue;
    std::int64_t seconds;
  };
  void submit(const Asked& asked) {
    Workload w = workload(asked.job, asked.job, 1, asked.demand);
    w.queue = asked.queue;
    w.estimate = {Millis(asked.seconds * 1000), Millis(asked.seconds * 1000)};
    tell(state_, Submitted{w}, state_.now());
  }
  Plan decide_at(Millis now) {
    tell(state_, Tick{}, now);
    return engine_.decide(state_, now);
  }
  /// A job that outlasts all others asks for the reservations of those ahead of it.
  void ask(std::uint32_t job, QueueId queue) { submit({job, kOneDevice, queue, 100'000}); }
  const Reservation* of(std::uint32_t job) const {
    const auto all = engine_.reservations();
    const auto it = std::ranges::find_if(all, [&](const Reservation& r) { return r.entry.job == JobId(job); });
    return it == all.end() ? nullptr : &*it;
  }

  State state_;
  Engine engine_;
};

TEST_F(Renewed, AJobThatWaitsForQuotaIsReservedWhatIsFreeNow) {
  ask(10, kLimited);
  decide_at(Millis(10));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(100'000));
  ASSERT_EQ(of(2)->places.size(), 1u);
  EXPECT_EQ(of(2)->places[0].node, NodeId(1u)) << "the other has three devices free, and seven at that time";
}

TEST_F(Renewed, AnUnforeseenEndElsewhereChangesNothing) {
  ask(10, kLimited);
  decide_at(Millis(10));
  ASSERT_NE(of(2), nullptr);
  const Reservation before = *of(2);
  tell(state_, Ended{JobId(1u)}, Millis(2000));
  ask(11, kLimited);
  decide_at(Millis(2000));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->made_at, Millis(2000)) << "it was looked at";
  EXPECT_EQ(of(2)->edition, before.edition);
  EXPECT_EQ(of(2)->places, before.places);
}

TEST_F(Renewed, AnUnforeseenEndOnItsNodeLeavesMoreToOthers) {
  submit({.job = 5, .demand = kOneDevice, .queue = QueueId(0u), .seconds = 300});
  tell(state_, Bound{MemberId(5u), NodeId(1u), {}}, state_.now());
  ask(10, kLimited);
  decide_at(Millis(10));
  ASSERT_NE(of(2), nullptr);
  const Reservation before = *of(2);
  ASSERT_EQ(before.places[0].node, NodeId(1u));
  tell(state_, Ended{JobId(5u)}, Millis(2000));
  ask(11, kLimited);
  decide_at(Millis(2000));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, before.at);
  EXPECT_EQ(of(2)->places, before.places);
  EXPECT_NE(of(2)->edition, before.edition);
  const auto idle = [](const Reservation& r) {
    return std::ranges::count_if(r.spares[0].room.devices, [](const DeviceRoom& d) { return d.milli == kWholeDevice; });
  };
  EXPECT_GT(idle(*of(2)), idle(before));
}

TEST_F(Renewed, AnEarlierEndOfWhatItWaitsForMovesIt) {
  ask(10, kLimited);
  decide_at(Millis(10));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(100'000));
  tell(state_, EstimateChanged{JobId(0u), {Millis(60'000), Millis(60'000)}}, Millis(2000));
  ask(11, kLimited);
  decide_at(Millis(2000));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(60'000));
}

/// The heads of two queues, each under a quota of its own.
TEST_F(Renewed, ThoseItDoesNotBindStayWhenOneAheadIsMadeAnew) {
  submit({.job = 7, .demand = kFourDevices, .queue = kOther, .seconds = 700});
  submit({.job = 8, .demand = kOneDevice, .queue = kOther, .seconds = 700});
  ask(10, kLimited);
  ask(11, kOther);
  decide_at(Millis(10));
  ASSERT_NE(of(2), nullptr);
  ASSERT_NE(of(7), nullptr);
  EXPECT_EQ(of(2)->limiting, kLimited);
  const std::uint64_t behind = of(7)->edition;
  const Millis made_at = of(7)->made_at;
  tell(state_, EstimateChanged{JobId(0u), {Millis(60'000), Millis(60'000)}}, Millis(500));
  decide_at(Millis(1500));  // a second after it was made
  ask(12, kLimited);
  decide_at(Millis(1500));
  ASSERT_NE(of(2), nullptr);
  ASSERT_NE(of(7), nullptr);
  EXPECT_EQ(of(2)->at, Millis(60'000));
  EXPECT_EQ(of(7)->edition, behind);
  EXPECT_GE(of(7)->made_at, made_at);
}

}  // namespace
}  // namespace ashlar
