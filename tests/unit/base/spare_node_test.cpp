#include "base/spare_node.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <set>
#include <string>

namespace ashlar {
namespace {

TEST(SpareNode, IsUsedAgainForTheNextElement) {
  std::set<std::string> set{"b"};
  SpareNode<std::set<std::string>> spare;
  const std::string* const before = &*set.begin();
  EXPECT_EQ(spare.erase(set, "b"), 1u);
  EXPECT_EQ(spare.erase(set, "b"), 0u);
  spare.insert(set, "c");
  EXPECT_EQ(set, (std::set<std::string>{"c"}));
  EXPECT_EQ(&*set.begin(), before);
  spare.insert(set, "a");
  EXPECT_EQ(set, (std::set<std::string>{"a", "c"})) << "there was none left";
}

TEST(SpareNode, OfAnElementThatIsThereStaysSpare) {
  std::set<int> set{1, 2};
  SpareNode<std::set<int>> spare;
  EXPECT_EQ(spare.erase(set, 1), 1u);
  spare.insert(set, 2);
  EXPECT_EQ(set, (std::set<int>{2}));
  spare.insert(set, 3);
  EXPECT_EQ(set, (std::set<int>{2, 3}));
}

TEST(SpareNode, TakesAnotherKeyAndValueIntoAMap) {
  std::map<int, int> map{{1, 10}, {5, 50}};
  SpareNode<std::map<int, int>> spare;
  EXPECT_EQ(spare.erase(map, 1), 1u);
  const auto added = spare.insert(map, map.lower_bound(7), 7, 70);
  EXPECT_EQ(added, std::prev(map.end()));
  EXPECT_EQ(map, (std::map<int, int>{{5, 50}, {7, 70}}));
}

TEST(SpareNode, ServesSeveralTrees) {
  std::set<int> first{1}, second{1};
  const int* const in_first = &*first.begin();
  const int* const in_second = &*second.begin();
  SpareNode<std::set<int>> spare;
  EXPECT_EQ(spare.erase(first, 1), 1u);
  EXPECT_EQ(spare.erase(second, 1), 1u);
  spare.insert(first, 2);
  spare.insert(first, 3);
  std::set<const int*> used;
  for (const int& value : first) used.insert(&value);
  EXPECT_EQ(used, (std::set<const int*>{in_first, in_second}));
}

TEST(SpareNode, IsNotCopied) {
  std::set<int> set{1};
  SpareNode<std::set<int>> spare;
  EXPECT_EQ(spare.erase(set, 1), 1u);
  SpareNode<std::set<int>> copy = spare;
  copy.insert(set, 2);
  spare.insert(set, 3);
  EXPECT_EQ(set, (std::set<int>{2, 3}));
}

}  // namespace
}  // namespace ashlar
