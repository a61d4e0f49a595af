// Gangs of like members that freed nodes wake, by the idle devices of all nodes and of a domain.
#include <gtest/gtest.h>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar::wake_gangs {
namespace {

constexpr DemandId kWholeNode{20u};
constexpr LevelId kRack{0u};

/// Four nodes in two racks, each taken by the job of its number.
State two_racks() {
  State s = small_state(0);
  tell(s, LevelsDefined{1, 0});
  tell(s, DemandDefined{kWholeNode, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  for (std::uint32_t n = 0; n < 4; ++n) {
    NodeFacts facts = eight_devices();
    facts.domains = {DomainId(n / 2)};
    tell(s, NodeSeen{NodeId(n), facts});
    tell(s, Submitted{workload(n, n, 1, kWholeNode)});
    tell(s, Bound{MemberId(n), NodeId(n), {}});
  }
  return s;
}

/// Idle devices are counted by domain where the gang must stay within one, and shares of a device
/// are no whole devices.
TEST(WakeGangs, AGangSleepsUntilTheIdleDevicesOfOneDomainAreEnough) {
  State s = two_racks();
  Engine engine(*builtin_profile("ashlar"));
  Workload halves = workload(12, 70, 16, kHalfADevice), within = workload(10, 50, 2, kWholeNode);
  within.within = halves.within = kRack;
  tell(s, Submitted{within});
  tell(s, Submitted{workload(11, 60, 3, kWholeNode)});
  EXPECT_TRUE(engine.decide(s, s.now()).actions.empty());
  tell(s, Ended{JobId(0u)});
  tell(s, Ended{JobId(2u)});
  EXPECT_EQ(engine.decide(s, s.now()).examined, 0u) << "a node in each rack";
  tell(s, Ended{JobId(3u)});
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 2u);
  EXPECT_EQ(s.job(JobId(10u)).members_placed, 2u);
  tell(s, Ended{JobId(10u)});
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 3u) << "in no rack alone";
  tell(s, Submitted{halves});
  EXPECT_TRUE(engine.decide(s, s.now()).actions.empty());
  tell(s, Ended{JobId(1u)});
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 16u) << "of eight devices";
}

TEST(WakeGangs, ANodeThatOwesDevicesTakesNoneFromTheIdleOnesOfOthers) {
  for (const bool is_within : {false, true}) {
    State s = two_racks();
    tell(s, Submitted{workload(4, 4, 1, kWholeNode)});
    tell(s, Bound{MemberId(4u), NodeId(0u), {}});
    Engine engine(*builtin_profile("ashlar"));
    Workload gang = workload(10, 50, is_within ? 1 : 2, kWholeNode);
    if (is_within) gang.within = kRack;
    tell(s, Submitted{gang});
    EXPECT_TRUE(engine.decide(s, s.now()).actions.empty());
    if (!is_within) tell(s, Ended{JobId(2u)});
    tell(s, Ended{JobId(1u)});
    EXPECT_EQ(engine.decide(s, s.now()).actions.size(), is_within ? 1u : 2u) << is_within;
  }
}

TEST(WakeGangs, OfGangsOfLikeMembersThoseThatMayBeAnywhereDoNotSleepForThoseWithinADomain) {
  State s = two_racks();
  Engine engine(*builtin_profile("ashlar"));
  Workload within = workload(10, 50, 2, kWholeNode);
  within.within = kRack;
  tell(s, Submitted{within});
  tell(s, Submitted{workload(11, 60, 2, kWholeNode)});
  EXPECT_TRUE(engine.decide(s, s.now()).actions.empty());
  tell(s, Ended{JobId(0u)});
  tell(s, Ended{JobId(2u)});
  const Plan& plan = engine.decide(s, s.now());
  EXPECT_EQ(plan.examined, 1u);
  EXPECT_EQ(s.job(JobId(11u)).members_placed, 2u);
}

TEST(WakeGangs, AGangWakesForItsMinimum) {
  State s = two_racks();
  Engine engine(*builtin_profile("ashlar"));
  Workload gang = workload(10, 50, 3, kWholeNode);
  gang.members_min = 2;
  tell(s, Submitted{gang});
  EXPECT_TRUE(engine.decide(s, s.now()).actions.empty());
  tell(s, Ended{JobId(0u)});
  EXPECT_EQ(engine.decide(s, s.now()).examined, 0u);
  tell(s, Ended{JobId(2u)});
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 2u);
}

}  // namespace
}  // namespace ashlar::wake_gangs
