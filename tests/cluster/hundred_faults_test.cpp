// A hundred faults between the scheduler and its server, each kind several times, each proven to have hit something:
// after each of them every pod is bound, once, to a node that has room, and the audit log of the server shows no pod
// for which a second node was asked while the first might have been taken.
#include "cluster/scheduler_world.h"
#include "envtest/fault_proxy.h"

namespace ashlar::live_tests {
namespace {

using envtest::Fault;

struct FaultKind {
  const char* name;
  Fault fault;
  /// Also what brings the fault about, for requests that pods alone do not cause.
  const char* by = "pods";
};

std::vector<FaultKind> kinds() {
  using K = Fault::Kind;
  const std::string bind = "/binding";
  return {
      {"a binding is late", {.kind = K::kDelay, .method = "POST", .path = bind, .delay = Millis(300)}},
      {"a binding is lost on its way", {.kind = K::kDrop, .method = "POST", .path = bind}},
      {"a binding is carried out, its answer is lost", {.kind = K::kResetAfter, .method = "POST", .path = bind}},
      {"a binding meets 500", {.kind = K::kStatus, .method = "POST", .path = bind, .status = 500}},
      {"a binding meets 503", {.kind = K::kStatus, .method = "POST", .path = bind, .status = 503}},
      {"a binding meets 504", {.kind = K::kStatus, .method = "POST", .path = bind, .status = 504}},
      {"a binding meets 429",
       {.kind = K::kStatus, .method = "POST", .path = bind, .status = 429, .retry_after = Millis(1000)}},
      {"a binding is denied",
       {.kind = K::kStatus, .method = "POST", .path = bind, .status = 403, .message = "not today"}},
      {"a binding's answer is nonsense", {.kind = K::kGarble, .method = "POST", .path = bind}},
      {"a binding's answer is cut", {.kind = K::kTruncate, .method = "POST", .path = bind}},
      {"a watch of pods tells twice", {.kind = K::kDuplicate, .method = "GET", .path = "/pods?"}},
      {"a watch of pods tells nonsense", {.kind = K::kGarble, .method = "GET", .path = "/pods?"}},
      {"a watch of pods falls silent", {.kind = K::kSilence, .method = "GET", .path = "/pods?"}},
      {"a watch of nodes tells twice", {.kind = K::kDuplicate, .method = "GET", .path = "/nodes?"}, "node"},
      {"a watch of nodes tells nonsense", {.kind = K::kGarble, .method = "GET", .path = "/nodes?"}, "node"},
      {"the API group of PodGroups goes and comes",
       {.kind = K::kStatus, .method = "GET", .path = "/podgroups?", .status = 404}},
      {"a renewal of the lease meets 500", {.kind = K::kStatus, .path = "/leases", .status = 500}},
      {"a renewal of the lease is carried out, its answer is lost", {.kind = K::kResetAfter, .path = "/leases"}},
      {"a condition meets 500",
       {.kind = K::kStatus, .method = "PATCH", .path = "/status", .status = 500},
       "impossible pod"},
      {"a condition is lost on its way", {.kind = K::kDrop, .method = "PATCH", .path = "/status"}, "impossible pod"},
      {"an event of ours meets 500", {.kind = K::kStatus, .method = "POST", .path = "/events", .status = 500}},
  };
}

constexpr int kRounds = 6;  // 21 kinds: 126 faults

class HundredFaults : public SchedulerWorld {
 protected:
  void post_round(const std::string& name) {
    std::vector<kube::PodSpec> specs;
    for (int i = 0; i < 2; ++i) specs.push_back(gpu_pod(name + "-" + std::to_string(i), 1));
    for (int i = 0; i < 2; ++i) {
      kube::PodSpec member = gpu_pod(name + "-g" + std::to_string(i), 8);
      member.labels = {{"ashlar.dev/gang", name}, {"ashlar.dev/gang-size", "2"}, {"ashlar.dev/within", "rack"}};
      specs.push_back(member);
    }
    post_pods(specs);
  }
  void cause(const std::string& by, const std::string& name, int round) {
    if (by == "impossible pod") post_pod(gpu_pod(name + "-impossible", 64));
    if (by == "node") {
      kube::NodeSpec spec;
      spec.name = name + "-node";
      spec.labels = {{"round", std::to_string(round)}};
      spec.allocatable = {{"cpu", "1"}, {"memory", "1Gi"}, {"pods", "1"}};
      post_nodes(1, [&](std::size_t) { return spec; });
    }
  }
  /// Of all pods so far each was bound once, and a second node was asked for none.
  void expect_bound_once(std::size_t pods) {
    wait([&] { return audit().count(201) >= pods; }, std::chrono::seconds(5));  // an answer is logged after it was sent
    const BindAudit seen = audit();
    EXPECT_EQ(seen.count(201), pods);
    EXPECT_EQ(seen.second_targets(kSchedulerUser), std::vector<std::string>{});
  }
  static int rack_of(const kube::Pod& pod) { return std::stoi(pod.node_name.str().substr(5)) / 4; }
  void remove_pods() {
    answer_of([&](OnAnswer done) {
      api_->send({.method = http::Method::kDelete, .path = "/api/v1/namespaces/default/pods?gracePeriodSeconds=0"},
                 std::move(done));
    });
  }
};

TEST_F(HundredFaults, EveryPodIsBoundOnceAfterEachOfThem) {
  ASSERT_NO_FATAL_FAILURE(start_proxy());
  post_gpu_nodes(8, 4);
  kube::SchedulerOptions o = options_through_proxy();
  o.watch_silence_max = Millis(2'000);
  auto scheduler = start(o);
  ASSERT_TRUE(wait([&] { return has_logged("caches are synced"); }));
  std::size_t faults = 0;
  const std::vector<FaultKind> all = kinds();
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::string name = "f" + std::to_string(round) + "-" + std::to_string(k);
      SCOPED_TRACE(name + ": " + all[k].name);
      const envtest::FaultProxy::FaultId id = proxy_->inject(all[k].fault);
      post_round(name);
      cause(all[k].by, name, round);
      ASSERT_TRUE(wait([&] { return proxy_->hits(id) == all[k].fault.times; }, std::chrono::seconds(20)))
          << "the fault hit nothing";
      ASSERT_TRUE(wait_bound(4, name + "-", std::chrono::seconds(40))) << bound_count(name + "-") << " of 4 bound";
      const auto now = pods();
      EXPECT_EQ(rack_of(now.at(name + "-g0")), rack_of(now.at(name + "-g1")));
      expect_no_oversubscription();
      expect_bound_once(++faults * 4);
      ASSERT_FALSE(HasFailure());
      remove_pods();
    }
  }
  EXPECT_GE(faults, 100u);
  expect_bound_once(faults * 4);
}

}  // namespace
}  // namespace ashlar::live_tests
