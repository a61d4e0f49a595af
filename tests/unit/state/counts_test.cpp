// Placed pods by labels: what selectors count, from where pods are kept away, and what is looked at for it.
#include <gtest/gtest.h>

#include "small_state.h"
#include "state/state_fields.h"
#include "state/trial.h"

namespace ashlar {
namespace {

using Op = LabelExpression::Op;

constexpr LabelKeyId kZoneLabel{1u}, kApp{50u}, kTier{51u}, kTeamLabel{52u};
constexpr LabelId kFirstZone{10u}, kSecondZone{11u}, kWeb{500u}, kBatch{501u}, kFront{510u}, kBack{511u}, kRed{520u};
constexpr NamespaceId kHere{0u}, kThere{1u};
constexpr PodSelectorId kWebPods{0u};
constexpr ConstraintId kLoner{1u}, kSeenAsWeb{2u}, kInZoneB{3u};

LabelExpression is_in(LabelKeyId key, std::vector<LabelId> values) { return {key, Op::kIn, std::move(values), 0}; }

PodSelector pods_of(std::vector<NamespaceId> namespaces, std::vector<LabelExpression> all) {
  return {std::move(namespaces), false, {}, std::move(all)};
}
PodSelector pods_by_namespace(std::vector<LabelExpression> of_namespace, std::vector<LabelExpression> all) {
  return {{}, true, std::move(of_namespace), std::move(all)};
}

bool allows(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  const bool is_there = constraint.selector.all.empty() || facts.labels[0].id == constraint.selector.all[0].values[0];
  return is_there && (constraint.seen_as.is_none() || !context.kept_away.keeps_away(constraint.seen_as, facts));
}

/// Nodes 0 and 1 in zone a, 2 in zone b; label sets: web front, web back, batch front, web front of another namespace.
class CountsTest : public ::testing::Test {
 protected:
  State s = small_state(0);
  std::uint32_t members = 0;

