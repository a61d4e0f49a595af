// A table with a limit keeps most of what is asked for in turn.
#include "base/bounded_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace ashlar {
namespace {

TEST(BoundedMap, KeepsWhatFits) {
  BoundedMap<std::string, int> map(3);
  map["a"] = 1;
  map["b"] = 2;
  map["c"] = 3;
  map["b"] = 4;
  EXPECT_TRUE(map.is_full());
  ASSERT_NE(map.find("b"), nullptr);
  EXPECT_EQ(*map.find("b"), 4);
  EXPECT_EQ(*map.find("a") + *map.find("c"), 4);
  EXPECT_EQ(map.find("d"), nullptr);
  EXPECT_TRUE(map.erase("a"));
  EXPECT_FALSE(map.erase("a"));
  EXPECT_EQ(map.size(), 2u);
  EXPECT_EQ(*map.find("c"), 3);
}

TEST(BoundedMap, ANewKeyTakesThePlaceOfOneOther) {
  BoundedMap<int, int> map(100);
  for (int i = 0; i < 1000; ++i) {
    map[i] = i;
    EXPECT_EQ(*map.find(i), i) << "the new one is there";
    EXPECT_EQ(map.size(), static_cast<std::size_t>(std::min(i + 1, 100)));
  }
  int of_the_first = 0;
  for (int i = 0; i < 100; ++i) of_the_first += map.find(i) == nullptr ? 0 : 1;
  EXPECT_LE(of_the_first, 2) << "none has a place for ever";
  const auto [key, value] = map.forget_one();
  EXPECT_EQ(key, value);
  EXPECT_EQ(map.find(key), nullptr);
  EXPECT_EQ(map.size(), 99u);
}

TEST(BoundedMap, OfOneKeepsTheLast) {
  BoundedMap<std::string, int> map(1);
  for (const char* key : {"a", "b", "b", "a"}) {
    ++map[key];
    EXPECT_EQ(map.size(), 1u);
  }
  EXPECT_EQ(map["a"], 1) << "the first one was forgotten";
  EXPECT_EQ(map.find("b"), nullptr);
  EXPECT_TRUE(map.erase("a"));
  EXPECT_FALSE(map.is_full());
}

TEST(BoundedMap, OneMoreThanTheLimitInTurnAreMostlyFound) {
  constexpr int kLimit = 1024, kRounds = 10;
  BoundedMap<int, int> map(kLimit);
  int missed = 0;
  for (int round = 0; round <= kRounds; ++round)
    for (int i = 0; i <= kLimit; ++i) {
      missed += round > 0 && map.find(i) == nullptr ? 1 : 0;
      map[i] = i;
    }
  EXPECT_GT(missed, 0);
  EXPECT_LT(missed, kRounds * 10) << "two a round, as drawn";
}

TEST(BoundedMap, ACopyForgetsWhatTheOriginalDoes) {
  BoundedMap<int, int> map(10);
  for (int i = 0; i < 25; ++i) map[i] = i;
  BoundedMap<int, int> copy = map;
  for (int i = 25; i < 200; ++i) map[i] = copy[i] = i;
  for (int i = 0; i < 200; ++i) EXPECT_EQ(map.find(i) == nullptr, copy.find(i) == nullptr) << i;
}

TEST(BoundedMap, AgreesWithATableWithoutALimitOnWhatItHas) {
  BoundedMap<int, int> map(20);
  std::map<int, int> all;
  Rng draws(5);
  std::size_t found = 0;
  for (int turn = 0; turn < 5000; ++turn) {
    const int key = static_cast<int>(draws.below(40));
    if (draws.below(4) == 0) {
      map.erase(key);
      all.erase(key);
    } else {
      map[key] = all[key] = turn;
    }
    for (int k = 0; k < 40; ++k) {
      if (map.find(k) == nullptr) continue;
      ASSERT_EQ(*map.find(k), all.at(k));
      ++found;
    }
    ASSERT_LE(map.size(), 20u);
  }
  EXPECT_GT(found, 5000u);
}

}  // namespace
}  // namespace ashlar
