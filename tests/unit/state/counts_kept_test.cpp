// What is kept from one count to the next: the selectors that a pod matches, and the pods that a term means, until
// these may be others.
#include <gtest/gtest.h>

#include "small_state.h"
#include "state/state_fields.h"

namespace ashlar::counts_kept {
namespace {

using Op = LabelExpression::Op;

constexpr LabelKeyId kZoneLabel{1u}, kApp{50u}, kTier{51u}, kTeamLabel{52u};
constexpr LabelId kFirstZone{10u}, kSecondZone{11u}, kWeb{500u}, kBatch{501u}, kFront{510u}, kBack{511u};
constexpr NamespaceId kHere{0u}, kThere{1u};
constexpr PodSelectorId kWebPods{0u};
constexpr ConstraintId kLoner{1u}, kSeenAsWeb{2u}, kSeenAsBack{4u};

LabelExpression is_kept_in(LabelKeyId key, std::vector<LabelId> values) { return {key, Op::kIn, std::move(values), 0}; }
PodSelector kept_pods_of(std::vector<NamespaceId> namespaces, std::vector<LabelExpression> all) {
  return {std::move(namespaces), false, {}, std::move(all)};
}
bool allows_kept(const Constraint& constraint, const NodeFacts& facts, const NodeContext& context) {
  return constraint.seen_as.is_none() || !context.kept_away.keeps_away(constraint.seen_as, facts);
}

class CountsKept : public ::testing::Test {
 protected:
  State s = small_state(0);
  std::uint32_t members = 0;

