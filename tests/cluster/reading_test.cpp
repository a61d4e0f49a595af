// The live scheduler on a real server when a part of what it reads cannot be read: an object, an API version, a kind
// without the right to it.
#include "cluster/scheduler_world.h"

namespace ashlar::live_tests {
namespace {

class LiveSchedulerReading : public SchedulerWorld {
 protected:
  Answer patch(const std::string& path, const char* content_type, const std::string& body) {
    return answer_of([&](OnAnswer done) {
      api_->send({.method = http::Method::kPatch, .path = path, .body = body, .content_type = content_type},
                 std::move(done));
    });
  }
  /// What a kubelet may write on its own pods, and 1.37.1 takes.
  void break_status(const std::string& name, int restarts) {
    const Answer answer = patch(
        kube::pod_path("default", name) + "/status", "application/strategic-merge-patch+json",
        R"({"status":{"containerStatuses":[{"name":"main","image":"i","imageID":"i","ready":true,"restartCount":)" +
            std::to_string(restarts) + R"(,"allocatedResources":{"cpu":"-1"}}]}})");
    ASSERT_TRUE(answer.ok()) << answer.result.error().message;
  }
  bool says(const RunningScheduler& scheduler, const std::string& line) {
    return wait([&] { return ask(scheduler, "/metrics").find(line) != std::string::npos; });
  }
  void restart_api_server(std::vector<std::string> flags) {
    plane_->stop_api_server();
    plane_->set_api_server_flags(std::move(flags));
    ASSERT_TRUE(plane_->start_api_server().ok());
  }
  void post_gang(const std::string& name, int size) {
    must([&](OnAnswer done) {
      kube::create_pod_group(*api_, kube::PodGroupVersion::kV1Beta1, {.name = name, .min_count = size},
                             std::move(done));
    });
    post_members(name, size);
  }
  void post_members(const std::string& name, int size) {
    for (int i = 0; i < size; ++i) {
      kube::PodSpec spec = gpu_pod(name + "-" + std::to_string(i), 1);
      spec.group_name = name;
      post_pod(spec);
    }
  }
};

TEST_F(LiveSchedulerReading, DevicesOfAPodWithABrokenStatusStayTakenAndNobodyListsAgain) {
  post_gpu_nodes(1);
  auto scheduler = start();
  post_pod(gpu_pod("holder", 8));
  ASSERT_TRUE(wait_bound(1));
  for (int i = 0; i < 20; ++i) break_status("holder", i);
  ASSERT_TRUE(says(*scheduler, R"(ashlar_unreadable_objects{resource="pods"} 1)")) << ask(*scheduler, "/metrics");
  post_pod(gpu_pod("newcomer", 8));
  ASSERT_TRUE(wait([&] {
    return pod("newcomer").scheduled.message.str().find("1 Insufficient nvidia.com/gpu") != std::string::npos;
  }));
  EXPECT_TRUE(says(*scheduler, R"(ashlar_watch_relists_total{resource="pods"} 1)")) << ask(*scheduler, "/metrics");
  EXPECT_TRUE(
      has_logged("pod default/holder cannot be read whole: status.containerStatuses[].allocatedResources: cpu: "
                 "quantity \"-1\" is negative"));
  // A scheduler that never saw it in good health counts what its spec says.
  scheduler.reset();
  scheduler = start();
  EXPECT_TRUE(wait([&] { return ask(*scheduler, "/api/v1/nodes").find(R"("idleCards":0)") != std::string::npos; }))
      << ask(*scheduler, "/api/v1/nodes");
  post_nodes(1, [](std::size_t) {
    return kube::NodeSpec{
        .name = node_name(1),
        .allocatable = {{"cpu", "96"}, {"memory", "768Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}}};
  });
  EXPECT_TRUE(wait([&] { return pod("newcomer").node_name == "node-001"; }))
      << pod("newcomer").scheduled.message.view();
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerReading, AnApiVersionThatGoesStopsNothingElseAndIsFoundWhenItComes) {
  post_gpu_nodes(2);
  auto scheduler = start();
  post_gang("before", 2);
  ASSERT_TRUE(wait_bound(2, "before"));
  ASSERT_NO_FATAL_FAILURE(restart_api_server({"--runtime-config=scheduling.k8s.io/v1beta1=false"}));
  post_pod(gpu_pod("plain", 1));
  EXPECT_TRUE(wait_bound(1, "plain"));
  EXPECT_TRUE(wait([&] { return has_logged("PodGroups cannot be read"); }));
  ASSERT_NO_FATAL_FAILURE(restart_api_server({}));
  post_gang("after", 2);
  EXPECT_TRUE(wait_bound(2, "after", std::chrono::seconds(90)));
  EXPECT_EQ(bound_count("before"), 2u);
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerReading, ARightToPodGroupsThatIsTakenAwayStopsOnlyTheirPods) {
  const auto grant = [&](const std::string& resources) {
    const Answer answer =
        patch("/apis/rbac.authorization.k8s.io/v1/clusterroles/ashlar-scheduler", "application/json-patch+json",
              R"([{"op":"replace","path":"/rules/1/resources","value":)" + resources + "}]");
    ASSERT_TRUE(answer.ok()) << answer.result.error().message;
  };
  grant(R"(["priorityclasses"])");
  post_gpu_nodes(2);
  auto scheduler = start();
  post_gang("g", 2);
  post_pod(gpu_pod("plain", 1));
  EXPECT_TRUE(wait_bound(1, "plain"));
  EXPECT_TRUE(wait([&] {
    return pod("g-0").scheduled.message.str().starts_with("PodGroupsUnreadable: PodGroups cannot be read: HTTP 403");
  })) << pod("g-0").scheduled.message.view();
  grant(R"(["priorityclasses","podgroups"])");
  EXPECT_TRUE(wait_bound(2, "g", std::chrono::seconds(90)));
}

}  // namespace
}  // namespace ashlar::live_tests
