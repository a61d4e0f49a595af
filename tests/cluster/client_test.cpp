// The client against a real kube-apiserver and etcd: writes, both encodings of the watch, conflicts, lost history, a
// killed server. It is the service account of deploy/; what only an administrator may do is set-up, and goes through a
// client of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster/deployed.h"
#include "cluster/fixture/control_plane.h"
#include "kubeclient/reflector.h"
#include "kubeclient/writes.h"

namespace ashlar::kube {
namespace {

using cluster::ControlPlane;
using std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(60);

/// What a reflector reported, replayed into a map, with the count of each kind of change.
template <class T>
struct Mirror {
  using Kind = typename Change<T>::Kind;
  std::map<std::string, T> objects;
  int added = 0, modified = 0, deleted = 0, synced = 0;
  std::string wrong;  ///< the first change that contradicts the ones before it

  void take(Change<T>&& change) {
    const std::string key = change.object.ns.str() + "/" + change.object.name.str();
    const bool is_known = objects.contains(key);
    switch (change.kind) {
      case Kind::kAdded:
        ++added;
        if (is_known) wrong = "added twice: " + key;
        objects[key] = std::move(change.object);
        break;
      case Kind::kModified:
        ++modified;
        if (!is_known) wrong = "modified, never added: " + key;
        objects[key] = std::move(change.object);
        break;
      case Kind::kDeleted:
        ++deleted;
        if (!is_known) wrong = "deleted, never added: " + key;
        objects.erase(key);
        break;
      case Kind::kSynced:
        ++synced;
        break;
    }
  }
  Reflector<T> follow(Api& api, ReflectorOptions options = {}) {
    return Reflector<T>(api, std::move(options), [this](Change<T>&& change) { take(std::move(change)); });
  }
};

class ClientOnCluster : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    Result<std::unique_ptr<ControlPlane>> plane = cluster::start_deployed();
    if (plane)
      plane_ = std::move(plane).value();
    else
      why_ = plane.error().message;
    absent_ = !plane && plane.error().kind == Error::Kind::kNotFound;
  }
  static void TearDownTestSuite() { plane_.reset(); }
  void SetUp() override {
    if (absent_) GTEST_SKIP() << "skipped, no control plane: " << why_;
    ASSERT_TRUE(plane_) << why_;
    Result<std::unique_ptr<Api>> admin = plane_->connect();
    ASSERT_TRUE(admin.ok()) << admin.error().message;
    admin_ = std::move(admin).value();
    Result<std::unique_ptr<Api>> api = cluster::connect_as_scheduler(*plane_);
    ASSERT_TRUE(api.ok()) << api.error().message;
    api_ = std::move(api).value();
  }

  bool wait(const std::function<bool()>& until, std::chrono::seconds patience = kPatience) {
    const auto deadline = steady_clock::now() + patience;
    while (!until() && steady_clock::now() < deadline) {
      api_->poll(Millis(10));
      admin_->poll(Millis(10));
    }
    return until();
  }
  /// Runs one write and returns its answer.
  Answer answer_of(const std::function<void(OnAnswer)>& write) {
    std::optional<Answer> answer;
    write([&](Answer a) { answer = std::move(a); });
    wait([&] { return answer.has_value(); });
    return answer ? std::move(*answer) : Answer{.result = Error{Error::Kind::kTimeout, "no answer at all"}};
  }
  void create_namespace_named(const std::string& ns) {
    const Answer answer = answer_of([&](OnAnswer done) { create_namespace(*admin_, ns, done); });
    ASSERT_TRUE(answer.ok()) << answer.result.error().message;
  }
  void create_pods(const std::string& ns, int from, int to) {
    int answered = 0, failed = 0;
    for (int i = from; i < to; ++i)
      create_pod(*admin_,
                 {.ns = ns,
                  .name = "p" + std::to_string(i),
                  .scheduler_name = "ashlar",
                  .labels = {{"app", "x"}},
                  .requests = {{"cpu", "1"}, {"nvidia.com/gpu", "1"}}},
                 [&](Answer a) {
                   ++answered;
                   failed += !a.ok();
                 });
    ASSERT_TRUE(wait([&] { return answered == to - from; }));
    ASSERT_EQ(failed, 0);
  }
  void create_nodes(const std::string& prefix, int count) {
    int answered = 0;
    std::string failure;
    for (int i = 0; i < count; ++i)
      post_node(*admin_,
                {.name = prefix + std::to_string(i),
                 .labels = {{"rack", "r" + std::to_string(i / 8)}},
                 .allocatable = {{"cpu", "64"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}}},
                admin_->now(), [&](Answer a) {
                  ++answered;
                  if (!a.ok()) failure = a.result.error().message;
                });
    ASSERT_TRUE(wait([&] { return answered == count; }));
    ASSERT_EQ(failure, "");
  }
  static ReflectorOptions in_namespace(const std::string& ns) {
    return {.path = "/api/v1/namespaces/" + ns + "/pods", .page_items = 50};
  }

