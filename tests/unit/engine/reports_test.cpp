// Reports to waiting jobs whose class is parked for the same reason as before: a job gets one if it has had none, or
// another since; the others do not.
#include <gtest/gtest.h>

#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

/// One node, on which jobs 0 and 1 have four devices each until 100 s.
class Reports : public testing::Test {
 protected:
  static constexpr DemandId kWhole{20u};
  static constexpr JobId kFirst{10u}, kNewcomer{11u};
  Reports() : state_(small_state(1)) {
    tell(state_, DemandDefined{kWhole, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    for (std::uint32_t j = 0; j < 2; ++j) {
      submit(j, kFourDevices, Millis(100'000));
      tell(state_, Bound{MemberId(j), NodeId(0u), {}});
    }
  }
  void submit(std::uint32_t job, DemandId demand, Millis duration, std::int32_t priority = 0) {
    Workload w = workload(job, job, 1, demand);
    w.estimate = {duration, duration};
    w.priority = priority;
    tell(state_, Submitted{w}, state_.now());
  }
  /// The reasons reported to that job by the next decision.
  std::vector<ReasonCode> reported(Engine& engine, JobId job) {
    std::vector<ReasonCode> codes;
    for (const VerdictChange& v : engine.decide(state_, state_.now()).verdicts)
      if (v.job == job) codes.push_back(v.verdict.reasons.at(0).code);
    return codes;
  }
  using Codes = std::vector<ReasonCode>;

  State state_;
};

TEST_F(Reports, AJobThatWasHeldSinceIsReportedAgainWhatItLacks) {
  Profile by_count = *builtin_profile("ashlar");
  by_count.blocking = Blocking::kEasyByCount;
  for (const Profile& profile : {*builtin_profile("ashlar"), by_count}) {
    State before = state_;
    Engine engine(profile);
    submit(10, kOneDevice, Millis(3'600'000));
    EXPECT_EQ(reported(engine, kFirst), Codes{ReasonCode::kInsufficientGpu});
    tell(state_, Ended{JobId(1u)});
    submit(2, kWhole, Millis(50'000), 1);
    EXPECT_EQ(reported(engine, kFirst), Codes{ReasonCode::kReservationHeld});
    tell(state_, Ended{JobId(2u)});
    submit(3, kFourDevices, Millis(1000), 1);
    EXPECT_EQ(reported(engine, kFirst), Codes{ReasonCode::kInsufficientGpu});
    state_ = std::move(before);
  }
}

TEST_F(Reports, ANewcomerOfAClassThatIsAwakeIsReportedWhenItIsParkedAsBefore) {
  for (const bool is_first_of_all : {true, false}) {
    State before = state_;
    Engine engine(*builtin_profile("ashlar"), {.binds_per_step_max = 1});
    submit(10, kOneDevice, Millis(1000));
    EXPECT_EQ(reported(engine, kFirst), Codes{ReasonCode::kInsufficientGpu});
    tell(state_, Ended{JobId(1u)});
    submit(3, kFourDevices, Millis(1000), 1);
    if (is_first_of_all) submit(11, kOneDevice, Millis(1000));
    EXPECT_EQ(reported(engine, kNewcomer), Codes{}) << "the decision ends before its turn";
    if (!is_first_of_all) submit(11, kOneDevice, Millis(1000));
    EXPECT_EQ(reported(engine, kNewcomer), Codes{ReasonCode::kInsufficientGpu});
    EXPECT_EQ(reported(engine, kFirst), Codes{});
    state_ = std::move(before);
  }
}

TEST_F(Reports, AHeadThatWouldFitOnANodeIsReportedWhenThatNodeIsOtherwise) {
  Engine engine(*builtin_profile("ashlar"));
  submit(10, kWhole, Millis(1000));
  EXPECT_EQ(reported(engine, kFirst), Codes{ReasonCode::kInsufficientGpu});
  NodeFacts small = eight_devices();
  small.devices.count = 1;
  tell(state_, NodeSeen{NodeId(1u), small});
  EXPECT_EQ(reported(engine, kFirst), Codes{}) << "it would fit on the first node";
  tell(state_, NodeGone{NodeId(0u)});
  EXPECT_EQ(reported(engine, kFirst).size(), 1u);
  EXPECT_EQ(engine.verdict_of(kFirst).kind, VerdictKind::kNeverFits);
}

}  // namespace
}  // namespace ashlar
