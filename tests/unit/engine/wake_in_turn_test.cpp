// Where each of many kinds of jobs that have room on freed nodes is woken in its turn, the same ones start as if all
// were awake: also where no reservation keeps those behind from starting first.
#include <gtest/gtest.h>

#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"

namespace ashlar {
namespace {

/// Four nodes, taken by jobs 0 to 3.
class WakeInTurn : public testing::Test {
 protected:
  static constexpr DemandId kWholeNode{20u};
  static constexpr std::uint32_t kKinds = 100;

  WakeInTurn() : state_(small_state(4)) {
    tell(state_,
         DemandDefined{kWholeNode, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    for (std::uint32_t n = 0; n < 4; ++n) submit(n, kWholeNode);
    for (std::uint32_t n = 0; n < 4; ++n) tell(state_, Bound{MemberId(n), NodeId(n), {}});
    for (std::uint32_t k = 0; k < kKinds; ++k)
      tell(state_, DemandDefined{DemandId(30 + k),
                                 {.amounts = {{resource::kCpu, k + 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
  }
  static Profile profile() {
    Profile profile = *builtin_profile("ashlar");
    profile.blocking = Blocking::kSkip;
    return profile;
  }
  void define_queue(std::uint32_t queue) {
    tell(state_, QueueDefined{QueueId(queue), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
  }
  void submit(std::uint32_t job, DemandId demand, std::uint32_t queue = 0, int priority = 0) {
    Workload w = workload(job, job, 1, demand);
    w.queue = QueueId(queue);
    w.priority = priority;
    tell(state_, Submitted{w});
  }
  std::vector<JobId> started(Engine& engine) {
    std::vector<JobId> started;
    for (const Action& action : engine.decide(state_, state_.now()).actions)
      started.push_back(std::get<Bind>(action).job);
    return started;
  }

  State state_;
};

TEST_F(WakeInTurn, ThoseOfOneKindComeBeforeOtherKindsThatAreBehindThem) {
  Engine engine(profile());
  for (std::uint32_t q = 1; q <= 3; ++q) {
    define_queue(q);
    submit(10 + q, kWholeNode, q);
  }
  for (std::uint32_t k = 0; k < kKinds; ++k) submit(200 + k, DemandId(30 + k), 0, -1);
  EXPECT_TRUE(started(engine).empty());
  for (std::uint32_t end = 0; end < 4; ++end) tell(state_, Ended{JobId(end)});
  EXPECT_EQ(started(engine), (std::vector<JobId>{JobId(11u), JobId(12u), JobId(13u), JobId(200u)}));
}

TEST_F(WakeInTurn, WhereQueuesAreComparedTheOneWithTheLeastShareComesFirst) {
  Profile least_share = profile();
  least_share.queue_order = find_queue_order("least-share");
  Engine engine(std::move(least_share));
  for (std::uint32_t q = 1; q <= 2; ++q)
    tell(state_, QueueDefined{QueueId(q), QueueId(0u), {100'000, kUnlimited, kUnlimited}});
  submit(10, kWholeNode, 1, 1);
  tell(state_, Ended{JobId(0u)});
  EXPECT_EQ(started(engine), std::vector<JobId>{JobId(10u)});
  for (std::uint32_t k = 0; k < kKinds; ++k) submit(200 + k, DemandId(30 + k), 1);
  submit(400, kWholeNode, 2);
  EXPECT_TRUE(started(engine).empty());
  tell(state_, Ended{JobId(1u)});
  EXPECT_EQ(started(engine), std::vector<JobId>{JobId(400u)});
}

TEST_F(WakeInTurn, EachOfTheFirstThatFindItsRoomTakenIsToldSoOnce) {
  constexpr std::uint32_t kExplained = 16;
  Engine engine(profile());
  for (std::uint32_t k = 0; k < kKinds; ++k) submit(200 + k, DemandId(30 + k));
  EXPECT_TRUE(started(engine).empty());
  tell(state_, Ended{JobId(0u)}, Millis(1000));
  EXPECT_EQ(started(engine), std::vector<JobId>{JobId(200u)});
  for (std::uint32_t k = 1; k < kKinds; ++k)
    EXPECT_EQ(engine.verdict_of(JobId(200 + k)).at, Millis(k <= kExplained ? 1000 : 0)) << k;
}

TEST_F(WakeInTurn, ManyClassesOfOneKindAreWokenInTheirTurnToo) {
  constexpr std::uint32_t kExplained = 16;
  Engine engine(profile());
  for (std::uint32_t q = 1; q <= kKinds; ++q) {
    define_queue(q);
    submit(200 + q, kWholeNode, q);
  }
  EXPECT_TRUE(started(engine).empty());
  tell(state_, Ended{JobId(0u)});
  const Plan plan = engine.decide(state_, state_.now());
  EXPECT_EQ(plan.actions.size(), 1u);
  EXPECT_EQ(plan.examined, 1 + kExplained);
}

}  // namespace
}  // namespace ashlar
