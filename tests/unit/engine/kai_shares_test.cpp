// KAI-Scheduler's fair shares: the example of the documentation, and what holds for any queues.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "engine/published/kai/fair_shares.h"

namespace ashlar::kai {
namespace {

constexpr std::int64_t kGpuUnit = 1000;

std::vector<std::int64_t> gpus(std::vector<std::int64_t> milli) {
  for (std::int64_t& amount : milli) amount /= kGpuUnit;
  return milli;
}
Claim claim_of(std::int64_t deserved, std::int64_t request, std::int64_t weight, std::int32_t priority = 0) {
  return {.deserved = deserved * kGpuUnit,
          .request = request * kGpuUnit,
          .weight = weight * QueueRank::kWeightOne,
          .priority = priority};
}

TEST(KaiShares, DivideWhatIsLeftOverByWeight) {
  const std::vector<Claim> claims = {claim_of(2, 10, 1), claim_of(2, 10, 2), claim_of(0, 1, 1)};
  EXPECT_EQ(gpus(fair_shares(claims, 10 * kGpuUnit, kGpuUnit)), (std::vector<std::int64_t>{3, 6, 1}));
}

TEST(KaiShares, GiveTheRestToTheHighestPriorityFirst) {
  const std::vector<Claim> claims = {claim_of(1, 10, 1, 1), claim_of(0, 4, 1, 9), claim_of(0, 10, 1, 1)};
  EXPECT_EQ(gpus(fair_shares(claims, 8 * kGpuUnit, kGpuUnit)), (std::vector<std::int64_t>{3, 4, 1}));
}

TEST(KaiShares, AreWhatIsDeservedAlsoWhereThereIsLess) {
  const std::vector<Claim> claims = {claim_of(6, 10, 1), claim_of(6, 10, 1)};
  EXPECT_EQ(gpus(fair_shares(claims, 8 * kGpuUnit, kGpuUnit)), (std::vector<std::int64_t>{6, 6}));
}

TEST(KaiShares, CountWhatWasUsedBefore) {
  std::vector<Claim> claims = {claim_of(0, 10, 1), claim_of(0, 10, 1)};
  claims[0].usage = 0.5;  // parts as 0.5 to 1
  EXPECT_EQ(gpus(fair_shares(claims, 9 * kGpuUnit, kGpuUnit)), (std::vector<std::int64_t>{3, 6}));
  claims[0].usage = 1;  // all that it could have
  EXPECT_EQ(gpus(fair_shares(claims, 9 * kGpuUnit, kGpuUnit)), (std::vector<std::int64_t>{0, 9}));
}

RC_GTEST_PROP(KaiShares, LeaveNothingThatAnybodyLacks, ()) {
  const auto count = static_cast<std::size_t>(*rc::gen::inRange(1, 7));
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < count; ++i) {
    Claim claim =
        claim_of(*rc::gen::inRange(0, 5), *rc::gen::inRange(0, 12), *rc::gen::inRange(0, 4), *rc::gen::inRange(0, 3));
    if (*rc::gen::inRange(0, 4) == 0) claim.deserved = kUnlimited;
    if (*rc::gen::inRange(0, 3) == 0) claim.limit = *rc::gen::inRange(0, 10) * kGpuUnit;
    claims.push_back(claim);
  }
  const std::int64_t total = *rc::gen::inRange(0, 30) * kGpuUnit;
  const std::vector<std::int64_t> shares = fair_shares(claims, total, kGpuUnit);
  std::int64_t sum = 0, first = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t wanted = std::min(claims[i].limit, claims[i].request);
    RC_ASSERT(shares[i] >= std::min(claims[i].deserved, wanted));
    RC_ASSERT(shares[i] <= wanted);
    sum += shares[i];
    first += std::min(claims[i].deserved, wanted);
  }
  RC_ASSERT(sum <= std::max(total, first));
  const std::int64_t rest = total - sum;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_lacking = shares[i] < std::min(claims[i].limit, claims[i].request);
    if (rest > 0) RC_ASSERT(!is_lacking || claims[i].weight == 0);
    if (!is_lacking || claims[i].weight == 0) continue;
    std::int64_t extra = 0;  // of lower ones, beyond what they deserve: what rounding left, less than a GPU of each
    for (std::size_t j = 0; j < count; ++j)
      if (claims[j].priority < claims[i].priority)
        extra += shares[j] - std::min({claims[j].deserved, claims[j].limit, claims[j].request});
    RC_ASSERT(extra <= static_cast<std::int64_t>(count) * kGpuUnit);
  }
}

}  // namespace
}  // namespace ashlar::kai