  static inline std::unique_ptr<ControlPlane> plane_;
  static inline std::string why_;
  static inline bool absent_ = false;
  std::unique_ptr<Api> api_;    ///< the client under test
  std::unique_ptr<Api> admin_;  ///< for set-up
};

TEST_F(ClientOnCluster, NodesAndPodsAndTheirBindingsAreShown) {
  create_namespace_named("both");
  create_nodes("both-", 50);
  create_pods("both", 0, 120);
  Mirror<Pod> mirror;
  Mirror<Node> nodes;
  auto follow_pods = mirror.follow(*api_, in_namespace("both"));
  auto follow_nodes = nodes.follow(*api_);
  follow_pods.start(), follow_nodes.start();
  ASSERT_TRUE(wait([&] { return follow_pods.is_synced() && follow_nodes.is_synced(); }));
  EXPECT_EQ(mirror.objects.size(), 120u) << "in three pages";
  EXPECT_EQ(nodes.objects.at("/both-9").taints.size(), 0u) << "the poster removed the server's taint";
  EXPECT_EQ(nodes.objects.at("/both-9").ready, ConditionStatus::kTrue);

  create_pods("both", 120, 200);
  ASSERT_TRUE(wait([&] { return mirror.objects.size() == 200; }));
  int bound = 0;
  for (const auto& [key, pod] : mirror.objects)
    bind(*api_,
         {.ns = pod.ns, .pod = pod.name, .uid = pod.uid, .node = "both-1", .annotations = {{"ashlar.dev/cards", "3"}}},
         [&](Answer a) { bound += a.ok(); });
  const auto is_bound = [](const auto& entry) { return entry.second.node_name == "both-1"; };
  ASSERT_TRUE(wait([&] { return bound == 200 && std::all_of(mirror.objects.begin(), mirror.objects.end(), is_bound); }))
      << bound;
  for (const auto& [key, pod] : mirror.objects) {
    EXPECT_EQ(*find_label(*pod.annotations, "ashlar.dev/cards"), "3");
    EXPECT_EQ(pod.scheduled.status, ConditionStatus::kTrue);
  }
  EXPECT_EQ(mirror.wrong, "");
}

TEST_F(ClientOnCluster, AnswersAreMappedToKindsOfError) {
  create_namespace_named("kinds");
  create_nodes("kinds-", 2);
  create_pods("kinds", 0, 2);
  const auto bind_to = [&](const char* pod, const char* uid, const char* node) {
    return answer_of([&](OnAnswer done) { bind(*api_, {.ns = "kinds", .pod = pod, .uid = uid, .node = node}, done); });
  };
  EXPECT_EQ(bind_to("p0", "00000000-0000-0000-0000-000000000000", "kinds-0").result.error().kind,
            Error::Kind::kConflict)
      << "another uid";
  EXPECT_TRUE(bind_to("p0", "", "kinds-0").ok());
  const Answer second = bind_to("p0", "", "kinds-1");
  EXPECT_EQ(second.result.error().kind, Error::Kind::kConflict);
  EXPECT_EQ(second.status, 409);
  EXPECT_NE(second.result.error().message.find("already assigned"), std::string::npos) << second.result.error().message;
  EXPECT_EQ(bind_to("nobody", "", "kinds-0").result.error().kind, Error::Kind::kNotFound);
  EXPECT_EQ(call(*api_, {.method = http::Method::kPost, .path = pod_path("kinds", "p1") + "/binding", .body = "{"})
                .result.error()
                .kind,
            Error::Kind::kInvalid);
  EXPECT_EQ(call(*api_, {.path = "/api/v1/pods?limit=1&continue=nonsense"}).result.error().kind, Error::Kind::kInvalid);
  const Answer twice = answer_of([&](OnAnswer done) { create_namespace(*admin_, "kinds", done); });
  EXPECT_EQ(twice.reason, "AlreadyExists");

  EXPECT_EQ(answer_of([&](OnAnswer done) { create_pod(*api_, {.ns = "kinds", .name = "ours"}, done); }).status, 403)
      << "deploy/ grants no such thing";
  Access weak = api_->access();
  weak.token = "weak-token";
  auto other = Api::create({.access = weak});
  EXPECT_EQ(call(**other, {.path = "/api/v1/pods"}).result.error().kind, Error::Kind::kDenied);
  weak.token = "wrong";
  other = Api::create({.access = weak});
  EXPECT_EQ(call(**other, {.path = "/api/v1/pods"}).status, 401);
}

