// What is kept by constraint: within a bound in bytes, and which are dropped.
#include "state/counts/kept_by_constraint.h"

#include <gtest/gtest.h>

#include "base/id.h"

namespace ashlar {
namespace {

struct Sized {
  std::size_t size = 0;
  std::size_t bytes() const { return size; }
};

ConstraintId row(std::size_t i) { return ConstraintId(i); }

TEST(KeptByConstraint, HasWhatWasPutForTheSameValueOfTheRow) {
  KeptByConstraint<Sized> kept(100);
  EXPECT_EQ(kept.find(row(3), 1), nullptr);
  kept.put(row(3), 1, {40});
  kept.settle(row(3));
  ASSERT_NE(kept.find(row(3), 1), nullptr);
  EXPECT_EQ(kept.find(row(3), 2), nullptr) << "another value";
  kept.put(row(3), 2, {30});
  kept.settle(row(3));
  EXPECT_EQ(kept.find(row(3), 1), nullptr);
  EXPECT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept.bytes(), 30u);
}

TEST(KeptByConstraint, StaysWithinItsBytesThoughWhatIsKeptGrows) {
  KeptByConstraint<Sized> kept(1000);
  for (std::size_t i = 0; i < 500; ++i) {
    kept.put(row(i), 1, {1});
    kept.settle(row(i));
    kept.find(row(i), 1)->size = 50;
    kept.settle(row(i));
    EXPECT_NE(kept.find(row(i), 1), nullptr) << "the one that was asked for";
    EXPECT_LE(kept.bytes(), 1000u);
  }
  EXPECT_EQ(kept.size(), 20u);
}

TEST(KeptByConstraint, KeepsAFewHoweverLargeTheyAre) {
  KeptByConstraint<Sized> kept(10);
  for (std::size_t i = 0; i < 20; ++i) {
    kept.put(row(i), 1, {100});
    kept.settle(row(i));
  }
  EXPECT_EQ(kept.size(), 8u);
}

TEST(KeptByConstraint, OneMoreThanThereIsRoomForInTurnCostsAFewNotAll) {
  constexpr std::size_t kRoom = 2000;
  KeptByConstraint<Sized> kept(kRoom);
  std::size_t made = 0;
  const auto ask_all = [&] {
    for (std::size_t i = 0; i <= kRoom; ++i) {
      if (kept.find(row(i), 1) == nullptr) {
        kept.put(row(i), 1, {1});
        ++made;
      }
      kept.settle(row(i));
    }
  };
  ask_all();
  made = 0;
  for (int round = 0; round < 10; ++round) ask_all();
  EXPECT_LE(made, 100u);
}

}  // namespace
}  // namespace ashlar
