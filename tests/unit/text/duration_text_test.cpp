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
  EXPECT_EQ(*parse_duration("90"), Millis(90'000)) << "a number alone is seconds";
  EXPECT_EQ(*parse_duration("5min"), Millis(300'000));
  EXPECT_EQ(*parse_duration("1d1h1m1s1ms"), Millis(90'061'001));
  EXPECT_EQ(*parse_duration("1w"), Millis(604'800'000));
  EXPECT_EQ(*parse_duration("36500d"), kDurationMax);
}

TEST(Durations, WhatIsNotADurationIsRefused) {
  for (const char* bad :
       {"",    "s", "8 s",   "-8s", "8y",    "1500us", "8s5", "0s5",       "1h30", "1e3",
        "nan", "h", "1h-3m", "1hh", "1s-1s", "36501d", "s1",  "36500d1ms", "1h1",  "999999999999999999h"})
    EXPECT_FALSE(parse_duration(bad).ok()) << bad;
}

TEST(Durations, ALongTextIsCutWhereItIsQuotedSoThatWhatIsWrongIsRead) {
  EXPECT_EQ(parse_duration(std::string(250'000, '9')).error().message,
            "\"" + std::string(64, '9') + "\" is not a duration; write for example 90s, 500ms, 1h30m or 2d");
}

TEST(Durations, HaveAFormForEachLength) {
  const std::pair<std::int64_t, const char*> cases[] = {
      {0, "0ms"},
      {999, "999ms"},
      {1'000, "1.0s"},
      {3'240, "3.2s"},
      {59'900, "59.9s"},
      {59'999, "60.0s"},
      {60'000, "1m00s"},
      {61'999, "1m01s"},
      {3'599'999, "59m59s"},
      {3'600'000, "1h00m"},
      {4'320'000, "1h12m"},
      {172'799'999, "47h59m"},
      {172'800'000, "2d0h"},
      {216'000'000, "2d12h"},
      {345'599'999, "3d23h"},
  };
  for (const auto& [millis, text] : cases) EXPECT_EQ(duration_text(Millis(millis)), text) << millis;
}

}  // namespace
}  // namespace ashlar::config
