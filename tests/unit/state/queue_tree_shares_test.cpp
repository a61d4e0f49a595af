// What the tree of queues says of guarantees: which limit refuses first, what a queue has stated, what was recorded.
#include <gtest/gtest.h>

#include "state/queues/queue_tree.h"

namespace ashlar {
namespace {

class QueueTreeShares : public ::testing::Test {
 protected:
  static constexpr QuotaVector kFree{kUnlimited, kUnlimited, kUnlimited};
  static constexpr QueueId kRoot{0u}, kOrg{1u}, kTeam{2u}, kOther{3u};
  static constexpr QuotaKey kOfAClass{ResourceId::none(), DeviceClassId(3u)};

  static QuotaVector gpus(std::int64_t amount) { return {amount, kUnlimited, kUnlimited}; }
  static std::vector<QuotaShare> keeps(std::int64_t amount, std::int64_t dimension = 0) {
    return {{.of = quota_key(dimension), .guarantee = amount, .lends = 0}};
  }

  QueueTree tree;
};

TEST_F(QueueTreeShares, WhatCouldNeverBeAdmittedIsSaidBeforeWhatWaits) {
  tree.define(kOrg, kRoot, gpus(4));
  tree.define(kTeam, kOrg, gpus(8));
  tree.charge(kTeam, {8, 0, 0}, 1);
  const auto refusal = tree.refusal(kTeam, {5, 0, 0});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, ReasonCode::kExceedsQuota);
  EXPECT_EQ(refusal->subject, kOrg.value) << "the team is only full";
}

TEST_F(QueueTreeShares, OfTwoLimitsThatNeverAdmitTheLowerOneIsSaid) {
  tree.define(kOrg, kRoot, gpus(4));
  tree.define(kTeam, kOrg, gpus(3));
  const auto refusal = tree.refusal(kTeam, {5, 0, 0});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->subject, kTeam.value);
}

TEST_F(QueueTreeShares, WhatIsUsedUpAtTheTopIsShownBesideWhatTheClusterHas) {
  tree.define(kRoot, QueueId::none(), gpus(120));
  tree.define(kOrg, kRoot, kFree, {}, keeps(10));
  tree.add_capacity(0, 100);
  tree.charge(kTeam, {60, 0, 0}, 1);
  EXPECT_EQ(tree.refusal(kTeam, {61, 0, 0}), (Reason{ReasonCode::kQuotaExhausted, kRoot.value, {0, 60, 100}}));
  EXPECT_EQ(tree.refusal(kTeam, {31, 0, 0}), (Reason{ReasonCode::kKeptByGuarantees, kRoot.value, {0, 10, 100}}));
  EXPECT_EQ(tree.refusal(kTeam, {30, 0, 0}), std::nullopt);
}

TEST_F(QueueTreeShares, AnAmountBeyondAllNumbersIsKeptFromWhereNoQuotaIsStated) {
  tree.define(kOrg, kRoot, kFree, {}, keeps(10));
  tree.add_capacity(0, 100);
  tree.charge(kTeam, {60, 0, 0}, 1);
  const auto refusal = tree.refusal(kTeam, {INT64_MAX, 0, 0});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, ReasonCode::kKeptByGuarantees);
}

TEST_F(QueueTreeShares, ALoweredGuaranteeRefusesForGoodWhatIsMoreThanItEverAdmits) {
  const auto code = [&](std::int64_t amount) {
    const auto refusal = tree.refusal(kOrg, {amount, 0, 0});
    return refusal ? refusal->code : ReasonCode::kNone;
  };
  const std::vector<QuotaShare> share{{.of = quota_key(0), .guarantee = 10, .borrows = 5}};
  tree.define(kOrg, kRoot, gpus(100), {}, share);
  tree.add_capacity(0, 4);
  EXPECT_EQ(code(15), ReasonCode::kQuotaExhausted) << "once there are as many nodes";
  EXPECT_EQ(code(16), ReasonCode::kExceedsQuota);
  tree.define(kOrg, kRoot, gpus(12), {}, share);
  EXPECT_EQ(code(12), ReasonCode::kQuotaExhausted);
  EXPECT_EQ(code(13), ReasonCode::kExceedsQuota) << "its quota is less";
}

