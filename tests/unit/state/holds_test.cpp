// Holds: what they take, when they give it back, and what they ignore.
#include <gtest/gtest.h>

#include "small_state.h"
#include "state/holds/kept.h"
#include "state/state_fields.h"
#include "state/trial.h"

namespace ashlar {
namespace {

const std::vector<MemberId> kNine = {MemberId(9u)};

Hold hold_of(NodeId node, DemandId demand, DeviceMask on = {}) {
  return {.job = JobId(5u), .until = Millis(1000), .parts = {{{MemberId(9u), demand, kAnywhere}, node, on}}};
}

TEST(Holds, TakeTheNamedDevicesOrChooseAsManyAsRequested) {
  State named = small_state(), chosen = small_state();
  tell(named, HoldPlaced{hold_of(NodeId(1u), kFourDevices, devices(0xf0))});
  tell(chosen, HoldPlaced{hold_of(NodeId(1u), kFourDevices)});
  EXPECT_EQ(named.member(MemberId(9u)).devices, devices(0xf0));
  EXPECT_EQ(chosen.member(MemberId(9u)).devices, devices(0x0f));
  EXPECT_EQ(chosen.cluster().idle_devices()[1], 4);
  EXPECT_EQ(chosen.cluster().free(resource::kCpu)[1], 60'000);
  EXPECT_TRUE(named.is_consistent() && StateFields::are_sound(named));
}

Hold hold_number(std::uint32_t number, HoldOwner owner, Millis from = {}) {
  return {.job = JobId(5 + number),
          .until = Millis(9000),
          .parts = {{{MemberId(9 + number), kOneDevice, kAnywhere}, NodeId(0u), {}}},
          .owner = owner,
          .from = from};
}

TEST(Holds, AreFoundByJobOwnerAndBegin) {
  State s = small_state();
  const HoldOwner of_queue{.queue = QueueId(0u), .job = {}}, of_job{.queue = {}, .job = JobId(70u)};
  tell(s, HoldPlaced{hold_number(0, of_queue)});
  tell(s, HoldPlaced{hold_number(1, of_job, Millis(500))});
  tell(s, HoldPlaced{hold_number(2, of_job)});
  tell(s, HoldPlaced{hold_number(3, {}, Millis(700))});
  const Holds& book = s.hold_book();
  EXPECT_EQ(s.hold_of(JobId(7u))->owner, of_job);
  EXPECT_EQ(s.hold_of(JobId(4u)), nullptr);
  EXPECT_EQ(book.of(QueueId(0u)).size(), 1u);
  EXPECT_EQ(book.of(JobId(70u)).size(), 2u);
  EXPECT_EQ(book.last_begin(), Millis(700));
  tell(s, Ended{JobId(5u)});
  EXPECT_FALSE(book.are_any_of_queues());
  Ledger(s).begin_hold(JobId(8u));
  EXPECT_EQ(book.last_begin(), Millis(500));
  EXPECT_EQ(s.hold_of(JobId(8u))->parts.size(), 1u);
  tell(s, Ended{JobId(6u)});
  EXPECT_EQ(book.last_begin(), Millis(0)) << "the only one to come has ended";
  EXPECT_EQ(s.holds().front().job, JobId(7u));
  EXPECT_TRUE(s.is_consistent() && StateFields::are_sound(s));
}

TEST(Holds, AreListedAgainWhenTheStateIsReadBack) {
  State s = small_state();
  tell(s, HoldPlaced{hold_number(0, {.queue = QueueId(0u), .job = {}})});
  tell(s, HoldPlaced{hold_number(1, {.queue = {}, .job = JobId(70u)}, Millis(500))});
  State read = s;
  StateFields::forget_caches(read);
  EXPECT_EQ(read.hold_of(JobId(6u))->from, Millis(500));
  EXPECT_EQ(read.hold_book().of(QueueId(0u)).size(), 1u);
  EXPECT_TRUE(read.is_consistent());
}

TEST(Holds, AreJobsOfNobodyWithAnEnd) {
  State s = small_state();
  tell(s, QueueDefined{QueueId(0u), QueueId::none(), {1000, kUnlimited, kUnlimited}});
  tell(s, HoldPlaced{hold_of(NodeId(0u), kFourDevices)}, Millis(100));
  const Job& j = s.job(JobId(5u));
  EXPECT_TRUE(j.is_hold && j.is_started && !j.is_ours && !j.is_in_backlog);
  EXPECT_EQ(j.end_at, Millis(1000));
  EXPECT_EQ(s.timeline().ends().size(), 1u);
  EXPECT_EQ(s.queues().used(QueueId(0u)), QuotaVector{});
  EXPECT_EQ(s.holds().size(), 1u);
}

TEST(Holds, EndByTheirJobsEndAndLeaveNoTrace) {
  State s = small_state();
  const std::uint64_t digest = s.digest(), unforeseen = s.unforeseen_frees();
  tell(s, HoldPlaced{hold_of(NodeId(0u), kFourDevices)});
  EXPECT_NE(s.digest(), digest);
  tell(s, Ended{JobId(5u)}, Millis(400));
  EXPECT_EQ(s.digest(), digest);
  EXPECT_TRUE(s.holds().empty() && s.timeline().ends().empty() && !s.is_live(JobId(5u)));
  EXPECT_EQ(s.unforeseen_frees(), unforeseen + 1) << "before its time";
  EXPECT_EQ(s.freed_nodes().back(), NodeId(0u));
}

TEST(Holds, OfANodeThatReturnsAreTakenAgain) {
  State s = small_state();
  tell(s, HoldPlaced{hold_of(NodeId(2u), kFourDevices)});
  EXPECT_FALSE(s.member(MemberId(9u)).is_placed()) << "not known yet";
  for (int round = 0; round < 2; ++round) {
    tell(s, NodeSeen{NodeId(2u), eight_devices()});
    EXPECT_EQ(s.member(MemberId(9u)).node, NodeId(2u));
    EXPECT_TRUE(s.is_consistent() && StateFields::are_sound(s));
    tell(s, NodeGone{NodeId(2u)}, Millis(10 + round));
    EXPECT_FALSE(s.member(MemberId(9u)).is_placed());
    EXPECT_TRUE(s.job(JobId(5u)).is_started) << "its time runs on";
    EXPECT_EQ(s.job(JobId(5u)).end_at, Millis(1000));
    EXPECT_TRUE(s.is_consistent() && StateFields::are_sound(s));
  }
}

TEST(Holds, AreOwedDevicesThatTheirNodeLost) {
  State s = small_state();
  tell(s, HoldPlaced{hold_of(NodeId(0u), kFourDevices, devices(0xf0))});
  NodeDevices six = eight_devices().devices;
  six.count = 6;
  tell(s, NodeDevicesChanged{NodeId(0u), six});
  EXPECT_EQ(s.member(MemberId(9u)).devices, devices(0x30));
  EXPECT_EQ(s.cluster().idle_devices()[0], 2);
}

TEST(Holds, AreNotMovedEvictedOrGrownByEventsOfPods) {
  State s = small_state();
  tell(s, HoldPlaced{hold_of(NodeId(0u), kFourDevices)});
  const std::uint64_t digest = s.digest();
  tell(s, HoldPlaced{hold_of(NodeId(1u), kOneDevice)});
  tell(s, Bound{MemberId(9u), NodeId(1u), {}});
  tell(s, Nominated{MemberId(9u), NodeId(1u), 5});
  tell(s, Evicted{JobId(5u), Millis(5)});
  tell(s, Evicted{JobId(5u), Millis(5), MemberId(9u)});
  tell(s, MembersAdded{JobId(5u), 1, {{MemberId(10u), kOneDevice, kAnywhere}}});
  tell(s, EstimateChanged{JobId(5u), {Millis(5), Millis(5)}});
  EXPECT_EQ(s.digest(), digest);
  EXPECT_EQ(s.job(JobId(5u)).end_at, Millis(1000));
  EXPECT_FALSE(s.is_live(MemberId(10u)));
}

TEST(Holds, OfTwoNodesLastWithoutTheMemberThatIsGone) {
  State s = small_state();
  Hold hold = hold_of(NodeId(0u), kFourDevices);
  hold.parts.push_back({{MemberId(3u), kOneDevice, kAnywhere}, NodeId(1u), {}});
  tell(s, HoldPlaced{hold});
  EXPECT_EQ(s.job(JobId(5u)).devices_total, 5);
  tell(s, MemberGone{MemberId(9u)});
  ASSERT_EQ(s.holds()[0].parts.size(), 1u);
  EXPECT_EQ(s.holds()[0].parts[0].member.member, MemberId(3u));
  EXPECT_TRUE(s.is_consistent() && StateFields::are_sound(s));
  tell(s, MemberGone{MemberId(3u)});
  EXPECT_TRUE(s.holds()[0].parts.empty() && s.job(JobId(5u)).is_started);
  EXPECT_TRUE(s.is_consistent() && StateFields::are_sound(s));
}

TEST(Holds, InATrialAreLiftedAndPutBackExactly) {
  State s = small_state();
  tell(s, HoldPlaced{hold_of(NodeId(0u), kFourDevices)});
  const std::uint64_t digest = s.digest();
  {
    Trial trial(s);
    trial.evict(JobId(5u));
    EXPECT_EQ(s.cluster().idle_devices()[0], 8);
  }
  EXPECT_EQ(s.digest(), digest);
  EXPECT_EQ(s.member(MemberId(9u)).phase, Member::Phase::kBound);
}

Hold held_for(HoldOwner owner, NodeId node, DemandId demand, DeviceMask on = {}) {
  Hold hold = hold_of(node, demand, on);
  hold.owner = owner;
  return hold;
}

constexpr QueueId kHolder{1u}, kBelowHolder{2u};

State with_queues() {
  State s = small_state();
  tell(s, QueueDefined{kHolder, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
  tell(s, QueueDefined{kBelowHolder, kHolder, {kUnlimited, kUnlimited, kUnlimited}});
  return s;
}

/// Of one member, in that queue, which is bound there.
void run(State& s, std::uint32_t job, QueueId queue, DemandId demand, NodeId node, DeviceMask on) {
  Workload w = workload(job, 20 + job, 1, demand);
  w.queue = queue;
  tell(s, Submitted{w});
  tell(s, Bound{MemberId(20 + job), node, on});
}

TEST(HoldsWithAnOwner, YieldToItsJobsAndToNobodyElse) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kFourDevices, devices(0x0f))});
  EXPECT_EQ(s.cluster().idle_devices()[0], 4);
  EXPECT_EQ(s.cluster().free(resource::kCpu)[0], 60'000);
  run(s, 0, kBelowHolder, kOneDevice, NodeId(0u), devices(0x01));
  EXPECT_EQ(s.cluster().idle_devices()[0], 4) << "of what is held for it";
  run(s, 1, kHolder, kNoDevices, NodeId(0u), {});
  EXPECT_EQ(s.cluster().free(resource::kCpu)[0], 60'000);
  run(s, 2, QueueId(0u), kOneDevice, NodeId(0u), devices(0x10));
  EXPECT_EQ(s.cluster().idle_devices()[0], 3) << "another's";
  run(s, 3, kHolder, kOneDevice, NodeId(0u), devices(0x20));
  EXPECT_EQ(s.cluster().idle_devices()[0], 2) << "on a device that is not held";
  EXPECT_TRUE(s.is_consistent() && StateFields::are_sound(s));
  const std::vector<Kept> kept = kept_on(s, NodeId(0u));
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].allocations.at(0).devices, devices(0x0e));
}

TEST(HoldsWithAnOwner, HaveAgainWhatItsJobsLeave) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kFourDevices)});
  const std::uint64_t digest = s.digest();
  run(s, 0, kHolder, kFourDevices, NodeId(0u), devices(0x0f));
  EXPECT_TRUE(kept_on(s, NodeId(0u)).at(0).allocations.empty());
  tell(s, Ended{JobId(0u)});
  EXPECT_EQ(s.digest(), digest);
  EXPECT_TRUE(s.is_consistent());
}

