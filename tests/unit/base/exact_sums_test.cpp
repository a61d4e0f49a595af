#include "base/exact_sums.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace ashlar {
namespace {

using Wide = ExactSums::Wide;
constexpr std::int64_t kMax = ExactSums::kShownMax;

std::int64_t shown(Wide value) {
  return static_cast<std::int64_t>(value > kMax ? kMax : value < -kMax ? -kMax : value);
}

TEST(ExactSums, ShowTheLimitAndComeBackExactly) {
  ExactSums sums;
  std::int64_t cell = 5;
  cell = sums.add(7, cell, -kMax);
  EXPECT_EQ(cell, 5 - kMax);
  cell = sums.add(7, cell, -5);
  EXPECT_EQ(cell, -kMax);
  EXPECT_TRUE(sums.beyond.empty()) << "the limit itself can be shown";
  cell = sums.add(7, cell, -1);
  EXPECT_EQ(cell, -kMax);
  EXPECT_EQ(sums.beyond.size(), 1u);
  EXPECT_EQ(sums.value(7, cell), -Wide{kMax} - 1);
  EXPECT_EQ(sums.value(8, 3), 3);
  EXPECT_TRUE(sums.is_sound([&](std::uint64_t) { return cell; }));
  EXPECT_FALSE(sums.is_sound([&](std::uint64_t) { return cell + 1; }));
  cell = sums.add(7, cell, 6);
  EXPECT_EQ(cell, 5 - kMax);
  EXPECT_TRUE(sums.beyond.empty());
  EXPECT_EQ(sums.digest(), ExactSums().digest());
}

TEST(ExactSums, WithTheLargestAmountsNothingWraps) {
  ExactSums sums;
  std::int64_t cell = 0;
  for (int i = 0; i < 1000; ++i) cell = sums.add(0, cell, INT64_MAX);
  EXPECT_EQ(cell, kMax);
  EXPECT_EQ(sums.value(0, cell), Wide{INT64_MAX} * 1000);
  for (int i = 0; i < 2000; ++i) cell = sums.add(0, cell, -INT64_MAX);
  EXPECT_EQ(cell, -kMax);
  EXPECT_EQ(sums.set(0, 0), 0);
  EXPECT_TRUE(sums.beyond.empty());
}

TEST(ExactSums, AnyOrderOfAddingAndTakingBackLeavesNothing) {
  Rng rng(1);
  for (int life = 0; life < 200; ++life) {
    ExactSums sums;
    std::vector<std::int64_t> cells(4, 0);
    std::vector<Wide> exact(cells.size(), 0);
    std::vector<std::pair<std::size_t, std::int64_t>> added;
    for (int step = 0; step < 200; ++step) {
      const bool takes_back = !added.empty() && rng.below(100) < (step < 100 ? 30u : 80u);
      std::size_t cell = rng.below(cells.size());
      auto amount = static_cast<std::int64_t>(std::uint64_t{1} << rng.below(63)) * (rng.below(2) == 0 ? 1 : -1);
      if (takes_back) {
        const std::size_t which = rng.below(added.size());
        cell = added[which].first;
        amount = -added[which].second;
        added.erase(added.begin() + static_cast<std::ptrdiff_t>(which));
      } else {
        added.emplace_back(cell, amount);
      }
      cells[cell] = sums.add(cell, cells[cell], amount);
      exact[cell] += amount;
      ASSERT_EQ(cells[cell], shown(exact[cell]));
      ASSERT_EQ(sums.value(cell, cells[cell]), exact[cell]);
      ASSERT_TRUE(sums.is_sound([&](std::uint64_t c) { return cells[c]; }));
    }
    for (const auto& [cell, amount] : added) cells[cell] = sums.add(cell, cells[cell], -amount);
    EXPECT_EQ(cells, std::vector<std::int64_t>(cells.size(), 0));
    EXPECT_TRUE(sums.beyond.empty());
  }
}

}  // namespace
}  // namespace ashlar
