// Quantities as Kubernetes writes them, good and bad.
#include "text/quantity_text.h"

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
  for (const char* text : {"9223372036854775808", "10E", "8Ei", "1e19", "1e40", "1e999999999",
                           "99999999999999999999999999999999999999999999"}) {
    EXPECT_FALSE(parse_quantity(text, 1).ok()) << text;
    EXPECT_EQ(parse_quantity(text, 1, Overflow::kSaturate).value(), std::numeric_limits<std::int64_t>::max()) << text;
  }
  EXPECT_FALSE(parse_quantity("9223372036854775807", 1000).ok());
  EXPECT_THAT(parse_quantity("9Ei", 1000).error().message, HasSubstr("too large"));
}

TEST(Quantity, RefusesMalformedText) {
  for (const char* text : {"", "abc", "1x", "1.2.3", "1 Gi", "Gi", "1KI", "1ki", "1K", "--1", "1e", "1e+", "1ee3",
                           "0x10", "1mm", ".", "+", "1Kib", "1e3m"})
    EXPECT_FALSE(parse_quantity(text, 1, Overflow::kSaturate).ok()) << text;
}

TEST(Quantity, EverySuffixAndEveryRefusalInATable) {
  const std::string number = " is not a number; write for example 640, 1500m, 2.5 or 4Ti",
                    large = " is too large or has too many digits";
  const std::string suffix = " has an unknown suffix; write for example 640, 1500m, 2.5 or 4Ti";
  const std::pair<std::string, std::string> cases[] = {
      {"1Ki", "1024"},
      {"1Mi", "1048576"},
      {"1Gi", "1073741824"},
      {"1Ti", "1099511627776"},
      {"1Pi", "1125899906842624"},
      {"1Ei", "1152921504606846976"},
      {"1k", "1000"},
      {"1M", "1000000"},
      {"1G", "1000000000"},
      {"1T", "1000000000000"},
      {"1P", "1000000000000000"},
      {"1E", "1000000000000000000"},
      {"1001n", "1"},
      {"1000000001n", "2"},
      {"1000001u", "2"},
      {"1000000u", "1"},
      {"1E+2", "100"},
      {"100e-2", "1"},
      {"101e-2", "2"},
      {"1e-1001", "1"},
      {"0e99", "0"},
      {"0.000", "0"},
      {"-0", "0"},
      {"000000000000000000000000000000000000000007", "7"},
      {"7.000000000000000000000000000000000000000000", "7"},
      {"1.000000000000000000000000000001", "!\"1.000000000000000000000000000001\"" + large},
      {"1.00000000000000000000000000001", "2"},
      {"0.000000000000000000000000000000000001", "1"},
      {"0.0000000000000000000000000000000000001", "!\"0.0000000000000000000000000000000000001\"" + large},
      {"999999999999999999999999999999n", "!\"999999999999999999999999999999n\"" + large},
      {"1e36", "!\"1e36\"" + large},
      {"1e37", "!\"1e37\"" + large},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775807", "-9223372036854775807"},
      {"9223372036854775808", "!\"9223372036854775808\"" + large},
      {"7.99999Ei", "9223360507639729740"},
      {"", "!\"\"" + number},
      {"-", "!\"-\"" + number},
      {"m", "!\"m\"" + number},
      {"1..", "!\"1..\" has two decimal points"},
      {"1i", "!\"1i\"" + suffix},
      {"1mi", "!\"1mi\"" + suffix},
      {"1e", "!\"1e\"" + suffix},
      {"1e+", "!\"1e+\"" + suffix},
      {"1e5x", "!\"1e5x\"" + suffix},
      {"1f5", "!\"1f5\"" + suffix},
      {std::string(65, 'x'), "!\"" + std::string(64, 'x') + "\"" + number},
  };
  for (const auto& [text, expected] : cases) {
    const Result<std::int64_t> read = parse_quantity(text, 1);
    const std::string got =
        read.ok() ? std::to_string(*read) : "!" + read.error().message.substr(std::string("quantity ").size());
    EXPECT_EQ(got, expected) << text;
  }
}

}  // namespace
}  // namespace ashlar
