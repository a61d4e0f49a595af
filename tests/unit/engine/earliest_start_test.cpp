// The earliest start that the search finds for a job behind others, and what is left over beside it: where the moment is
// not the first one at which there could be enough.
#include "reserving.h"

namespace ashlar {
namespace {

class EarliestStarts : public Reserving {
 protected:
  EarliestStarts() : Reserving(2) {}
};

/// The quota of its own queue, from which the search starts, has enough at 100 s, that of the queue above at 200 s.
TEST_F(EarliestStarts, WhatEndsUntilTheLaterOfTwoQuotasHasEnoughIsLeftOver) {
  constexpr QueueId kAbove{5u};
  tell(state_, QueueDefined{kAbove, kAll, gpus(7)});
  tell(state_, QueueDefined{kLimited, kAbove, gpus(6)});
  run({.job = 0, .demand = kFourDevices, .queue = kLimited, .seconds = 100}, NodeId(0u));
  run({.job = 1, .demand = kFourDevices, .queue = kAbove, .seconds = 200}, NodeId(0u));
  run({.job = 2, .demand = kOneDevice, .queue = kAll, .seconds = 60}, NodeId(1u));
  run({.job = 3, .demand = kOneDevice, .queue = kAll, .seconds = 300}, NodeId(1u));
  submit({.job = 4, .demand = kFourDevices, .queue = kLimited, .seconds = 1000});
  ask_for_nothing(10, kLimited);
  decide_at(Millis(0));
  ASSERT_NE(of(4), nullptr);
  EXPECT_EQ(of(4)->at, Millis(200'000));
  ASSERT_EQ(of(4)->spares.size(), 1u);
  EXPECT_EQ(of(4)->spares[0].node, NodeId(1u)) << "which has room for it now";
  const auto is_idle = [](const DeviceRoom& d) { return d.milli == kWholeDevice; };
  EXPECT_EQ(std::ranges::count_if(of(4)->spares[0].room.devices, is_idle), 7) << "but for the one until 300 s";
}

/// One after the other ends that the queue above has to wait for: the search goes beyond the right one and comes back.
TEST_F(EarliestStarts, WhatHasEndedIsGivenBackOnceWhenTheSearchComesBack) {
  constexpr QueueId kAbove{5u};
  tell(state_, QueueDefined{kAbove, kAll, gpus(5)});
  tell(state_, QueueDefined{kLimited, kAbove, gpus(6)});
  run({.job = 0, .demand = kFourDevices, .queue = kLimited, .seconds = 100}, NodeId(0u));
  for (std::uint32_t job = 1; job <= 4; ++job)
    run({.job = job, .demand = kOneDevice, .queue = kAbove, .seconds = 100 + 10 * job}, NodeId(0u));
  submit({.job = 5, .demand = kFourDevices, .queue = kLimited, .seconds = 1000});
  ask_for_nothing(10, kLimited);
  decide_at(Millis(0));
  ASSERT_NE(of(5), nullptr);
  EXPECT_EQ(of(5)->at, Millis(130'000)) << "one device of the queue above is in use then, two before";
}

/// Its own queue has enough at the reserved time as before, the one above it does not any more.
TEST_F(EarliestStarts, QuotaThatOthersHaveTakenMeanwhileMovesAReservation) {
  constexpr QueueId kAbove{5u};
  tell(state_, QueueDefined{kAbove, kAll, gpus(7)});
  tell(state_, QueueDefined{kLimited, kAbove, gpus(6)});
  run({.job = 0, .demand = kFourDevices, .queue = kLimited, .seconds = 100}, NodeId(0u));
  run({.job = 1, .demand = kNothing, .queue = kFree, .seconds = 700}, NodeId(0u));
  submit({.job = 4, .demand = kFourDevices, .queue = kLimited, .seconds = 1000});
  ask_for_nothing(10, kLimited);
  decide_at(Millis(0));
  ASSERT_NE(of(4), nullptr);
  EXPECT_EQ(of(4)->at, Millis(100'000));
  run({.job = 2, .demand = kFourDevices, .queue = kAbove, .seconds = 200}, NodeId(1u));
  tell(state_, Ended{JobId(1u)}, Millis(2000));
  ask_for_nothing(11, kLimited);
  decide_at(Millis(2000));
  ASSERT_NE(of(4), nullptr);
  EXPECT_EQ(of(4)->at, Millis(200'000));
}

/// A gang of which one member runs elsewhere than the rest could has not started: no end of it is known.
TEST_F(EarliestStarts, WhatAGangThatHasNotStartedHoldsIsNotLeftOver) {
  constexpr DemandId kWhole{9u};
  tell(state_, DemandDefined{kWhole, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  run({.job = 0, .demand = kFourDevices, .queue = kLimited, .seconds = 100}, NodeId(0u));
  run({.job = 1, .demand = kFourDevices, .queue = kAll, .seconds = 200}, NodeId(0u));
  submit({.job = 2, .demand = kFourDevices, .queue = kLimited, .seconds = 1000});
  Workload gang = workload(3, 30, 2, kOneDevice);
  gang.queue = kFree;
  gang.members[1].demand = kWhole;
  gang.estimate = {Millis(1'000'000), Millis(1'000'000)};
  tell(state_, Submitted{gang});
  tell(state_, Bound{MemberId(30u), NodeId(1u), {}});
  ask_for_nothing(10, kLimited);
  decide_at(Millis(0));
  EXPECT_FALSE(state_.job(JobId(3u)).is_started);
  ASSERT_NE(of(2), nullptr);
  EXPECT_EQ(of(2)->at, Millis(100'000));
  ASSERT_EQ(of(2)->spares.size(), 1u);
  EXPECT_EQ(of(2)->spares[0].node, NodeId(1u));
  const auto is_idle = [](const DeviceRoom& d) { return d.milli == kWholeDevice; };
  EXPECT_EQ(std::ranges::count_if(of(2)->spares[0].room.devices, is_idle), 7);
}

/// A job of two members that runs until 100 s, and has lost one of them: it waits for that one, and keeps the other.
class WithAMemberLost : public EarliestStarts {
 protected:
  void run_one_of_two(QueueId queue) {
    Workload gang = workload(0, 30, 2, kTwoDevices);
    gang.queue = queue;
    gang.estimate = {Millis(100'000), Millis(100'000)};
    tell(state_, Submitted{gang});
    tell(state_, Bound{MemberId(30u), NodeId(0u), {}});
    tell(state_, Bound{MemberId(31u), NodeId(1u), {}});
    tell(state_, Evicted{JobId(0u), Millis(100'000), MemberId(31u)});
    ASSERT_TRUE(state_.job(JobId(0u)).is_started);
  }
};

TEST_F(WithAMemberLost, TheEndOfTheJobFreesNothingForIt) {
  tell(state_, QueueDefined{kLimited, kAll, gpus(6)});
  run_one_of_two(kLimited);
  run({.job = 1, .demand = kFourDevices, .queue = kLimited, .seconds = 300}, NodeId(0u));
  ask_for_nothing(10, kLimited);
  decide_at(Millis(0));
  ASSERT_NE(of(0), nullptr);
  EXPECT_EQ(of(0)->at, Millis(300'000)) << "until then the other one has the quota";
  ASSERT_EQ(of(0)->spares.size(), 1u);
  EXPECT_EQ(of(0)->spares[0].node, NodeId(0u));
  const auto is_idle = [](const DeviceRoom& d) { return d.milli == kWholeDevice; };
  EXPECT_EQ(std::ranges::count_if(of(0)->spares[0].room.devices, is_idle), 6) << "all but its other two";
}

}  // namespace
}  // namespace ashlar
