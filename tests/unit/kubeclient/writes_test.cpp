// Every write to the API server: its method, path and body in full, and what becomes of its answer.
#include "kubeclient/writes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "http/server.h"
#include "kubeclient/proto/messages.h"

namespace ashlar::kube {
namespace {

/// A server that keeps "METHOD path?query body" and answers 200 with `answer`, or with the statuses that the test says,
/// one a request.
class WritesTest : public ::testing::Test {
 protected:
  WritesTest() {
    std::vector<http::Route> routes;
    for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"})
      routes.push_back({"/", [this](const http::ServerRequest& request) { return take(request); }, method});
    server_ = http::Server::start({}, std::move(routes)).value();
    api_ = Api::create({.access = {.origin = "test", .server = "http://127.0.0.1:" + std::to_string(server_->port())}})
               .value();
  }
  ~WritesTest() override { server_.reset(); }

  /// Polls until the write is answered.
  template <class Write>
  Answer answer_of(Write&& write) {
    std::optional<Answer> answer;
    write([&](Answer a) { answer = std::move(a); });
    wait([&] { return answer.has_value(); });
    return answer ? std::move(*answer) : Answer{.result = Error{Error::Kind::kInternal, "no answer at all"}};
  }
  template <class Write>
  std::pair<Answer, Lease> lease_of(Write&& write) {
    std::optional<std::pair<Answer, Lease>> answer;
    write([&](Answer a, Lease l) { answer.emplace(std::move(a), std::move(l)); });
    wait([&] { return answer.has_value(); });
    return answer ? std::move(*answer) : std::pair<Answer, Lease>();
  }
  template <class IsDone>
  void wait(IsDone&& is_done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!is_done() && std::chrono::steady_clock::now() < deadline) api_->poll(Millis(5));
    EXPECT_TRUE(is_done());
  }
  /// What was asked since the last call.
  std::vector<std::string> asked() {
    const std::lock_guard lock(lock_);
    return std::exchange(asked_, {});
  }
  std::string asked_once() {
    const std::vector<std::string> all = asked();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? "" : all.front();
  }
  void answer_with(std::vector<int> statuses, std::string body = R"({"kind":"Status","message":"no"})") {
    const std::lock_guard lock(lock_);
    statuses_ = std::move(statuses);
    answer_ = std::move(body);
  }
  Api& api() { return *api_; }

 private:
  http::ServerResponse take(const http::ServerRequest& request) {
    const std::lock_guard lock(lock_);
    asked_.push_back(request.method + " " + request.path + (request.query.empty() ? "" : "?" + request.query) + " " +
                     request.body);
    if (statuses_.empty()) return http::json(200, answer_);
    const int status = statuses_.front();
    statuses_.erase(statuses_.begin());
    return http::json(status, answer_);
  }
  std::mutex lock_;
  std::vector<std::string> asked_;
  std::vector<int> statuses_;
  std::string answer_ = "{}";
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<Api> api_;
};

constexpr Millis kNow{1'795'000'000'123};  // 2026-11-18T11:06:40.123Z

NodeSpec node_spec() {
  return {.name = "n 1",
          .labels = {{"l/rack", "r0"}, {"l/zone", "z"}},
          .annotations = {{"note", "a \"b\""}},
          .allocatable = {{"cpu", "64"}, {"nvidia.com/gpu", "8"}},
          .taints = {{PooledString("team"), PooledString("blue"), TaintEffect::kNoSchedule},
                     {PooledString("soft"), PooledString(), TaintEffect::kPreferNoSchedule},
                     {PooledString("hard"), PooledString("x"), TaintEffect::kNoExecute},
                     {PooledString("any"), PooledString(), TaintEffect::kAny}},
          .unschedulable = true};
}
const std::string kTaints =
    R"("taints":[{"key":"team","value":"blue","effect":"NoSchedule"},{"key":"soft","effect":"PreferNoSchedule"},)"
    R"({"key":"hard","value":"x","effect":"NoExecute"},{"key":"any","effect":"NoSchedule"}])";

TEST_F(WritesTest, ANodeIsPostedThenReadyThenWithoutTheServersTaint) {
  EXPECT_TRUE(answer_of([&](OnAnswer done) { post_node(api(), node_spec(), kNow, done); }).ok());
  const std::vector<std::string> all = asked();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(
      all[0],
      R"(POST /api/v1/nodes {"apiVersion":"v1","kind":"Node","metadata":{"name":"n 1","labels":{"l/rack":"r0","l/zone":"z"},)"
      R"("annotations":{"note":"a \"b\""}},"spec":{"unschedulable":true,)" +
          kTaints + "}}");
  EXPECT_EQ(
      all[1],
      R"(PATCH /api/v1/nodes/n 1/status {"status":{"capacity":{"cpu":"64","nvidia.com/gpu":"8"},"allocatable":{"cpu":"64","nvidia.com/gpu":"8"},)"
      R"("conditions":[{"type":"Ready","status":"True","reason":"KubeletReady","message":"posted by ashlar",)"
      R"("lastHeartbeatTime":"2026-11-18T11:06:40Z","lastTransitionTime":"2026-11-18T11:06:40Z"}]}})");
  EXPECT_EQ(all[2], R"(PATCH /api/v1/nodes/n 1 {"spec":{)" + kTaints + "}}");
}

