// Jobs that stop others, on a real server: pods are evicted by the server's rules, what takes their place is bound when
// they are gone and not before, and a scheduler that is killed in between stops nobody twice. No kubelet runs here: a
// pod is gone when the test removes it.
#include "cluster/scheduler_world.h"

namespace ashlar::live_tests {
namespace {

class LivePreemption : public SchedulerWorld {
 protected:
  void SetUp() override {
    SchedulerWorld::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    post("/apis/scheduling.k8s.io/v1/priorityclasses", R"({"metadata":{"name":"high"},"value":1000})");
    post("/apis/scheduling.k8s.io/v1/priorityclasses",
         R"({"metadata":{"name":"patient"},"value":1000,"preemptionPolicy":"Never"})");
  }
  void TearDown() override {
    for (const char* path :
         {"/apis/scheduling.k8s.io/v1/priorityclasses/high", "/apis/scheduling.k8s.io/v1/priorityclasses/patient",
          "/apis/policy/v1/namespaces/default/poddisruptionbudgets/kept"})
      answer_of([&](OnAnswer done) { kube::remove(*api_, path, -1, std::move(done)); });
    SchedulerWorld::TearDown();
  }
  Answer post(const std::string& path, const std::string& body) {
    return answer_of([&](OnAnswer done) {
      api_->send({.method = http::Method::kPost, .path = path, .body = body}, std::move(done));
    });
  }
  std::unique_ptr<RunningScheduler> start_stopping(const char* victim = "priority", const std::string& name = "a") {
    kube::SchedulerOptions o = options(name);
    o.leader_term.profile = [rule = std::string(victim)](const auto&) {
      Profile profile = builtin_profile("ashlar").value();
      profile.victim = rule == "lost-work" ? VictimRule::kLostWork : VictimRule::kPriority;
      return profile;
    };
    return start(std::move(o));
  }
  void post_urgent(const std::string& name, int gpus, const std::string& priority_class = "high") {
    kube::PodSpec spec = gpu_pod(name, gpus);
    spec.priority_class = priority_class;
    post_pod(spec);
  }
  bool is_leaving(const std::string& name) {
    const auto all = pods();
    const auto found = all.find(name);
    return found != all.end() && found->second.deletion_requested.value != 0;
  }
  std::size_t leaving_count() {
    std::size_t count = 0;
    for (const auto& [name, p] : pods()) count += p.deletion_requested.value != 0 ? 1 : 0;
    return count;
  }
  /// As a kubelet does when its containers are ready.
  void run(const std::string& name) {
    must([&](OnAnswer done) {
      api_->send({.method = http::Method::kPatch,
                  .path = kube::pod_path("default", name) + "/status",
                  .body = R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})",
                  .content_type = "application/strategic-merge-patch+json"},
                 std::move(done));
    });
  }
  /// As a kubelet does when its containers have ended.
  void end(const std::string& name) {
    must([&](OnAnswer done) { kube::remove(*api_, kube::pod_path("default", name), 0, std::move(done)); });
  }
  bool says(const RunningScheduler& scheduler, const std::string& name, const std::string& what) {
    return wait([&] { return ask(scheduler, "/api/v1/why?name=default/" + name).find(what) != std::string::npos; },
                std::chrono::seconds(15));
  }
  std::string body_of(const std::string& name) {
    return answer_of([&](OnAnswer done) { api_->send({.path = kube::pod_path("default", name)}, std::move(done)); })
        .body;
  }
};

TEST_F(LivePreemption, APodOfHigherPriorityTakesThePlaceOfALowerOneWhenThatIsGone) {
  post_gpu_nodes(1);
  post_pod(gpu_pod("low", 8));
  auto scheduler = start_stopping();
  ASSERT_TRUE(wait_bound(1));
  post_urgent("urgent", 4);
  ASSERT_TRUE(wait([&] { return is_leaving("low"); }));
  ASSERT_TRUE(says(*scheduler, "urgent", "a pod that was stopped for it has not left yet"));
  EXPECT_TRUE(says(*scheduler, "low", "urgent (LowerPriority: its priority is lower), and has not left"));
  EXPECT_TRUE(wait([&] { return body_of("low").find("PreemptionByScheduler") != std::string::npos; }));
  EXPECT_NE(body_of("low").find("stopped for another job (LowerPriority)"), std::string::npos);
  EXPECT_TRUE(wait_event("Preempted", "Stopped for another job (LowerPriority): it leaves node node-000"));
  EXPECT_TRUE(pod("urgent").node_name.empty());
  end("low");
  ASSERT_TRUE(wait_bound(1, "urgent"));
  EXPECT_EQ(metric(*scheduler, R"(ashlar_evictions_total{outcome="accepted"})"), 1);
  expect_no_oversubscription();
}

