// Holds: what they take, when they give it back, and what they ignore.
#include <gtest/gtest.h>

#include "small_state.h"
#include "state/state_fields.h"
#include "state/trial.h"

namespace ashlar {
namespace {

Hold hold_of(NodeId node, DemandId demand, DeviceMask on = {}) {
  return {JobId(5u), Millis(1000), {{{MemberId(9u), demand, kAnywhere}, node, on}}};
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

}  // namespace
}  // namespace ashlar
