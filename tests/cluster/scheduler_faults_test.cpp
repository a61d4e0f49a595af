// The live scheduler when things break: restarts, killed leaders, a killed API server, other binders, lost nodes,
// bursts.
#include <signal.h>

#include <algorithm>
#include <cstdlib>

#include "cluster/scheduler_world.h"
#include "envtest/fault_proxy.h"

namespace ashlar::live_tests {
namespace {

using LiveSchedulerFaults = SchedulerWorld;

std::vector<kube::PodSpec> gang(const std::string& name, int size, int gpus, Pairs more = {}) {
  std::vector<kube::PodSpec> specs;
  for (int i = 0; i < size; ++i) {
    kube::PodSpec spec;
    spec.name = name + "-" + std::to_string(i);
    spec.scheduler_name = "ashlar";
    spec.requests = {{"cpu", "1"}, {"nvidia.com/gpu", std::to_string(gpus)}};
    spec.labels = {{"ashlar.dev/gang", name}, {"ashlar.dev/gang-size", std::to_string(size)}};
    spec.labels.insert(spec.labels.end(), more.begin(), more.end());
    specs.push_back(spec);
  }
  return specs;
}

/// Which pods have a node, seen by a watch of our own.
class BindWatch {
 public:
  explicit BindWatch(kube::Api& api)
      : pods_(api, {}, [this](kube::Change<kube::Pod>&& change) {
          if (change.kind == kube::Change<kube::Pod>::Kind::kSynced ||
              change.kind == kube::Change<kube::Pod>::Kind::kDeleted)
            return;
          if (!change.object.node_name.empty()) bound_.insert(change.object.uid.str());
        }) {
    pods_.start();
  }
  std::size_t bound() const { return bound_.size(); }

