// Pods that others bound may request more than exists: sums of them neither wrap nor are forgotten.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "small_state.h"
#include "state/trial.h"

namespace ashlar {
namespace {

constexpr DemandId kImpossible{5u};
constexpr QueueId kLimited{1u}, kBelowIt{2u}, kElsewhere{3u};
constexpr std::int64_t kLimitedMemory = std::int64_t{1} << 40;

/// A queue under a limit, and a demand of as much as the tracker lets through.
State with_impossible_demand() {
  State state = small_state();
  const std::int64_t most = std::int64_t{1} << 50;
  tell(state, DemandDefined{kImpossible,
                            {.amounts = {{resource::kCpu, most}, {resource::kMemory, most}, {resource::kPods, 1}}}});
  const QuotaLimit limit{{resource::kMemory, DeviceClassId(0u)}, kLimitedMemory};
  tell(state, QueueDefined{kLimited, QueueId(0u), {kUnlimited, kUnlimited, kLimitedMemory}, {limit}});
  tell(state, QueueDefined{kBelowIt, kLimited, {kUnlimited, kUnlimited, kUnlimited}, {}});
  tell(state, QueueDefined{kElsewhere, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}, {}});
  return state;
}

void bind_impossible(State& state, std::uint32_t pod, NodeId node, QueueId queue = kBelowIt) {
  Workload w = workload(pod, pod, 1, kImpossible);
  w.queue = queue;
  tell(state, Submitted{std::move(w)});
  tell(state, Bound{MemberId(pod), node, {}});
}

TEST(Sums, FreeAmountsDoNotWrapHoweverManyPodsOthersBind) {
  State state = with_impossible_demand();
  const std::uint64_t digest = state.cluster().digest();
  const std::int64_t before = state.cluster().free(resource::kCpu)[0];
  constexpr std::uint32_t kPods = 20'000;  // 8,193 of them pass 2^63
  for (std::uint32_t pod = 0; pod < kPods; ++pod) {
    bind_impossible(state, pod, NodeId(0u));
    ASSERT_LT(state.cluster().free(resource::kCpu)[0], 0) << pod;
    ASSERT_LT(state.cluster().free(resource::kMemory)[0], 0) << pod;
  }
  EXPECT_TRUE(state.is_consistent());
  EXPECT_TRUE(state.queues().refusal(kBelowIt, {0, 0, 1})) << "the limit of the queue above it is used up";
  EXPECT_TRUE(state.queues().refusal(0, kBelowIt, 1));
  for (std::uint32_t pod = 0; pod < kPods; ++pod) tell(state, Ended{JobId(pod)});
  EXPECT_EQ(state.cluster().free(resource::kCpu)[0], before);
  EXPECT_EQ(state.cluster().digest(), digest);
  EXPECT_EQ(state.queues().used(kLimited), QuotaVector{});
  EXPECT_FALSE(state.queues().refusal(kBelowIt, {0, 0, kLimitedMemory}));
  EXPECT_TRUE(state.is_consistent());
}

TEST(Sums, AQueueTakesItsExactUsageAlongToAnotherParent) {
  State state = with_impossible_demand();
  constexpr std::uint32_t kPods = 3'000;
  for (std::uint32_t pod = 0; pod < kPods; ++pod) bind_impossible(state, pod, NodeId(pod % 2));
  tell(state, QueueDefined{kBelowIt, kElsewhere, {kUnlimited, kUnlimited, kUnlimited}, {}});
  EXPECT_EQ(state.queues().used(kLimited), QuotaVector{});
  EXPECT_TRUE(state.is_consistent());
  for (std::uint32_t pod = 0; pod < kPods; ++pod) tell(state, Ended{JobId(pod)});
  EXPECT_EQ(state.queues().used(kElsewhere), QuotaVector{});
  EXPECT_EQ(state.queues().used(QueueId(0u)), QuotaVector{});
  EXPECT_TRUE(state.is_consistent());
}

TEST(Sums, ANodeThatIsRemovedAndReturnsBeginsAnew) {
  State state = with_impossible_demand();
  for (std::uint32_t pod = 0; pod < 3'000; ++pod) bind_impossible(state, pod, NodeId(0u));
  tell(state, NodeGone{NodeId(0u)});
  EXPECT_TRUE(state.is_consistent());
  tell(state, NodeSeen{NodeId(0u), eight_devices()});
  EXPECT_EQ(state.cluster().free(resource::kCpu)[0], 64'000);
  EXPECT_TRUE(state.is_consistent());
}

TEST(Sums, ATrialBeyondWhatIsShownIsUndoneExactly) {
  State state = with_impossible_demand();
  Rng rng(3);
  for (std::uint32_t pod = 0; pod < 1'100; ++pod) bind_impossible(state, pod, NodeId(0u));
  const std::uint64_t digest = state.digest();
  for (int round = 0; round < 50; ++round) {
    Trial trial(state);
    for (int step = 0; step < 40; ++step) {
      const MemberId member(rng.below(1'100));
      if (state.member(member).is_placed())
        trial.evict(member);
      else
        trial.place(member, NodeId(rng.below(2)), {});
      const auto amount = static_cast<std::int64_t>(std::uint64_t{1} << rng.below(62));
      trial.block(NodeId(0u), {.amounts = {{resource::kCpu, amount}}}, {});
    }
    ASSERT_TRUE(state.is_consistent());
  }
  EXPECT_EQ(state.digest(), digest);
  EXPECT_TRUE(state.is_consistent());
}

TEST(Sums, QuotaOfAQueueGivenBackAtOnceIsThatOfItsJobs) {
  State state = with_impossible_demand();
  QuotaVector all{};
  for (std::uint32_t job = 0; job < 3; ++job) {
    Workload w = workload(job, job * 2, 2, kFourDevices);
    w.queue = kLimited;
    tell(state, Submitted{w});
    for (std::uint32_t m = 0; m < 2; ++m) {
      tell(state, Bound{MemberId(job * 2 + m), NodeId(0u), {}});
      for (std::size_t d = 0; d < kQuotaDimensions; ++d) all[d] += state.quota_of_demand(kFourDevices)[d];
    }
  }
  const std::uint64_t digest = state.digest();
  QuotaVector here{}, above{};
  {
    Trial trial(state);
    for (std::uint32_t job = 0; job < 3; ++job) trial.give_back_quota(JobId(job));
    here = state.queues().used(kLimited);
    above = state.queues().used(QueueId(0u));
  }
  {
    Trial trial(state);
    trial.give_back_quota(kLimited, all);
    EXPECT_EQ(state.queues().used(kLimited), here);
    EXPECT_EQ(state.queues().used(QueueId(0u)), above);
    EXPECT_NE(state.digest(), digest);
    trial.take_quota_again(JobId(1u));
    trial.evict(JobId(1u));
    EXPECT_EQ(state.queues().used(kLimited), here);
  }
  EXPECT_EQ(state.digest(), digest);
  EXPECT_TRUE(state.is_consistent());
}

}  // namespace
}  // namespace ashlar
