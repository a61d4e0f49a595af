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

/// A node with four devices in use until 100 s, one that is free, and three of which nobody knows the end. Five are
/// promised to the head at 100 s, and a job of one device and an hour is held.
TEST(HeldFromADevice, AJobStartsOnDevicesThatAreFreeEarlierThanThePromiseCountsOn) {
  constexpr DemandId kTwoDevices{21u}, kFiveDevices{22u};
  State s = small_state(1);
  const auto whole = [](std::int32_t count) {
    return Demand{.amounts = {{resource::kPods, 1}}, .devices = {count, MilliGpu(1000), MiB(0)}};
  };
  tell(s, DemandDefined{kTwoDevices, whole(2)});
  tell(s, DemandDefined{kFiveDevices, whole(5)});
  const auto run = [&](const Workload& w) {
    tell(s, Submitted{w});
    tell(s, Bound{w.members[0].member, NodeId(0u), {}});
  };
  run(lasting(workload(0, 0, 1, kFourDevices), Millis(100'000)));
  run(workload(2, 2, 1, kTwoDevices));
  run(workload(3, 3, 1, kOneDevice));
  Workload head = lasting(workload(1, 1, 1, kFiveDevices), Millis(50'000));
  head.priority = 1;
  tell(s, Submitted{head});
  tell(s, Submitted{lasting(workload(10, 10, 1, kOneDevice), Millis(3'600'000))});
  Engine engine(*builtin_profile("ashlar"));
  EXPECT_EQ(engine.decide(s, s.now()).actions.size(), 0u);
  EXPECT_EQ(engine.pending().held_classes().size(), 1u);
  tell(s, Ended{JobId(2u)}, Millis(200));
  const Plan plan = engine.decide(s, s.now());
  ASSERT_EQ(plan.actions.size(), 1u) << "not only when the reservation is renewed, a second after it was made";
  EXPECT_EQ(std::get<Bind>(plan.actions[0]).job, JobId(10u));
  EXPECT_EQ(engine.reservations()[0].at, Millis(100'000));
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

/// Four nodes and a queue with a quota of 8 devices, 4 of which are taken until 100 s. A job of 8 waits for it, and a
/// hundred jobs of one device and an hour are held: what is left of the quota is promised. Nobody asks for verdicts.
class HeldForQuota : public testing::Test {
 protected:
  HeldForQuota() : state_(small_state(4)), engine_(*builtin_profile("ashlar"), {.has_verdicts = false}) {
    tell(state_,
         DemandDefined{kWholeNode, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    tell(state_, QueueDefined{QueueId(1u), QueueId(0u), {8000, kUnlimited, kUnlimited}});
    submit(0, kFourDevices, Millis(100'000));
    submit(1, kWholeNode, Millis(50'000));
    Workload elsewhere = lasting(workload(2, 2, 1, kFourDevices), Millis(100'000));
    tell(state_, Submitted{elsewhere});
    EXPECT_EQ(decide().actions.size(), 2u);
    for (std::uint32_t j = kFirstHeld; j < kFirstHeld + kHeldJobs; ++j) submit(j, kOneDevice, Millis(3'600'000));
    EXPECT_EQ(decide().examined, 2u) << "the first of them, for which it is reserved, and one more";
    EXPECT_EQ(held(), kHeldJobs);
  }
  void submit(std::uint32_t job, DemandId demand, Millis duration) {
    Workload w = lasting(workload(job, job, 1, demand), duration);
    w.queue = QueueId(1u);
    tell(state_, Submitted{w}, state_.now());
  }
  std::size_t held() const {
    std::size_t count = 0;
    engine_.pending().each_class([&](ClassId, const PendingQueue::Class& c) { count += c.held.size(); });
    return count;
  }
  Plan decide() { return engine_.decide(state_, state_.now()); }

  State state_;
  Engine engine_;
};

TEST_F(HeldForQuota, AFreedNodeCostsALookAtOneOfThoseThatAreAlike) {
  tell(state_, Ended{JobId(2u)}, Millis(100'000));
  EXPECT_LE(decide().examined, 3u);
  EXPECT_EQ(held(), kHeldJobs);
}

TEST_F(HeldForQuota, ThoseThatEndBeforeThePromiseStartAmongThoseThatDoNot) {
  for (const std::uint32_t job : {500u, 502u}) submit(job, kOneDevice, Millis(50'000));
  submit(501, kOneDevice, Millis(3'600'000));
  tell(state_, Ended{JobId(2u)}, Millis(200));
  const Plan plan = decide();
  EXPECT_EQ(plan.actions.size(), 2u);
  EXPECT_LE(plan.examined, 6u);
  EXPECT_EQ(held(), kHeldJobs + 1);
}

/// A world drawn from a seed, in which two queues run into their quotas: jobs of three sizes whose ends are as
/// expected, or come early.
class DrawnQuotas {
 public:
  DrawnQuotas(std::uint64_t seed, bool has_verdicts)
      : draws_(seed), state_(small_state(4)), engine_(*builtin_profile("ashlar"), {.has_verdicts = has_verdicts}) {
    tell(state_,
         DemandDefined{kWholeNode, {.amounts = {{resource::kPods, 1}}, .devices = {8, MilliGpu(1000), MiB(0)}}});
    tell(state_, QueueDefined{QueueId(1u), QueueId(0u), {28'000, kUnlimited, kUnlimited}});
    for (std::uint32_t q = 2; q < 4; ++q)
      tell(state_, QueueDefined{QueueId(q), QueueId(1u), {16'000, kUnlimited, kUnlimited}});
  }
  /// One job more, and the ends of some.
  void step() {
    const Millis now = state_.now() + Millis(static_cast<std::int64_t>(draws_.next() % 3'000));
    constexpr DemandId kSizes[] = {kOneDevice, kOneDevice, kFourDevices, kWholeNode};
    Workload w = workload(jobs_, jobs_, 1, kSizes[draws_.next() % 4]);
    w = lasting(w, Millis(static_cast<std::int64_t>(1'000 + draws_.next() % 200'000)));
    w.queue = QueueId(static_cast<std::uint32_t>(2 + draws_.next() % 2));
    ++jobs_;
    for (std::uint32_t j = 0; j + 1 < jobs_; ++j) {
      if (!state_.is_live(JobId(j)) || !state_.job(JobId(j)).is_started) continue;
      const bool is_early = draws_.next() % 40 == 0;
      if (is_early || state_.job(JobId(j)).end_at <= now) tell(state_, Ended{JobId(j)}, now);
    }
    tell(state_, Submitted{w}, now);
    const Plan plan = engine_.decide(state_, now);
    examined_ += plan.examined;
  }
  std::uint64_t digest() const { return state_.digest(); }
  std::size_t examined() const { return examined_; }

 private:
  Rng draws_;
  State state_;
  Engine engine_;
  std::uint32_t jobs_ = 0;
  std::size_t examined_ = 0;
};

TEST(HeldForQuotaInDrawnWorlds, ThoseThatAreSetAsideTogetherStartAsThoseLookedAtOneByOne) {
  std::size_t one_by_one = 0, together = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    DrawnQuotas told(seed, true), silent(seed, false);
    for (int step = 0; step < 400; ++step) {
      told.step(), silent.step();
      ASSERT_EQ(told.digest(), silent.digest()) << "seed " << seed << ", step " << step;
    }
    one_by_one += told.examined(), together += silent.examined();
  }
  EXPECT_LT(together * 5, one_by_one * 4);
}

}  // namespace
}  // namespace ashlar