TEST(HoldsWithAnOwner, KeepTheRestOfADeviceThatIsShared) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kFourDevices, devices(0x0f))});
  run(s, 0, kHolder, kHalfADevice, NodeId(0u), devices(0x01));
  EXPECT_EQ(s.cluster().device_free_milli()[0], 0) << "half is used, half is held";
  tell(s, Ended{JobId(5u)});
  EXPECT_EQ(s.cluster().device_free_milli()[0], 500);
  EXPECT_TRUE(s.is_consistent());
}

TEST(HoldsWithAnOwner, AreOwedLessIfItsJobsHaveTheDevices) {
  State s = with_queues();
  run(s, 0, kHolder, kFourDevices, NodeId(0u), devices(0x0f));
  run(s, 1, QueueId(0u), kOneDevice, NodeId(0u), devices(0x10));
  Hold all = held_for({.queue = kHolder, .job = {}}, NodeId(0u), kFourDevices);
  all.parts.push_back({{MemberId(10u), kFourDevices, kAnywhere}, NodeId(0u), {}});
  tell(s, HoldPlaced{all});
  EXPECT_EQ(s.cluster().idle_devices()[0], -1) << "the device of another";
  tell(s, Ended{JobId(1u)});
  EXPECT_EQ(s.cluster().idle_devices()[0], 0);
  EXPECT_TRUE(s.is_consistent());
}

