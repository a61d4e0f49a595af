// Ids, quantities, results and checks: small types whose rules everything else relies on.
#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

#include "base/check.h"
#include "base/id.h"
#include "base/quantity.h"
#include "base/result.h"

namespace ashlar {
namespace {

template <class A, class B>
concept Addable = requires(A a, B b) {
  a + b;
};

TEST(Id, IsNoneUntilGivenARow) {
  EXPECT_TRUE(NodeId().is_none());
  EXPECT_EQ(NodeId(), NodeId::none());
  EXPECT_FALSE(NodeId(0).is_none());
  EXPECT_EQ(NodeId(7).row(), 7u);
  EXPECT_LT(NodeId(1), NodeId(2));
}

TEST(Id, OfOneKindIsNotAnIdOfAnother) {
  EXPECT_FALSE((std::is_convertible_v<NodeId, JobId>));
  EXPECT_FALSE((std::is_convertible_v<int, NodeId>));
}

TEST(Quantity, AddsItsOwnUnitOnly) {
  EXPECT_EQ(Millis(1500) + Millis(500), 2 * Millis(1000));
  EXPECT_EQ(3_s - 1_ms, Millis(2999));
  EXPECT_TRUE((Addable<Millis, Millis>));
  EXPECT_FALSE((Addable<Millis, Bytes>));
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> good = 3;
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  const Result<int> bad = invalid("line 3: a number is missing");
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().kind, Error::Kind::kInvalid);
  EXPECT_EQ(bad.error().message, "line 3: a number is missing");
}

TEST(Result, GivesAwayWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(4);
  const std::unique_ptr<int> taken = *std::move(result);
  EXPECT_EQ(*taken, 4);
}

TEST(Result, OfNothingIsSuccessUnlessToldOtherwise) {
  EXPECT_TRUE(Result<void>().ok());
  EXPECT_FALSE(Result<void>(invalid("no")).ok());
}

TEST(CheckDeathTest, StopsTheProcessAndSaysWhatMustHold) {
  EXPECT_DEATH(ASHLAR_CHECK(1 + 1 == 3), "this must hold: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace ashlar
