// Guarantees of queues: as stated, lowered where there are too many, and what may be borrowed beyond them.
#include "state/queues/queue_shares.h"

#include <gtest/gtest.h>

#include "state/queues/queue_tree.h"

namespace ashlar {
namespace {

constexpr QuotaVector kFree{kUnlimited, kUnlimited, kUnlimited};
constexpr QueueId kRoot{0u};

QuotaShare guaranteed(std::int64_t guarantee, std::int64_t borrows = kUnlimited) {
  return {.of = quota_key(0), .guarantee = guarantee, .borrows = borrows};
}

class QueueSharesTest : public ::testing::Test {
 protected:
  QueueId queue(std::uint32_t row, QueueId parent, std::vector<QuotaShare> shares = {}, QuotaVector quota = kFree) {
    tree.define(QueueId(row), parent, quota, {}, shares);
    has(capacity);
    return QueueId(row);
  }
  void has(std::int64_t amount) {
    capacity = amount;
    if (!tree.shares().is_empty()) tree.add_capacity(0, amount - tree.shares().columns().front().capacity);
  }
  std::int64_t guarantee(QueueId queue) const { return QueueShares::guarantee(tree.shares().columns().front(), queue); }

  QueueTree tree;
  std::int64_t capacity = 100;
};

TEST_F(QueueSharesTest, AGuaranteeIsAsStatedWhileTheClusterHasAsMuch) {
  const QueueId a = queue(1, kRoot, {guaranteed(40)}), b = queue(2, kRoot, {guaranteed(60)});
  EXPECT_EQ(guarantee(a), 40);
  EXPECT_EQ(guarantee(b), 60);
  EXPECT_EQ(tree.quota(a), kFree) << "it limits nothing";
}

TEST_F(QueueSharesTest, ThoseBeyondTheClusterAreLoweredInProportion) {
  const QueueId a = queue(1, kRoot, {guaranteed(40)}), b = queue(2, kRoot, {guaranteed(60)});
  has(50);
  EXPECT_EQ(guarantee(a), 20);
  EXPECT_EQ(guarantee(b), 30);
  has(99);
  EXPECT_EQ(guarantee(a), 39) << "rounded down";
  has(100);
  EXPECT_EQ(guarantee(a), 40);
}

TEST_F(QueueSharesTest, AnInnerQueueDividesItsOwn) {
  const QueueId org = queue(1, kRoot, {guaranteed(30)}), a = queue(2, org, {guaranteed(40)}),
                b = queue(3, org, {guaranteed(20)});
  EXPECT_EQ(guarantee(org), 30);
  EXPECT_EQ(guarantee(a), 20);
  EXPECT_EQ(guarantee(b), 10);
}

TEST_F(QueueSharesTest, AnInnerQueueThatNamesNoneHasWhatIsBelowIt) {
  const QueueId org = queue(1, kRoot), a = queue(2, org, {guaranteed(40)}), b = queue(3, org, {guaranteed(20)});
  queue(4, kRoot, {guaranteed(60)});
  has(60);
  EXPECT_EQ(guarantee(org), 30);
  EXPECT_EQ(guarantee(a), 20);
  EXPECT_EQ(guarantee(b), 10);
}

TEST_F(QueueSharesTest, AChildMayBeStatedBeforeItsParent) {
  queue(2, QueueId(1u), {guaranteed(40)});
  queue(3, QueueId(1u), {guaranteed(20)});
  queue(1, kRoot, {guaranteed(30)});
  EXPECT_EQ(guarantee(QueueId(2u)), 20);
}

TEST_F(QueueSharesTest, RowsOfParentsMayComeAfterThoseOfTheirChildren) {
  queue(1, QueueId(3u), {guaranteed(40)});
  queue(2, QueueId(3u), {guaranteed(20)});
  queue(3, kRoot, {guaranteed(30)});
  EXPECT_EQ(guarantee(QueueId(1u)), 20);
  EXPECT_EQ(guarantee(QueueId(2u)), 10);
}

TEST_F(QueueSharesTest, AGuaranteeOfAllTogetherIsDividedToo) {
  queue(0, QueueId::none(), {guaranteed(30)});
  const QueueId a = queue(1, kRoot, {guaranteed(40)}), b = queue(2, kRoot, {guaranteed(20)});
  EXPECT_EQ(guarantee(kRoot), 30) << "less than the cluster has";
  EXPECT_EQ(guarantee(a), 20);
  EXPECT_EQ(guarantee(b), 10);
  has(15);
  EXPECT_EQ(guarantee(kRoot), 15);
  EXPECT_EQ(guarantee(a), 10);
  EXPECT_EQ(guarantee(b), 5);
}

TEST_F(QueueSharesTest, ALaterStatementWithoutAGuaranteeTakesItBack) {
  const QueueId a = queue(1, kRoot, {guaranteed(40)});
  queue(2, kRoot, {guaranteed(60)});
  queue(1, kRoot);
  EXPECT_EQ(guarantee(a), 0);
  EXPECT_EQ(QueueShares::stated(tree.shares().columns().front(), a), QuotaShare::kNotNamed);
}

TEST_F(QueueSharesTest, WhereAnyIsKeptAllTogetherHaveWhatTheClusterHas) {
  const std::vector<QuotaShare> keeps = {{.of = quota_key(0), .guarantee = 40, .lends = 0}};
  queue(1, kRoot, keeps);
  EXPECT_EQ(tree.quota(kRoot)[0], 100);
  has(160);
  EXPECT_EQ(tree.quota(kRoot)[0], 160);
  queue(0, QueueId::none(), {}, {120, kUnlimited, kUnlimited});
  EXPECT_EQ(tree.quota(kRoot)[0], 120);
  queue(0, QueueId::none(), {guaranteed(30, 10)});
  EXPECT_EQ(tree.quota(kRoot)[0], 40) << "or what they may have together, where that is less";
  queue(0, QueueId::none());
  queue(1, kRoot, {guaranteed(40)});
  EXPECT_EQ(tree.quota(kRoot)[0], kUnlimited) << "it lends all again";
}

TEST_F(QueueSharesTest, WhatAllTogetherLendIsNotKeptFromAnybody) {
  queue(0, QueueId::none(), {{.of = quota_key(0), .guarantee = 50, .lends = 10}});
  EXPECT_FALSE(tree.shares().keeps_any());
  EXPECT_EQ(tree.quota(kRoot)[0], kUnlimited);
}

TEST_F(QueueSharesTest, AQueueThatLendsMoreThanItsGuaranteeKeepsNothing) {
  queue(1, kRoot, {{.of = quota_key(0), .guarantee = 40, .lends = 60}});
  EXPECT_FALSE(tree.shares().keeps_any());
}

TEST_F(QueueSharesTest, WhatMayBeBorrowedIsALimitBesideTheQuota) {
  const QueueId a = queue(1, kRoot, {guaranteed(40, 10)}),
                b = queue(2, kRoot, {guaranteed(40, 30)}, {50, kUnlimited, kUnlimited});
  EXPECT_EQ(tree.quota(a)[0], 50);
  EXPECT_EQ(tree.quota(b)[0], 50);
  EXPECT_EQ(tree.stated_quota(a)[0], kUnlimited);
  has(40);
  EXPECT_EQ(tree.quota(a)[0], 30) << "a guarantee of 20, and 10";
  EXPECT_EQ(tree.quota(b)[0], 50);
}

TEST_F(QueueSharesTest, OneThatOnlyBorrowsHasNoGuarantee) {
  const QueueId a = queue(1, kRoot, {{.of = quota_key(0), .borrows = 8}});
  EXPECT_EQ(guarantee(a), 0);
  EXPECT_EQ(tree.quota(a)[0], 8);
  tree.define(a, kRoot, kFree);
  EXPECT_EQ(tree.quota(a)[0], kUnlimited) << "a later statement replaces it";
}

TEST_F(QueueSharesTest, WhatAllQueuesBorrowTogetherIsBeyondWhatTheClusterHas) {
  queue(0, QueueId::none(), {{.of = quota_key(0), .borrows = 8}});
  EXPECT_EQ(tree.quota(kRoot)[0], 108);
  has(50);
  EXPECT_EQ(tree.quota(kRoot)[0], 58);
  EXPECT_TRUE(tree.is_consistent());
  has(60);
  EXPECT_EQ(tree.quota(kRoot)[0], 68);
}

TEST_F(QueueSharesTest, ALimitByClassHasItsOwnColumn) {
  const QuotaKey of_class{ResourceId::none(), DeviceClassId(3u)};
  tree.define(QueueId(1u), kRoot, kFree, {}, std::vector<QuotaShare>{{.of = of_class, .guarantee = 8, .borrows = 2}});
  tree.add_capacity(0, 100);
  ASSERT_EQ(tree.keys().size(), 1u);
  EXPECT_EQ(tree.limit(0, QueueId(1u)), 10);
  EXPECT_EQ(tree.stated_limit(0, QueueId(1u)), kUnlimited);
  EXPECT_EQ(tree.quota(QueueId(1u)), kFree);
  EXPECT_TRUE(tree.is_limited_by_key(QueueId(1u)));
}

TEST_F(QueueSharesTest, SumsBeyondInt64DoNotOverflow) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 60;
  for (std::uint32_t row = 1; row <= 20; ++row) queue(row, kRoot, {guaranteed(kHuge)});
  EXPECT_EQ(guarantee(QueueId(1u)), 5) << "all have as much";
  EXPECT_EQ(tree.quota(queue(21, kRoot, {guaranteed(kHuge, kUnlimited - 1)}))[0], kUnlimited);
}

TEST_F(QueueSharesTest, WhatTheRootBorrowsGrowsWithTheCluster) {
  tree.define(kRoot, QueueId::none(), kFree, {}, std::vector<QuotaShare>{guaranteed(QuotaShare::kNotNamed, 5)});
  has(40);
  EXPECT_EQ(tree.quota(kRoot)[0], 45);
  has(60);
  EXPECT_EQ(tree.quota(kRoot)[0], 65);
  EXPECT_TRUE(tree.is_consistent());
}

TEST_F(QueueSharesTest, WhatTheClusterHasIsNoLimitWhereNothingIsKept) {
  std::vector<QuotaShare> shares{{.of = quota_key(0), .guarantee = 40, .lends = 0}};
  const QueueId a = queue(1, kRoot, shares), b = queue(2, kRoot);
  EXPECT_EQ(tree.refusal(b, {70, 0, 0})->code, ReasonCode::kKeptByGuarantees);
  tree.charge(a, {40, 0, 0}, 1);
  EXPECT_FALSE(tree.refusal(b, {70, 0, 0})) << "placing shows what there is";
  EXPECT_EQ(tree.left(0, b), kUnlimited);
}

}  // namespace
}  // namespace ashlar
