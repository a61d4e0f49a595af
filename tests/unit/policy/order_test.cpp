// In which order each order policy puts jobs: fifo, sjf, qssf, qssf-oracle, srtf, tiresias, priority-age, priority-remaining.
#include <algorithm>

#include "policy/order_policy.h"
#include "small_cluster.h"

namespace ashlar {
namespace {

struct JobSketch {
  std::int64_t submitted_s = 0;
  std::int64_t duration_s = 0;  ///< 0 = unknown
  std::int32_t devices = 1;
  std::int64_t rank_s = 0;
  std::int32_t priority = 0;
};

class Queue {
 public:
  Queue() {
    apply(state, {Millis(0), ConstraintDefined{ConstraintId(0u), {}}});
    apply(state, {Millis(0), NodeSeen{NodeId(0u), facts_of({.pods = 1000, .devices = 64})}});
  }
  Queue(std::initializer_list<JobSketch> jobs) : Queue() {
    for (const JobSketch& j : jobs) submit(j);
  }
  JobId submit(const JobSketch& sketch) {
    const JobId job(count_++);
    apply(state, {Millis(0), DemandDefined{DemandId(job.value), demand_of(0, sketch.devices)}});
    Workload w{.job = job,
               .priority = sketch.priority,
               .submitted = Millis(sketch.submitted_s * 1000),
               .order_hint = sketch.rank_s * 1000};
    if (sketch.duration_s > 0) w.estimate = {Millis(sketch.duration_s * 1000), Millis(sketch.duration_s * 1000)};
    w.members = {{MemberId(job.value), DemandId(job.value), ConstraintId(0u)}};
    apply(state, {Millis(0), Submitted{w}});
    return job;
  }
  void start(JobId job, std::int64_t at_s) {
    apply(state, {Millis(at_s * 1000), Bound{MemberId(job.value), NodeId(0u), {}}});
  }
  /// Rows in order; equal keys keep the order of submission to the state.
  std::vector<unsigned> in_order(OrderKey (*key)(const Job&)) const {
    std::vector<unsigned> rows(count_);
    for (unsigned i = 0; i < count_; ++i) rows[i] = i;
    std::stable_sort(rows.begin(), rows.end(),
                     [&](unsigned a, unsigned b) { return key(state.job(JobId(a))) < key(state.job(JobId(b))); });
    return rows;
  }
  std::vector<unsigned> in_order(std::string_view policy) const { return in_order(find_order(policy)->waiting); }

  State state;

