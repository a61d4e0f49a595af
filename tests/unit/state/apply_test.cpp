// apply(): what each kind of event does to the state, also when it comes late, twice or about nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "small_state.h"
#include "state/cluster/usable_devices.h"
#include "state/state_fields.h"
#include "state/trial.h"

namespace ashlar {
namespace {

const Job& job(const State& s, std::uint32_t row) { return s.job(JobId(row)); }
const Member& member(const State& s, std::uint32_t row) { return s.member(MemberId(row)); }

TEST(Apply, ASubmittedJobWaitsInTheBacklog) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 2, kFourDevices)});
  EXPECT_TRUE(s.is_live(JobId(0u)));
  EXPECT_TRUE(job(s, 0).is_in_backlog);
  EXPECT_EQ(job(s, 0).devices_total, 8);
  EXPECT_EQ(s.backlog_size(), 1u);
  EXPECT_EQ(member(s, 1).phase, Member::Phase::kWaiting);
}

TEST(Apply, AJobShortOfMembersIsNotInTheBacklogUntilTheyCome) {
  State s = small_state();
  Workload w = workload(0, 0, 2, kOneDevice);
  w.members_min = 3;
  tell(s, Submitted{w});
  EXPECT_FALSE(job(s, 0).is_in_backlog);
  tell(s, MembersAdded{JobId(0u), 3, {{MemberId(2u), kOneDevice, kAnywhere}}});
  EXPECT_TRUE(job(s, 0).is_in_backlog);
  EXPECT_EQ(job(s, 0).members_present, 3u);
}

TEST(Apply, ABoundMemberTakesItsDevicesAndLeavesTheBacklog) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(1u), devices(0xf0)});
  EXPECT_FALSE(job(s, 0).is_in_backlog);
  EXPECT_TRUE(job(s, 0).is_started);
  EXPECT_EQ(s.cluster().idle_devices()[1], 4);
  EXPECT_EQ(s.cluster().free(resource::kCpu)[1], 60'000);
  EXPECT_EQ(member(s, 0).devices, devices(0xf0));
}

TEST(Apply, ABindWithoutDevicesTakesTheFirstIdleOnes) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 2, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  tell(s, Bound{MemberId(1u), NodeId(0u), {}});
  EXPECT_EQ(member(s, 0).devices, devices(0x0f));
  EXPECT_EQ(member(s, 1).devices, devices(0xf0));
}

TEST(Apply, AConfirmationChangesNothingButThePhase) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kOneDevice)});
  Trial trial(s);
  trial.place(MemberId(0u), NodeId(0u), devices(1));
  trial.commit();
  const std::uint64_t digest = s.digest();
  tell(s, Bound{MemberId(0u), NodeId(0u), devices(1)});
  EXPECT_EQ(s.digest(), digest);
  EXPECT_EQ(member(s, 0).phase, Member::Phase::kBound);
  tell(s, BindRejected{MemberId(0u)});  // too late
  EXPECT_EQ(member(s, 0).phase, Member::Phase::kBound);
}

TEST(Apply, ARejectedBindGivesTheDevicesBackAndWaitsAgain) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kOneDevice)});
  const std::uint64_t digest = s.digest();
  Trial trial(s);
  trial.place(MemberId(0u), NodeId(0u), devices(1));
  trial.commit();
  Ledger(s).start(JobId(0u), Millis(0));
  EXPECT_FALSE(job(s, 0).is_in_backlog);
  tell(s, BindRejected{MemberId(0u)});
  EXPECT_EQ(s.digest(), digest);
  EXPECT_TRUE(job(s, 0).is_in_backlog);
  EXPECT_TRUE(s.timeline().ends().empty());
}

TEST(Apply, TheWorldOverridesAnAssumption) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  Trial trial(s);
  trial.place(MemberId(0u), NodeId(0u), devices(0x0f));
  trial.commit();
  tell(s, Bound{MemberId(0u), NodeId(1u), devices(0x0f)});
  EXPECT_EQ(s.cluster().idle_devices()[0], 8);
  EXPECT_EQ(s.cluster().idle_devices()[1], 4);
}

TEST(Apply, DevicesThatANodeDoesNotHaveAreNotTaken) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), {0xc0, 0xff}});
  EXPECT_EQ(s.cluster().idle_devices()[0], 4);  // two by name, two owed
  EXPECT_TRUE(s.is_consistent());
}