/// All of a node's devices are held for the queue; another one's job uses four of them.
State with_a_node_held_whole() {
  State s = with_queues();
  run(s, 1, QueueId(0u), kFourDevices, NodeId(0u), devices(0xf0));
  Hold all = held_for({.queue = kHolder, .job = {}}, NodeId(0u), kFourDevices);
  all.parts.push_back({{MemberId(10u), kFourDevices, kAnywhere}, NodeId(0u), {}});
  tell(s, HoldPlaced{all});
  return s;
}

TEST(HoldsWithAnOwner, AreOwedLessIfItsJobsAreOwedDevices) {
  State s = with_a_node_held_whole();
  EXPECT_EQ(s.cluster().idle_devices()[0], -4);
  run(s, 0, kHolder, kOneDevice, NodeId(0u), {});
  EXPECT_EQ(s.cluster().idle_devices()[0], -4) << "of what is owed to the hold";
  EXPECT_TRUE(s.is_consistent());
}

TEST(HoldsWithAnOwner, YieldFirstWhereTheyAreForFewestJobs) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = QueueId(0u), .job = {}}, NodeId(0u), kFourDevices, devices(0x0f))});
  Hold own = held_for({.queue = {}, .job = JobId(0u)}, NodeId(0u), kFourDevices, devices(0xf0));
  own.job = JobId(6u);
  own.parts[0].member.member = MemberId(10u);
  tell(s, HoldPlaced{own});
  run(s, 0, kHolder, kNoDevices, NodeId(0u), {});
  const std::vector<Kept> kept = kept_on(s, NodeId(0u));
  EXPECT_EQ(amount_of(kept.at(0).allocations.at(0).demand, resource::kCpu), 4000);
  EXPECT_EQ(amount_of(kept.at(1).allocations.at(0).demand, resource::kCpu), 3000);
}

