// Which key the queue-order policies give a queue: by-job none, least-share its dominant share, drf that of what is used
// beyond guarantees.
#include "policy/queue_order/queue_order.h"

#include <gtest/gtest.h>

#include <vector>

#include "policy/profile.h"

namespace ashlar {
namespace {

std::int64_t share(const std::vector<QueueUse>& uses) {
  const OrderKey key = least_share({uses});
  EXPECT_EQ(key, (OrderKey{key.major, 0})) << "like the key of a queue that is not defined yet";
  return key.major;
}

TEST(LeastShare, IsUsageOverTheLimitOfTheDominantResource) {
  EXPECT_EQ(share({}), 0);
  EXPECT_EQ(share({{0, 8000}, {0, 64'000}}), 0);
  EXPECT_EQ(share({{2000, 8000}, {8000, 64'000}}), kWholeShare / 4);
  EXPECT_EQ(share({{2000, 8000}, {48'000, 64'000}}), kWholeShare / 4 * 3);
  EXPECT_EQ(share({{12'000, 8000}}), kWholeShare / 2 * 3) << "beyond a limit that was lowered";
}

TEST(LeastShare, OfWhatIsNotAllowedAtAllIsTheLargest) {
  EXPECT_EQ(share({{0, 0}}), 0);
  EXPECT_EQ(share({{1, 0}}), INT64_MAX);
  EXPECT_EQ(share({{INT64_MAX / 4, 1}}), INT64_MAX) << "saturates";
}

std::int64_t beyond(const std::vector<QueueUse>& uses, std::int64_t weight = QueueRank::kWeightOne) {
  return drf({uses, {.weight = weight}}).major;
}

std::int64_t beyond_of_late(const std::vector<QueueUse>& uses, std::int64_t weight = QueueRank::kWeightOne) {
  return drf({uses, {.weight = weight}, true}).major;
}

TEST(Drf, CountsWhatIsUsedBeyondTheGuaranteeOfWhatTheParentHas) {
  EXPECT_EQ(beyond({}), 0);
  EXPECT_EQ(beyond({{.used = 4000, .guarantee = 4000, .of_parent = 8000}}), 0);
  EXPECT_EQ(beyond({{.used = 6000, .guarantee = 4000, .of_parent = 8000, .average = 9000}}), kWholeShare / 4);
  EXPECT_EQ(beyond({{.used = 6000, .guarantee = 4000, .of_parent = 8000}, {.used = 6000, .of_parent = 12'000}}),
            kWholeShare / 2)
      << "the dominant one";
  EXPECT_EQ(beyond({{.used = 1, .of_parent = 0}}), std::int64_t{1} << 61) << "of nothing";
}

TEST(Drf, CountsWhatWasUsedWhereAHistoryIsKept) {
  EXPECT_EQ(beyond_of_late({}), 0);
  EXPECT_EQ(beyond_of_late({{.used = 9000, .guarantee = 4000, .of_parent = 8000, .average = 4000}}), 0);
  EXPECT_EQ(beyond_of_late({{.guarantee = 4000, .of_parent = 8000, .average = 6000}}), kWholeShare / 4);
  EXPECT_EQ(beyond_of_late({{.of_parent = 0, .average = 1}}), std::int64_t{1} << 61) << "of nothing";
  EXPECT_EQ(beyond_of_late({{.of_parent = 30'000, .average = 9000}}),
            beyond_of_late({{.of_parent = 10, .average = 3}}));
}

TEST(Drf, NothingOfNothingIsNoShare) {
  EXPECT_EQ(beyond({{.used = 4000, .guarantee = 4000, .of_parent = 0}}), 0);
  EXPECT_EQ(beyond_of_late({{.guarantee = 4000, .of_parent = 0, .average = 4000}}), 0);
}

TEST(Drf, SharesThatWereUsedAreRounded) {
  EXPECT_EQ(beyond_of_late({{.of_parent = 3, .average = 2}}), 666'666'667);
  EXPECT_EQ(beyond_of_late({{.of_parent = 3, .average = 1}}), 333'333'333);
}

TEST(Drf, AWeightOfNothingIsTheLeastOne) {
  const std::vector<QueueUse> half = {{.used = 4000, .of_parent = 8000, .average = 4000}};
  EXPECT_EQ(beyond(half, 0), beyond(half, 1));
  EXPECT_EQ(beyond_of_late(half, 0), beyond_of_late(half, 1));
}

TEST(Drf, WeightsDivideWhatIsUsed) {
  const std::vector<QueueUse> half = {{.used = 4000, .of_parent = 8000, .average = 4000}};
  for (const auto share : {beyond, beyond_of_late}) {
    EXPECT_EQ(share(half, 2000), kWholeShare / 4);
    EXPECT_EQ(share(half, 500), kWholeShare);
    EXPECT_EQ(share({{.used = INT64_MAX / 4, .of_parent = 1, .average = 1e18}}, 1), std::int64_t{1} << 61)
        << "saturates";
  }
}

TEST(Drf, TheHigherPriorityIsFirstAmongEquals) {
  EXPECT_LT(drf({{}, {.priority = 5}}), drf({{}, {.priority = -5}}));
  EXPECT_LT(drf({{}, {.priority = INT32_MAX}}), drf({{}, {.priority = INT32_MIN}}));
  const std::vector<QueueUse> uses = {{.used = 1000, .of_parent = 8000}};
  EXPECT_LT(drf({{}, {.priority = -5}}), drf({uses, {.priority = 5}})) << "shares come first";
}

OrderKey fair(double gpus, double cores, std::int64_t weight = QueueRank::kWeightOne) {
  const std::vector<QueueUse> uses = {{.average = gpus}, {.average = cores}};
  return fair_tree({uses, {.weight = weight}, true});
}

TEST(FairTree, WhoHasUsedLessForItsWeightIsFirst) {
  EXPECT_EQ(fair_tree({}), (OrderKey{0, 0}));
  EXPECT_EQ(fair(0, 0), (OrderKey{0, 0})) << "like the key of a queue that is not defined yet";
  EXPECT_LT(fair(0, 5000), fair(1, 0)) << "GPUs count first";
  EXPECT_LT(fair(1000, 0), fair(1000, 1));
  EXPECT_LT(fair(3000, 0, 2000), fair(2000, 0, 1000));
  EXPECT_EQ(fair(3000, 0, 3000), fair(1000, 0, 1000));
  EXPECT_EQ(fair(1e300, 0).major, std::int64_t{1} << 61) << "saturates";
  const std::vector<QueueUse> in_use = {{.used = 1000, .average = 5}};
  EXPECT_EQ(fair_tree({in_use}), fair(1000, 0)) << "without a history what is used counts";
}

TEST(FairTree, RoundsAndNeverGoesBelowNothing) {
  EXPECT_EQ(fair(-5, 0), fair(0, 0));
  EXPECT_EQ(fair(0.0007, 0).major, 1) << "0.73 parts";
  EXPECT_EQ(fair(1, 0, 0), fair(1, 0, 1)) << "a weight of nothing is the least one";
}

TEST(StrictPriority, IsTheQueuesPriority) {
  EXPECT_LT(strict_priority({{}, {.priority = 1}}), strict_priority({{}, {.priority = 0}}));
  EXPECT_EQ(strict_priority({}), (OrderKey{0, 0}));
  EXPECT_LT(strict_priority({{}, {.priority = INT32_MAX}}), strict_priority({{}, {.priority = INT32_MIN}}));
}

TEST(QueueOrders, AreFoundByNameAndTheDefaultComparesNoQueues) {
  for (const QueueOrderPolicy& p : queue_order_policies()) EXPECT_EQ(find_queue_order(p.name), &p);
  EXPECT_EQ(find_queue_order("nonsense"), nullptr);
  EXPECT_EQ(default_queue_order().name, "by-job");
  EXPECT_EQ(default_queue_order().key, nullptr);
  for (const std::string_view name : builtin_profile_names()) {
    const Profile p = builtin_profile(name).value();
    EXPECT_EQ(p.queue_order == &default_queue_order(), p.queue_order->turns == Turns::kOwn) << name;
  }
}

TEST(QueueOrders, DoNotGoWithPreemptionByCount) {
  Profile profile = *builtin_profile("srtf");
  EXPECT_FALSE(validate(profile));
  profile.queue_order = find_queue_order("least-share");
  ASSERT_TRUE(validate(profile));
  EXPECT_EQ(validate(profile)->key, "queueOrder");
  EXPECT_NE(validate(profile)->text.find("only the queue order by-job, not least-share"), std::string::npos);
}

}  // namespace
}  // namespace ashlar