  CountsTest() {
    for (std::uint32_t n = 0; n < 3; ++n) see_node(NodeId(n), n < 2 ? kFirstZone : kSecondZone);
    define(0, kHere, {{kApp, kWeb}, {kTier, kFront}});
    define(1, kHere, {{kApp, kWeb}, {kTier, kBack}});
    define(2, kHere, {{kApp, kBatch}, {kTier, kFront}});
    define(3, kThere, {{kApp, kWeb}, {kTier, kFront}});
    select(0, pods_of({kHere}, {is_in(kApp, {kWeb})}));
    Constraint loner, seen_as_web, zone_b;
    loner.keeps_away = {{kWebPods, kZoneLabel}};
    seen_as_web.seen_as = LabelSetId(0u);
    zone_b.selector.all = {is_in(kZoneLabel, {kSecondZone})};
    tell(s, ConstraintDefined{kLoner, loner});
    tell(s, ConstraintDefined{kSeenAsWeb, seen_as_web});
    tell(s, ConstraintDefined{kInZoneB, zone_b});
  }
  void see_node(NodeId n, LabelId zone) {
    NodeFacts f = eight_devices();
    if (!zone.is_none()) f.labels = {{kZoneLabel, zone, NodeLabel::kNotANumber}};
    tell(s, NodeSeen{n, f});
  }
  void define(std::uint32_t row, NamespaceId ns, std::vector<PodLabel> labels) {
    tell(s, LabelSetDefined{LabelSetId(row), {.ns = ns, .labels = std::move(labels)}});
  }
  void select(std::uint32_t row, PodSelector selector) { tell(s, PodSelectorDefined{PodSelectorId(row), selector}); }
  MemberId submit(LabelSetId labels, ConstraintId constraint = kAnywhere) {
    Workload w;
    w.job = JobId(members);
    w.members = {{MemberId(members), kNoDevices, constraint, labels}};
    tell(s, Submitted{w});
    return MemberId(members++);
  }
  MemberId run(std::uint32_t labels, std::uint32_t node, ConstraintId constraint = kAnywhere) {
    const MemberId member = submit(LabelSetId(labels), constraint);
    tell(s, Bound{member, NodeId(node), {}});
    return member;
  }
  const Counts& counts() const { return s.cluster().counts(); }
  /// Matching pods by node.
  std::vector<int> counted(std::uint32_t selector) const {
    std::vector<int> out;
    for (std::uint32_t n = 0; n < 3; ++n)
      out.push_back(static_cast<int>(counts().pods(PodSelectorId(selector), NodeId(n))));
    return out;
  }
  std::size_t allowed_for(ConstraintId constraint) const { return s.cluster().allowed(constraint, allows).count(); }
  using Counted = std::vector<int>;
};

TEST_F(CountsTest, PodsAreCountedWhereTheyArePlaced) {
  run(0, 0), run(0, 0), run(1, 2);
  run(2, 1), run(3, 1);  // another application, another namespace
  EXPECT_EQ(counted(0), (Counted{2, 0, 1}));
  tell(s, MemberGone{MemberId(0u)});
  tell(s, NodeGone{NodeId(2u)});
  EXPECT_EQ(counted(0), (Counted{1, 0, 0}));
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, ASelectorThatComesLaterCountsWhatIsThere) {
  run(0, 0), run(1, 0), run(2, 1), run(3, 2);
  select(1, pods_of({kHere}, {}));
  select(2, pods_of({kHere, kThere}, {is_in(kTier, {kFront})}));
  select(3, pods_of({kHere}, {{kTier, Op::kNotIn, {kFront}, 0}}));
  select(4, pods_of({kHere, kThere}, {{kTeamLabel, Op::kDoesNotExist, {}, 0}, {kTier, Op::kExists, {}, 0}}));
  select(5, pods_of({kHere}, {is_in(kApp, {kWeb, kBatch, kWeb})}));
  select(6, pods_of({}, {is_in(kApp, {kWeb})}));
  select(7, pods_of({kHere}, {is_in(kApp, {})}));
  EXPECT_EQ(counted(1), (Counted{2, 1, 0}));
  EXPECT_EQ(counted(2), (Counted{1, 1, 1}));
  EXPECT_EQ(counted(3), (Counted{1, 0, 0}));
  EXPECT_EQ(counted(4), (Counted{2, 1, 1}));
  EXPECT_EQ(counted(5), (Counted{2, 1, 0}));
  EXPECT_EQ(counted(6), (Counted{0, 0, 0})) << "of no namespace";
  EXPECT_EQ(counted(7), (Counted{0, 0, 0})) << "of no value";
  run(0, 2);
  EXPECT_EQ(counted(5), (Counted{2, 1, 1}));
  select(5, pods_of({kThere}, {}));
  EXPECT_EQ(counted(5), (Counted{0, 0, 1})) << "the row has another value";
  EXPECT_TRUE(s.is_consistent());
}

/// Of few among many pods each is found by its label set, and many are found by a look at all.
TEST_F(CountsTest, ASelectorThatComesLaterCountsFewAmongManyAndMany) {
  for (std::uint32_t i = 0; i < 24; ++i) run(2, i % 3);
  run(0, 2);
  const MemberId between = run(0, 0);
  run(0, 1);
  const MemberId first = run(1, 0), last = run(1, 2);
  for (const MemberId gone : {between, first, last}) tell(s, MemberGone{gone});
  select(1, pods_of({kHere}, {is_in(kApp, {kWeb})}));
  EXPECT_EQ(counted(1), (Counted{0, 1, 1}));
  select(2, pods_of({kHere}, {is_in(kApp, {kBatch})}));
  EXPECT_EQ(counted(2), (Counted{8, 8, 8}));
  select(3, pods_of({kHere}, {}));
  EXPECT_EQ(counted(3), (Counted{8, 9, 9}));
  run(1, 1);
  select(4, pods_of({kHere}, {is_in(kTier, {kBack, kBack})}));
  EXPECT_EQ(counted(4), (Counted{0, 1, 0})) << "a value that is named twice";
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, ASelectorOfSeveralScopesMeansTheNamespacesThatAreInAllOfThem) {
  run(0, 0), run(3, 1);
  PodSelector both = pods_of({kHere, kThere}, {is_in(kApp, {kWeb})});
  both.also_within = {{.selects_namespaces = true, .of_namespace = {{kTeamLabel, Op::kExists, {}, 0}}}};
  tell(s, NamespaceSeen{kHere, {.is_known = true, .labels = {}}});
  tell(s, NamespaceSeen{kThere, {.is_known = true, .labels = {{kTeamLabel, kRed}}}});
  select(1, both);
  EXPECT_EQ(counted(1), (Counted{0, 1, 0}));
  tell(s, NamespaceSeen{kHere, {.is_known = true, .labels = {{kTeamLabel, kRed}}}});
  EXPECT_EQ(counted(1), (Counted{1, 1, 0}));
  both.also_within.push_back({.namespaces = {kHere}});
  select(1, both);
  EXPECT_EQ(counted(1), (Counted{1, 0, 0}));
  tell(s, NamespaceSeen{kHere, {.is_known = true, .labels = {}}});
  EXPECT_EQ(counted(1), (Counted{0, 0, 0}));
  EXPECT_TRUE(s.is_consistent());
}

/// Among many label sets those that a selector means are found as sets of bits.
TEST_F(CountsTest, AmongManyLabelSetsNamespacesAndLeavingPodsMatterAlike) {
  for (std::uint32_t row = 4; row < 84; ++row)
    define(row, row % 2 == 0 ? kHere : kThere, {{kApp, kWeb}, {kTier, LabelId(1000 + row)}});
  run(4, 0), run(5, 1);
  tell(s, NamespaceSeen{kHere, {.is_known = true, .labels = {{kTeamLabel, kRed}}}});
  tell(s, NamespaceSeen{kThere, {.is_known = true, .labels = {}}});
  PodSelector of_teams = pods_of({kHere, kThere}, {is_in(kApp, {kWeb})});
  of_teams.also_within = {{.selects_namespaces = true, .of_namespace = {{kTeamLabel, Op::kExists, {}, 0}}}};
  select(1, of_teams);
  EXPECT_EQ(counted(1), (Counted{1, 0, 0}));
  tell(s, LabelSetDefined{LabelSetId(84u), {.ns = kHere, .labels = {{kApp, kWeb}}, .is_leaving = true}});
  run(84, 2);
  PodSelector staying = pods_of({kHere}, {is_in(kApp, {kWeb})});
  select(2, staying);
  staying.skips_leaving = true;
  select(3, staying);
  EXPECT_EQ(counted(2), (Counted{1, 0, 1}));
  EXPECT_EQ(counted(3), (Counted{1, 0, 0}));
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, TheFingerprintTellsWeightsApart) {
  for (const std::int32_t weight : {30, 20}) {
    Constraint friend_of_web;
    friend_of_web.prefers_pods = {{kWebPods, kZoneLabel, weight}};
    tell(s, ConstraintDefined{ConstraintId(weight == 30 ? 8u : 9u), friend_of_web});
  }
  const MemberId member = run(2, 0, ConstraintId(8u));
  const std::uint64_t by_thirty = counts().digest();
  tell(s, ConstraintChanged{member, ConstraintId(9u)});
  EXPECT_NE(counts().digest(), by_thirty);
}

TEST_F(CountsTest, PlacedPodsDrawThoseThatTheyPrefer) {
  Constraint friend_of_web, foe_of_web;
  friend_of_web.prefers_pods = {{kWebPods, kZoneLabel, 30}, {kWebPods, kZoneLabel, 30}};
  foe_of_web.prefers_pods = {{kWebPods, kZoneLabel, -20}, {kWebPods, kZoneLabel, 1, true}};
  tell(s, ConstraintDefined{ConstraintId(8u), friend_of_web});
  tell(s, ConstraintDefined{ConstraintId(9u), foe_of_web});
  const auto drawn = [&] {
    std::vector<std::int64_t> weights;
    for (const Drawn::To& to : counts().drawn_to(LabelSetId(0u))) weights.push_back(to.weight);
    return weights;
  };
  using Weights = std::vector<std::int64_t>;
  EXPECT_EQ(drawn(), Weights());
  const MemberId first = run(2, 0, ConstraintId(8u));
  run(2, 2, ConstraintId(9u));
  EXPECT_EQ(drawn(), (Weights{60, -19})) << "by zone";
  see_node(NodeId(2u), kFirstZone);
  EXPECT_EQ(drawn(), Weights{41});
  tell(s, ConstraintDefined{kSeenAsWeb, {}});
  EXPECT_EQ(drawn(), Weights()) << "nobody is seen as it";
  Constraint seen_as_web;
  seen_as_web.seen_as = LabelSetId(0u);
  tell(s, ConstraintDefined{kSeenAsWeb, seen_as_web});
  EXPECT_EQ(drawn(), Weights{41});
  tell(s, MemberGone{first});
  EXPECT_EQ(drawn(), Weights{-19});
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, NamespacesAreSelectedByTheirLabels) {
  run(0, 0), run(3, 1);
  select(1, pods_by_namespace({{kTeamLabel, Op::kExists, {}, 0}}, {is_in(kApp, {kWeb})}));
  EXPECT_EQ(counted(1), (Counted{1, 1, 0})) << "namespaces that are not known may be meant";
  tell(s, NamespaceSeen{kHere, {.is_known = true, .labels = {}}});
  tell(s, NamespaceSeen{kThere, {.is_known = true, .labels = {{kTeamLabel, kRed}}}});
  EXPECT_EQ(counted(1), (Counted{0, 1, 0}));
  tell(s, NamespaceSeen{kThere, {}});
  EXPECT_EQ(counted(1), (Counted{0, 1, 0}));
  tell(s, NamespaceSeen{kHere, {.is_known = true, .labels = {{kTeamLabel, kRed}}}});
  EXPECT_EQ(counted(1), (Counted{1, 1, 0}));
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, AGangSeesItsMembersWhileItIsTriedAndTheTrialLeavesNoTrace) {
  run(0, 0);
  const MemberId first = submit(LabelSetId(0u)), second = submit(LabelSetId(1u));
  const std::uint64_t digest = s.digest();
  {
    Trial trial(s);
    trial.place(first, NodeId(0u), {});
    trial.place(second, NodeId(2u), {});
    EXPECT_EQ(counted(0), (Counted{2, 0, 1}));
  }
  EXPECT_EQ(counted(0), (Counted{1, 0, 0}));
  EXPECT_EQ(s.digest(), digest);
}

TEST_F(CountsTest, APodKeepsOthersOutOfItsDomainWhileItIsPlaced) {
  const MemberId one = run(2, 0, kLoner), other = run(2, 1, kLoner);
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u) << "zone b";
  tell(s, MemberGone{one});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u) << "the other sits there";
  tell(s, MemberGone{other});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u);
  EXPECT_TRUE(s.is_consistent());
}

