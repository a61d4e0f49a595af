// Fields of Kubernetes that say where or when a pod may go, on a real server, and what becomes of waiting pods when
// they change: gates, nominations, host ports, taints, sizes, rules about other pods, PodGroups.
#include <map>
#include <set>

#include "cluster/scheduler_world.h"

namespace ashlar::live_tests {
namespace {

class LiveSchedulerFeatures : public SchedulerWorld {
 protected:
  Answer patch(const std::string& path, const std::string& body,
               const char* content_type = "application/merge-patch+json") {
    return answer_of([&](OnAnswer done) {
      api_->send({.method = http::Method::kPatch, .path = path, .body = body, .content_type = content_type},
                 std::move(done));
    });
  }
  void must_patch(const std::string& path, const std::string& body,
                  const char* content_type = "application/merge-patch+json") {
    const Answer answer = patch(path, body, content_type);
    ASSERT_TRUE(answer.ok()) << answer.result.error().message;
  }
  void remove_pod(const std::string& name) {
    must([&](OnAnswer done) { kube::remove(*api_, kube::pod_path("default", name), 0, std::move(done)); });
  }
  static std::string path_of(const std::string& pod) { return kube::pod_path("default", pod); }
  bool waits_because(const std::string& name, const std::string& why) {
    return wait([&] { return pod(name).scheduled.message.view().find(why) != std::string::npos; },
                std::chrono::seconds(10));
  }
  std::string told(const std::string& name) { return pod(name).scheduled.message.str(); }
  /// One container of one core that takes a port of its node.
  void post_pod_with_port(const std::string& name, int port) {
    must([&](OnAnswer done) {
      api_->send(
          {.method = http::Method::kPost,
           .path = "/api/v1/namespaces/default/pods",
           .body =
               R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
               R"("},"spec":{"schedulerName":"ashlar","containers":[{"name":"main","image":"pause","ports":[{"containerPort":80,"hostPort":)" +
               std::to_string(port) + R"(}],"resources":{"requests":{"cpu":"1"}}}]}})"},
          std::move(done));
    });
  }
  void post_group(const std::string& name, int min_count) {
    must([&](OnAnswer done) {
      kube::create_pod_group(*api_, kube::PodGroupVersion::kV1Beta1, {.name = name, .min_count = min_count},
                             std::move(done));
    });
  }
  void post_members(const std::string& name, int count) {
    for (int i = 0; i < count; ++i) {
      kube::PodSpec spec = gpu_pod(name + "-" + std::to_string(i), 1);
      spec.group_name = name;
      post_pod(spec);
    }
  }
};

TEST_F(LiveSchedulerFeatures, AGatedPodIsNotTriedBeforeItsLastGateGoes) {
  post_gpu_nodes(1);
  auto scheduler = start();
  kube::PodSpec gated = gpu_pod("gated", 1);
  gated.extra_spec_json = R"("schedulingGates":[{"name":"example.com/a"},{"name":"example.com/b"}])";
  post_pods({gated, gpu_pod("witness-1", 1)});
  ASSERT_TRUE(wait_bound(1, "witness-1"));
  must_patch(path_of("gated"), R"({"spec":{"schedulingGates":[{"name":"example.com/b"}]}})");
  post_pod(gpu_pod("witness-2", 1));
  ASSERT_TRUE(wait_bound(1, "witness-2"));
  EXPECT_EQ(audit().bindings_of("default/gated"), 0u);
  must_patch(path_of("gated"), R"({"spec":{"schedulingGates":null}})");
  EXPECT_TRUE(wait_bound(1, "gated"));
}

TEST_F(LiveSchedulerFeatures, ANodeThatAnotherSchedulerNominatedIsLeftToItsPod) {
  post_gpu_nodes(1);
  kube::PodSpec foreign = gpu_pod("foreign", 6);
  foreign.scheduler_name = "somebody-else";
  post_pod(foreign);
  must_patch(path_of("foreign") + "/status", R"({"status":{"nominatedNodeName":"node-000"}})");
  auto scheduler = start();
  post_pods({gpu_pod("four", 4), gpu_pod("two", 2)});
  EXPECT_TRUE(wait_bound(1, "two"));
  EXPECT_TRUE(waits_because("four", "held for nominated pods")) << told("four");
  must_patch(path_of("foreign") + "/status", R"({"status":{"nominatedNodeName":null}})");
  EXPECT_TRUE(wait_bound(1, "four"));
}

TEST_F(LiveSchedulerFeatures, APortOfANodeIsGivenOnce) {
  post_gpu_nodes(1);
  auto scheduler = start();
  post_pod_with_port("first", 8080);
  ASSERT_TRUE(wait_bound(1, "first"));
  post_pod_with_port("second", 8080);
  post_pod_with_port("other", 8081);
  EXPECT_TRUE(wait_bound(1, "other"));
  EXPECT_TRUE(waits_because("second", "free ports")) << told("second");
  remove_pod("first");
  EXPECT_TRUE(wait_bound(1, "second"));
}

TEST_F(LiveSchedulerFeatures, ATaintThatEvictsKeepsNewPodsAwayAndWhoIsThereIsCounted) {
  post_gpu_nodes(1);
  auto scheduler = start();
  post_pod(gpu_pod("there", 6));
  ASSERT_TRUE(wait_bound(1, "there"));
  must_patch(kube::node_path("node-000"),
             R"({"spec":{"taints":[{"key":"team","value":"blue","effect":"NoExecute"}]}})");
  post_pod(gpu_pod("newcomer", 1));
  EXPECT_TRUE(waits_because("newcomer", "untolerated taint {team: blue}")) << told("newcomer");
  kube::PodSpec tolerant = gpu_pod("tolerant-4", 4);
  tolerant.extra_spec_json = R"("tolerations":[{"key":"team","operator":"Equal","value":"blue","effect":"NoExecute"}])";
  kube::PodSpec small = tolerant;
  small.name = "tolerant-2";
  small.requests.back().second = "2";
  post_pods({tolerant, small});
  EXPECT_TRUE(wait_bound(1, "tolerant-2"));
  EXPECT_TRUE(waits_because("tolerant-4", "Insufficient nvidia.com/gpu")) << told("tolerant-4");
  must_patch(kube::node_path("node-000"), R"({"spec":{"taints":null}})");
  remove_pod("there");
  EXPECT_TRUE(wait_bound(1, "newcomer")) << told("newcomer");
  EXPECT_TRUE(wait_bound(1, "tolerant-4")) << told("tolerant-4");
}

TEST_F(LiveSchedulerFeatures, APodThatIsMadeSmallerKeepsItsRoomUntilItsKubeletHasDoneIt) {
  post_gpu_nodes(1);
  auto scheduler = start();
  kube::PodSpec large = gpu_pod("large", 0);
  large.requests = {{"cpu", "90"}};
  post_pod(large);
  ASSERT_TRUE(wait_bound(1, "large"));
  const auto tell_allocated = [&](const std::string& cpu) {
    must_patch(
        path_of("large") + "/status",
        R"({"status":{"containerStatuses":[{"name":"main","image":"i","imageID":"i","ready":true,"restartCount":0,"allocatedResources":{"cpu":")" +
            cpu + R"("}}]}})",
        "application/strategic-merge-patch+json");
  };
  tell_allocated("90");
  must_patch(path_of("large") + "/resize",
             R"({"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"1"}}}]}})",
             "application/strategic-merge-patch+json");
  kube::PodSpec next = gpu_pod("next", 0);
  next.requests = {{"cpu", "50"}};
  post_pod(next);
  EXPECT_TRUE(waits_because("next", "Insufficient cpu")) << told("next");
  tell_allocated("1");
  EXPECT_TRUE(wait_bound(1, "next")) << told("next");
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerFeatures, WhatABoundPodsAntiAffinityForbidsIsNotDoneToIt) {
  post_gpu_nodes(1);
  kube::PodSpec loner = gpu_pod("loner", 1);
  loner.scheduler_name = "somebody-else";
  loner.node_name = "node-000";
  loner.extra_spec_json =
      R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname",)"
      R"("labelSelector":{"matchLabels":{"app":"noisy"}}}]}})";
  post_pod(loner);
  auto scheduler = start();
  kube::PodSpec noisy = gpu_pod("noisy", 1);
  noisy.labels = {{"app", "noisy"}};
  post_pods({noisy, gpu_pod("quiet", 1)});
  EXPECT_TRUE(wait_bound(1, "quiet"));
  EXPECT_TRUE(wait([&] { return pod("noisy").scheduled.reason == "Unschedulable"; })) << told("noisy");
  remove_pod("loner");
  EXPECT_TRUE(wait_bound(1, "noisy")) << told("noisy");
}

