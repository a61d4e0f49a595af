// What a member holds of its devices is what it was granted, whatever it requests: in the columns, in its queue, in
// trials and after a restart.
#include <gtest/gtest.h>

#include "small_state.h"
#include "state/cluster/usable_devices.h"
#include "state/state_fields.h"
#include "state/trial.h"

namespace ashlar {
namespace {

constexpr NodeId kNode{0u};
constexpr JobId kJob{0u};
constexpr MemberId kMember{0u};

/// A node of four devices of 40,000 MiB and a member that requests these.
State with_member(const DeviceRequest& request) {
  State s;
  tell(s, QueueDefined{QueueId(0u), {}, {kUnlimited, kUnlimited, kUnlimited}});
  NodeFacts facts;
  facts.allocatable = {64'000, std::int64_t{1} << 40, 0, 100};
  facts.devices = {.count = 4, .memory_each = MiB(40'000), .device_class = {}};
  tell(s, NodeSeen{kNode, facts});
  tell(s, DemandDefined{DemandId(0u), {{{resource::kPods, 1}}, request, {}}});
  tell(s, ConstraintDefined{ConstraintId(0u), {}});
  tell(s, Submitted{{.job = kJob, .queue = QueueId(0u), .members = {{kMember, DemandId(0u), ConstraintId(0u)}}}});
  return s;
}

std::int32_t free_milli(const State& s, std::size_t device) { return s.cluster().device_free_milli(kNode)[device]; }
std::int64_t free_mib(const State& s, std::size_t device) { return s.cluster().device_free_mib(kNode)[device]; }
std::int64_t quota_used(const State& s) { return s.queues().used(QueueId(0u))[0]; }

const DeviceRequest kShare{1, MilliGpu(500), MiB(10'000)};
const DeviceGrants kOther{{2, {.milli = MilliGpu(300), .memory = MiB(25'000)}}};

TEST(DeviceGrants, AreWhatIsTakenAndWhatTheQueueIsChargedWith) {
  State s = with_member(kShare);
  const std::uint64_t digest = s.digest();
  tell(s, Bound{kMember, kNode, devices(4), kOther});
  EXPECT_EQ(free_milli(s, 2), 700);
  EXPECT_EQ(free_mib(s, 2), 15'000);
  EXPECT_EQ(quota_used(s), 300);
  EXPECT_TRUE(s.is_consistent());
  tell(s, Evicted{kJob, Millis(0), kMember});
  EXPECT_EQ(free_milli(s, 2), 1000);
  EXPECT_EQ(free_mib(s, 2), 40'000);
  EXPECT_EQ(s.digest(), digest);
}

TEST(DeviceGrants, ThatAreWhatIsRequestedNeedNoRow) {
  State s = with_member(kShare), other = with_member(kShare);
  tell(s, Bound{kMember, kNode, devices(4), grants_of(devices(4), requested_share(kShare))});
  tell(other, Bound{kMember, kNode, devices(4)});
  EXPECT_TRUE(s.member(kMember).grants.is_none());
  EXPECT_EQ(s.digest(), other.digest());
}

TEST(DeviceGrants, OfAnotherAmountAreAnotherState) {
  State s = with_member(kShare), other = with_member(kShare);
  tell(s, Bound{kMember, kNode, devices(4), kOther});
  tell(other, Bound{kMember, kNode, devices(4), {{2, {MilliGpu(300), 1, MiB(25'000)}}}});
  EXPECT_NE(s.digest(), other.digest()) << "slices are part of it";
}

TEST(DeviceGrants, OverrideWhatWasAssumed) {
  State s = with_member(kShare);
  {
    Trial trial(s);
    trial.place(kMember, kNode, devices(4));
    trial.commit();
  }
  EXPECT_EQ(free_milli(s, 2), 500);
  tell(s, Bound{kMember, kNode, devices(4), kOther});
  EXPECT_EQ(free_milli(s, 2), 700);
  const std::uint64_t digest = s.digest();
  tell(s, Bound{kMember, kNode, devices(4), kOther});
  tell(s, Bound{kMember, kNode, {}});
  EXPECT_EQ(s.digest(), digest) << "confirmed twice";
}

TEST(DeviceGrants, NeedNotBeTheSameOfEachDevice) {
  State s = with_member({2, MilliGpu(1000), MiB(0)});
  tell(s, Bound{kMember, kNode, devices(3), {{0, {MilliGpu(1000)}}, {1, {MilliGpu(250)}}}});
  EXPECT_EQ(free_milli(s, 0), 0);
  EXPECT_EQ(free_milli(s, 1), 750);
  EXPECT_EQ(s.cluster().idle_devices()[0], 2);
  EXPECT_EQ(quota_used(s), 1250);
}

TEST(DeviceGrants, OfDevicesThatTheNodeLosesAreOwedAsRequested) {
  State s = with_member({2, MilliGpu(1000), MiB(0)});
  tell(s, Bound{kMember, kNode, devices(9), {{0, {MilliGpu(400)}}, {3, {MilliGpu(400)}}}});
  tell(s, NodeDevicesChanged{kNode, {.count = 3, .memory_each = MiB(40'000), .device_class = {}}});
  EXPECT_EQ(free_milli(s, 0), 600);
  EXPECT_EQ(s.cluster().idle_devices()[0], 1) << "three, less one in part taken and one owed";
  EXPECT_EQ(quota_used(s), 1400);
  EXPECT_TRUE(s.is_consistent());
}

/// The device plugin of the node starts again: it reports this many devices, and then all.
class GrantsThatGoAndReturn : public ::testing::TestWithParam<int> {
 protected:
  void report(State& s, int count) const {
    tell(s, NodeDevicesChanged{kNode, {.count = count, .memory_each = MiB(40'000), .device_class = {}}});
    EXPECT_TRUE(s.is_consistent());
    EXPECT_TRUE(StateFields::are_sound(s));
  }
};
INSTANTIATE_TEST_SUITE_P(To, GrantsThatGoAndReturn, ::testing::Values(0, 1, 3));

TEST_P(GrantsThatGoAndReturn, AreWhatTheyWere) {
  State s = with_member({3, MilliGpu(1000), MiB(0)});
  tell(s, Bound{kMember, kNode, devices(11), {{0, {MilliGpu(400)}}, {1, {MilliGpu(1000)}}, {3, {MilliGpu(250), 5}}}});
  const std::uint64_t digest = s.digest();
  report(s, GetParam());
  report(s, 4);
  EXPECT_EQ(s.digest(), digest);
  EXPECT_EQ(free_milli(s, 0), 600);
  EXPECT_EQ(free_milli(s, 3), 750);
  EXPECT_EQ(quota_used(s), 1650);
}

TEST_P(GrantsThatGoAndReturn, AreThoseOfAShare) {
  State s = with_member(kShare);
  const DeviceGrants other{{3, {.milli = MilliGpu(300), .memory = MiB(25'000)}}};
  tell(s, Bound{kMember, kNode, devices(8), other});
  report(s, GetParam());
  EXPECT_TRUE(s.member(kMember).grants.is_none());
  EXPECT_EQ(quota_used(s), 500) << "what is owed is what is requested";
  report(s, 4);
  EXPECT_EQ(free_milli(s, 3), 700);
  EXPECT_EQ(free_mib(s, 3), 15'000);
  EXPECT_EQ(quota_used(s), 300);
}

TEST_P(GrantsThatGoAndReturn, AreThoseThatAreHeardOfWhileTheyAreAway) {
  State s = with_member(kShare);
  report(s, GetParam());
  const DeviceGrants other{{3, {.milli = MilliGpu(300), .memory = MiB(25'000)}}};
  tell(s, Bound{kMember, kNode, devices(8), other});
  const std::uint64_t digest = s.digest();
  tell(s, Bound{kMember, kNode, devices(8), other});
  EXPECT_EQ(s.digest(), digest) << "heard twice";
  report(s, 4);
  EXPECT_EQ(free_milli(s, 3), 700);
  report(s, GetParam());
  tell(s, Bound{kMember, kNode, devices(8)});
  report(s, 4);
  EXPECT_EQ(free_milli(s, 3), 500) << "heard otherwise: it holds what it requests";
  EXPECT_EQ(free_mib(s, 3), 30'000);
}

TEST(DeviceGrants, AreTakenAgainByATrialThatIsUndone) {
  State s = with_member(kShare);
  tell(s, Bound{kMember, kNode, devices(4), kOther});
  const std::uint64_t digest = s.digest();
  {
    Trial trial(s);
    trial.evict(kMember);
    EXPECT_EQ(free_milli(s, 2), 1000);
    trial.place(kMember, kNode, devices(1));
    EXPECT_EQ(free_milli(s, 0), 500) << "placed anew it holds what it requests";
  }
  EXPECT_EQ(free_milli(s, 2), 700);
  EXPECT_EQ(s.digest(), digest);
  EXPECT_TRUE(s.is_consistent());
}

TEST(DeviceGrants, RowsThatNobodyNamesAreUsedAgain) {
  State s = with_member(kShare);
  for (std::int32_t milli = 1; milli < 1000; ++milli)
    tell(s, Bound{kMember, kNode, devices(4), {{2, {MilliGpu(milli)}}}});
  State again = s;
  StateFields::forget_caches(again);
  EXPECT_EQ(again.digest(), s.digest());
  EXPECT_TRUE(again.is_consistent());
  std::size_t rows = 0;
  StateFields::each(std::as_const(s), [&](const auto& column) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(column)>, std::vector<DeviceGrants>>)
      rows = column.size();
  });
  EXPECT_LE(rows, 20u);
  EXPECT_GT(rows, 0u);
}

TEST(DeviceGrants, OfTheQuotaOfAClassCountByDevice) {
  State s = with_member({2, MilliGpu(1000), MiB(0)});
  DeviceLayout layout;
  for (std::uint32_t i = 0; i < 4; ++i) layout.devices.push_back({.device_class = DeviceClassId(i / 2)});
  tell(s, DeviceLayoutDefined{DeviceLayoutId(0u), layout});
  tell(s, NodeDevicesChanged{kNode, devices_with(DeviceLayoutId(0u), layout)});
  const DeviceGrants grants{{1, {MilliGpu(300)}}, {2, {MilliGpu(900)}}};
  const auto counted = [&](std::uint32_t of_class) {
    return counted_for(s.cluster(), kNode, s.demand(DemandId(0u)), {devices_of(grants), grants},
                       {ResourceId::none(), DeviceClassId(of_class)});
  };
  EXPECT_EQ(counted(0), 300);
  EXPECT_EQ(counted(1), 900);
}

}  // namespace
}  // namespace ashlar
