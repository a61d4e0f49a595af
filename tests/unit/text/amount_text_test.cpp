// Amounts as people read them.
#include "text/amount_text.h"

#include <gtest/gtest.h>

#include "model/demand.h"

namespace ashlar {
namespace {

TEST(Amounts, AmountsAreSaidInTheUnitOfTheirResource) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  EXPECT_EQ(quota_text(0, 8'000), "8 GPU");
  EXPECT_EQ(quota_text(0, 0), "0 GPU");
  EXPECT_EQ(quota_text(0, 8'001), "8.001 GPU");
  EXPECT_EQ(quota_text(0, 250), "0.250 GPU");
  EXPECT_EQ(quota_text(1, 1'000), "1 core");
  EXPECT_EQ(quota_text(1, 999), "0.999 cores");
  EXPECT_EQ(quota_text(1, 2'500), "2.5 cores");
  EXPECT_EQ(quota_text(2, 16 * kGiB), "16 GiB");
  EXPECT_EQ(quota_text(2, kGiB / 2), "0.5 GiB");
  EXPECT_EQ(quota_text(3, 77), "77") << "a dimension that this program does not know";
  EXPECT_EQ(amount_text(resource::kCpu, 2'000), "2 cores");
  EXPECT_EQ(amount_text(resource::kMemory, 3 * kGiB), "3 GiB");
  EXPECT_EQ(amount_text(resource::kEphemeralStorage, 4 * kGiB), "4 GiB");
  EXPECT_EQ(amount_text(resource::kPods, 5), "5");
  EXPECT_EQ(amount_text(ResourceId(resource::kFirstExtended), 6'000), "6000");
}

TEST(Amounts, NodesAreCountedInWords) {
  EXPECT_EQ(node_count_text(1), "1 node");
  EXPECT_EQ(node_count_text(3), "3 nodes");
}

}  // namespace
}  // namespace ashlar
