// An ascending list in short blocks has what one sorted list has.
#include "base/sorted_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"

namespace ashlar {
namespace {

std::vector<int> list_of(const Blocks<int>& blocks) {
  std::vector<int> list;
  for (auto it = begin_of(blocks); it != end_of(blocks); ++it) list.push_back(*it);
  return list;
}

TEST(SortedBlocks, AreAsOneSortedList) {
  constexpr std::size_t kBlockMax = 8;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    Blocks<int> blocks;
    std::vector<int> all;
    for (int step = 0; step < 300; ++step) {
      const bool grows = step < 150 ? rng.below(4) > 0 : rng.below(4) == 0;
      if (grows || all.empty()) {
        const int value = static_cast<int>(rng.below(1000));
        insert_into(blocks, value, kBlockMax);
        all.insert(std::ranges::lower_bound(all, value), value);
      } else {
        const auto it = all.begin() + static_cast<std::ptrdiff_t>(rng.below(all.size()));
        erase_from(blocks, *it, kBlockMax);
        all.erase(it);
      }
      if (rng.below(40) == 0) {
        const int least = static_cast<int>(rng.below(200));
        const auto is_less = [&](int value) { return value < least; };
        const auto end = std::ranges::lower_bound(all, least);
        ASSERT_EQ(take_front(blocks, is_less), std::vector<int>(all.begin(), end)) << "seed " << seed;
        all.erase(all.begin(), end);
      }
      ASSERT_EQ(list_of(blocks), all) << "seed " << seed;
      ASSERT_TRUE(std::ranges::all_of(blocks, [](const auto& b) { return !b.empty() && b.size() <= kBlockMax; }));
    }
  }
}

TEST(SortedBlocks, ShortNeighboursBecomeOne) {
  Blocks<int> blocks;
  for (int value = 0; value < 64; ++value) insert_into(blocks, value, 8);
  EXPECT_GE(blocks.size(), 8u);
  for (int value = 63; value >= 0; --value)
    if (value % 8 != 0) erase_from(blocks, value, 8);
  EXPECT_EQ(list_of(blocks), (std::vector<int>{0, 8, 16, 24, 32, 40, 48, 56}));
  EXPECT_LE(blocks.size(), 4u);
}

TEST(SortedBlocksDeathTest, WhatIsNotThereIsNotErased) {
  Blocks<int> blocks;
  EXPECT_DEATH(erase_from(blocks, 1, 8), "");
  insert_into(blocks, 2, 8);
  EXPECT_DEATH(erase_from(blocks, 1, 8), "");
  EXPECT_DEATH(erase_from(blocks, 3, 8), "");
}

}  // namespace
}  // namespace ashlar
