// BitSet against a set of rows kept by the standard library.
#include "base/bitset.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

namespace ashlar {
namespace {

std::vector<std::size_t> rows_of(const BitSet& set) {
  std::vector<std::size_t> rows;
  set.each([&](std::size_t row) { rows.push_back(row); });
  return rows;
}

BitSet set_of(const std::set<std::size_t>& rows, std::size_t size) {
  BitSet set(size);
  for (const std::size_t row : rows) set.set(row);
  return set;
}

std::set<std::size_t> some_rows(std::size_t size) {
  return *rc::gen::container<std::set<std::size_t>>(rc::gen::inRange<std::size_t>(0, size));
}

TEST(BitSet, AFilledSetHoldsExactlyItsRows) {
  for (const std::size_t size : {1u, 63u, 64u, 65u, 128u, 200u}) {
    const BitSet set(size, true);
    EXPECT_EQ(set.count(), size);
    EXPECT_TRUE(set.test(size - 1));
    EXPECT_FALSE(set.test(size));
  }
}

TEST(BitSet, GrowingFilledKeepsWhatWasUnset) {
  BitSet set(10);
  set.resize(70, true);
  EXPECT_FALSE(set.test(9));
  EXPECT_TRUE(set.test(10));
  EXPECT_EQ(set.count(), 60u);
}

TEST(BitSet, ShrinkingForgetsRows) {
  BitSet set(70, true);
  set.resize(65);
  set.resize(70);
  EXPECT_EQ(set.count(), 65u);
}

RC_GTEST_PROP(BitSet, VisitsItsRowsInAscendingOrder, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 300);
  const auto rows = some_rows(size);
  const BitSet set = set_of(rows, size);
  RC_ASSERT(rows_of(set) == std::vector<std::size_t>(rows.begin(), rows.end()));
  RC_ASSERT(set.count() == rows.size());
  RC_ASSERT(set.any() == !rows.empty());
}

RC_GTEST_PROP(BitSet, IntersectionKeepsCommonRowsOnly, ()) {
  const auto a_size = *rc::gen::inRange<std::size_t>(1, 300);
  const auto b_size = *rc::gen::inRange<std::size_t>(1, 300);
  const auto a = some_rows(a_size), b = some_rows(b_size);
  std::vector<std::size_t> common;
  for (const std::size_t row : a) {
    if (b.count(row) != 0) common.push_back(row);
  }
  BitSet set = set_of(a, a_size);
  set &= set_of(b, b_size);
  RC_ASSERT(rows_of(set) == common);
}

}  // namespace
}  // namespace ashlar