/// Nobody like it is placed: that its namespace is meant now concerns it all the same.
TEST_F(CountsTest, AWaitingPodIsKeptAwayAsSoonAsItsNamespaceIsSelected) {
  select(1, pods_by_namespace({{kTeamLabel, Op::kExists, {}, 0}}, {is_in(kApp, {kWeb})}));
  Constraint loner, seen_as_its_web;
  loner.keeps_away = {{PodSelectorId(1u), kZoneLabel}};
  seen_as_its_web.seen_as = LabelSetId(3u);
  tell(s, ConstraintDefined{ConstraintId(8u), loner});
  tell(s, ConstraintDefined{ConstraintId(9u), seen_as_its_web});
  tell(s, NamespaceSeen{kThere, {.is_known = true, .labels = {}}});
  run(2, 0, ConstraintId(8u));
  EXPECT_EQ(allowed_for(ConstraintId(9u)), 3u);
  tell(s, NamespaceSeen{kThere, {.is_known = true, .labels = {{kTeamLabel, kRed}}}});
  EXPECT_EQ(allowed_for(ConstraintId(9u)), 1u) << "zone b";
  tell(s, NamespaceSeen{kThere, {.is_known = true, .labels = {}}});
  EXPECT_EQ(allowed_for(ConstraintId(9u)), 3u);
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, ATermIsNewsToThoseWhomNoOtherTermKeptAway) {
  select(1, pods_of({kHere}, {is_in(kTier, {kBack})}));
  Constraint loner_by_tier, seen_as_back;
  loner_by_tier.keeps_away = {{PodSelectorId(1u), kZoneLabel}};
  seen_as_back.seen_as = LabelSetId(1u);
  tell(s, ConstraintDefined{ConstraintId(8u), loner_by_tier});
  tell(s, ConstraintDefined{ConstraintId(9u), seen_as_back});
  const MemberId by_tier = run(2, 0, ConstraintId(8u));
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u) << "its tier is another";
  EXPECT_EQ(allowed_for(ConstraintId(9u)), 1u);
  run(2, 0, kLoner);
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u);
  tell(s, ConstraintDefined{kSeenAsWeb, {}});
  Ledger(s).forget_news_of_nodes();
  tell(s, MemberGone{by_tier});
  const auto freed = s.freed_nodes();
  EXPECT_EQ(std::find(freed.begin(), freed.end(), NodeId(1u)), freed.end()) << "the other term still closes it";
  EXPECT_EQ(allowed_for(ConstraintId(9u)), 1u);
}

