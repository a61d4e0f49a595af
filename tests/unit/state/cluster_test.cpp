// Cluster: columns, feasibility sets and the change log follow every change.
#include "state/cluster/cluster.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "small_state.h"

namespace ashlar {
namespace {

constexpr LabelKeyId kZone{1u}, kCores{2u};
constexpr LabelId kZoneA{10u}, kZoneB{11u};

NodeFacts in_zone(LabelId zone, std::int64_t cores) {
  NodeFacts f = eight_devices();
  f.labels = {{kZone, zone, NodeLabel::kNotANumber}, {kCores, LabelId(20u), cores}};
  return f;
}

/// A rule such as src/policy/node has: ready, and in the first zone that the selector names.
bool is_ready_in_zone(const Constraint& constraint, const NodeFacts& facts, const NodeContext&) {
  return facts.is_ready && !facts.labels.empty() && facts.labels[0].id == constraint.selector.all[0].values[0];
}

bool is_in_zone(const Constraint& constraint, const NodeFacts& facts, const NodeContext&) {
  return !facts.labels.empty() && facts.labels[0].id == constraint.selector.all[0].values[0];
}

TEST(Cluster, AllowedNodesFollowFactsAsTheyChange) {
  State s = small_state(0);
  Constraint zone_a;
  zone_a.selector.all = {{kZone, LabelExpression::Op::kIn, {kZoneA}, 0}};
  tell(s, ConstraintDefined{ConstraintId(1u), zone_a});
  tell(s, NodeSeen{NodeId(0u), in_zone(kZoneA, 1)});
  tell(s, NodeSeen{NodeId(1u), in_zone(kZoneB, 1)});
  EXPECT_TRUE(s.cluster().allowed(ConstraintId(1u), is_ready_in_zone).test(0));
  EXPECT_FALSE(s.cluster().allowed(ConstraintId(1u), is_ready_in_zone).test(1));
  tell(s, NodeSeen{NodeId(1u), in_zone(kZoneA, 1)});
  NodeFacts cordoned = in_zone(kZoneA, 1);
  cordoned.is_ready = false;
  tell(s, NodeSeen{NodeId(0u), cordoned});
  EXPECT_FALSE(s.cluster().allowed(ConstraintId(1u), is_ready_in_zone).test(0));
  EXPECT_TRUE(s.cluster().allowed(ConstraintId(1u), is_ready_in_zone).test(1));
  tell(s, NodeGone{NodeId(1u)});
  EXPECT_EQ(s.cluster().allowed(ConstraintId(1u), is_ready_in_zone).count(), 0u);
}

TEST(Cluster, AllowedNodesAreEvaluatedWhereFactsChangedAndWhenTheyAreAskedFor) {
  State s = small_state(8);
  Constraint zone_a;
  zone_a.selector.all = {{kZone, LabelExpression::Op::kIn, {kZoneA}, 0}};
  for (std::uint32_t c = 1; c <= 50; ++c) {
    tell(s, ConstraintDefined{ConstraintId(c), zone_a});
    EXPECT_EQ(s.cluster().allowed(ConstraintId(c), is_ready_in_zone).count(), 0u);
  }
  const std::uint64_t before = s.cluster().evaluation_count();
  for (std::uint32_t n = 0; n < 4; ++n) tell(s, NodeSeen{NodeId(n), in_zone(kZoneA, 1)});
  EXPECT_EQ(s.cluster().evaluation_count(), before) << "nobody asked";
  EXPECT_EQ(s.cluster().allowed(ConstraintId(7u), is_ready_in_zone).count(), 4u);
  EXPECT_EQ(s.cluster().evaluation_count(), before + 4);
  EXPECT_EQ(s.cluster().allowed(ConstraintId(7u), is_ready_in_zone).count(), 4u);
  EXPECT_EQ(s.cluster().evaluation_count(), before + 4);
  EXPECT_TRUE(s.is_consistent());
}

bool is_in_zone_by_facts(const Constraint& constraint, const NodeFacts& facts) {
  return !facts.labels.empty() && facts.labels[0].id == constraint.selector.all[0].values[0];
}
bool tolerates_all(const Constraint&, const NodeFacts&) { return true; }

TEST(Cluster, AConstraintForFewNodesIsComparedWithTheseOnly) {
  State s = small_state(0);
  const auto label = [](std::uint32_t n) { return LabelId(100 + n); };
  for (std::uint32_t n = 0; n < 200; ++n) tell(s, NodeSeen{NodeId(n), in_zone(label(n), 1)});
  const NodeRules rules{is_ready_in_zone, is_in_zone_by_facts, tolerates_all};
  for (std::uint32_t c = 1; c <= 100; ++c) {
    Constraint one;
    one.selector.all = {{kZone, LabelExpression::Op::kIn, {label(c)}, 0}};
    tell(s, ConstraintDefined{ConstraintId(c), one});
    EXPECT_TRUE(s.cluster().allowed(ConstraintId(c), rules).test(c));
    EXPECT_EQ(s.cluster().allowed(ConstraintId(c), rules).count(), 1u);
  }
  EXPECT_EQ(s.cluster().evaluation_count(), 100u);
  tell(s, NodeSeen{NodeId(150u), in_zone(label(7), 1)});
  EXPECT_EQ(s.cluster().allowed(ConstraintId(7u), rules).count(), 2u) << "evaluated before the change";
  Constraint late;
  late.any_of = {{{{kZone, LabelExpression::Op::kIn, {label(7)}, 0}}},
                 {{{kZone, LabelExpression::Op::kIn, {label(9)}, 0}}}};
  late.selector.all = {{kZone, LabelExpression::Op::kIn, {label(7), label(9)}, 0}};
  tell(s, ConstraintDefined{ConstraintId(101u), late});
  EXPECT_EQ(s.cluster().allowed(ConstraintId(101u), rules).count(), 2u) << "after it";
  EXPECT_TRUE(s.is_consistent());
}

TEST(Cluster, WhichLabelNodesNeedIsThatOfAllTerms) {
  const auto in = [](LabelKeyId key, std::vector<LabelId> values) {
    return LabelExpression{key, LabelExpression::Op::kIn, std::move(values), 0};
  };
  Constraint c;
  EXPECT_FALSE(needed_label(c).has_value());
  c.any_of = {{{in(kZone, {kZoneB})}}, {{in(kZone, {kZoneA, kZoneB}), in(kCores, {kZoneA, kZoneB})}}};
  ASSERT_TRUE(needed_label(c).has_value());
  EXPECT_EQ(needed_label(c)->key, kZone);
  EXPECT_EQ(needed_label(c)->values, (std::vector<LabelId>{kZoneA, kZoneB}));
  c.any_of.push_back({{in(kCores, {kZoneA})}});
  EXPECT_FALSE(needed_label(c).has_value()) << "a node needs this label or that";
  c.selector.all = {in(kCores, {kZoneB})};
  EXPECT_EQ(needed_label(c)->key, kCores);
  c.selector.all = {in(kCores, std::vector<LabelId>(NeededLabel::kValuesMax + 1, kZoneA))};
  c.any_of.clear();
  EXPECT_FALSE(needed_label(c).has_value());
  c.any_of = {NodeTerm{}};
  EXPECT_FALSE(needed_label(c).has_value()) << "a term without expressions";
}

TEST(Cluster, ANeededLabelHasAFewValuesInAllAndIsTheNarrowestOfItsTerm) {
  constexpr std::size_t kMost = NeededLabel::kValuesMax;
  const auto in = [](LabelKeyId key, std::size_t first, std::size_t count) {
    LabelExpression e{key, LabelExpression::Op::kIn, {}, 0};
    for (std::size_t i = 0; i < count; ++i) e.values.emplace_back(first + i);
    return e;
  };
  Constraint c;
  c.selector.all = {in(kZone, 0, kMost)};
  ASSERT_TRUE(needed_label(c).has_value());
  EXPECT_EQ(needed_label(c)->values.size(), kMost);
  c.selector.all = {in(kZone, 0, kMost + 1)};
  EXPECT_FALSE(needed_label(c).has_value());
  c.selector.all.clear();
  c.any_of = {{{in(kZone, 0, kMost / 2)}}, {{in(kZone, kMost / 2, kMost / 2)}}};
  ASSERT_TRUE(needed_label(c).has_value());
  EXPECT_EQ(needed_label(c)->values.size(), kMost);
  c.any_of.push_back({{in(kZone, kMost, 1)}});
  EXPECT_FALSE(needed_label(c).has_value()) << "its terms have too many together";
  c.selector.all = {in(kZone, 0, 3), in(kCores, 0, 2)};
  EXPECT_EQ(needed_label(c)->key, kCores);
  c.any_of.clear();
  c.selector.all = {in(kZone, 0, 2)};
  c.selector.all.front().op = LabelExpression::Op::kNotIn;
  EXPECT_FALSE(needed_label(c).has_value()) << "a node without the label will do";
}

TEST(Cluster, AllowedNodesAreRightAfterMoreChangesThanAreRemembered) {
  State s = small_state(100);
  Constraint zone_a;
  zone_a.selector.all = {{kZone, LabelExpression::Op::kIn, {kZoneA}, 0}};
  tell(s, ConstraintDefined{ConstraintId(1u), zone_a});
  EXPECT_EQ(s.cluster().allowed(ConstraintId(1u), is_ready_in_zone).count(), 0u);
  tell(s, NodeSeen{NodeId(5u), in_zone(kZoneA, 1)});
  for (std::size_t i = 0; i < Cluster::kFactsLogMax; ++i)
    tell(s, NodeSeen{NodeId(6u), in_zone(i % 2 == 0 ? kZoneA : kZoneB, 1)});
  EXPECT_EQ(s.cluster().allowed(ConstraintId(1u), is_ready_in_zone).count(), 1u);
  EXPECT_TRUE(s.cluster().allowed(ConstraintId(1u), is_ready_in_zone).test(5));
}

TEST(Cluster, WhatNoNodeHasIsNotAccounted) {
  State s = small_state(1);
  const std::uint64_t digest = s.cluster().digest();
  const Demand demand{
      .amounts = {{resource::kPods, 1}, {ResourceId(resource::kColumnsMax + 3), 5}}, .devices = {}, .ports = {}};
  Ledger(s).allocate(NodeId(0u), demand, {});
  EXPECT_EQ(s.cluster().resource_count(), 4u);
  Ledger(s).release(NodeId(0u), demand, {});
  EXPECT_EQ(s.cluster().digest(), digest);
}

TEST(Cluster, AllowedNodesAreThoseOfTheRuleThatIsAsked) {
  State s = small_state(0);
  Constraint zone_a;
  zone_a.selector.all = {{kZone, LabelExpression::Op::kIn, {kZoneA}, 0}};
  tell(s, ConstraintDefined{ConstraintId(1u), zone_a});
  NodeFacts cordoned = in_zone(kZoneA, 1);
  cordoned.is_ready = false;
  tell(s, NodeSeen{NodeId(0u), cordoned});
  EXPECT_EQ(s.cluster().allowed(ConstraintId(1u), is_ready_in_zone).count(), 0u);
  EXPECT_EQ(s.cluster().allowed(ConstraintId(1u), is_in_zone).count(), 1u);
  EXPECT_TRUE(s.is_consistent());
  EXPECT_EQ(s.cluster().allowed(ConstraintId(1u), is_ready_in_zone).count(), 0u);
}

TEST(Cluster, GiveUndoesTakeExactly) {
  State s = small_state(1);
  const Demand demand{.amounts = {{resource::kCpu, 500}, {resource::kPods, 1}},
                      .devices = {1, MilliGpu(300), MiB(1000)},
                      .ports = {{6, 0, 80}, {17, 0, 53}}};
  const std::uint64_t digest = s.cluster().digest();
  Ledger(s).allocate(NodeId(0u), demand, devices(8));
  EXPECT_EQ(s.cluster().device_free_milli(NodeId(0u))[3], 700);
  EXPECT_EQ(s.cluster().free_milli()[0], 7700);
  EXPECT_EQ(s.cluster().idle_devices()[0], 7);
  EXPECT_EQ(s.cluster().ports_taken(NodeId(0u)).size(), 2u);
  Ledger(s).release(NodeId(0u), demand, devices(8));
  EXPECT_EQ(s.cluster().digest(), digest);
  EXPECT_TRUE(s.cluster().ports_taken(NodeId(0u)).empty());
  EXPECT_TRUE(s.cluster().is_consistent());
}

TEST(Cluster, DevicesWithoutANameAreOwed) {
  State s = small_state(1);
  const Demand two{.amounts = {}, .devices = {2, MilliGpu(1000), MiB(0)}};
  Ledger(s).allocate(NodeId(0u), two, devices(1));
  EXPECT_EQ(s.cluster().idle_devices()[0], 6);
  Ledger(s).release(NodeId(0u), two, devices(1));
  EXPECT_EQ(s.cluster().idle_devices()[0], 8);
}

TEST(Cluster, AnOvercommittedDeviceDoesNotHideItsNeighbours) {
  State s = small_state(1);
  const Demand one{.amounts = {}, .devices = {1, MilliGpu(1000), MiB(0)}};
  Ledger(s).allocate(NodeId(0u), one, devices(1));
  Ledger(s).allocate(NodeId(0u), one, devices(1));
  EXPECT_EQ(s.cluster().device_free_milli(NodeId(0u))[0], -1000);
  EXPECT_EQ(s.cluster().free_milli()[0], 7000);
  EXPECT_TRUE(s.cluster().is_consistent());
}

TEST(Cluster, IsOvercommittedInWhatADemandHoldsAPartOf) {
  State s = small_state(0);
  const NodeId n(0u);
  NodeFacts facts = eight_devices();
  facts.devices.memory_each = MiB(1000);
  tell(s, NodeSeen{n, facts});
  Demand cpu, two, share, port;
  cpu.amounts = {{resource::kCpu, s.cluster().free(resource::kCpu)[0]}};
  two.devices.count = 2;
  share.devices = {1, MilliGpu(600), s.cluster().facts(n).devices.memory_each};
  port.ports = {{6, 0, 80}, {6, 1, 80}};  // clash with each other
  const DeviceMask first{1, 0}, both{3, 0}, last{1u << 7, 0};
  const auto is_over = [&](const Demand& d, const DeviceMask& devices = {}) {
    return s.cluster().is_overcommitted(n, d, devices);
  };
  for (const Demand& d : {cpu, port}) {
    Ledger(s).allocate(n, d, {});
    EXPECT_FALSE(is_over(d)) << "its own";
    Ledger(s).allocate(n, d, {});
    EXPECT_TRUE(is_over(d));
    EXPECT_FALSE(is_over(two, both)) << "of which it holds nothing";
    for (int i = 0; i < 2; ++i) Ledger(s).release(n, d, {});
  }
  Ledger(s).allocate(n, two, both);
  Ledger(s).allocate(n, share, last);
  EXPECT_FALSE(is_over(two, both) || is_over(share, last));
  Demand small = share;
  small.devices.milli_each = MilliGpu(100);
  Ledger(s).allocate(n, small, last);
  EXPECT_TRUE(is_over(share, last)) << "memory";
  EXPECT_FALSE(is_over(two, both)) << "other cards";
  Ledger(s).release(n, small, last);
  Ledger(s).allocate(n, two, first);
  EXPECT_TRUE(is_over(two, both));
  EXPECT_FALSE(is_over(share, last)) << "another card, and room for the card that is owed";
  Ledger(s).release(n, two, first);
  Demand many;
  many.devices.count = 5;
  Ledger(s).allocate(n, many, {});
  EXPECT_FALSE(is_over(two, both) || is_over(share, last))
      << "8 cards: 2, 5 of which nobody knows which, and a shared one";
  many.devices.count = 1;
  Ledger(s).allocate(n, many, {});
  EXPECT_TRUE(is_over(two, both) && is_over(share, last)) << "a shared card is no whole one";
  EXPECT_FALSE(is_over(cpu));
}

TEST(Cluster, ANodeWithLessThanIsTakenIsBelowZero) {
  State s = small_state(1);
  Ledger(s).allocate(NodeId(0u), {.amounts = {{resource::kCpu, 60'000}}}, {});
  NodeFacts smaller = eight_devices();
  smaller.allocatable[0] = 10'000;
  tell(s, NodeSeen{NodeId(0u), smaller});
  EXPECT_EQ(s.cluster().free(resource::kCpu)[0], -50'000);
}

TEST(Cluster, TheChangeLogNamesWhatChanged) {
  State s = small_state(3);
  const std::uint64_t since = s.cluster().change_count();
  Ledger(s).allocate(NodeId(2u), {.amounts = {{resource::kCpu, 1}}}, {});
  Ledger(s).allocate(NodeId(0u), {.amounts = {{resource::kCpu, 1}}}, {});
  const auto changed = s.cluster().changed_since(since);
  EXPECT_EQ(std::vector<NodeId>(changed.begin(), changed.end()), (std::vector{NodeId(2u), NodeId(0u)}));
}

TEST(Cluster, TheChangeLogForgetsWhatIsLongAgo) {
  State s = small_state(1);
  const std::uint64_t since = s.cluster().change_count();
  const Demand demand{.amounts = {{resource::kCpu, 1}}};
  for (std::size_t i = 0; i <= Cluster::kChangeLogMax / 2; ++i) {
    Ledger(s).allocate(NodeId(0u), demand, {});
    Ledger(s).release(NodeId(0u), demand, {});
  }
  EXPECT_FALSE(s.cluster().remembers(since));
  EXPECT_TRUE(s.cluster().remembers(s.cluster().change_count()));
}

TEST(Cluster, ADroppedNodeLeavesNoCapacityAndItsDevicesAreUsedAgain) {
  State s = small_state(2);
  tell(s, NodeGone{NodeId(0u)});
  EXPECT_EQ(s.cluster().free(resource::kCpu)[0], 0);
  EXPECT_EQ(s.cluster().devices()[0], 0);
  const std::size_t device_rows = s.cluster().device_free_milli().size();
  tell(s, NodeSeen{NodeId(5u), eight_devices()});
  EXPECT_EQ(s.cluster().device_free_milli().size(), device_rows);
  EXPECT_TRUE(s.cluster().is_consistent());
}

TEST(Cluster, TheDigestDependsOnStateNotOnHistory) {
  State a = small_state(0), b = small_state(0);
  tell(a, NodeSeen{NodeId(0u), eight_devices()});
  tell(a, NodeSeen{NodeId(1u), in_zone(kZoneA, 4)});
  tell(b, NodeSeen{NodeId(1u), eight_devices()});
  tell(b, NodeSeen{NodeId(0u), eight_devices()});
  EXPECT_NE(a.cluster().digest(), b.cluster().digest());
  tell(b, NodeSeen{NodeId(1u), in_zone(kZoneA, 4)});
  EXPECT_EQ(a.cluster().digest(), b.cluster().digest());
  EXPECT_EQ(a.cluster().digest(), a.cluster().recount_digest());
}

TEST(Cluster, TheDigestTellsWhichDevicesAreTaken) {
  const auto digest_after = [](std::vector<std::pair<int, int>> taken) {
    State s = small_state(1);
    for (const auto& [device, milli] : taken) {
      Demand share;
      share.devices = {.count = 1, .milli_each = MilliGpu(milli)};
      Ledger(s).allocate(NodeId(0u), share, DeviceMask{std::uint64_t{1} << device, 0});
    }
    EXPECT_TRUE(s.cluster().is_consistent());
    return s.cluster().digest();
  };
  const std::vector<std::vector<std::pair<int, int>>> unlike = {
      {}, {{0, 500}}, {{1, 500}}, {{0, 250}, {1, 500}}, {{0, 500}, {1, 250}}, {{0, 750}}, {{2, 750}}, {{0, 1000}}};
  std::set<std::uint64_t> digests;
  for (const auto& taken : unlike) digests.insert(digest_after(taken));
  EXPECT_EQ(digests.size(), unlike.size());
  EXPECT_EQ(digest_after({{3, 200}, {4, 300}}), digest_after({{4, 300}, {3, 200}}));
}

}  // namespace
}  // namespace ashlar
