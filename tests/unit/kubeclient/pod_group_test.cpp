// Both API versions of PodGroup through one adapter; answers/*v1alpha2* were recorded from a real 1.36.3 server.
#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "../http/loopback.h"
#include "apijson/api_json.h"
#include "folders.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/pod_group_api.h"
#include "kubeclient/writes.h"

namespace ashlar::kube {
namespace {

std::string answer(const std::string& name) {
  std::ifstream in(std::string(ASHLAR_SOURCE_DIR) + "/tests/unit/kubeclient/answers/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(PodGroupApi, ReadsTheListOfAVersion136Server) {
  Result<ListPage<PodGroup>> page = decode_list<PodGroup>(answer("podgroups-v1alpha2.json"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->items.size(), 2u);
  const PodGroup& gang = page->items[0];
  EXPECT_EQ(gang.name, "gang-a");
  EXPECT_EQ(gang.min_count, 4);
  EXPECT_EQ(gang.topology_key, "rack");
  EXPECT_EQ(gang.scheduled.status, ConditionStatus::kFalse);
  EXPECT_EQ(gang.scheduled.message, "no rack has room");
  EXPECT_TRUE(gang.unsupported.empty()) << gang.unsupported.view();
  EXPECT_EQ(page->items[1].min_count, 0);
}

TEST(PodGroupApi, ReadsTheWatchOfAVersion136Server) {
  FrameSplitter lines(Encoding::kJson);
  int events = 0;
  Result<void> fed = lines.feed(answer("podgroups-watch-v1alpha2.json"), [&](std::string_view line) {
    Result<WatchEvent<PodGroup>> event = decode_watch_event<PodGroup>(line);
    EXPECT_TRUE(event.ok()) << event.error().message;
    events += event.ok() && event->kind == WatchEvent<PodGroup>::Kind::kAdded;
    return true;
  });
  EXPECT_TRUE(fed.ok());
  EXPECT_EQ(events, 2);
}

TEST(PodGroupApi, PodsOfAVersion136ServerNameTheirGroup) {
  Result<Pod> pod = object_of_json<Pod>(answer("pod-1.36.json"));
  ASSERT_TRUE(pod.ok()) << pod.error().message;
  EXPECT_EQ(pod->group_name, "gang-a");
}

TEST(PodGroupApi, FieldsThatAreNotEvaluatedAreNamed) {
  const auto unsupported = [](const std::string& spec) {
    Result<PodGroup> group = decode_object<PodGroup>(R"({"metadata":{"name":"g"},"spec":)" + spec + "}");
    EXPECT_TRUE(group.ok());
    return group->unsupported.str();
  };
  EXPECT_EQ(unsupported(R"({"parentCompositePodGroupName":"x"})"), "spec.parentCompositePodGroupName");
  EXPECT_EQ(unsupported(R"({"resourceClaims":[{"name":"x"}]})"), "spec.resourceClaims");
  EXPECT_EQ(unsupported(R"({"schedulingConstraints":{"topology":[{"key":"a"},{"key":"b"}]}})"),
            "spec.schedulingConstraints.topology[1]");
  EXPECT_EQ(
      unsupported(
          R"({"parentCompositePodGroupName":null,"resourceClaims":null,"schedulingPolicy":{"basic":{},"gang":null}})"),
      "");
}

TEST(PodGroupApi, FieldsThatNoVersionHasAreNamedAtAnyDepth) {
  const Result<PodGroup> group = decode_object<PodGroup>(
      R"({"apiVersion":"x","kind":"PodGroup","extra":1,"metadata":{"name":"g","generation":3,"aura":{"a":1},"selfLink":"s"},"spec":{"new":{"min":1},)"
      R"("schedulingPolicy":{"tree":{},"basic":{"pace":1},"gang":{"minCount":2,"maxCount":3}},"nothing":null,)"
      R"("schedulingConstraints":{"spread":[],"topology":[{"key":"a","level":2}]},"disruptionMode":{"single":{"grace":1},"half":{}},)"
      R"("workloadRef":{"workloadName":"w","uid":"u"},"resourceClaims":[{"name":"c","pool":"p"}]},"status":{"phase":"x",)"
      R"("conditions":[{"type":"PodGroupScheduled","status":"True","severity":"x"}]}})");
  ASSERT_TRUE(group.ok());
  EXPECT_TRUE(group->problem.empty()) << group->problem.view();
  EXPECT_EQ(
      group->unknown_spec_fields,
      (std::vector<PooledString>{"PodGroupSpec.new", "PodGroupSchedulingPolicy.tree", "BasicSchedulingPolicy.pace",
                                 "GangSchedulingPolicy.maxCount", "PodGroupSchedulingConstraints.spread",
                                 "TopologyConstraint.level", "SingleDisruptionMode.grace", "DisruptionMode.half",
                                 "WorkloadReference.uid", "PodGroupResourceClaim.pool"}));
  EXPECT_EQ(group->unknown_fields, "PodGroup.extra, ObjectMeta.aura, PodGroupStatus.phase, Condition.severity");
  EXPECT_EQ(group->generation, 3);
  EXPECT_EQ(group->min_count, 2);
  EXPECT_EQ(group->topology_key, "a");
  EXPECT_EQ(group->scheduled.status, ConditionStatus::kTrue);
}

TEST(PodGroupApi, UnknownFieldsAreNamedOnceAndNoMoreThanSixteen) {
  std::string spec;
  for (int i = 0; i < 40; ++i) spec += (i == 0 ? "" : ",") + ("\"f" + std::to_string(i % 20)) + "\":1";
  const Result<PodGroup> group = decode_object<PodGroup>(R"({"metadata":{"name":"g"},"spec":{)" + spec + "}}");
  ASSERT_TRUE(group.ok());
  EXPECT_EQ(group->unknown_spec_fields.size(), 16u);
}

/// Asks a server that knows only the given API versions.
Result<PodGroupVersion> discovered(const std::string& known_version, const std::string& body, int other_status = 404) {
  http::Loopback server([&](http::Wire& wire, const std::string& request) {
    const bool known =
        !known_version.empty() && request.find("/apis/scheduling.k8s.io/" + known_version + " ") != std::string::npos;
    const std::string text = known ? body : "{}";
    wire.say("HTTP/1.1 " + std::to_string(known ? 200 : other_status) +
             " X\r\nConnection: close\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
  });
  auto api = Api::create({.access = {.server = server.url()}});
  std::optional<Result<PodGroupVersion>> found;
  discover_pod_groups(**api, [&](Result<PodGroupVersion> version) { found = std::move(version); });
  while (!found) (*api)->poll(Millis(20));
  return *found;
}

TEST(PodGroupApi, TakesWhicheverVersionTheServerHas) {
  EXPECT_EQ(discovered("v1beta1", answer("resources-v1beta1.json")).value(), PodGroupVersion::kV1Beta1);
  EXPECT_EQ(discovered("v1alpha2", answer("resources-v1alpha2.json")).value(), PodGroupVersion::kV1Alpha2);
  EXPECT_EQ(discovered("v1", answer("resources-v1beta1.json")).value(), PodGroupVersion::kV1);
  EXPECT_EQ(discovered("", "").value(), PodGroupVersion::kNone);
  EXPECT_EQ(discovered("v1beta1", R"({"resources":[{"name":"workloads"}]})").value(), PodGroupVersion::kNone);
  EXPECT_EQ(discovered("v1beta1", "a proxy's page").value(), PodGroupVersion::kNone);
  EXPECT_FALSE(discovered("", "", 503).ok()) << "not knowing is not the same as there being none";
}

TEST(PodGroupApi, WordsOfEachVersion) {
  EXPECT_EQ(pod_group_path(PodGroupVersion::kV1Alpha2, "a", "b"),
            "/apis/scheduling.k8s.io/v1alpha2/namespaces/a/podgroups/b");
  EXPECT_EQ(pod_groups_path(PodGroupVersion::kV1Beta1), "/apis/scheduling.k8s.io/v1beta1/podgroups");
  EXPECT_EQ(scheduled_condition_type(PodGroupVersion::kV1Alpha2), "PodGroupScheduled");
  EXPECT_EQ(scheduled_condition_type(PodGroupVersion::kV1Beta1), "PodGroupInitiallyScheduled");
  EXPECT_EQ(pod_groups_path(PodGroupVersion::kNone), "");
}

TEST(Writes, BindingsCarryUidAndAnnotations) {
  EXPECT_EQ(
      binding_body({.ns = "n", .pod = "p", .uid = "u", .node = "w", .annotations = {{"ashlar.dev/cards", "0,1"}}}),
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p","namespace":"n","uid":"u","annotations":{"ashlar.dev/cards":"0,1"}},)"
      R"("target":{"apiVersion":"v1","kind":"Node","name":"w"}})");
}

TEST(Writes, PodsCarryLimitsForExtendedResources) {
  const std::string body = pod_body(
      {.name = "p", .requests = {{"cpu", "1"}, {"nvidia.com/gpu", "2"}}, .extra_spec_json = R"("hostNetwork":true)"});
  EXPECT_NE(body.find(R"("requests":{"cpu":"1","nvidia.com/gpu":"2"},"limits":{"nvidia.com/gpu":"2"})"),
            std::string::npos)
      << body;
  EXPECT_TRUE(object_of_json<Pod>(body).ok());
}

}  // namespace
}  // namespace ashlar::kube