TEST_F(CountsTest, WhoIsKeptAwayFollowsTheNodesLabels) {
  run(2, 0, kLoner);
  see_node(NodeId(0u), kSecondZone);
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u) << "node 1";
  see_node(NodeId(0u), LabelId::none());
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u) << "a node without the label is in no domain";
  see_node(NodeId(0u), kFirstZone);
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u);
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, NodesThatBecomeFreeAreNotedAsFreed) {
  const MemberId loner = run(2, 0, kLoner);
  Ledger(s).forget_news_of_nodes();
  tell(s, MemberGone{loner});
  const auto freed = s.freed_nodes();
  EXPECT_NE(std::find(freed.begin(), freed.end(), NodeId(1u)), freed.end()) << "the other node of its zone";
  EXPECT_EQ(std::find(freed.begin(), freed.end(), NodeId(2u)), freed.end());
}

TEST_F(CountsTest, APlacedPodsTermsMayChange) {
  const MemberId loner = run(2, 0, kLoner);
  tell(s, ConstraintChanged{loner, kAnywhere});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u);
  tell(s, ConstraintChanged{loner, kLoner});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u);
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, WhatIsReadBackFromASnapshotIsTheSame) {
  run(0, 0), run(1, 1), run(2, 2, kLoner);
  tell(s, NamespaceSeen{kHere, {.is_known = true, .labels = {{kTeamLabel, kRed}}}});
  State again = s;
  StateFields::forget_caches(again);
  EXPECT_EQ(again.digest(), s.digest());
  EXPECT_TRUE(again.cluster().counts().is_like(s.cluster().counts()));
  EXPECT_EQ(again.cluster().allowed(kSeenAsWeb, allows), s.cluster().allowed(kSeenAsWeb, allows));
  EXPECT_TRUE(StateFields::are_sound(again));
}

TEST_F(CountsTest, ARowInUseKeepsItsValue) {
  EXPECT_TRUE(counts().is_used(kWebPods)) << "by a constraint";
  EXPECT_TRUE(counts().is_used(LabelSetId(0u)));
  EXPECT_FALSE(counts().is_used(LabelSetId(2u)));
  const MemberId member = submit(LabelSetId(2u));
  EXPECT_TRUE(counts().is_used(LabelSetId(2u)));
  tell(s, MemberGone{member});
  EXPECT_FALSE(counts().is_used(LabelSetId(2u)));
  ASSERT_EQ(counts().constraints_of(kWebPods).size(), 1u);
  tell(s, ConstraintDefined{kLoner, {}});
  EXPECT_FALSE(counts().is_used(kWebPods));
  EXPECT_TRUE(counts().constraints_of(kWebPods).empty());
  select(0, {});
  define(2, NamespaceId::none(), {});
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, APodLooksAtSelectorsThatAskForItsLabelsOnly) {
  for (std::uint32_t i = 0; i < 1000; ++i)
    select(10 + i, pods_of({kHere}, {is_in(kApp, {LabelId(1000 + i)}), is_in(kTier, {kFront})}));
  for (std::uint32_t i = 0; i < 1000; ++i) select(2000 + i, pods_of({NamespaceId(100 + i)}, {is_in(kApp, {kWeb})}));
  const std::uint64_t before = counts().index().compared_count();
  run(0, 0);
  EXPECT_LE(counts().index().compared_count() - before, 2u);
}

TEST_F(CountsTest, ASelectorLooksAtLabelSetsThatHaveItsLabelsOnly) {
  for (std::uint32_t i = 0; i < 1000; ++i) define(10 + i, kHere, {{kApp, LabelId(1000 + i)}, {kTier, kFront}});
  const std::uint64_t before = counts().index().compared_count();
  select(1, pods_of({kHere}, {is_in(kTier, {kFront}), is_in(kApp, {LabelId(1007u)})}));
  EXPECT_LE(counts().index().compared_count() - before, 1u);
}

