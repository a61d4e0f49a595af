// The live scheduler against a real kube-apiserver and etcd: binding, gangs, topology, shares of devices, conditions.
#include "cluster/scheduler_world.h"

namespace ashlar::live_tests {
namespace {

using LiveSchedulerTest = SchedulerWorld;

kube::PodSpec gang_pod(const std::string& gang, int index, int size, int gpus, Pairs more = {}) {
  kube::PodSpec spec;
  spec.name = gang + "-" + std::to_string(index);
  spec.scheduler_name = "ashlar";
  spec.requests = {{"cpu", "1"}, {"nvidia.com/gpu", std::to_string(gpus)}};
  spec.labels = {{"ashlar.dev/gang", gang}, {"ashlar.dev/gang-size", std::to_string(size)}};
  spec.labels.insert(spec.labels.end(), more.begin(), more.end());
  return spec;
}

std::vector<kube::PodSpec> gang_pods(const std::string& gang, int size, int gpus, Pairs more = {}) {
  std::vector<kube::PodSpec> specs;
  for (int i = 0; i < size; ++i) specs.push_back(gang_pod(gang, i, size, gpus, more));
  return specs;
}

TEST_F(LiveSchedulerTest, BindsAPodAndWritesItsDevices) {
  post_gpu_nodes(2);
  auto scheduler = start();
  post_pod(gpu_pod("one", 2));
  ASSERT_TRUE(wait_bound(1));
  const kube::Pod bound = pod("one");
  EXPECT_EQ(bound.node_name, "node-000");
  ASSERT_TRUE(bound.annotations);
  const kube::PooledString* devices = kube::find_label(*bound.annotations, "ashlar.dev/cards");
  ASSERT_NE(devices, nullptr);
  EXPECT_EQ(*devices, "0,1");
  const kube::PooledString* grants = kube::find_label(*bound.annotations, "ashlar.dev/gpu-grants");
  ASSERT_NE(grants, nullptr);
  EXPECT_EQ(*grants, "0-1:1000");
  EXPECT_TRUE(wait_event("Scheduled", "Successfully assigned default/one to node-000"));
}

TEST_F(LiveSchedulerTest, LeavesPodsOfOtherSchedulersAlone) {
  post_gpu_nodes(1);
  auto scheduler = start();
  kube::PodSpec foreign = gpu_pod("foreign", 1);
  foreign.scheduler_name = "somebody-else";
  post_pod(foreign);
  post_pod(gpu_pod("ours", 1));  // bound only after the scheduler saw the pod before it
  ASSERT_TRUE(wait_bound(1, "ours"));
  EXPECT_EQ(audit().bindings_of("default/foreign"), 0u);
  EXPECT_EQ(pod("foreign").scheduled.status, kube::ConditionStatus::kAbsent) << "nor is it spoken of";
}

TEST_F(LiveSchedulerTest, StartsAGangWholeOrNotAtAll) {
  post_gpu_nodes(2);
  auto scheduler = start();
  post_pods(gang_pods("big", 3, 8));  // two nodes hold two of its pods
  post_pods(gang_pods("small", 2, 4));
  ASSERT_TRUE(wait_bound(2, "small"));
  ASSERT_TRUE(wait([&] { return pod("big-0").scheduled.status == kube::ConditionStatus::kFalse; }));
  EXPECT_EQ(pod("big-0").scheduled.reason, "Unschedulable");
  EXPECT_EQ(bound_count("big"), 0u);
  EXPECT_EQ(audit().bindings_of("default/big-"), 0u) << "no member was even tried";
}

TEST_F(LiveSchedulerTest, AGangWaitsForItsMembers) {
  post_gpu_nodes(4);
  auto scheduler = start();
  std::vector<kube::PodSpec> specs = gang_pods("late", 4, 8);
  const kube::PodSpec last = specs.back();
  specs.pop_back();
  post_pods(specs);
  post_pod(gpu_pod("witness", 0));  // bound only after the scheduler saw the gang's first pods
  ASSERT_TRUE(wait_bound(1, "witness"));
  EXPECT_EQ(bound_count("late"), 0u);
  EXPECT_EQ(pod("late-0").scheduled.status, kube::ConditionStatus::kAbsent)
      << "a gang that is being created says nothing yet";
  post_pod(last);
  EXPECT_TRUE(wait_bound(4, "late"));
}

TEST_F(LiveSchedulerTest, AGangStaysWithinOneRack) {
  post_gpu_nodes(8, 4);
  auto scheduler = start();
  post_pod(gpu_pod("filler", 8));  // takes one node of rack r0
  ASSERT_TRUE(wait_bound(1));
  post_pods(gang_pods("rack", 4, 8, {{"ashlar.dev/within", "rack"}}));
  ASSERT_TRUE(wait_bound(4, "rack"));
  for (const auto& [name, p] : pods()) {
    if (name.starts_with("rack")) {
      EXPECT_GE(p.node_name.str(), "node-004") << name;
    }
  }
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerTest, AnUpstreamPodGroupIsAGangWithATopologyKey) {
  post_gpu_nodes(8, 4);
  auto scheduler = start();
  std::vector<kube::PodSpec> specs;
  for (int i = 0; i < 3; ++i) {
    kube::PodSpec spec = gpu_pod("pg-" + std::to_string(i), 8);
    spec.group_name = "pg";
    specs.push_back(spec);
  }
  post_pods(specs);
  post_pod(gpu_pod("witness", 0));
  ASSERT_TRUE(wait_bound(1, "witness"));
  EXPECT_EQ(bound_count("pg"), 0u) << "the PodGroup must exist before its pods count";
  must([&](OnAnswer done) {
    kube::create_pod_group(*api_, kube::PodGroupVersion::kV1Beta1,
                           {.name = "pg", .topology_key = "example.com/rack", .min_count = 3}, std::move(done));
  });
  ASSERT_TRUE(wait_bound(3, "pg"));
  std::set<std::size_t> racks;
  for (const auto& [name, p] : pods())
    if (name.starts_with("pg")) racks.insert(static_cast<std::size_t>(std::stoi(p.node_name.str().substr(5))) / 4);
  EXPECT_EQ(racks.size(), 1u);
  const auto is_told = [&] {
    const Answer answer = answer_of([&](OnAnswer done) {
      api_->send({.path = kube::pod_group_path(kube::PodGroupVersion::kV1Beta1, "default", "pg")}, std::move(done));
    });
    return answer.body.find("PodGroupInitiallyScheduled") != std::string::npos &&
           answer.body.find("\"True\"") != std::string::npos;
  };
  bool told = false;
  for (int i = 0; i < 50 && !told; ++i) {
    told = is_told();
    pause(Millis(50));
  }
  EXPECT_TRUE(told);
}

TEST_F(LiveSchedulerTest, SharesOfADeviceArePackedOnOneDevice) {
  post_gpu_nodes(1);
  auto scheduler = start();
  std::vector<kube::PodSpec> specs;
  for (int i = 0; i < 4; ++i) {
    kube::PodSpec spec = gpu_pod("share-" + std::to_string(i), 0);
    spec.requests.emplace_back("ashlar.dev/gpu-milli", i < 2 ? "500" : "700");
    specs.push_back(spec);
  }
  post_pods(specs);
  ASSERT_TRUE(wait_bound(4, "share"));
  expect_no_oversubscription();
  std::set<std::string> devices;
  for (const auto& [name, p] : pods()) {
    const kube::PooledString* text = p.annotations ? kube::find_label(*p.annotations, "ashlar.dev/cards") : nullptr;
    ASSERT_NE(text, nullptr) << name;
    devices.insert(text->str());
  }
  EXPECT_EQ(devices.size(), 3u) << "two halves share a card, 700 each need their own";
}

TEST_F(LiveSchedulerTest, SaysInKubeSchedulersWordsWhyAPodWaits) {
  post_gpu_nodes(3);
  kube::NodeSpec tainted;
  tainted.name = "tainted";
  tainted.allocatable = {{"cpu", "96"}, {"memory", "768Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "16"}};
  tainted.taints = {{kube::PooledString("team"), kube::PooledString("blue"), kube::TaintEffect::kNoSchedule}};
  post_nodes(1, [&](std::size_t) { return tainted; });
  auto scheduler = start();
  post_pod(gpu_pod("greedy", 9));
  kube::Pod seen;
  for (int i = 0; i < 100 && seen.scheduled.status != kube::ConditionStatus::kFalse; ++i) {
    pause(Millis(50));
    seen = pod("greedy");
  }
  EXPECT_EQ(seen.scheduled.reason, "Unschedulable");
  EXPECT_EQ(seen.scheduled.message,
            "0/4 nodes are available: 1 node(s) had untolerated taint {team: blue}, 3 Insufficient nvidia.com/gpu.");
  EXPECT_TRUE(wait_event("FailedScheduling", seen.scheduled.message.str()));
}

TEST_F(LiveSchedulerTest, NeverBindsAPodWithAFieldItDoesNotEvaluate) {
  post_gpu_nodes(1);
  auto scheduler = start();
  kube::PodSpec spec = gpu_pod("claims", 1);
  spec.extra_spec_json = R"("resourceClaims":[{"name":"gpu","resourceClaimName":"claim"}])";
  post_pods({spec, gpu_pod("plain", 1)});
  ASSERT_TRUE(wait_bound(1));
  kube::Pod seen;
  for (int i = 0; i < 100 && seen.scheduled.status != kube::ConditionStatus::kFalse; ++i) {
    pause(Millis(50));
    seen = pod("claims");
  }
  EXPECT_TRUE(seen.node_name.empty());
  EXPECT_EQ(seen.scheduled.reason, "SchedulerError");
  EXPECT_NE(seen.scheduled.message.str().find("spec.resourceClaims"), std::string::npos)
      << seen.scheduled.message.str();
}

TEST_F(LiveSchedulerTest, AnswersWhyQueueNodesAndMetrics) {
  post_gpu_nodes(2);
  auto scheduler = start();
  post_pods({gpu_pod("fits", 1), gpu_pod("greedy", 16)});
  ASSERT_TRUE(wait_bound(1));
  std::string why;
  EXPECT_TRUE(wait([&] {
    why = ask(*scheduler, "/api/v1/why?name=default/greedy");
    return why.find("\"exitStatus\":5") != std::string::npos;
  })) << why;
  EXPECT_NE(why.find("\"exitStatus\":5"), std::string::npos) << why;
  EXPECT_NE(ask(*scheduler, "/api/v1/why?name=default/fits").find("\"exitStatus\":0"), std::string::npos);
  EXPECT_NE(ask(*scheduler, "/api/v1/why?name=default/nobody").find("NotFound"), std::string::npos);
  EXPECT_NE(ask(*scheduler, "/api/v1/queue").find("default/greedy"), std::string::npos);
  EXPECT_NE(ask(*scheduler, "/api/v1/nodes").find("\"idleCards\":7"), std::string::npos);
  const std::string metrics = ask(*scheduler, "/metrics");
  EXPECT_NE(metrics.find("ashlar_leader 1"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("ashlar_queue_pending_jobs"), std::string::npos);
  EXPECT_EQ(ask(*scheduler, "/readyz"), "ok\n");
}

}  // namespace
}  // namespace ashlar::live_tests
