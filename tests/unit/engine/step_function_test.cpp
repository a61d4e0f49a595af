// Units that become available over time, compared with a sorted list of their times.
#include "engine/reserve/step_function.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"

namespace ashlar {
namespace {

TEST(StepFunction, HasUnitsFromTheirTimesOn) {
  StepFunction step;
  step.add(Millis(20), 3);
  step.add(Millis(10));
  EXPECT_EQ(step.units(), 4u);
  EXPECT_EQ(step.first_with(0), Millis(0)) << "none are always there";
  EXPECT_EQ(step.first_with(1), Millis(10));
  EXPECT_EQ(step.first_with(2), Millis(20));
  EXPECT_EQ(step.first_with(4), Millis(20));
  EXPECT_EQ(step.first_with(5), Millis::max()) << "more than ever come";
  step.remove(Millis(20), 2);
  EXPECT_EQ(step.first_with(2), Millis(20));
  EXPECT_EQ(step.first_with(3), Millis::max());
}

TEST(StepFunction, IsEmptyAgainWhenAllHaveGone) {
  StepFunction step;
  step.add(Millis(5), 2);
  step.remove(Millis(5), 2);
  EXPECT_EQ(step, StepFunction());
  EXPECT_EQ(step.first_with(1), Millis::max());
}

TEST(StepFunctionDeathTest, GivesBackNoUnitThatItHasNot) {
  StepFunction step;
  step.add(Millis(5), 2);
  EXPECT_DEATH(step.remove(Millis(5), 3), "");
  EXPECT_DEATH(step.remove(Millis(4)), "");
}

/// Few times, so that many units come at once and lie in several blocks.
TEST(StepFunction, EqualsASortedList) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    std::vector<Millis> naive;
    for (std::uint64_t n = rng.below(2000); n > 0; --n)
      naive.emplace_back(static_cast<std::int64_t>(rng.below(1 + 30 * seed)));
    std::ranges::sort(naive);
    StepFunction step(naive);
    for (int turn = 0; turn < 300; ++turn) {
      const Millis at(static_cast<std::int64_t>(rng.below(1 + 30 * seed)));
      const auto [first, last] = std::ranges::equal_range(naive, at);
      std::size_t units = rng.below(200);
      if (rng.below(2) == 0) {
        step.add(at, units);
        naive.insert(first, units, at);
      } else {
        units = std::min<std::size_t>(units, static_cast<std::size_t>(last - first));
        step.remove(at, units);
        naive.erase(first, first + static_cast<std::ptrdiff_t>(units));
      }
      ASSERT_EQ(step.units(), naive.size());
      const std::size_t asked = rng.below(naive.size() + 2);
      const Millis expected = asked == 0 ? Millis(0) : asked > naive.size() ? Millis::max() : naive[asked - 1];
      ASSERT_EQ(step.first_with(asked), expected) << "seed " << seed << ", " << asked << " units";
    }
    ASSERT_EQ(step.times(), naive);
  }
}

}  // namespace
}  // namespace ashlar
