// A policy of the cluster that denies bindings: a denied pod keeps no other from the nodes, gets a condition in the
// policy's words, and is bound when the policy goes.
#include "cluster/scheduler_world.h"
#include "live/read/pod_text.h"

namespace ashlar::live_tests {
namespace {

constexpr const char* kPolicies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
constexpr const char* kPolicyBindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

class Refusals : public SchedulerWorld {
 protected:
  Answer post(const std::string& path, const std::string& body) {
    return answer_of([&](OnAnswer done) {
      api_->send({.method = http::Method::kPost, .path = path, .body = body}, std::move(done));
    });
  }
  Answer remove(const std::string& path) {
    return answer_of(
        [&](OnAnswer done) { api_->send({.method = http::Method::kDelete, .path = path}, std::move(done)); });
  }
  /// Admission comes before the look at the pod: a binding of one that does not exist tells whether the policy is in
  /// force.
  bool is_denied(const std::string& pod) {
    const Answer answer = post("/api/v1/namespaces/default/pods/" + pod + "/binding",
                               R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":")" + pod +
                                   R"("},"target":{"kind":"Node","name":"no-node"}})");
    return answer.status == 422 || answer.status == 403;
  }
  void deny(const std::string& prefix) {
    const std::string policy =
        R"j({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy","metadata":{"name":"licences"},"spec":{)j"
        R"j("failurePolicy":"Fail","matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"operations":["CREATE"],)j"
        R"j("resources":["pods/binding"]}]},"validations":[{"message":"this pod has no licence",)j"
        R"j("expression":"!object.metadata.name.startsWith(')j" +
        prefix + R"j(')"}]}})j";
    const std::string binding =
        R"j({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicyBinding","metadata":{"name":"licences"},)j"
        R"j("spec":{"policyName":"licences","validationActions":["Deny"]}})j";
    ASSERT_TRUE(post(kPolicies, policy).ok());
    ASSERT_TRUE(post(kPolicyBindings, binding).ok());
    ASSERT_TRUE(wait([&] { return is_denied(prefix + "-probe"); }));
  }
  void allow(const std::string& prefix) {
    remove(std::string(kPolicyBindings) + "/licences");
    remove(std::string(kPolicies) + "/licences");
    ASSERT_TRUE(wait([&] { return !is_denied(prefix + "-probe"); }));
  }
  void TearDown() override {
    if (plane_) {
      remove(std::string(kPolicyBindings) + "/licences");
      remove(std::string(kPolicies) + "/licences");
    }
    SchedulerWorld::TearDown();
  }
};

TEST_F(Refusals, PodsThatAPolicyDeniesBlockNobodyAreToldWhyAndAreBoundWhenItGoes) {
  post_gpu_nodes(4);
  deny("denied");
  for (int i = 0; i < 4; ++i) post_pod(gpu_pod("denied-" + std::to_string(i), 8));
  const auto scheduler = start();
  ASSERT_TRUE(wait([&] { return pod("denied-0").scheduled.status == kube::ConditionStatus::kFalse; }));
  post_pod(gpu_pod("honest", 1));
  EXPECT_TRUE(wait_bound(1, "honest", std::chrono::seconds(5))) << "all 32 GPUs are free";
  for (int i = 0; i < 4; ++i) {
    const std::string name = "denied-" + std::to_string(i);
    ASSERT_TRUE(wait([&] { return pod(name).scheduled.status == kube::ConditionStatus::kFalse; })) << name;
    EXPECT_EQ(pod(name).scheduled.reason, kube::kSchedulerError);
    EXPECT_NE(pod(name).scheduled.message.str().find("this pod has no licence"), std::string::npos)
        << pod(name).scheduled.message.str();
  }
  EXPECT_TRUE(wait_event("FailedScheduling", "this pod has no licence"));
  std::string why;
  EXPECT_TRUE(wait([&] {
    why = ask(*scheduler, "/api/v1/why?name=default/denied-0");
    return why.find("BindFailed") != std::string::npos && why.find("this pod has no licence") != std::string::npos;
  })) << why;
  answer_of([&](OnAnswer done) { kube::remove(*api_, kube::pod_path("default", "honest"), 0, std::move(done)); });
  allow("denied");
  EXPECT_TRUE(wait_bound(4, "denied", std::chrono::seconds(60)));
  expect_no_oversubscription();
}

TEST_F(Refusals, OfAGangWithOneDeniedMemberTheBoundStayAndTheRestGivesItsPlaceBack) {
  post_gpu_nodes(1);
  deny("gang-1");
  for (int i = 0; i < 2; ++i) {
    kube::PodSpec spec = gpu_pod("gang-" + std::to_string(i), 4);
    spec.labels = {{"ashlar.dev/gang", "gang"}, {"ashlar.dev/gang-size", "2"}};
    post_pod(spec);
  }
  const auto scheduler = start();
  ASSERT_TRUE(wait([&] {
    return pod("gang-1").scheduled.message.str().find("gang gang waits: pod gang-1 could not be bound") !=
           std::string::npos;
  }));
  EXPECT_TRUE(wait_event("FailedScheduling", "this pod has no licence"));
  EXPECT_TRUE(wait_bound(1, "gang-0", std::chrono::seconds(5)));
  post_pod(gpu_pod("honest", 4));
  EXPECT_TRUE(wait_bound(1, "honest", std::chrono::seconds(5)));
  answer_of([&](OnAnswer done) { kube::remove(*api_, kube::pod_path("default", "honest"), 0, std::move(done)); });
  allow("gang-1");
  EXPECT_TRUE(wait_bound(2, "gang", std::chrono::seconds(60)));
  expect_no_oversubscription();
}

}  // namespace
}  // namespace ashlar::live_tests