TEST_F(ClientOnCluster, ConditionsEventsLeasesAndGroupsAreWritten) {
  create_namespace_named("writes");
  create_pods("writes", 0, 1);
  Answer read = call(*api_, {.path = pod_path("writes", "p0"), .accept = kProtobufType});
  ASSERT_TRUE(read.ok());
  Pod pod = decode_object<Pod>(read.body).value();
  const ConditionUpdate unschedulable{
      .reason = "Unschedulable", .message = "0/3 nodes are available: 3 Insufficient \"gpu\".", .now = api_->now()};
  Answer patched = answer_of([&](OnAnswer done) { patch_pod_condition(*api_, pod, unschedulable, done); });
  ASSERT_TRUE(patched.ok()) << patched.result.error().message;
  read = call(*api_, {.path = pod_path("writes", "p0"), .accept = kProtobufType});
  pod = decode_object<Pod>(read.body).value();
  EXPECT_EQ(pod.scheduled.reason, "Unschedulable");
  EXPECT_EQ(pod.scheduled.message, unschedulable.message);
  pod.uid = "00000000-0000-0000-0000-000000000000";
  EXPECT_EQ(answer_of([&](OnAnswer done) { patch_pod_condition(*api_, pod, unschedulable, done); }).result.error().kind,
            Error::Kind::kConflict);

  const EventNote note{.ns = "writes",
                       .name = "p0",
                       .uid = pod.uid,
                       .type = "Warning",
                       .reason = "FailedScheduling",
                       .action = "Scheduling",
                       .note = std::string(3000, 'n'),
                       .now = api_->now(),
                       .sequence = 1};
  const Answer event = answer_of([&](OnAnswer done) { create_event(*api_, note, done); });
  EXPECT_TRUE(event.ok()) << event.result.error().message;

  std::optional<PodGroupVersion> version;
  discover_pod_groups(*api_, [&](Result<PodGroupVersion> found) { version = found ? *found : PodGroupVersion::kNone; });
  ASSERT_TRUE(wait([&] { return version.has_value(); }));
  ASSERT_EQ(*version, PodGroupVersion::kV1Beta1);
  const Answer group = answer_of([&](OnAnswer done) {
    create_pod_group(*admin_, *version, {.ns = "writes", .name = "g", .topology_key = "rack", .min_count = 3}, done);
  });
  ASSERT_TRUE(group.ok()) << group.result.error().message;
  Mirror<PodGroup> groups;
  auto follow = groups.follow(*api_, {.path = pod_groups_path(*version)});
  follow.start();
  ASSERT_TRUE(wait([&] { return follow.is_synced(); }));
  const PodGroup& seen = groups.objects.at("writes/g");
  EXPECT_EQ(seen.min_count, 3);
  EXPECT_EQ(seen.topology_key, "rack");
  const ConditionUpdate waits{.type = "", .reason = "Unschedulable", .message = "no rack has room", .now = api_->now()};
  const Answer status =
      answer_of([&](OnAnswer done) { patch_pod_group_condition(*api_, *version, seen, waits, done); });
  ASSERT_TRUE(status.ok()) << status.result.error().message;
  EXPECT_TRUE(wait([&] { return groups.objects.at("writes/g").scheduled.message == "no rack has room"; }));
}

