// PodGroups of Kubernetes 1.36 (scheduling.k8s.io/v1alpha2) on a real server that serves them: KUBEBUILDER_ASSETS has
// to give one, since later servers do not; left out by name elsewhere.
#include "cluster/scheduler_world.h"

namespace ashlar::live_tests {
namespace {

constexpr kube::PodGroupVersion kVersion = kube::PodGroupVersion::kV1Alpha2;

class AlphaGroups : public SchedulerWorld {
 protected:
  static void SetUpTestSuite() {
    pod_groups_ = kVersion;
    SchedulerWorld::SetUpTestSuite();
  }
  void post_group(const kube::PodGroupSpec& spec) {
    must([&](OnAnswer done) { kube::create_pod_group(*api_, kVersion, spec, std::move(done)); });
  }
  void post_members(const std::string& name, int from, int to) {
    for (int i = from; i < to; ++i) {
      kube::PodSpec spec = gpu_pod(name + "-" + std::to_string(i), 8);
      spec.group_name = name;
      post_pod(spec);
    }
  }
  /// The group's condition of that status, in the server's words, once it is there.
  bool is_told(const std::string& name, const std::string& status) {
    return wait([&] {
      const Answer answer = answer_of([&](OnAnswer done) {
        api_->send({.path = kube::pod_group_path(kVersion, "default", name)}, std::move(done));
      });
      const std::size_t at = answer.body.find("\"type\":\"PodGroupScheduled\"");
      return at != std::string::npos && answer.body.find("\"status\":\"" + status + "\"") != std::string::npos;
    });
  }
};

TEST_F(AlphaGroups, AGangIsBoundWholeInOneDomainOfItsTopologyKeyAndItsGroupIsTold) {
  post_gpu_nodes(8, 4);
  auto scheduler = start();
  post_group({.name = "g", .topology_key = "example.com/rack", .min_count = 3});
  post_members("g", 0, 2);
  post_pod(gpu_pod("witness", 0));
  ASSERT_TRUE(wait_bound(1, "witness"));
  EXPECT_TRUE(has_logged("PodGroup API: scheduling.k8s.io/v1alpha2"));
  EXPECT_EQ(audit().bindings_of("default/g-"), 0u) << "two of three are no gang yet";
  post_members("g", 2, 3);
  ASSERT_TRUE(wait_bound(3, "g-")) << pod("g-0").scheduled.message.view();
  std::set<int> racks;
  for (const auto& [name, p] : pods())
    if (name.starts_with("g-")) racks.insert(std::stoi(p.node_name.str().substr(5)) / 4);
  EXPECT_EQ(racks.size(), 1u);
  EXPECT_TRUE(is_told("g", "True"));
  expect_no_oversubscription();
}

TEST_F(AlphaGroups, AGangWithoutRoomWaitsWholeAndItsGroupIsTold) {
  post_gpu_nodes(2);
  auto scheduler = start();
  post_group({.name = "big", .min_count = 3});
  post_members("big", 0, 3);
  EXPECT_TRUE(wait([&] { return pod("big-0").scheduled.status == kube::ConditionStatus::kFalse; }));
  EXPECT_TRUE(is_told("big", "False"));
  EXPECT_EQ(audit().bindings_of("default/big-"), 0u);
  post_nodes(1, [&](std::size_t) {
    return kube::NodeSpec{
        .name = "late", .allocatable = {{"cpu", "96"}, {"memory", "768Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}}};
  });
  EXPECT_TRUE(wait_bound(3, "big")) << pod("big-0").scheduled.message.view();
  EXPECT_TRUE(is_told("big", "True"));
}

}  // namespace
}  // namespace ashlar::live_tests