TEST_F(WritesTest, AnEvictionNamesThePodAndItsUid) {
  EXPECT_TRUE(answer_of([&](OnAnswer done) { evict_pod(api(), {"team", "p 1", "u-1"}, done); }).ok());
  const auto mark = [&](OnAnswer done) {
    mark_stopped(api(), {"team", "p", "u-1"}, "for another job (Reclaimed)", kNow, done);
  };
  EXPECT_TRUE(answer_of(mark).ok());
  const std::vector<std::string> all = asked();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0], R"(POST /api/v1/namespaces/team/pods/p 1/eviction {"apiVersion":"policy/v1","kind":"Eviction",)"
                    R"("metadata":{"name":"p 1","namespace":"team"},"deleteOptions":{"preconditions":{"uid":"u-1"}}})");
  EXPECT_EQ(all[1],
            R"(PATCH /api/v1/namespaces/team/pods/p/status {"metadata":{"uid":"u-1"},)"
            R"("status":{"conditions":[{"type":"DisruptionTarget",)"
            R"x("status":"True","reason":"PreemptionByScheduler","message":"stopped for another job (Reclaimed)",)x"
            R"("lastTransitionTime":"2026-11-18T11:06:40Z"}]}})");
}

TEST_F(WritesTest, APlainNodeEndsWithoutTaints) {
  EXPECT_TRUE(answer_of([&](OnAnswer done) { post_node(api(), {.name = "n"}, kNow, done); }).ok());
  const std::vector<std::string> all = asked();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0],
            R"(POST /api/v1/nodes {"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":{"taints":[]}})");
  EXPECT_EQ(all[1].find(R"(PATCH /api/v1/nodes/n/status {"status":{"conditions":[)"), 0u) << all[1];
  EXPECT_EQ(all[2], R"(PATCH /api/v1/nodes/n {"spec":{"taints":null}})");
}

TEST_F(WritesTest, ANodesFirstFailureIsItsAnswer) {
  const std::pair<std::vector<int>, std::size_t> cases[] = {{{409}, 1}, {{201, 422}, 2}, {{201, 200, 403}, 3}};
  for (const auto& [statuses, requests] : cases) {
    answer_with(statuses);
    const Answer answer = answer_of([&](OnAnswer done) { post_node(api(), {.name = "n"}, kNow, done); });
    EXPECT_EQ(answer.status, statuses.back());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.result.error().message, "HTTP " + std::to_string(statuses.back()) + ": no");
    EXPECT_EQ(asked().size(), requests);
  }
}

