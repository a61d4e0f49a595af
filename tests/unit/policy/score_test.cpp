// What each score policy prefers. The five published ones are checked against numbers worked out by hand from their
// definitions.
#include <set>

#include "policy/score/preferences.h"
#include "small_cluster.h"

namespace ashlar {
namespace {

using Scores = std::vector<Points>;

TEST(PackTight, AMemberFillsANodeExactly) {
  SmallCluster c{{.devices = 2}, {.devices = 4}, {.devices = 8}, {.devices = 16}};
  EXPECT_EQ(c.points("pack-tight", demand_of(0, 2)), (Scores{1000, 750, 250, 0}));
}

TEST(PackTight, SharesFillSharedDevicesBeforeIdleOnes) {
  SmallCluster c{{.devices = 1}, {.devices = 1}, {.devices = 1}, {.devices = 8}};
  c.leave(NodeId(0), {300});
  c.leave(NodeId(1), {800});
  EXPECT_EQ(c.points("pack-tight", demand_of(0, 1, 300)), (Scores{1000, 750, 400, 225}));
}

TEST(PackTight, MembersWithoutDevicesLeaveDevicesAlone) {
  SmallCluster c{{}, {.devices = 8}, {.devices = 8}};
  c.cluster.allocate(NodeId(2), demand_of(0, 8), mask_of({0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(c.points("pack-tight", demand_of(1000)), (Scores{1000, 500, 900}));
}

TEST(BestFitDomain, TheGroupWithTheFewestIdleDevicesIsFirst) {
  SmallCluster c;
  c.cluster.define_levels(1, 0);
  for (const unsigned rack : {0u, 0u, 1u}) {
    NodeFacts f = facts_of({.devices = 8});
    f.domains = {DomainId(rack)};
    c.add(f);
  }
  c.cluster.allocate(NodeId(2), demand_of(0, 5), mask_of({0, 1, 2, 3, 4}));
  Scores points(c.cluster.topology().group_count(), 0);
  find_score("best-fit-domain")->add_domain(c.view(demand_of(0, 1)), points);
  const auto of = [&](unsigned node) { return points[c.cluster.topology().group_of(NodeId(node)).row()]; };
  EXPECT_EQ(of(0), kDomainPointsMax - 16);
  EXPECT_EQ(of(2), kDomainPointsMax - 3);
}

TEST(Prefer, WeightsThatHoldCountAndSoftTaintsCountAgainst) {
  SmallCluster c;
  const LabelKeyId disk(0u), zone(1u);
  const Taint soft{LabelKeyId(5u), LabelId(50u), TaintEffect::kPreferNoSchedule};
  const auto add = [&](std::vector<NodeLabel> labels, std::vector<Taint> taints) {
    NodeFacts f;
    f.labels = std::move(labels);
    f.taints = std::move(taints);
    c.add(f);
  };
  add({{disk, LabelId(1u)}, {zone, LabelId(10u)}}, {});
  add({{disk, LabelId(1u)}, {zone, LabelId(11u)}}, {});
  add({{disk, LabelId(2u)}, {zone, LabelId(11u)}}, {});
  add({{disk, LabelId(1u)}, {zone, LabelId(10u)}}, {soft});
  Constraint k;
  k.preferred = {{80, {{{disk, LabelExpression::Op::kIn, {LabelId(1u)}}}}},
                 {20, {{{zone, LabelExpression::Op::kIn, {LabelId(10u)}}}}}};
  EXPECT_EQ(c.points("prefer", demand_of(0), k), (Scores{1000, 960, 800, 800}));
  k.tolerations = {{LabelKeyId(5u), LabelId::none(), TaintEffect::kAny}};
  EXPECT_EQ(c.points("prefer", demand_of(0), k)[3], 1000) << "a tolerated taint is none";
}

TEST(Prefer, WithoutWishesAllCleanNodesAreEqual) {
  const SmallCluster c{{}, {.devices = 8}};
  EXPECT_EQ(c.points("prefer", demand_of(0)), (Scores{1000, 1000}));
}

TEST(Spread, TheLargestFreeShareIsFirst) {
  SmallCluster c{{.cpu_milli = 1000, .devices = 8}, {.cpu_milli = 4000, .devices = 2}};
  c.leave(NodeId(0), {0, 0});
  EXPECT_EQ(c.points("spread", demand_of(0, 1)), (Scores{750, 1000}));
  c.use_cpu(NodeId(1), 3000);
  EXPECT_EQ(c.points("spread", demand_of(100)), (Scores{1000, 250}));
}

TEST(PublishedBestFit, LeastLeftOverOfTheLargestNodeIsBest) {
  SmallCluster c{{.cpu_milli = 64000, .devices = 4}, {.cpu_milli = 8000, .devices = 1}};
  EXPECT_EQ(c.points("best-fit", demand_of(8000, 1)), (Scores{59, 100}))
      << "100 x (1 - (0.21875 + 0.1875)) = 59.375; an exact fit is 100";
}

TEST(PublishedDotprod, TheSmallerProductIsBetter) {
  const SmallCluster c{{.cpu_milli = 64000, .devices = 8}, {.cpu_milli = 32000, .devices = 2}};
  EXPECT_EQ(c.points("dotprod", demand_of(16000, 1)), (Scores{90, 96}))
      << "100 x (1 - (0.0625 + 0.125)/2) = 90.625; (0.03125 + 0.03125)/2 gives 96.875";
}

TEST(PublishedGpuPacking, SharedDevicesThenUsedNodesThenEmptyOnes) {
  SmallCluster c{{.devices = 8}, {.devices = 2}, {.devices = 2}, {.devices = 8}};
  c.leave(NodeId(1), {300});
  c.leave(NodeId(2), {150});
  c.leave(NodeId(3), {0});
  EXPECT_EQ(c.points("gpu-packing", demand_of(0, 1, 200)), (Scores{25, 97, 49, 49}));
  EXPECT_EQ(c.points("gpu-packing", demand_of(0, 4))[0], 25);
  EXPECT_EQ(c.points("gpu-packing", demand_of(0, 4))[3], 46);
  EXPECT_EQ(c.points("gpu-packing", demand_of(1000)), (Scores{0, 0, 0, 0}));
}

TEST(PublishedGpuClustering, PodsOfOneClassGather) {
  SmallCluster c{{.devices = 8}, {.devices = 8}, {.devices = 8}, {.devices = 8}};
  const Demand share = demand_of(0, 1, 500), two = demand_of(0, 2);
  for (const int device : {0, 1, 2, 3}) c.cluster.allocate(NodeId(1), share, mask_of({device}));
  c.cluster.allocate(NodeId(2), share, mask_of({0}));
  c.cluster.allocate(NodeId(2), two, mask_of({1, 2}));
  c.cluster.allocate(NodeId(3), two, mask_of({0, 1}));
  // 25 x (8000 - free) / 8000: 0, 6, 7, 6; then nobody +25, only the same +75, the same among others +50, only others
  // +0.
  EXPECT_EQ(c.points("gpu-clustering", share), (Scores{25, 81, 57, 6}));
  c.cluster.release(NodeId(2), two, mask_of({1, 2}));
  EXPECT_EQ(c.points("gpu-clustering", share)[2], 25 * 500 / 8000 + 75) << "a class that has gone does not count";
  EXPECT_EQ(c.points("gpu-clustering", demand_of(0, 1))[1], 6)
      << "one whole card and two whole cards are different classes, and no share";
}

TEST(Random, EveryNodeIsChosenAboutAsOften) {
  SmallCluster c(std::vector<NodeSketch>(10));
  std::vector<int> wins(10, 0);
  for (c.draw = 0; c.draw < 20000; ++c.draw) {
    const Scores p = c.points("random", demand_of(0));
    ++wins[static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin())];
  }
  for (const int w : wins) EXPECT_NEAR(w, 2000, 200);
  SmallCluster large(std::vector<NodeSketch>(1000));
  const Scores p = large.points("random", demand_of(0));
  EXPECT_GT(*std::max_element(p.begin(), p.end()), kDomainPointsMax * 9 / 10) << "the whole range is drawn from";
  EXPECT_LT(*std::min_element(p.begin(), p.end()), kDomainPointsMax / 10);
  EXPECT_LE(*std::max_element(p.begin(), p.end()), kDomainPointsMax);
  EXPECT_TRUE(find_score("random")->is_drawn);
}

/// Three zones with none, one and three pods, each of which weighs ln(3 + 2); nothing fits on the last node. To all is
/// added what no soft taint gives, 3 x 100.
TEST(Preferences, ASoftSpreadGivesPointsByItsSkew) {
  const std::vector<std::uint32_t> domains{0, 1, 2, 0}, pods{0, 1, 3};
  const std::vector<std::uint16_t> fits{1, 1, 1, 0};
  const auto points_with_skew = [&](std::int32_t skew_max) {
    PreferenceColumns columns;
    columns.spreads = {{.skew_max = skew_max, .domain_of_node = domains, .pods = pods}};
    Scores points(fits.size(), 7);
    add_up_preferences(columns, fits, points);
    return points;
  };
  EXPECT_EQ(points_with_skew(1), (Scores{500, 420, 300, 0})) << "of 0, 2 and 5: 2 x 100, 60 and 0";
  EXPECT_EQ(points_with_skew(5), (Scores{500, 454, 388, 0})) << "of 4, 6 and 9: 2 x 100, 77 and 44";
}

TEST(ScoreTable, EveryPolicyIsFoundByItsNameAndScoresNodesOrDomains) {
  for (const ScorePolicy& p : score_policies()) {
    EXPECT_EQ(find_score(p.name), &p);
    EXPECT_NE(p.add == nullptr, p.add_domain == nullptr) << p.name;
  }
  EXPECT_EQ(find_score("nonsense"), nullptr);
}

}  // namespace
}  // namespace ashlar
