// FitTable: what it looks at to find the best node, and that its counts follow nodes from domain to domain.
#include "engine/place/tables/fit_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"
#include "state/trial.h"

namespace ashlar {
namespace {

constexpr std::uint32_t kRacks = 50, kNodesPerRack = 16;
constexpr LevelId kRackLevel{0u};

NodeFacts eight_devices_in(std::uint32_t rack) {
  NodeFacts facts = eight_devices();
  facts.domains = {DomainId(rack)};
  return facts;
}

/// Racks of sixteen nodes; on each node of rack r, r % 8 devices are taken.
State racks() {
  State s = small_state(0);
  tell(s, LevelsDefined{1, 0});
  std::uint32_t job = 0;
  for (std::uint32_t n = 0; n < kRacks * kNodesPerRack; ++n) {
    tell(s, NodeSeen{NodeId(n), eight_devices_in(n / kNodesPerRack)});
    for (std::uint32_t d = 0; d < n / kNodesPerRack % 8; ++d, ++job) {
      tell(s, Submitted{workload(job, job, 1, kOneDevice)});
      tell(s, Bound{MemberId(job), NodeId(n), {}});
    }
  }
  return s;
}

FitTable table_of(const State& state, const Profile& profile, DemandId demand = kOneDevice) {
  FitTable table(profile, demand, kAnywhere);
  table.open(state, 0);
  return table;
}

TEST(FitTable, TheBestNodeIsFoundWithoutALookAtMostNodes) {
  State s = racks();
  const Profile profile = *builtin_profile("ashlar");
  FitTable table = table_of(s, profile);
  // the racks with one idle device on each node are the fullest; the lowest row of them
  EXPECT_EQ(table.best(s), NodeId(7 * kNodesPerRack));
  EXPECT_LE(table.rated_count(), 6 * kNodesPerRack);
  tell(s, Submitted{workload(5000, 5000, 1, kOneDevice)});
  tell(s, Bound{MemberId(5000u), NodeId(7 * kNodesPerRack), {}});
  const std::uint64_t before = table.rated_count();
  EXPECT_EQ(table.best(s), NodeId(7 * kNodesPerRack + 1));
  EXPECT_LE(table.rated_count() - before, 1u);
}

TEST(FitTable, RacksWithoutANodeThatIsIdleEnoughAreNotLookedAt) {
  State s = racks();
  tell(s, DemandDefined{DemandId(20u), {.amounts = {}, .devices = {8, MilliGpu(1000), MiB(0)}, .ports = {}}});
  const Profile profile = *builtin_profile("ashlar");
  FitTable table = table_of(s, profile, DemandId(20u));
  // every rack has eight idle devices, but only racks 0, 8, ... have them on one node
  EXPECT_EQ(table.best(s), NodeId(0u));
  EXPECT_LE(table.rated_count(), 7 * kNodesPerRack);
}

/// The ranks of nodes are the same as in a table of all of them: a full one first, of like ones the lowest row.
TEST(FitTable, AKindForFewNodesLooksAtThese) {
  State s = racks();
  constexpr LabelKeyId kName{1u};
  const std::uint32_t rows[] = {3 * kNodesPerRack, 6 * kNodesPerRack + 1, 6 * kNodesPerRack + 5};
  std::vector<LabelId> names;
  for (const std::uint32_t row : rows) {
    NodeFacts facts = eight_devices_in(row / kNodesPerRack);
    facts.labels = {{kName, LabelId(row), NodeLabel::kNotANumber}};
    tell(s, NodeSeen{NodeId(row), facts});
    names.emplace_back(row);
  }
  Constraint few;
  few.any_of = {{{{kName, LabelExpression::Op::kIn, names, 0}}}};
  tell(s, ConstraintDefined{ConstraintId(1u), few});
  const Profile profile = *builtin_profile("ashlar");
  FitTable table(profile, kOneDevice, ConstraintId(1u));
  table.open(s, 0);
  EXPECT_EQ(table.best(s), NodeId(rows[1]));
  EXPECT_EQ(table.rated_count(), 3u);
}

/// Each of sixteen is looked at each time; of one more their ranks are kept.
TEST(FitTable, AKindForSixteenNodesIsForFew) {
  constexpr LabelKeyId kName{1u};
  const Profile profile = *builtin_profile("ashlar");
  for (const std::uint32_t count : {16u, 17u}) {
    State s = racks();
    std::vector<LabelId> names;
    for (std::uint32_t rack = 0; rack < count; ++rack) {
      NodeFacts facts = eight_devices_in(rack);
      facts.labels = {{kName, LabelId(rack), NodeLabel::kNotANumber}};
      tell(s, NodeSeen{NodeId(rack * kNodesPerRack), facts});
      names.emplace_back(rack);
    }
    Constraint few;
    few.any_of = {{{{kName, LabelExpression::Op::kIn, names, 0}}}};
    tell(s, ConstraintDefined{ConstraintId(1u), few});
    FitTable table(profile, kOneDevice, ConstraintId(1u));
    table.open(s, 0);
    EXPECT_EQ(table.best(s), NodeId(7 * kNodesPerRack));
    const std::uint64_t before = table.rated_count();
    EXPECT_EQ(table.best(s), NodeId(7 * kNodesPerRack));
    EXPECT_EQ(table.rated_count() - before, count == 16 ? 16u : 0u);
  }
}

TEST(FitTable, RacksWithoutNodesHideNoOther) {
  State s = racks();
  for (std::uint32_t n = 0; n < kNodesPerRack; ++n) tell(s, NodeGone{NodeId(7 * kNodesPerRack + n)});
  const Profile profile = *builtin_profile("ashlar");
  EXPECT_EQ(table_of(s, profile, kNoDevices).best(s), NodeId(15 * kNodesPerRack));
}

TEST(FitTables, WhatATrialHasUndoneIsNotLookedAtForAnotherKind) {
  State s = racks();
  const Profile profile = *builtin_profile("ashlar");
  FitTables tables(profile);
  FitTable& other = tables.get(s, kFourDevices, kAnywhere, 0);
  const NodeId best = other.best(s);
  const std::uint64_t before = other.rated_count();
  const auto jobs = static_cast<std::uint32_t>(s.job_rows());
  for (std::uint32_t i = 0; i < kRacks; ++i) {  // in a nearly empty rack, more than are followed one by one
    tell(s, Submitted{workload(jobs + i, jobs + i, 1, kNoDevices)});
    tell(s, Bound{MemberId(jobs + i), NodeId(0u), {}});
  }
  const std::uint64_t changes = s.cluster().change_count();
  {
    Trial trial(s);
    constexpr std::uint32_t kFirstOfRackSix = kNodesPerRack * (0 + 1 + 2 + 3 + 4 + 5);
    for (std::uint32_t job = kFirstOfRackSix; job < kFirstOfRackSix + 50; ++job) trial.evict(JobId(job));
    EXPECT_FALSE(tables.get(s, kOneDevice, kAnywhere, 0).best(s).is_none());
  }
  tables.pass_over_undone_changes(s, changes);
  EXPECT_EQ(tables.get(s, kFourDevices, kAnywhere, 0).best(s), best);
  EXPECT_EQ(other.rated_count(), before);
}

TEST(FitTable, CountsFollowANodeThatComesBackInAnotherDomain) {
  State s = racks();
  const Profile profile = *builtin_profile("ashlar");
  FitTable table = table_of(s, profile);
  table.count(s);
  const std::vector<std::uint32_t> before(table.room(s, kRackLevel).begin(), table.room(s, kRackLevel).end());
  tell(s, NodeGone{NodeId(0u)});
  tell(s, NodeSeen{NodeId(0u), eight_devices_in(kRacks + 5)});
  table.count(s);
  EXPECT_EQ(table.room(s, kRackLevel)[0], before[0] - 8);
  ASSERT_GT(table.room(s, kRackLevel).size(), kRacks + 5);
  EXPECT_EQ(table.room(s, kRackLevel)[kRacks + 5], 8u);
  tell(s, NodeSeen{NodeId(0u), eight_devices_in(0)});
  tell(s, NodeSeen{NodeId(kRacks * kNodesPerRack), eight_devices_in(1)});  // a new row
  table.count(s);
  EXPECT_EQ(table.room(s, kRackLevel)[0], before[0]);
  EXPECT_EQ(table.room(s, kRackLevel)[1], before[1] + 8);
  EXPECT_EQ(table.room(s, kRackLevel)[kRacks + 5], 0u);
}

TEST(FitTable, MoreMovesThanAreRememberedAreNotLost) {
  State s = racks();
  const Profile profile = *builtin_profile("ashlar");
  FitTable table = table_of(s, profile);
  table.count(s);
  const std::uint32_t before = table.room(s, kRackLevel)[0];
  for (std::size_t i = 0; i <= Topology::kMovesMax; ++i)
    tell(s, NodeSeen{NodeId(0u), eight_devices_in(static_cast<std::uint32_t>(i % 2))});
  table.count(s);
  EXPECT_EQ(table.room(s, kRackLevel)[0], Topology::kMovesMax % 2 == 0 ? before : before - 8);
}

TEST(FitTable, ManyChangedNodesAreCountedAsEachByItself) {
  const Profile profile = *builtin_profile("ashlar");
  // apart; side by side; some of both, one of them twice; across the end of a word of 64 rows
  const std::vector<std::vector<std::uint32_t>> sets = {
      {3, 70, 150, 220, 300, 370, 440, 500, 580, 640},
      {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27},
      {799, 0, 32, 33, 34, 32, 36, 37, 38, 39, 40, 41, 400},
      {60, 61, 62, 63, 64, 65, 66, 67, 127, 128},
  };
  for (const std::vector<std::uint32_t>& set : sets) {
    State s = racks();
    FitTable table = table_of(s, profile);
    table.count(s);
    ASSERT_FALSE(table.room(s, kRackLevel).empty());
    std::uint32_t job = 5000;
    for (const std::uint32_t row : set) {
      tell(s, Submitted{workload(job, job, 1, kOneDevice)});
      tell(s, Bound{MemberId(job++), NodeId(row), {}});
    }
    table.count(s);
    FitTable anew = table_of(s, profile);
    anew.count(s);
    EXPECT_TRUE(std::ranges::equal(table.fits(), anew.fits())) << set.front();
    EXPECT_TRUE(std::ranges::equal(table.room(s, kRackLevel), anew.room(s, kRackLevel))) << set.front();
    EXPECT_EQ(table.room_everywhere(), anew.room_everywhere()) << set.front();
  }
}

TEST(FitTable, AProfileThatRanksDomainsAloneFindsNodes) {
  State s = racks();
  Profile profile = *builtin_profile("ashlar");
  profile.tiers = {{find_score("best-fit-domain")}};
  EXPECT_EQ(table_of(s, profile).best(s), NodeId(7 * kNodesPerRack));
}

/// Racks of which two nodes are in one zone, with rules of one constraint about pods of one application.
struct ZonedRacks {
  static constexpr LabelKeyId kZone{1u}, kApp{50u};
  static constexpr LabelId kOneZone{10u}, kWeb{500u};
  static constexpr PodSelectorId kWebPods{0u};
  static constexpr ConstraintId kRule{1u};
  static constexpr NodeId kFirst{7 * kNodesPerRack + 1}, kSecond{7 * kNodesPerRack + 2};
  State s = racks();

