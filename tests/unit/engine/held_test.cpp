// Jobs that a reservation holds are set aside: which events make the engine look at them again, counted by the jobs
// looked at.
#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"
#include "engine/engine_fields.h"

namespace ashlar {
namespace {

constexpr DemandId kWholeNode{20u};
constexpr JobId kRunning{0u}, kHead{1u};
constexpr std::uint32_t kFirstHeld = 10, kHeldJobs = 100;

Workload lasting(Workload w, Millis duration) {
  w.estimate = {duration, duration};
  return w;
}

/// One node: half of it is taken until 100 s, its whole is promised to the head then, and a hundred jobs of one device
/// and an hour are held. A second node without devices.
class Held : public testing::Test {
 protected:
  Held() : state_(small_state(1)), engine_(*builtin_profile("ashlar")) {
    tell(state_,
         DemandDefined{kWholeNode, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    NodeFacts without;
    without.allocatable = {1000, 1 << 20, 0, 10};
    tell(state_, NodeSeen{NodeId(1u), without});
    tell(state_, Submitted{lasting(workload(0, 0, 1, kFourDevices), Millis(100'000))});
    tell(state_, Bound{MemberId(0u), NodeId(0u), {}});
    Workload head = lasting(workload(1, 1, 1, kWholeNode), Millis(50'000));
    head.priority = 1;
    tell(state_, Submitted{head});
    for (std::uint32_t j = kFirstHeld; j < kFirstHeld + kHeldJobs; ++j) submit(j, Millis(3'600'000));
    EXPECT_EQ(decide().examined, 1 + kHeldJobs);
    EXPECT_EQ(engine_.pending().held_classes().size(), 1u);
  }

  void submit(std::uint32_t job, Millis duration) {
    tell(state_, Submitted{lasting(workload(job, job, 1, kOneDevice), duration)}, state_.now());
  }
  Plan decide() { return engine_.decide(state_, state_.now()); }
  Plan decide_at(Millis now) {
    tell(state_, Tick{}, now);
    return decide();
  }

  State state_;
  Engine engine_;
};

TEST_F(Held, NobodyIsLookedAtWhenNothingHappensOrAnotherNodeChanges) {
  EXPECT_EQ(decide().examined, 0u);
  EXPECT_EQ(decide_at(Millis(500)).examined, 0u);
  tell(state_, NodeCapacityChanged{NodeId(1u), {2000, 1 << 20, 0, 10}}, Millis(500));
  EXPECT_EQ(decide().examined, 0u);
  EXPECT_EQ(decide().look_again_at, Millis(1000)) << "the promised time may be another by then";
}

TEST_F(Held, ReservationsThatStayAsTheyAreWhenRenewedWakeNobody) {
  tell(state_, NodeCapacityChanged{NodeId(1u), {2000, 1 << 20, 0, 10}});
  const Plan plan = decide_at(Millis(1000));
  EXPECT_EQ(plan.examined, 1u) << "the reservation";
  EXPECT_EQ(plan.verdicts.size(), 0u);
  EXPECT_EQ(decide().look_again_at, Millis(100'000));
}

TEST_F(Held, AFreedNodeStartsAsManyAsHaveRoom) {
  tell(state_, NodeSeen{NodeId(2u), eight_devices()}, Millis(200));
  Plan plan = decide();
  EXPECT_EQ(plan.actions.size(), 5u) << "the head, and four on the node that it no longer needs";
  tell(state_, NodeSeen{NodeId(3u), eight_devices()}, Millis(300));
  plan = decide();
  EXPECT_EQ(plan.actions.size(), 8u);
}

TEST_F(Held, ANewcomerIsLookedAtAloneAndStartsIfItEndsInTime) {
  submit(500, Millis(3'600'000));
  EXPECT_EQ(decide().examined, 1u);
  submit(501, Millis(50'000));
  const Plan plan = decide();
  EXPECT_EQ(plan.examined, 1u);
  ASSERT_EQ(plan.actions.size(), 1u);
  EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(501u));
}

TEST_F(Held, AllAreLookedAtWhenTheHeadLeaves) {
  tell(state_, Ended{kHead}, Millis(200));
  EXPECT_EQ(decide().actions.size(), 4u);
  EXPECT_EQ(engine_.pending().held_classes().size(), 0u);
}

TEST_F(Held, ALaterPromiseLetsThoseStartThatEndBefore) {
  tell(state_, EstimateChanged{kRunning, {Millis(7'200'000), Millis(7'200'000)}}, Millis(200));
  EXPECT_EQ(decide().actions.size(), 0u) << "the reservation is renewed a second after it was made";
  EXPECT_EQ(decide_at(Millis(1000)).actions.size(), 4u);
}

TEST_F(Held, AHeadThatCannotRunAnyMoreHoldsNobody) {
  NodeFacts smaller = eight_devices();
  smaller.devices.count = 7;
  tell(state_, NodeSeen{NodeId(0u), smaller}, Millis(200));
  EXPECT_EQ(decide().actions.size(), 3u);
}

TEST_F(Held, AHeldJobThatEndsLeavesTheOthersHeld) {
  for (const std::uint32_t job : {kFirstHeld, kFirstHeld + 50}) tell(state_, Ended{JobId(job)}, Millis(200));
  EXPECT_EQ(decide().examined, 0u);
  EXPECT_EQ(engine_.pending().size(), 1 + kHeldJobs - 2);
  tell(state_, Ended{kHead}, Millis(200));
  const Plan plan = decide();
  ASSERT_EQ(plan.actions.size(), 4u);
  EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(kFirstHeld + 1));
}

/// Two nodes: half of one is taken until 100 s, the other whole until 120 s. A whole one is promised to a head in a
/// queue of its own at 100 s for 50 s, and a job in the root queue of half a node and 110 s is held.
class HeldByAnotherQueue : public testing::Test {
 protected:
  HeldByAnotherQueue() : two_(small_state(2)), other_(*builtin_profile("ashlar")) {
    tell(two_, DemandDefined{kWholeNode, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    for (std::uint32_t q = 1; q < 3; ++q)
      tell(two_, QueueDefined{QueueId(q), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
    tell(two_, Submitted{lasting(workload(0, 0, 1, kFourDevices), Millis(100'000))});
    tell(two_, Bound{MemberId(0u), NodeId(0u), {}});
    tell(two_, Submitted{lasting(workload(4, 4, 1, kWholeNode), Millis(120'000))});
    tell(two_, Bound{MemberId(4u), NodeId(1u), {}});
    Workload head = lasting(workload(1, 1, 1, kWholeNode), Millis(50'000));
    head.priority = 1;
    head.queue = QueueId(1u);
    tell(two_, Submitted{head});
    tell(two_, Submitted{lasting(workload(5, 5, 1, kFourDevices), Millis(110'000))});
    EXPECT_EQ(next().actions.size(), 0u);
    EXPECT_EQ(other_.pending().held_classes().size(), 1u);
  }
  Plan next() { return other_.decide(two_, two_.now()); }

  State two_;
  Engine other_;
};

TEST_F(HeldByAnotherQueue, AJobThatHasComeBeforeItsHolderStarts) {
  tell(two_, PriorityChanged{kHead, -1}, Millis(200));
  EXPECT_EQ(next().actions.size(), 1u);
}

TEST_F(HeldByAnotherQueue, AJobStartsThatEndsBeforeWhatIsPromisedToOneAheadOfItsHolder) {
  Workload wide = lasting(workload(2, 2, 2, kWholeNode), Millis(50'000));
  wide.priority = 2;
  wide.queue = QueueId(2u);
  tell(two_, Submitted{wide}, Millis(200));
  EXPECT_EQ(next().actions.size(), 1u) << "it is promised both nodes at 120 s, and the holder one at 170 s";
}

TEST_F(HeldByAnotherQueue, AReservationThatNamesAnUnknownQueueIsNotSound) {
  EXPECT_TRUE(EngineFields::is_sound(other_, two_));
  EngineFields::each(other_, [](auto& field) {
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(field)>, std::vector<Reservation>>)
      for (Reservation& reservation : field) reservation.limiting = QueueId(99u);
  });
  EXPECT_FALSE(EngineFields::is_sound(other_, two_));
}

/// Two nodes of other models, half of each taken until 100 s. The first jobs of `queues` queues need the whole of one,
/// the first job of a queue ahead of them the whole of the other; behind all, the only job of one more queue is held
/// from that other node.
struct HeldBehind {
  static constexpr JobId kHolder{1u}, kLast{99u};

  explicit HeldBehind(std::uint32_t queues) : state(small_state(1)), engine(*builtin_profile("ashlar")) {
    tell(state, DemandDefined{kWholeNode, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    NodeFacts other = eight_devices();
    other.devices.device_class = DeviceClassId(1u);
    tell(state, NodeSeen{NodeId(1u), other});
    for (std::uint32_t model = 0; model < 2; ++model) {
      tell(state, ConstraintDefined{ConstraintId(1u + model), {.models = {DeviceClassId(model)}}});
      tell(state, Submitted{lasting(workload(200 + model, 200 + model, 1, kFourDevices), Millis(100'000))});
      tell(state, Bound{MemberId(200 + model), NodeId(model), {}});
    }
    submit(kHolder, lasting(workload(1, 1, 1, kWholeNode), Millis(50'000)), 1, ConstraintId(1u));
    for (std::uint32_t q = 2; q < 2 + queues; ++q)
      submit(JobId(q), lasting(workload(q, q, 1, kWholeNode), Millis(50'000)), q, ConstraintId(2u));
    Workload last = lasting(workload(99, 99, 1, kOneDevice), Millis(3'600'000));
    last.priority = -2;
    submit(kLast, last, 2 + queues, ConstraintId(1u));
  }
  void submit(JobId job, Workload w, std::uint32_t queue, ConstraintId constraint) {
    tell(state, QueueDefined{QueueId(queue), QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
    w.queue = QueueId(queue);
    w.members[0].constraint = constraint;
    ASSERT_EQ(w.job, job);
    tell(state, Submitted{w});
  }
  Plan decide() { return engine.decide(state, state.now()); }

  State state;
  Engine engine;
};

TEST(HeldBehindManyQueues, ADecisionComesToAnEnd) {
  for (const std::uint32_t queues : {1u, 7u, 8u, 9u, 30u}) {
    HeldBehind many(queues);
    EXPECT_EQ(many.decide().examined, queues + 2);
    EXPECT_EQ(many.engine.pending().held_classes().size(), 1u);
    EXPECT_EQ(many.decide().examined, 0u);
  }
}

TEST(HeldBehindManyQueues, AJobStartsWhenOthersHaveTheTurnOfItsHolder) {
  for (const std::uint32_t queues : {7u, 8u}) {
    HeldBehind many(queues);
    many.decide();
    tell(many.state, PriorityChanged{HeldBehind::kHolder, -1}, Millis(200));
    EXPECT_EQ(many.decide().actions.size(), queues < Reservations::kMax ? 0u : 1u);
  }
}

}  // namespace
}  // namespace ashlar
