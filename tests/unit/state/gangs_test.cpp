// Gangs of groups: when they have their minimum, in which order members are placed, and what is counted of each group.
#include <gtest/gtest.h>

#include "small_state.h"
#include "state/state_fields.h"
#include "state/trial.h"

namespace ashlar {
namespace {

constexpr GangSpecId kLeaderAndWorkers{0u};

/// Member 0 of group 0, which needs it; members 1 to 4 of group 1, which needs two of them.
Workload leader_and_workers() {
  Workload w = workload(3, 0, 5, kOneDevice);
  w.spec = kLeaderAndWorkers;
  for (std::size_t m = 1; m < w.members.size(); ++m) w.members[m].group = 1;
  return w;
}

State with_gang() {
  State s = small_state();
  tell(s, GangSpecDefined{kLeaderAndWorkers, {{{1, {}, {}}, {2, {}, {}}}}});
  tell(s, Submitted{leader_and_workers()});
  return s;
}

const Job& gang(const State& s) { return s.job(JobId(3u)); }

std::vector<std::uint32_t> waiting(const State& s) {
  std::vector<std::uint32_t> rows;
  s.each_waiting(JobId(3u), [&](MemberId m, const Member&) {
    rows.push_back(m.value);
    return true;
  });
  return rows;
}

void expect_sound(const State& s) { EXPECT_TRUE(s.is_consistent() && StateFields::are_sound(s)); }

TEST(Gangs, NeedTheMinimumOfEachGroup) {
  State s = with_gang();
  EXPECT_EQ(gang(s).members_min, 3u);
  EXPECT_EQ(gang(s).members_needed(), 3u);
  for (const std::uint32_t worker : {1u, 2u, 3u}) tell(s, Bound{MemberId(worker), NodeId(0u), {}});
  EXPECT_EQ(gang(s).members_placed, 3u);
  EXPECT_EQ(gang(s).members_lacking(), 1u) << "the leader";
  EXPECT_FALSE(gang(s).is_started || gang(s).waits_for_surplus());
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  EXPECT_TRUE(gang(s).is_started && gang(s).waits_for_surplus());
  EXPECT_EQ(gang(s).members_needed(), 1u);
  expect_sound(s);
}

TEST(Gangs, PlaceWhatGroupsLackBeforeSurplus) {
  State s = with_gang();
  EXPECT_EQ(waiting(s), (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  tell(s, Bound{MemberId(1u), NodeId(0u), {}});
  tell(s, Bound{MemberId(2u), NodeId(0u), {}});
  EXPECT_EQ(waiting(s), (std::vector<std::uint32_t>{0, 3, 4}));
  tell(s, MembersAdded{JobId(3u), 1, {{.member = MemberId(9u), .demand = kOneDevice, .constraint = kAnywhere}}});
  EXPECT_EQ(waiting(s), (std::vector<std::uint32_t>{0, 3, 4, 9})) << "the leader's group has its minimum without it";
  tell(s, MemberGone{MemberId(0u)});
  EXPECT_EQ(waiting(s), (std::vector<std::uint32_t>{9, 3, 4}));
  std::vector<std::uint32_t> needed;
  s.each_needed(JobId(3u), [&](MemberId m, const Member&) { needed.push_back(m.value); });
  EXPECT_EQ(needed, std::vector<std::uint32_t>{9});
  expect_sound(s);
}

TEST(Gangs, WaitForMissingMembersOfAGroup) {
  State s = with_gang();
  EXPECT_TRUE(gang(s).is_in_backlog);
  tell(s, MemberGone{MemberId(0u)});
  EXPECT_EQ(gang(s).members_present, 4u) << "more than the minimum of all groups together";
  EXPECT_FALSE(gang(s).is_in_backlog || s.has_minimum_present(JobId(3u)));
  tell(s, MembersAdded{JobId(3u), 1, {{.member = MemberId(9u), .demand = kOneDevice, .constraint = kAnywhere}}});
  EXPECT_TRUE(gang(s).is_in_backlog);
  EXPECT_EQ(gang(s).members_min, 3u) << "the groups say how many";
  expect_sound(s);
}

TEST(Gangs, OfWhichEachMemberIsNeededHaveNoMinimumOfGroups) {
  State s = with_gang();
  tell(s, Bound{MemberId(3u), NodeId(0u), {}});
  tell(s, MembersAdded{JobId(3u), 0, {}});
  EXPECT_TRUE(gang(s).is_started) << "one is enough now";
  EXPECT_EQ(gang(s).members_needed(), 1u);
  EXPECT_FALSE(gang(s).waits_for_surplus());
  EXPECT_EQ(waiting(s), (std::vector<std::uint32_t>{0, 1, 2, 4})) << "in rank order";
  tell(s, MembersAdded{JobId(3u), 1, {}});
  EXPECT_EQ(gang(s).members_lacking(), 2u);
  expect_sound(s);
}

TEST(Gangs, CountTheirGroupsBackExactly) {
  State s = with_gang();
  tell(s, Bound{MemberId(1u), NodeId(0u), {}});
  const std::vector<GroupCount> before = s.groups_of(JobId(3u));
  EXPECT_EQ(before, (std::vector<GroupCount>{{1, 0}, {4, 1}}));
  {
    Trial trial(s);
    for (const std::uint32_t m : {0u, 2u, 3u, 4u}) trial.place(MemberId(m), NodeId(1u), devices(1u << m));
    EXPECT_EQ(gang(s).members_lacking(), 0u);
    trial.evict(MemberId(0u));
    trial.evict(MemberId(2u));
    EXPECT_EQ(gang(s).members_lacking(), 1u) << "the leader; two workers are left";
    expect_sound(s);
  }
  EXPECT_EQ(s.groups_of(JobId(3u)), before);
  EXPECT_EQ(gang(s).members_lacking(), 2u);
  expect_sound(s);
}

TEST(Gangs, AnchorsAreThoseOfTheGroup) {
  State s = small_state(0);
  tell(s, LevelsDefined{1, 0});
  for (std::uint32_t n = 0; n < 2; ++n) {
    NodeFacts facts = eight_devices();
    facts.domains = {DomainId(n)};
    tell(s, NodeSeen{NodeId(n), facts});
  }
  tell(s, GangSpecDefined{kLeaderAndWorkers, {{{1, {}, {}}, {2, LevelId(0u), {}}}}});
  tell(s, Submitted{leader_and_workers()});
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  EXPECT_TRUE(s.anchor(JobId(3u), LevelId(0u), 1).is_none());
  tell(s, Bound{MemberId(2u), NodeId(1u), {}});
  EXPECT_EQ(s.anchor(JobId(3u), LevelId(0u)), DomainId(0u));
  EXPECT_EQ(s.anchor(JobId(3u), LevelId(0u), 1), DomainId(1u));
}

TEST(Gangs, GiveTheirRowBackWhenTheyEnd) {
  State s = with_gang();
  tell(s, Bound{MemberId(0u), NodeId(0u), {}});
  EXPECT_TRUE(s.gangs().is_used(kLeaderAndWorkers));
  tell(s, Ended{JobId(3u)});
  EXPECT_FALSE(s.gangs().is_used(kLeaderAndWorkers));
  expect_sound(s);
  tell(s, GangSpecDefined{kLeaderAndWorkers, {}});
  EXPECT_TRUE(s.gang_spec(kLeaderAndWorkers).groups.empty());
}

}  // namespace
}  // namespace ashlar