TEST_F(WritesTest, PodGroupsAreGangsOrBasic) {
  const PodGroupSpec gang{.ns = "a b",
                          .name = "g",
                          .topology_key = "l/rack",
                          .priority_class = "high",
                          .min_count = 1,
                          .labels = {{"x", "y"}}};
  EXPECT_TRUE(answer_of([&](OnAnswer done) { create_pod_group(api(), PodGroupVersion::kV1Beta1, gang, done); }).ok());
  EXPECT_EQ(
      asked_once(),
      R"(POST /apis/scheduling.k8s.io/v1beta1/namespaces/a b/podgroups {"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup",)"
      R"("metadata":{"name":"g","namespace":"a b","labels":{"x":"y"}},"spec":{"schedulingPolicy":{"gang":{"minCount":1}},)"
      R"("schedulingConstraints":{"topology":[{"key":"l/rack"}]},"priorityClassName":"high"}})");
  EXPECT_TRUE(
      answer_of([&](OnAnswer done) { create_pod_group(api(), PodGroupVersion::kV1Alpha2, {.name = "b"}, done); }).ok());
  EXPECT_EQ(
      asked_once(),
      R"(POST /apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups {"apiVersion":"scheduling.k8s.io/v1alpha2","kind":"PodGroup",)"
      R"("metadata":{"name":"b","namespace":"default"},"spec":{"schedulingPolicy":{"basic":{}}}})");
}

TEST_F(WritesTest, NamespacesAndPodsAreCreated) {
  EXPECT_TRUE(answer_of([&](OnAnswer done) { create_namespace(api(), "team-a", done); }).ok());
  EXPECT_EQ(asked_once(),
            R"(POST /api/v1/namespaces {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-a"}})");
  const PodSpec spec{.ns = "ns",
                     .name = "p",
                     .scheduler_name = "ashlar",
                     .node_name = "n0",
                     .group_name = "g",
                     .priority_class = "high",
                     .labels = {{"a", "b"}},
                     .annotations = {{"c", "d"}},
                     .node_selector = {{"l/zone", "z"}},
                     .requests = {{"cpu", "1"}, {"hugepages-2Mi", "4Mi"}, {"nvidia.com/gpu", "2"}},
                     .image = "busy",
                     .extra_spec_json = R"("hostNetwork":true)"};
  EXPECT_TRUE(answer_of([&](OnAnswer done) { create_pod(api(), spec, done); }).ok());
  EXPECT_EQ(
      asked_once(),
      R"(POST /api/v1/namespaces/ns/pods {"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ns","labels":{"a":"b"},)"
      R"("annotations":{"c":"d"}},"spec":{"schedulerName":"ashlar","nodeName":"n0","priorityClassName":"high",)"
      R"("schedulingGroup":{"podGroupName":"g"},"nodeSelector":{"l/zone":"z"},"containers":[{"name":"main","image":"busy","resources":)"
      R"({"requests":{"cpu":"1","hugepages-2Mi":"4Mi","nvidia.com/gpu":"2"},"limits":{"hugepages-2Mi":"4Mi","nvidia.com/gpu":"2"}}}],)"
      R"("hostNetwork":true}})");
  EXPECT_EQ(
      pod_body({.name = "q"}),
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"q","namespace":"default"},"spec":{"containers":[{"name":"main","image":"pause"}]}})");
}

TEST_F(WritesTest, RemovalSaysHowLongToWaitOrLeavesItToTheServer) {
  const std::pair<int, const char*> cases[] = {{-1, "DELETE /api/v1/namespaces/ns/pods/p "},
                                               {0, "DELETE /api/v1/namespaces/ns/pods/p?gracePeriodSeconds=0 "},
                                               {30, "DELETE /api/v1/namespaces/ns/pods/p?gracePeriodSeconds=30 "}};
  for (const auto& [grace, expected] : cases) {
    EXPECT_TRUE(answer_of([&](OnAnswer done) { kube::remove(api(), pod_path("ns", "p"), grace, done); }).ok());
    EXPECT_EQ(asked_once(), expected);
  }
}

TEST(Paths, ArePercentEncoded) {
  EXPECT_EQ(pod_path("a/b", "c d"), "/api/v1/namespaces/a%2Fb/pods/c%20d");
  EXPECT_EQ(node_path("n/0"), "/api/v1/nodes/n%2F0");
}

// ---- bindings -------------------------------------------------------------------------------------------------------

