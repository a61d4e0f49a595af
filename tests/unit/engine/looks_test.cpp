// Looks (FitTables::looks): what searches and their reasons cost is counted by what they look at; and at which limit a
// search ends.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "../state/small_state.h"
#include "engine/engine.h"
#include "engine/explain/explain.h"
#include "engine/explain/never_fits.h"
#include "engine/place/placement.h"

namespace ashlar {
namespace {

constexpr DemandId kFirstOfKinds{20u};

/// A job that no limit but the search's own keeps from a place, as placed and as explained.
struct Looks {
  Profile profile = *builtin_profile("ashlar");
  State s = small_state(0);
  FitTables tables{profile};

  void see_nodes(std::uint32_t count, const NodeFacts& facts = eight_devices()) {
    for (std::uint32_t n = 0; n < count; ++n) tell(s, NodeSeen{NodeId(n), facts});
  }
  DemandId kind(std::uint32_t number, std::int64_t milli_cores, std::int32_t devices) {
    const DemandId demand(kFirstOfKinds.value + number);
    Demand of_kind{.amounts = {{resource::kCpu, milli_cores}, {resource::kPods, 1}}};
    if (devices > 0) of_kind.devices = {devices, MilliGpu(1000), MiB(0)};
    tell(s, DemandDefined{demand, of_kind});
    return demand;
  }
  PlacementOutcome place() {
    Trial trial(s);
    Rng draws(1);
    return place_job({trial, tables, profile, draws}, JobId(0u));
  }
  std::uint64_t of_placing() {
    const std::uint64_t before = tables.looks();
    EXPECT_FALSE(place().is_placed);
    return tables.looks() - before;
  }
  std::uint64_t of_explaining() {
    const std::uint64_t before = tables.looks();
    explain_shortage(s, tables, profile, JobId(0u), Millis(0));
    return tables.looks() - before;
  }
};

TEST(Looks, OfATableAreTheSameWhateverIsKeptOfIt) {
  Looks w;
  w.see_nodes(1);
  for (std::uint64_t times = 1; times <= 3; ++times) {
    const std::uint64_t before = w.tables.looks();
    w.tables.get(w.s, kOneDevice, kAnywhere, 0);
    EXPECT_GT(w.tables.looks(), before);
    EXPECT_EQ(w.tables.looks(), times * (w.tables.looks() - before));
  }
}

TEST(Looks, OfATableWithRulesOrWishesAboutOtherPodsAreMoreTheMoreNodesThereAre) {
  constexpr LabelKeyId kHost{9u};
  constexpr ConstraintId kApart{7u}, kNear{8u};
  std::vector<std::uint64_t> looks;
  for (const std::uint32_t nodes : {100u, 1000u}) {
    Looks w;
    NodeFacts facts = eight_devices();
    facts.labels = {{kHost, LabelId(90u), NodeLabel::kNotANumber}};
    w.see_nodes(nodes, facts);
    tell(w.s, LabelSetDefined{LabelSetId(0u), {.ns = NamespaceId(0u), .labels = {{LabelKeyId(5u), LabelId(50u)}}}});
    PodSelector all;
    all.namespaces = {NamespaceId(0u)};
    tell(w.s, PodSelectorDefined{PodSelectorId(0u), all});
    Constraint apart, near;
    apart.keeps_away = {{PodSelectorId(0u), kHost}};
    near.prefers_pods = {{PodSelectorId(0u), kHost, 10}};
    tell(w.s, ConstraintDefined{kApart, apart});
    tell(w.s, ConstraintDefined{kNear, near});
    for (const ConstraintId constraint : {kAnywhere, kApart, kNear}) {
      const std::uint64_t before = w.tables.looks();
      w.tables.get(w.s, kOneDevice, constraint, 0);
      looks.push_back(w.tables.looks() - before);
    }
  }
  EXPECT_EQ(looks[3], looks[0]);
  EXPECT_GT(looks[4], looks[1]);
  EXPECT_GT(looks[5], looks[2]);
}

TEST(Looks, OfAReasonAreOneAtEachNodeAtLeast) {
  constexpr std::uint32_t kNodes = 1000;
  Looks w;
  w.see_nodes(kNodes);
  tell(w.s, Submitted{workload(0, 0, 1, w.kind(0, 65'000, 1))});
  EXPECT_GE(w.of_explaining(), kNodes);
}

TEST(Looks, OfAProofThatCannotBeMadeAreAllItsSteps) {
  Looks w;
  w.see_nodes(10);
  Workload gang = workload(0, 0, 14, kFourDevices);
  for (std::size_t m = 0; m < 10; ++m) gang.members[m].demand = w.kind(0, 1, 5);
  tell(w.s, Submitted{gang});
  EXPECT_GE(w.of_explaining(), kProofStepsMax);
  tell(w.s, Ended{JobId(0u)});
  tell(w.s, Submitted{workload(0, 0, 40, kFourDevices)});
  EXPECT_LT(w.of_explaining(), kProofStepsMax) << "there it is simple";
}

/// Eight nodes of different sizes, and members of which no two orders look alike.
TEST(Looks, OfAnExactSearchAreItsStepsWhichEndAtALimit) {
  constexpr std::int64_t kStepsAtLeast = 1000;
  Looks w;
  std::int64_t left = 0;
  for (std::uint32_t n = 0; n < 8; ++n) {
    NodeFacts facts = eight_devices();
    facts.allocatable[resource::kCpu.row()] = 100'003 + 1'009 * n;
    left += 100'003 + 1'009 * n;
    tell(w.s, NodeSeen{NodeId(n), facts});
  }
  Workload gang = workload(0, 0, 24, kOneDevice);
  for (std::uint32_t m = 0; m < 24; ++m) {
    const std::int64_t cores = m == 23 ? left : 33'331 + 37 * m;
    left -= cores;
    gang.members[m].demand = w.kind(m, cores, 0);
  }
  tell(w.s, Submitted{gang});
  const std::uint64_t before = w.tables.looks();
  const PlacementOutcome outcome = w.place();
  ASSERT_TRUE(outcome.limit.has_value());
  EXPECT_EQ(outcome.limit->subject, kLimitOfSteps);
  EXPECT_GT(outcome.limit->numbers[0], kStepsAtLeast);
  EXPECT_GE(w.tables.looks() - before, static_cast<std::uint64_t>(outcome.limit->numbers[0]));
}

/// Each kind has cores on each node, no two of them have: in many domains that is found out again and again.
TEST(Looks, OfASearchInManyDomainsEndAtALimitOfKinds) {
  constexpr std::uint32_t kRacks = 600, kKinds = 4;
  Looks w;
  tell(w.s, LevelsDefined{1, 0});
  for (std::uint32_t n = 0; n < kRacks; ++n) {
    NodeFacts facts = eight_devices();
    facts.domains = {DomainId(n)};
    tell(w.s, NodeSeen{NodeId(n), facts});
  }
  Workload gang = workload(0, 0, kKinds, kOneDevice);
  gang.within = LevelId(0u);
  for (std::uint32_t m = 0; m < kKinds; ++m) gang.members[m].demand = w.kind(m, 40'000 + m, 1);
  tell(w.s, Submitted{gang});
  const PlacementOutcome outcome = w.place();
  EXPECT_FALSE(outcome.is_placed);
  ASSERT_TRUE(outcome.limit.has_value());
  EXPECT_EQ(outcome.limit->subject, kLimitOfKinds);
  EXPECT_EQ(outcome.limit->numbers[0], kRunsTriedMax);
}

/// Members of which each kind has room for all of it, but both together have not, though one may be left out. There are
/// devices on the first nodes only.
Looks with_too_many_members(std::uint32_t nodes, std::uint32_t small, std::uint32_t large) {
  Looks w;
  NodeFacts without = eight_devices();
  without.devices = {};
  w.see_nodes(nodes, without);
  w.see_nodes((small + 15) / 8);
  Workload gang = workload(0, 0, small + large, w.kind(0, 1, 1));
  gang.members_min = small + large - 1;
  for (std::uint32_t m = small; m < small + large; ++m) gang.members[m].demand = w.kind(1, 1, 4);
  tell(w.s, Submitted{gang});
  return w;
}

TEST(Looks, OfMembersThatArePlacedOneByOneAreMoreTheMoreNodesThereAre) {
  EXPECT_GT(with_too_many_members(2000, 30, 6).of_placing(), with_too_many_members(200, 30, 6).of_placing());
}

TEST(Looks, OfMembersThatArePlacedOneByOneEndAtALimit) {
  EXPECT_FALSE(with_too_many_members(2000, 30, 6).place().limit.has_value());
  const PlacementOutcome outcome = with_too_many_members(8000, 700, 100).place();
  EXPECT_FALSE(outcome.is_placed);
  ASSERT_TRUE(outcome.limit.has_value());
  EXPECT_EQ(outcome.limit->subject, kLimitOfLooks);
  EXPECT_GT(outcome.limit->numbers[0], 1'000'000);
}

/// Each member that is put on a node, or taken off, is counted by each selector that means it.
TEST(Looks, OfMembersThatManySelectorsMeanEndAtTheLimitSooner) {
  constexpr std::uint32_t kSelectors = 60'000;
  Looks w;
  tell(w.s, LabelSetDefined{LabelSetId(0u), {.ns = NamespaceId(0u), .labels = {}}});
  for (std::uint32_t row = 0; row < kSelectors; ++row)
    tell(w.s, PodSelectorDefined{PodSelectorId(row), {.namespaces = {NamespaceId(0u)}}});
  w.see_nodes(5);
  Workload gang = workload(0, 0, 36, w.kind(0, 1, 1));
  gang.members_min = 35;
  for (std::uint32_t m = 0; m < 36; ++m) gang.members[m].labels = LabelSetId(0u);
  for (std::uint32_t m = 30; m < 36; ++m) gang.members[m].demand = w.kind(1, 1, 4);
  tell(w.s, Submitted{gang});
  const std::uint64_t before = w.s.cluster().counts().work();
  const PlacementOutcome outcome = w.place();
  EXPECT_FALSE(outcome.is_placed);
  ASSERT_TRUE(outcome.limit.has_value());
  EXPECT_EQ(outcome.limit->subject, kLimitOfLooks);
  EXPECT_LT(w.s.cluster().counts().work() - before, 180 * std::uint64_t{kSelectors}) << "each on a node twice, and off";
}

/// A search for a gang of several kinds that finds no place.
TEST(Looks, OfADecisionAreForEachKindAtEachNode) {
  constexpr std::uint32_t kNodes = 500, kKinds = 5;
  Looks w;
  w.see_nodes(kNodes);
  Workload gang = workload(0, 0, kKinds, kOneDevice);
  for (std::uint32_t m = 0; m < kKinds; ++m) gang.members[m].demand = w.kind(m, 65'000 + m, 1);
  tell(w.s, Submitted{gang});
  Engine engine(w.profile, {.has_verdicts = false});
  engine.decide(w.s, Millis(0));
  EXPECT_GE(engine.fit_tables().looks(), kNodes * kKinds);
}

/// Each kind has cores on each node, both together have not: the counts of those that are placed and taken off again
/// are charged as runs.
TEST(Looks, OfASearchInManyDomainsEndAtTheLimitOfKindsSoonerWhereManySelectorsMeanItsMembers) {
  constexpr std::uint32_t kRacks = 100;
  for (const std::uint32_t selectors : {0u, 7'000u, 12'000u}) {
    Looks w;
    tell(w.s, LabelSetDefined{LabelSetId(0u), {.ns = NamespaceId(0u), .labels = {}}});
    for (std::uint32_t row = 0; row < selectors; ++row)
      tell(w.s, PodSelectorDefined{PodSelectorId(row), {.namespaces = {NamespaceId(0u)}}});
    tell(w.s, LevelsDefined{1, 0});
    for (std::uint32_t n = 0; n < kRacks; ++n) {
      NodeFacts facts = eight_devices();
      facts.domains = {DomainId(n)};
      tell(w.s, NodeSeen{NodeId(n), facts});
    }
    Workload gang = workload(0, 0, 2, kOneDevice);
    gang.within = LevelId(0u);
    for (std::uint32_t m = 0; m < 2; ++m) {
      gang.members[m].demand = w.kind(m, 40'000 + m, 1);
      gang.members[m].labels = LabelSetId(0u);
    }
    tell(w.s, Submitted{gang});
    const PlacementOutcome outcome = w.place();
    EXPECT_FALSE(outcome.is_placed);
    EXPECT_EQ(outcome.limit.has_value(), selectors > 9'000) << selectors;
    if (outcome.limit) EXPECT_EQ(outcome.limit->subject, kLimitOfKinds);
  }
}

/// Members that keep each other away, one more than there are nodes.
TEST(Looks, OfASearchForMembersWithRulesAboutEachOtherAreItsStepsMoreWhereManySelectorsMeanThem) {
  constexpr std::uint32_t kKinds = 9;
  constexpr LabelKeyId kHost{9u};
  std::vector<std::uint64_t> looks;
  for (const std::uint32_t selectors : {1u, 60'000u}) {
    Looks w;
    NodeFacts facts = eight_devices();
    facts.labels = {{kHost, LabelId(90u), NodeLabel::kNotANumber}};
    w.see_nodes(1, facts);
    tell(w.s, LabelSetDefined{LabelSetId(0u), {.ns = NamespaceId(0u), .labels = {{LabelKeyId(5u), LabelId(50u)}}}});
    for (std::uint32_t row = 0; row < selectors; ++row)
      tell(w.s, PodSelectorDefined{PodSelectorId(row), {.namespaces = {NamespaceId(0u)}}});
    Constraint apart;
    apart.keeps_away = {{PodSelectorId(0u), kHost}};
    apart.keeps_itself_away = true;
    tell(w.s, ConstraintDefined{ConstraintId(7u), apart});
    Workload gang = workload(0, 0, kKinds, kNoDevices);
    for (std::uint32_t m = 0; m < kKinds; ++m) {
      gang.members[m].demand = w.kind(m, 1000 + m, 0);
      gang.members[m].constraint = ConstraintId(7u);
      gang.members[m].labels = LabelSetId(0u);
    }
    tell(w.s, Submitted{gang});
    const std::uint64_t before = w.tables.looks();
    const PlacementOutcome outcome = w.place();
    looks.push_back(w.tables.looks() - before);
    EXPECT_FALSE(outcome.is_placed);
    EXPECT_EQ(outcome.limit.has_value(), selectors > 1) << selectors;
    if (outcome.limit) {
      EXPECT_EQ(outcome.limit->subject, kLimitOfSteps);
      EXPECT_GE(looks[1] - looks[0], 3 * static_cast<std::uint64_t>(outcome.limit->numbers[0]));
    }
  }
}

/// Counts of what was placed before, and of others, are not those of a search.
TEST(Looks, OfMembersThatArePlacedOneByOneAreNotWhatWasCountedBefore) {
  Looks w;
  tell(w.s, LabelSetDefined{LabelSetId(0u), {.ns = NamespaceId(0u), .labels = {}}});
  for (std::uint32_t row = 0; row < 20'000; ++row)
    tell(w.s, PodSelectorDefined{PodSelectorId(row), {.namespaces = {NamespaceId(0u)}}});
  w.see_nodes(5);
  for (std::uint32_t times = 0; times < 120; ++times) {
    Workload before = workload(0, 0, 1, kNoDevices);
    before.members[0].labels = LabelSetId(0u);
    tell(w.s, Submitted{before});
    tell(w.s, Bound{MemberId(0u), NodeId(0u), {}});
    tell(w.s, Ended{JobId(0u)});
  }
  ASSERT_GT(w.s.cluster().counts().work(), 4'000'000u);
  Workload gang = workload(0, 0, 36, w.kind(0, 1, 1));
  gang.members_min = 35;
  for (std::uint32_t m = 30; m < 36; ++m) gang.members[m].demand = w.kind(1, 1, 4);
  tell(w.s, Submitted{gang});
  const PlacementOutcome outcome = w.place();
  EXPECT_FALSE(outcome.is_placed);
  EXPECT_FALSE(outcome.limit.has_value());
}

}  // namespace
}  // namespace ashlar
