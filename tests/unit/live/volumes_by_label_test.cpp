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
  /// One term: each label has this value.
  static AnyOf where(const Labels& labels) {
    NodeTerm term;
    for (const KeyValue& label : labels)
      term.expressions.push_back({.key = label.key, .op = SelectorOp::kIn, .values = {label.value}});
    return std::vector<NodeTerm>{std::move(term)};
  }
  static VolumesByLabel index_of(const std::vector<AnyOf>& all) {
    std::vector<const AnyOf*> volumes;
    for (const AnyOf& one : all) volumes.push_back(&one);
    return VolumesByLabel(volumes);
  }
  static std::vector<std::uint32_t> seen_by(const VolumesByLabel& index, const Labels& labels) {
    std::vector<std::uint32_t> seen;
    index.each(labels, [&](std::uint32_t at) {
      seen.push_back(at);
      return false;
    });
    return seen;
  }

 private:
  std::mt19937_64 draws_{7};
};

TEST_F(VolumesByLabelTest, NoneThatANodeMayUseIsLeftOut) {
  for (int world = 0; world < 2000; ++world) {
    std::vector<AnyOf> all;
    for (std::uint32_t i = 0; i < 20; ++i) all.push_back(nodes());
    const VolumesByLabel index = index_of(all);
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
  std::vector<AnyOf> all;
  for (int i = 0; i < 3000; ++i) all.push_back(where({{"host", "n" + std::to_string(i % 1000)}}));
  const VolumesByLabel index = index_of(all);
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

TEST_F(VolumesByLabelTest, TheLabelThatTellsVolumesApartCountsWhereverItIsWritten) {
  std::vector<AnyOf> all;
  for (int i = 0; i < 100; ++i) {
    const KeyValue zone{"zone", i % 2 == 0 ? "a" : "b"}, host{"host", "n" + std::to_string(i)};
    all.push_back(i % 3 == 0 ? where({host, zone}) : where({zone, host}));
  }
  const VolumesByLabel index = index_of(all);
  EXPECT_EQ(seen_by(index, {{"host", "n7"}, {"zone", "b"}}), (std::vector<std::uint32_t>{7}));
  EXPECT_EQ(seen_by(index, {{"host", "n8"}, {"zone", "a"}}), (std::vector<std::uint32_t>{8}));
}

TEST_F(VolumesByLabelTest, TheLabelsThatMostVolumesAreToldApartByAreKept) {
  std::vector<AnyOf> all;
  for (int i = 0; i < 40; ++i) all.push_back(where({{"own" + std::to_string(i), "x"}}));
  for (int i = 0; i < 100; ++i) all.push_back(where({{"host", "n" + std::to_string(i)}}));
  const std::vector<std::uint32_t> seen = seen_by(index_of(all), {{"host", "n7"}});
  EXPECT_TRUE(std::ranges::find(seen, 47u) != seen.end());
  EXPECT_EQ(seen.size(), 35u) << "its own, and those whose labels are too many";
}

}  // namespace
}  // namespace ashlar::kube
