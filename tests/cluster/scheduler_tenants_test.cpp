// What one tenant, or one node that lies, can do to others, against a real kube-apiserver: invented names, and other
// devices in the annotation of a pod.
#include "cluster/scheduler_world.h"
#include "envtest/fault_proxy.h"

namespace ashlar::live_tests {
namespace {

constexpr const char* kPolicy = ASHLAR_SOURCE_DIR "/deploy/cards-policy.yaml";

class Tenants : public SchedulerWorld {
 protected:
  void TearDown() override {
    if (has_policy_) remove_policy();
    SchedulerWorld::TearDown();
  }
  /// The server takes a moment to learn of a policy, and to forget it: waits until it refuses a pod that names its
  /// node and devices, or takes it.
  bool wait_until_claims_are(bool are_taken) {
    kube::PodSpec claiming = gpu_pod("claiming", 1);
    claiming.scheduler_name = "nobody";
    claiming.node_name = "nowhere";
    claiming.annotations = {{"ashlar.dev/cards", "0-7"}};
    return wait([&] {
      const Answer answer = answer_of([&](OnAnswer done) { kube::create_pod(*api_, claiming, std::move(done)); });
      if (answer.ok())
        answer_of(
            [&](OnAnswer done) { kube::remove(*api_, kube::pod_path("default", "claiming"), 0, std::move(done)); });
      return are_taken ? answer.ok() : is_refused_as_saved(answer);
    });
  }
  void apply_policy() {
    has_policy_ = true;
    const Result<void> applied = plane_->apply({kPolicy});
    ASSERT_TRUE(applied.ok()) << applied.error().message;
    ASSERT_TRUE(wait_until_claims_are(false));
  }
  void remove_policy() {
    for (const char* kind : {"validatingadmissionpolicybindings", "validatingadmissionpolicies"})
      answer_of([&](OnAnswer done) {
        api_->send({.method = http::Method::kDelete,
                    .path = std::string("/apis/admissionregistration.k8s.io/v1/") + kind + "/ashlar-cards"},
                   std::move(done));
      });
    EXPECT_TRUE(wait_until_claims_are(true));
    has_policy_ = false;
  }
  Answer patch(const std::string& path, const std::string& body) {
    return answer_of([&](OnAnswer done) {
      api_->send(
          {.method = http::Method::kPatch, .path = path, .body = body, .content_type = "application/merge-patch+json"},
          std::move(done));
    });
  }
  static std::string devices_body(const std::string& devices) {
    return R"({"metadata":{"annotations":{"ashlar.dev/cards":")" + devices + R"("}}})";
  }
  std::string devices_of(const std::string& name) {
    const kube::Pod p = pod(name);
    const kube::PooledString* devices = p.annotations ? kube::find_label(*p.annotations, "ashlar.dev/cards") : nullptr;
    return devices == nullptr ? "" : devices->str();
  }
  static kube::PodSpec share(const std::string& name, int milli) {
    kube::PodSpec spec = gpu_pod(name, 0);
    spec.requests.emplace_back("ashlar.dev/gpu-milli", std::to_string(milli));
    return spec;
  }
  static bool is_refused(const Answer& answer) {
    const std::string words =
        "ashlar.dev/cards, ashlar.dev/gpu-grants and ashlar.dev/charged-queue are written by Ashlar alone, as "
        "system:serviceaccount:ashlar:ashlar; an Ashlar with another user name must be listed in the policy "
        "ashlar-cards";
    return !answer.ok() && answer.result.error().message.find(words) != std::string::npos;
  }
  static bool is_refused_as_saved(const Answer& answer) {
    const std::string words =
        "a new pod with spec.nodeName may not have ashlar.dev/cards, ashlar.dev/gpu-grants or "
        "ashlar.dev/charged-queue, "
        "which Ashlar writes when it binds a pod. Of a saved pod, remove spec.nodeName, so that Ashlar places it anew, "
        "or the annotations: kubectl annotate --local -f FILE -o yaml ashlar.dev/cards- ashlar.dev/gpu-grants- "
        "ashlar.dev/charged-queue-";
    return !answer.ok() && answer.result.error().message.find(words) != std::string::npos;
  }
  Answer create(const kube::PodSpec& spec) {
    return answer_of([&](OnAnswer done) { kube::create_pod(*api_, spec, std::move(done)); });
  }
  bool has_policy_ = false;
};

TEST_F(Tenants, NobodyButAshlarWritesDevicesWhereThePolicyIs) {
  post_gpu_nodes(2);
  ASSERT_NO_FATAL_FAILURE(apply_policy());
  auto scheduler = start();
  post_pod(gpu_pod("one", 2));
  ASSERT_TRUE(wait_bound(1, "one"));
  EXPECT_EQ(devices_of("one"), "0,1") << "Ashlar's own binding is taken";
  const std::string path = kube::pod_path("default", "one");
  EXPECT_TRUE(is_refused(patch(path, devices_body("7"))));
  EXPECT_TRUE(is_refused(patch(path, R"({"metadata":{"annotations":{"ashlar.dev/cards":null}}})"))) << "nor taken away";
  EXPECT_TRUE(is_refused(patch(path + "/status", devices_body("7"))));
  EXPECT_TRUE(is_refused(patch(path, R"({"metadata":{"annotations":{"ashlar.dev/gpu-grants":"0-1:1"}}})")));
  EXPECT_TRUE(is_refused(patch(path, R"({"metadata":{"annotations":{"ashlar.dev/gpu-grants":null}}})")));
  EXPECT_TRUE(is_refused(patch(path, R"({"metadata":{"annotations":{"ashlar.dev/charged-queue":"other"}}})")));
  for (const char* subresource : {"/resize", "/ephemeralcontainers"}) patch(path + subresource, devices_body("7"));
  EXPECT_EQ(devices_of("one"), "0,1");
  EXPECT_TRUE(patch(path, R"({"metadata":{"labels":{"team":"a"}}})").ok()) << "everything else may be changed";
  kube::PodSpec foreign = gpu_pod("foreign", 1);
  foreign.scheduler_name = "somebody-else";
  post_pod(foreign);
  kube::Binding binding{kube::PooledString("default"),
                        kube::PooledString("foreign"),
                        {},
                        kube::PooledString("node-001"),
                        {{"ashlar.dev/cards", "0-7"}}};
  EXPECT_TRUE(is_refused(answer_of([&](OnAnswer done) { kube::bind(*api_, binding, std::move(done)); })));
  binding.annotations.clear();
  EXPECT_TRUE(answer_of([&](OnAnswer done) { kube::bind(*api_, binding, std::move(done)); }).ok());
}

/// What a pod holds stands in the manifest that was saved of it. On a node that it names itself that would be a claim.
TEST_F(Tenants, ASavedPodIsCreatedAgainAndPlacedAnewWhereThePolicyIs) {
  post_gpu_nodes(1);
  ASSERT_NO_FATAL_FAILURE(apply_policy());
  kube::SchedulerOptions o = options();
  o.leader_term.tracker.queues = {{"red"}, {"blue"}};
  auto scheduler = start(o);
  kube::PodSpec saved = gpu_pod("saved", 2);
  saved.labels.emplace_back("ashlar.dev/queue", "red");
  saved.annotations = {
      {"ashlar.dev/cards", "6,7"}, {"ashlar.dev/charged-queue", "blue"}, {"ashlar.dev/gpu-grants", "6-7:1000"}};
  saved.node_name = node_name(0);
  EXPECT_TRUE(is_refused_as_saved(create(saved)));
  saved.node_name.clear();
  ASSERT_TRUE(create(saved).ok());
  ASSERT_TRUE(wait_bound(1, "saved"));
  const kube::Pod bound = pod("saved");
  ASSERT_TRUE(bound.annotations);
  EXPECT_EQ(*kube::find_label(*bound.annotations, "ashlar.dev/cards"), "0,1");
  EXPECT_EQ(*kube::find_label(*bound.annotations, "ashlar.dev/gpu-grants"), "0-1:1000");
  EXPECT_EQ(*kube::find_label(*bound.annotations, "ashlar.dev/charged-queue"), "red");
  saved.name = "waits";
  saved.requests = {{"nvidia.com/gpu", "8"}};
  ASSERT_TRUE(create(saved).ok());
  EXPECT_TRUE(patch(kube::pod_path("default", "waits"), devices_body("1")).ok()) << "it means nothing yet";
  EXPECT_TRUE(is_refused(patch(kube::pod_path("default", "saved"), devices_body("1"))));
}

TEST_F(Tenants, DevicesThatTheOwnerChangesAreWrittenBackAndNotGivenTwiceAfterARestart) {
  post_gpu_nodes(1);
  auto scheduler = start();
  post_pod(share("one", 600));
  ASSERT_TRUE(wait_bound(1, "one"));
  ASSERT_EQ(devices_of("one"), "0");
  ASSERT_TRUE(patch(kube::pod_path("default", "one"), devices_body("7")).ok());
  EXPECT_TRUE(wait([&] { return devices_of("one") == "0"; }));
  EXPECT_TRUE(has_logged("the GPUs of pod default/one were changed from 0 to '7'"));
  scheduler.reset();
  scheduler = start(options("b"));
  post_pod(share("two", 600));
  ASSERT_TRUE(wait_bound(1, "two"));
  EXPECT_NE(devices_of("two"), "0");
  expect_no_oversubscription();
}

TEST_F(Tenants, WhatThePodHoldsIsWrittenBackAndCountsAfterARestart) {
  post_gpu_nodes(1);
  auto scheduler = start();
  post_pod(share("one", 600));
  ASSERT_TRUE(wait_bound(1, "one"));
  const auto grants = [&] {
    const kube::Pod p = pod("one");
    const kube::PooledString* text =
        p.annotations ? kube::find_label(*p.annotations, "ashlar.dev/gpu-grants") : nullptr;
    return text == nullptr ? "" : text->str();
  };
  ASSERT_EQ(grants(), "0:600");
  const std::string path = kube::pod_path("default", "one");
  ASSERT_TRUE(patch(path, R"({"metadata":{"annotations":{"ashlar.dev/gpu-grants":"0:1"}}})").ok());
  EXPECT_TRUE(wait([&] { return grants() == "0:600"; }));
  EXPECT_TRUE(has_logged("the GPUs of pod default/one were changed from 0:600 to '0:1'"));
  scheduler.reset();
  ASSERT_TRUE(patch(path, R"({"metadata":{"annotations":{"ashlar.dev/gpu-grants":"0:1000"}}})").ok());
  scheduler = start(options("b"));
  post_pod(share("two", 400));
  ASSERT_TRUE(wait_bound(1, "two"));
  EXPECT_NE(devices_of("two"), "0")
      << "what was changed while no scheduler ran is believed, as of the older annotation";
}

/// Nobody else could: the policy forbids it to the administrator, too.
TEST_F(Tenants, GrantsThatCannotBeAreCorrectedByAshlarWhereThePolicyIs) {
  post_gpu_nodes(1);
  kube::PodSpec understated = gpu_pod("one", 1);
  understated.node_name = node_name(0);
  understated.annotations = {{"ashlar.dev/cards", "3"}, {"ashlar.dev/gpu-grants", "3:1"}};
  post_pod(understated);
  ASSERT_NO_FATAL_FAILURE(apply_policy());
  EXPECT_TRUE(is_refused(
      patch(kube::pod_path("default", "one"), R"({"metadata":{"annotations":{"ashlar.dev/gpu-grants":null}}})")));
  auto scheduler = start();
  EXPECT_TRUE(wait([&] {
    const kube::Pod p = pod("one");
    return *kube::find_label(*p.annotations, "ashlar.dev/gpu-grants") == "3:1000";
  }));
  EXPECT_TRUE(
      has_logged("annotation ashlar.dev/gpu-grants of pod default/one says less than the pod requests of each"));
  EXPECT_EQ(devices_of("one"), "3");
}

TEST_F(Tenants, ALabelChangedWhileItRunsMovesNoUsageAfterARestart) {
  post_gpu_nodes(1);
  kube::SchedulerOptions o = options();
  o.leader_term.tracker.queues = {{"red"}, {"blue"}};
  auto scheduler = start(o);
  kube::PodSpec spec = gpu_pod("one", 2);
  spec.labels.emplace_back("ashlar.dev/queue", "red");
  post_pod(spec);
  ASSERT_TRUE(wait_bound(1, "one"));
  const kube::Pod bound = pod("one");
  ASSERT_TRUE(bound.annotations);
  const kube::PooledString* charged = kube::find_label(*bound.annotations, "ashlar.dev/charged-queue");
  ASSERT_NE(charged, nullptr);
  EXPECT_EQ(*charged, "red");
  scheduler.reset();
  ASSERT_TRUE(patch(kube::pod_path("default", "one"), R"({"metadata":{"labels":{"ashlar.dev/queue":"blue"}}})").ok());
  kube::SchedulerOptions again = options("b");
  again.leader_term.tracker.queues = o.leader_term.tracker.queues;
  again.is_listening = true;
  scheduler = start(again);
  std::string queues;
  EXPECT_TRUE(wait([&] {
    queues = ask(*scheduler, "/api/v1/queue");
    return queues.find(R"("name":"red","parent":"root","usedMilliGpu":2000)") != std::string::npos;
  })) << queues;
}

TEST_F(Tenants, ADeviceThatTwoPodsClaimIsNamedAndTakesNothingNew) {
  post_gpu_nodes(1);
  for (const char* name : {"p", "q"}) {
    kube::PodSpec spec = gpu_pod(name, 1);
    spec.node_name = node_name(0);
    spec.annotations = {{"ashlar.dev/cards", "0"}};
    post_pod(spec);
  }
  kube::SchedulerOptions o = options();
  o.is_listening = true;
  auto scheduler = start(o);
  post_pods({gpu_pod("seven", 7), gpu_pod("six", 6)});
  ASSERT_TRUE(wait_bound(1, "six"));
  EXPECT_TRUE(pod("seven").node_name.empty());
  EXPECT_TRUE(has_logged("GPU 0 of node node-000 is overclaimed by default/p, default/q"));
  EXPECT_NE(ask(*scheduler, "/api/v1/nodes").find("\"closedCards\":\"0\""), std::string::npos);
  const std::string six = devices_of("six");
  EXPECT_FALSE(parse_devices(six).test(0)) << six;
}

TEST_F(Tenants, InventedResourcesAndLevelsTakeNothingFromOthers) {
  post_gpu_nodes(2);
  auto scheduler = start();
  kube::PodSpec inventor = gpu_pod("inventor", 0);
  for (int i = 0; i < 64; ++i) inventor.requests.emplace_back("example.com/invented-" + std::to_string(i), "1");
  post_pod(inventor);
  std::vector<kube::PodSpec> bogus;
  for (int i = 0; i < 16; ++i) {
    bogus.push_back(gpu_pod("bogus-" + std::to_string(i), 1));
    bogus.back().labels = {{"ashlar.dev/gang", "bogus-" + std::to_string(i)}, {"ashlar.dev/gang-size", "1"}};
    bogus.back().labels.emplace_back("ashlar.dev/within", "bogus-" + std::to_string(i));
  }
  post_pods(bogus);
  ASSERT_TRUE(wait([&] {
    return pod("inventor").scheduled.reason == "Unschedulable" && pod("bogus-15").scheduled.reason == "Unschedulable";
  }));
  EXPECT_EQ(
      pod("inventor").scheduled.message.view().find("0/2 nodes are available: 2 Insufficient example.com/invented-0, "),
      0u);
  post_nodes(1, [](std::size_t) {
    kube::NodeSpec spec;
    spec.name = "with-rdma";
    spec.labels = {{"example.com/nvlink", "a"}};
    spec.allocatable = {
        {"cpu", "96"}, {"memory", "768Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}, {"rdma/hca", "2"}};
    return spec;
  });
  kube::PodSpec honest = gpu_pod("honest", 1);
  honest.requests.emplace_back("rdma/hca", "1");
  std::vector<kube::PodSpec> specs{honest};
  for (int i = 0; i < 2; ++i) {
    specs.push_back(gpu_pod("honest-" + std::to_string(i), 1));
    specs.back().labels = {
        {"ashlar.dev/gang", "honest"}, {"ashlar.dev/gang-size", "2"}, {"ashlar.dev/within", "example.com_nvlink"}};
    specs.back().annotations = {{"ashlar.dev/within", "example.com/nvlink"}};
  }
  post_pods(specs);
  ASSERT_TRUE(wait_bound(3, "honest"));
  for (const char* name : {"honest", "honest-0", "honest-1"}) EXPECT_EQ(pod(name).node_name, "with-rdma") << name;
}

/// The first of the list, with more resources than are tracked; called as another node by its label; with GPUs of as many
/// kinds as it has. A kubelet may say all of that of its own node.
TEST_F(Tenants, ANodeThatLiesTakesNothingFromOthers) {
  post_gpu_nodes(1);
  post_nodes(1, [](std::size_t) {
    kube::NodeSpec spec;
    spec.name = "a-liar";
    spec.labels = {{"metadata.name", "node-000"}};
    std::string gpus;
    for (int i = 0; i < 40; ++i) gpus += std::to_string(i) + " memory=" + std::to_string(i + 1) + "Gi;";
    spec.annotations = {{"ashlar.dev/gpus", gpus}};
    spec.allocatable = {{"cpu", "96"}, {"memory", "768Gi"}, {"pods", "110"}};
    for (int i = 0; i < 70; ++i) spec.allocatable.emplace_back("example.com/r" + std::to_string(i), "1");
    spec.allocatable.emplace_back("nvidia.com/gpu", "40");
    return spec;
  });
  auto scheduler = start();
  std::vector<kube::PodSpec> gang{gpu_pod("g-0", 40), gpu_pod("g-1", 0)};
  for (kube::PodSpec& member : gang) {
    member.labels = {{"ashlar.dev/gang", "g"}, {"ashlar.dev/gang-size", "2"}};
    member.node_selector = {{"metadata.name", "node-000"}};  // the liar alone has that label
    member.requests.front() = {"cpu", "50"};                 // each fits alone
  }
  post_pods(gang);
  kube::PodSpec pinned = gpu_pod("pinned", 1);
  pinned.extra_spec_json =
      R"("affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)"
      R"({"matchFields":[{"key":"metadata.name","operator":"In","values":["node-000"]}]}]}}})";
  post_pods({pinned, gpu_pod("honest", 7)});
  ASSERT_TRUE(wait_bound(1, "honest"));
  ASSERT_TRUE(wait_bound(1, "pinned"));
  EXPECT_EQ(pod("pinned").node_name, "node-000");
}

/// As a webhook of one namespace that does not answer makes it: every binding there takes ten seconds.
TEST_F(Tenants, SlowBindingsInOneNamespaceHoldUpNobodyElse) {
  ASSERT_NO_FATAL_FAILURE(start_proxy());
  post_gpu_nodes(2);
  must([&](OnAnswer done) { kube::create_namespace(*api_, "slow", std::move(done)); });
  const auto slow = proxy_->inject({.kind = envtest::Fault::Kind::kDelay,
                                    .method = "POST",
                                    .path = "/namespaces/slow/pods/",
                                    .times = 1000,
                                    .delay = Millis(10'000)});
  auto scheduler = start(options_through_proxy());
  ASSERT_TRUE(wait([&] { return has_logged("caches are synced"); }));
  std::vector<kube::PodSpec> specs;
  for (int i = 0; i < 200; ++i) {
    kube::PodSpec spec = gpu_pod("slow-" + std::to_string(i), 0);
    spec.ns = "slow";
    spec.requests = {{"cpu", "1m"}};
    specs.push_back(spec);
  }
  post_pods(specs);
  ASSERT_TRUE(wait([&] { return proxy_->hits(slow) >= 8; }));
  post_pod(gpu_pod("impossible", 99));
  post_pod(gpu_pod("honest", 1));
  EXPECT_TRUE(wait_bound(1, "honest", std::chrono::seconds(6)));
  EXPECT_TRUE(wait([&] { return pod("impossible").scheduled.reason == "Unschedulable"; }, std::chrono::seconds(6)));
  EXPECT_TRUE(wait([&] { return has_logged("bindings in namespace slow"); }));
  proxy_->clear();
}

/// Gangs that choose among unlike members and cannot start are searched for a long time. They are woken whenever a pod
/// ends, and one tenant may end one without pause.
TEST_F(Tenants, GangsThatChooseAmongUnlikeMembersHoldUpNobodyElse) {
  constexpr int kGangs = 60, kMembers = 40, kHonest = 20;
  post_gpu_nodes(kMembers);
  std::vector<kube::PodSpec> specs;
  for (int full = 0; full < 3; ++full) {  // one more than the gangs can do without
    kube::PodSpec& spec = specs.emplace_back(gpu_pod("full-" + std::to_string(full), 0));
    spec.node_name = node_name(static_cast<std::size_t>(full));
    spec.requests = {{"cpu", "96"}};
  }
  kube::SchedulerOptions o = options();
  o.is_listening = true;
  auto scheduler = start(o);
  ASSERT_TRUE(wait([&] { return has_logged("caches are synced"); }));
  for (int g = 0; g < kGangs; ++g) {
    const std::string gang = "greedy-" + std::to_string(g);
    for (int m = 0; m < kMembers; ++m) {
      kube::PodSpec& spec = specs.emplace_back(gpu_pod(gang + "-" + std::to_string(m), 0));
      spec.requests = {{"cpu", std::to_string(100 + g * kMembers + m) + "m"}};
      spec.labels = {{"ashlar.dev/gang", gang}, {"ashlar.dev/gang-size", std::to_string(kMembers - 2)}};
      spec.extra_spec_json =
          R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":)"
          R"("kubernetes.io/hostname","labelSelector":{"matchLabels":{"ashlar.dev/gang":")" +
          gang + R"("}}}]}})";
    }
  }
  post_pods(specs);
  int round = 0;
  const auto churn = [&] {
    kube::PodSpec churned = gpu_pod("churned-" + std::to_string(round), 0);
    churned.node_name = node_name(static_cast<std::size_t>(3 + round % 32));
    churned.requests = {{"cpu", "1"}};
    post_pod(churned);
    must([&](OnAnswer done) { kube::remove(*api_, kube::pod_path("default", churned.name), 0, std::move(done)); });
    if (round < kHonest) post_pod(gpu_pod("honest-" + std::to_string(round), 1));
    if (round++ % 10 == 0) ask(*scheduler, "/api/v1/why?name=default/greedy-0-0");
    return round > kHonest && bound_count("honest") == kHonest;
  };
  EXPECT_TRUE(wait(churn, std::chrono::seconds(20)))
      << bound_count("honest") << " of " << kHonest << " have their place";
  EXPECT_EQ(bound_count("greedy"), 0u);
  EXPECT_FALSE(has_logged("differs from the scheduler's own"));
}

}  // namespace
}  // namespace ashlar::live_tests
