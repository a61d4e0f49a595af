// What a server's own description has beyond this release.
#include "kubeclient/server_fields.h"

#include <gtest/gtest.h>

namespace ashlar::kube {
namespace {

std::vector<std::string> unknown_in(const std::string& schemas) {
  const Result<std::vector<std::string>> found = unknown_server_fields(
      R"({"openapi":"3.0.0","paths":{"/api/v1/":{}},"components":{"schemas":{)" + schemas + "}}}");
  EXPECT_TRUE(found.ok()) << found.error().message;
  return found.ok() ? *found : std::vector<std::string>{};
}

TEST(ServerFields, ThatThisReleaseDoesNotKnowAreNamed) {
  EXPECT_EQ(
      unknown_in(R"("io.k8s.api.core.v1.PodSpec":{"type":"object","properties":{"containers":{},"fromTheFuture":{}}},)"
                 R"("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta":{"properties":{"name":{},"aura":{}}})"),
      (std::vector<std::string>{"PodSpec.fromTheFuture", "ObjectMeta.aura"}));
}

TEST(ServerFields, OfMessagesThatJsonWritesInTheirHoldersPlaceAreKnown) {
  EXPECT_TRUE(
      unknown_in(
          R"("io.k8s.api.core.v1.Volume":{"properties":{"name":{},"hostPath":{},"ephemeral":{}}},)"
          R"("io.k8s.api.core.v1.Pod":{"properties":{"apiVersion":{},"kind":{},"metadata":{},"spec":{},"status":{}}})")
          .empty());
  EXPECT_EQ(unknown_in(R"("io.k8s.api.core.v1.Volume":{"properties":{"name":{},"hologram":{}}})"),
            std::vector<std::string>{"Volume.hologram"});
  EXPECT_EQ(unknown_in(R"("io.k8s.api.core.v1.PodSpec":{"properties":{"kind":{},"affinity":{},"nodeAffinity":{}}})"),
            (std::vector<std::string>{"PodSpec.kind", "PodSpec.nodeAffinity"}))
      << "no object of its own; affinity is there by itself";
}

TEST(ServerFields, OfOtherKindsDoNotMatter) {
  EXPECT_TRUE(
      unknown_in(
          R"("io.k8s.api.core.v1.Secret":{"properties":{"sparkle":{}}},"com.example.PodSpec":{"properties":{"x":{}}},)"
          R"("io.k8s.api.core.v1.NodeStatus":{"type":"object"},"io.k8s.api.core.v1.NodeSpec":null)")
          .empty());
}

TEST(ServerFields, ADescriptionThatIsNoneIsAnError) {
  for (const char* text : {"", "{}", "[]", "<html>", R"({"components":{}})", R"({"components":{"schemas":[)",
                           R"({"components":{"schemas":{"io.k8s.api.core.v1.PodSpec":7}}})"})
    EXPECT_FALSE(unknown_server_fields(text).ok()) << text;
}

}  // namespace
}  // namespace ashlar::kube