TEST(Apply, ANodeThatLosesDevicesInUseOwesThem) {
  State s = small_state(1);
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), devices(0xf0)});
  NodeFacts fewer = eight_devices();
  fewer.devices.count = 6;
  tell(s, NodeSeen{NodeId(0u), fewer});
  EXPECT_EQ(s.cluster().idle_devices()[0], 2);
  EXPECT_EQ(member(s, 0).devices, devices(0x30));
  tell(s, MemberGone{MemberId(0u)});
  EXPECT_EQ(s.cluster().idle_devices()[0], 6);
  EXPECT_TRUE(s.is_consistent());
}

TEST(Apply, ALostNodeUnplacesItsMembersAndOnlyThose) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 2, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  tell(s, Bound{MemberId(1u), NodeId(1u), {}});
  tell(s, NodeGone{NodeId(0u)});
  EXPECT_FALSE(member(s, 0).is_placed());
  EXPECT_TRUE(member(s, 1).is_placed());
  EXPECT_TRUE(job(s, 0).is_started);
  EXPECT_TRUE(job(s, 0).is_in_backlog);
  EXPECT_EQ(s.cluster().live_count(), 1u);
  EXPECT_TRUE(s.is_consistent());
}

TEST(Apply, AMemberThatEndsLeavesTheOthersInRankOrder) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 3, kOneDevice)});
  tell(s, MemberGone{MemberId(1u)});
  std::vector<MemberId> left;
  s.each_member(JobId(0u), [&](MemberId m, const Member&) { left.push_back(m); });
  EXPECT_EQ(left, (std::vector{MemberId(0u), MemberId(2u)}));
  tell(s, MemberGone{MemberId(2u)});
  tell(s, MembersAdded{JobId(0u), 2, {{MemberId(7u), kOneDevice, kAnywhere}}});
  EXPECT_EQ(job(s, 0).last, MemberId(7u));
}

TEST(Apply, RowsMayBeUsedAgainAfterTheEnd) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  tell(s, Ended{JobId(0u)});
  EXPECT_FALSE(s.is_live(JobId(0u)));
  EXPECT_FALSE(s.is_live(MemberId(0u)));
  EXPECT_EQ(s.cluster().idle_devices()[0], 8);
  tell(s, Submitted{workload(0, 0, 1, kOneDevice)});
  EXPECT_TRUE(job(s, 0).is_in_backlog);
  EXPECT_EQ(job(s, 0).devices_total, 1);
}

TEST(Apply, TheSameSubmissionTwiceIsOne) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 2, kOneDevice)});
  tell(s, Submitted{workload(0, 0, 2, kOneDevice)});
  EXPECT_EQ(job(s, 0).members_present, 2u);
  EXPECT_EQ(s.backlog_size(), 1u);
}

