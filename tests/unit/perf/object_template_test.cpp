// Tests of ObjectTemplate: objects as JSON, with what the operation imposes.
#include "cluster/perf/object_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ashlar::bench::perf {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kPod = R"(apiVersion: v1
kind: Pod
metadata: {generateName: pod-, labels: {n: "1", m: 1}}
spec:
  priority: {{.Index}}
  nodes: [1.5, 007, true, "true", null, a"b]
)";

std::string template_error(const std::string& text) {
  ObjectTemplate object(text, "t.yaml", {});
  const Result<RenderedObject> rendered = object.render({{"Index", "4"}}, "x");
  return rendered ? "no error" : rendered.error().message;
}

TEST(ObjectTemplate, ScalarsKeepTheTypeThatYamlGivesThem) {
  ObjectTemplate pod(kPod, "t.yaml", {.name_space = "ns"});
  const Result<RenderedObject> rendered = pod.render({{"Index", "4"}}, "p-4");
  ASSERT_TRUE(rendered.ok()) << rendered.error().message;
  EXPECT_EQ(rendered->body,
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"n":"1","m":1},"name":"p-4","namespace":"ns"},)"
            R"("spec":{"priority":4,"nodes":[1.5,"007",true,"true",null,"a\"b"]}})");
  EXPECT_EQ(rendered->path(), "/api/v1/namespaces/ns/pods/p-4");
}

TEST(ObjectTemplate, PodsGetSchedulerNodeAndClaim) {
  ObjectTemplate pod(kPod, "t.yaml", {.scheduler_name = "s", .has_claim = true, .has_node = true, .is_named = true});
  for (const char* name : {"a", "b"}) {
    const Result<RenderedObject> rendered = pod.render({{"Index", "4"}}, name, std::string("node-") + name);
    ASSERT_TRUE(rendered.ok());
    EXPECT_THAT(rendered->body, HasSubstr(std::string(R"("schedulerName":"s","nodeName":"node-)") + name + "\""));
    EXPECT_THAT(rendered->body,
                HasSubstr(std::string(R"("persistentVolumeClaim":{"claimName":")") + name + "-claim\""));
    EXPECT_THAT(rendered->body, Not(HasSubstr("generateName")));
  }
}

TEST(ObjectTemplate, ASchedulerOfTheTemplateStays) {
  ObjectTemplate pod("apiVersion: v1\nkind: Pod\nspec: {schedulerName: own}\n", "t.yaml", {.scheduler_name = "s"});
  EXPECT_THAT(pod.render({}, "p")->body, HasSubstr(R"("schedulerName":"own")"));
}

TEST(ObjectTemplate, PathsFollowGroupAndKind) {
  EXPECT_EQ(collection_path("scheduling.k8s.io/v1beta1", "PodGroup", "ns").value(),
            "/apis/scheduling.k8s.io/v1beta1/namespaces/ns/podgroups");
  EXPECT_EQ(collection_path("storage.k8s.io/v1", "StorageClass", "ns").value(),
            "/apis/storage.k8s.io/v1/storageclasses");
  EXPECT_EQ(collection_path("v1", "Pod", "").value(), "/api/v1/namespaces/default/pods");
}

TEST(ObjectTemplate, NodesGetLabelsResourcesAndReady) {
  const Result<RenderedNode> node =
      rendered_node("apiVersion: v1\nkind: Node\nspec: {taints: [{key: a, effect: NoSchedule}]}\n", "n.yaml", {},
                    "node-7", {.labels = {{"zone", "1"}}, .allocatable = {{"cpu", "4"}}});
  ASSERT_TRUE(node.ok()) << node.error().message;
  EXPECT_THAT(node->object.body, HasSubstr(R"("labels":{"zone":"1"})"));
  EXPECT_THAT(node->object.body, HasSubstr(R"("allocatable":{"cpu":"4"})"));
  EXPECT_THAT(node->object.body, HasSubstr(R"("conditions":[{"type":"Ready","status":"True"}])"));
  EXPECT_EQ(node->taints_patch, R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})");
  EXPECT_EQ(node->object.path(), "/api/v1/nodes/node-7");
}

TEST(ObjectTemplate, ErrorsNameFileAndLine) {
  EXPECT_EQ(template_error("apiVersion: v1\nkind: Widget\n"),
            "t.yaml:2:7: objects of kind \"Widget\" are not supported yet");
  EXPECT_EQ(template_error("kind: Pod\n"), "t.yaml:1:1: a template needs apiVersion and kind");
  EXPECT_EQ(template_error("- a\n"), "t.yaml:1:1: a template must be a map");
  EXPECT_EQ(template_error("apiVersion: v1\nkind: Pod\nmetadata: x\n"), "t.yaml:3:11: metadata must be a map");
  EXPECT_THAT(template_error("a: [\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(template_error("a: {{.Inde}}\n"), HasSubstr("t.yaml:1: no value"));
  EXPECT_THAT(ObjectTemplate::read("/nowhere.yaml", {}).error().message, HasSubstr("/nowhere.yaml"));
}

}  // namespace
}  // namespace ashlar::bench::perf