/// Preferred terms of pods that only wait concern nobody yet: with many of them each new set of rules is cheap.
TEST_F(CountsTest, NewRulesLookAtTermsOfPlacedPodsOnly) {
  constexpr std::uint32_t kTerms = 1000;
  Constraint many;
  for (std::uint32_t i = 0; i < kTerms; ++i) {
    select(10 + i, pods_of({kHere}, {{kApp, Op::kNotIn, {LabelId(1000 + i)}, 0}}));
    many.prefers_pods.push_back({.selector = PodSelectorId(10 + i), .topology = kZoneLabel, .weight = -1});
  }
  tell(s, ConstraintDefined{ConstraintId(10u), many});
  Constraint seen_as_batch;
  seen_as_batch.seen_as = LabelSetId(2u);
  const auto looked_at_for = [&](std::uint32_t row) {
    const std::uint64_t before = counts().index().compared_count();
    tell(s, ConstraintDefined{ConstraintId(row), seen_as_batch});
    return counts().index().compared_count() - before;
  };
  EXPECT_LE(looked_at_for(11), 1u);
  const MemberId owner = run(2, 0, ConstraintId(10u));
  tell(s, ConstraintDefined{ConstraintId(11u), {}});
  EXPECT_EQ(looked_at_for(11), kTerms);
  ASSERT_EQ(counts().drawn_to(LabelSetId(2u)).size(), 1u);
  EXPECT_EQ(counts().drawn_to(LabelSetId(2u))[0].weight, -static_cast<std::int64_t>(kTerms));
  tell(s, MemberGone{owner});
  EXPECT_TRUE(counts().drawn_to(LabelSetId(2u)).empty());
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, ItsWorkIsAlsoThatAPodIsComparedWithAllSelectorsThatMayMeanItsNamespace) {
  for (std::uint32_t row = 10; row < 18; ++row) select(row, pods_of({kThere}, {is_in(kTeamLabel, {kRed})}));
  for (std::uint32_t row = 18; row < 22; ++row)
    select(row, pods_by_namespace({{kTeamLabel, Op::kExists, {}, 0}}, {is_in(kApp, {kBatch})}));
  const auto work_in = [&](std::uint32_t labels) {
    const std::uint64_t before = counts().work();
    run(labels, 0);
    return counts().work() - before;
  };
  EXPECT_EQ(counts().index().about(kThere), 12u);
  EXPECT_EQ(counts().index().about(kHere), 5u);
  EXPECT_EQ(work_in(3), 3u) << "a quarter of them, and none means it";
  EXPECT_EQ(work_in(2), 1u + 4u) << "by the labels of its namespace, which are not known, four may mean it";
  select(10, pods_of({kHere}, {}));
  select(18, {});
  EXPECT_EQ(counts().index().about(kThere), 10u);
  EXPECT_EQ(counts().index().about(kHere), 5u);
  EXPECT_EQ(counts().index().about(NamespaceId(77u)), 3u);
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, ItsWorkIsTheCountsAndTheSetsThatAPlacedPodChanges) {
  const auto work_of = [&](auto&& change) {
    const std::uint64_t before = counts().work();
    change();
    return counts().work() - before;
  };
  select(1, pods_of({kHere}, {}));
  MemberId web;
  EXPECT_EQ(work_of([&] { web = run(0, 0); }), 2u) << "both selectors";
  EXPECT_EQ(work_of([&] { run(2, 0); }), 1u);
  EXPECT_EQ(work_of([&] { run(3, 0); }), 0u) << "in another namespace";
  EXPECT_EQ(work_of([&] { tell(s, MemberGone{web}); }), 2u);
  Constraint seen_as_back;
  seen_as_back.seen_as = LabelSetId(1u);
  tell(s, ConstraintDefined{ConstraintId(4u), seen_as_back});
  MemberId loner;
  EXPECT_EQ(work_of([&] { loner = run(2, 0, kLoner); }), 3u) << "and both sets that its term keeps away";
  EXPECT_EQ(work_of([&] { tell(s, MemberGone{loner}); }), 3u);
}

TEST_F(CountsTest, WhoSharesADomainWithManyTermsIsAskedOnce) {
  for (std::uint32_t i = 0; i < 50; ++i) {
    select(10 + i, pods_of({kHere}, {is_in(kApp, {kWeb}), {kTier, Op::kNotIn, {LabelId(900 + i)}, 0}}));
    Constraint c;
    c.keeps_away = {{PodSelectorId(10 + i), kZoneLabel}};
    tell(s, ConstraintDefined{ConstraintId(10 + i), c});
    run(2, 0, ConstraintId(10 + i));
  }
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u);
  for (std::uint32_t m = 0; m < 49; ++m) tell(s, MemberGone{MemberId(m)});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u);
  tell(s, MemberGone{MemberId(49u)});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u);
}