 private:
  unsigned count_ = 0;
};

using Rows = std::vector<unsigned>;

TEST(Fifo, TheFirstSubmittedIsFirst) {
  EXPECT_EQ(Queue({{.submitted_s = 5}, {.submitted_s = 3}, {.submitted_s = 5}}).in_order("fifo"), (Rows{1, 0, 2}));
}

TEST(Sjf, TheShortestIsFirstAndUnknownDurationsAreLast) {
  EXPECT_EQ(Queue({{.duration_s = 0}, {.duration_s = 60}, {.duration_s = 10}}).in_order("sjf"), (Rows{2, 1, 0}));
}

TEST(Qssf, EstimateTimesDevicesThenDevices) {
  const Queue q({{.devices = 4, .rank_s = 100},
                 {.devices = 1, .rank_s = 300},
                 {.devices = 2, .rank_s = 200},
                 {.devices = 1, .rank_s = 400}});
  EXPECT_EQ(q.in_order("qssf"), (Rows{1, 3, 2, 0})) << "300, then the three of 400 by their cards";
}

TEST(Qssf, NewcomersAmongThemselvesGoByDevicesAlone) {
  const Queue q({{.devices = 4, .rank_s = 1}, {.devices = 1, .rank_s = 300}, {.devices = 2, .rank_s = 200}});
  EXPECT_EQ(q.in_order("qssf"), (Rows{0, 1, 2}));
  EXPECT_EQ(q.in_order(find_order("qssf")->newcomers), (Rows{1, 2, 0}));
}

TEST(QssfOracle, TrueDurationTimesDevices) {
  const Queue q({{.duration_s = 100, .devices = 4, .rank_s = 1},
                 {.duration_s = 300, .devices = 1, .rank_s = 2},
                 {.devices = 1, .rank_s = 0}});
  EXPECT_EQ(q.in_order("qssf-oracle"), (Rows{1, 0, 2}));
}

TEST(Srtf, RemainingTimeFallsWhileRunningAndWaitingGoesFirstOnTies) {
  Queue q({{.duration_s = 100}, {.duration_s = 60}});
  const OrderPolicy& srtf = *find_order("srtf");
  q.start(JobId(0u), 10);
  EXPECT_LT(srtf.waiting(q.state.job(JobId(1u))), srtf.running(q.state.job(JobId(0u)), Millis(49'000)));
  EXPECT_LT(srtf.waiting(q.state.job(JobId(1u))), srtf.running(q.state.job(JobId(0u)), Millis(50'000))) << "60 s each";
  EXPECT_LT(srtf.running(q.state.job(JobId(0u)), Millis(51'000)), srtf.waiting(q.state.job(JobId(1u))));
  EXPECT_EQ(srtf.running(q.state.job(JobId(0u)), Millis(110'000)).major, 0);
  EXPECT_EQ(srtf.running(q.state.job(JobId(0u)), Millis(111'000)).major, 0) << "late ends are not negative";
}

TEST(Srtf, AStoppedJobWaitsWithWhatIsLeft) {
  Queue q({{.duration_s = 100}});
  q.start(JobId(0u), 0);
  apply(q.state, {Millis(40'000), Evicted{JobId(0u), Millis(67'000)}});
  EXPECT_EQ(find_order("srtf")->waiting(q.state.job(JobId(0u))).major, 67'000);
}

TEST(Tiresias, LittleAttainedServiceGoesFirstThenSubmission) {
  Queue q({{.submitted_s = 0, .duration_s = 90000, .devices = 8}, {.submitted_s = 50, .duration_s = 100}});
  const OrderPolicy& tiresias = *find_order("tiresias");
  q.start(JobId(0u), 0);
  const auto running = [&](std::int64_t at_s) { return tiresias.running(q.state.job(JobId(0u)), Millis(at_s * 1000)); };
  EXPECT_LT(running(2250), tiresias.waiting(q.state.job(JobId(1u))))
      << "8 x 2,250 s is 18,000: still low, and it came first";
  EXPECT_LT(tiresias.waiting(q.state.job(JobId(1u))), running(2251));
  EXPECT_EQ(tiresias.changes_at(q.state.job(JobId(0u)), Millis(60'000)), Millis(2'250'001));
  EXPECT_EQ(tiresias.changes_at(q.state.job(JobId(0u)), Millis(2'250'001)), Millis::max()) << "it crosses once";
}

TEST(Tiresias, ServiceOfEarlierRunsCounts) {
  Queue q({{.duration_s = 90000, .devices = 1}});
  q.start(JobId(0u), 0);
  apply(q.state, {Millis(10'000'000), Evicted{JobId(0u), Millis(1)}});
  q.start(JobId(0u), 20'000);
  EXPECT_EQ(find_order("tiresias")->changes_at(q.state.job(JobId(0u)), Millis(20'000'000)), Millis(28'000'001));
}

TEST(Tiresias, ServiceWithoutANumberIsMuch) {
  Queue q({{.duration_s = 90000, .devices = 12}});
  q.start(JobId(0u), 0);
  const Millis age(1'152'919'804'606'851'976);  // 12 times as much is no 64-bit number
  EXPECT_EQ(find_order("tiresias")->running(q.state.job(JobId(0u)), age).major,
            find_order("tiresias")->running(q.state.job(JobId(0u)), Millis(18'000'000)).major);
}

TEST(Tiresias, RunningGoesBeforeWaitingOfTheSameSecond) {
  Queue q({{.submitted_s = 7}, {.submitted_s = 7}});
  q.start(JobId(1u), 8);
  EXPECT_LT(find_order("tiresias")->running(q.state.job(JobId(1u)), Millis(9000)),
            find_order("tiresias")->waiting(q.state.job(JobId(0u))));
}

TEST(PriorityAge, HigherPriorityThenEarlierSubmission) {
  const Queue q({{.submitted_s = 1, .priority = 0},
                 {.submitted_s = 3, .priority = 10},
                 {.submitted_s = 2, .priority = 10},
                 {.submitted_s = 0, .priority = -5}});
  EXPECT_EQ(q.in_order("priority-age"), (Rows{2, 1, 0, 3}));
}

TEST(PriorityRemaining, LessToRunGoesFirstAndSevenHoursOfWaitingCountAsOne) {
  const Queue q({{.submitted_s = 0, .duration_s = 7000},
                 {.submitted_s = 7000, .duration_s = 5999},
                 {.submitted_s = 7000, .duration_s = 6001},
                 {.submitted_s = 0, .duration_s = 0},
                 {.submitted_s = 9000, .duration_s = 90000, .priority = 1}});
  EXPECT_EQ(q.in_order("priority-remaining"), (Rows{4, 1, 0, 2, 3}));
}

/// A running job with that estimate, and a waiting one; all in seconds since the submission of both.
struct Pair {
  Queue q;
  const OrderPolicy& order = *find_order("priority-remaining");
  Pair(std::int64_t running_s, std::int64_t waiting_s, std::int32_t running_priority = 0)
      : q({{.duration_s = running_s, .priority = running_priority}, {.duration_s = waiting_s}}) {
    q.start(JobId(0u), 0);
  }
  const Job& running() const { return q.state.job(JobId(0u)); }
  OrderKey waiting() const { return order.waiting(q.state.job(JobId(1u))); }
  bool gives_way(std::int64_t at_s) const { return waiting() < order.gives_way_to(running(), Millis(at_s * 1000)); }
  std::int64_t gives_way_at(std::int64_t now_s) const {
    const Millis at = order.gives_way_at(running(), waiting(), Millis(now_s * 1000));
    return at == Millis::max() ? -1 : at.value / 1000;
  }
};

TEST(PriorityRemaining, ARunningJobGivesWayToOneThatNeedsLessThanHalf) {
  const Pair p(10'000, 4000);
  EXPECT_TRUE(p.gives_way(1999));
  EXPECT_FALSE(p.gives_way(2000)) << "8,000 s are left";
  EXPECT_FALSE(Pair(100, 41).gives_way(0)) << "a minute less, too";
  EXPECT_TRUE(Pair(100, 39).gives_way(0));
}

TEST(PriorityRemaining, OneThatOutlastsItsEstimateIsExpectedToNeedMore) {
  const Pair p(100, 500);
  EXPECT_FALSE(p.gives_way(100));
  const std::int64_t at = p.gives_way_at(100);
  EXPECT_NEAR(static_cast<double>(at), 1000 / 0.3, 20) << "three tenths of what it has run are more than 1,000 s";
  EXPECT_FALSE(p.gives_way(at - 20));
  EXPECT_TRUE(p.gives_way(at + 1));
}

TEST(PriorityRemaining, WhatItHasRunBeforeCounts) {
  Queue q({{.duration_s = 1000}, {.duration_s = 100}});
  q.start(JobId(0u), 0);
  apply(q.state, {Millis(990'000), Evicted{JobId(0u), Millis(10'000)}});
  const OrderPolicy& order = *find_order("priority-remaining");
  EXPECT_EQ(order.waiting(q.state.job(JobId(0u))).minor, 297'000);
  q.start(JobId(0u), 2000);
  EXPECT_LT(order.waiting(q.state.job(JobId(1u))), order.gives_way_to(q.state.job(JobId(0u)), Millis(2'000'000)));
}

TEST(PriorityRemaining, UnknownDurationsAreTheLongest) {
  EXPECT_TRUE(Pair(0, 1'000'000).gives_way(5));
  EXPECT_FALSE(Pair(1'000'000, 0).gives_way(5));
  EXPECT_FALSE(Pair(0, 0).gives_way(5));
  EXPECT_EQ(Pair(0, 0).gives_way_at(5), -1);
  EXPECT_EQ(Pair(10, 0).gives_way_at(5), -1);
}

TEST(PriorityRemaining, PriorityGoesBeforeAnyTime) {
  EXPECT_TRUE(Pair(10, 100'000, -1).gives_way(5));
  EXPECT_FALSE(Pair(100'000, 10, 1).gives_way(5));
  EXPECT_EQ(Pair(100'000, 10, 1).gives_way_at(5), -1);
  EXPECT_EQ(Pair(10, 100'000, -1).gives_way_at(5), -1);
}

TEST(OrderTable, EveryPolicyIsFoundByItsName) {
  for (const OrderPolicy& p : order_policies()) {
    EXPECT_EQ(find_order(p.name), &p);
    EXPECT_NE(p.waiting, nullptr) << p.name;
  }
  EXPECT_EQ(find_order("nonsense"), nullptr);
}

}  // namespace
}  // namespace ashlar