 private:
  std::set<std::string> bound_;
  kube::Reflector<kube::Pod> pods_;
};

TEST_F(LiveSchedulerFaults, AGangInPiecesHoldsTheRestInItsRackAndSaysSo) {
  post_gpu_nodes(8, 4);
  post_pods(gang("half", 4, 8, {{"ashlar.dev/within", "rack"}}));
  // Two of four are bound, and somebody else has taken the last nodes of their rack; the other rack is free.
  for (int i = 0; i < 2; ++i) {
    const kube::Pod p = pod("half-" + std::to_string(i));
    must([&](OnAnswer done) {
      kube::bind(*api_, {p.ns, p.name, p.uid, kube::PooledString(node_name(static_cast<std::size_t>(i))), {}},
                 std::move(done));
    });
  }
  for (int i = 2; i < 4; ++i) {
    kube::PodSpec filler = gpu_pod("filler-" + std::to_string(i), 8);
    filler.node_name = node_name(static_cast<std::size_t>(i));
    post_pod(filler);
  }
  auto scheduler = start();
  const std::string words = "2 members are bound and stay bound, 2 must be placed in the same domain";
  EXPECT_TRUE(wait([&] { return pod("half-2").scheduled.message.str().find(words) != std::string::npos; }))
      << pod("half-2").scheduled.message.str();
  EXPECT_TRUE(pod("half-2").node_name.empty());
  const auto fillers = pods();
  for (const auto& [name, p] : fillers)
    if (name.starts_with("filler"))
      answer_of([&, path = "/api/v1/namespaces/default/pods/" + name + "?gracePeriodSeconds=0"](OnAnswer done) {
        api_->send({.method = http::Method::kDelete, .path = path}, std::move(done));
      });
  ASSERT_TRUE(wait_bound(4, "half"));
  for (const auto& [name, p] : pods()) EXPECT_LE(p.node_name.str(), "node-003") << name;
}

TEST_F(LiveSchedulerFaults, ABindingThatAProxyAnswersInTheServersPlaceIsFoundAndDoneAgain) {
  post_gpu_nodes(1);
  ASSERT_NO_FATAL_FAILURE(start_proxy());
  kube::SchedulerOptions o = options_through_proxy();
  o.leader_term.binder.unseen_max = Millis(2'000);
  const auto pretence = proxy_->inject(
      {.kind = envtest::Fault::Kind::kStatus, .method = "POST", .path = "/binding", .times = 1, .status = 201});
  auto scheduler = start(std::move(o));
  post_pod(gpu_pod("p", 1));
  ASSERT_TRUE(wait_bound(1));
  EXPECT_EQ(proxy_->hits(pretence), 1u);
  EXPECT_EQ(metric(*scheduler, "ashlar_binds_undone_total"), 1);
  EXPECT_TRUE(
      has_logged("pod default/p is not bound and is scheduled again: the binding to node node-000 was answered "
                 "with success, but 2 s later the pod has no node"));
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerFaults, DevicesOfSharesAreReadBackAfterARestart) {
  post_gpu_nodes(1);
  const auto share = [&](const std::string& name) {
    kube::PodSpec spec = gpu_pod(name, 0);
    spec.requests.emplace_back("ashlar.dev/gpu-milli", "600");
    return spec;
  };
  auto scheduler = start();
  for (int i = 0; i < 4; ++i) post_pod(share("s" + std::to_string(i)));
  ASSERT_TRUE(wait_bound(4));
  scheduler.reset();
  scheduler = start();
  for (int i = 4; i < 9; ++i) post_pod(share("s" + std::to_string(i)));
  ASSERT_TRUE(wait_bound(8));
  EXPECT_TRUE(wait([&] {
    const auto now = pods();
    return std::any_of(now.begin(), now.end(),
                       [](const auto& one) { return one.second.scheduled.reason == "Unschedulable"; });
  }));
  EXPECT_EQ(bound_count(), 8u) << "600 thousandths each: eight cards hold eight of nine";
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerFaults, AStandbyTakesOverFromAKilledLeaderWithoutBindingTwice) {
  post_gpu_nodes(64);
  BindWatch watch(*api_);
  auto first = start(options("first"));
  ASSERT_TRUE(wait([&] { return has_logged("first is the leader"); }));
  auto second = start(options("second"));
  std::vector<kube::PodSpec> specs;
  for (int i = 0; i < 500; ++i) specs.push_back(gpu_pod("p-" + std::to_string(i), 1));
  std::size_t answered = 0;
  for (const kube::PodSpec& spec : specs) kube::create_pod(*api_, spec, [&](const Answer&) { ++answered; });
  ASSERT_TRUE(wait([&] { return watch.bound() >= 100; }));
  first->kill();
  const auto killed = std::chrono::steady_clock::now();
  EXPECT_TRUE(wait([&] { return has_logged("second is the leader"); }, std::chrono::seconds(20)));
  EXPECT_TRUE(wait([&] { return watch.bound() == 500; }, std::chrono::seconds(30)));
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - killed);
  EXPECT_LE(took.count(), 15'000);
  EXPECT_EQ(answered, 500u);
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerFaults, AStandbyTakesOverAtOnceWhenTheLeaderStopsInOrder) {
  post_gpu_nodes(1);
  auto first = start(options("first"));
  ASSERT_TRUE(wait([&] { return has_logged("first is the leader"); }));
  auto second = start(options("second"));
  ASSERT_TRUE(wait([&] { return has_logged("second: caches are synced"); }));
  first->stop();
  EXPECT_TRUE(wait([&] { return has_logged("second is the leader"); }, std::chrono::seconds(4)));
  post_pod(gpu_pod("after", 1));
  EXPECT_TRUE(wait_bound(1));
}

TEST_F(LiveSchedulerFaults, AServerKilledUnderBindingsInFlightIsSurvived) {
  post_gpu_nodes(32);
  ASSERT_NO_FATAL_FAILURE(start_proxy());
  kube::SchedulerOptions o = options_through_proxy();
  // The bindings lie in the proxy until the server can finish nothing any more: it dies with some of them in its hands.
  const auto held = proxy_->inject(
      {.kind = envtest::Fault::Kind::kDelay, .method = "POST", .path = "/binding", .times = 40, .delay = Millis(1000)});
  auto scheduler = start(o);
  std::vector<kube::PodSpec> specs;
  for (int i = 0; i < 40; ++i) specs.push_back(gpu_pod("before-" + std::to_string(i), 1));
  post_pods(specs);
  ASSERT_TRUE(wait([&] { return proxy_->hits(held) > 0; }));
  plane_->etcd().signal(SIGSTOP);
  const bool are_there = wait([&] { return audit().unanswered("default/before-") > 0; });
  plane_->kill_api_server();
  plane_->etcd().signal(SIGCONT);
  ASSERT_TRUE(are_there);
  const std::size_t unanswered = audit().unanswered("default/before-");
  EXPECT_GT(unanswered, 0u) << "bindings were in flight";
  ASSERT_TRUE(plane_->start_api_server().ok());
  EXPECT_TRUE(wait_bound(40, "before", std::chrono::seconds(40)));
  EXPECT_LE(audit().taken("default/before-"), 40u);
  EXPECT_GE(audit().taken("default/before-") + unanswered, 40u)
      << "who was not told of its binding may have been bound by it";
  for (auto& spec : specs) spec.name = "after" + spec.name;
  post_pods(specs);
  EXPECT_TRUE(wait_bound(40, "after", std::chrono::seconds(40)));
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerFaults, ALeaderThatLostItsLeaseStartsAnewWhenTheServerIsBack) {
  post_gpu_nodes(4);
  kube::SchedulerOptions o = options();
  o.leader.lease_duration = Millis(3000);
  o.leader.renew_deadline = Millis(1500);
  o.leader.retry_period = Millis(300);
  auto scheduler = start(o);
  post_pod(gpu_pod("before", 8));
  ASSERT_TRUE(wait_bound(1));
  plane_->kill_api_server();
  EXPECT_TRUE(wait([&] { return has_logged("no longer the leader"); }, std::chrono::seconds(10)));
  ASSERT_TRUE(plane_->start_api_server().ok());
  post_pods({gpu_pod("after-1", 8), gpu_pod("after-2", 8), gpu_pod("after-3", 8), gpu_pod("after-4", 8)});
  EXPECT_TRUE(wait_bound(3, "after", std::chrono::seconds(30)));
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerFaults, HistoryThatTheServerForgotIsListedAgain) {
  post_gpu_nodes(4);
  ASSERT_NO_FATAL_FAILURE(start_proxy());
  auto scheduler = start(options_through_proxy());
  post_pod(gpu_pod("before", 1));
  ASSERT_TRUE(wait_bound(1));
  const std::int64_t lists = metric(*scheduler, "ashlar_watch_relists_total{resource=\"pods\"}");
  // The next watch of pods is answered that its place in history is gone; the server's own history is gone too.
  const auto gone =
      proxy_->inject({.kind = envtest::Fault::Kind::kStatus, .method = "GET", .path = "/pods?watch=1", .status = 410});
  plane_->kill_api_server();
  ASSERT_TRUE(plane_->start_api_server().ok());
  post_pods({gpu_pod("during", 1)});
  ASSERT_TRUE(plane_->compact_history().ok());
  plane_->kill_api_server();  // its watch cache remembers more than etcd
  ASSERT_TRUE(plane_->start_api_server().ok());
  post_pod(gpu_pod("after", 1));
  EXPECT_TRUE(wait_bound(3, "", std::chrono::seconds(40)));
  EXPECT_EQ(proxy_->hits(gone), 1u);
  EXPECT_GE(metric(*scheduler, "ashlar_watch_expired_total{resource=\"pods\"}"), 1);
  EXPECT_GT(metric(*scheduler, "ashlar_watch_relists_total{resource=\"pods\"}"), lists);
}

TEST_F(LiveSchedulerFaults, RacesWithASecondBinderEndWithEveryPodBoundOnce) {
  post_gpu_nodes(32);
  BindWatch watch(*api_);
  ASSERT_NO_FATAL_FAILURE(start_proxy());
  kube::SchedulerOptions o = options_through_proxy();
  // Pods called race-1...: there the thief wins, however the machine shares its time; the others are a race.
  proxy_->inject({.kind = envtest::Fault::Kind::kDelay,
                  .method = "POST",
                  .path = "/pods/race-1",
                  .times = 1000,
                  .delay = Millis(500)});
  auto scheduler = start(o);
  ASSERT_TRUE(wait([&] { return has_logged("caches are synced"); }));
  std::size_t answered = 0, stolen = 0;
  const std::size_t count = 120;
  for (std::size_t i = 0; i < count; ++i) {
    kube::create_pod(*api_, gpu_pod("race-" + std::to_string(i), 1), [&, i](const Answer&) {
      ++answered;
      if (i % 2 == 0) return;
      // The thief binds half of them at the same moment, at most four to each of the last nodes, which the scheduler
      // fills last.
      kube::bind(*api_,
                 {"default",
                  kube::PooledString("race-" + std::to_string(i)),
                  {},
                  kube::PooledString(node_name(16 + i / 2 % 16)),
                  {}},
                 [&](const Answer& a) { stolen += a.ok() ? 1 : 0; });
    });
  }
  EXPECT_TRUE(wait([&] { return watch.bound() == count; }));
  EXPECT_GT(stolen, 0u) << "the thief never won";
  EXPECT_GT(audit().count(409), 0u) << "nobody ever lost a race";
  // The books agree with the server node by node, over-full ones too: each pod takes one core.
  const auto books_agree = [&] {
    std::map<std::string, std::int64_t> used;
    for (const auto& [name, p] : pods()) used[p.node_name.str()] += 1;
    const std::string nodes = ask(*scheduler, "/api/v1/nodes");
    for (std::size_t i = 0; i < 32; ++i) {
      const std::size_t at = nodes.find("\"freeMilliCores\":", nodes.find("\"name\":\"" + node_name(i) + "\""));
      if (at == std::string::npos || std::stoll(nodes.substr(at + 17)) != 96'000 - 1000 * used[node_name(i)])
        return false;
    }
    return true;
  };
  EXPECT_TRUE(wait(books_agree)) << ask(*scheduler, "/api/v1/nodes");
}

TEST_F(LiveSchedulerFaults, ANodeDeletedUnderAPodIsAccountedAndAGangGoesOnBesideTheSurvivors) {
  post_gpu_nodes(8, 4);
  auto scheduler = start();
  post_pods(gang("g", 2, 8, {{"ashlar.dev/within", "rack"}}));
  ASSERT_TRUE(wait_bound(2, "g"));
  const std::string lost = pod("g-1").node_name.str(), kept = pod("g-0").node_name.str();
  must([&](OnAnswer done) { kube::remove(*api_, kube::node_path(lost), -1, std::move(done)); });
  must([&](OnAnswer done) { kube::remove(*api_, kube::pod_path("default", "g-1"), 0, std::move(done)); });
  std::vector<kube::PodSpec> fresh = gang("g", 3, 8, {{"ashlar.dev/within", "rack"}});
  for (kube::PodSpec& spec : fresh) {
    for (auto& [key, value] : spec.labels)
      if (key == "ashlar.dev/gang-size") value = "2";
  }
  post_pod(fresh[2]);
  ASSERT_TRUE(wait_bound(2, "g"));
  const std::string now = pod("g-2").node_name.str();
  EXPECT_EQ((std::stoi(now.substr(5))) / 4, std::stoi(kept.substr(5)) / 4);
  const std::string books = ask(*scheduler, "/api/v1/nodes");
  EXPECT_EQ(books.find("\"name\":\"" + lost + "\""), std::string::npos);
  const auto idle_on = [&](const std::string& node) {
    const std::string nodes = ask(*scheduler, "/api/v1/nodes");
    const std::size_t at = nodes.find("\"idleCards\":", nodes.find("\"name\":\"" + node + "\""));
    return at == std::string::npos ? -1 : std::stoi(nodes.substr(at + 12));
  };
  EXPECT_EQ(idle_on(kept), 0);
  EXPECT_EQ(idle_on(now), 0);
  // The node comes back under its name: what was lost with it is not there any more.
  post_nodes(1, [&](std::size_t) {
    kube::NodeSpec spec;
    spec.name = lost;
    spec.allocatable = {{"cpu", "96"}, {"memory", "768Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}};
    return spec;
  });
  EXPECT_TRUE(wait([&] { return idle_on(lost) == 8; })) << idle_on(lost);
}

TEST_F(LiveSchedulerFaults, ABurstOfPodsIsBoundWithoutOversubscription) {
  const std::size_t count = 5000;
  post_gpu_nodes(count / 8 + 1);
  BindWatch watch(*api_);
  auto scheduler = start();
  ASSERT_TRUE(wait([&] { return has_logged("caches are synced"); }));
  std::size_t answered = 0;
  for (std::size_t i = 0; i < count; ++i)
    kube::create_pod(*api_, gpu_pod("burst-" + std::to_string(i), 1), [&](const Answer&) { ++answered; });
  EXPECT_TRUE(wait([&] { return watch.bound() == count; }, std::chrono::seconds(120)))
      << watch.bound() << " bound, " << answered << " created";
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerFaults, AnUrgentGangPassesALongQueue) {
  post_gpu_nodes(200);
  must([&](OnAnswer done) {
    api_->send(
        {.method = http::Method::kPost,
         .path = "/apis/scheduling.k8s.io/v1/priorityclasses",
         .body =
             R"({"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"urgent"},"value":1000})"},
        [done](const Answer& a) { done(a.ok() || a.status == 409 ? Answer{} : a); });
  });
  std::vector<kube::PodSpec> specs;
  for (int i = 0; i < 1000; ++i) specs.push_back(gpu_pod("many-" + std::to_string(i), 1));
  post_pods(specs);
  BindWatch watch(*api_);
  auto scheduler = start();
  ASSERT_TRUE(wait([&] { return watch.bound() >= 150; }));
  std::vector<kube::PodSpec> urgent = gang("urgent", 16, 8);
  for (kube::PodSpec& spec : urgent) spec.priority_class = "urgent";
  post_pods(urgent);
  const std::size_t bound_then = watch.bound();
  ASSERT_TRUE(wait_bound(16, "urgent"));
  ASSERT_TRUE(wait_bound(1000, "many-", std::chrono::seconds(60)));  // pods of another test may still be going
  // In the order in which the server received the bindings: what was decided before the gang came may go first, the
  // rest of the queue may not.
  const std::size_t overtaken = audit().bound_after("default/urgent-", "default/many-");
  EXPECT_GT(overtaken, (1000 - bound_then) / 2)
      << "of " << 1000 - bound_then << " that waited when the gang was created";
  expect_no_oversubscription();
}

TEST_F(LiveSchedulerFaults, KubeSchedulerBesideItOnTheSameNodes) {
  const Result<std::string> binary = ControlPlane::find_binary("kube-scheduler");
  if (!binary) GTEST_SKIP() << "skipped: " << binary.error().message;
  post_gpu_nodes(8);
  Result<cluster::ChildProcess*> other = plane_->run(
      "kube-scheduler", {"--kubeconfig=" + plane_->kubeconfig(), "--leader-elect=false", "--secure-port=0"});
  ASSERT_TRUE(other.ok()) << other.error().message;
  auto scheduler = start();
  std::vector<kube::PodSpec> theirs, ours;
  for (int i = 0; i < 40; ++i) {
    theirs.push_back(gpu_pod("theirs-" + std::to_string(i), 1));
    theirs.back().scheduler_name = "default-scheduler";
    ours.push_back(gpu_pod("ours-" + std::to_string(i), 1));
  }
  post_pods(theirs);
  ASSERT_TRUE(wait_bound(40, "theirs", std::chrono::seconds(60))) << bound_count("theirs");
  // 24 of 64 GPUs are left: who took the foreign pods for nothing would bind all 40.
  post_pods(ours);
  EXPECT_TRUE(wait_bound(24, "ours"));
  EXPECT_TRUE(wait([&] {
    std::size_t refused = 0;
    for (const auto& [name, p] : pods())
      refused += name.starts_with("ours") && p.scheduled.status == kube::ConditionStatus::kFalse ? 1 : 0;
    return refused == 16;
  }));
  EXPECT_EQ(bound_count("ours"), 24u);
  expect_no_oversubscription();
  for (int i = 0; i < 16; ++i)
    must([&](OnAnswer done) {
      kube::remove(*api_, kube::pod_path("default", "theirs-" + std::to_string(i)), 0, std::move(done));
    });
  EXPECT_TRUE(wait_bound(40, "ours"));
  expect_no_oversubscription();
  (*other)->stop();
}

}  // namespace
}  // namespace ashlar::live_tests
