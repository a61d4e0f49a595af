// Reservations of jobs behind others with reservations: what becomes of them when one ahead changes or goes.
#include <type_traits>

#include "engine/engine_fields.h"
#include "reserving.h"

namespace ashlar {
namespace {

class ReservedBehind : public Reserving {
 protected:
  explicit ReservedBehind(std::uint32_t nodes = 1) : Reserving(nodes) {}
};

TEST_F(ReservedBehind, OneThatGoesTakesThoseAlongThatWereMadeBesideIt) {
  run({.job = 0, .demand = kSixDevices, .queue = kAll, .seconds = 100}, NodeId(0u));
  submit({.job = 1, .demand = kSixDevices, .queue = kBelow, .seconds = 1000});
  submit({.job = 2, .demand = kSixDevices, .queue = kFree, .seconds = 1000});
  ask_for_nothing(10, kFree);
  decide_at(Millis(0));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(1'100'000));
  tell(state_, Ended{JobId(1u)}, Millis(500));
  ask_for_nothing(11, kFree);
  decide_at(Millis(500));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(100'000));
}

/// The first waits for quota and does not bind the last. The one between them, which it binds, starts at once when it
/// goes.
TEST_F(ReservedBehind, OneThatGoesTakesThoseAlongThatRestOnItThroughOthers) {
  run({.job = 0, .demand = kFourDevices, .queue = kLimited, .seconds = 100}, NodeId(0u));
  run({.job = 1, .demand = kTwoDevices, .queue = kAll, .seconds = 150}, NodeId(0u));
  run({.job = 2, .demand = kOneDevice, .queue = kAll, .seconds = 500'000}, NodeId(0u));
  submit({.job = 3, .demand = kFourDevices, .queue = kLimited, .seconds = 1000});
  submit({.job = 4, .demand = kTwoDevices, .queue = kBelow, .seconds = 1000});
  submit({.job = 5, .demand = kSixDevices, .queue = kFree, .seconds = 1000});
  ask_for_nothing(10, kBelow);
  ask_for_nothing(11, kFree);
  decide_at(Millis(0));
  ask_for_nothing(12, kBelow);
  ask_for_nothing(13, kFree);
  decide_at(Millis(10));
  ASSERT_NE(of(3), nullptr);
  ASSERT_NE(of(4), nullptr);
  ASSERT_NE(of(5), nullptr);
  EXPECT_EQ(of(3)->at, Millis(100'000));
  EXPECT_EQ(of(3)->limiting, kLimited);
  EXPECT_EQ(of(4)->at, Millis(150'000));
  EXPECT_EQ(of(5)->at, Millis(1'150'000));
  tell(state_, Ended{JobId(3u)}, Millis(500));
  tell(state_, Ended{JobId(2u)}, Millis(500));
  ask_for_nothing(14, kFree);
  decide_at(Millis(500));
  EXPECT_TRUE(state_.member(MemberId(4u)).is_placed());
  ASSERT_NE(of(5), nullptr);
  EXPECT_EQ(of(5)->at, Millis(150'000));
}

/// The one behind starts first, beside the first one's reservation, and has a claim on its node.
class ReservedBeside : public ReservedBehind {
 protected:
  ReservedBeside() : ReservedBehind(2) {
    run({.job = 0, .demand = kFourDevices, .queue = kAll, .seconds = 100}, NodeId(0u));
    run({.job = 1, .demand = kFourDevices, .queue = kAll, .seconds = 50}, NodeId(0u));
    run({.job = 2, .demand = kOneDevice, .queue = kAll, .seconds = 500}, NodeId(1u));
    run({.job = 3, .demand = kSixDevices, .queue = kAll, .seconds = 500}, NodeId(1u));
    run({.job = 4, .demand = kOneDevice, .queue = kAll, .seconds = 500}, NodeId(1u));
    submit({.job = 5, .demand = kSixDevices, .queue = kBelow, .seconds = 1000});
    submit({.job = 6, .demand = kTwoDevices, .queue = kFree, .seconds = 1000});
    ask_for_nothing(10, kFree);
    decide_at(Millis(0));
  }
};

TEST_F(ReservedBeside, ItsClaimStaysWhenTheFirstIsBroughtUpToDate) {
  ASSERT_NE(of(5), nullptr);
  ASSERT_NE(of(6), nullptr);
  EXPECT_EQ(of(5)->at, Millis(100'000));
  EXPECT_EQ(of(6)->at, Millis(50'000));
  ASSERT_EQ(of(5)->spares.size(), 1u);
  EXPECT_EQ(of(5)->spares[0].claims.size(), 2u);
  EXPECT_EQ(of(5)->quota_claims.size(), 1u);
  const std::uint64_t first = of(5)->edition, second = of(6)->edition;
  tell(state_, Ended{JobId(2u)}, Millis(2000));
  ask_for_nothing(11, kFree);
  decide_at(Millis(2000));
  ASSERT_NE(of(5), nullptr);
  ASSERT_NE(of(6), nullptr);
  EXPECT_EQ(of(5)->made_at, Millis(2000));
  EXPECT_EQ(of(6)->made_at, Millis(2000));
  ASSERT_EQ(of(5)->spares.size(), 1u);
  EXPECT_EQ(of(5)->spares[0].claims.size(), 2u);
  EXPECT_EQ(of(5)->quota_claims.size(), 1u);
  EXPECT_EQ(of(5)->edition, first) << "whom it held it holds";
  EXPECT_EQ(of(6)->edition, second);
}

/// A limit of devices of one class, of which a running job has some until 50 s; enough devices are free at 100 s.
TEST_F(ReservedBehind, OneUnderAQuotaOfAClassMovesWithTheEndOfWhoHasIt) {
  constexpr QueueId kKeyed{5u};
  const QuotaLimit limit{{ResourceId::none(), DeviceClassId(0u)}, 7000};
  tell(state_, QueueDefined{kKeyed, kAll, kNoLimit, {limit}});
  tell(state_, NodeSeen{NodeId(1u), eight_devices()});
  run({.job = 0, .demand = kFourDevices, .queue = kAll, .seconds = 100}, NodeId(0u));
  run({.job = 1, .demand = kTwoDevices, .queue = kKeyed, .seconds = 50}, NodeId(1u));
  run({.job = 2, .demand = kSixDevices, .queue = kAll, .seconds = 500}, NodeId(1u));
  submit({.job = 3, .demand = kSixDevices, .queue = kKeyed, .seconds = 1000});
  ask_for_nothing(10, kKeyed);
  decide_at(Millis(0));
  ASSERT_NE(of(3), nullptr);
  EXPECT_EQ(of(3)->at, Millis(100'000));
  expect_until(1, 400, Millis(2000));
  ask_for_nothing(11, kKeyed);
  decide_at(Millis(2000));
  ASSERT_NE(of(3), nullptr);
  EXPECT_EQ(of(3)->at, Millis(400'000));
}

/// There is no quota beside the first one, whose devices count as idle once it has ended.
TEST_F(ReservedBehind, OneThatNeedsDevicesOfTheFirstStartsAtItsEnd) {
  tell(state_, QueueDefined{kLimited, kAll, gpus(6)});
  run({.job = 0, .demand = kFourDevices, .queue = kLimited, .seconds = 100}, NodeId(0u));
  submit({.job = 1, .demand = kFourDevices, .queue = kLimited, .seconds = 1000});
  submit({.job = 2, .demand = kSixDevices, .queue = kBelow, .seconds = 1000});
  ask(10, kBelow);
  decide_at(Millis(0));
  ASSERT_NE(of(1), nullptr);
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(1)->at, Millis(100'000));
  EXPECT_EQ(of(2)->at, Millis(1'100'000));
}

/// The search for the second one seats the first, finds no quota beside it, and asks when six devices become idle, with
/// changes of nodes seen that were undone. What comes next are other changes.
TEST_F(ReservedBehind, WhatEndsAfterASearchThatWasUndoneIsSeenByTheNext) {
  tell(state_, QueueDefined{kLimited, kAll, gpus(6)});
  for (std::uint32_t n = 1; n < 4; ++n) tell(state_, NodeSeen{NodeId(n), eight_devices()});
  run({.job = 0, .demand = kFourDevices, .queue = kLimited, .seconds = 100}, NodeId(0u));
  run({.job = 1, .demand = kFourDevices, .queue = kFree, .seconds = 100}, NodeId(0u));
  run({.job = 2, .demand = kFourDevices, .queue = kFree, .seconds = 500}, NodeId(1u));
  run({.job = 3, .demand = kSixDevices, .queue = kFree, .seconds = 300}, NodeId(2u));
  run({.job = 4, .demand = kSixDevices, .queue = kFree, .seconds = 150}, NodeId(3u));
  for (std::uint32_t job = 20; job < 30; ++job)
    run({.job = job, .demand = kNothing, .queue = kFree, .seconds = 700}, NodeId(1u));
  submit({.job = 5, .demand = kFourDevices, .queue = kLimited, .seconds = 1000});
  submit({.job = 6, .demand = kSixDevices, .queue = kBelow, .seconds = 1000});
  ask(10, kBelow);
  engine_.options().has_verdicts = false;  // no reasons are searched for: they would look at the same nodes
  decide_at(Millis(0));
  ASSERT_NE(of(6), nullptr);
  EXPECT_EQ(of(6)->at, Millis(1'100'000));

  tell(state_, Ended{JobId(3u)}, Millis(500));
  for (std::uint32_t job = 20; job < 30; ++job) tell(state_, Ended{JobId(job)}, Millis(500));
  Workload gang = workload(7, 40, 2, kSixDevices);
  gang.queue = kFree;
  gang.estimate = {Millis(1'000'000), Millis(1'000'000)};
  tell(state_, Submitted{gang}, Millis(500));
  ask(11, kFree);
  decide_at(Millis(500));
  ASSERT_NE(of(7), nullptr);
  EXPECT_EQ(of(7)->at, Millis(100'000)) << "by then two nodes have six idle devices";
}

/// The one of another queue, made first, is forgotten while the last is brought up to date beside the one ahead of it.
TEST_F(ReservedBehind, OneStaysBehindTheOneAheadWhenAnotherIsForgotten) {
  tell(state_, NodeSeen{NodeId(1u), eight_devices()});
  run({.job = 0, .demand = kSixDevices, .queue = kAll, .seconds = 100}, NodeId(0u));
  run({.job = 1, .demand = kFourDevices, .queue = kOther, .seconds = 500}, NodeId(1u));
  run({.job = 2, .demand = kNothing, .queue = kFree, .seconds = 700}, NodeId(1u));
  submit({.job = 3, .demand = kOneDevice, .queue = kOther, .seconds = 1000});
  ask_for_nothing(10, kOther);
  decide_at(Millis(0));
  ASSERT_NE(of(3), nullptr);
  EXPECT_EQ(of(3)->limiting, kOther);
  submit({.job = 4, .demand = kSixDevices, .queue = kBelow, .seconds = 1000});
  submit({.job = 5, .demand = kSixDevices, .queue = kFree, .seconds = 1000});
  ask_for_nothing(11, kFree);
  decide_at(Millis(10));
  ASSERT_NE(of(4), nullptr);
  ASSERT_NE(of(5), nullptr);
  EXPECT_EQ(of(4)->at, Millis(100'000));
  EXPECT_EQ(of(5)->at, Millis(500'000)) << "on the second node";

  submit({.job = 6, .demand = kOneDevice, .queue = kOther, .seconds = 1000});
  tell(state_, PriorityChanged{JobId(6u), 1});
  tell(state_, Ended{JobId(2u)}, Millis(2000));
  ask_for_nothing(12, kFree);
  decide_at(Millis(2000));
  ASSERT_NE(of(5), nullptr);
  EXPECT_EQ(of(3), nullptr);
  EXPECT_EQ(of(5)->at, Millis(500'000));
}

/// By devices both could still start then, but not side by side.
TEST_F(ReservedBehind, OneMovesWhereItsNodeHasRoomForTheOneAheadAlone) {
  for (std::uint32_t job = 0; job < 2; ++job)
    run({.job = job, .demand = kFourDevices, .queue = kAll, .seconds = 100}, NodeId(0u));
  submit({.job = 2, .demand = kFourDevices, .queue = kAll, .seconds = 1000});
  submit({.job = 3, .demand = kFourDevices, .queue = kFree, .seconds = 1000});
  ask_for_nothing(10, kFree);
  decide_at(Millis(0));
  ASSERT_NE(of(2), nullptr);
  ASSERT_NE(of(3), nullptr);
  EXPECT_EQ(of(3)->at, Millis(100'000));
  expect_until(1, 400, Millis(2000));
  ask_for_nothing(11, kFree);
  decide_at(Millis(2000));
  ASSERT_NE(of(2), nullptr);
  ASSERT_NE(of(3), nullptr);
  EXPECT_EQ(of(2)->at, Millis(100'000));
  EXPECT_EQ(of(3)->at, Millis(400'000));
}

/// On the node of the first, which starts at 100 s, the second starts at 50 s and ends at 100 s.
TEST_F(ReservedBehind, OneThatEndsWhenTheOneAheadStartsTakesNothingFromIt) {
  run({.job = 0, .demand = kFourDevices, .queue = kAll, .seconds = 100}, NodeId(0u));
  run({.job = 1, .demand = kFourDevices, .queue = kAll, .seconds = 50}, NodeId(0u));
  submit({.job = 2, .demand = kSixDevices, .queue = kAll, .seconds = 1000});
  submit({.job = 3, .demand = kTwoDevices, .queue = kFree, .seconds = 50});
  ask_for_nothing(10, kFree);
  decide_at(Millis(0));
  ASSERT_NE(of(2), nullptr);
  ASSERT_NE(of(3), nullptr);
  EXPECT_EQ(of(2)->at, Millis(100'000));
  EXPECT_EQ(of(3)->at, Millis(50'000));
  ASSERT_EQ(of(2)->spares.size(), 1u);
  EXPECT_EQ(of(2)->spares[0].claims.size(), 1u);
  EXPECT_TRUE(of(2)->quota_claims.empty());
}

/// Each first job is overtaken by the next one, and what was reserved for it is kept for a while.
TEST_F(ReservedBehind, OfManyThatWereOvertakenTheLatestAreRemembered) {
  const auto remembered = [&] {
    std::size_t most = 0;
    EngineFields::each(engine_, [&]<class Field>(const Field& field) {
      if constexpr (std::is_same_v<Field, std::vector<Reservation>>) most = std::max(most, field.size());
    });
    return most;
  };
  run({.job = 0, .demand = kFourDevices, .queue = kAll, .seconds = 100}, NodeId(0u));
  submit({.job = 1, .demand = kFourDevices, .queue = kAll, .seconds = 100'000});
  for (std::uint32_t i = 1; i <= 300; ++i) {
    Workload first = workload(i + 1, i + 1, 1, kSixDevices);
    first.queue = kAll;
    first.priority = static_cast<std::int32_t>(i);
    first.estimate = {Millis(1'000'000), Millis(1'000'000)};
    tell(state_, Submitted{first}, state_.now());
    decide_at(Millis(i));
    ASSERT_NE(of(i + 1), nullptr) << i;
    if (i == 100) {
      EXPECT_GE(remembered(), 80u);
    }
  }
  EXPECT_LE(remembered(), 128u);
}

}  // namespace
}  // namespace ashlar