TEST_F(ClientOnCluster, LeasesChangeHandsByResourceVersion) {
  const std::string ns = "ashlar", name = "ashlar-scheduler";
  std::optional<Answer> answer;
  Lease lease;
  const auto take = [&](Answer a, Lease l) { answer = std::move(a), lease = std::move(l); };
  const auto done = [&] { return answer.has_value(); };
  get_lease(*api_, ns, name, take);
  ASSERT_TRUE(wait(done));
  EXPECT_EQ(answer->result.error().kind, Error::Kind::kNotFound);
  answer.reset();
  create_lease(*api_,
               {.ns = kube::PooledString(ns),
                .name = kube::PooledString(name),
                .holder = "one",
                .duration_seconds = 8,
                .acquired = Millis(1'800'000'000'123),
                .renewed = Millis(1'800'000'000'123)},
               take);
  ASSERT_TRUE(wait(done));
  ASSERT_TRUE(answer->ok()) << answer->result.error().message;
  EXPECT_EQ(lease.holder, "one");
  EXPECT_EQ(lease.renewed, Millis(1'800'000'000'123));
  const Lease first = lease;
  Lease next = first;
  next.holder = "two";
  next.transitions = 1;
  answer.reset();
  update_lease(*api_, next, take);
  ASSERT_TRUE(wait(done));
  ASSERT_TRUE(answer->ok());
  EXPECT_EQ(lease.transitions, 1);
  answer.reset();
  update_lease(*api_, first, take);
  ASSERT_TRUE(wait(done));
  EXPECT_EQ(answer->result.error().kind, Error::Kind::kConflict) << "an old version must not win";
}

TEST_F(ClientOnCluster, AKilledServerCostsNoChange) {
  create_namespace_named("killed");
  create_pods("killed", 0, 20);
  for (const int round : {1, 2}) {
    Mirror<Pod> mirror;
    auto pods = mirror.follow(*api_, in_namespace("killed"));
    pods.start();
    ASSERT_TRUE(wait([&] { return pods.is_synced(); }));
    const int before = static_cast<int>(mirror.objects.size());
    plane_->kill_api_server();
    std::optional<Answer> refused;
    bind(*api_, {.ns = "killed", .pod = "p0", .node = "while-dead"}, [&](Answer a) { refused = std::move(a); });
    ASSERT_TRUE(wait([&] { return refused.has_value(); }));
    EXPECT_EQ(refused->result.error().kind, Error::Kind::kUnavailable) << refused->result.error().message;
    Result<void> restarted = plane_->start_api_server();
    ASSERT_TRUE(restarted.ok()) << restarted.error().message;
    // Changes while the reflector has not come back yet.
    auto other = plane_->connect();
    ASSERT_TRUE(other.ok());
    for (int i = 0; i < 5; ++i)
      ASSERT_TRUE(call(**other, {.method = http::Method::kPost,
                                 .path = "/api/v1/namespaces/killed/pods",
                                 .body = pod_body({.ns = "killed",
                                                   .name = "late-" + std::to_string(round) + "-" + std::to_string(i)})})
                      .ok());
    ASSERT_TRUE(call(**other, {.method = http::Method::kDelete,
                               .path = pod_path("killed", "p" + std::to_string(round)) + "?gracePeriodSeconds=0"})
                    .ok());
    // Four of five arrivals and the deletion still to come give the same size: wait for the deletion too.
    EXPECT_TRUE(wait([&] { return mirror.deleted == 1 && static_cast<int>(mirror.objects.size()) == before + 4; }))
        << mirror.objects.size();
    EXPECT_EQ(mirror.wrong, "");
    EXPECT_EQ(mirror.added, before + 5) << "nothing is reported twice";
  }
}

