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

}  // namespace
}  // namespace ashlar