TEST(BindingMessage, SaysInProtobufWhatTheJsonSays) {
  const Binding binding{.ns = PooledString("ns"),
                        .pod = PooledString("p"),
                        .uid = PooledString("u"),
                        .node = PooledString("n0"),
                        .annotations = {{"ashlar.dev/cards", "0,1"}, {"k", "v"}}};
  const std::string body = binding_body(binding, Encoding::kProtobuf);
  ASSERT_EQ(body.substr(0, 4), std::string("k8s\0", 4));
  pb::Unknown envelope;
  ASSERT_TRUE(envelope.ParseFromString(body.substr(4)));
  EXPECT_EQ(envelope.typemeta().apiversion(), "v1");
  EXPECT_EQ(envelope.typemeta().kind(), "Binding");
  pb::Binding message;
  ASSERT_TRUE(message.ParseFromString(envelope.raw()));
  EXPECT_EQ(message.metadata().name(), "p");
  EXPECT_EQ(message.metadata().namespace_(), "ns");
  EXPECT_EQ(message.metadata().uid(), "u");
  ASSERT_EQ(message.metadata().annotations_size(), 2);
  EXPECT_EQ(message.metadata().annotations(0).key(), "ashlar.dev/cards");
  EXPECT_EQ(message.metadata().annotations(0).value(), "0,1");
  EXPECT_EQ(message.metadata().annotations(1).key(), "k");
  EXPECT_EQ(message.metadata().annotations(1).value(), "v");
  EXPECT_EQ(message.target().kind(), "Node");
  EXPECT_EQ(message.target().apiversion(), "v1");
  EXPECT_EQ(message.target().name(), "n0");
}

TEST(BindingMessage, HasNoUidWhereNoneIsKnown) {
  const Binding binding{.ns = PooledString("ns"),
                        .pod = PooledString("p"),
                        .uid = PooledString(),
                        .node = PooledString("n0"),
                        .annotations = {}};
  pb::Unknown envelope;
  ASSERT_TRUE(envelope.ParseFromString(binding_body(binding, Encoding::kProtobuf).substr(4)));
  pb::Binding message;
  ASSERT_TRUE(message.ParseFromString(envelope.raw()));
  EXPECT_FALSE(message.metadata().has_uid());
  EXPECT_EQ(
      binding_body(binding),
      R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"p","namespace":"ns"},"target":{"apiVersion":"v1","kind":"Node","name":"n0"}})");
}

TEST_F(WritesTest, ABindingGoesToItsPod) {
  const Binding binding{.ns = PooledString("ns"),
                        .pod = PooledString("p"),
                        .uid = PooledString("u"),
                        .node = PooledString("n0"),
                        .annotations = {}};
  for (const Encoding encoding : {Encoding::kJson, Encoding::kProtobuf}) {
    EXPECT_TRUE(answer_of([&](OnAnswer done) { kube::bind(api(), binding, done, encoding); }).ok());
    EXPECT_EQ(asked_once(), "POST /api/v1/namespaces/ns/pods/p/binding?timeout=15s " + binding_body(binding, encoding));
  }
}

TEST_F(WritesTest, WhatMayNotLeaveDoesNot) {
  const auto no = [] { return false; };
  const Binding binding{.ns = PooledString("ns"),
                        .pod = PooledString("p"),
                        .uid = PooledString("u"),
                        .node = PooledString("n0"),
                        .annotations = {}};
  Pod pod;
  PodGroup group;
  pod.ns = group.ns = PooledString("ns");
  pod.name = group.name = PooledString("x");
  EXPECT_FALSE(answer_of([&](OnAnswer done) { kube::bind(api(), binding, done, Encoding::kJson, no); }).ok());
  EXPECT_FALSE(answer_of([&](OnAnswer done) { patch_pod_condition(api(), pod, {}, done, no); }).ok());
  EXPECT_FALSE(answer_of([&](OnAnswer done) {
                 patch_pod_group_condition(api(), PodGroupVersion::kV1, group, {}, done, no);
               }).ok());
  EXPECT_FALSE(answer_of([&](OnAnswer done) { create_event(api(), {}, done, no); }).ok());
  EXPECT_EQ(asked(), std::vector<std::string>());
}

// ---- conditions and events ------------------------------------------------------------------------------------------

