// Lines about what tenants may change as often as they like: a few a minute for each name, of a limited number of names.
#include "live/lead/log.h"

#include <gtest/gtest.h>

namespace ashlar::kube {
namespace {

bool admits(LogPaces& paces, Millis now, const std::string& name) {
  std::string text = "line";
  return paces.admit(now, PooledString(name), text);
}

TEST(LogPaces, EachNameHasItsOwn) {
  LogPaces paces;
  for (std::uint32_t i = 0; i < LogPace::kLinesMax; ++i) EXPECT_TRUE(admits(paces, Millis(1'000), "a"));
  EXPECT_FALSE(admits(paces, Millis(1'000), "a"));
  EXPECT_TRUE(admits(paces, Millis(1'000), "b"));
  EXPECT_TRUE(admits(paces, Millis(1'000) + LogPace::kMinute, "a"));
}

TEST(LogPaces, ThoseOfTooManyNamesShareOneUntilOthersAreForgotten) {
  LogPaces paces;
  const Millis now(1'000);
  for (std::size_t i = 0; i < LogPaces::kNamesMax; ++i) EXPECT_TRUE(admits(paces, now, "n" + std::to_string(i)));
  std::uint32_t admitted = 0;
  for (std::size_t i = 0; i < 100; ++i) admitted += admits(paces, now, "late" + std::to_string(i)) ? 1u : 0u;
  EXPECT_EQ(admitted, LogPace::kLinesMax);
  EXPECT_EQ(paces.size(), LogPaces::kNamesMax);
  EXPECT_TRUE(admits(paces, now + LogPace::kMinute, "later"));
  EXPECT_EQ(paces.size(), 1u);
}

}  // namespace
}  // namespace ashlar::kube
