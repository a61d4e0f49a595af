// The nodes where a search for the earliest start evicts, compared with a search that evicts everywhere.
#include "engine/reserve/deciding_nodes.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>
#include <vector>

#include "../state/small_state.h"
#include "base/rng.h"
#include "engine/place/placement.h"
#include "state/trial.h"

namespace ashlar {
namespace {

constexpr DemandId kEightEach{20u};
constexpr LevelId kOwnRack{0u};
constexpr std::uint32_t kNodesInAll = 12, kNodesOfARack = 3, kHeadRow = 500;

/// Racks of three nodes; the last node is in none.
State racks_of_three() {
  State state = small_state(0);
  tell(state, LevelsDefined{1, 0});
  tell(state, DemandDefined{kEightEach, {.amounts = {}, .devices = {8, MilliGpu(1000), MiB(0)}, .ports = {}}});
  for (std::uint32_t n = 0; n < kNodesInAll; ++n) {
    NodeFacts facts = eight_devices();
    facts.domains = {n == kNodesInAll - 1 ? DomainId::none() : DomainId(n / kNodesOfARack)};
    tell(state, NodeSeen{NodeId(n), facts});
  }
  return state;
}

/// The head that waits; its members are alike unless the first is a leader without devices.
Workload waiting_head(std::uint32_t members, DemandId demand, LevelId within, bool has_leader = false) {
  Workload w = workload(kHeadRow, kHeadRow, members, demand);
  w.within = within;
  if (has_leader) w.members.front().demand = kNoDevices;
  return w;
}

void occupy(State& state, std::uint32_t job, std::uint32_t node, DemandId demand = kOneDevice) {
  tell(state, Submitted{workload(job, job, 1, demand)});
  tell(state, Bound{MemberId(job), NodeId(node), {}});
}

std::set<std::uint32_t> rows_of(const DecidingNodes& nodes) {
  std::set<std::uint32_t> rows;
  const std::vector<std::uint8_t> decides = nodes.list();
  for (std::uint32_t n = 0; n < decides.size(); ++n)
    if (decides[n] != 0) rows.insert(n);
  return rows;
}

struct BusyRacks {
  Profile profile = *builtin_profile("ashlar");
  State state = racks_of_three();
  explicit BusyRacks(const Workload& waiting) {
    for (std::uint32_t n = 0; n < kNodesInAll; ++n) occupy(state, n, n);
    tell(state, Submitted{waiting});
  }
  DecidingNodes nodes() const { return {state, profile, JobId(kHeadRow)}; }
};

TEST(DecidingNodes, OfAGangInOneRackAreTheRacksThatMayHoldIt) {
  const BusyRacks busy(waiting_head(2, kEightEach, kOwnRack));
  DecidingNodes nodes = busy.nodes();
  ASSERT_TRUE(nodes.are_known());
  nodes.free(JobId(0u));
  nodes.free(JobId(3u));
  EXPECT_EQ(rows_of(nodes), std::set<std::uint32_t>{}) << "no rack has two idle nodes";
  nodes.free(JobId(5u));
  EXPECT_EQ(rows_of(nodes), (std::set<std::uint32_t>{3, 4, 5})) << "with the node between, of which others know";
  nodes.start_anew();
  EXPECT_EQ(rows_of(nodes), std::set<std::uint32_t>{});
}

TEST(DecidingNodes, OfAGangAnywhereAreNodesWithEnoughIdle) {
  const BusyRacks busy(waiting_head(2, kEightEach, LevelId::none()));
  DecidingNodes nodes = busy.nodes();
  nodes.free(JobId(4u));
  nodes.free(JobId(11u));
  EXPECT_EQ(rows_of(nodes), (std::set<std::uint32_t>{4, 11}));
}

TEST(DecidingNodes, OfAMemberByItselfAreWholeGroups) {
  const BusyRacks busy(waiting_head(1, kEightEach, LevelId::none()));
  DecidingNodes nodes = busy.nodes();
  nodes.free(JobId(4u));
  EXPECT_EQ(rows_of(nodes), (std::set<std::uint32_t>{3, 4, 5})) << "points of domains count what is idle in all of it";
}

TEST(DecidingNodes, AreNotKnownWhereOtherNodesMayCount) {
  EXPECT_FALSE(BusyRacks(waiting_head(1, kOneDevice, LevelId::none())).nodes().are_known())
      << "nearly every node has one";
  EXPECT_FALSE(BusyRacks(waiting_head(2, kHalfADevice, kOwnRack)).nodes().are_known()) << "shares";
  EXPECT_FALSE(BusyRacks(waiting_head(3, kEightEach, LevelId::none(), true)).nodes().are_known())
      << "the leader fits anywhere";
  EXPECT_TRUE(BusyRacks(waiting_head(3, kEightEach, kOwnRack, true)).nodes().are_known())
      << "in the rack of its workers";
  Workload prefers = waiting_head(2, kEightEach, LevelId::none());
  prefers.prefer = kOwnRack;
  EXPECT_FALSE(BusyRacks(prefers).nodes().are_known());
  BusyRacks placed(waiting_head(2, kEightEach, kOwnRack));
  tell(placed.state, Bound{MemberId(kHeadRow), NodeId(0u), {}});
  EXPECT_FALSE(placed.nodes().are_known()) << "it stays where it is";
  BusyRacks held(waiting_head(2, kEightEach, kOwnRack));
  Hold hold{.job = JobId(50u), .parts = {{.member = {MemberId(50u), kFourDevices, kAnywhere}, .node = NodeId(0u)}}};
  hold.owner.job = JobId(kHeadRow);
  tell(held.state, HoldPlaced{hold});
  EXPECT_FALSE(held.nodes().are_known()) << "it may use what is held";
}

using Places = std::vector<std::tuple<MemberId, NodeId, std::uint64_t>>;

/// Where the head is placed once these jobs are evicted; none: it is not.
Places placed_without(State& state, const Profile& profile, const std::vector<JobId>& gone) {
  FitTables tables(profile);
  Trial trial(state);
  for (const JobId job : gone) trial.evict(job);
  Rng draws(1);
  Places places;
  if (!place_job({trial, tables, profile, draws}, JobId(kHeadRow)).is_placed) return places;
  each_placement(trial.steps(), [&](const Trial::Placement& placed) {
    places.emplace_back(placed.member, placed.node, placed.devices.low);
  });
  return places;
}

TEST(DecidingNodes, GiveTheHeadThePlaceThatItHasWithoutAllThatHaveEnded) {
  int placed = 0, spared = 0;
  const Workload heads[] = {
      waiting_head(1, kEightEach, LevelId::none()), waiting_head(1, kFourDevices, LevelId::none()),
      waiting_head(2, kEightEach, LevelId::none()), waiting_head(3, kFourDevices, LevelId::none()),
      waiting_head(2, kEightEach, kOwnRack),        waiting_head(3, kFourDevices, kOwnRack),
      waiting_head(3, kEightEach, kOwnRack, true)};
  for (const std::string_view name : {"ashlar", "spread"}) {
    const Profile profile = *builtin_profile(name);
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
      Rng rng(seed);
      State state = racks_of_three();
      std::vector<JobId> ended;
      for (std::uint32_t job = 0; job < 60; ++job) {
        const DemandId demand = rng.below(3) != 0 ? kOneDevice : kFourDevices;
        const NodeId node(static_cast<std::uint32_t>(rng.below(kNodesInAll)));
        if (state.cluster().idle_devices()[node.row()] < state.demand(demand).devices.count) continue;
        occupy(state, job, node.value, demand);
        if (rng.below(4) != 0) ended.emplace_back(job);
      }
      tell(state, Submitted{heads[seed % std::size(heads)]});
      DecidingNodes nodes(state, profile, JobId(kHeadRow));
      ASSERT_TRUE(nodes.are_known());
      for (const JobId job : ended) nodes.free(job);
      const std::vector<std::uint8_t> decides = nodes.list();
      std::vector<JobId> there;
      for (const JobId job : ended)
        if (decides[state.member(state.job(job).first).node.row()] != 0) there.push_back(job);
      const Places expected = placed_without(state, profile, ended);
      ASSERT_EQ(placed_without(state, profile, there), expected) << name << ", seed " << seed;
      placed += expected.empty() ? 0 : 1;
      spared += static_cast<int>(ended.size() - there.size());
    }
  }
  EXPECT_GT(placed, 2000);
  EXPECT_GT(spared, 20000);
}

}  // namespace
}  // namespace ashlar
