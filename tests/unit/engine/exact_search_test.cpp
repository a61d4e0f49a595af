// The search for every combination of nodes for a gang of unlike members with rules about each other: what it may cost.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"
#include "engine/place/one_by_one.h"
#include "engine/place/placement.h"

namespace ashlar {
namespace {

/// A few nodes of a small pool among many.
class ExactSearch : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kNodes = 4000, kSmall = 16, kFirstDemand = 100;
  static constexpr LabelKeyId kHost{1u}, kPool{2u}, kApp{50u};
  static constexpr LabelId kSmallPool{1u}, kOurApp{500u};
  static constexpr LabelSetId kOurs{0u};
  static constexpr PodSelectorId kOurPods{0u};
  static constexpr ConstraintId kApartInSmallPool{1u};
  State s = small_state(0);

  ExactSearch() {
    for (std::uint32_t n = 0; n < kNodes; ++n) {
      NodeFacts facts = eight_devices();
      facts.labels = {{kHost, LabelId(1000 + n), NodeLabel::kNotANumber}};
      if (n < kSmall) facts.labels.push_back({kPool, kSmallPool, NodeLabel::kNotANumber});
      tell(s, NodeSeen{NodeId(n), facts});
    }
    tell(s, LabelSetDefined{kOurs, {.ns = NamespaceId(0u), .labels = {{kApp, kOurApp}}}});
    PodSelector ours;
    ours.namespaces = {NamespaceId(0u)};
    ours.all = {{kApp, LabelExpression::Op::kIn, {kOurApp}, 0}};
    tell(s, PodSelectorDefined{kOurPods, ours});
    Constraint apart;
    apart.selector.all = {{kPool, LabelExpression::Op::kIn, {kSmallPool}, 0}};
    apart.keeps_away = {{kOurPods, kHost}};
    apart.keeps_itself_away = true;
    tell(s, ConstraintDefined{kApartInSmallPool, apart});
  }
  /// A gang whose members all request something else: these keep each other off the nodes of the small pool, the others
  /// may be anywhere.
  void submit(std::uint32_t apart, std::uint32_t anywhere) {
    Workload gang = workload(0, 0, apart + anywhere, kNoDevices);
    for (std::uint32_t m = 0; m < apart + anywhere; ++m) {
      const DemandId demand(kFirstDemand + m);
      tell(s, DemandDefined{demand, {.amounts = {{resource::kCpu, 1000 + m}, {resource::kPods, 1}}}});
      gang.members[m].demand = demand;
      if (m >= apart) continue;
      gang.members[m].constraint = kApartInSmallPool;
      gang.members[m].labels = kOurs;
    }
    tell(s, Submitted{gang});
  }
  /// How often nodes were looked at for a kind of members.
  std::uint64_t looks_of_placement() {
    const Profile profile = *builtin_profile("ashlar");
    FitTables tables(profile);
    Trial trial(s);
    Rng draws, again;
    const PlacementOutcome outcome = place_gang({trial, tables, profile, draws}, JobId(0u));
    is_placed = outcome.is_placed;
    limit = outcome.limit;
    std::uint64_t looks = 0;
    for (; again.state() != draws.state(); ++looks) again.next();
    return looks;
  }
  bool is_placed = false;
  std::optional<Reason> limit;
  /// By the search alone, of which that many steps may be taken.
  bool is_found(const Scope& hard, std::uint32_t steps, std::size_t selectors = 0) {
    const Profile profile = *builtin_profile("ashlar");
    FitTables tables(profile);
    Trial trial(s);
    Rng draws;
    std::vector<OneByOne::OwnRun> runs;
    for (const auto& run : runs_of(s, JobId(0u), UINT32_MAX)) runs.push_back({run});
    const PlacementContext context{trial, tables, profile, draws};
    return OneByOne(context, hard).search(runs, selectors, steps);
  }
};

TEST_F(ExactSearch, ManyKindsOnAlmostAsManyNodesAsAStepIsWorthCostNoMoreThanItsBudget) {
  submit(kSmall + 1, 4);
  EXPECT_LE(looks_of_placement(), 10'000u);
  EXPECT_FALSE(is_placed);
}

TEST_F(ExactSearch, WhatFitsIsPlacedAllTheSame) {
  submit(kSmall, 4);
  EXPECT_LE(looks_of_placement(), 10'000u);
  EXPECT_TRUE(is_placed);
}

TEST_F(ExactSearch, OfMoreKindsThanItsBudgetIsEnoughForIsNotBegun) {
  submit(kSmall + 1, 80);
  EXPECT_LE(looks_of_placement(), 1'000u);
  EXPECT_FALSE(is_placed);
  ASSERT_TRUE(limit.has_value());
  EXPECT_EQ(limit->subject, kLimitOfSteps);
}

TEST_F(ExactSearch, ThatHasJustTheStepsItNeedsFindsThePlace) {
  submit(4, 0);  // a step for each, and nine for 4 + 3 + 2 + 1 looks at 4,000 nodes
  EXPECT_TRUE(is_found({}, 4 + 9));
  EXPECT_FALSE(is_found({}, 4 + 8));
}

TEST_F(ExactSearch, InADomainLooksAtNoOtherNodes) {
  tell(s, LevelsDefined{1, 0});
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    NodeFacts facts = s.cluster().facts(NodeId(n));
    facts.domains = {DomainId(n < kSmall ? 0u : 1u)};
    tell(s, NodeSeen{NodeId(n), facts});
  }
  submit(4, 0);
  EXPECT_TRUE(is_found({LevelId(0u), DomainId(0u)}, 4));
}

TEST_F(ExactSearch, TakesAStepMoreForAMemberWhereManySelectorsMeanIt) {
  submit(4, 0);  // nine steps for looks at nodes: see above
  EXPECT_TRUE(is_found({}, 4 + 9, 127));
  EXPECT_FALSE(is_found({}, 4 + 9, 128));
  EXPECT_FALSE(is_found({}, 2 * 4 + 8, 128));
  EXPECT_TRUE(is_found({}, 2 * 4 + 9, 128));
  EXPECT_TRUE(is_found({}, 2 * 4 + 9, 255));
  EXPECT_FALSE(is_found({}, 2 * 4 + 9, 256));
}

}  // namespace
}  // namespace ashlar