TEST_F(WritesTest, ConditionsNameTheUidAndTheTime) {
  Pod pod;
  pod.ns = PooledString("ns");
  pod.name = PooledString("p");
  pod.uid = PooledString("u");
  const ConditionUpdate update{.is_true = false, .reason = "Unschedulable", .message = "0/1 nodes", .now = kNow};
  EXPECT_TRUE(answer_of([&](OnAnswer done) { patch_pod_condition(api(), pod, update, done); }).ok());
  EXPECT_EQ(
      asked_once(),
      R"(PATCH /api/v1/namespaces/ns/pods/p/status {"metadata":{"uid":"u"},"status":{"conditions":[{"type":"PodScheduled","status":"False",)"
      R"("reason":"Unschedulable","message":"0/1 nodes","lastTransitionTime":"2026-11-18T11:06:40Z","lastProbeTime":null}]}})");
  PodGroup group;
  group.ns = PooledString("ns");
  group.name = PooledString("g");
  group.uid = PooledString("ug");
  const ConditionUpdate done_update{.type = "", .is_true = true, .reason = "Scheduled", .message = "all", .now = kNow};
  EXPECT_TRUE(answer_of([&](OnAnswer done) {
                patch_pod_group_condition(api(), PodGroupVersion::kV1Alpha2, group, done_update, done);
              }).ok());
  EXPECT_EQ(
      asked_once(),
      R"(PATCH /apis/scheduling.k8s.io/v1alpha2/namespaces/ns/podgroups/g/status {"metadata":{"uid":"ug"},"status":{"conditions":[)"
      R"({"type":"PodGroupScheduled","status":"True","reason":"Scheduled","message":"all","lastTransitionTime":"2026-11-18T11:06:40Z"}]}})");
}

TEST_F(WritesTest, AConditionWhoseStatusStaysKeepsItsTimeAndMayNameAGeneration) {
  Pod pod;
  pod.ns = PooledString("ns");
  pod.name = PooledString("p");
  pod.uid = PooledString("u");
  const ConditionUpdate update{
      .reason = "Unschedulable", .message = "0/2 nodes", .now = kNow, .is_transition = false, .observed_generation = 3};
  EXPECT_TRUE(answer_of([&](OnAnswer done) { patch_pod_condition(api(), pod, update, done); }).ok());
  EXPECT_EQ(
      asked_once(),
      R"(PATCH /api/v1/namespaces/ns/pods/p/status {"metadata":{"uid":"u"},"status":{"conditions":[{"type":"PodScheduled","status":"False",)"
      R"("observedGeneration":3,"reason":"Unschedulable","message":"0/2 nodes","lastProbeTime":null}]}})");
}

TEST_F(WritesTest, AnotherUidIsAConflictAndOtherRefusalsAreNot) {
  struct Case {
    int status;
    const char* message;
    Error::Kind kind;
  };
  const Case cases[] = {{422, "metadata.uid: field is immutable", Error::Kind::kConflict},
                        {422, "status.conditions: Invalid value", Error::Kind::kInvalid},
                        {409, "metadata.uid differs", Error::Kind::kConflict},
                        {400, "metadata.uid: field is immutable", Error::Kind::kInvalid}};
  Pod pod;
  pod.ns = PooledString("ns");
  pod.name = PooledString("p");
  for (const Case& c : cases) {
    answer_with({c.status}, R"({"kind":"Status","message":")" + std::string(c.message) + R"("})");
    const Answer answer = answer_of([&](OnAnswer done) { patch_pod_condition(api(), pod, {}, done); });
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.result.error().kind, c.kind) << c.message;
    EXPECT_EQ(answer.result.error().message, "HTTP " + std::to_string(c.status) + ": " + c.message);
  }
}

