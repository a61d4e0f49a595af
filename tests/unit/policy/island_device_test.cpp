// The device policy island against trying every set of devices.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "small_cluster.h"

namespace ashlar {
namespace {

using Places = std::array<std::uint8_t, 3>;  ///< island, NUMA node, PCIe switch

/// How many parts a choice touches, and of one alone how many devices there are; less is better.
using Cost = std::pair<std::size_t, std::size_t>;

struct Drawn {
  std::vector<Places> places;
  std::vector<int> idle;
  SmallCluster small;

  explicit Drawn(Rng& rng) {
    const auto below = [&](std::uint64_t bound) { return static_cast<std::uint8_t>(rng.below(bound)); };
    DeviceLayout layout;
    const int devices = 2 + below(9);
    for (int i = 0; i < devices; ++i) {
      const std::uint8_t island = below(3);
      const auto numa = static_cast<std::uint8_t>(2 * island + below(2));
      places.push_back({island, numa, static_cast<std::uint8_t>(2 * numa + below(2))});
      layout.devices.push_back({.device_class = DeviceClassId(0u),
                                .island = places.back()[0],
                                .numa_node = places.back()[1],
                                .pcie_switch = places.back()[2]});
    }
    small.cluster.define(DeviceLayoutId(0u), layout);
    NodeFacts facts = facts_of({});
    facts.devices = devices_with(DeviceLayoutId(0u), layout);
    small.add(facts);
    for (int i = 0; i < devices; ++i) {
      if (below(3) == 0)
        small.cluster.allocate(NodeId(0u), demand_of(0, 1), mask_of({i}));
      else
        idle.push_back(i);
    }
  }

  std::map<std::uint8_t, std::vector<int>> parts_of(const std::vector<int>& devices, std::size_t level) const {
    std::map<std::uint8_t, std::vector<int>> parts;
    for (const int i : devices) parts[places[static_cast<std::size_t>(i)][level]].push_back(i);
    return parts;
  }
  Cost cost_of(const std::vector<int>& from, const std::vector<int>& chosen, std::size_t level) const {
    const auto touched = parts_of(chosen, level);
    return {touched.size(), touched.size() == 1 ? parts_of(from, level).at(touched.begin()->first).size() : 0};
  }
  /// Whether no other set of as many of these devices is better at this level, and the same inside each part of which
  /// some are chosen.
  bool is_best(const std::vector<int>& from, const std::vector<int>& chosen, std::size_t level) const {
    if (level == 3) return true;
    const Cost cost = cost_of(from, chosen, level);
    for (unsigned set = 1; set < 1u << from.size(); ++set) {
      std::vector<int> others;
      for (std::size_t i = 0; i < from.size(); ++i)
        if ((set >> i & 1) != 0) others.push_back(from[i]);
      if (others.size() == chosen.size() && cost_of(from, others, level) < cost) return false;
    }
    const auto parts = parts_of(from, level);
    for (const auto& [number, some] : parts_of(chosen, level))
      if (!is_best(parts.at(number), some, level + 1)) return false;
    return true;
  }
};

TEST(IslandDevice, TakesTheBestOfAllSets) {
  int in_one = 0, in_several = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Rng rng(seed);
    const Drawn drawn(rng);
    for (std::int32_t count = 1; count <= static_cast<std::int32_t>(drawn.idle.size()); ++count) {
      std::vector<int> chosen;
      drawn.small.devices("island", NodeId(0u), demand_of(0, count)).each([&](int i) { chosen.push_back(i); });
      ASSERT_EQ(chosen.size(), static_cast<std::size_t>(count));
      ASSERT_TRUE(std::includes(drawn.idle.begin(), drawn.idle.end(), chosen.begin(), chosen.end()));
      ASSERT_TRUE(drawn.is_best(drawn.idle, chosen, 0)) << "seed " << seed << ", " << count << " devices";
      ++(drawn.cost_of(drawn.idle, chosen, 0).first == 1 ? in_one : in_several);
    }
  }
  EXPECT_GT(in_one, 2000);
  EXPECT_GT(in_several, 1000);
}

TEST(IslandDevice, LeavesSharesAndNodesWithoutIslandsToBestFit) {
  SmallCluster small({{.devices = 4}});
  small.cluster.allocate(NodeId(0u), demand_of(0, 1, 400), mask_of({2}));
  EXPECT_EQ(small.devices("island", NodeId(0u), demand_of(0, 1, 500)), mask_of({2}));
  EXPECT_EQ(small.devices("island", NodeId(0u), demand_of(0, 2)), mask_of({0, 1}));
  EXPECT_EQ(small.devices("island", NodeId(0u), demand_of(0, 0)), mask_of({}));
}

TEST(IslandDevice, OfIslandsThatAreTooSmallTakesTheLargestWholeAndTheRestFromTheTightest) {
  SmallCluster small;
  DeviceLayout layout;
  for (const int island : {0, 0, 0, 1, 1, 2, 2, 2, 2})
    layout.devices.push_back({.device_class = DeviceClassId(0u), .island = static_cast<std::uint8_t>(island)});
  small.cluster.define(DeviceLayoutId(0u), layout);
  NodeFacts facts = facts_of({});
  facts.devices = devices_with(DeviceLayoutId(0u), layout);
  small.add(facts);
  const auto devices = [&](std::int32_t count) { return small.devices("island", NodeId(0u), demand_of(0, count)); };
  EXPECT_EQ(devices(2), mask_of({3, 4}));
  EXPECT_EQ(devices(3), mask_of({0, 1, 2}));
  EXPECT_EQ(devices(6), mask_of({3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(devices(7), mask_of({0, 1, 2, 5, 6, 7, 8}));
  EXPECT_EQ(devices(8), mask_of({0, 1, 2, 3, 5, 6, 7, 8}));
}

}  // namespace
}  // namespace ashlar
