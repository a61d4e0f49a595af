// Gangs of several PodGroups on a real server: a leader and its workers start together, each group within its domain,
// wait as a whole, say on every PodGroup what they wait for, and survive changes and restarts.
#include "cluster/scheduler_world.h"

namespace ashlar::live_tests {
namespace {

constexpr kube::PodGroupVersion kVersion = kube::PodGroupVersion::kV1Beta1;

class LiveGangGroups : public SchedulerWorld {
 protected:
  /// Nobody takes the finalizers off here, and the next test uses the same names.
  void TearDown() override {
    for (const char* name : {"leader", "workers"})
      if (body_of(name).find("\"uid\"") != std::string::npos) remove_group(name);
    SchedulerWorld::TearDown();
  }
  static kube::PodGroupSpec group(const std::string& name, int min_count, int rank, int size = 2) {
    return {.name = name,
            .min_count = min_count,
            .annotations = {{"ashlar.dev/gang", "x"},
                            {"ashlar.dev/gang-size", std::to_string(size)},
                            {"ashlar.dev/gang-rank", std::to_string(rank)}}};
  }
  void post_group(const kube::PodGroupSpec& spec) {
    must([&](OnAnswer done) { kube::create_pod_group(*api_, kVersion, spec, std::move(done)); });
  }
  void post_members(const std::string& name, int count, int gpus) {
    std::vector<kube::PodSpec> specs;
    for (int i = 0; i < count; ++i) {
      kube::PodSpec spec = gpu_pod(name + "-" + std::to_string(i), gpus);
      spec.group_name = name;
      specs.push_back(spec);
    }
    post_pods(specs);
  }
  void post_leader(int size = 2) {
    post_group(group("leader", 1, 0, size));
    post_members("leader", 1, 1);
  }
  /// Whole nodes of one rack.
  void post_workers(int count, int min_count) {
    kube::PodGroupSpec spec = group("workers", min_count, 1);
    spec.topology_key = "example.com/rack";
    post_group(spec);
    post_members("workers", count, 8);
  }
  void remove_pod(const std::string& name) {
    must([&](OnAnswer done) { kube::remove(*api_, kube::pod_path("default", name), 0, std::move(done)); });
  }
  std::string path_of(const std::string& group) { return kube::pod_group_path(kVersion, "default", group); }
  std::string body_of(const std::string& group) {
    return answer_of([&](OnAnswer done) { api_->send({.path = path_of(group)}, std::move(done)); }).body;
  }
  bool says(const std::string& group, const std::string& what) {
    return wait([&] { return body_of(group).find(what) != std::string::npos; }, std::chrono::seconds(15));
  }
  void must_patch(const std::string& group, const std::string& body) {
    must([&](OnAnswer done) {
      api_->send({.method = http::Method::kPatch,
                  .path = path_of(group),
                  .body = body,
                  .content_type = "application/merge-patch+json"},
                 std::move(done));
    });
  }
  void remove_group(const std::string& group) {
    must_patch(group, R"({"metadata":{"finalizers":null}})");
    must([&](OnAnswer done) { kube::remove(*api_, path_of(group), 0, std::move(done)); });
  }
  std::set<std::size_t> racks_of(const std::string& prefix) {
    std::set<std::size_t> racks;
    for (const auto& [name, p] : pods())
      if (name.starts_with(prefix) && !p.node_name.empty())
        racks.insert(static_cast<std::size_t>(std::stoi(p.node_name.str().substr(5))) / 4);
    return racks;
  }
};

TEST_F(LiveGangGroups, ALeaderAndItsWorkersStartTogetherWithinARack) {
  post_gpu_nodes(8, 4);
  auto scheduler = start();
  post_leader();
  EXPECT_TRUE(says("leader", "1 of 2 groups of gang x are there (PodGroup leader)")) << body_of("leader");
  const std::string lone = ask(*scheduler, "/api/v1/why?name=default/leader-0");
  EXPECT_NE(lone.find("MembersMissing: 1 of 2 groups of gang x are there"), std::string::npos) << lone;
  EXPECT_EQ(bound_count(), 0u);
  post_workers(3, 3);
  ASSERT_TRUE(wait_bound(4)) << pod("leader-0").scheduled.message.str();
  EXPECT_EQ(racks_of("workers").size(), 1u);
  for (const char* name : {"leader", "workers"}) {
    EXPECT_TRUE(says(name, "PodGroupInitiallyScheduled")) << body_of(name);
    EXPECT_TRUE(says(name, "\"True\"")) << body_of(name);
  }
  const std::string why = ask(*scheduler, "/api/v1/why?name=default/x");
  EXPECT_NE(why.find("\"groups\""), std::string::npos) << why;
  EXPECT_NE(why.find("\"state\":\"Bound\""), std::string::npos) << why;
  expect_no_oversubscription();
}

TEST_F(LiveGangGroups, WaitAsAWholeWhereOneGroupHasNoRoom) {
  post_gpu_nodes(8, 4);
  std::vector<kube::PodSpec> busy;
  for (const std::size_t n : {0, 1, 4, 5}) {
    kube::PodSpec spec = gpu_pod("busy-" + std::to_string(n), 8);
    spec.node_name = node_name(n);
    busy.push_back(spec);
  }
  post_pods(busy);
  auto scheduler = start();
  post_leader();
  post_workers(3, 3);
  ASSERT_TRUE(wait([&] { return pod("leader-0").scheduled.reason == "Unschedulable"; }));
  EXPECT_TRUE(says("leader", "Gang x of 4")) << body_of("leader");
  EXPECT_EQ(audit().bindings_of("default/leader-"), 0u);
  EXPECT_EQ(audit().bindings_of("default/workers-"), 0u);
  remove_pod("busy-4");
  ASSERT_TRUE(wait_bound(3, "workers"));
  ASSERT_TRUE(wait_bound(1, "leader"));
  EXPECT_EQ(racks_of("workers"), (std::set<std::size_t>{1}));
  expect_no_oversubscription();
}

TEST_F(LiveGangGroups, ARestartWhileTheyWaitAndWhileTheyRun) {
  post_gpu_nodes(8, 4);
  auto scheduler = start();
  post_leader();
  ASSERT_TRUE(says("leader", "1 of 2 groups"));
  scheduler.reset();
  post_workers(3, 3);
  scheduler = start();
  ASSERT_TRUE(wait_bound(4)) << pod("leader-0").scheduled.message.str();
  const std::set<std::size_t> rack = racks_of("workers");
  scheduler.reset();
  remove_pod("workers-1");
  kube::PodSpec next = gpu_pod("workers-9", 8);
  next.group_name = "workers";
  post_pod(next);
  scheduler = start();
  ASSERT_TRUE(wait_bound(4)) << pod("workers-9").scheduled.message.str();
  EXPECT_EQ(racks_of("workers"), rack) << "the new one is in the rack of its group";
  expect_no_oversubscription();
}

TEST_F(LiveGangGroups, AnnotationsThatDisagreeAreSaidOnEachPodGroupAndNothingIsBound) {
  post_gpu_nodes(8, 4);
  auto scheduler = start();
  post_leader(3);
  post_workers(3, 3);
  EXPECT_TRUE(says("workers", "GangHeld: the PodGroups of gang x have different values of ashlar.dev/gang-size"))
      << body_of("workers");
  EXPECT_TRUE(says("leader", "PodGroup leader has 3, PodGroup workers has 2")) << body_of("leader");
  must_patch("leader", R"({"metadata":{"annotations":{"ashlar.dev/gang-rank":"first"}}})");
  EXPECT_TRUE(says("leader", "PodGroup leader: annotation ashlar.dev/gang-rank is 'first'")) << body_of("leader");
  EXPECT_EQ(audit().bindings_of("default/"), 0u);
  must_patch("leader", R"({"metadata":{"annotations":{"ashlar.dev/gang-rank":"0","ashlar.dev/gang-size":"2"}}})");
  EXPECT_TRUE(wait_bound(4)) << pod("leader-0").scheduled.message.str();
}

TEST_F(LiveGangGroups, AGroupThatGoesAndAMinimumThatFalls) {
  post_gpu_nodes(4, 4);
  auto scheduler = start();
  post_leader();
  post_workers(3, 4);
  ASSERT_TRUE(says("leader", "PodGroup workers waits until 4 of its pods exist")) << body_of("leader");
  remove_group("workers");
  EXPECT_TRUE(says("leader", "1 of 2 groups of gang x are there")) << body_of("leader");
  kube::PodGroupSpec again = group("workers", 4, 1);
  again.topology_key = "example.com/rack";
  post_group(again);
  must_patch("workers", R"({"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}})");
  ASSERT_TRUE(wait_bound(4)) << pod("leader-0").scheduled.message.str();
  remove_group("workers");
  pause(Millis(500));
  EXPECT_EQ(bound_count(), 4u) << "what runs goes on";
  expect_no_oversubscription();
}

}  // namespace
}  // namespace ashlar::live_tests
