// Who may be stopped for a waiting job, and in which order, on small states that are worked out by hand.
#include "engine/victims/candidates.h"

#include <gtest/gtest.h>

#include "../state/small_state.h"

namespace ashlar {
namespace {

constexpr QueueId kRootQueue{0u}, kAsking{1u}, kUpper{2u}, kLending{3u}, kSibling{4u};
constexpr ConstraintId kOnNoNode{1u};

class CandidatesOf : public ::testing::Test {
 protected:
  CandidatesOf() { tell(state, ConstraintDefined{kOnNoNode, {.models = {DeviceClassId(7u)}}}); }

  void define(QueueId queue, QueueId parent, std::int64_t gpus, std::int64_t cores = 0, const StopRules& stops = {}) {
    QueueDefined defined{queue, parent, {kUnlimited, kUnlimited, kUnlimited}};
    if (gpus > 0) defined.shares.push_back({.of = quota_key(0), .guarantee = gpus * 1000});
    if (cores > 0) defined.shares.push_back({.of = quota_key(1), .guarantee = cores * 1000});
    defined.stops = stops;
    tell(state, defined);
  }
  DemandId demand(std::int32_t gpus, std::int64_t cores = 0) {
    Demand d{.amounts = {{resource::kPods, 1}}};
    if (cores > 0) d.amounts.insert(d.amounts.begin(), {resource::kCpu, cores * 1000});
    if (gpus > 0) d.devices = {gpus, MilliGpu(1000), MiB(0)};
    const DemandId id(20 + demands_++);
    tell(state, DemandDefined{id, d});
    return id;
  }
  Workload job(QueueId queue, std::int32_t priority, DemandId demand, std::uint32_t members = 1) {
    Workload w = workload(jobs_, members_, members, demand);
    ++jobs_;
    members_ += members;
    w.queue = queue;
    w.priority = priority;
    return w;
  }
  JobId waits(const Workload& w) {
    tell(state, Submitted{w});
    return w.job;
  }
  /// On the first node, from the first device that no other has.
  JobId runs(const Workload& w) {
    tell(state, Submitted{w});
    for (const auto& member : w.members) {
      const auto gpus = static_cast<std::uint32_t>(state.demand(member.demand).devices.count);
      tell(state, Bound{member.member, NodeId(0u), devices(((std::uint64_t{1} << gpus) - 1) << devices_)});
      devices_ += gpus;
    }
    return w.job;
  }
  Candidates candidates(JobId job, Candidates::First first = Candidates::First::kLowestPriority) {
    return {state, *find_order(order), job, now, first};
  }
  StopReason reason(JobId job, JobId running) { return stop_reason(state, *find_order(order), job, running, now); }
  bool is_any(JobId job) { return AnyCandidate(state, *find_order(order), now).exists_for(job); }

  State state = small_state(2);
  std::string_view order = "priority-age";
  Millis now{0};

