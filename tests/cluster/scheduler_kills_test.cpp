// The program `ashlar scheduler` itself, killed between two bindings of a gang: its successor completes the gang where it was begun.
#include <fstream>

#include "cluster/scheduler_world.h"
#include "folders.h"
#include "local/fault_proxy.h"

namespace ashlar::live_tests {
namespace {

using local::Fault;
using local::FaultProxy;

class SchedulerKills : public SchedulerWorld {
 protected:
  void SetUp() override {
    SchedulerWorld::SetUp();
    if (IsSkipped()) return;
    Result<std::unique_ptr<FaultProxy>> proxy = FaultProxy::start(plane_->server());
    ASSERT_TRUE(proxy.ok()) << proxy.error().message;
    proxy_ = std::move(proxy).value();
    std::ofstream(file("kubeconfig")) << "apiVersion: v1\nkind: Config\ncurrent-context: t\nclusters:\n- {name: t, cluster: {server: \""
                                      << proxy_->url() << "\"}}\nusers:\n- {name: t, user: {token: " << plane_->scheduler_token()
                                      << "}}\ncontexts:\n- {name: t, context: {cluster: t, user: t}}\n";
    std::ofstream(file("yaml")) << "apiVersion: config.ashlar.dev/v1alpha1\nkind: SchedulerConfiguration\nlisten: off\n"
                                   "topology: {levels: [example.com/block, example.com/rack]}\nleaderElection: {namespace: ashlar}\n";
  }
  static std::string file(const std::string& name) { return plane_->folder() + "/kills." + name; }
  cluster::ChildProcess run_program() {
    Result<cluster::ChildProcess> started = cluster::ChildProcess::start(
        {ASHLAR_BINARY_DIR "/ashlar", "scheduler", "--kubeconfig", file("kubeconfig"), "--config", file("yaml")}, file("log"));
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
  std::unique_ptr<FaultProxy> proxy_;
};

TEST_F(SchedulerKills, BetweenTwoBindingsOfAGangTheSuccessorCompletesItInItsRack) {
  post_gpu_nodes(12, 4);
  cluster::ChildProcess first = run_program();
  post_pod(gpu_pod("warm", 1));  // it leads and has listed everything
  ASSERT_TRUE(wait_bound(1, "warm")) << local::tail_of(file("log"), 20);
  // Two of four bindings pass; the other two lie in the proxy when their sender dies, and are never carried out.
  const auto passed = proxy_->inject({.kind = Fault::Kind::kDelay, .method = "POST", .path = "/binding", .times = 2, .delay = Millis(1)});
  const auto lost = proxy_->inject({.kind = Fault::Kind::kDrop, .method = "POST", .path = "/binding", .times = 1000});
  post_gang("half");
  ASSERT_TRUE(wait([&] { return proxy_->hits(passed) == 2 && proxy_->hits(lost) >= 2; })) << local::tail_of(file("log"), 20);
  ASSERT_TRUE(wait_bound(2, "half"));
  first.kill();
  EXPECT_EQ(bound_count("half"), 2u) << "killed between two bindings of the gang";
  const std::set<int> begun = racks_of("half");
  proxy_->clear();
  cluster::ChildProcess second = run_program();
  ASSERT_TRUE(wait_bound(4, "half", std::chrono::seconds(40))) << local::tail_of(file("log"), 20);
  EXPECT_EQ(racks_of("half"), begun);
  expect_no_oversubscription();
  expect_no_second_target(proxy_.get());
}

TEST_F(SchedulerKills, WithABindingCarriedOutButNeverAnsweredTheSuccessorDoesNotBindAgain) {
  post_gpu_nodes(4);
  cluster::ChildProcess first = run_program();
  post_pod(gpu_pod("warm", 1));
  ASSERT_TRUE(wait_bound(1, "warm")) << local::tail_of(file("log"), 20);
  // Every answer to a binding is lost from here on.
  const auto lost = proxy_->inject({.kind = Fault::Kind::kResetAfter, .method = "POST", .path = "/binding", .times = 1000});
  std::vector<kube::PodSpec> specs;
  for (int i = 0; i < 20; ++i) specs.push_back(gpu_pod("unanswered-" + std::to_string(i), 1));
  post_pods(specs);
  ASSERT_TRUE(wait([&] { return proxy_->hits(lost) > 0; }));
  first.kill();
  proxy_->clear();
  cluster::ChildProcess second = run_program();
  ASSERT_TRUE(wait_bound(20, "unanswered", std::chrono::seconds(40))) << local::tail_of(file("log"), 20);
  expect_no_oversubscription();
  expect_no_second_target(proxy_.get());
  EXPECT_EQ(audit().taken("default/unanswered-"), 20u) << "each pod was bound once";
}

}  // namespace
}  // namespace ashlar::live_tests
