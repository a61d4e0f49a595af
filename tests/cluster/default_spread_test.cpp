// Pods that state no topology spread, on a real server: what selects them spreads them, with the rights of
// deploy/rbac.yaml.
#include <algorithm>
#include <map>

#include "cluster/scheduler_world.h"

namespace ashlar::live_tests {
namespace {

constexpr const char* kServices = "/api/v1/namespaces/default/services";
constexpr const char* kReplicaSets = "/apis/apps/v1/namespaces/default/replicasets";

class LiveSchedulerDefaultSpread : public SchedulerWorld {
 protected:
  void TearDown() override {
    for (const std::string& path : made_)
      answer_of([&](OnAnswer done) { api_->send({.method = http::Method::kDelete, .path = path}, std::move(done)); });
    SchedulerWorld::TearDown();
  }
  std::unique_ptr<RunningScheduler> start_spreading() {
    kube::SchedulerOptions o = options();
    o.leader_term.tracker.spread_defaults = kube::system_spread_defaults();
    return start(std::move(o));
  }
  std::string post(const std::string& collection, const std::string& name, const std::string& body) {
    const Answer answer = answer_of([&](OnAnswer done) {
      api_->send({.method = http::Method::kPost, .path = collection, .body = body}, std::move(done));
    });
    EXPECT_TRUE(answer.ok()) << name << " " << answer.result.error().message;
    made_.push_back(collection + "/" + name);
    return answer.body;
  }
  void post_service(const std::string& name) {
    post(kServices, name,
         R"({"apiVersion":"v1","kind":"Service","metadata":{"name":")" + name +
             R"("},"spec":{"clusterIP":"None","selector":{"app":")" + name + R"("}}})");
  }
  /// Two zones, of two nodes and of one.
  void post_zones() {
    post_nodes(3, [](std::size_t i) {
      kube::NodeSpec spec;
      spec.name = node_name(i);
      spec.labels = {{"kubernetes.io/hostname", spec.name}, {"topology.kubernetes.io/zone", i < 2 ? "a" : "b"}};
      spec.allocatable = {{"cpu", "96"}, {"memory", "768Gi"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}};
      return spec;
    });
  }
  void post_apps(const std::string& app, int count, int gpus = 0, const std::string& more_metadata = "") {
    for (int i = 0; i < count; ++i) {
      const std::string name = app + "-" + std::to_string(i);
      const std::string devices = gpus == 0 ? "" : R"(,"nvidia.com/gpu":")" + std::to_string(gpus) + "\"";
      must([&](OnAnswer done) {
        api_->send({.method = http::Method::kPost,
                    .path = "/api/v1/namespaces/default/pods",
                    .body = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                            R"(","labels":{"app":")" + app + R"("})" + more_metadata +
                            R"(},"spec":{"schedulerName":"ashlar","containers":[{"name":"main","image":"pause",)"
                            R"("resources":{"requests":{"cpu":"1")" +
                            devices + R"(},"limits":{"cpu":"1")" + devices + "}}}]}}"},
                   std::move(done));
      });
    }
  }
  std::vector<int> by_node(const std::string& app) {
    std::map<std::string, int> pods_on{{node_name(0), 0}, {node_name(1), 0}, {node_name(2), 0}};
    for (const auto& [name, pod] : pods())
      if (name.starts_with(app + "-")) ++pods_on[pod.node_name.str()];
    std::vector<int> counts;
    for (const auto& [node, count] : pods_on) counts.push_back(count);
    return counts;
  }

  std::vector<std::string> made_;
};

TEST_F(LiveSchedulerDefaultSpread, PodsOfAServiceAreSpreadAndOthersArePacked) {
  post_zones();
  auto scheduler = start_spreading();
  post_service("web");
  post_apps("lone", 3);
  ASSERT_TRUE(wait_bound(3, "lone-"));
  EXPECT_EQ(std::ranges::max(by_node("lone")), 3) << "nothing selects them: on one node";
  post_apps("web", 6);
  ASSERT_TRUE(wait_bound(6, "web-"));
  EXPECT_EQ(by_node("web"), (std::vector<int>{2, 2, 2}));
  const std::string why = ask(*scheduler, "/api/v1/why?name=default%2Fweb-0");
  EXPECT_NE(why.find("default spread (maxSkew 3) of app=web by kubernetes.io/hostname"), std::string::npos) << why;
  EXPECT_NE(why.find("default spread (maxSkew 5) of app=web by topology.kubernetes.io/zone"), std::string::npos) << why;
}

TEST_F(LiveSchedulerDefaultSpread, PodsOfAReplicaSetAreSpreadButNotThoseWithGpus) {
  post_zones();
  auto scheduler = start_spreading();
  const auto post_set = [&](const std::string& app) {
    const std::string answer = post(kReplicaSets, app,
                                    R"({"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":")" + app +
                                        R"("},"spec":{"replicas":0,"selector":{"matchLabels":{"app":")" + app +
                                        R"("}},"template":{"metadata":{"labels":{"app":")" + app +
                                        R"("}},"spec":{"containers":[{"name":"main","image":"pause"}]}}}})");
    const std::size_t at = answer.find(R"("uid":")") + 7;
    return R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":")" + app + R"(","uid":")" +
           answer.substr(at, 36) + R"(","controller":true}])";
  };
  const std::string of_web = post_set("web"), of_serve = post_set("serve");
  ASSERT_TRUE(wait([&] { return metric(*scheduler, "ashlar_watch_objects{resource=\"replicasets\"}") >= 2; }));
  post_apps("web", 6, 0, of_web);
  ASSERT_TRUE(wait_bound(6, "web-"));
  EXPECT_EQ(by_node("web"), (std::vector<int>{2, 2, 2}));
  post_apps("serve", 6, 1, of_serve);
  ASSERT_TRUE(wait_bound(6, "serve-"));
  EXPECT_EQ(std::ranges::max(by_node("serve")), 6) << "packed, so that other nodes stay whole";
}

}  // namespace
}  // namespace ashlar::live_tests
