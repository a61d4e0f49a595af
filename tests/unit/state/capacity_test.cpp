// What nodes have of what quotas count: all devices or those of one class, and resources of nodes of one class.
#include "state/cluster/capacity.h"

#include <gtest/gtest.h>

#include "small_state.h"

namespace ashlar {
namespace {

/// A node of eight devices, and one of a large device and two that are like those.
class CapacityTest : public ::testing::Test {
 protected:
  CapacityTest() {
    const DeviceLayout layout{{{.device_class = kLarge}, {.device_class = kClass}, {.device_class = kClass}}};
    tell(state, DeviceLayoutDefined{DeviceLayoutId(0u), layout});
    NodeFacts mixed = eight_devices();
    mixed.allocatable[0] = 10'000;
    mixed.devices = devices_with(DeviceLayoutId(0u), layout);
    tell(state, NodeSeen{kMixed, mixed});
  }
  std::int64_t of(NodeId node, const QuotaKey& key) const { return capacity_of(state.cluster(), node, key); }
  std::int64_t of_all(const QuotaKey& key) const { return capacity_of(state.cluster(), key); }

  static QuotaKey devices_of(DeviceClassId of) { return {ResourceId::none(), of}; }
  static QuotaKey cores_of(DeviceClassId of) { return {resource::kCpu, of}; }

  static constexpr NodeId kPlain{0u}, kMixed{1u};
  static constexpr DeviceClassId kClass{0u}, kLarge{1u}, kAbsent{2u};
  static constexpr QuotaKey kDevices{}, kCores{resource::kCpu, {}};
  State state = small_state(1);
};

TEST_F(CapacityTest, DevicesAreCountedInThousandthsByTheirClass) {
  EXPECT_EQ(of(kPlain, kDevices), 8000);
  EXPECT_EQ(of(kMixed, kDevices), 3000);
  EXPECT_EQ(of(kPlain, devices_of(kClass)), 8000);
  EXPECT_EQ(of(kPlain, devices_of(kLarge)), 0);
  EXPECT_EQ(of(kMixed, devices_of(kClass)), 2000);
  EXPECT_EQ(of(kMixed, devices_of(kLarge)), 1000);
  EXPECT_EQ(of_all(devices_of(kClass)), 10'000);
  EXPECT_EQ(of_all(devices_of(kAbsent)), 0);
}

TEST_F(CapacityTest, ResourcesOfAMixedNodeCountAsOfTheClassOfItsFirstDevice) {
  EXPECT_EQ(of_all(kCores), 74'000);
  EXPECT_EQ(of_all(cores_of(kClass)), 64'000);
  EXPECT_EQ(of_all(cores_of(kLarge)), 10'000);
  EXPECT_EQ(of_all({ResourceId(resource::kRowsMax - 1), {}}), 0) << "no node has it";
}

TEST_F(CapacityTest, ANodeThatIsGoneHasNothing) {
  tell(state, NodeGone{kPlain});
  EXPECT_EQ(of(kPlain, kDevices), 0);
  EXPECT_EQ(of(kPlain, kCores), 0);
  EXPECT_EQ(of_all(kDevices), 3000);
}

TEST_F(CapacityTest, ASumBeyondInt64IsTheLargest) {
  NodeFacts huge = eight_devices();
  huge.allocatable[1] = std::int64_t{1} << 60;
  for (std::uint32_t n = 2; n < 12; ++n) tell(state, NodeSeen{NodeId(n), huge});
  EXPECT_EQ(of_all({resource::kMemory, {}}), INT64_MAX);
}

}  // namespace
}  // namespace ashlar