  explicit ZonedRacks(const Constraint& rule) {
    for (const NodeId n : {kFirst, kSecond}) {
      NodeFacts facts = eight_devices_in(n.row() / kNodesPerRack);
      facts.labels = {{kZone, kOneZone, NodeLabel::kNotANumber}};
      tell(s, NodeSeen{n, facts});
    }
    tell(s, LabelSetDefined{LabelSetId(0u), {.ns = NamespaceId(0u), .labels = {{kApp, kWeb}}}});
    PodSelector web;
    web.namespaces = {NamespaceId(0u)};
    web.all = {{kApp, LabelExpression::Op::kIn, {kWeb}, 0}};
    tell(s, PodSelectorDefined{kWebPods, web});
    tell(s, ConstraintDefined{kRule, rule});
  }
  void run_web(NodeId node) {
    Workload one = workload(5000, 5000, 1, kNoDevices);
    one.members[0].labels = LabelSetId(0u);
    tell(s, Submitted{one});
    tell(s, Bound{MemberId(5000u), node, {}});
  }
};

TEST(FitTable, AmongOtherPoliciesANodeIsLookedAtAgainWhenItIsPreferredMore) {
  Constraint rule;
  rule.prefers_pods = {{.selector = ZonedRacks::kWebPods, .topology = ZonedRacks::kZone, .weight = 10}};
  ZonedRacks w(rule);
  Profile profile = *builtin_profile("ashlar");
  profile.tiers = {{find_score("prefer"), find_score("pack-tight")}};
  FitTable table(profile, kOneDevice, ZonedRacks::kRule);
  table.open(w.s, 0);
  EXPECT_EQ(table.best(w.s), NodeId(7 * kNodesPerRack));
  w.run_web(ZonedRacks::kSecond);
  table.open(w.s, 0);
  EXPECT_EQ(table.best(w.s), ZonedRacks::kFirst) << "the pod is in its zone";
}

TEST(FitTables, TheLeastRecentlyUsedIsDropped) {
  State s = racks();
  for (std::uint32_t d = 10; d < 20; ++d)
    tell(s, DemandDefined{DemandId(d), {.amounts = {{resource::kCpu, d}, {resource::kPods, 1}}}});
  const Profile profile = *builtin_profile("ashlar");
  FitTables tables(profile, 1);  // eight are kept at least
  for (std::uint32_t d = 10; d < 18; ++d) tables.get(s, DemandId(d), kAnywhere, 0).best(s);
  EXPECT_GT(tables.get(s, DemandId(10u), kAnywhere, 0).rated_count(), 0u);
  tables.get(s, DemandId(18u), kAnywhere, 0);
  EXPECT_EQ(tables.size(), 8u);
  EXPECT_GT(tables.get(s, DemandId(10u), kAnywhere, 0).rated_count(), 0u);
  EXPECT_EQ(tables.get(s, DemandId(11u), kAnywhere, 0).rated_count(), 0u);
}

}  // namespace
}  // namespace ashlar