  CountsKept() {
    for (std::uint32_t n = 0; n < 3; ++n) {
      NodeFacts f = eight_devices();
      f.labels = {{kZoneLabel, n < 2 ? kFirstZone : kSecondZone, NodeLabel::kNotANumber}};
      tell(s, NodeSeen{NodeId(n), f});
    }
    define(0, kHere, {{kApp, kWeb}, {kTier, kFront}});
    define(1, kHere, {{kApp, kWeb}, {kTier, kBack}});
    define(2, kHere, {{kApp, kBatch}, {kTier, kFront}});
    define(3, kThere, {{kApp, kWeb}, {kTier, kFront}});
    select(0, kept_pods_of({kHere}, {is_kept_in(kApp, {kWeb})}));
    Constraint loner;
    loner.keeps_away = {{kWebPods, kZoneLabel}};
    tell(s, ConstraintDefined{kLoner, loner});
    see_as(kSeenAsWeb, 0);
  }
  void define(std::uint32_t row, NamespaceId ns, std::vector<PodLabel> labels) {
    tell(s, LabelSetDefined{LabelSetId(row), {.ns = ns, .labels = std::move(labels)}});
  }
  void select(std::uint32_t row, PodSelector selector) { tell(s, PodSelectorDefined{PodSelectorId(row), selector}); }
  void see_as(ConstraintId id, std::uint32_t labels) {
    Constraint seen;
    seen.seen_as = LabelSetId(labels);
    tell(s, ConstraintDefined{id, seen});
  }
  MemberId run(std::uint32_t labels, std::uint32_t node, ConstraintId constraint = kAnywhere) {
    Workload w;
    w.job = JobId(members);
    w.members = {{MemberId(members), kNoDevices, constraint, LabelSetId(labels)}};
    tell(s, Submitted{w});
    tell(s, Bound{MemberId(members), NodeId(node), {}});
    return MemberId(members++);
  }
  const Counts& counts() const { return s.cluster().counts(); }
  std::size_t allowed_for(ConstraintId constraint) const {
    return s.cluster().allowed(constraint, allows_kept).count();
  }
  /// Pairs of a selector and a set that are compared while a pod that keeps web pods away comes and goes.
  std::uint64_t compared_for_a_loner() {
    const std::uint64_t before = counts().index().compared_count();
    const MemberId loner = run(2, 0, kLoner);
    const std::uint64_t compared = counts().index().compared_count() - before;
    tell(s, MemberGone{loner});
    return compared;
  }
};

TEST_F(CountsKept, WhatATermMeansIsKeptUntilItMayMeanOthers) {
  see_as(kSeenAsBack, 1);
  EXPECT_GT(compared_for_a_loner(), 0u);
  EXPECT_EQ(compared_for_a_loner(), 0u) << "neither with its own labels nor with those that its term means";
  tell(s, ConstraintDefined{kSeenAsBack, {}});
  EXPECT_GT(compared_for_a_loner(), 0u);
  const MemberId loner = run(2, 0, kLoner);
  EXPECT_EQ(allowed_for(kSeenAsWeb), 1u);
  EXPECT_TRUE(s.is_consistent()) << "the other is watched no longer";
  tell(s, MemberGone{loner});
  EXPECT_EQ(allowed_for(kSeenAsWeb), 3u);
  see_as(kSeenAsBack, 1);
  EXPECT_EQ(allowed_for(kSeenAsBack), 3u);
  run(2, 0, kLoner);
  EXPECT_EQ(allowed_for(kSeenAsBack), 1u) << "watched since the last with such a term has gone";
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsKept, AKeptTermFollowsSetsAndSelectorsThatBecomeOthers) {
  compared_for_a_loner();
  define(5, kHere, {{kApp, kWeb}});
  see_as(kSeenAsBack, 5);
  const MemberId loner = run(2, 0, kLoner);
  EXPECT_EQ(allowed_for(kSeenAsBack), 1u);
  tell(s, MemberGone{loner});
  select(7, kept_pods_of({kHere}, {is_kept_in(kApp, {kBatch})}));
  run(2, 1);
  EXPECT_EQ(counts().pods(PodSelectorId(7u), NodeId(1u)), 1u) << "a selector that its like was not compared with";
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsKept, OfATermThatMeansTooManySetsNoneAreKept) {
  constexpr std::uint32_t kSets = 4097;
  for (std::uint32_t i = 0; i < kSets; ++i) {
    define(10 + i, kHere, {{kApp, kWeb}, {kTeamLabel, LabelId(10'000 + i)}});
    see_as(ConstraintId(10 + i), 10 + i);
  }
  compared_for_a_loner();
  const MemberId loner = run(2, 0, kLoner);
  EXPECT_EQ(allowed_for(ConstraintId(10 + kSets - 1)), 1u);
  tell(s, MemberGone{loner});
  EXPECT_EQ(allowed_for(ConstraintId(10 + kSets - 1)), 3u);
  EXPECT_TRUE(s.is_consistent());
}

TEST_F(CountsKept, OfAPodThatTooManySelectorsMeanNoneAreKept) {
  for (std::uint32_t i = 0; i < 63; ++i)
    select(10 + i, kept_pods_of({kHere}, {is_kept_in(kApp, {kBatch, LabelId(1000 + i)})}));
  const auto compared = [&] {
    const std::uint64_t before = counts().index().compared_count();
    run(2, 0);
    return counts().index().compared_count() - before;
  };
  select(80, kept_pods_of({kHere}, {is_kept_in(kApp, {kBatch})}));
  compared();
  EXPECT_EQ(compared(), 0u) << "64 are";
  select(81, kept_pods_of({kHere}, {is_kept_in(kApp, {kBatch})}));
  compared();
  EXPECT_EQ(compared(), 65u);
}

TEST_F(CountsKept, ItsWorkIsAlsoThatATermIsComparedWithAllSetsThatItMayMean) {
  for (std::uint32_t i = 0; i < 8; ++i) define(10 + i, kHere, {{kApp, kWeb}, {kTeamLabel, LabelId(10'000 + i)}});
  for (std::uint32_t i = 0; i < 20; ++i) define(30 + i, kHere, {{kApp, kBatch}, {kTeamLabel, LabelId(11'000 + i)}});
  const auto work_of_a_loner = [&](ConstraintId constraint) {
    const std::uint64_t before = counts().work();
    const MemberId loner = run(2, 0, constraint);
    const std::uint64_t work = counts().work() - before;
    tell(s, MemberGone{loner});
    return work;
  };
  EXPECT_EQ(work_of_a_loner(kLoner), 2u + 1u) << "a quarter of the eleven with its label; and the set that is watched";
  EXPECT_EQ(work_of_a_loner(kLoner), 2u + 1u) << "whether it is kept or not";
  select(1, kept_pods_of({kThere}, {is_kept_in(kApp, {kWeb})}));
  Constraint there;
  there.keeps_away = {{PodSelectorId(1u), kZoneLabel}};
  tell(s, ConstraintDefined{ConstraintId(5u), there});
  EXPECT_EQ(work_of_a_loner(ConstraintId(5u)), 0u) << "that namespace has one";
  select(2, {{}, true, {}, {{kTeamLabel, Op::kDoesNotExist, {}, 0}}});
  there.keeps_away = {{PodSelectorId(2u), kZoneLabel}};
  tell(s, ConstraintDefined{ConstraintId(6u), there});
  EXPECT_GE(work_of_a_loner(ConstraintId(6u)), 8u) << "a quarter of all";
}

TEST_F(CountsKept, WhatAPodMatchesIsKeptUntilItsRowOrTheLabelsOfItsNamespaceAreOthers) {
  tell(s, MemberGone{run(2, 0)});
  define(2, kHere, {{kApp, kWeb}});
  run(2, 0);
  EXPECT_EQ(counts().pods(kWebPods, NodeId(0u)), 1u) << "the row has another value";
  select(5, {{}, true, {{kTeamLabel, Op::kExists, {}, 0}}, {}});
  tell(s, NamespaceSeen{kThere, {.is_known = true, .labels = {}}});
  tell(s, MemberGone{run(3, 1)});
  tell(s, NamespaceSeen{kThere, {.is_known = true, .labels = {{kTeamLabel, LabelId(520u)}}}});
  run(3, 1);
  EXPECT_EQ(counts().pods(PodSelectorId(5u), NodeId(1u)), 1u);
  EXPECT_TRUE(s.is_consistent());
}

}  // namespace
}  // namespace ashlar::counts_kept
