// What a server's own description has beyond this release.
#include "kubeclient/decode/server_fields.h"

#include <gtest/gtest.h>

#include <optional>

#include "../http/loopback.h"

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

TEST(ServerFields, OfPodGroupsOfAnyVersionAreComparedByName) {
  EXPECT_EQ(
      unknown_in(R"("io.k8s.api.scheduling.v1alpha2.PodGroupSpec":{"properties":{"podGroupTemplateRef":{},"zeal":{}}},)"
                 R"("io.k8s.api.scheduling.v1beta1.BasicSchedulingPolicy":{"properties":{"pace":{}}},)"
                 R"("io.k8s.api.scheduling.v1beta1.PodGroup":{"properties":{"apiVersion":{},"kind":{},"spec":{}}},)"
                 R"("io.k8s.api.scheduling.v1beta1.WorkloadSpec":{"properties":{"any":{}}},)"
                 R"("io.k8s.api.storage.v1.StorageClass":{"properties":{"kind":{},"provisioner":{},"tier":{}}})"),
      (std::vector<std::string>{"PodGroupSpec.zeal", "BasicSchedulingPolicy.pace", "StorageClass.tier"}));
}

/// What is found of a server that answers so to each path.
Result<std::vector<std::string>> asked(const std::function<std::string(const std::string& path)>& describe) {
  http::Loopback server([&](http::Wire& wire, const std::string& request) {
    const std::string path = request.substr(4, request.find(' ', 4) - 4), text = describe(path);
    const bool is_status = text.size() == 3;
    wire.say("HTTP/1.1 " + (is_status ? text : "200") +
             " X\r\nConnection: close\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
  });
  auto api = Api::create({.access = {.server = server.url()}});
  std::optional<Result<std::vector<std::string>>> found;
  ask_unknown_server_fields(**api, [&](Result<std::vector<std::string>> names) { found = std::move(names); });
  while (!found) (*api)->poll(Millis(20));
  return *found;
}

std::string description_with(const std::string& type, const std::string& property) {
  return R"({"components":{"schemas":{"io.k8s.)" + type + R"(":{"properties":{")" + property + R"(":{}}}}}})";
}

TEST(ServerFields, OfAllGroupsAreAskedForAndThoseThatTheServerLacksLeftOut) {
  const auto describe = [](const std::string& path) -> std::string {
    if (path == "/openapi/v3/api/v1") return description_with("api.core.v1.PodSpec", "a");
    if (path == "/openapi/v3/apis/storage.k8s.io/v1") return description_with("api.core.v1.PodSpec", "a");
    if (path.ends_with("/v1alpha2")) return description_with("api.scheduling.v1alpha2.PodGroupSpec", "b");
    return "404";
  };
  const Result<std::vector<std::string>> found = asked(describe);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(*found, (std::vector<std::string>{"PodSpec.a", "PodGroupSpec.b"}));
}

TEST(ServerFields, ThatWereFoundAreNamedThoughAnotherGroupFails) {
  const auto describe = [](const std::string& path) -> std::string {
    return path.find("storage") == std::string::npos ? "503" : description_with("api.storage.v1.CSIDriver", "c");
  };
  EXPECT_EQ(asked(describe).value(), std::vector<std::string>{"CSIDriver.c"});
  EXPECT_FALSE(asked([](const std::string&) { return "503"; }).ok());
  EXPECT_EQ(asked([](const std::string&) { return "404"; }).value(), std::vector<std::string>{});
}

}  // namespace
}  // namespace ashlar::kube