TEST(HoldsWithAnOwner, FollowAQueueThatMoves) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kFourDevices)});
  run(s, 0, kBelowHolder, kFourDevices, NodeId(0u), devices(0x0f));
  EXPECT_EQ(s.cluster().idle_devices()[0], 4);
  tell(s, QueueDefined{kBelowHolder, QueueId(0u), {kUnlimited, kUnlimited, kUnlimited}});
  EXPECT_EQ(s.cluster().idle_devices()[0], 0) << "its job is another's now";
  EXPECT_TRUE(s.is_consistent());
  tell(s, QueueDefined{kBelowHolder, kHolder, {kUnlimited, kUnlimited, kUnlimited}});
  EXPECT_EQ(s.cluster().idle_devices()[0], 4);
}

TEST(HoldsWithAnOwner, EndWithTheJobTheyAreFor) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = {}, .job = JobId(0u)}, NodeId(0u), kFourDevices)}, Millis(1));
  run(s, 0, kHolder, kOneDevice, NodeId(0u), devices(0x01));
  EXPECT_EQ(s.holds()[0].until, Millis(1000)) << "placed before its job was submitted";
  tell(s, Ended{JobId(0u)}, Millis(7));
  EXPECT_EQ(s.holds()[0].until, Millis(7)) << "so the next decision ends it";
}

