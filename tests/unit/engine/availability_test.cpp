// When slots open, by the ends of running jobs: what is counted, of which nodes, and what a job needs of them.
#include "engine/reserve/availability.h"

#include <gtest/gtest.h>

#include "../state/small_state.h"

namespace ashlar {
namespace {

constexpr DemandId kEightWhole{20u}, kSixWhole{21u};
constexpr ConstraintId kOfTheFirst{1u}, kOfTheSecond{2u}, kOfEither{3u};
constexpr DeviceClassId kFirst{0u}, kSecond{1u};
constexpr LevelId kTheirRack{0u};
constexpr DeviceLayoutId kHalfAndHalf{0u};
constexpr std::uint32_t kSixNodes = 6, kPerRack = 2, kPair = 100;
constexpr Millis kSoon(1'000), kLater(2'000), kLast(3'000);

NodeFacts node_facts(std::uint32_t n) {
  NodeFacts facts = eight_devices();
  facts.domains = {n == kSixNodes - 1 ? DomainId::none() : DomainId(n / kPerRack)};
  return facts;
}

Constraint of_classes(std::vector<DeviceClassId> classes) {
  Constraint c;
  c.models = std::move(classes);
  return c;
}

/// Four devices of each class.
DeviceLayout half_and_half() {
  DeviceLayout layout;
  for (int i = 0; i < 8; ++i) layout.devices.push_back({.device_class = i < 4 ? kFirst : kSecond});
  return layout;
}

/// Six empty nodes of the first class, two in each rack; the sixth in none.
class AvailabilityOfRacks : public testing::Test {
 protected:
  AvailabilityOfRacks() : state_(small_state(0)) {
    tell(state_, LevelsDefined{1, 0});
    tell(state_, DemandDefined{kEightWhole, {.amounts = {}, .devices = {8, MilliGpu(1000), MiB(0)}, .ports = {}}});
    tell(state_, DemandDefined{kSixWhole, {.amounts = {}, .devices = {6, MilliGpu(1000), MiB(0)}, .ports = {}}});
    tell(state_, ConstraintDefined{kOfTheFirst, of_classes({kFirst})});
    tell(state_, ConstraintDefined{kOfTheSecond, of_classes({kSecond})});
    tell(state_, ConstraintDefined{kOfEither, of_classes({kSecond, kFirst})});
    tell(state_, DeviceLayoutDefined{kHalfAndHalf, half_and_half()});
    for (std::uint32_t n = 0; n < kSixNodes; ++n) tell(state_, NodeSeen{NodeId(n), node_facts(n)});
  }

  /// For that long from now on; max(): not known.
  void run_on(std::uint32_t job, std::uint32_t node, Millis lasts, DemandId demand = kOneDevice,
              DeviceMask where = {}) {
    Workload w = workload(job, job, 1, demand);
    if (lasts != Millis::max()) w.estimate = {lasts, lasts};
    tell(state_, Submitted{w}, state_.now());
    tell(state_, Bound{MemberId(job), NodeId(node), where}, state_.now());
  }
  void make_mixed(std::uint32_t node) {
    NodeFacts facts = node_facts(node);
    facts.devices = devices_with(kHalfAndHalf, half_and_half());
    tell(state_, NodeSeen{NodeId(node), facts}, state_.now());
  }
  /// One job on each node: the first ends after 1 s, the next after 2 s, ...
  void fill(DemandId demand = kOneDevice) {
    for (std::uint32_t n = 0; n < kSixNodes; ++n) run_on(n, n, Millis(1'000 * (n + 1)), demand);
  }
  void submit_pair(LevelId within, DemandId demand = kEightWhole, ConstraintId constraint = kAnywhere) {
    Workload w = workload(kPair, kPair, 2, demand);
    w.within = within;
    for (MemberSpec& m : w.members) m.constraint = constraint;
    tell(state_, Submitted{w}, state_.now());
  }
  /// When the pair can start at the earliest, with what was kept and made anew.
  Millis earliest(Millis now = Millis(0)) {
    const NeededSlots needed = needed_slots(state_, JobId(kPair));
    const Millis kept = earliest(availability_, needed, now);
    Availability anew;
    EXPECT_EQ(earliest(anew, needed, now), kept);
    return kept;
  }

  State state_;
  Availability availability_;

 private:
  Millis earliest(Availability& availability, const NeededSlots& needed, Millis now) {
    availability.bring_up(state_, now);
    return std::max(availability.earliest_fit(state_, needed.largest), availability.earliest_fit(state_, needed.all));
  }
};

TEST_F(AvailabilityOfRacks, IsNowWhereNodesAreIdle) {
  submit_pair(kTheirRack);
  EXPECT_EQ(earliest(), Millis(0));
}

TEST_F(AvailabilityOfRacks, IsWhenOneRackHasTheNodes) {
  fill();
  submit_pair(kTheirRack);
  EXPECT_EQ(earliest(), Millis(2'000)) << "nodes 0 and 1";
  tell(state_, EstimateChanged{JobId(1u), {Millis(60'000), Millis(60'000)}});
  EXPECT_EQ(earliest(), Millis(4'000)) << "nodes 2 and 3";
  tell(state_, Ended{JobId(5u)});
  EXPECT_EQ(earliest(), Millis(4'000)) << "the sixth node is in no rack";
}

TEST_F(AvailabilityOfRacks, IsAnywhereForAJobThatMayBeApart) {
  fill();
  submit_pair(LevelId::none());
  tell(state_, Ended{JobId(5u)});
  EXPECT_EQ(earliest(), Millis(1'000));
}

TEST_F(AvailabilityOfRacks, IsInTheRackThatTheJobHasJoined) {
  for (std::uint32_t n = 1; n < kSixNodes; ++n) run_on(n, n, Millis(10'000 - 1'000 * n));
  submit_pair(kTheirRack);
  tell(state_, Bound{MemberId(kPair), NodeId(0u), {}});
  EXPECT_EQ(earliest(), Millis(9'000)) << "on the other node of its rack, the last";
}

TEST_F(AvailabilityOfRacks, CountsNoEndOfTheJobItself) {
  for (std::uint32_t n = 1; n < kSixNodes; ++n) run_on(n, n, Millis(10'000 - 1'000 * n), kFourDevices);
  submit_pair(kTheirRack);
  tell(state_, EstimateChanged{JobId(kPair), {Millis(500), Millis(500)}});
  tell(state_, Bound{MemberId(kPair), NodeId(1u), {}});
  tell(state_, Bound{MemberId(kPair + 1), NodeId(0u), {}});
  tell(state_, MembersAdded{JobId(kPair), 2, {{MemberId(kPair + 2), kEightWhole, kAnywhere}}});
  EXPECT_EQ(earliest(), Millis::max()) << "its own members have both nodes of its rack";
  tell(state_, Evicted{JobId(kPair), Millis(0), MemberId(kPair)});
  EXPECT_EQ(earliest(), Millis(9'000));
}

TEST_F(AvailabilityOfRacks, IsNeverWhereAJobHasNoKnownEnd) {
  for (std::uint32_t n = 0; n < kSixNodes; n += kPerRack) run_on(n, n, Millis::max());
  submit_pair(kTheirRack);
  EXPECT_EQ(earliest(), Millis::max());
}

TEST_F(AvailabilityOfRacks, IsWhenAllDevicesAreIdleWhereThatSaysMore) {
  for (std::uint32_t n = 0; n < kSixNodes; ++n) run_on(n, n, Millis(1'000 * (n + 1)), kFourDevices);
  Workload w = workload(kPair, kPair, 5, kSixWhole);
  w.within = kTheirRack;
  w.members[0].demand = kEightWhole;
  for (std::size_t m = 2; m < 5; ++m) w.members[m].demand = kOneDevice;
  tell(state_, Submitted{w});
  EXPECT_EQ(earliest(), Millis::max()) << "17 devices in a rack of 16";
  tell(state_, MemberGone{MemberId(kPair + 4)});
  tell(state_, MembersAdded{JobId(kPair), 4, {}});
  EXPECT_EQ(earliest(), Millis(2'000)) << "one node is enough for the largest";
}

TEST_F(AvailabilityOfRacks, FollowsJobsThatOutlastTheirEnds) {
  fill();
  submit_pair(LevelId::none());
  EXPECT_EQ(earliest(Millis(500)), Millis(2'000));
  EXPECT_EQ(earliest(Millis(1'000)), Millis(2'000)) << "the first is put off until then";
  EXPECT_EQ(earliest(Millis(2'000)), Millis(3'000)) << "both are";
  EXPECT_EQ(earliest(Millis(4'000)), Millis(5'000));
  EXPECT_EQ(earliest(Millis(500)), Millis(2'000)) << "time has run backwards";
}

TEST_F(AvailabilityOfRacks, FollowsNodesThatComeGoOrMove) {
  fill();
  submit_pair(kTheirRack);
  EXPECT_EQ(earliest(), Millis(2'000));
  tell(state_, NodeGone{NodeId(1u)});
  EXPECT_EQ(earliest(), Millis(4'000));
  NodeFacts moved = node_facts(2);
  moved.domains = {DomainId(2u)};
  tell(state_, NodeSeen{NodeId(2u), moved});
  EXPECT_EQ(earliest(), Millis(5'000)) << "nodes 2 and 4";
  moved.is_ready = false;
  tell(state_, NodeSeen{NodeId(2u), moved});
  EXPECT_EQ(earliest(), Millis::max());
  for (const std::uint32_t n : {20u, 21u}) {
    NodeFacts added = eight_devices();
    added.devices.count = 16;
    added.domains = {DomainId(9u)};
    tell(state_, NodeSeen{NodeId(n), added});
  }
  EXPECT_EQ(earliest(), Millis(0));
}

TEST_F(AvailabilityOfRacks, FollowsMembersThatRunningJobsLoseAndGet) {
  Workload gang = workload(0, 0, 2, kOneDevice);
  gang.members_min = 1;
  gang.estimate = {kLater, kLater};
  tell(state_, Submitted{gang});
  tell(state_, Bound{MemberId(0u), NodeId(0u), {}});
  for (std::uint32_t n = 2; n < kSixNodes; ++n) run_on(10 + n, n, kLast);
  submit_pair(kTheirRack);
  EXPECT_EQ(earliest(), kLater);
  tell(state_, Bound{MemberId(1u), NodeId(1u), {}});
  tell(state_, Evicted{JobId(0u), Millis(0), MemberId(0u)});
  EXPECT_EQ(earliest(), kLater) << "it is on the other node of that rack";
  tell(state_, Evicted{JobId(0u), Millis(0), MemberId(1u)});
  EXPECT_EQ(earliest(), Millis(0));
}

TEST_F(AvailabilityOfRacks, IsOfTheClassesThatAreAccepted) {
  fill();
  NodeFacts second = node_facts(0);
  second.devices.device_class = kSecond;
  for (const std::uint32_t n : {4u, 5u}) tell(state_, NodeSeen{NodeId(n), second});
  submit_pair(LevelId::none(), kEightWhole, kOfTheSecond);
  EXPECT_EQ(earliest(), Millis(6'000)) << "nodes 4 and 5";
  tell(state_, ConstraintChanged{MemberId(kPair), kOfTheFirst});
  EXPECT_EQ(earliest(), Millis(2'000)) << "the members may be of unlike classes: any two nodes";
  tell(state_, ConstraintChanged{MemberId(kPair + 1), kOfTheFirst});
  tell(state_, Ended{JobId(4u)});
  EXPECT_EQ(earliest(), Millis(2'000)) << "node 4 is idle, and of the other class";
  tell(state_, ConstraintChanged{MemberId(kPair), kOfEither});
  EXPECT_EQ(earliest(), Millis(1'000));
}

TEST_F(AvailabilityOfRacks, CountsDevicesOfAMixedNodeByTheirClass) {
  for (std::uint32_t n = 2; n < kSixNodes; ++n) run_on(10 + n, n, kLast, kEightWhole);
  for (const std::uint32_t n : {0u, 1u}) make_mixed(n);
  run_on(0, 0, kSoon, kOneDevice, devices(0x01));
  run_on(1, 1, kLater, kOneDevice, devices(0x80));
  submit_pair(LevelId::none(), kFourDevices, kOfTheSecond);
  EXPECT_EQ(earliest(), kLater) << "on node 0 four of the second class are idle, on node 1 three";
  tell(state_, Ended{JobId(kPair)});
  submit_pair(LevelId::none(), kFourDevices, kOfTheFirst);
  EXPECT_EQ(earliest(), kSoon);
}

TEST_F(AvailabilityOfRacks, LeavesToTheTrialWhatHoldsMayYield) {
  fill();
  submit_pair(kTheirRack);
  Hold hold{.job = JobId(50u), .parts = {{.member = {MemberId(50u), kFourDevices, kAnywhere}, .node = NodeId(0u)}}};
  hold.owner.job = JobId(kPair);
  tell(state_, HoldPlaced{hold});
  ASSERT_FALSE(state_.yielding().empty());
  EXPECT_EQ(earliest(), Millis(0));
}

TEST_F(AvailabilityOfRacks, CountsWhatIsHeldForNobodyUntilItsEnd) {
  fill();
  submit_pair(kTheirRack);
  Hold hold{.job = JobId(50u), .parts = {{.member = {MemberId(50u), kFourDevices, kAnywhere}, .node = NodeId(0u)}}};
  hold.until = Millis(3'000);
  tell(state_, HoldPlaced{hold});
  EXPECT_EQ(earliest(), Millis(3'000));
}

TEST_F(AvailabilityOfRacks, IsTheSameAfterMoreChangesThanAreRemembered) {
  fill();
  submit_pair(kTheirRack);
  EXPECT_EQ(earliest(), Millis(2'000));
  for (std::size_t i = 0; i < Timeline::kChangesMax; ++i)
    tell(state_, EstimateChanged{JobId(1u), {Millis(10'000), Millis(5'000 + static_cast<std::int64_t>(i % 7))}});
  EXPECT_EQ(earliest(), Millis(4'000));
}

TEST_F(AvailabilityOfRacks, CopiesAreTheirOwn) {
  fill();
  submit_pair(kTheirRack);
  EXPECT_EQ(earliest(), Millis(2'000));
  State other = state_;
  Availability copy = availability_;
  tell(other, Ended{JobId(0u)});
  tell(other, Ended{JobId(1u)});
  copy.bring_up(other, Millis(0));
  EXPECT_EQ(copy.earliest_fit(other, needed_slots(other, JobId(kPair)).largest), Millis(0));
  EXPECT_EQ(earliest(), Millis(2'000));
}

TEST_F(AvailabilityOfRacks, ByTheMedianIsOfEachTime) {
  for (std::uint32_t n = 0; n < kSixNodes; ++n) {
    Workload w = workload(n, n, 1, kOneDevice);
    w.estimate = {Millis(1'000), Millis(5'000)};
    tell(state_, Submitted{w});
    tell(state_, Bound{MemberId(n), NodeId(n), {}});
  }
  submit_pair(kTheirRack);
  const SlotRequest pair = needed_slots(state_, JobId(kPair)).largest;
  Availability median(EndsBy::kMedian);
  median.bring_up(state_, Millis(0));
  EXPECT_EQ(median.earliest_fit(state_, pair), Millis(1'000));
  median.bring_up(state_, Millis(1'500));
  EXPECT_EQ(median.earliest_fit(state_, pair), Millis(5'000)) << "all outlast their median";
}

TEST_F(AvailabilityOfRacks, ForgetsTheKindsThatWereAskedForLongAgo) {
  fill();
  submit_pair(kTheirRack);
  EXPECT_EQ(earliest(), Millis(2'000));
  SlotRequest other{.kind = {.devices = 8, .classes = {}}, .count = 7};
  for (std::size_t i = 0; i <= Availability::kProfilesMax; ++i) {
    other.kind.classes = {DeviceClassId(10 + static_cast<std::uint32_t>(i))};
    EXPECT_EQ(availability_.earliest_fit(state_, other), Millis::max());
  }
  tell(state_, Ended{JobId(1u)});
  EXPECT_EQ(earliest(), Millis(1'000));
}

}  // namespace
}  // namespace ashlar
