// SmallPacking against the plainest search there is: every member on every node and device.
#include "engine/place/small_packing.h"

#include <gtest/gtest.h>

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
