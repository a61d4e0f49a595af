// The program `ashlar scheduler` itself, killed between two bindings of a gang, or stopped for a bug: its successor
// completes the gang where it was begun, and leaves alone only what it would stop for again. A server that falls silent
// ends no program.
#include <signal.h>

#include <fstream>

#include "cluster/scheduler_world.h"
#include "envtest/fault_proxy.h"
#include "folders.h"
#include "http/retrying_get.h"
#include "live/lead/quarantine.h"

namespace ashlar::live_tests {
namespace {

using envtest::Fault;

class SchedulerKills : public SchedulerWorld {
 protected:
  void SetUp() override {
    SchedulerWorld::SetUp();
    if (IsSkipped()) return;
    ASSERT_NO_FATAL_FAILURE(start_proxy());
    std::ofstream(file("kubeconfig"))
        << "apiVersion: v1\nkind: Config\ncurrent-context: t\nclusters:\n- {name: t, cluster: {server: \""
        << proxy_->url() << "\"}}\nusers:\n- {name: t, user: {token: " << plane_->scheduler_token()
        << "}}\ncontexts:\n- {name: t, context: {cluster: t, user: t}}\n";
    std::ofstream(file("yaml")) << "apiVersion: config.ashlar.dev/v1alpha1\nkind: SchedulerConfiguration\nlisten: off\n"
                                   "topology: {levels: [example.com/block, example.com/rack]}\nleaderElection: "
                                   "{namespace: ashlar}\nquarantineFile: "
                                << file("quarantine") << "\nhealthProbeBindAddress: 127.0.0.1:" << probe_port_ << "\n";
    std::filesystem::remove(file("quarantine"));
  }
  void TearDown() override {
    if (plane_) plane_->api_server().signal(SIGCONT);
    SchedulerWorld::TearDown();
  }
  static std::string file(const std::string& name) { return plane_->folder() + "/kills." + name; }
  cluster::ChildProcess run_program() {
    Result<cluster::ChildProcess> started = cluster::ChildProcess::start(
        {ASHLAR_BINARY_DIR "/ashlar", "scheduler", "--kubeconfig", file("kubeconfig"), "--config", file("yaml")},
        file("log"));
    EXPECT_TRUE(started.ok()) << started.error().message;
    return started ? std::move(started).value() : cluster::ChildProcess();
  }
  /// Four members of 8 GPUs in one rack: a rack is full with them.
  void post_gang(const std::string& name) {
    std::vector<kube::PodSpec> specs;
    for (int i = 0; i < 4; ++i) {
      kube::PodSpec spec = gpu_pod(name + "-" + std::to_string(i), 8);
      spec.labels = {{"ashlar.dev/gang", name}, {"ashlar.dev/gang-size", "4"}, {"ashlar.dev/within", "rack"}};
      specs.push_back(spec);
    }
    post_pods(specs);
  }
  std::set<int> racks_of(const std::string& prefix) {
    std::set<int> racks;
    for (const auto& [name, p] : pods())
      if (name.starts_with(prefix) && !p.node_name.empty()) racks.insert(std::stoi(p.node_name.str().substr(5)) / 4);
    return racks;
  }
  const std::uint16_t probe_port_ = envtest::free_port();
};

TEST_F(SchedulerKills, BetweenTwoBindingsOfAGangTheSuccessorCompletesItInItsRack) {
  post_gpu_nodes(12, 4);
  cluster::ChildProcess first = run_program();
  post_pod(gpu_pod("warm", 1));  // it leads and has listed everything
  ASSERT_TRUE(wait_bound(1, "warm")) << envtest::tail_of(file("log"), 20);
  // Two of four bindings pass; the other two lie in the proxy when their sender dies, and are never carried out.
  const auto passed = proxy_->inject(
      {.kind = Fault::Kind::kDelay, .method = "POST", .path = "/binding", .times = 2, .delay = Millis(1)});
  const auto lost = proxy_->inject({.kind = Fault::Kind::kDrop, .method = "POST", .path = "/binding", .times = 1000});
  post_gang("half");
  ASSERT_TRUE(wait([&] { return proxy_->hits(passed) == 2 && proxy_->hits(lost) >= 2; }))
      << envtest::tail_of(file("log"), 20);
  ASSERT_TRUE(wait_bound(2, "half"));
  first.kill();
  EXPECT_EQ(bound_count("half"), 2u) << "killed between two bindings of the gang";
  const std::set<int> begun = racks_of("half");
  proxy_->clear();
  cluster::ChildProcess second = run_program();
  ASSERT_TRUE(wait_bound(4, "half", std::chrono::seconds(40))) << envtest::tail_of(file("log"), 20);
  EXPECT_EQ(racks_of("half"), begun);
  expect_no_oversubscription();
}

TEST_F(SchedulerKills, WithABindingCarriedOutButNeverAnsweredTheSuccessorDoesNotBindAgain) {
  post_gpu_nodes(4);
  cluster::ChildProcess first = run_program();
  post_pod(gpu_pod("warm", 1));
  ASSERT_TRUE(wait_bound(1, "warm")) << envtest::tail_of(file("log"), 20);
  // Every answer to a binding is lost from here on.
  const auto lost =
      proxy_->inject({.kind = Fault::Kind::kResetAfter, .method = "POST", .path = "/binding", .times = 1000});
  std::vector<kube::PodSpec> specs;
  for (int i = 0; i < 20; ++i) specs.push_back(gpu_pod("unanswered-" + std::to_string(i), 1));
  post_pods(specs);
  ASSERT_TRUE(wait([&] { return proxy_->hits(lost) > 0; }));
  first.kill();
  proxy_->clear();
  cluster::ChildProcess second = run_program();
  ASSERT_TRUE(wait_bound(20, "unanswered", std::chrono::seconds(40))) << envtest::tail_of(file("log"), 20);
  expect_no_oversubscription();
  EXPECT_EQ(audit().taken("default/unanswered-"), 20u) << "each pod was bound once";
}

TEST_F(SchedulerKills, AfterStoppingForABugTheSuccessorLeavesThatJobAloneSaysSoAndSchedulesTheRest) {
  post_gpu_nodes(8, 4);
  post_gang("fine");
  post_gang("stopped");
  post_pods({gpu_pod("alone-stopped", 1), gpu_pod("alone-fine", 1)});
  // As the handler of a broken decision leaves it, once for a gang, once for a pod by itself.
  Result<kube::Quarantine> list = kube::Quarantine::open(file("quarantine"));
  ASSERT_TRUE(list.ok()) << list.error().message;
  const auto now = pods();
  std::vector<kube::Quarantine::Entry> gang;
  for (const auto& [name, p] : now)
    if (name.starts_with("stopped")) gang.push_back({p.uid, p.ns, p.name, {}});
  ASSERT_TRUE(list->add(gang, Millis(1'795'000'000'000)).ok());
  const kube::Pod& alone = now.at("alone-stopped");
  ASSERT_TRUE(
      list->add(std::vector<kube::Quarantine::Entry>{{alone.uid, alone.ns, alone.name, {}}}, Millis(1'795'000'000'000))
          .ok());
  cluster::ChildProcess successor = run_program();
  ASSERT_TRUE(wait_bound(4, "fine")) << envtest::tail_of(file("log"), 20);
  ASSERT_TRUE(wait_bound(1, "alone-fine"));
  const std::string why =
      "deciding about it stopped the scheduler at 2026-11-18T11:06:40Z, which is a bug; recreate the pod";
  EXPECT_TRUE(wait_event("FailedScheduling", "Quarantined: " + why));
  for (const char* name : {"alone-stopped", "stopped-0", "stopped-1", "stopped-2", "stopped-3"}) {
    ASSERT_TRUE(wait([&] { return pod(name).scheduled.status == kube::ConditionStatus::kFalse; })) << name;
    EXPECT_EQ(pod(name).scheduled.reason, "SchedulerError") << name;
    EXPECT_EQ(pod(name).scheduled.message.view().find("Quarantined: "), 0u) << pod(name).scheduled.message.view();
    EXPECT_NE(pod(name).scheduled.message.view().find(why), std::string::npos) << pod(name).scheduled.message.view();
    EXPECT_EQ(audit().bindings_of("default/" + std::string(name)), 0u) << "not even tried";
  }
  must([&](OnAnswer done) { kube::remove(*api_, kube::pod_path("default", "alone-stopped"), 0, std::move(done)); });
  post_pod(gpu_pod("alone-stopped", 1));
  EXPECT_TRUE(wait_bound(1, "alone-stopped")) << "a new pod, though of the old name";
  EXPECT_EQ(bound_count("stopped"), 0u);
}

TEST_F(SchedulerKills, ASilentServerCostsTheLeaseAndNeverTheProcess) {
  post_gpu_nodes(1);
  cluster::ChildProcess program = run_program();
  post_pod(gpu_pod("before", 1));
  ASSERT_TRUE(wait_bound(1, "before")) << envtest::tail_of(file("log"), 20);
  const auto says = [&](const std::string& path, const std::string& answer) {
    const Result<http::Response> got =
        http::retrying_get("http://127.0.0.1:" + std::to_string(probe_port_), path, {.tries_max = 1});
    return got.ok() && std::to_string(got->status) + " " + got->body == answer;
  };
  plane_->api_server().signal(SIGSTOP);
  const bool is_lost = wait(
      [&] {
        EXPECT_TRUE(says("/livez", "200 ok\n"));
        return envtest::tail_of(file("log"), 5).find("is on standby") != std::string::npos;
      },
      std::chrono::seconds(20));
  EXPECT_TRUE(is_lost) << envtest::tail_of(file("log"), 20);
  EXPECT_TRUE(wait([&] { return says("/readyz", "503 caches are not synced\n"); }));
  plane_->api_server().signal(SIGCONT);
  post_pod(gpu_pod("after", 1));
  EXPECT_TRUE(wait_bound(1, "after", std::chrono::seconds(60))) << envtest::tail_of(file("log"), 20);
  EXPECT_TRUE(program.is_running());
}

}  // namespace
}  // namespace ashlar::live_tests