/// Of several pods on a node none stays behind in the domain that the node has left.
TEST_F(CountsTest, ANodeTakesAllItsPodsAlongToAnotherDomain) {
  const MemberId one = run(2, 0, kLoner), other = run(2, 0, kLoner);
  see_node(NodeId(0u), kSecondZone);
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u) << "node 1";
  tell(s, MemberGone{one});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u);
  tell(s, MemberGone{other});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u);
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, WhoComesAfterSeveralPodsOfADomainIsKeptAwayUntilTheLastOfThemIsGone) {
  Constraint seen_as_web;
  seen_as_web.seen_as = LabelSetId(0u);
  tell(s, ConstraintDefined{kSeenAsWeb, {}});
  const MemberId one = run(2, 0, kLoner), other = run(2, 1, kLoner);
  tell(s, ConstraintDefined{kSeenAsWeb, seen_as_web});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u) << "zone b";
  tell(s, MemberGone{one});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u) << "the other sits there";
  tell(s, MemberGone{other});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u);
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsTest, WhoIsSeenAsASetIsKeptAwayWhicheverOtherRulesCeaseToExist) {
  Constraint seen_as_web;
  seen_as_web.seen_as = LabelSetId(0u);
  const MemberId loner = run(2, 0, kLoner);
  tell(s, ConstraintDefined{ConstraintId(8u), seen_as_web});
  EXPECT_EQ(allowed_for(ConstraintId(8u)), 1u);
  EXPECT_TRUE(s.is_consistent()) << "the set is watched once";
  tell(s, ConstraintDefined{ConstraintId(8u), {}});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u);
  EXPECT_TRUE(s.is_consistent());
  tell(s, MemberGone{loner});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u);
}

TEST_F(CountsTest, TermsOfPodsThatAreGoneAreLookedAtNoMore) {
  Constraint many;
  for (std::uint32_t i = 0; i < 100; ++i) {
    select(10 + i, pods_of({kHere}, {{kApp, Op::kNotIn, {LabelId(1000 + i)}, 0}}));
    many.prefers_pods.push_back({.selector = PodSelectorId(10 + i), .topology = kZoneLabel, .weight = -1});
  }
  tell(s, ConstraintDefined{ConstraintId(10u), many});
  tell(s, MemberGone{run(2, 0, ConstraintId(10u))});
  Constraint seen_as_batch;
  seen_as_batch.seen_as = LabelSetId(2u);
  const std::uint64_t before = counts().index().compared_count();
  tell(s, ConstraintDefined{ConstraintId(11u), seen_as_batch});
  EXPECT_LE(counts().index().compared_count() - before, 1u);
  EXPECT_TRUE(counts().drawn_to(LabelSetId(2u)).empty());
  EXPECT_TRUE(s.is_consistent());
}

/// Where placed pods have many terms, those that ask for the labels of new rules are found by these.
TEST_F(CountsTest, OfManyTermsOfPlacedPodsNewRulesLookAtThoseThatAskForTheirLabels) {
  Constraint many, of_front, seen_as_web;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    select(10 + i, pods_of({kHere}, {is_in(kApp, {LabelId(1000 + i)})}));
    many.keeps_away.push_back({PodSelectorId(10 + i), kZoneLabel});
  }
  many.keeps_away.push_back({kWebPods, kZoneLabel});
  select(1, pods_of({kHere}, {is_in(kApp, {kWeb}), is_in(kTier, {kFront})}));
  of_front.keeps_away = {{PodSelectorId(1u), kZoneLabel}};
  seen_as_web.seen_as = LabelSetId(0u);
  tell(s, ConstraintDefined{ConstraintId(10u), many});
  tell(s, ConstraintDefined{ConstraintId(11u), of_front});
  tell(s, ConstraintDefined{kSeenAsWeb, {}});
  const MemberId owner = run(2, 0, ConstraintId(10u));
  const std::uint64_t before = counts().index().compared_count();
  tell(s, ConstraintDefined{kSeenAsWeb, seen_as_web});
  EXPECT_LE(counts().index().compared_count() - before, 2u);
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u) << "zone b";
  const MemberId front = run(2, 2, ConstraintId(11u));
  EXPECT_EQ(allowed_for(kSeenAsWeb), 0u);
  EXPECT_TRUE(s.is_consistent()) << "a set that was found while no pod had the term is not watched for it twice";
  tell(s, ConstraintDefined{kSeenAsWeb, {}});
  tell(s, ConstraintDefined{kSeenAsWeb, seen_as_web});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 0u);
  tell(s, MemberGone{owner});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 2u);
  tell(s, MemberGone{front});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u);
  EXPECT_TRUE(s.is_consistent());
}

/// Terms that nodes open or close by are found from their selector; what is only preferred opens no node.
TEST_F(CountsTest, EachKindOfTermUsesItsSelectorUntilItsConstraintCeases) {
  constexpr ConstraintId kAll{8u};
  for (std::uint32_t row = 1; row <= 5; ++row) select(row, pods_of({kHere}, {}));
  Constraint all;
  all.near = {.selector = PodSelectorId(1u), .topologies = {kZoneLabel}};
  all.spread = {{.selector = PodSelectorId(2u), .topology = kZoneLabel}};
  all.keeps_away = {{PodSelectorId(3u), kZoneLabel}, {PodSelectorId(3u), LabelKeyId(2u)}};
  all.prefers_pods = {{PodSelectorId(4u), kZoneLabel}};
  all.prefers_spread = {{.selector = PodSelectorId(5u), .topology = kZoneLabel}};
  tell(s, ConstraintDefined{kAll, all});
  for (std::uint32_t row = 1; row <= 5; ++row) {
    EXPECT_TRUE(counts().is_used(PodSelectorId(row))) << row;
    const auto constraints = counts().constraints_of(PodSelectorId(row));
    EXPECT_EQ(std::vector(constraints.begin(), constraints.end()),
              row <= 3 ? std::vector{kAll} : std::vector<ConstraintId>())
        << row;
  }
  tell(s, ConstraintDefined{kAll, {}});
  for (std::uint32_t row = 1; row <= 5; ++row) {
    EXPECT_FALSE(counts().is_used(PodSelectorId(row))) << row;
    EXPECT_TRUE(counts().constraints_of(PodSelectorId(row)).empty()) << row;
  }
}