TEST_F(LivePreemption, OfTwoThatMayBeStoppedOneIsAndWhatIsLeftOfItsPlaceIsUsed) {
  post_gpu_nodes(2);
  post_pod(gpu_pod("low-0", 8));
  post_pod(gpu_pod("low-1", 8));
  auto scheduler = start_stopping("lost-work");
  ASSERT_TRUE(wait_bound(2));
  post_urgent("urgent", 6);
  ASSERT_TRUE(wait([&] { return leaving_count() == 1; }));
  post_urgent("small", 2);
  ASSERT_TRUE(says(*scheduler, "small", "have not left the node yet"));
  EXPECT_EQ(leaving_count(), 1u);
  end(is_leaving("low-0") ? "low-0" : "low-1");
  ASSERT_TRUE(wait([&] { return bound_count("urgent") == 1 && bound_count("small") == 1; }));
  EXPECT_EQ(pod("urgent").node_name, pod("small").node_name);
  EXPECT_EQ(leaving_count(), 0u);
  expect_no_oversubscription();
}

TEST_F(LivePreemption, AGangStopsWhatIsInItsWayAndIsBoundWhenAllOfThatIsGone) {
  post_gpu_nodes(2);
  post_pod(gpu_pod("low-0", 8));
  post_pod(gpu_pod("low-1", 8));
  auto scheduler = start_stopping();
  ASSERT_TRUE(wait_bound(2));
  std::vector<kube::PodSpec> gang;
  for (int i = 0; i < 2; ++i) {
    kube::PodSpec spec = gpu_pod("g-" + std::to_string(i), 8);
    spec.priority_class = "high";
    spec.labels = {{"ashlar.dev/gang", "g"}, {"ashlar.dev/gang-size", "2"}};
    gang.push_back(spec);
  }
  post_pods(gang);
  ASSERT_TRUE(wait([&] { return leaving_count() == 2; }));
  end("low-0");
  ASSERT_TRUE(says(*scheduler, "g-0", "a pod that was stopped for it has not left yet"));
  EXPECT_EQ(bound_count("g-"), 0u);
  end("low-1");
  ASSERT_TRUE(wait_bound(2, "g-"));
  expect_no_oversubscription();
}

TEST_F(LivePreemption, AGangGivesUpPodsBeyondItsMinimumAndRunsOn) {
  post_gpu_nodes(1);
  const auto member = [](int number) {
    kube::PodSpec spec = gpu_pod("g-" + std::to_string(number), 2);
    spec.labels = {{"ashlar.dev/gang", "g"}, {"ashlar.dev/gang-size", "2"}};
    return spec;
  };
  post_pods({member(0), member(1), member(2), member(3)});
  auto scheduler = start_stopping("lost-work");
  ASSERT_TRUE(wait_bound(4));
  post_urgent("urgent", 2);
  ASSERT_TRUE(wait([&] { return leaving_count() == 1; }));
  const std::string leaving = is_leaving("g-3") ? "g-3" : is_leaving("g-2") ? "g-2" : is_leaving("g-1") ? "g-1" : "g-0";
  ASSERT_TRUE(says(*scheduler, leaving, "urgent (LowerPriority: its priority is lower), and has not left"));
  end(leaving);
  ASSERT_TRUE(wait_bound(1, "urgent"));
  EXPECT_EQ(leaving_count(), 0u) << "one was enough";
  EXPECT_EQ(bound_count("g-"), 3u);
  post_pod(member(4));
  ASSERT_TRUE(says(*scheduler, "g-4", "GPU"));
  EXPECT_EQ(leaving_count(), 0u) << "beyond the minimum it stops nobody";
  end("urgent");
  ASSERT_TRUE(wait([&] { return bound_count("g-") == 4; }));
  expect_no_oversubscription();
}

