// Where container images are, and what they are worth to a pod.
#include "state/counts/images.h"

#include <gtest/gtest.h>

#include "small_state.h"
#include "state/counts/image_points.h"
#include "state/state_fields.h"

namespace ashlar {
namespace {

constexpr std::int64_t kMb = 1024 * 1024;
constexpr ImageId kApp{0u}, kBase{1u};

class ImagesOnNodes : public ::testing::Test {
 protected:
  void see(ImageId id, std::int64_t bytes, std::vector<NodeId> added, std::vector<NodeId> removed = {}) {
    images.change({id, bytes, std::move(added), std::move(removed)}, [this](NodeId n) { return n.row() < nodes; });
    EXPECT_EQ(images.digest(), images.counted_digest());
  }
  std::vector<int> scores(const ContainerImages& named) {
    std::vector<std::uint8_t> of(nodes);
    images.score(named, nodes, of);
    return {of.begin(), of.end()};
  }

  std::size_t nodes = 4;
  Images images;
};

TEST_F(ImagesOnNodes, TheSizeCountsByTheShareOfNodesThatHaveIt) {
  see(kApp, 400 * kMb, {NodeId(1)});
  // 400 MiB x 1/4 = 100 MiB: 100 x (100 - 23) / (1000 - 23)
  EXPECT_EQ(scores({{kApp}, 1}), (std::vector{0, 7, 0, 0}));
  see(kApp, 400 * kMb, {NodeId(3)});
  EXPECT_EQ(scores({{kApp}, 1}), (std::vector{0, 18, 0, 18}));
  EXPECT_EQ(scores({{kApp}, 2}), (std::vector{0, 8, 0, 8})) << "another image that is nowhere";
  EXPECT_EQ(scores({{kApp, kApp}, 2}), (std::vector{0, 19, 0, 19})) << "two containers";
}

TEST_F(ImagesOnNodes, BetweenTwoThresholds) {
  see(kApp, 92 * kMb, {NodeId(0)});
  EXPECT_EQ(scores({{kApp}, 1}), (std::vector{0, 0, 0, 0})) << "23 MiB";
  see(kApp, 100 * kMb, {NodeId(0), NodeId(1), NodeId(2), NodeId(3)});
  EXPECT_EQ(scores({{kApp}, 1}), (std::vector{7, 7, 7, 7}));
  see(kApp, 5000 * kMb, {});
  EXPECT_EQ(scores({{kApp}, 1}), (std::vector{100, 100, 100, 100}));
  see(kBase, Images::kBytesMax, {NodeId(2)});
  EXPECT_EQ(scores({std::vector(1000, kBase), ContainerImages::kCountMax}), (std::vector{0, 0, 100, 0}));
}

TEST(ImagePoints, BeginAboveTheLeastSizeAndEndAtTheMost) {
  EXPECT_EQ(image_points(23 * kMb, 1), 0);
  constexpr std::int64_t kPercent = 977 * kMb / 100;
  EXPECT_EQ(image_points(23 * kMb + kPercent, 1), 0);
  EXPECT_EQ(image_points(23 * kMb + kPercent + 1, 1), 1);
  EXPECT_EQ(image_points(1000 * kMb - 1, 1), 99);
  EXPECT_EQ(image_points(1000 * kMb, 1), 100);
  EXPECT_EQ(image_points(2000 * kMb - 1, 2), 99) << "for each of its images as much again";
  EXPECT_EQ(image_points(2000 * kMb, 2), 100);
  EXPECT_EQ(image_points(0, 0), 0);
  EXPECT_EQ(image_points(1000 * kMb, 0), 100) << "as of one";
}

TEST_F(ImagesOnNodes, WhateverChangesOfAnImageIsAnotherVersion) {
  const ContainerImages app{{kApp}, 1};
  std::uint64_t version = images.version(app);
  const auto is_another = [&] {
    const std::uint64_t before = version;
    version = images.version(app);
    return version > before;
  };
  see(kApp, kMb, {NodeId(1)});
  EXPECT_TRUE(is_another());
  see(kApp, 2 * kMb, {});
  EXPECT_TRUE(is_another()) << "its size";
  images.forget(NodeId(0));
  EXPECT_FALSE(is_another()) << "a node without it";
  images.forget(NodeId(1));
  EXPECT_TRUE(is_another());
}

TEST_F(ImagesOnNodes, ThatComeAndGo) {
  const ContainerImages both{{kApp, kBase}, 2};
  EXPECT_FALSE(images.is_on_any(both));
  EXPECT_EQ(images.version(both), 0u);
  see(kApp, kMb, {NodeId(2), NodeId(2), NodeId(9)});
  EXPECT_EQ(images.row(kApp).nodes, std::vector{NodeId(2)}) << "once, and on a node that is there";
  EXPECT_TRUE(images.is_on_any(both));
  EXPECT_FALSE(images.is_on_any({{kBase}, 1}));
  const std::uint64_t version = images.version(both);
  see(ImageId(7), kMb, {NodeId(2)});
  EXPECT_EQ(images.version(both), version) << "another image";
  see(kApp, kMb, {NodeId(0)}, {NodeId(2), NodeId(3)});
  EXPECT_GT(images.version(both), version);
  EXPECT_EQ(images.row(kApp).nodes, std::vector{NodeId(0)});
  images.forget(NodeId(0));
  EXPECT_FALSE(images.is_on_any(both));
  images.forget(NodeId(2));
  see(kApp, 0, {});
  EXPECT_NE(images.digest(), 0u);
  see(ImageId(7), 0, {});
  EXPECT_EQ(images.digest(), 0u) << "nothing is left";
}

TEST(ImagesOfAState, NobodyIsWokenAndANodeThatGoesTakesItsImages) {
  State s;
  const auto tell = [&](EventBody body) { apply(s, {Millis(1), std::move(body)}); };
  for (std::uint32_t n = 0; n < 2; ++n) tell(NodeSeen{NodeId(n), {}});
  const std::uint64_t changes = s.cluster().change_count(), facts = s.cluster().facts_change_count();
  const std::size_t freed = s.freed_nodes().size();
  const std::uint64_t digest = s.digest();
  tell(ImageSeen{kApp, kMb, {NodeId(0), NodeId(1), NodeId(5)}, {}});
  EXPECT_NE(s.digest(), digest);
  EXPECT_EQ(s.cluster().change_count(), changes);
  EXPECT_EQ(s.cluster().facts_change_count(), facts);
  EXPECT_EQ(s.freed_nodes().size(), freed);
  tell(NodeGone{NodeId(0)});
  EXPECT_EQ(s.cluster().images().row(kApp).nodes, std::vector{NodeId(1)});
  EXPECT_TRUE(s.is_consistent());
  EXPECT_TRUE(StateFields::are_sound(s));
  State again = s;
  StateFields::forget_caches(again);
  EXPECT_EQ(again.digest(), s.digest());
}

}  // namespace
}  // namespace ashlar