TEST(HoldsWithAnOwner, LeaveItsJobsThePlaceWhereOthersHaveMoreThanIsLeft) {
  State s = with_a_node_held_whole();
  run(s, 0, kHolder, kFourDevices, NodeId(0u), devices(0x0f));
  const Demand four = s.demand(kFourDevices);
  EXPECT_TRUE(s.cluster().is_overcommitted(NodeId(0u), four, devices(0x0f)));
  EXPECT_FALSE(is_overcommitted(s, NodeId(0u), four, devices(0x0f)));
  run(s, 2, QueueId(0u), kOneDevice, NodeId(0u), devices(0x01));
  EXPECT_TRUE(is_overcommitted(s, NodeId(0u), four, devices(0x0f)));
}

TEST(HoldsWithAnOwner, LeaveOthersThePlaceOnADeviceThatIsHeld) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kFourDevices, devices(0x0f))});
  run(s, 1, QueueId(0u), kOneDevice, NodeId(0u), devices(0x01));
  const Demand one = s.demand(kOneDevice);
  EXPECT_TRUE(s.cluster().is_overcommitted(NodeId(0u), one, devices(0x01)));
  EXPECT_FALSE(is_overcommitted(s, NodeId(0u), one, devices(0x01)));
  run(s, 2, QueueId(0u), kOneDevice, NodeId(0u), devices(0x01));
  EXPECT_TRUE(is_overcommitted(s, NodeId(0u), one, devices(0x01))) << "two have it";
}

TEST(HoldsWithAnOwner, LeaveOthersThePlaceWithTheirPort) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kOnePort)});
  const Demand port = s.demand(kOnePort);
  run(s, 1, QueueId(0u), kOnePort, NodeId(0u), {});
  EXPECT_FALSE(is_overcommitted(s, NodeId(0u), port, {})) << "it is held, but no other has it";
  run(s, 2, QueueId(0u), kOnePort, NodeId(0u), {});
  EXPECT_TRUE(is_overcommitted(s, NodeId(0u), port, {}));
}

TEST(HoldsWithAnOwner, LeaveOthersThePlaceWithTheLastCores) {
  State s = with_queues();
  constexpr DemandId kAllCores{20u};
  tell(s, DemandDefined{kAllCores, {.amounts = {{resource::kCpu, 64'000}}}});
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kFourDevices)});
  run(s, 1, QueueId(0u), kAllCores, NodeId(0u), {});
  EXPECT_EQ(s.cluster().free(resource::kCpu)[0], -4000);
  EXPECT_FALSE(is_overcommitted(s, NodeId(0u), s.demand(kAllCores), {}));
  run(s, 2, QueueId(0u), kNoDevices, NodeId(0u), {});
  EXPECT_TRUE(is_overcommitted(s, NodeId(0u), s.demand(kAllCores), {}));
}

TEST(HoldsWithAnOwner, KeepTheLastUnitOfAnAmount) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kOneDevice)});
  EXPECT_EQ(s.cluster().free(resource::kPods)[0], 99);
}