TEST_F(LivePreemption, APodWithABudgetOfDisruptionStaysAndTheOtherWaitsAndSaysWhy) {
  post_gpu_nodes(1);
  kube::PodSpec low = gpu_pod("low", 8);
  low.labels = {{"app", "kept"}};
  post_pod(low);
  ASSERT_TRUE(
      post("/apis/policy/v1/namespaces/default/poddisruptionbudgets",
           R"({"metadata":{"name":"kept"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"kept"}}}})")
          .ok());
  auto scheduler = start_stopping();
  ASSERT_TRUE(wait_bound(1));
  run("low");  // budgets do not protect a pod that has not started
  post_urgent("urgent", 8);
  ASSERT_TRUE(says(*scheduler, "urgent", "protected by a PodDisruptionBudget at present"));
  EXPECT_FALSE(is_leaving("low"));
  EXPECT_TRUE(says(*scheduler, "low", "runs on node-000"));
  EXPECT_GE(metric(*scheduler, R"(ashlar_evictions_total{outcome="refused"})"), 1);
  // once it may be evicted, it is
  must([&](OnAnswer done) {
    kube::remove(*api_, "/apis/policy/v1/namespaces/default/poddisruptionbudgets/kept", -1, std::move(done));
  });
  ASSERT_TRUE(wait([&] { return is_leaving("low"); }, std::chrono::seconds(90)));
  end("low");
  ASSERT_TRUE(wait_bound(1, "urgent"));
}

TEST_F(LivePreemption, APodWhosePolicyIsNeverStopsNone) {
  post_gpu_nodes(1);
  post_pod(gpu_pod("low", 8));
  auto scheduler = start_stopping();
  ASSERT_TRUE(wait_bound(1));
  post_urgent("patient", 8, "patient");
  ASSERT_TRUE(says(*scheduler, "patient", "InsufficientGPU"));
  post_urgent("urgent", 8);
  ASSERT_TRUE(wait([&] { return is_leaving("low"); }));
  end("low");
  ASSERT_TRUE(wait_bound(1, "urgent"));
  EXPECT_TRUE(pod("patient").node_name.empty());
}

TEST_F(LivePreemption, ASchedulerThatComesMeanwhileWaitsForThoseThatLeaveAndStopsNoOthers) {
  post_gpu_nodes(3);
  for (int i = 0; i < 3; ++i) post_pod(gpu_pod("low-" + std::to_string(i), 8));
  auto first = start_stopping();
  ASSERT_TRUE(wait_bound(3));
  post_urgent("urgent", 8);
  ASSERT_TRUE(wait([&] { return leaving_count() == 1; }));
  std::string leaving;
  for (const auto& [name, p] : pods())
    if (p.deletion_requested.value != 0) leaving = name;
  ASSERT_TRUE(wait([&] { return body_of(leaving).find("PreemptionByScheduler") != std::string::npos; }));
  first->kill();
  auto second = start_stopping("priority", "b");
  ASSERT_TRUE(says(*second, "urgent", "have not left the node yet"));
  EXPECT_EQ(leaving_count(), 1u);
  EXPECT_EQ(pods().size(), 4u);
  end(leaving);
  ASSERT_TRUE(wait_bound(1, "urgent"));
  EXPECT_EQ(leaving_count(), 0u);
  expect_no_oversubscription();
}

TEST_F(LivePreemption, WhenTheJobForWhichTheyWereStoppedIsRemovedOthersGetThePlace) {
  post_gpu_nodes(1);
  post_pod(gpu_pod("low", 8));
  auto scheduler = start_stopping();
  ASSERT_TRUE(wait_bound(1));
  post_urgent("urgent", 8);
  ASSERT_TRUE(wait([&] { return is_leaving("low"); }));
  post_pod(gpu_pod("next", 8));
  end("urgent");
  ASSERT_TRUE(says(*scheduler, "next", "have not left the node yet"));
  end("low");
  ASSERT_TRUE(wait_bound(1, "next"));
}

}  // namespace
}  // namespace ashlar::live_tests
