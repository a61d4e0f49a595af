// Which cards each card policy takes: best-fit, random, fgd.
#include "small_cluster.h"

namespace ashlar {
namespace {

TEST(Cards, WholeCardsAreAlwaysTheFirstIdleOnes) {
  SmallCluster c{{.cards = 6}};
  c.leave(NodeId(0), {1000, 500, 1000, 0});
  for (const CardPolicy& p : card_policies()) EXPECT_EQ(c.cards(p.name, NodeId(0), demand_of(0, 3)), mask_of({0, 2, 4})) << p.name;
}

TEST(Cards, BestFitTakesTheFittingCardWithLeastFree) {
  SmallCluster c{{.cards = 4}};
  c.leave(NodeId(0), {600, 300, 200, 300});
  EXPECT_EQ(c.cards("best-fit", NodeId(0), demand_of(0, 1, 250)), mask_of({1})) << "the first of two equal ones";
  EXPECT_EQ(c.cards("best-fit", NodeId(0), demand_of(0, 1, 700)), mask_of({})) << "nothing fits, nothing is taken";
}

TEST(Cards, BestFitLooksAtMemoryToo) {
  SmallCluster c{{.cards = 2, .mib_per_card = 1000}};
  c.cluster.allocate(NodeId(0), demand_of(0, 1, 500, 900), mask_of({0}));
  EXPECT_EQ(c.cards("best-fit", NodeId(0), demand_of(0, 1, 100, 200)), mask_of({1}));
}

TEST(Cards, RandomTakesEveryFittingCardAboutAsOften) {
  SmallCluster c{{.cards = 4}};
  c.leave(NodeId(0), {600, 100, 400, 1000});
  std::vector<int> taken(4, 0);
  for (c.draw = 0; c.draw < 3000; ++c.draw) {
    const CardMask mask = c.cards("random", NodeId(0), demand_of(0, 1, 400));
    ASSERT_EQ(mask.count(), 1);
    for (int card = 0; card < 4; ++card) taken[static_cast<std::size_t>(card)] += mask.test(card) ? 1 : 0;
  }
  EXPECT_EQ(taken[1], 0);
  for (const std::size_t card : {0u, 2u, 3u}) EXPECT_NEAR(taken[card], 1000, 120);
}

TEST(Cards, FgdTakesTheFirstCardOfTheBestScore) {
  FgdMix mix;
  mix.classes = {{1000, 1, 500, {}, 1.0}};
  SmallCluster c{{.cards = 3}};
  c.mix = &mix;
  c.leave(NodeId(0), {1000, 300, 700});
  // 300 from the idle card leaves 700: F unchanged, 50. From the 300: F falls by 300, 57. From the 700: F grows by 400, 40.
  EXPECT_EQ(c.cards("fgd", NodeId(0), demand_of(0, 1, 300)), mask_of({1}));
}

TEST(Cards, FgdKnowsNoMemoryAndBestFitChoosesWhereItsCardLacksIt) {
  FgdMix mix;
  mix.classes = {{1000, 1, 500, {}, 1.0}};
  SmallCluster c{{.cards = 3, .mib_per_card = 1000}};
  c.mix = &mix;
  c.cluster.allocate(NodeId(0), demand_of(0, 1, 700, 950), mask_of({1}));
  c.cluster.allocate(NodeId(0), demand_of(0, 1, 300), mask_of({2}));
  EXPECT_EQ(c.cards("fgd", NodeId(0), demand_of(0, 1, 300, 50)), mask_of({1}));
  EXPECT_EQ(c.cards("fgd", NodeId(0), demand_of(0, 1, 300, 51)), mask_of({2}));
}

TEST(Cards, AnIdleCardThatIsOwedIsNotShared) {
  FgdMix mix;
  mix.classes = {{1000, 1, 1000, {}, 1.0}};
  SmallCluster c{{.cards = 2}};
  c.mix = &mix;
  c.leave(NodeId(0), {600});
  c.cluster.allocate(NodeId(0), demand_of(0, 1), {});
  for (const CardPolicy& p : card_policies())
    for (c.draw = 0; c.draw < 20; ++c.draw) EXPECT_EQ(c.cards(p.name, NodeId(0), demand_of(0, 1, 100)), mask_of({0})) << p.name;
}

TEST(Cards, EveryPolicyIsFoundByItsName) {
  for (const CardPolicy& p : card_policies()) EXPECT_EQ(find_card(p.name), &p);
  EXPECT_EQ(find_card("nonsense"), nullptr);
}

}  // namespace
}  // namespace ashlar
