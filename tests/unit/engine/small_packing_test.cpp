// SmallPacking against the plainest search there is: every member on every node and device.
#include "engine/place/small_packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/rng.h"

namespace ashlar {
namespace {

struct Problem {
  std::vector<Demand> demands;
  std::vector<PackingGroup> groups;
  std::vector<PackingNode> nodes;
};

Demand drawn_demand(Rng& draws) {
  Demand d;
  d.amounts = {{resource::kCpu, 1 + static_cast<std::int64_t>(draws.next() % 4)}};
  switch (draws.next() % 4) {
    case 0:
      break;
    case 1:
      d.devices = {1, MilliGpu(300 + 200 * static_cast<std::int32_t>(draws.next() % 3)),
                   MiB(static_cast<std::int64_t>(draws.next() % 3) * 30)};
      break;
    default:
      d.devices = {1 + static_cast<std::int32_t>(draws.next() % 2), MilliGpu(kWholeDevice), MiB(0)};
  }
  if (draws.next() % 8 == 0) d.ports = {{6, 0, 80}};
  return d;
}

Problem drawn_problem(std::uint64_t seed) {
  Rng draws(seed);
  Problem p;
  const std::size_t kinds = 2 + draws.next() % 2;
  for (std::size_t g = 0; g < kinds; ++g) p.demands.push_back(drawn_demand(draws));
  for (const Demand& d : p.demands) p.groups.push_back({&d, 1 + static_cast<std::uint32_t>(draws.next() % 2)});
  for (std::size_t n = 0, count = 1 + draws.next() % 3; n < count; ++n) {
    PackingNode node;
    node.free = {2 + static_cast<std::int64_t>(draws.next() % 6)};
    node.full_mib.each = draws.next() % 2 == 0 ? 80 : 0;
    node.idle_devices = static_cast<std::int32_t>(draws.next() % 3);
    const bool is_in_debt = draws.next() % 6 == 0;  // more devices are claimed than it has: none is given out
    if (is_in_debt) node.idle_devices = 0;
    node.milli.assign(static_cast<std::size_t>(node.idle_devices), kWholeDevice);
    node.mib.assign(static_cast<std::size_t>(node.idle_devices), node.full_mib.each);
    if (draws.next() % 3 == 0) {  // a device in use
      node.milli.push_back(600);
      node.mib.push_back(node.full_mib.each == 0 ? 0 : static_cast<std::int64_t>(draws.next() % 2) * 40);
    }
    if (is_in_debt) node.idle_devices = -1;
    for (std::size_t g = 0; g < kinds; ++g) node.allows.push_back(draws.next() % 5 == 0 ? 0 : 1);
    p.nodes.push_back(std::move(node));
  }
  return p;
}

/// Takes the member on the node, a share on this device; false, with the node spoilt, if it has no room.
bool takes(PackingNode& node, const Demand& d, std::size_t device) {
  for (const ResourceAmount& a : d.amounts)
    if ((node.free[a.resource.row()] -= a.amount) < 0) return false;
  for (const HostPort& port : d.ports) {
    if (!node.ports.empty()) return false;
    node.ports.push_back(port);
  }
  if (d.devices.count == 0) return true;
  if (node.idle_devices < 0) return false;
  if (d.devices.is_whole()) {
    std::int32_t missing = d.devices.count;
    for (std::size_t c = 0; c < node.milli.size() && missing > 0; ++c) {
      if (node.milli[c] != kWholeDevice || node.mib[c] != node.full_mib.each) continue;
      node.milli[c] = 0;
      --missing;
    }
    return missing == 0;
  }
  if (device >= node.milli.size() || (node.milli[device] -= d.devices.milli_each.value) < 0) return false;
  if (node.full_mib.each != 0 && node.mib[device] <= 0) return false;
  node.mib[device] -= d.devices.memory_each.value;
  return node.full_mib.each == 0 || node.mib[device] >= 0;
}

bool fits_plainly(const std::vector<PackingNode>& nodes, const std::vector<PackingGroup>& groups, std::size_t group,
                  std::uint32_t placed) {
  if (group == groups.size()) return true;
  if (placed == groups[group].members) return fits_plainly(nodes, groups, group + 1, 0);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (nodes[n].allows[group] == 0) continue;
    for (std::size_t c = 0; c == 0 || c < nodes[n].milli.size(); ++c) {
      std::vector<PackingNode> next = nodes;
      if (takes(next[n], *groups[group].demand, c) && fits_plainly(next, groups, group, placed + 1)) return true;
    }
  }
  return false;
}

TEST(SmallPacking, FindsAPlaceExactlyWhereThereIsOne) {
  int feasible = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Problem p = drawn_problem(seed);
    SmallPacking packing(p.nodes, p.groups);
    std::uint32_t steps = 100'000;
    const bool is_found = packing.search(steps) == SmallPacking::Outcome::kFound;
    ASSERT_EQ(is_found, fits_plainly(p.nodes, p.groups, 0, 0)) << "seed " << seed;
    ASSERT_GT(steps, 0u);
    feasible += is_found ? 1 : 0;
  }
  EXPECT_GT(feasible, 300);
  EXPECT_LT(feasible, 2700);
}