TEST_F(CountsTest, APodWithoutLabelsMatchesNothing) {
  run(0, 0);
  EXPECT_EQ(counts().matched().size(), 1u);
  tell(s, Bound{submit(LabelSetId::none()), NodeId(0u), {}});
  EXPECT_TRUE(counts().matched().empty());
}

/// Few terms of placed pods among many that nobody placed has: only these few are compared with new rules.
TEST_F(CountsTest, NewRulesLookAtFewTermsOfPlacedPodsAmongManyOthersInTheirLists) {
  for (std::uint32_t i = 0; i < 1000; ++i)
    select(10 + i, pods_of({kHere}, {{kApp, Op::kNotIn, {LabelId(1000 + i)}, 0}}));
  Constraint few, seen_as_batch;
  for (std::uint32_t i = 0; i < 5; ++i) few.keeps_away.push_back({PodSelectorId(10 + i), kZoneLabel});
  seen_as_batch.seen_as = LabelSetId(2u);
  tell(s, ConstraintDefined{ConstraintId(10u), few});
  run(0, 0, ConstraintId(10u));
  const std::uint64_t before = counts().index().compared_count();
  tell(s, ConstraintDefined{ConstraintId(11u), seen_as_batch});
  EXPECT_LE(counts().index().compared_count() - before, 5u);
  EXPECT_EQ(allowed_for(ConstraintId(11u)), 1u);
}

/// Sets by their selectors and selectors by their sets, as each pair compared alone says.
TEST_F(CountsTest, AmongManyLabelSetsEveryKindOfSelectorFindsWhatItMatches) {
  for (std::uint32_t row = 4; row < 104; ++row) {
    std::vector<PodLabel> labels{{kApp, row % 5 == 0 ? kBatch : kWeb}, {kTier, LabelId(1000 + row % 13)}};
    if (row % 3 == 0) labels.push_back({kTeamLabel, kRed});
    define(row, row % 2 == 0 ? kHere : kThere, std::move(labels));
  }
  tell(s, NamespaceSeen{kHere, {.is_known = true, .labels = {{kTeamLabel, kRed}}}});
  tell(s, NamespaceSeen{kThere, {.is_known = true, .labels = {}}});
  const std::vector<LabelExpression> requirements[] = {
      {},
      {is_in(kApp, {kWeb})},
      {is_in(kTier, {LabelId(1003u), LabelId(1001u), LabelId(1003u)})},
      {{kApp, Op::kNotIn, {kBatch}, 0}},
      {{kTier, Op::kNotIn, {LabelId(1001u), LabelId(1002u)}, 0}, is_in(kApp, {kWeb, kBatch})},
      {{kTeamLabel, Op::kExists, {}, 0}},
      {{kApp, Op::kExists, {}, 0}},
      {{kTeamLabel, Op::kDoesNotExist, {}, 0}},
      {{kTeamLabel, Op::kExists, {}, 0}, {kApp, Op::kExists, {}, 0}},
      {{kTeamLabel, Op::kDoesNotExist, {}, 0}, is_in(kApp, {kBatch})},
      {is_in(kApp, {kBatch, kWeb}), is_in(kTeamLabel, {kRed})},
      {is_in(kApp, {})},
  };
  std::uint32_t selectors = 1;
  for (const auto& all : requirements) {
    for (const std::vector<NamespaceId>& namespaces :
         {std::vector{kHere}, std::vector{kHere, kThere}, std::vector<NamespaceId>()})
      select(selectors++, pods_of(namespaces, all));
    select(selectors++, pods_by_namespace({}, all));
    select(selectors++, pods_by_namespace({{kTeamLabel, Op::kExists, {}, 0}}, all));
    PodSelector both = pods_of({kHere, kThere}, all);
    both.also_within = {{.selects_namespaces = true, .of_namespace = {{kTeamLabel, Op::kDoesNotExist, {}, 0}}}};
    select(selectors++, both);
    PodSelector either = pods_by_namespace({{kTeamLabel, Op::kDoesNotExist, {}, 0}}, all);
    either.namespaces = {kHere, kThere};
    select(selectors++, either);
  }
  const auto expect_what_matches = [&] {
    const SelectorIndex& index = counts().index();
    std::vector<LabelSetId> sets;
    std::vector<PodSelectorId> found;
    for (std::uint32_t row = 0; row < selectors; ++row) {
      std::vector<LabelSetId> expected;
      for (std::size_t set = 0; set < index.label_set_rows(); ++set)
        if (index.matches(PodSelectorId(row), LabelSetId(set))) expected.emplace_back(set);
      index.sets_of(PodSelectorId(row), sets);
      EXPECT_EQ(sets, expected) << "selector " << row;
    }
    for (std::size_t set = 0; set < index.label_set_rows(); ++set) {
      std::vector<PodSelectorId> expected;
      for (std::uint32_t row = 0; row < selectors; ++row)
        if (index.matches(PodSelectorId(row), LabelSetId(set))) expected.emplace_back(row);
      index.selectors_of(LabelSetId(set), found);
      std::ranges::sort(found);
      EXPECT_EQ(found, expected) << "set " << set;
    }
  };
  expect_what_matches();
  for (std::uint32_t row = 60; row < 80; ++row) define(row, kHere, {{kTier, LabelId(1000 + row % 13)}});
  for (std::uint32_t row = 1; row < 20; ++row)
    select(row, pods_of({kHere}, {is_in(kTier, {LabelId(1000 + row % 13)})}));
  expect_what_matches();
}

