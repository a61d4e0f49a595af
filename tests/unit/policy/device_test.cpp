// Which devices each device policy takes: best-fit, random, fgd.
#include "small_cluster.h"

namespace ashlar {
namespace {

TEST(Devices, WholeDevicesAreAlwaysTheFirstIdleOnes) {
  SmallCluster c{{.devices = 6}};
  c.leave(NodeId(0), {1000, 500, 1000, 0});
  for (const DevicePolicy& p : device_policies())
    EXPECT_EQ(c.devices(p.name, NodeId(0), demand_of(0, 3)), mask_of({0, 2, 4})) << p.name;
}

TEST(Devices, BestFitTakesTheFittingDeviceWithLeastFree) {
  SmallCluster c{{.devices = 4}};
  c.leave(NodeId(0), {600, 300, 200, 300});
  EXPECT_EQ(c.devices("best-fit", NodeId(0), demand_of(0, 1, 250)), mask_of({1})) << "the first of two equal ones";
  EXPECT_EQ(c.devices("best-fit", NodeId(0), demand_of(0, 1, 700)), mask_of({})) << "nothing fits, nothing is taken";
}

TEST(Devices, BestFitLooksAtMemoryToo) {
  SmallCluster c{{.devices = 2, .mib_per_device = 1000}};
  c.cluster.allocate(NodeId(0), demand_of(0, 1, 500, 900), mask_of({0}));
  EXPECT_EQ(c.devices("best-fit", NodeId(0), demand_of(0, 1, 100, 200)), mask_of({1}));
}

TEST(Devices, RandomTakesEveryFittingDeviceAboutAsOften) {
  SmallCluster c{{.devices = 4}};
  c.leave(NodeId(0), {600, 100, 400, 1000});
  std::vector<int> taken(4, 0);
  for (c.draw = 0; c.draw < 3000; ++c.draw) {
    const DeviceMask mask = c.devices("random", NodeId(0), demand_of(0, 1, 400));
    ASSERT_EQ(mask.count(), 1);
    for (int device = 0; device < 4; ++device) taken[static_cast<std::size_t>(device)] += mask.test(device) ? 1 : 0;
  }
  EXPECT_EQ(taken[1], 0);
  for (const std::size_t device : {0u, 2u, 3u}) EXPECT_NEAR(taken[device], 1000, 120);
}

TEST(Devices, FgdTakesTheFirstDeviceOfTheBestScore) {
  FgdMix mix;
  mix.classes = {{1000, 1, 500, {}, 1.0}};
  SmallCluster c{{.devices = 3}};
  c.mix = &mix;
  c.leave(NodeId(0), {1000, 300, 700});
  // 300 from the idle device leaves 700: F unchanged, 50. From the 300: F falls by 300, 57. From the 700: F grows by
  // 400, 40.
  EXPECT_EQ(c.devices("fgd", NodeId(0), demand_of(0, 1, 300)), mask_of({1}));
}

TEST(Devices, FgdKnowsNoMemoryAndBestFitChoosesWhereItsDeviceLacksIt) {
  FgdMix mix;
  mix.classes = {{1000, 1, 500, {}, 1.0}};
  SmallCluster c{{.devices = 3, .mib_per_device = 1000}};
  c.mix = &mix;
  c.cluster.allocate(NodeId(0), demand_of(0, 1, 700, 950), mask_of({1}));
  c.cluster.allocate(NodeId(0), demand_of(0, 1, 300), mask_of({2}));
  EXPECT_EQ(c.devices("fgd", NodeId(0), demand_of(0, 1, 300, 50)), mask_of({1}));
  EXPECT_EQ(c.devices("fgd", NodeId(0), demand_of(0, 1, 300, 51)), mask_of({2}));
}

TEST(Devices, AnIdleDeviceThatIsOwedIsNotShared) {
  FgdMix mix;
  mix.classes = {{1000, 1, 1000, {}, 1.0}};
  SmallCluster c{{.devices = 2}};
  c.mix = &mix;
  c.leave(NodeId(0), {600});
  c.cluster.allocate(NodeId(0), demand_of(0, 1), {});
  for (const DevicePolicy& p : device_policies())
    for (c.draw = 0; c.draw < 20; ++c.draw)
      EXPECT_EQ(c.devices(p.name, NodeId(0), demand_of(0, 1, 100)), mask_of({0})) << p.name;
}

TEST(Devices, OfUnlikeDevicesTheLastIdleOneOfAKindIsLeftToWhatIsOwed) {
  SmallCluster c;
  const DeviceFacts fast{.device_class = DeviceClassId(0u)}, slow{.device_class = DeviceClassId(1u)};
  const DeviceLayout layout{{fast, slow, slow}};
  c.cluster.define(DeviceLayoutId(0u), layout);
  NodeFacts facts = facts_of({});
  facts.devices = devices_with(DeviceLayoutId(0u), layout);
  c.add(facts);
  c.cluster.allocate(NodeId(0), demand_of(0, 1), {});
  for (const DevicePolicy& p : device_policies())
    for (c.draw = 0; c.draw < 20; ++c.draw)
      EXPECT_EQ(c.devices(p.name, NodeId(0), demand_of(0, 1, 100)), mask_of({1})) << p.name;
  EXPECT_EQ(c.fits("card-fit", demand_of(0, 1, 100)), std::vector<int>{10}) << "ten on that one";
}

TEST(Devices, EveryPolicyIsFoundByItsName) {
  for (const DevicePolicy& p : device_policies()) EXPECT_EQ(find_device(p.name), &p);
  EXPECT_EQ(find_device("nonsense"), nullptr);
}

}  // namespace
}  // namespace ashlar
