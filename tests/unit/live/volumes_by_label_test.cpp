// Volumes found by the labels of a node, against asking each of them.
#include "live/track/volumes/volumes_by_label.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace ashlar::kube {
namespace {

class VolumesByLabelTest : public ::testing::Test {
 protected:
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(draws_() % bound); }
  PooledString key() { return "k" + std::to_string(below(12)); }
  PooledString value() { return "v" + std::to_string(below(4)); }

  NodeTerm term() {
    NodeTerm drawn;
    for (std::uint32_t i = 0; i <= below(3); ++i) {
      Requirement r{.key = key(), .op = below(4) == 0 ? SelectorOp::kExists : SelectorOp::kIn, .values = {}};
      for (std::uint32_t v = 0; r.op == SelectorOp::kIn && v <= below(3); ++v) r.values.push_back(value());
      drawn.expressions.push_back(std::move(r));
    }
    return drawn;
  }
  AnyOf nodes() {
    if (below(10) == 0) return std::nullopt;
    std::vector<NodeTerm> terms;
    for (std::uint32_t i = 0; i < below(4); ++i) terms.push_back(term());
    return terms;
  }
  Labels labels() {
    Labels drawn;
    for (int i = 0; i < 12; ++i)
      if (below(2) == 0) drawn.push_back({"k" + std::to_string(i), value()});
    std::ranges::sort(drawn, [](const KeyValue& a, const KeyValue& b) { return a.key < b.key; });
    return drawn;
  }

 private:
  std::mt19937_64 draws_{7};
};

TEST_F(VolumesByLabelTest, NoneThatANodeMayUseIsLeftOut) {
  for (int world = 0; world < 2000; ++world) {
    VolumesByLabel index;
    std::vector<AnyOf> all;
    for (std::uint32_t i = 0; i < 20; ++i) {
      all.push_back(nodes());
      index.add(all.back());
    }
    ASSERT_EQ(index.size(), 20u);
    const Labels of_node = labels();
    std::vector<std::uint32_t> expected, found, visited;
    for (std::uint32_t i = 0; i < 20; ++i)
      if (holds(all[i], of_node)) expected.push_back(i);
    index.each(of_node, [&](std::uint32_t at) {
      visited.push_back(at);
      if (holds(all[at], of_node)) found.push_back(at);
      return false;
    });
    ASSERT_EQ(found, expected) << "world " << world;
    ASSERT_TRUE(std::ranges::is_sorted(visited)) << "world " << world;
    ASSERT_TRUE(std::ranges::adjacent_find(visited) == visited.end()) << "world " << world;
  }
}

TEST_F(VolumesByLabelTest, ANodeSeesItsOwnFewOfMany) {
  VolumesByLabel index;
  for (int i = 0; i < 3000; ++i)
    index.add(std::vector<NodeTerm>{
        {.expressions = {{.key = "host", .op = SelectorOp::kIn, .values = {"n" + std::to_string(i % 1000)}}},
         .fields = {}}});
  std::vector<std::uint32_t> visited;
  index.each({{"host", "n7"}}, [&](std::uint32_t at) {
    visited.push_back(at);
    return visited.size() == 2;
  });
  EXPECT_EQ(visited, (std::vector<std::uint32_t>{7, 1007})) << "until the visitor has enough";
  index.each({{"host", "elsewhere"}}, [&](std::uint32_t) -> bool {
    ADD_FAILURE();
    return true;
  });
}

}  // namespace
}  // namespace ashlar::kube
