// What is left of an amount that halves again and again.
#include "base/decay.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ashlar {
namespace {

constexpr Millis kDay{86'400'000};

TEST(Decay, HalvesInEachHalfLife) {
  EXPECT_EQ(share_left(Millis(0), kDay), 1.0);
  EXPECT_EQ(share_left(kDay, kDay), 0.5);
  EXPECT_EQ(share_left(Millis(3 * kDay.value), kDay), 0.125);
}

TEST(Decay, IsAPowerOfTwoBetween) {
  for (std::int64_t part = 1; part < 1000; part += 7) {
    const double share = static_cast<double>(part) / 1000;
    EXPECT_NEAR(share_left(Millis(kDay.value / 1000 * part), kDay), std::exp2(-share), 1e-11) << part;
  }
  EXPECT_NEAR(share_left(Millis(1), kDay), 1.0, 1e-8);
  EXPECT_LT(share_left(Millis(1), kDay), 1.0);
}

TEST(Decay, ThereIsNothingAfterVeryLong) {
  EXPECT_EQ(share_left(Millis(INT64_MAX), Millis(1)), 0.0);
  EXPECT_GT(share_left(Millis(2000), Millis(2)), 0.0) << "half as much again and again";
  EXPECT_EQ(share_left(Millis(1074), Millis(1)), std::ldexp(1.0, -1074)) << "as small as a number can be";
  EXPECT_EQ(share_left(Millis(1076), Millis(1)), 0.0);
}

TEST(Decay, TimesThatGoBackAndNoHalfLifeAreNoTrouble) {
  EXPECT_EQ(share_left(Millis(-5), kDay), 1.0);
  EXPECT_EQ(share_left(Millis(5), Millis(0)), 0.0);
}

}  // namespace
}  // namespace ashlar
