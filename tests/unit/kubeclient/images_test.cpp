// Images of pods and nodes, by the names under which they are compared.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kubeclient/pod_builder.h"
#include "kubeclient/size_limits.h"

namespace ashlar::kube {
namespace {

TEST(Images, ANameWithoutATagIsTheLatest) {
  PodBuilder builder;
  builder.reset();
  for (const char* image : {"app", "app:1", "host:5000/app", "host:5000/app:1", "app@sha256:7", "a/b/c", ""})
    add_image(builder, image);
  const std::vector<PooledString> expected = {
      "app:latest", "app:1", "host:5000/app:latest", "host:5000/app:1", "app@sha256:7", "a/b/c:latest", ":latest"};
  EXPECT_EQ(builder.rules.images, expected);
}

TEST(Images, AreKeptUpToALimit) {
  PodBuilder builder;
  builder.reset();
  add_image(builder, std::string(kImageNameBytesMax, 'x') + ":1");
  add_image(builder, std::string(kImageNameBytesMax - 2, 'x') + ":1");
  ASSERT_EQ(builder.rules.images.size(), 2u) << "it counts as one of the pod's images";
  EXPECT_TRUE(builder.rules.images[0].empty());
  EXPECT_EQ(builder.rules.images[1].view().size(), kImageNameBytesMax);
  for (std::size_t i = 0; i < kPodImagesMax; ++i) add_image(builder, "app");
  EXPECT_EQ(builder.rules.images.size(), kPodImagesMax);
  Node node;
  add_image(node, "", 1);
  add_image(node, std::string(kImageNameBytesMax + 1, 'x'), 1);
  EXPECT_TRUE(node.images.empty());
  for (std::size_t i = 0; i < kNodeImagesMax + 1; ++i) add_image(node, "app:" + std::to_string(i), INT64_MAX);
  ASSERT_EQ(node.images.size(), kNodeImagesMax);
  EXPECT_EQ(node.images.back().bytes, kImageBytesMax);
  node.images.clear();
  add_image(node, "app:1", -5);
  EXPECT_EQ(node.images.back().bytes, 0);
}

TEST(Images, NamesOfAPodAreKeptUpToALimitAndThoseOfOneThatHasANodeAreNot) {
  PodBuilder builder;
  builder.reset();
  for (std::size_t i = 0; i < kPodImagesMax; ++i) add_image(builder, std::string(400, 'x') + ":" + std::to_string(i));
  keep_within_limits(builder);
  ASSERT_EQ(builder.rules.images.size(), kPodImagesMax) << "they count as the pod's images";
  std::size_t bytes = 0;
  for (const PooledString& name : builder.rules.images) bytes += name.view().size();
  EXPECT_LE(bytes, kPodImageBytesMax);
  EXPECT_GE(bytes, kPodImageBytesMax / 2);
  builder.pod.node_name = "n";
  keep_within_limits(builder);
  EXPECT_TRUE(builder.rules.images.empty());
}

}  // namespace
}  // namespace ashlar::kube
