// Queues as objects, on a real server, by the program itself and with the rights of deploy/: made, changed and deleted
// while it runs, with the status that people read, and found again by a successor.
#include <fstream>

#include "cluster/scheduler_world.h"
#include "envtest/fault_proxy.h"
#include "folders.h"

namespace ashlar::live_tests {
namespace {

constexpr const char* kQueues = "/apis/scheduling.ashlar.dev/v1alpha1/queues";

class QueueObjects : public SchedulerWorld {
 protected:
  void SetUp() override {
    SchedulerWorld::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_NO_FATAL_FAILURE(start_proxy());
    const Result<void> applied = plane_->apply({ASHLAR_SOURCE_DIR "/deploy/queue-crd.yaml"});
    ASSERT_TRUE(applied.ok()) << applied.error().message;
    ASSERT_TRUE(wait([&] { return get(kQueues).ok(); }));
    std::ofstream(file("kubeconfig"))
        << "apiVersion: v1\nkind: Config\ncurrent-context: t\nclusters:\n- {name: t, cluster: {server: \""
        << proxy_->url() << "\"}}\nusers:\n- {name: t, user: {token: " << plane_->scheduler_token()
        << "}}\ncontexts:\n- {name: t, context: {cluster: t, user: t}}\n";
    std::ofstream(file("yaml"))
        << "apiVersion: config.ashlar.dev/v1alpha1\nkind: SchedulerConfiguration\nlisten: off\n"
           "leaderElection: {namespace: ashlar}\nqueues: [{name: fixed, quota: {nvidia.com/gpu: 1}}]\n";
  }
  void TearDown() override {
    if (plane_ && api_)
      for (const char* name : {"research", "vision", "fixed", "lost"})
        answer_of([&](OnAnswer done) { kube::remove(*api_, kQueues + std::string("/") + name, -1, std::move(done)); });
    SchedulerWorld::TearDown();
  }
  static std::string file(const std::string& name) { return plane_->folder() + "/queues." + name; }
  cluster::ChildProcess run_program() {
    Result<cluster::ChildProcess> started = cluster::ChildProcess::start(
        {ASHLAR_BINARY_DIR "/ashlar", "scheduler", "--kubeconfig", file("kubeconfig"), "--config", file("yaml")},
        file("log"));
    EXPECT_TRUE(started.ok()) << started.error().message;
    return started ? std::move(started).value() : cluster::ChildProcess();
  }
  Answer get(const std::string& path) {
    return answer_of([&](OnAnswer done) { api_->send({.path = path}, std::move(done)); });
  }
  Answer post_queue(const std::string& name, const std::string& spec) {
    return answer_of([&](OnAnswer done) {
      api_->send({.method = http::Method::kPost,
                  .path = kQueues,
                  .body = R"({"apiVersion":"scheduling.ashlar.dev/v1alpha1","kind":"Queue","metadata":{"name":")" +
                          name + R"("},"spec":)" + spec + "}"},
                 std::move(done));
    });
  }
  void change_queue(const std::string& name, const std::string& spec) {
    must([&](OnAnswer done) {
      api_->send({.method = http::Method::kPatch,
                  .path = kQueues + std::string("/") + name,
                  .body = R"({"spec":)" + spec + "}",
                  .content_type = "application/merge-patch+json"},
                 std::move(done));
    });
  }
  bool wait_status(const std::string& name, const std::string& part) {
    return wait([&] { return get(kQueues + std::string("/") + name).body.find(part) != std::string::npos; });
  }
  static kube::PodSpec in_queue(const std::string& name, const std::string& queue, int gpus) {
    kube::PodSpec spec = gpu_pod(name, gpus);
    spec.labels = {{"ashlar.dev/queue", queue}};
    return spec;
  }
};

TEST_F(QueueObjects, AreMadeChangedAndDeletedWhileTheProgramRuns) {
  post_gpu_nodes(1);
  cluster::ChildProcess first = run_program();
  ASSERT_TRUE(post_queue("vision", R"({"parent":"research","quota":{"nvidia.com/gpu":5}})").ok());
  post_pods({in_queue("a", "vision", 2), in_queue("b", "vision", 2), in_queue("c", "vision", 1)});
  ASSERT_TRUE(wait_status("vision", "there is no queue \\\"research\\\", its parent"))
      << envtest::tail_of(file("log"), 20);
  EXPECT_EQ(bound_count(), 0u);
  ASSERT_TRUE(post_queue("research", R"({"guarantee":{"nvidia.com/gpu":3},"quota":{"nvidia.com/gpu":"3"}})").ok());
  ASSERT_TRUE(wait_bound(2)) << envtest::tail_of(file("log"), 20);
  ASSERT_TRUE(wait_status("research", R"("used":{"cpu":)"));
  ASSERT_TRUE(wait_status("research", R"("guaranteed":{"nvidia.com/gpu":"3"})"));
  ASSERT_TRUE(wait_status("research", R"("running":2)"));
  ASSERT_TRUE(wait_status("vision", R"("waiting":1)"));
  ASSERT_TRUE(wait_status("vision", R"("reason":"Accepted")"));
  change_queue("research", R"({"quota":{"nvidia.com/gpu":8}})");
  ASSERT_TRUE(wait_bound(3));

  first.kill();
  cluster::ChildProcess second = run_program();
  post_pods({in_queue("late", "vision", 0), in_queue("more", "vision", 1)});
  ASSERT_TRUE(wait_bound(1, "late", std::chrono::seconds(40))) << envtest::tail_of(file("log"), 20);
  EXPECT_EQ(pod("more").node_name, "") << "the successor charges what its predecessor has bound";

  must([&](OnAnswer done) { kube::remove(*api_, kQueues + std::string("/vision"), -1, std::move(done)); });
  post_pod(in_queue("orphan", "vision", 0));
  ASSERT_TRUE(wait([&] { return pod("orphan").scheduled.message.view().find("QueueUnknown") != std::string::npos; }));
  EXPECT_EQ(bound_count(), 4u) << "what runs goes on";
}

TEST_F(QueueObjects, WhatIsWrongIsRefusedByTheServerOrSaidInTheStatus) {
  for (const auto& [name, spec, words] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"root", "{}", "the name of the whole tree"},
           {"own", R"({"parent":"own"})", "its own parent"},
           {"shut", R"({"hold":true,"stop":true})", "at most one of hold, drain and stop"},
           {"much", R"({"guarantee":{"cpu":5},"quota":{"cpu":4}})", "more than the quota"},
           {"word", R"({"stops":{"own":"sometimes"}})", "Unsupported value"}}) {
    const Answer answer = post_queue(name, spec);
    ASSERT_FALSE(answer.ok()) << name;
    EXPECT_NE(answer.result.error().message.find(words), std::string::npos) << answer.result.error().message;
  }
  cluster::ChildProcess program = run_program();
  ASSERT_TRUE(post_queue("fixed", "{}").ok());
  ASSERT_TRUE(post_queue("lost", R"({"quota":{"nvidia.com/gpu":"lots"}})").ok());
  EXPECT_TRUE(wait_status("fixed", "the configuration of the scheduler states a queue of this name"))
      << envtest::tail_of(file("log"), 20);
  EXPECT_TRUE(wait_status("lost", "is not a number"));
  EXPECT_TRUE(wait_status("lost", "nothing of the queue starts until it can be read"));
}

}  // namespace
}  // namespace ashlar::live_tests
