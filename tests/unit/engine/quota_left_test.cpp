// What queues have left, asked once for each queue, against the limits one by one; and the comparison that spares a
// class that one of them refused the others.
#include <gtest/gtest.h>

#include "../state/small_state.h"
#include "base/rng.h"
#include "engine/engine.h"
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

/// The same, of which some keep guarantees for themselves, borrow only so much, or are held.
State drawn_queues_that_share(std::uint64_t seed) {
  State state = drawn_queues(seed);
  Rng rng(seed);
  const auto thousands = [&](std::uint64_t most) { return 1000 * static_cast<std::int64_t>(rng.below(most)); };
  for (std::uint32_t q = 1; q <= kQueuesBelow + 1; ++q) {
    QueueDefined changed = state.queues().definition(QueueId(q));
    changed.shares = {{.of = quota_key(static_cast<std::int64_t>(rng.below(2))),
                       .guarantee = thousands(30),
                       .borrows = rng.below(2) == 0 ? kUnlimited : thousands(10),
                       .lends = rng.below(3) == 0 ? kUnlimited : thousands(10)}};
    changed.gate.is = rng.below(8) == 0 ? QueueGate::Is::kHeld : QueueGate::Is::kOpen;
    tell(state, changed);
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

TEST(QuotaLeft, AdmitsWhatIsNeitherKeptForOthersNorHeld) {
  int kept = 0, held = 0, admitted = 0;
  for (std::uint64_t seed = 0; seed < 8000; ++seed) {
    const State state = drawn_queues_that_share(seed);
    QuotaLeft left(state);
    for (std::uint32_t job = kRunningJobs; job < kRunningJobs + kWaitingJobs; ++job) {
      const std::optional<Reason> refusal = quota_refusal(state, JobId(job));
      ASSERT_EQ(left.admits(JobId(job)), !refusal) << "seed " << seed << ", job " << job;
      admitted += refusal ? 0 : 1;
      kept += refusal && refusal->code == ReasonCode::kKeptByGuarantees ? 1 : 0;
      held += refusal && refusal->code == ReasonCode::kQueueHeld ? 1 : 0;
    }
  }
  EXPECT_GT(kept, 100);
  EXPECT_GT(held, 100);
  EXPECT_GT(admitted, 100);
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

constexpr QueueId kOrg{1u}, kTeamOfOrg{2u};

/// A team below a full organization: a job of it runs, and one waits.
struct FullOrganization {
  State state = small_state(2);
  PendingQueue::Class parked;

  FullOrganization() {
    tell(state, QueueDefined{kOrg, QueueId(0u), devices_and_cores(4, -1)});
    tell(state, QueueDefined{kTeamOfOrg, kOrg, devices_and_cores(8, -1)});
    for (std::uint32_t job = 0; job < 2; ++job) {
      Workload w = workload(job, job, 1, kFourDevices);
      w.queue = kTeamOfOrg;
      tell(state, Submitted{w});
    }
    tell(state, Bound{MemberId(0u), NodeId(0u), {}});
    parked.key = class_of(state, JobId(1u));
    parked.jobs.insert({false, {}, 0, JobId(1u)});
    parked.verdict = {VerdictKind::kOverQuota, WakeOn::kQuota, Millis(0), {*quota_refusal(state, JobId(1u))}};
  }
};

TEST(QuotaNews, OfAQueueThatIsHeldAreNotSparedByTheLimit) {
  FullOrganization full;
  EXPECT_TRUE(is_refused_as_before(full.state, full.parked));
  QueueDefined held = full.state.queues().definition(kOrg);
  held.gate.is = QueueGate::Is::kHeld;
  tell(full.state, held);
  EXPECT_FALSE(is_refused_as_before(full.state, full.parked)) << "another reason is to be reported";
  EXPECT_TRUE(is_quota_news_for(full.state, full.parked));
}

TEST(QuotaNews, OfWhatIsKeptBelowTheLimitAreNotSparedByIt) {
  FullOrganization full;
  const std::vector<QuotaShare> keeps = {{.of = quota_key(0), .guarantee = 4000, .lends = 0}};
  tell(full.state, QueueDefined{QueueId(3u), kTeamOfOrg, devices_and_cores(-1, -1), {}, keeps});
  EXPECT_FALSE(is_refused_as_before(full.state, full.parked)) << "another reason is to be reported";
  EXPECT_TRUE(is_quota_news_for(full.state, full.parked));
}

TEST(QuotaNews, OfAQueueThatHasMovedAreNotToldByTheFormerLimit) {
  State state = small_state(2);
  tell(state, QueueDefined{kOrg, QueueId(0u), devices_and_cores(4, -1)});
  tell(state, QueueDefined{kTeamOfOrg, kOrg, devices_and_cores(-1, -1)});
  for (std::uint32_t job = 0; job < 3; ++job) {
    Workload w = workload(job, job, 1, kFourDevices);
    w.queue = job < 2 ? kTeamOfOrg : kOrg;
    tell(state, Submitted{w});
  }
  tell(state, Bound{MemberId(0u), NodeId(0u), {}});
  PendingQueue::Class parked;
  parked.key = class_of(state, JobId(1u));
  parked.jobs.insert({false, {}, 0, JobId(1u)});
  parked.verdict = {VerdictKind::kOverQuota, WakeOn::kQuota, Millis(0), {*quota_refusal(state, JobId(1u))}};
  EXPECT_TRUE(is_refused_as_before(state, parked));
  tell(state, Bound{MemberId(2u), NodeId(1u), {}});
  tell(state, QueueDefined{kTeamOfOrg, QueueId(0u), devices_and_cores(-1, -1)});
  EXPECT_FALSE(is_refused_as_before(state, parked)) << "the other queue is still full";
  EXPECT_TRUE(is_quota_news_for(state, parked));
}

/// Four devices of the first node are gone, so that the sums show fewer free ones than there are.
TEST(QuotaNews, OfTheLastThatIsKeptAreToldWhenAStartTakesIt) {
  State state = small_state(2);
  const std::vector<QuotaShare> keeps = {{.of = quota_key(0), .guarantee = 4000, .lends = 0}};
  tell(state, QueueDefined{kTeamOfOrg, QueueId(0u), devices_and_cores(-1, -1), {}, keeps});
  tell(state, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(state, Bound{MemberId(0u), NodeId(0u), {}});
  tell(state, NodeDevicesChanged{NodeId(0u), {}});
  tell(state, Submitted{workload(1, 1, 1, kHalfADevice)});
  Engine engine(*builtin_profile("ashlar"));
  const Plan refused = engine.decide(state, state.now());
  ASSERT_EQ(refused.verdicts.size(), 1u);
  EXPECT_EQ(refused.verdicts[0].verdict.reasons.at(0).code, ReasonCode::kKeptByGuarantees);
  Workload keeper = workload(2, 2, 1, kFourDevices);
  keeper.queue = kTeamOfOrg;
  tell(state, Submitted{keeper});
  std::vector<JobId> started;
  Plan plan;
  do {
    plan = engine.decide(state, state.now());
    for (const Action& action : plan.actions) started.push_back(std::get<Bind>(action).job);
  } while (plan.look_again_at <= state.now());
  EXPECT_EQ(started, (std::vector{JobId(2u), JobId(1u)}));
}

}  // namespace
}  // namespace ashlar