TEST_F(ClientOnCluster, LostHistoryIsListedAnewAndOnlyTheDifferenceReported) {
  create_namespace_named("lost");
  create_pods("lost", 0, 30);
  for (const std::string name : {"first", "second"}) {
    Mirror<Pod> mirror;
    auto pods = mirror.follow(*api_, in_namespace("lost"));
    pods.start();
    ASSERT_TRUE(wait([&] { return pods.is_synced(); }));
    const std::size_t before = mirror.objects.size();
    // The reflector is not polled while these happen.
    {
      auto other = plane_->connect();
      ASSERT_TRUE(other.ok());
      ASSERT_TRUE(call(**other, {.method = http::Method::kPost,
                                 .path = "/api/v1/namespaces/lost/pods",
                                 .body = pod_body({.ns = "lost", .name = name})})
                      .ok());
      ASSERT_TRUE(call(**other, {.method = http::Method::kDelete,
                                 .path = pod_path("lost", name == "first" ? "p3" : "p4") + "?gracePeriodSeconds=0"})
                      .ok());
      ASSERT_TRUE(
          call(**other, {.method = http::Method::kPost,
                         .path = pod_path("lost", name == "first" ? "p5" : "p6") + "/binding",
                         .body = binding_body({.ns = "lost", .pod = name == "first" ? "p5" : "p6", .node = "n"})})
              .ok());
    }
    plane_->kill_api_server();
    Result<void> compacted = plane_->compact_history();
    ASSERT_TRUE(compacted.ok()) << compacted.error().message;
    ASSERT_TRUE(plane_->start_api_server().ok());
    EXPECT_TRUE(
        wait([&] { return mirror.synced >= 2 || (pods.is_synced() && mirror.objects.contains("lost/" + name)); }));
    EXPECT_TRUE(wait([&] { return mirror.objects.size() == before; }));
    EXPECT_TRUE(mirror.objects.contains("lost/" + name));
    EXPECT_EQ(mirror.deleted, 1);
    EXPECT_EQ(mirror.modified, 1);
    EXPECT_EQ(mirror.added, static_cast<int>(before) + 1);
    EXPECT_EQ(mirror.wrong, "");
    EXPECT_GE(pods.counters().expired, 1u) << "the server said 410";
    EXPECT_EQ(pods.counters().lists, 2u);
  }
}

// Two long lists beside open watches on a busy machine. On one shared HTTP/2 connection about every hundredth round
// left a page lying until the next bookmark, a minute later.
TEST_F(ClientOnCluster, ALongListNeverWaitsForTheNextEventOfAWatch) {
  constexpr std::size_t kNodes = 2000, kPods = 4000, kRounds = 60;
  create_namespace_named("many");
  create_nodes("many-", static_cast<int>(kNodes));
  create_pods("many", 0, static_cast<int>(kPods));
  std::atomic<bool> is_busy = true;
  std::vector<std::thread> others;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i)
    others.emplace_back([&] {
      while (is_busy) {
      }
    });
  for (std::size_t round = 0; round < kRounds; ++round) {
    auto api = cluster::connect_as_scheduler(*plane_);
    ASSERT_TRUE(api.ok());
    Mirror<Node> nodes;
    Mirror<Pod> pods;
    Mirror<Namespace> namespaces;
    auto follow_nodes = nodes.follow(**api);
    auto follow_pods = pods.follow(**api);
    auto follow_namespaces = namespaces.follow(**api);
    follow_nodes.start();
    follow_pods.start();
    follow_namespaces.start();
    const auto start = steady_clock::now();
    while (!(nodes.synced > 0 && pods.synced > 0 && namespaces.synced > 0) &&
           steady_clock::now() - start < std::chrono::seconds(20))
      (*api)->poll(Millis(100));
    EXPECT_GE(pods.objects.size(), kPods) << "round " << round;
    EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(20)) << "round " << round;
    if (HasFailure()) break;
  }
  is_busy = false;
  for (std::thread& other : others) other.join();
}

TEST_F(ClientOnCluster, ARefusedTokenIsReadAgainFromItsFile) {
  const std::string file = plane_->folder() + "/renewed-token";
  { std::ofstream(file) << "wrong-token"; }
  Access access = api_->access();
  access.token.clear();
  access.token_file = file;
  auto api = Api::create({.access = access});
  ASSERT_TRUE(api.ok());
  EXPECT_EQ(call(**api, {.path = "/api/v1/namespaces"}).status, 401);
  { std::ofstream(file) << plane_->scheduler_token() << "\n"; }
  const Answer answer = call(**api, {.path = "/api/v1/namespaces"});
  EXPECT_TRUE(answer.ok()) << "a 401 makes the client read the file again: " << answer.result.error().message;
}

}  // namespace
}  // namespace ashlar::kube
