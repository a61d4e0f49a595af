// What queues have left, asked once for each queue, against the limits one by one; and the comparison that spares a
// class that one of them refused the others.
#include <gtest/gtest.h>

#include "../state/small_state.h"
#include "base/rng.h"
#include "engine/pending/quota_news.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

constexpr QueueId kAboveAll{1u};
constexpr std::uint32_t kQueuesBelow = 3, kRunningJobs = 30, kWaitingJobs = 12;

QuotaVector devices_and_cores(std::int64_t devices, std::int64_t cores) {
  return {devices < 0 ? kUnlimited : devices * 1000, cores < 0 ? kUnlimited : cores * 1000, kUnlimited};
}

/// A queue with three below it, some of which have limits, and jobs that run and wait in all of them.
State drawn_queues(std::uint64_t seed) {
  Rng rng(seed);
  const auto limit = [&](std::uint64_t most) {
    return rng.below(4) == 0 ? std::int64_t{-1} : static_cast<std::int64_t>(rng.below(most));
  };
  State state = small_state(12);
  const std::int64_t devices = limit(60);
  tell(state, QueueDefined{kAboveAll, QueueId(0u), devices_and_cores(devices, limit(60))});
  for (std::uint32_t q = 0; q < kQueuesBelow; ++q) {
    const std::int64_t here = limit(30);
    tell(state, QueueDefined{QueueId(2 + q), kAboveAll, devices_and_cores(here, limit(30))});
  }
  const DemandId demands[] = {kOneDevice, kFourDevices, kHalfADevice, kNoDevices};
  std::uint32_t member = 0;
  for (std::uint32_t job = 0; job < kRunningJobs + kWaitingJobs; ++job) {
    const auto members = 1 + static_cast<std::uint32_t>(rng.below(3));
    Workload w = workload(job, member, members, demands[rng.below(4)]);
    w.queue = QueueId(1 + rng.below(kQueuesBelow + 1));
    if (rng.below(4) == 0) w.members_min = 1;
    tell(state, Submitted{w});
    for (std::uint32_t m = 0; m < members && job < kRunningJobs; ++m)
      tell(state, Bound{MemberId(member + m), NodeId(job % 12), {}});
    member += members;
  }
  return state;
}

TEST(QuotaLeft, AdmitsWhatNoLimitRefuses) {
  int refused = 0, admitted = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const State state = drawn_queues(seed);
    QuotaLeft left(state);
    for (std::uint32_t job = kRunningJobs; job < kRunningJobs + kWaitingJobs; ++job) {
      const bool is_refused = quota_refusal(state, JobId(job)).has_value();
      ASSERT_EQ(left.admits(JobId(job)), !is_refused) << "seed " << seed << ", job " << job;
      (is_refused ? refused : admitted) += 1;
    }
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(admitted, 1000);
}

TEST(QuotaNews, AreNoneWhereTheLimitThatRefusedRefusesStill) {
  int as_before = 0, news = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    State state = drawn_queues(seed);
    for (std::uint32_t job = kRunningJobs; job < kRunningJobs + kWaitingJobs; ++job) {
      const std::optional<Reason> refusal = quota_refusal(state, JobId(job));
      if (!refusal || refusal->code != ReasonCode::kQuotaExhausted) continue;
      PendingQueue::Class parked;
      parked.key = class_of(state, JobId(job));
      parked.jobs.insert({false, {}, 0, JobId(job)});
      parked.verdict = {VerdictKind::kOverQuota, WakeOn::kQuota, Millis(0), {*refusal}};
      ASSERT_TRUE(is_refused_as_before(state, parked)) << "seed " << seed << ", job " << job;
      State later = state;
      for (std::uint32_t ended = 0; ended < kRunningJobs; ++ended) {
        tell(later, Ended{JobId(ended)});
        const bool is_news = is_quota_news_for(later, parked);
        ASSERT_FALSE(is_news && is_refused_as_before(later, parked)) << "seed " << seed << ", job " << job;
        (is_news ? news : as_before) += 1;
      }
    }
  }
  EXPECT_GT(as_before, 1000);
  EXPECT_GT(news, 1000);
}

TEST(QuotaNews, OfAQueueThatHasMovedAreNotToldByTheFormerLimit) {
  constexpr QueueId kOrg{1u}, kTeam{2u};
  State state = small_state(2);
  tell(state, QueueDefined{kOrg, QueueId(0u), devices_and_cores(4, -1)});
  tell(state, QueueDefined{kTeam, kOrg, devices_and_cores(-1, -1)});
  for (std::uint32_t job = 0; job < 3; ++job) {
    Workload w = workload(job, job, 1, kFourDevices);
    w.queue = job < 2 ? kTeam : kOrg;
    tell(state, Submitted{w});
  }
  tell(state, Bound{MemberId(0u), NodeId(0u), {}});
  PendingQueue::Class parked;
  parked.key = class_of(state, JobId(1u));
  parked.jobs.insert({false, {}, 0, JobId(1u)});
  parked.verdict = {VerdictKind::kOverQuota, WakeOn::kQuota, Millis(0), {*quota_refusal(state, JobId(1u))}};
  EXPECT_TRUE(is_refused_as_before(state, parked));
  tell(state, Bound{MemberId(2u), NodeId(1u), {}});
  tell(state, QueueDefined{kTeam, QueueId(0u), devices_and_cores(-1, -1)});
  EXPECT_FALSE(is_refused_as_before(state, parked)) << "the other queue is still full";
  EXPECT_TRUE(is_quota_news_for(state, parked));
}

}  // namespace
}  // namespace ashlar
