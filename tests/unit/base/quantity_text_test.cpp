// Quantities as Kubernetes writes them, good and bad.
#include "base/quantity_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ashlar {
namespace {

using ::testing::HasSubstr;

std::int64_t bytes(const char* text) { return parse_quantity(text, 1).value(); }
std::int64_t milli(const char* text) { return parse_quantity(text, 1000).value(); }

TEST(Quantity, ReadsEveryKubernetesSuffix) {
  EXPECT_EQ(bytes("0"), 0);
  EXPECT_EQ(bytes("129"), 129);
  EXPECT_EQ(bytes("4Ki"), 4096);
  EXPECT_EQ(bytes("1.5Gi"), 1610612736);
  EXPECT_EQ(bytes("2Ei"), 2ll << 60);
  EXPECT_EQ(bytes("3k"), 3000);
  EXPECT_EQ(bytes("1G"), 1'000'000'000);
  EXPECT_EQ(bytes("9E"), 9'000'000'000'000'000'000);
  EXPECT_EQ(bytes("1e3"), 1000);
  EXPECT_EQ(bytes("12E2"), 1200);
  EXPECT_EQ(bytes("1.5e1"), 15);
  EXPECT_EQ(bytes("+7"), 7);
  EXPECT_EQ(bytes("-7"), -7);
  EXPECT_EQ(milli("1500m"), 1500);
  EXPECT_EQ(milli("0.1"), 100);
  EXPECT_EQ(milli(".5"), 500);
  EXPECT_EQ(milli("2."), 2000);
  EXPECT_EQ(milli("100u"), 1) << "a tenth of a milli rounds up";
}

TEST(Quantity, RoundsFractionsAwayFromZero) {
  EXPECT_EQ(bytes("1m"), 1);
  EXPECT_EQ(bytes("1001m"), 2);
  EXPECT_EQ(bytes("-1001m"), -2);
  EXPECT_EQ(bytes("1n"), 1);
  EXPECT_EQ(bytes("0.0000000000000000000001"), 1);
  EXPECT_EQ(bytes("1e-300"), 1);
  EXPECT_EQ(bytes("1000000000n"), 1);
  EXPECT_EQ(milli("0.0005"), 1);
}

TEST(Quantity, IsExactWhereFloatingPointWouldNotBe) {
  EXPECT_EQ(bytes("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(bytes("4611686018427387905"), 4611686018427387905);
  EXPECT_EQ(bytes("0.1Ki"), 103);
  EXPECT_EQ(milli("9007199254740993"), 9007199254740993000);
}

TEST(Quantity, RefusesOrSaturatesWhatDoesNotFit) {
  for (const char* text : {"9223372036854775808", "10E", "8Ei", "1e19", "1e40", "1e999999999", "99999999999999999999999999999999999999999999"}) {
    EXPECT_FALSE(parse_quantity(text, 1).ok()) << text;
    EXPECT_EQ(parse_quantity(text, 1, Overflow::kSaturate).value(), std::numeric_limits<std::int64_t>::max()) << text;
  }
  EXPECT_FALSE(parse_quantity("9223372036854775807", 1000).ok());
  EXPECT_THAT(parse_quantity("9Ei", 1000).error().message, HasSubstr("too large"));
}

TEST(Quantity, RefusesMalformedText) {
  for (const char* text :
       {"", "abc", "1x", "1.2.3", "1 Gi", "Gi", "1KI", "1ki", "1K", "--1", "1e", "1e+", "1ee3", "0x10", "1mm", ".", "+", "1Kib", "1e3m"})
    EXPECT_FALSE(parse_quantity(text, 1, Overflow::kSaturate).ok()) << text;
}

}  // namespace
}  // namespace ashlar