TEST(HoldsWithAnOwner, YieldAPortOnce) {
  State s = with_queues();
  Hold both = held_for({.queue = kHolder, .job = {}}, NodeId(0u), kOnePort);
  both.parts.push_back({{MemberId(10u), kOnePort, kAnywhere}, NodeId(0u), {}});
  tell(s, HoldPlaced{both});
  run(s, 0, kHolder, kOnePort, NodeId(0u), {});
  const std::vector<Kept> kept = kept_on(s, NodeId(0u));
  EXPECT_TRUE(kept.at(0).allocations.empty());
  EXPECT_EQ(kept.at(1).allocations.at(0).demand.ports.size(), 1u);
}

TEST(HoldsWithAnOwner, YieldTheMemoryThatAShareTakes) {
  State s = with_queues();
  NodeFacts facts = eight_devices();
  facts.devices.memory_each = MiB(80'000);
  tell(s, NodeSeen{NodeId(0u), facts});
  constexpr DemandId kHeldShare{20u}, kShare{21u};
  tell(s, DemandDefined{kHeldShare, {.amounts = {}, .devices = {1, MilliGpu(500), MiB(40'000)}}});
  tell(s, DemandDefined{kShare, {.amounts = {}, .devices = {1, MilliGpu(250), MiB(10'000)}}});
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kHeldShare, devices(0x01))});
  run(s, 0, kHolder, kShare, NodeId(0u), devices(0x01));
  EXPECT_EQ(s.cluster().device_free_mib(NodeId(0u))[0], 40'000);
  EXPECT_EQ(kept_on(s, NodeId(0u)).at(0).allocations.at(0).demand.devices,
            (DeviceRequest{1, MilliGpu(250), MiB(30'000)}));
}

TEST(HoldsWithAnOwner, InATrialKeepWhatThePlacedMemberLeaves) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kFourDevices)});
  Workload w = workload(0, 20, 1, kOneDevice);
  w.queue = kHolder;
  tell(s, Submitted{w});
  const std::uint64_t digest = s.digest();
  {
    Trial trial(s);
    trial.lift(kNine);
    EXPECT_EQ(s.cluster().idle_devices()[0], 8);
    trial.place(MemberId(20u), NodeId(0u), devices(0x02));
    trial.put_back(kNine);
    EXPECT_EQ(s.cluster().idle_devices()[0], 4);
    EXPECT_EQ(kept_on(s, NodeId(0u)).at(0).allocations.at(0).devices, devices(0x0d));
    EXPECT_TRUE(s.is_consistent());
  }
  EXPECT_EQ(s.digest(), digest);
  EXPECT_EQ(s.member(MemberId(9u)).phase, Member::Phase::kBound);
}

TEST(HoldsWithAnOwner, InATrialTakeNoOtherHoldWithThem) {
  State s = with_queues();
  tell(s, HoldPlaced{held_for({.queue = kHolder, .job = {}}, NodeId(0u), kOneDevice)});
  Hold later = hold_of(NodeId(0u), kFourDevices);
  later.job = JobId(6u);
  later.parts[0].member.member = MemberId(10u);
  later.from = Millis(500);
  tell(s, HoldPlaced{later}, Millis(100));
  Workload w = workload(0, 20, 1, kOneDevice);
  w.queue = kHolder;
  w.estimate = {Millis(200), Millis(400)};
  tell(s, Submitted{w}, Millis(100));
  tell(s, Bound{MemberId(20u), NodeId(0u), kept_on(s, NodeId(0u)).at(0).allocations.at(0).devices}, Millis(100));
  ASSERT_EQ(s.cluster().idle_devices()[0], 3) << "it has what is held for its queue, though it may use both";
  Trial trial(s);
  trial.lift(kNine);
  EXPECT_EQ(s.cluster().idle_devices()[0], 3) << "that hold is used up, and the other one yields nothing for it";
  trial.put_back(kNine);
  EXPECT_EQ(s.cluster().idle_devices()[0], 3);
}

TEST(HoldsThatBeginLater, YieldToJobsThatWillHaveEnded) {
  State s = small_state();
  Hold hold = hold_of(NodeId(0u), kFourDevices, devices(0x0f));
  hold.from = Millis(500);
  tell(s, HoldPlaced{hold}, Millis(100));
  EXPECT_EQ(s.cluster().idle_devices()[0], 4) << "kept from all whose end is not known";
  Workload w = workload(0, 20, 1, kOneDevice);
  w.estimate = {Millis(200), Millis(400)};
  tell(s, Submitted{w}, Millis(100));
  tell(s, Bound{MemberId(20u), NodeId(0u), devices(0x01)}, Millis(100));
  EXPECT_EQ(s.job(JobId(0u)).ends_by, Millis(500));
  EXPECT_EQ(s.cluster().idle_devices()[0], 4) << "of the hold's";
  EXPECT_TRUE(s.is_consistent() && StateFields::are_sound(s));
  tell(s, EstimateChanged{JobId(0u), {Millis(300), Millis(500)}}, Millis(150));
  EXPECT_EQ(s.cluster().idle_devices()[0], 3) << "it would last beyond the begin";
  EXPECT_EQ(s.freed_nodes().back(), NodeId(0u));
  EXPECT_TRUE(s.is_consistent());
}

TEST(HoldsThatBeginLater, OfNoDevicesKeepNoneWhateverIsNamed) {
  State s = small_state();
  Hold hold = hold_of(NodeId(0u), kNoDevices, devices(0x01));
  hold.from = Millis(500);
  tell(s, HoldPlaced{hold});
  EXPECT_EQ(s.cluster().idle_devices()[0], 8);
  Ledger(s).begin_hold(JobId(5u));
  EXPECT_EQ(s.cluster().idle_devices()[0], 8);
  EXPECT_TRUE(s.is_consistent());
}

TEST(HoldsThatBeginLater, AreKeptFromAllOnceTheyHaveBegun) {
  State s = small_state();
  Hold hold = hold_of(NodeId(0u), kFourDevices, devices(0x0f));
  hold.from = Millis(500);
  tell(s, HoldPlaced{hold});
  Workload w = workload(0, 20, 1, kOneDevice);
  w.estimate = {Millis(200), Millis(200)};
  tell(s, Submitted{w});
  tell(s, Bound{MemberId(20u), NodeId(0u), devices(0x01)});
  EXPECT_EQ(s.cluster().idle_devices()[0], 4);
  Ledger(s).begin_hold(JobId(5u));
  EXPECT_EQ(s.cluster().idle_devices()[0], 3) << "the job is still there";
  EXPECT_TRUE(s.yielding().empty());
  EXPECT_TRUE(s.is_consistent() && StateFields::are_sound(s));
  tell(s, Ended{JobId(0u)});
  EXPECT_EQ(s.cluster().idle_devices()[0], 4);
}

TEST(HoldsThatBeginLater, HaveBegunIfTheirTimeIsPast) {
  State s = small_state();
  Hold hold = hold_of(NodeId(0u), kFourDevices);
  hold.from = Millis(500);
  tell(s, HoldPlaced{hold}, Millis(500));
  EXPECT_FALSE(s.holds()[0].yields());
}

TEST(HoldsThatBeginLater, InATrialYieldToAJobThatIsExpectedToHaveEnded) {
  State s = small_state();
  Hold hold = hold_of(NodeId(0u), kFourDevices);
  hold.from = Millis(500);
  tell(s, HoldPlaced{hold});
  tell(s, Submitted{workload(0, 20, 1, kOneDevice)});
  const std::uint64_t digest = s.digest();
  {
    Trial trial(s);
    trial.expect_end(JobId(0u), Millis(500));
    trial.lift(kNine);
    trial.place(MemberId(20u), NodeId(0u), devices(0x01));
    trial.put_back(kNine);
    EXPECT_EQ(s.cluster().idle_devices()[0], 4);
    trial.expect_end(JobId(0u), Millis(501));
    EXPECT_EQ(s.cluster().idle_devices()[0], 3);
    EXPECT_TRUE(s.is_consistent());
  }
  EXPECT_EQ(s.job(JobId(0u)).ends_by, Millis::max());
  EXPECT_EQ(s.digest(), digest);
}

}  // namespace
}  // namespace ashlar