/// One or two nodes with devices of up to three classes, and groups that accept some of the classes.
struct UnlikeDevices {
  Cluster cluster;
  std::vector<Demand> demands;
  std::vector<Constraint> constraints;
  std::vector<PackingGroup> groups;
  std::vector<PackingNode> nodes;
  std::vector<std::vector<std::uint32_t>> class_of;  ///< by node and device

  explicit UnlikeDevices(Rng& draws) {
    const auto below = [&](std::uint64_t bound) { return static_cast<std::uint32_t>(draws.below(bound)); };
    const std::size_t kinds = 2 + below(2);
    demands.resize(kinds);
    constraints.resize(kinds);
    for (std::size_t g = 0; g < kinds; ++g) {
      demands[g].devices = {static_cast<std::int32_t>(1 + below(3)), MilliGpu(kWholeDevice), MiB(0)};
      if (below(4) == 0) demands[g].devices = {1, MilliGpu(400), MiB(0)};
      for (std::uint32_t c = 0; c < 3; ++c)
        if (below(2) == 0) constraints[g].models.emplace_back(c);
      groups.push_back({&demands[g], 1 + below(2), &constraints[g]});
    }
    for (std::uint32_t n = 0, count = 1 + below(2); n < count; ++n) {
      DeviceLayout layout;
      class_of.emplace_back();
      for (std::uint32_t i = 0, devices = 2 + below(3); i < devices; ++i) {
        class_of.back().push_back(below(3));
        layout.devices.push_back({.device_class = DeviceClassId(class_of.back().back())});
      }
      cluster.define(DeviceLayoutId(n), layout);
      NodeFacts facts;
      facts.allocatable = {1000, 0, 0, 100};
      facts.devices = devices_with(DeviceLayoutId(n), layout);
      cluster.upsert_node(NodeId(n), facts);
      const Demand foreign{.amounts = {}, .devices = {1}, .ports = {}};
      if (below(4) == 0) cluster.allocate(NodeId(n), foreign, {});
    }
    for (std::uint32_t n = 0; n < class_of.size(); ++n) {  // they refer to the layouts, which are all defined now
      nodes.push_back(node_as_it_is(cluster, NodeId(n)));
      for (std::size_t g = 0; g < kinds; ++g) {  // by the rule about models, as a rule allows nodes
        bool is_allowed = false;
        for (std::size_t i = 0; i < class_of[n].size(); ++i) is_allowed = is_allowed || accepts(g, n, i);
        nodes.back().allows.push_back(is_allowed ? 1 : 0);
      }
    }
  }

  bool accepts(std::size_t group, std::size_t node, std::size_t device) const {
    const auto& models = constraints[group].models;
    return models.empty() ||
           std::find(models.begin(), models.end(), DeviceClassId(class_of[node][device])) != models.end();
  }
  /// Takes exactly these devices; false, with the node spoilt, if the member may not have them.
  bool takes(PackingNode& node, std::size_t group, std::size_t number, unsigned devices) const {
    const Demand& d = demands[group];
    if (__builtin_popcount(devices) != d.devices.count) return false;
    std::array<std::int32_t, 3> idle{}, taken{};
    std::int32_t owed = -node.idle_devices;
    for (std::size_t c = 0; c < node.milli.size(); ++c)
      if (node.milli[c] == kWholeDevice) ++idle[class_of[number][c]], ++owed;
    if (node.idle_devices < 0) return false;
    for (std::size_t c = 0; c < node.milli.size(); ++c) {
      if ((devices >> c & 1) == 0) continue;
      if (!accepts(group, number, c) || node.milli[c] < d.devices.milli_each.value) return false;
      if (node.milli[c] == kWholeDevice) ++taken[class_of[number][c]], --node.idle_devices;
      node.milli[c] -= d.devices.milli_each.value;
    }
    for (std::size_t k = 0; k < 3; ++k)
      if (taken[k] > 0 && taken[k] > idle[k] - owed) return false;
    return true;
  }
  bool fits(const std::vector<PackingNode>& left, std::size_t group, std::uint32_t placed) const {
    if (group == groups.size()) return true;
    if (placed == groups[group].members) return fits(left, group + 1, 0);
    for (std::size_t n = 0; n < left.size(); ++n)
      for (unsigned devices = 1; devices < 1u << left[n].milli.size(); ++devices) {
        std::vector<PackingNode> next = left;
        if (takes(next[n], group, n, devices) && fits(next, group, placed + 1)) return true;
      }
    return false;
  }
};

