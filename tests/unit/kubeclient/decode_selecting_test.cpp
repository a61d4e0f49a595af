// Services and controllers of pods: by which labels they select pods, and which controller a pod has.
#include <gtest/gtest.h>

#include "apijson/api_json.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/selecting_objects.h"

namespace ashlar::kube {
namespace {

template <class T>
T object_with(const std::string& spec) {
  const Result<T> read =
      object_of_json<T>(R"({"metadata":{"name":"x","namespace":"ns","uid":"u"},"spec":)" + spec + "}");
  EXPECT_TRUE(read.ok()) << spec;
  return read.ok() ? *read : T();
}

TEST(DecodeSelecting, AServiceWithoutSelectorSelectsNoPods) {
  EXPECT_FALSE(object_with<Service>(R"({"clusterIP":"None"})").selector.present);
  EXPECT_FALSE(object_with<Service>(R"({"selector":{}})").selector.present);
  const Service service = object_with<Service>(R"({"selector":{"b":"2","a":"1"}})");
  EXPECT_TRUE(service.selector.present);
  EXPECT_EQ(service.selector.match_labels, (Labels{{"a", "1"}, {"b", "2"}})) << "in order";
  EXPECT_TRUE(service.problem.empty());
  EXPECT_EQ(object_with<ReplicationController>(R"({"selector":{"a":"1"}})").selector.match_labels,
            (Labels{{"a", "1"}}));
}

TEST(DecodeSelecting, AControllerMayHaveRequirements) {
  const ReplicaSet set = object_with<ReplicaSet>(
      R"({"selector":{"matchLabels":{"a":"1"},"matchExpressions":[{"key":"b","operator":"In","values":["2","3"]}]}})");
  ASSERT_EQ(set.selector.expressions.size(), 1u);
  EXPECT_EQ(set.selector.expressions[0].values, (std::vector<PooledString>{"2", "3"}));
  EXPECT_EQ(object_with<StatefulSet>(R"({"selector":{"matchLabels":{"a":"1"}}})").selector.match_labels,
            (Labels{{"a", "1"}}));
  EXPECT_TRUE(object_with<StatefulSet>(R"({"selector":{}})").selector.present) << "everything";
  EXPECT_FALSE(object_with<StatefulSet>("{}").selector.present);
}

TEST(DecodeSelecting, OneThatCannotBeReadSelectsNoPodsAndSaysSo) {
  const ReplicaSet odd =
      object_with<ReplicaSet>(R"({"selector":{"matchExpressions":[{"key":"b","operator":"Near","values":["2"]}]}})");
  EXPECT_FALSE(odd.selector.present);
  EXPECT_EQ(odd.problem, "spec.selector: unknown operator");
  std::string many;
  for (int i = 0; i < 128; ++i) many += (many.empty() ? "" : ",") + std::string("\"k") + std::to_string(i) + "\":\"v\"";
  EXPECT_TRUE(object_with<Service>(R"({"selector":{)" + many + "}}").selector.present);
  const Service larger = object_with<Service>(R"({"selector":{)" + many + R"(,"z":"1"}})");
  EXPECT_FALSE(larger.selector.present);
  EXPECT_EQ(larger.problem, "spec.selector has more than 128 labels and values");
  EXPECT_FALSE(decode_object<Service>("garbage").ok());
}

TEST(DecodeSelecting, APodKnowsTheControllerWhoseSelectorCounts) {
  const auto pod_of = [](const std::string& owners) {
    return object_of_json<Pod>(R"({"metadata":{"name":"p","ownerReferences":[)" + owners + R"(]},"spec":{}})").value();
  };
  const auto owner = [](const std::string& version, const std::string& kind, bool controls) {
    return R"({"apiVersion":")" + version + R"(","kind":")" + kind + R"(","name":")" + kind +
           R"(-1","uid":"u","controller":)" + (controls ? "true}" : "false}");
  };
  const Pod of_set = pod_of(owner("v1", "Node", false) + "," + owner("apps/v1", "ReplicaSet", true));
  EXPECT_EQ(of_set.controller_kind, SelectingKind::kReplicaSet);
  EXPECT_EQ(of_set.controller_name, "ReplicaSet-1");
  EXPECT_EQ(pod_of(owner("apps/v1", "StatefulSet", true)).controller_kind, SelectingKind::kStatefulSet);
  EXPECT_EQ(pod_of(owner("v1", "ReplicationController", true)).controller_kind, SelectingKind::kReplicationController);
  for (const auto& other : {owner("apps/v1", "ReplicaSet", false), owner("batch/v1", "Job", true),
                            owner("example.com/v1", "ReplicaSet", true), owner("v1", "StatefulSet", true)}) {
    EXPECT_EQ(pod_of(other).controller_kind, SelectingKind::kNone) << other;
    EXPECT_TRUE(pod_of(other).controller_name.empty()) << other;
  }
}

}  // namespace
}  // namespace ashlar::kube
