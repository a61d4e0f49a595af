// The random numbers and hashes are the same on every machine: published vectors, and sums that can be undone.
#include "base/rng.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "base/digest.h"

namespace ashlar {
namespace {

TEST(Rng, FollowsThePublishedSequenceOfSplitmix64) {
  Rng rng(1234567);
  const std::vector<std::uint64_t> published = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                                4593380528125082431u, 16408922859458223821u};
  for (const std::uint64_t expected : published) EXPECT_EQ(rng.next(), expected);
}

RC_GTEST_PROP(Rng, BelowStaysBelow, (std::uint64_t seed)) {
  const auto bound = *rc::gen::inRange<std::uint64_t>(1, 1u << 30);
  Rng rng(seed);
  for (int i = 0; i < 20; ++i) RC_ASSERT(rng.below(bound) < bound);
}

TEST(Rng, UniformFillsTheUnitIntervalEvenly) {
  Rng rng(1);
  std::vector<int> tenths(10);
  for (int i = 0; i < 100000; ++i) {
    const double u = rng.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++tenths[static_cast<std::size_t>(u * 10)];
  }
  for (const int count : tenths) EXPECT_NEAR(count, 10000, 500);  // five standard deviations
}

TEST(Rng, ExponentialHasItsMean) {
  Rng rng(2);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) sum += rng.exponential(60.0);
  EXPECT_NEAR(sum / 100000, 60.0, 1.0);
}

RC_GTEST_PROP(Digest, ASumOfRowHashesForgetsWhatIsSubtracted,
              (std::uint64_t base, std::uint64_t row, std::uint64_t value)) {
  const std::uint64_t hash = hash_combine(mix64(row), value);
  RC_ASSERT(base + hash - hash == base);
  RC_ASSERT(hash_combine(mix64(row), value + 1) != hash);
}

TEST(Digest, BytesAreHashedByThePublishedFnv1a) {
  EXPECT_EQ(hash_bytes("", 0), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_bytes("a", 1), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_bytes("foobar", 6), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace ashlar
