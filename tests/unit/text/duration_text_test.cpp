// Durations, good and bad.
#include "text/duration_text.h"

#include <gtest/gtest.h>

namespace ashlar::config {
namespace {

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