TEST_F(QueueTreeShares, OfAClassTooItsOwnPartDoesNotCountAgainstWhatIsKept) {
  tree.define(kOrg, kRoot, kFree, {}, std::vector<QuotaShare>{{.of = kOfAClass, .guarantee = 10, .lends = 0}});
  tree.add_capacity(0, 100);
  tree.charge(std::size_t{0}, kOther, 85);
  EXPECT_EQ(tree.refusal(std::size_t{0}, kOrg, 15), std::nullopt) << "10 of its own";
  EXPECT_EQ(tree.refusal(std::size_t{0}, kOther, 6),
            (Reason{ReasonCode::kKeptByGuarantees, kRoot.value, {quota_number(kOfAClass), 10, 100}}));
  const auto refusal = tree.refusal(std::size_t{0}, kOther, 1'000);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->code, ReasonCode::kKeptByGuarantees) << "what the cluster has is no limit that is stated";
}

TEST_F(QueueTreeShares, EachColumnFollowsWhatIsUsed) {
  std::vector<QuotaShare> both = keeps(10);
  both.push_back(keeps(20, 1).front());
  tree.define(kOrg, kRoot, kFree, {}, both);
  tree.add_capacity(0, 100);
  tree.add_capacity(1, 100);
  tree.charge(kOrg, {4, 5, 0}, 1);
  EXPECT_EQ(tree.idle(quota_key(0), kOrg), 6);
  EXPECT_EQ(tree.idle(quota_key(1), kOrg), 15);
  EXPECT_EQ(tree.left(1, kRoot), 80) << "5 are used and 15 kept";
}

TEST_F(QueueTreeShares, JobsAreLookedAtAgainOnceTheClusterChangesAGuarantee) {
  tree.define(kOrg, kRoot, kFree, {}, std::vector<QuotaShare>{{.of = quota_key(0), .guarantee = 10, .borrows = 0}});
  const std::uint64_t before = tree.change_count();
  tree.add_capacity(0, 5);
  EXPECT_GT(tree.change_count(), before) << "5 of 10";
  tree.add_capacity(0, 5);
  const std::uint64_t full = tree.change_count();
  tree.add_capacity(0, 5);
  EXPECT_EQ(tree.change_count(), full) << "it has all already";
}

TEST_F(QueueTreeShares, AQueueSaysWhatItHasStated) {
  const QueueDefined stated{
      kTeam,
      kRoot,
      {8000, kUnlimited, 5},
      {{kOfAClass, 4000}},
      {{.of = quota_key(0), .guarantee = 2000, .borrows = 1000, .lends = 0}, {.of = kOfAClass, .borrows = 7}},
      {2500, -3},
      {QueueGate::Is::kHeld, Millis(7)},
      {},
      {.own = StopRules::Own::kNever, .reclaims = StopRules::Reclaims::kLower, .while_borrowing = -4}};
  tree.define(stated.id, stated.parent, stated.quota, stated.limits, stated.shares, stated.rank, stated.gate,
              stated.stops);
  tree.define(kOther, kRoot, gpus(1));
  const QueueDefined said = tree.definition(kTeam), other = tree.definition(kOther);
  EXPECT_EQ(said.parent, stated.parent);
  EXPECT_EQ(said.quota, stated.quota);
  EXPECT_EQ(said.limits, stated.limits);
  EXPECT_EQ(said.shares, stated.shares);
  EXPECT_EQ(said.rank, stated.rank);
  EXPECT_EQ(said.gate, stated.gate);
  EXPECT_EQ(said.stops, stated.stops);
  EXPECT_TRUE(other.limits.empty());
  EXPECT_TRUE(other.shares.empty());
  EXPECT_EQ(other.gate, QueueGate());
  EXPECT_EQ(other.stops, StopRules());
}

TEST_F(QueueTreeShares, AProtectedTimeIsThatOfTheFirstQueueUpwardsThatStatesOne) {
  const auto define = [&](QueueId queue, QueueId parent, const StopRules& rules) {
    tree.define(queue, parent, gpus(1), {}, {}, {}, {}, rules);
  };
  define(kTeam, kRoot, {.protected_from_own = Millis(5), .protected_from_others = Millis(7)});
  define(kOther, kTeam, {.protected_from_own = Millis(0)});
  EXPECT_EQ(tree.protected_from_own(kTeam), Millis(5));
  EXPECT_EQ(tree.protected_from_own(kOther), Millis(0));
  EXPECT_EQ(tree.protected_from_others(kOther), Millis(7));
  EXPECT_EQ(tree.protected_from_others(kRoot), Millis(0));
  const QueueId unknown(77u);
  EXPECT_EQ(tree.protected_from_own(unknown), Millis(0));
  EXPECT_EQ(tree.stops(unknown), StopRules());
}

TEST_F(QueueTreeShares, WhatWasRecordedIsTheLatestUntilItIsForgotten) {
  tree.define(kOrg, kRoot, kFree);
  tree.record_usage(kOrg, {quota_key(0), 5});
  tree.record_usage(kOrg, {quota_key(1), 7});
  tree.record_usage(kOrg, {quota_key(0), 6});
  ASSERT_EQ(tree.recorded_usage().size(), 2u);
  EXPECT_EQ(tree.recorded_usage()[0].amount, 7);
  EXPECT_EQ(tree.recorded_usage()[1].amount, 6);
  tree.forget_usage_changes();
  EXPECT_TRUE(tree.recorded_usage().empty());
}

TEST_F(QueueTreeShares, WhatIsRecordedOfAClassIsCountedFromThenOn) {
  tree.define(kOrg, kRoot, kFree);
  tree.record_usage(kOrg, {kOfAClass, 5});
  ASSERT_EQ(tree.keys().size(), 1u);
  EXPECT_EQ(tree.keys()[0], kOfAClass);
}

}  // namespace
}  // namespace ashlar