TEST_F(LiveSchedulerFeatures, PodsThatKeepEachOtherAwayTakeANodeEach) {
  post_gpu_nodes(3);
  auto scheduler = start();
  std::vector<kube::PodSpec> replicas;
  for (int i = 0; i < 4; ++i) {
    kube::PodSpec& replica = replicas.emplace_back(gpu_pod("db-" + std::to_string(i), 1));
    replica.labels = {{"app", "db"}};
    replica.extra_spec_json =
        R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname",)"
        R"("labelSelector":{"matchLabels":{"app":"db"}}}]}})";
  }
  post_pods(replicas);
  ASSERT_TRUE(wait_bound(3, "db-"));
  std::set<std::string> nodes;
  std::string last;
  for (const auto& [name, seen] : pods())
    seen.node_name.empty() ? last = name : *nodes.insert(seen.node_name.str()).first;
  EXPECT_EQ(nodes.size(), 3u);
  EXPECT_TRUE(waits_because(last, "3 node(s) didn't match pod anti-affinity rules")) << told(last);
  remove_pod(last == "db-0" ? "db-1" : "db-0");
  EXPECT_TRUE(wait_bound(1, last)) << told(last);
}

TEST_F(LiveSchedulerFeatures, APodFollowsTheOneThatItsAffinityNames) {
  post_gpu_nodes(4, 2);
  auto scheduler = start();
  kube::PodSpec front = gpu_pod("front", 1), cache = gpu_pod("cache", 1);
  front.extra_spec_json =
      R"("affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"example.com/rack",)"
      R"("labelSelector":{"matchLabels":{"app":"cache"}}}]}})";
  post_pod(front);
  EXPECT_TRUE(waits_because("front", "4 node(s) didn't match pod affinity rules")) << told("front");
  cache.labels = {{"app", "cache"}};
  cache.node_selector = {{"kubernetes.io/hostname", "node-002"}};
  post_pod(cache);
  ASSERT_TRUE(wait_bound(1, "front")) << told("front");
  const std::string node = pod("front").node_name.str();
  EXPECT_TRUE(node == "node-002" || node == "node-003") << node;
}