/// By which of its labels a selector is found depends on how many sets have them when it comes, not when it goes.
TEST_F(CountsTest, ASelectorIsTakenOffTheListsInWhichItWasPut) {
  select(1, pods_of({kHere}, {is_in(kApp, {kWeb}), is_in(kTier, {kFront})}));
  for (std::uint32_t row = 10; row < 20; ++row) define(row, kHere, {{kApp, kWeb}});
  select(1, pods_of({kHere}, {is_in(kTier, {kFront})}));
  run(0, 0);
  EXPECT_EQ(counted(1), (Counted{1, 0, 0}));
}

TEST_F(CountsTest, PodsKeepOthersOutOfEachOfTheirDomainsInWhicheverOrderTheyCome) {
  const MemberId in_second = run(2, 2, kLoner), in_first = run(2, 0, kLoner);
  EXPECT_EQ(allowed_for(kSeenAsWeb), 0u);
  tell(s, MemberGone{in_second});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u) << "node 2";
  tell(s, MemberGone{in_first});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u);
  EXPECT_TRUE(s.is_consistent());
}

/// Domains of several topology labels, whose values come in no order of the labels.
TEST_F(CountsTest, PodsKeepOthersOutOfDomainsOfSeveralLabels) {
  constexpr LabelKeyId kRack{2u};
  constexpr std::uint32_t kRacks[] = {5, 14, 12, 13, 15};
  for (std::uint32_t n = 0; n < 6; ++n) {
    NodeFacts f = eight_devices();
    f.labels = {{kZoneLabel, n < 2 ? kFirstZone : kSecondZone, NodeLabel::kNotANumber}};
    if (n < 5) f.labels.push_back({kRack, LabelId(kRacks[n]), NodeLabel::kNotANumber});
    tell(s, NodeSeen{NodeId(n), f});
  }
  Constraint alone_in_rack;
  alone_in_rack.keeps_away = {{kWebPods, kRack}};
  tell(s, ConstraintDefined{ConstraintId(8u), alone_in_rack});
  const auto open = [&] {
    std::vector<int> nodes;
    s.cluster().allowed(kSeenAsWeb, allows).each([&](std::size_t n) { nodes.push_back(static_cast<int>(n)); });
    return nodes;
  };
  run(2, 0, ConstraintId(8u)), run(2, 2, ConstraintId(8u));
  EXPECT_EQ(open(), (std::vector<int>{1, 3, 4, 5}));
  const MemberId in_zone = run(2, 0, kLoner), in_rack = run(2, 3, ConstraintId(8u));
  EXPECT_EQ(open(), (std::vector<int>{4, 5})) << "node 1 by its zone alone";
  tell(s, MemberGone{in_rack});
  EXPECT_EQ(open(), (std::vector<int>{3, 4, 5}));
  tell(s, MemberGone{in_zone});
  EXPECT_EQ(open(), (std::vector<int>{1, 3, 4, 5}));
  EXPECT_TRUE(s.is_consistent());
}

/// Many steps are forgotten, and who has read to before them learns of it.
TEST_F(CountsTest, WhatASetIsDrawnToIsCountedOnThoughItsStepsAreForgotten) {
  Constraint friend_of_web;
  friend_of_web.prefers_pods = {{kWebPods, kZoneLabel, 1}};
  tell(s, ConstraintDefined{ConstraintId(8u), friend_of_web});
  const LabelSetId web(0u);
  const std::uint64_t first = counts().drawn_count(web);
  for (std::uint64_t last = first, pods = 0; pods < 300; ++pods) {
    run(2, pods % 3, ConstraintId(8u));
    const std::uint64_t now = counts().drawn_count(web);
    EXPECT_GT(now, last);
    if (counts().remembers_drawn(web, last)) EXPECT_EQ(counts().drawn_since(web, last).size(), 1u) << pods;
    last = now;
  }
  EXPECT_FALSE(counts().remembers_drawn(web, first));
}

/// Of namespaces whose labels are asked for, and of pods nothing.
TEST_F(CountsTest, AllPodsOfSelectedNamespacesAreCountedWhereNoLabelIsAskedFor) {
  run(0, 0), run(2, 1), run(3, 2);
  tell(s, NamespaceSeen{kHere, {.is_known = true, .labels = {{kTeamLabel, kRed}}}});
  tell(s, NamespaceSeen{kThere, {.is_known = true, .labels = {}}});
  select(1, pods_by_namespace({{kTeamLabel, Op::kExists, {}, 0}}, {}));
  EXPECT_EQ(counted(1), (Counted{1, 1, 0}));
}

}  // namespace
}  // namespace ashlar