TEST(SmallPacking, OfUnlikeDevicesFindsTheRightOnesExactlyWhereThereAreSome) {
  int feasible = 0;
  constexpr int kSeeds = 2000;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Rng draws(seed);
    const UnlikeDevices p(draws);
    SmallPacking packing(p.nodes, p.groups);
    std::uint32_t steps = 100'000;
    const bool is_found = packing.search(steps) == SmallPacking::Outcome::kFound;
    ASSERT_GT(steps, 0u);
    ASSERT_EQ(is_found, p.fits(p.nodes, 0, 0)) << "seed " << seed;
    if (!is_found) continue;
    ++feasible;
    std::vector<PackingNode> left = p.nodes;
    std::size_t rank = 0;
    for (std::size_t g = 0; g < p.groups.size(); ++g)
      for (std::uint32_t m = 0; m < p.groups[g].members; ++m, ++rank) {
        const std::size_t n = packing.node_of_member()[rank];
        const DeviceMask devices = packing.devices_of_member()[rank];
        ASSERT_EQ(devices.is_empty(), p.nodes[n].kinds.empty()) << "those of a node with like devices are not told";
        if (!devices.is_empty()) {
          ASSERT_TRUE(p.takes(left[n], g, n, static_cast<unsigned>(devices.low))) << "seed " << seed;
        }
      }
  }
  EXPECT_GT(feasible, kSeeds / 10);
  EXPECT_LT(feasible, kSeeds * 9 / 10);
}

/// A node may say that each of its devices is of a kind of its own. There is one choice of all 40, and then no room for
/// the other member: that must not be sought among the 2^40 choices of fewer, which no budget counts.
TEST(SmallPacking, EndsWhereEachDeviceIsOfItsOwnKind) {
  constexpr std::int32_t kDevices = 40;
  DeviceLayout layout;
  for (std::uint32_t i = 0; i < kDevices; ++i) layout.devices.push_back({.device_class = DeviceClassId(i)});
  Cluster cluster;
  cluster.define(DeviceLayoutId(0), layout);
  NodeFacts facts;
  facts.allocatable = {10, 0, 0, 100};
  facts.devices = devices_with(DeviceLayoutId(0), layout);
  cluster.upsert_node(NodeId(0), facts);
  std::vector<PackingNode> nodes{node_as_it_is(cluster, NodeId(0))};
  nodes[0].allows = {1, 1};
  const Constraint any;
  Demand all{.amounts = {{resource::kCpu, 6}}, .devices = {kDevices}, .ports = {}};
  const Demand none{.amounts = {{resource::kCpu, 6}}, .devices = {}, .ports = {}};
  const auto search = [&](std::uint32_t& steps) {
    const PackingGroup groups[] = {{&all, 1, &any}, {&none, 1, &any}};
    return SmallPacking(nodes, groups).search(steps);
  };
  std::uint32_t steps = 1000;
  EXPECT_EQ(search(steps), SmallPacking::Outcome::kImpossible);
  EXPECT_EQ(steps, 1000u - 6) << "as of 40 kinds";
  all.amounts.front().amount = 4;
  EXPECT_EQ(search(steps), SmallPacking::Outcome::kFound);
  all.amounts.front().amount = 6;
  all.devices.count = kDevices / 2;
  EXPECT_EQ(search(steps), SmallPacking::Outcome::kBudgetSpent) << "what is tried is counted";
}

TEST(SmallPacking, LeavesManySmallMembersToTheHeuristics) {
  Demand small;
  small.amounts = {{resource::kCpu, 1}};
  std::vector<PackingNode> nodes(1);
  nodes[0].free = {1000};
  nodes[0].allows = {1};
  const auto found = [&](std::uint32_t members) {
    const PackingGroup group{&small, members};
    std::uint32_t steps = 1000;
    return SmallPacking(nodes, {&group, 1}).search(steps);
  };
  EXPECT_EQ(found(256), SmallPacking::Outcome::kFound);
  EXPECT_EQ(found(257), SmallPacking::Outcome::kBudgetSpent);
}

TEST(SmallPacking, StopsWhenItsBudgetIsSpent) {
  Demand small;
  small.amounts = {{resource::kCpu, 1}};
  const PackingGroup group{&small, 2};
  std::vector<PackingNode> nodes(1);
  nodes[0].free = {2};
  nodes[0].allows = {1};
  std::uint32_t steps = 1;
  EXPECT_EQ(SmallPacking(nodes, {&group, 1}).search(steps), SmallPacking::Outcome::kBudgetSpent);
  steps = 2;
  EXPECT_EQ(SmallPacking(nodes, {&group, 1}).search(steps), SmallPacking::Outcome::kFound);
  EXPECT_EQ(steps, 0u);
}

}  // namespace
}  // namespace ashlar