TEST_F(LiveSchedulerFeatures, AGangIsSpreadWholeOrNotAtAll) {
  post_gpu_nodes(4, 2);
  auto scheduler = start();
  const auto post_spread = [&](const std::string& name, int members, int gpus) {
    post_group(name, members);
    for (int i = 0; i < members; ++i) {
      kube::PodSpec spec = gpu_pod(name + "-" + std::to_string(i), gpus);
      spec.group_name = name;
      spec.labels = {{"app", name}};
      spec.extra_spec_json =
          R"("topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"example.com/rack","whenUnsatisfiable":"DoNotSchedule",)"
          R"("labelSelector":{"matchLabels":{"app":")" +
          name + R"("}}}])";
      post_pod(spec);
    }
  };
  kube::PodSpec filler = gpu_pod("filler", 8);
  filler.node_selector = {{"kubernetes.io/hostname", "node-000"}};
  post_pod(filler);
  ASSERT_TRUE(wait_bound(1, "filler"));
  post_spread("uneven", 4, 8);
  EXPECT_TRUE(waits_because("uneven-0", "nodes are available")) << told("uneven-0");
  post_spread("even", 4, 4);
  ASSERT_TRUE(wait_bound(4, "even-")) << told("even-0");
  std::map<bool, int> by_rack;
  for (const auto& [name, seen] : pods())
    if (name.starts_with("even-")) ++by_rack[seen.node_name == "node-001"];
  EXPECT_EQ(by_rack[true], 2) << "two in the rack of node 1, which has no other free node";
  EXPECT_EQ(by_rack[false], 2);
  EXPECT_EQ(audit().bindings_of("default/uneven-"), 0u);
}

TEST_F(LiveSchedulerFeatures, AGangWhoseMinCountFallsStarts) {
  post_gpu_nodes(1);
  auto scheduler = start();
  post_group("lower", 4);
  post_members("lower", 2);
  ASSERT_TRUE(waits_because("lower-0", "waits until 4 of its pods exist")) << told("lower-0");
  EXPECT_EQ(audit().bindings_of("default/lower-"), 0u);
  must_patch(kube::pod_group_path(kube::PodGroupVersion::kV1Beta1, "default", "lower"),
             R"({"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}})");
  EXPECT_TRUE(wait_bound(2, "lower")) << told("lower-0");
}

TEST_F(LiveSchedulerFeatures, AGangWhosePodGroupGoesWaitsForAnother) {
  post_gpu_nodes(1);
  auto scheduler = start();
  post_group("goes", 3);
  post_members("goes", 2);
  ASSERT_TRUE(waits_because("goes-0", "waits until 3 of its pods exist")) << told("goes-0");
  const std::string path = kube::pod_group_path(kube::PodGroupVersion::kV1Beta1, "default", "goes");
  must_patch(path, R"({"metadata":{"finalizers":null}})");
  must([&](OnAnswer done) { kube::remove(*api_, path, 0, std::move(done)); });
  EXPECT_TRUE(waits_because("goes-0", "does not exist")) << told("goes-0");
  post_group("goes", 2);
  EXPECT_TRUE(wait_bound(2, "goes")) << told("goes-0");
}

}  // namespace
}  // namespace ashlar::live_tests
