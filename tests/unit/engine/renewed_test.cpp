// Reservations that are brought up to date: what of them changes when something ends unforeseen, and which others are
// made anew with them.
#include "reserving.h"

namespace ashlar {
namespace {

/// Two nodes of eight devices. On the first a job of four devices runs until 100 s, and its queue's quota of seven does
/// not admit the next one of four; beside it runs a job of another queue until 500 s.
class Renewed : public Reserving {
 protected:
  Renewed() : Reserving(2) {
    run({.job = 0, .demand = kFourDevices, .queue = kLimited, .seconds = 100}, NodeId(0u));
    run({.job = 1, .demand = kOneDevice, .queue = kOther, .seconds = 500}, NodeId(0u));
    submit({.job = 2, .demand = kFourDevices, .queue = kLimited, .seconds = 1000});
    decide_at(Millis(0));
  }
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

/// By devices and quota it could start at the same time as before.
TEST_F(Renewed, ItMovesWhereCoresOfItsNodeAreInUseForLonger) {
  run({.job = 5, .demand = kManyCores, .queue = kAll, .seconds = 500}, NodeId(0u));
  run({.job = 6, .demand = kManyCores, .queue = kAll, .seconds = 50}, NodeId(1u));
  ask(10, kLimited);
  decide_at(Millis(10));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(100'000));
  EXPECT_EQ(of(2)->places[0].node, NodeId(1u));
  expect_until(6, 400, Millis(2000));
  ask(11, kLimited);
  decide_at(Millis(2000));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(400'000));
}

/// As in those below, something else ends at the reserved time, so that it remains a time to look at.
TEST_F(Renewed, AnEarlierEndMovesItThoughAnotherEndsAtItsTime) {
  run({.job = 5, .demand = kOneDevice, .queue = kAll, .seconds = 100}, NodeId(0u));
  ask(10, kLimited);
  decide_at(Millis(10));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(100'000));
  expect_until(0, 60, Millis(2000));
  ask(11, kLimited);
  decide_at(Millis(2000));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(60'000));
}

TEST_F(Renewed, ALaterEndMovesItThoughAnotherEndsAtItsTime) {
  run({.job = 5, .demand = kOneDevice, .queue = kAll, .seconds = 100}, NodeId(0u));
  ask(10, kLimited);
  decide_at(Millis(10));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(100'000));
  expect_until(0, 300, Millis(2000));
  ask(11, kLimited);
  decide_at(Millis(2000));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(300'000));
}

TEST_F(Renewed, AnotherEstimateOfItsOwnIsWhatItLastsThen) {
  ask(10, kLimited);
  decide_at(Millis(10));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->lasts, Millis(1'100'000));
  expect_until(2, 3000, Millis(1000));
  tell(state_, Ended{JobId(1u)}, Millis(2000));
  ask(11, kLimited);
  decide_at(Millis(2000));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->lasts, Millis(3'100'000));
  EXPECT_EQ(of(2)->ends, Millis(3'100'000));
}

/// What is left over beside a job that waits for quota, found on what is free now: what ends until then on its node is
/// free, and each job's quota is given back once. A node of eight devices: four are reserved.
class LeftOver : public Renewed {
 protected:
  LeftOver() {
    run({.job = 5, .demand = kOneDevice, .queue = kBelow, .seconds = 60}, NodeId(1u));
    run({.job = 6, .demand = kOneDevice, .queue = kAll, .seconds = 300}, NodeId(1u));
    ask_for_nothing(10, kLimited);
    decide_at(Millis(10));
  }
  void expect_left() const {
    ASSERT_NE(of(2), nullptr);
    EXPECT_EQ(of(2)->at, Millis(100'000));
    ASSERT_EQ(of(2)->spares.size(), 1u);
    const Reservation::Spare& spare = of(2)->spares[0];
    EXPECT_EQ(spare.node, NodeId(1u));
    EXPECT_EQ(spare.claims.size(), 1u);
    const auto is_idle = [](const DeviceRoom& d) { return d.milli == kWholeDevice; };
    EXPECT_EQ(std::ranges::count_if(spare.room.devices, is_idle), 7) << "but for the one until 300 s";
    ASSERT_EQ(of(2)->quota_spares.size(), 1u);
    EXPECT_EQ(of(2)->quota_spares[0].queue, kLimited);
    EXPECT_EQ(of(2)->quota_spares[0].left[0], 3000) << "seven, less its own four";
  }
};

TEST_F(LeftOver, IsAsOfThenWhenItIsMade) {
  const std::uint64_t digest = state_.digest();
  expect_left();
  EXPECT_TRUE(state_.is_consistent());
  decide_at(Millis(20));
  EXPECT_EQ(state_.digest(), digest);
}

TEST_F(LeftOver, IsAsOfThenWhenItIsBroughtUpToDate) {
  const std::uint64_t edition = of(2)->edition;
  tell(state_, Ended{JobId(1u)}, Millis(2000));
  ask_for_nothing(11, kLimited);
  decide_at(Millis(2000));
  expect_left();
  EXPECT_EQ(of(2)->made_at, Millis(2000));
  EXPECT_EQ(of(2)->edition, edition);
  EXPECT_TRUE(state_.is_consistent());
}

TEST_F(LeftOver, IsTheSameAfterAJobTookOfWhatHasNoLimit) {
  submit({.job = 11, .demand = kNoDevices, .queue = kLimited, .seconds = 100'000});
  decide_at(Millis(1000));
  EXPECT_TRUE(state_.member(MemberId(11u)).is_placed());
  const std::uint64_t edition = of(2)->edition;
  tell(state_, Ended{JobId(1u)}, Millis(2000));
  ask_for_nothing(12, kLimited);
  decide_at(Millis(2000));
  expect_left();
  EXPECT_EQ(of(2)->edition, edition);
}

TEST_F(Renewed, AJobThatWaitsForQuotaAndRoomIsReservedWhatTheSameEndsFree) {
  for (std::uint32_t job = 5; job < 7; ++job)
    run({.job = job, .demand = kFourDevices, .queue = kAll, .seconds = 200}, NodeId(1u));
  ask_for_nothing(10, kLimited);
  decide_at(Millis(10));
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(100'000)) << "three devices are free on the first node, and seven then";
  EXPECT_EQ(of(2)->places[0].node, NodeId(0u));
  ASSERT_EQ(of(2)->quota_spares.size(), 1u);
  EXPECT_EQ(of(2)->quota_spares[0].left[0], 3000);
}

/// It waited for quota and for room until then; now the quota is there.
TEST_F(Renewed, OneThatWaitsForDevicesInsteadBindsAll) {
  submit({.job = 3, .demand = kSixDevices, .queue = kLimited, .seconds = 1000});
  tell(state_, Ended{JobId(2u)}, state_.now());
  run({.job = 5, .demand = kTwoDevices, .queue = kAll, .seconds = 100}, NodeId(0u));
  for (std::uint32_t job = 6; job < 8; ++job)
    run({.job = job, .demand = kFourDevices, .queue = kAll, .seconds = 500}, NodeId(1u));
  ask_for_nothing(10, kLimited);
  decide_at(Millis(10));
  ASSERT_NE(of(3), nullptr);
  EXPECT_EQ(of(3)->at, Millis(100'000));
  EXPECT_EQ(of(3)->limiting, kLimited);
  tell(state_, Ended{JobId(0u)}, Millis(2000));
  ask_for_nothing(11, kOther);
  decide_at(Millis(2000));
  ASSERT_NE(of(3), nullptr);
  EXPECT_EQ(of(3)->at, Millis(100'000));
  EXPECT_EQ(of(3)->limiting, QueueId::none());
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