 private:
  std::uint32_t demands_ = 0, jobs_ = 0, members_ = 0, devices_ = 0;
};

TEST_F(CandidatesOf, AQueueThatBorrowsNoMoreAreLeftOutAndCountOnForOthers) {
  define(kAsking, kRootQueue, 4);
  define(kUpper, kRootQueue, 3);
  define(kLending, kUpper, 2);
  define(kSibling, kUpper, 0);
  const JobId first = runs(job(kLending, 0, demand(2)));
  const JobId second = runs(job(kLending, 1, demand(2)));
  const JobId third = runs(job(kSibling, 2, demand(2)));
  const Candidates::Order order = candidates(waits(job(kAsking, 0, demand(4)))).in_order();
  EXPECT_EQ(order.victims, (std::vector<Victim>{{first}, {third}}));
  EXPECT_EQ(order.left_out, std::vector<Victim>{{second}}) << "the first has left its queue what is guaranteed to it";
}

TEST_F(CandidatesOf, OtherQueuesAreThoseThatBorrowOfWhatIsGuaranteedToItsOwn) {
  define(kAsking, kRootQueue, 4);
  define(kLending, kRootQueue, 4, 1);
  const JobId running = runs(job(kLending, 0, demand(4, 2)));
  const JobId waiting = waits(job(kAsking, 0, demand(4, 1)));
  EXPECT_EQ(reason(waiting, running), StopReason::kNone) << "cores, of which it is guaranteed none";
  define(kAsking, kRootQueue, 4, 4);
  EXPECT_EQ(reason(waiting, running), StopReason::kReclaimed);
  EXPECT_EQ(reason(waits(job(kAsking, 0, demand(4))), running), StopReason::kNone) << "it needs no cores";
}

TEST_F(CandidatesOf, WhatNoGuaranteeNamesIsBorrowed) {
  define(kAsking, kRootQueue, 4, 0, {.while_borrowing = INT32_MAX});
  define(kLending, kRootQueue, 0, 1);
  const JobId running = runs(job(kLending, 0, demand(0, 2)));
  EXPECT_EQ(reason(waits(job(kAsking, 5, demand(0, 1))), running), StopReason::kWhileBorrowing);
  EXPECT_EQ(reason(waits(job(kAsking, 0, demand(0, 1))), running), StopReason::kNone);
}

TEST_F(CandidatesOf, OfItsNodesAreThoseWhereAnyMemberMayGo) {
  define(kAsking, kRootQueue, 4);
  Workload lasting = job(kLending, 0, demand(4));
  lasting.stopping.is_unstoppable = true;
  runs(lasting);
  Workload two = job(kAsking, 0, demand(2), 2);
  two.members[0].constraint = kOnNoNode;
  const Candidates of_two = candidates(waits(two));
  EXPECT_EQ(of_two.on_its_nodes().size(), 1u);
  Workload none = job(kAsking, 0, demand(4));
  none.members[0].constraint = kOnNoNode;
  const Candidates of_none = candidates(waits(none));
  EXPECT_EQ(of_none.size(), 1u);
  EXPECT_EQ(of_none.on_its_nodes().size(), 0u) << "unstoppable ones too";
}

TEST_F(CandidatesOf, WhatOtherSchedulersRunInAQueueIsUsedOfItsGuarantee) {
  define(kAsking, kRootQueue, 4);
  define(kLending, kRootQueue, 4);
  Workload foreign = job(kLending, 0, demand(4)), lasting = job(kLending, 0, demand(4));
  foreign.is_ours = false;
  lasting.stopping.is_unstoppable = true;
  runs(foreign);
  const JobId last = runs(lasting);
  EXPECT_EQ(candidates(waits(job(kAsking, 0, demand(4)))).in_order().victims, std::vector<Victim>{{last}});
}

TEST_F(CandidatesOf, MembersBeyondAMinimumGoFirstOfAllOnlyWhereLittleIsToBeLost) {
  Workload gang = job(kAsking, 5, demand(1), 2);
  gang.members_min = 1;
  const JobId large = runs(gang), low = runs(job(kAsking, 1, demand(4)));
  const Victim beyond{large, gang.members[1].member};
  const JobId waiting = waits(job(kAsking, 9, demand(8)));
  EXPECT_EQ(candidates(waiting).in_order().victims, (std::vector<Victim>{{low}, beyond, {large}}));
  EXPECT_EQ(candidates(waiting, Candidates::First::kLeastLost).in_order().victims,
            (std::vector<Victim>{beyond, {low}, {large}}));
}

TEST_F(CandidatesOf, OneThatMayNeedMuchLongerIsLookedAtAgainAfterAnEighthOfTheWaitOrAMinute) {
  order = "priority-remaining";
  define(kAsking, kRootQueue, 0, 0, {.own = StopRules::Own::kLowerOrLonger});
  Workload running = job(kAsking, 0, demand(4)), shorter = job(kAsking, 0, demand(8)),
           longer = job(kAsking, 0, demand(8));
  running.estimate.p50 = Millis(60'000);
  shorter.estimate.p50 = Millis(30'000);
  longer.estimate.p50 = Millis(300'000);
  runs(running);
  waits(shorter), waits(longer);
  now = Millis(280'000);
  EXPECT_EQ(candidates(shorter.job).more_at(), now + Millis(60'000)) << "it has waited for less than eight minutes";
  now = Millis(1'900'000);
  EXPECT_EQ(candidates(longer.job).more_at(), now + Millis(237'500));
  now = Millis(20'000);
  EXPECT_EQ(candidates(shorter.job).more_at(), Millis(300'010)) << "it needs as long when it has run for five minutes";
}

TEST_F(CandidatesOf, AnyIsThereIfOneNeedsMuchLonger) {
  order = "priority-remaining";
  Workload running = job(kLending, 0, demand(4)), own = job(kAsking, 0, demand(4)),
           waiting = job(kAsking, 0, demand(8));
  running.estimate.p50 = own.estimate.p50 = Millis(10'000'000);
  waiting.estimate.p50 = Millis(60'000);
  define(kLending, kRootQueue, 1);
  runs(running);
  waits(waiting);
  define(kAsking, kRootQueue, 0, 0, {.while_borrowing = INT32_MAX});
  EXPECT_FALSE(is_any(waiting.job));
  define(kAsking, kRootQueue, 0, 0, {.longer_while_borrowing = true, .while_borrowing = INT32_MAX});
  EXPECT_TRUE(is_any(waiting.job));
  define(kAsking, kRootQueue, 0);
  runs(own);
  EXPECT_FALSE(is_any(waiting.job));
  define(kAsking, kRootQueue, 0, 0, {.own = StopRules::Own::kLowerOrLonger});
  EXPECT_TRUE(is_any(waiting.job));
  Workload patient = job(kAsking, 0, demand(8));
  patient.estimate.p50 = Millis(60'000);
  patient.stopping.stops_none = true;
  EXPECT_FALSE(is_any(waits(patient)));
}

TEST_F(CandidatesOf, EachGroupKeepsItsOwnMinimum) {
  Workload gang = job(kAsking, 0, demand(1), 6);
  gang.spec = GangSpecId(0u);
  for (std::uint32_t m = 0; m < 6; ++m) gang.members[m].group = m < 2 ? 0 : 1;
  gang.members_min = 4;
  tell(state, GangSpecDefined{gang.spec, {{{.members_min = 2}, {.members_min = 2}}}});
  const JobId running = runs(gang);
  EXPECT_EQ(surplus_members(state, running), (std::vector<MemberId>{MemberId(5u), MemberId(4u)}));
}

TEST_F(CandidatesOf, AMemberIsCoveredByItsWholeJob) {
  const Victim whole{JobId(0u)}, of_it{JobId(0u), MemberId(1u)}, of_another{JobId(1u), MemberId(2u)};
  EXPECT_EQ(without_the_covered({of_it, whole, of_another}), (std::vector<Victim>{whole, of_another}));
}

}  // namespace
}  // namespace ashlar
