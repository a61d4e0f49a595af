// When a waiting job starts, for readers: by the median and by the late ends of the jobs that must end before.
#include "engine/explain/start_times.h"

#include <gtest/gtest.h>

#include "../state/small_state.h"

namespace ashlar {
namespace {

constexpr DemandId kAllDevices{20u};

Workload lasting(Workload w, int median_seconds, int late_seconds) {
  w.estimate = {Millis(median_seconds * 1000), Millis(late_seconds * 1000)};
  return w;
}

/// One node, half of it taken by job 0: by 100 s in half of all cases, by 400 s in nine of ten. Job 1 waits for all of
/// it, and job 2 behind it, in a queue of its own, too.
class Starts : public testing::Test {
 protected:
  Starts() : state_(small_state(1)), engine_(*builtin_profile("ashlar")) {
    tell(state_,
         DemandDefined{kAllDevices, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    tell(state_, QueueDefined{QueueId(1u), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
    tell(state_, Submitted{lasting(workload(0, 0, 1, kFourDevices), 100, 400)});
    tell(state_, Bound{MemberId(0u), NodeId(0u), {}});
    tell(state_, Submitted{lasting(workload(1, 1, 1, kAllDevices), 50, 80)});
    Workload behind = lasting(workload(2, 2, 1, kAllDevices), 10, 10);
    behind.queue = QueueId(1u);
    behind.submitted = Millis(1);
    tell(state_, Submitted{behind});
    engine_.decide(state_, state_.now());
  }
  std::optional<StartTimes> of(std::uint32_t job) { return start_times(state_, engine_, JobId(job), state_.now()); }
  static StartTimes times(std::uint32_t job, int expected_seconds, int latest_seconds) {
    return {JobId(job), Millis(expected_seconds * 1000), Millis(latest_seconds * 1000)};
  }

  State state_;
  Engine engine_;
};

TEST_F(Starts, RestOnTheEndsOfRunningJobsAndOfThoseWithReservationsAhead) {
  EXPECT_EQ(of(1), times(1, 100, 400));
  EXPECT_EQ(of(2), times(2, 150, 480));
}

TEST_F(Starts, OfAHeldJobAreThoseOfTheJobThatHoldsIt) {
  tell(state_, Submitted{lasting(workload(3, 3, 1, kFourDevices), 500, 500)});
  engine_.decide(state_, state_.now());
  EXPECT_EQ(engine_.verdict_of(JobId(3u)).reasons.front().code, ReasonCode::kReservationHeld);
  EXPECT_EQ(of(3), times(1, 100, 400));
}

TEST_F(Starts, AreLaterForAJobThatOutlastsItsEstimates) {
  tell(state_, Tick{}, Millis(200'000));
  EXPECT_EQ(of(1), times(1, 400, 400)) << "it is past its median";
  tell(state_, Tick{}, Millis(400'000));
  EXPECT_EQ(of(1), times(1, 401, 401));
}

TEST_F(Starts, AreKnownOnlyOfTheFirstOfAQueueAndWhereAnEndIsKnown) {
  tell(state_, Submitted{lasting(workload(3, 3, 1, kAllDevices), 500, 500)});
  engine_.decide(state_, state_.now());
  EXPECT_EQ(of(3), std::nullopt) << "the second of its queue has no reservation";
  EXPECT_EQ(of(0), std::nullopt) << "it runs";
  tell(state_, EstimateChanged{JobId(0u), {}});
  tell(state_, Tick{}, Millis(2'000));  // a reservation is renewed at most once a second
  EXPECT_EQ(of(1), std::nullopt);
}

TEST_F(Starts, ChangeNothing) {
  const std::uint64_t digest = state_.digest();
  const std::size_t reservations = engine_.reservations().size();
  of(2);
  EXPECT_EQ(state_.digest(), digest);
  EXPECT_EQ(engine_.reservations().size(), reservations);
}

TEST(StartTimes, AreNotKnownWhereNothingIsReserved) {
  State state = small_state(1);
  tell(state, Submitted{lasting(workload(0, 0, 1, kFourDevices), 100, 400)});
  tell(state, Bound{MemberId(0u), NodeId(0u), {}});
  tell(state, Submitted{lasting(workload(1, 1, 1, kFourDevices), 100, 400)});
  tell(state, Submitted{lasting(workload(2, 2, 1, kFourDevices), 100, 400)});
  Profile skip = *builtin_profile("ashlar");
  skip.blocking = Blocking::kSkip;
  Engine engine(skip);
  engine.decide(state, Millis(0));
  EXPECT_EQ(start_times(state, engine, JobId(2u), Millis(0)), std::nullopt);
}

}  // namespace
}  // namespace ashlar
