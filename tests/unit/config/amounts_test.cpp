// Amounts and durations, good and bad.
#include "config/amounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ashlar::config {
namespace {

using ::testing::HasSubstr;

TEST(Amounts, SuffixesAreThoseOfKubernetes) {
  EXPECT_EQ(*parse_amount("640", 1), 640);
  EXPECT_EQ(*parse_amount("4Ti", 1), 4ll << 40);
  EXPECT_EQ(*parse_amount("1500m", 1000), 1500);
  EXPECT_EQ(*parse_amount("2.5", 1000), 2500);
  EXPECT_EQ(*parse_amount("0.5Ki", 1), 512);
  EXPECT_EQ(*parse_amount("3k", 1), 3000);
  EXPECT_EQ(*parse_amount("0", 1000), 0);
}

TEST(Amounts, FractionsOfTheUnitAreRoundedUp) {
  EXPECT_EQ(*parse_amount("1500m", 1), 2);
  EXPECT_EQ(*parse_amount("1n", 1000), 1);
}

TEST(Amounts, WhatIsNotAnAmountIsRefused) {
  for (const char* bad : {"", "-1", "1 Gi", "Gi", "1gi", "1KiB", ".", "1.2.3", "1e3", "12345678901234567890"})
    EXPECT_FALSE(parse_amount(bad, 1).ok()) << bad;
  EXPECT_THAT(parse_amount("10E", 1).error().message, HasSubstr("too large"));
  EXPECT_THAT(parse_amount("9Ei", 1000).error().message, HasSubstr("too large"));
  EXPECT_EQ(*parse_amount("9E", 1), 9'000'000'000'000'000'000);
}

TEST(Durations, UnitsAddUp) {
  EXPECT_EQ(*parse_duration("8s"), Millis(8000));
  EXPECT_EQ(*parse_duration("1m30s"), Millis(90'000));
  EXPECT_EQ(*parse_duration("1.5h"), Millis(5'400'000));
  EXPECT_EQ(*parse_duration("500ms"), Millis(500));
  EXPECT_EQ(*parse_duration("2000us"), Millis(2));
  EXPECT_EQ(*parse_duration("0"), Millis(0));
}

TEST(Durations, WhatIsNotADurationIsRefused) {
  for (const char* bad : {"", "8", "s", "8 s", "-8s", "8d", "1500us", "8s5", "999999999999999999h"}) EXPECT_FALSE(parse_duration(bad).ok()) << bad;
}

}  // namespace
}  // namespace ashlar::config