TEST(Apply, AnEvictedJobGoesToTheTailWithWhatIsLeftToRun) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(s, Submitted{workload(1, 1, 1, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  tell(s, Evicted{JobId(0u), Millis(40'000)}, Millis(10'000));
  EXPECT_EQ(job(s, 0).remaining, Millis(40'000));
  EXPECT_EQ(job(s, 0).served, Millis(10'000));
  EXPECT_EQ(job(s, 0).evictions, 1u);
  EXPECT_GT(job(s, 0).backlog_seq, job(s, 1).backlog_seq);
  EXPECT_EQ(job(s, 0).queued_at, Millis(10'000));
  EXPECT_EQ(job(s, 0).submitted, Millis(0));
  EXPECT_EQ(s.cluster().idle_devices()[0], 8);
}

TEST(Apply, AnEvictedMemberLeavesTheOthersInTheirPlaces) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 2, kFourDevices)});
  tell(s, Submitted{workload(1, 2, 1, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  tell(s, Bound{MemberId(1u), NodeId(1u), {}});
  tell(s, Evicted{JobId(1u), Millis(1), MemberId(0u)}, Millis(5'000));
  EXPECT_TRUE(s.member(MemberId(0u)).is_placed()) << "a member of another job";
  const std::uint64_t frees = s.unforeseen_frees();
  tell(s, Evicted{JobId(0u), Millis(40'000), MemberId(0u)}, Millis(10'000));
  EXPECT_FALSE(s.member(MemberId(0u)).is_placed());
  EXPECT_TRUE(s.member(MemberId(1u)).is_placed());
  EXPECT_TRUE(job(s, 0).is_started);
  EXPECT_EQ(job(s, 0).evictions, 1u);
  EXPECT_EQ(job(s, 0).queued_at, Millis(10'000));
  EXPECT_GT(job(s, 0).backlog_seq, job(s, 1).backlog_seq);
  EXPECT_GT(s.unforeseen_frees(), frees);
  EXPECT_EQ(s.freed_nodes().back(), NodeId(0u));
  tell(s, Evicted{JobId(0u), Millis(40'000), MemberId(1u)}, Millis(20'000));
  EXPECT_FALSE(job(s, 0).is_started) << "none is left";
  EXPECT_EQ(job(s, 0).remaining, Millis(40'000));
  EXPECT_TRUE(s.timeline().ends().empty());
  EXPECT_TRUE(s.is_consistent());
}

TEST(Apply, TimeNeverRunsBackwards) {
  State s = small_state();
  tell(s, Tick{}, Millis(500));
  tell(s, Tick{}, Millis(100));
  EXPECT_EQ(s.now(), Millis(500));
}

TEST(Apply, AnotherSchedulersPodsAreAccountedAndNeverWait) {
  State s = small_state();
  Workload w = workload(0, 0, 1, kFourDevices);
  w.is_ours = false;
  tell(s, Submitted{w});
  EXPECT_FALSE(job(s, 0).is_in_backlog);
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  EXPECT_EQ(s.cluster().idle_devices()[0], 4);
}

TEST(Apply, ANominationKeepsTheNodesCapacityUntilItIsWithdrawn) {
  State s = small_state();
  Workload w = workload(0, 0, 1, kFourDevices);
  w.is_ours = false;
  tell(s, Submitted{w});
  tell(s, Nominated{MemberId(0u), NodeId(1u), 10});
  EXPECT_EQ(s.cluster().idle_devices()[1], 4);
  tell(s, Nominated{MemberId(0u), NodeId::none(), 0});
  EXPECT_EQ(s.cluster().idle_devices()[1], 8);
}

TEST(Apply, EventsAboutRowsThatNeverWereChangeNothing) {
  State s = small_state();
  const std::uint64_t digest = s.digest();
  tell(s, Ended{JobId(99u)});
  tell(s, MemberGone{MemberId(99u)});
  tell(s, NodeGone{NodeId(99u)});
  tell(s, Bound{MemberId(99u), NodeId(0u), {}});
  tell(s, BindRejected{MemberId(99u)});
  tell(s, Evicted{JobId(99u), Millis(1)});
  tell(s, PriorityChanged{JobId(99u), 1});
  tell(s, EstimateChanged{JobId(99u), {}});
  tell(s, ConstraintChanged{MemberId(99u), kAnywhere});
  tell(s, Nominated{MemberId(99u), NodeId(0u), 1});
  tell(s, MembersAdded{JobId(99u), 1, {}});
  EXPECT_EQ(s.digest(), digest);
  EXPECT_TRUE(s.is_consistent());
}

TEST(Apply, ANewEstimateMovesTheEndOfARunningJob) {
  State s = small_state();
  Workload w = workload(0, 0, 1, kFourDevices);
  w.estimate = {100_s, 100_s};
  tell(s, Submitted{w});
  tell(s, Bound{MemberId(0u), NodeId(1u), {}}, 10_s);
  const std::uint64_t unforeseen_frees = s.unforeseen_frees();
  tell(s, EstimateChanged{JobId(0u), {300_s, 400_s}}, 50_s);
  ASSERT_EQ(s.timeline().ends().size(), 1u);
  EXPECT_EQ(s.timeline().ends().front().at, 410_s);
  EXPECT_EQ(job(s, 0).end_at, 410_s);
  EXPECT_GT(s.unforeseen_frees(), unforeseen_frees);
  tell(s, EstimateChanged{JobId(0u), {}}, 60_s);
  EXPECT_EQ(s.timeline().ends().front().at, Millis::max());
  tell(s, EstimateChanged{JobId(0u), {200_s, 200_s}}, 70_s);
  EXPECT_EQ(s.timeline().ends().front().at, 210_s);
  tell(s, Ended{JobId(0u)}, 80_s);
  EXPECT_TRUE(s.timeline().ends().empty());
}

TEST(Apply, ANewEstimateOfAStoppedJobKeepsWhatItHasRun) {
  State s = small_state();
  Workload w = workload(0, 0, 1, kFourDevices);
  w.estimate = {100_s, 100_s};
  tell(s, Submitted{w});
  tell(s, Bound{MemberId(0u), NodeId(1u), {}});
  tell(s, Evicted{JobId(0u), 70_s}, 40_s);
  tell(s, EstimateChanged{JobId(0u), {150_s, 150_s}}, 50_s);
  EXPECT_EQ(job(s, 0).remaining, 120_s);
  tell(s, EstimateChanged{JobId(0u), {10_s, 10_s}}, 60_s);
  EXPECT_EQ(job(s, 0).remaining, 0_s);
}

TEST(Apply, TheTimelineHasLateEnds) {
  State s = small_state();
  Workload w = workload(0, 0, 1, kFourDevices);
  w.estimate = {100_s, 150_s};
  tell(s, Submitted{w});
  tell(s, Bound{MemberId(0u), NodeId(1u), {}}, 10_s);
  EXPECT_EQ(s.timeline().ends().front(), (Timeline::End{160_s, 4, JobId(0u)}));
  tell(s, EstimateChanged{JobId(0u), {50_s, 200_s}}, 20_s);
  EXPECT_EQ(s.timeline().ends().front(), (Timeline::End{210_s, 4, JobId(0u)}));
  EXPECT_EQ(job(s, 0).expected_end(20_s), 60_s);
  const std::uint64_t unforeseen = s.unforeseen_frees();
  tell(s, Ended{JobId(0u)}, 60_s);
  EXPECT_EQ(s.unforeseen_frees(), unforeseen + 1) << "by the median, and so earlier than reservations rest on";
}

TEST(Apply, AnExpectedEndIsNeverInThePast) {
  State s = small_state();
  Workload w = workload(0, 0, 1, kFourDevices);
  w.estimate = {100_s, 150_s};
  tell(s, Submitted{w});
  tell(s, Bound{MemberId(0u), NodeId(1u), {}});
  EXPECT_EQ(job(s, 0).expected_end(99_s), 100_s);
  EXPECT_EQ(job(s, 0).expected_end(100_s), 150_s);
  EXPECT_EQ(job(s, 0).expected_end(150_s), 151_s);
  EXPECT_EQ(job(s, 0).expected_end(151_s), 152_s);
  EXPECT_EQ(job(s, 0).expected_end(152_s), 154_s);
  EXPECT_EQ(job(s, 0).expected_end(10'000_s), 150_s + 16'384_s);
  EXPECT_EQ(job(s, 0).expected_end(Millis::max()), Millis::max())
      << "the end of time needs no more steps than any other";
  EXPECT_EQ(job(s, 0).late_end(99_s), 150_s);
  EXPECT_EQ(job(s, 0).late_end(150_s), 151_s);
  EXPECT_EQ(job(s, 0).late_end(152_s), 154_s);
  EXPECT_EQ(job(s, 0).late_end(Millis::max()), Millis::max());
  EXPECT_EQ(job(s, 0).late_end_if_started(7_s), 157_s);
  w = workload(1, 1, 1, kOneDevice);
  w.estimate = {100_s, Millis::max()};
  tell(s, Submitted{w});
  EXPECT_EQ(job(s, 1).late_end_if_started(0_s), 100_s);
}

TEST(Apply, RisesNameTheNodesThatGotFreer) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(1u), {}});
  Ledger(s).forget_news_of_nodes();
  tell(s, Ended{JobId(0u)});
  EXPECT_TRUE(std::ranges::equal(s.freed_nodes(), std::vector{NodeId(1u)}));
}

TEST(State, AnchorIsTheDomainWhereMembersSit) {
  State s = small_state(0);
  tell(s, LevelsDefined{1, 0});
  NodeFacts facts = eight_devices();
  facts.domains = {DomainId(4u)};
  tell(s, NodeSeen{NodeId(0u), facts});
  tell(s, Submitted{workload(0, 0, 2, kOneDevice)});
  EXPECT_TRUE(s.anchor(JobId(0u), LevelId(0u)).is_none());
  tell(s, Bound{MemberId(1u), NodeId(0u), {}});
  EXPECT_EQ(s.anchor(JobId(0u), LevelId(0u)), DomainId(4u));
}

TEST(State, ChoosesTheFittingDeviceWithLeastLeftForAShare) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 3, kHalfADevice)});
  tell(s, Bound{MemberId(0u), NodeId(0u), devices(4)});
  EXPECT_EQ(choose_devices(s.cluster(), NodeId(0u), s.demand(kHalfADevice).devices, {}), devices(4));
  tell(s, Bound{MemberId(1u), NodeId(0u), {}});
  EXPECT_EQ(choose_devices(s.cluster(), NodeId(0u), s.demand(kHalfADevice).devices, {}), devices(1));
}

TEST(State, CountsAPodOnlyOnDevicesWithTheMemoryThatItRequests) {
  const DeviceRequest whole{1, MilliGpu(1000), MiB(60'000)}, share{1, MilliGpu(500), MiB(60'000)};
  const auto chosen = [](MiB known, const DeviceRequest& request) {
    State s = small_state(0);
    NodeFacts facts = eight_devices();
    facts.devices.memory_each = known;
    tell(s, NodeSeen{NodeId(0u), facts});
    return choose_devices(s.cluster(), NodeId(0u), request, {});
  };
  for (const DeviceRequest& request : {whole, share}) {
    EXPECT_EQ(chosen(MiB(80'000), request), devices(1));
    EXPECT_TRUE(chosen(MiB(40'000), request).is_empty()) << "it is owed a device, not known which";
    EXPECT_EQ(chosen(MiB(0), request), devices(1)) << "what is not known is not checked";
  }
}

TEST(State, SharesMeetOnADeviceOfUnknownMemory) {
  State s = small_state();
  tell(s, DemandDefined{kHalfADevice, {{}, {1, MilliGpu(500), MiB(20'000)}, {}}});
  tell(s, Submitted{workload(0, 0, 2, kHalfADevice)});
  for (const MemberId member : {MemberId(0u), MemberId(1u)}) tell(s, Bound{member, NodeId(0u), {}});
  EXPECT_EQ(s.member(MemberId(0u)).devices, devices(1));
  EXPECT_EQ(s.member(MemberId(1u)).devices, devices(1));
  EXPECT_EQ(s.cluster().idle_devices()[0], 7);
}

TEST(DeviceHealth, UnhealthyDevicesTakeNothingNewAndKeepWhatIsOnThem) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), devices(0x0f)});
  tell(s, Submitted{workload(1, 1, 1, kHalfADevice)});
  tell(s, Bound{MemberId(1u), NodeId(0u), devices(0x10)});
  const std::uint64_t digest = s.digest();
  tell(s, DeviceHealthChanged{NodeId(0u), devices(0x31)});  // in use, half in use, idle
  EXPECT_EQ(s.cluster().idle_devices()[0], 2);
  EXPECT_EQ(s.cluster().free_milli()[0], 2000);
  EXPECT_EQ(s.member(MemberId(0u)).devices, devices(0x0f));
  EXPECT_EQ(s.queues().used(QueueId(0u))[0], 4500);
  EXPECT_EQ(choose_devices(s.cluster(), NodeId(0u), s.demand(kHalfADevice).devices, {}), devices(0x40));
  EXPECT_TRUE(choose_devices(s.cluster(), NodeId(0u), s.demand(kFourDevices).devices, {}).count() == 2);
  EXPECT_NE(s.digest(), digest);
  tell(s, Ended{JobId(0u)});
  EXPECT_EQ(s.cluster().idle_devices()[0], 5) << "its first device is unhealthy";
  EXPECT_TRUE(s.is_consistent());
  tell(s, DeviceHealthChanged{NodeId(0u), {}});
  EXPECT_EQ(s.cluster().idle_devices()[0], 7);
  EXPECT_EQ(s.cluster().free_milli()[0], 7500);
  EXPECT_TRUE(s.is_consistent());
}

TEST(DeviceHealth, OutlastsOtherReportsOfTheNodeUntilItIsGone) {
  State s = small_state();
  tell(s, DeviceHealthChanged{NodeId(0u), devices(0x82)});
  NodeFacts facts = eight_devices();
  facts.devices.count = 4;
  tell(s, NodeDevicesChanged{NodeId(0u), facts.devices});
  EXPECT_EQ(s.cluster().idle_devices()[0], 3);
  EXPECT_EQ(s.cluster().unhealthy_device_count(), 1u);
  tell(s, NodeSeen{NodeId(0u), eight_devices()});
  EXPECT_EQ(s.cluster().idle_devices()[0], 6);
  EXPECT_EQ(s.cluster().unhealthy_devices(NodeId(0u)), devices(0x82));
  tell(s, NodeGone{NodeId(0u)});
  EXPECT_EQ(s.cluster().unhealthy_device_count(), 0u);
  tell(s, DeviceHealthChanged{NodeId(0u), devices(1)});
  tell(s, NodeSeen{NodeId(0u), eight_devices()});
  EXPECT_EQ(s.cluster().idle_devices()[0], 8);
  EXPECT_TRUE(s.is_consistent());
}

/// A device plugin that starts again: its node reports few devices, or none, and then all.
class DevicesThatGoAndReturn : public ::testing::TestWithParam<int> {
 protected:
  void report(int count, bool as_node) {
    NodeFacts facts = eight_devices();
    facts.devices.count = count;
    if (count == 0) facts.devices.device_class = DeviceClassId::none();
    if (as_node)
      tell(s, NodeSeen{NodeId(0u), facts});
    else
      tell(s, NodeDevicesChanged{NodeId(0u), facts.devices});
    EXPECT_TRUE(s.is_consistent());
    EXPECT_TRUE(StateFields::are_sound(s));
  }
  void start(std::uint32_t job, std::uint64_t on) {
    tell(s, Submitted{workload(job, job, 1, kFourDevices)});
    tell(s, Bound{MemberId(job), NodeId(0u), devices(on)});
  }
  const DeviceMask& of(std::uint32_t member) const { return s.member(MemberId(member)).devices; }
  State s = small_state();
};
INSTANTIATE_TEST_SUITE_P(To, DevicesThatGoAndReturn, ::testing::Values(0, 1, 5));

TEST_P(DevicesThatGoAndReturn, AreThoseOfTheMembersThatHadThem) {
  for (const bool as_node : {false, true}) {
    s = small_state();
    start(0, 0x0f);
    start(1, 0xf0);
    report(GetParam(), as_node);
    EXPECT_EQ(of(0), devices(0x0f & ((1u << GetParam()) - 1)));
    EXPECT_EQ(s.cluster().idle_devices()[0], GetParam() - 8) << "the rest is owed";
    tell(s, Ended{JobId(1u)});
    report(8, as_node);
    EXPECT_EQ(of(0), devices(0x0f));
    EXPECT_EQ(s.cluster().idle_devices()[0], 4);
    start(2, 0);
    EXPECT_EQ(of(2), devices(0xf0)) << "what the other one had is free";
  }
}

TEST_P(DevicesThatGoAndReturn, AreThoseOfAMemberThatIsHeardOfWhileTheyAreAway) {
  report(GetParam(), false);
  start(0, 0x0f);
  const std::uint64_t digest = s.digest();
  tell(s, Bound{MemberId(0u), NodeId(0u), devices(0x0f)});
  EXPECT_EQ(s.digest(), digest) << "heard twice";
  report(8, false);
  EXPECT_EQ(of(0), devices(0x0f));
}

TEST_P(DevicesThatGoAndReturn, AreNoLongerThoseOfAMemberThatMovedOrEnded) {
  start(0, 0xf0);
  start(1, 0x0f);
  report(GetParam(), false);
  tell(s, Evicted{JobId(0u), Millis(0)});
  tell(s, Bound{MemberId(0u), NodeId(1u), devices(0x0f)});
  tell(s, Ended{JobId(1u)});
  start(1, 0);  // another pod in the same row, on what is there
  report(8, false);
  EXPECT_EQ(of(0), devices(0x0f));
  EXPECT_EQ(of(1), devices(0x0f & ((1u << GetParam()) - 1)));
  tell(s, Ended{JobId(0u)});
  tell(s, Ended{JobId(1u)});
  EXPECT_EQ(s.cluster().idle_devices()[0], 8);
  EXPECT_EQ(s.cluster().idle_devices()[1], 8);
}

TEST_P(DevicesThatGoAndReturn, AreHeldAgainAsBefore) {
  Hold hold{
      .job = JobId(9u),
      .parts = {
          {.member = {MemberId(9u), kFourDevices, ConstraintId(0u)}, .node = NodeId(0u), .devices = devices(0xf0)}}};
  tell(s, HoldPlaced{hold});
  report(GetParam(), false);
  report(8, false);
  EXPECT_EQ(of(9), devices(0xf0));
}

TEST(DeviceHealth, FreesANodeOnlyWhenADeviceIsHealthyAgain) {
  State s = small_state();
  const auto reported = [&](std::uint64_t unhealthy) {
    Ledger(s).forget_news_of_nodes();
    Ledger(s).forget_changed_nodes();
    tell(s, DeviceHealthChanged{NodeId(1u), devices(unhealthy)});
    return std::pair(s.freed_nodes().size(), s.changed_nodes().size());
  };
  EXPECT_EQ(reported(0x03), std::pair(std::size_t{0}, std::size_t{1}));
  EXPECT_EQ(reported(0x03), std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(reported(0x06), std::pair(std::size_t{1}, std::size_t{1}));
  EXPECT_EQ(reported(0x106), std::pair(std::size_t{0}, std::size_t{0})) << "the node has no ninth device";
  EXPECT_EQ(reported(0), std::pair(std::size_t{1}, std::size_t{1}));
}

TEST(Trial, AnEvictionRollsBackPhaseAndDevices) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), devices(0x3c)});
  const std::uint64_t digest = s.digest();
  {
    Trial trial(s);
    trial.evict(JobId(0u));
    EXPECT_EQ(s.cluster().idle_devices()[0], 8);
  }
  EXPECT_EQ(s.digest(), digest);
  EXPECT_EQ(member(s, 0).phase, Member::Phase::kBound);
  EXPECT_EQ(member(s, 0).devices, devices(0x3c));
}

TEST(Trial, UnblocksWhatWasBlockedSinceACheckpoint) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 2, kOneDevice)});
  const Demand ten_pods{.amounts = {{resource::kPods, 10}}};
  const auto free_pods = [&] { return s.cluster().free(resource::kPods)[0]; };
  Trial trial(s);
  trial.block(NodeId(0u), ten_pods, {});
  const std::size_t checkpoint = trial.checkpoint();
  trial.place(MemberId(0u), NodeId(0u), devices(0b1));
  trial.block(NodeId(0u), ten_pods, {});
  trial.block(NodeId(0u), ten_pods, {});
  trial.place(MemberId(1u), NodeId(0u), devices(0b10));
  trial.unblock(checkpoint);
  EXPECT_EQ(free_pods(), 100 - 10 - 2) << "what is older stays blocked, as what is placed";
  EXPECT_EQ(trial.steps().size(), 3u);
  trial.rollback_to(checkpoint);
  EXPECT_EQ(free_pods(), 90);
  trial.unblock();
  EXPECT_EQ(free_pods(), 100);
}

TEST(Apply, WhatRunsIsChargedForALimitThatComesLaterAndByTheClassOfItsNode) {
  State s = small_state();
  const QuotaVector none{kUnlimited, kUnlimited, kUnlimited};
  tell(s, Submitted{workload(0, 0, 2, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  tell(s, Bound{MemberId(1u), NodeId(1u), {}});
  const std::vector<QuotaLimit> limits{{{ResourceId::none(), DeviceClassId(0u)}, 6000},
                                       {{ResourceId::none(), DeviceClassId(1u)}, 6000},
                                       {{resource::kPods, {}}, 9}};
  tell(s, QueueDefined{QueueId(0u), QueueId::none(), none, limits});
  const auto used = [&](std::size_t key) { return s.queues().used(key, QueueId(0u)); };
  EXPECT_EQ(used(0), 8000);
  EXPECT_EQ(used(1), 0);
  EXPECT_EQ(used(2), 2);
  NodeFacts f = eight_devices();
  f.devices.device_class = DeviceClassId(1u);
  tell(s, NodeDevicesChanged{NodeId(1u), f.devices});
  EXPECT_EQ(used(0), 4000);
  EXPECT_EQ(used(1), 4000);
  tell(s, NodeSeen{NodeId(0u), f});
  EXPECT_EQ(used(0), 0);
  EXPECT_EQ(used(1), 8000);
  tell(s, NodeGone{NodeId(0u)});
  EXPECT_EQ(used(1), 4000);
  EXPECT_TRUE(s.is_consistent());
  EXPECT_TRUE(StateFields::are_sound(s));
}

TEST(TrialDeathTest, TakingAPlacedMemberIsABug) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 1, kOneDevice)});
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  EXPECT_DEATH(
      {
        Trial trial(s);
        trial.place(MemberId(0u), NodeId(1u), devices(1));
      },
      "this must hold");
}

TEST(Apply, ARowThatNobodyUsesIsDefinedAnew) {
  State s = small_state(1);
  const std::uint64_t first = s.edition(kOneDevice, kAnywhere);
  tell(s, DemandDefined{kOneDevice, s.demand(kOneDevice)});
  EXPECT_EQ(s.edition(kOneDevice, kAnywhere), first) << "told twice";
  tell(s, Submitted{workload(0, 0, 1, kOneDevice)});
  EXPECT_TRUE(s.is_used(kOneDevice));
  EXPECT_TRUE(s.is_used(kAnywhere));
  tell(s, Ended{JobId(0u)});
  EXPECT_FALSE(s.is_used(kOneDevice));
  EXPECT_FALSE(s.is_used(kAnywhere));
  tell(s, DemandDefined{kOneDevice, {.amounts = {}, .devices = {3, MilliGpu(1000), MiB(0)}, .ports = {}}});
  EXPECT_NE(s.edition(kOneDevice, kAnywhere), first);
  tell(s, Submitted{workload(1, 1, 1, kOneDevice)});
  tell(s, Bound{MemberId(1u), NodeId(0u), {}});
  EXPECT_EQ(s.cluster().idle_devices()[0], 5);
  EXPECT_TRUE(s.is_consistent());
}

TEST(Apply, AMemberUsesTheConstraintThatItHasNow) {
  State s = small_state(1);
  tell(s, ConstraintDefined{ConstraintId(1u), {}});
  tell(s, Submitted{workload(0, 0, 1, kOneDevice)});
  tell(s, ConstraintChanged{MemberId(0u), ConstraintId(1u)});
  EXPECT_FALSE(s.is_used(kAnywhere));
  EXPECT_TRUE(s.is_used(ConstraintId(1u)));
  EXPECT_TRUE(s.is_consistent());
}

TEST(ApplyDeath, ADemandInUseKeepsItsValue) {
  State s = small_state(1);
  tell(s, Submitted{workload(0, 0, 1, kOneDevice)});
  EXPECT_DEATH(tell(s, DemandDefined{kOneDevice, {}}), "is_used");
}

TEST(Apply, DevicesThatNobodyKnowsAreOwed) {
  State s = small_state(1);
  tell(s, Submitted{workload(0, 0, 1, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), DeviceMask::unknown()});
  EXPECT_EQ(s.cluster().idle_devices()[0], 4);
  for (const std::int32_t milli : s.cluster().device_free_milli(NodeId(0u))) EXPECT_EQ(milli, kWholeDevice);
  tell(s, Bound{MemberId(0u), NodeId(0u), DeviceMask::unknown()});
  EXPECT_EQ(s.cluster().idle_devices()[0], 4);
  tell(s, Ended{JobId(0u)});
  EXPECT_EQ(s.cluster().idle_devices()[0], 8);
  EXPECT_TRUE(s.is_consistent());
}

TEST(Apply, WholeDevicesThatADeviceIsTakenForBeyondItselfAreOwed) {
  State s = small_state(1);
  for (std::uint32_t j = 0; j < 3; ++j) {
    tell(s, Submitted{workload(j, j, 1, j < 2 ? kOneDevice : kHalfADevice)});
    tell(s, Bound{MemberId(j), NodeId(0u), devices(1)});
  }
  EXPECT_EQ(s.cluster().overfull_device_count(), 1u);
  EXPECT_EQ(s.cluster().idle_devices()[0], 6);
  EXPECT_TRUE(s.is_consistent());
  tell(s, NodeGone{NodeId(0u)});
  EXPECT_EQ(s.cluster().overfull_device_count(), 0u);
  EXPECT_TRUE(s.is_consistent());
}

TEST(Apply, BooksThatDoNotAddUpAreNoticed) {
  State s = small_state();
  tell(s, Submitted{workload(0, 0, 2, kFourDevices)});
  tell(s, Bound{MemberId(0u), NodeId(0u), devices(0xf)});
  ASSERT_TRUE(s.is_consistent());
  const auto charge_root = [&](std::int64_t amount) {
    int vectors = 0;
    StateFields::each(s, [&](auto& column) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(column)>, std::vector<QuotaVector>>)
        if (++vectors == 2) column[0][0] += amount;  // after the quotas: what is used
    });
  };
  charge_root(1);
  EXPECT_FALSE(s.is_consistent()) << "a queue is charged for what nobody holds";
  charge_root(-1);
  EXPECT_TRUE(s.is_consistent());
  Ledger(s).allocate(NodeId(1u), {.amounts = {}, .devices = {1, MilliGpu(kWholeDevice), {}}, .ports = {}}, devices(1));
  EXPECT_FALSE(s.is_consistent()) << "a device is taken that nobody holds";
}

}  // namespace
}  // namespace ashlar
