// Devices of several classes on one node: which of them a member may take, and what it counts as.
#include "state/cluster/usable_devices.h"

#include <gtest/gtest.h>

#include "model/quota.h"
#include "state/cluster/cluster.h"

namespace ashlar {
namespace {

constexpr NodeId kMixed{0u}, kPlain{1u};
constexpr DeviceClassId kFast{0u}, kSlow{1u};
constexpr DeviceLayoutId kLayout{0u};

/// Devices 0 and 1 are fast, 2 and 3 slow; 3 is sliced.
DeviceLayout two_and_two() {
  const DeviceFacts fast{.device_class = kFast, .memory = MiB(80'000)};
  DeviceFacts slow{.device_class = kSlow, .memory = MiB(40'000)};
  DeviceLayout layout{{fast, fast, slow, slow}};
  layout.devices[3].mode = DeviceMode::kSliced;
  return layout;
}

Cluster two_nodes() {
  Cluster cluster;
  cluster.define(kLayout, two_and_two());
  NodeFacts facts;
  facts.allocatable = {64'000, 0, 0, 100};
  facts.devices = devices_with(kLayout, two_and_two());
  cluster.upsert_node(kMixed, facts);
  facts.devices = {4, MiB(40'000), kSlow};
  cluster.upsert_node(kPlain, facts);
  return cluster;
}

Constraint accepting(DeviceClassId model) {
  Constraint c;
  c.models = {model};
  return c;
}

Demand devices_of(std::int32_t count) {
  return {.amounts = {{resource::kCpu, 1000}}, .devices = {count, MilliGpu(1000), MiB(0)}};
}

TEST(UsableDevices, AreOfAnAcceptedClassWithEnoughMemoryAndNotSliced) {
  const Cluster cluster = two_nodes();
  const auto usable = [&](const Constraint& constraint, std::int64_t mib) {
    return usable_devices(cluster, kMixed, constraint, {1, MilliGpu(1000), MiB(mib)}).low;
  };
  EXPECT_EQ(usable({}, 0), 0b0111u);
  EXPECT_EQ(usable(accepting(kFast), 0), 0b0011u);
  EXPECT_EQ(usable(accepting(kSlow), 0), 0b0100u);
  EXPECT_EQ(usable({}, 60'000), 0b0011u);
  EXPECT_EQ(usable(accepting(kSlow), 60'000), 0u);
}

TEST(UsableDevices, HaveTheCapabilitiesThatAreNamed) {
  constexpr CapabilityId kFp8{0u}, kMig{1u};
  Cluster cluster = two_nodes();
  const auto usable = [&](std::vector<CapabilityId> capabilities, std::vector<DeviceClassId> classes = {}) {
    const Constraint c{.models = std::move(classes), .capabilities = std::move(capabilities)};
    return usable_devices(cluster, kMixed, c, {1, MilliGpu(1000), MiB(0)}).low;
  };
  EXPECT_EQ(usable({kFp8}), 0u);
  cluster.define(kFast, {{}, {kFp8, kMig}});
  cluster.define(kSlow, {{}, {kMig}});
  EXPECT_EQ(usable({kFp8}), 0b0011u);
  EXPECT_EQ(usable({kMig}), 0b0111u) << "but not the sliced one";
  EXPECT_EQ(usable({kMig}, {kSlow}), 0b0100u);
  EXPECT_EQ(usable({kFp8, kMig}, {kSlow}), 0u);
}

TEST(UsableDevices, OfAUniformNodeAreAllOfThem) {
  const Cluster cluster = two_nodes();
  const DeviceRequest more{1, MilliGpu(1000), MiB(60'000)};
  EXPECT_EQ(usable_devices(cluster, kPlain, accepting(kFast), more).among(4).count(), 4) << "the rules judge the node";
}

TEST(UsableDevices, WhatIsOwedMayBeAnyOfThem) {
  Cluster cluster = two_nodes();
  const DeviceRequest one{1, MilliGpu(1000), MiB(0)};
  EXPECT_EQ(usable_idle(cluster, kMixed, accepting(kFast), one), 2);
  cluster.allocate(kMixed, devices_of(1), {});
  EXPECT_EQ(usable_idle(cluster, kMixed, accepting(kFast), one), 1);
  EXPECT_EQ(usable_idle(cluster, kMixed, accepting(kSlow), one), 0);
}

TEST(UsableDevices, CountAsOfTheirOwnClass) {
  const Cluster cluster = two_nodes();
  const QuotaKey fast{ResourceId::none(), kFast}, slow{ResourceId::none(), kSlow}, all{ResourceId::none(), {}};
  const auto counted = [&](const DeviceMask& devices, const QuotaKey& key) {
    return counted_for(cluster, kMixed, devices_of(3), devices, key);
  };
  EXPECT_EQ(counted({0b0111, 0}, fast), 2000);
  EXPECT_EQ(counted({0b0111, 0}, slow), 1000);
  EXPECT_EQ(counted({0b0111, 0}, all), 3000);
  EXPECT_EQ(counted({0b0100, 0}, fast), 2000) << "the two that are owed count as of the first device's class";
  EXPECT_EQ(counted_for(cluster, kPlain, devices_of(3), {}, slow), 3000);
}

TEST(UsableDevices, OtherResourcesCountOnceAsOfTheClassOfTheFirstDevice) {
  const Cluster cluster = two_nodes();
  const QuotaKey cpu_on_fast{resource::kCpu, kFast}, cpu_on_slow{resource::kCpu, kSlow};
  const auto counted = [&](const DeviceMask& devices, const QuotaKey& key) {
    return counted_for(cluster, kMixed, devices_of(2), devices, key);
  };
  EXPECT_EQ(counted({0b0110, 0}, cpu_on_fast), 1000);
  EXPECT_EQ(counted({0b0110, 0}, cpu_on_slow), 0);
  EXPECT_EQ(counted({0b1100, 0}, cpu_on_slow), 1000);
  EXPECT_EQ(counted({}, cpu_on_fast), 1000) << "of a member without devices: of the node's first";
}

TEST(DeviceLayouts, SayOfTheNodeWhatAllDevicesShare) {
  const NodeDevices mixed = devices_with(kLayout, two_and_two());
  EXPECT_EQ(mixed, (NodeDevices{4, MiB(0), DeviceClassId::none(), kLayout}));
  DeviceLayout islands{std::vector<DeviceFacts>(4, {.device_class = kFast, .memory = MiB(80'000)})};
  islands.devices[3].island = 1;
  EXPECT_EQ(devices_with(kLayout, islands), (NodeDevices{4, MiB(80'000), kFast, kLayout}));
  EXPECT_FALSE(is_mixed(islands));
  EXPECT_TRUE(is_mixed(two_and_two()));
}

TEST(DeviceLayouts, ListTheNodesWhoseDevicesDiffer) {
  Cluster cluster = two_nodes();
  ASSERT_EQ(cluster.layouts().mixed_nodes().size(), 1u);
  EXPECT_EQ(cluster.layouts().mixed_nodes()[0], kMixed);
  EXPECT_TRUE(cluster.models()[kMixed.row()].is_none());
  EXPECT_TRUE(cluster.has_class(kMixed, kSlow));
  EXPECT_TRUE(cluster.is_used(kLayout));
  cluster.set_devices(kMixed, {4, MiB(0), kFast});
  EXPECT_TRUE(cluster.layouts().mixed_nodes().empty());
  EXPECT_FALSE(cluster.has_class(kMixed, kSlow));
  EXPECT_FALSE(cluster.is_used(kLayout));
  EXPECT_TRUE(cluster.is_consistent());
}

}  // namespace
}  // namespace ashlar