TEST_F(WritesTest, EventsNameWhatTheyAreAboutAndAreCutToTheServersLimits) {
  const std::string long_note(1'001, 'n'), long_name(201, 'm');
  EXPECT_TRUE(answer_of([&](OnAnswer done) {
                create_event(api(),
                             {.ns = PooledString("ns"),
                              .name = PooledString("p"),
                              .uid = PooledString("u"),
                              .type = "Warning",
                              .reason = "FailedScheduling",
                              .action = "Scheduling",
                              .note = long_note,
                              .instance = "ashlar-1",
                              .now = kNow,
                              .sequence = 0x1000012},
                             done);
              }).ok());
  EXPECT_EQ(
      asked_once(),
      R"(POST /apis/events.k8s.io/v1/namespaces/ns/events {"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":)"
      R"({"name":"p.1a1ee565e7b0012","namespace":"ns"},"eventTime":"2026-11-18T11:06:40.123000Z","reportingController":"ashlar",)"
      R"("reportingInstance":"ashlar-1","action":"Scheduling","reason":"FailedScheduling","type":"Warning","note":")" +
          std::string(1'000, 'n') +
          R"(","regarding":{"kind":"Pod","apiVersion":"v1","name":"p","namespace":"ns","uid":"u"}})");
  EXPECT_TRUE(answer_of([&](OnAnswer done) {
                create_event(api(), {.kind = "Node", .name = PooledString(long_name), .now = kNow, .sequence = 1},
                             done);
              }).ok());
  EXPECT_EQ(
      asked_once(),
      R"(POST /apis/events.k8s.io/v1/namespaces/default/events {"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":")" +
          std::string(200, 'm') +
          R"(.1a1ee565e7b0001","namespace":"default"},"eventTime":"2026-11-18T11:06:40.123000Z","reportingController":"ashlar",)"
          R"("reportingInstance":"ashlar","action":"","reason":"","type":"Normal","note":"","regarding":{"kind":"Node","apiVersion":"v1","name":")" +
          long_name + R"("}})");
}

// ---- leases ---------------------------------------------------------------------------------------------------------

TEST_F(WritesTest, LeasesAreReadCreatedAndUpdatedUnderTheirVersion) {
  Lease lease;
  lease.ns = PooledString("kube-system");
  lease.name = PooledString("ashlar");
  lease.holder = "a_1";
  lease.duration_seconds = 15;
  lease.transitions = 3;
  const std::string head =
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"ashlar","namespace":"kube-system")";
  const std::string spec = R"("spec":{"holderIdentity":"a_1","leaseDurationSeconds":15,"leaseTransitions":3)";
  const std::string path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  answer_with({}, head + R"(,"resourceVersion":"78"},)" + spec + R"(,"renewTime":"2026-11-18T11:06:40.123000Z"}})");
  auto [answer, read] = lease_of([&](auto done) { get_lease(api(), "kube-system", "ashlar", done); });
  EXPECT_TRUE(answer.ok());
  EXPECT_EQ(read.resource_version, "78");
  EXPECT_EQ(read.holder, "a_1");
  EXPECT_EQ(read.renewed, kNow);
  EXPECT_EQ(asked_once(), "GET " + path + "/ashlar ");
  lease_of([&](auto done) { create_lease(api(), lease, done); });
  EXPECT_EQ(asked_once(), "POST " + path + " " + head + "}," + spec + "}}");
  lease.resource_version = "77";
  lease.acquired = Millis(1'000);
  lease.renewed = kNow;
  lease_of([&](auto done) { update_lease(api(), lease, done); });
  EXPECT_EQ(asked_once(),
            "PUT " + path + "/ashlar " + head + R"(,"resourceVersion":"77"},)" + spec +
                R"(,"acquireTime":"1970-01-01T00:00:01.000000Z","renewTime":"2026-11-18T11:06:40.123000Z"}})");
}

TEST_F(WritesTest, AClockBefore1970StillWritesTimesThatAServerReads) {
  Lease lease;
  lease.ns = PooledString("ns");
  lease.name = PooledString("l");
  lease.resource_version = "1";
  lease.acquired = Millis(-1);
  lease.renewed = Millis(-963'837);
  lease_of([&](auto done) { update_lease(api(), lease, done); });
  const std::string asked = asked_once();
  EXPECT_NE(asked.find(R"("acquireTime":"1969-12-31T23:59:59.999000Z","renewTime":"1969-12-31T23:43:56.163000Z")"),
            std::string::npos)
      << asked;
}

TEST_F(WritesTest, ALeaseThatCannotBeReadIsAnError) {
  answer_with({}, "no lease");
  const auto [unread, nothing] = lease_of([&](auto done) { get_lease(api(), "ns", "l", done); });
  EXPECT_EQ(unread.status, 200);
  EXPECT_FALSE(unread.ok());
  EXPECT_EQ(nothing.holder, "");
  answer_with({409});
  const auto [conflict, none] = lease_of([&](auto done) { update_lease(api(), {}, done); });
  ASSERT_FALSE(conflict.ok());
  EXPECT_EQ(conflict.result.error().kind, Error::Kind::kConflict);
  EXPECT_EQ(none.holder, "");
}

}  // namespace
}  // namespace ashlar::kube
