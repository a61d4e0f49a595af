// What is followed of the cluster when a part of it cannot be listed, and how much is asked of a server in trouble.
#include "live/watch/watches.h"

#include <map>
#include <optional>

#include "live/lead/leader_term.h"
#include "live/read/read_api.h"
#include "small_cluster.h"

namespace ashlar::kube {
namespace {

class WatchesTest : public ::testing::Test {
 protected:
  WatchesTest() {
    auto made = Api::create({.access = cluster.access(), .seed = 7});
    EXPECT_TRUE(made.ok());
    api = std::move(made).value();
    cluster.put_node("n", 8);
  }
  ~WatchesTest() override {
    if (watches) watches->stop();
    leader_term.reset();
  }
  /// Follows and decides.
  void lead(Millis discovery_min = Millis(20), Millis discovery_max = Millis(40)) {
    watches = std::make_unique<Watches>(
        *api, WatchesOptions{.discovery_min = discovery_min,
                             .discovery_max = discovery_max,
                             .follows_selecting = follows_selecting,
                             .log = [this](LogLevel, const LogLine& line) { log.push_back(line.message); }});
    begin();
  }
  void begin() {
    LeaderTermOptions options;
    options.profile = [](const auto&) { return builtin_profile("ashlar").value(); };
    options.hand_over = [this](HandOver&& news) { replica->take(std::move(news)); };
    leader_term = std::make_unique<LeaderTerm>(*api, std::move(options), metrics, [] { return true; });
    replica = leader_term->begin_replica([this] { return api->now(); });
    watches->feed([this](WatchedChange&& change) { leader_term->take(std::move(change)); });
    watches->start();
  }
  template <class IsDone>
  bool until(IsDone&& is_done) {
    const auto deadline = SmallCluster::Clock::now() + std::chrono::seconds(60);
    while (!is_done() && SmallCluster::Clock::now() < deadline) {
      watches->advance();
      if (watches->is_synced()) leader_term->turn();
      api->poll(Millis(5));
    }
    return is_done();
  }
  bool is_bound(const std::string& name) {
    const PodSlot slot = leader_term->tracker().pods().find(PooledString("ns"), PooledString(name));
    return slot != kNoPod && leader_term->tracker().pods()[slot].phase == PodRecord::Phase::kBound;
  }
  std::string hold_of(const std::string& name) {
    const PodSlot slot = leader_term->tracker().pods().find(PooledString("ns"), PooledString(name));
    if (slot == kNoPod) return "unknown";
    return leader_term->tracker().hold_condition(leader_term->tracker().pods()[slot]).message;
  }
  std::string why(const std::string& name) {
    http::ServerRequest request;
    request.method = "GET";
    request.path = "/api/v1/why";
    request.query = "name=ns/" + name;
    return answer_why(*replica, request).body;
  }
  std::map<std::string_view, ProcessFacts::Watch> facts() const {
    std::map<std::string_view, ProcessFacts::Watch> told;
    watches->add_facts(told);
    return told;
  }
  std::size_t logged(const std::string& part) const {
    return static_cast<std::size_t>(std::count_if(
        log.begin(), log.end(), [&](const std::string& line) { return line.find(part) != std::string::npos; }));
  }

  bool follows_selecting = false;
  SmallCluster cluster;
  std::unique_ptr<Api> api;
  SchedulerMetrics metrics;
  std::vector<std::string> log;
  std::unique_ptr<ReadReplica> replica;
  std::unique_ptr<LeaderTerm> leader_term;
  std::unique_ptr<Watches> watches;
};

TEST_F(WatchesTest, AServerWithoutPodGroupsSchedulesPlainPodsAndTellsTheOthers) {
  cluster.serve_groups("");
  cluster.put_pod("plain", 1);
  cluster.put_pod("member", 1, "g");
  lead();
  ASSERT_TRUE(until([&] { return is_bound("plain"); }));
  EXPECT_EQ(
      hold_of("member"),
      "PodGroupsUnreadable: PodGroups cannot be read: the API server serves none of the versions that Ashlar knows");
  ASSERT_TRUE(until([&] { return cluster.count({"GET /apis/scheduling.k8s.io/v1beta1?"}) >= 3; })) << "asked again";
  EXPECT_EQ(logged("PodGroups cannot be read"), 1u) << "said once";
  cluster.put_group("g", 1);
  cluster.serve_groups("v1beta1");
  ASSERT_TRUE(until([&] { return is_bound("member"); })) << hold_of("member");
  EXPECT_EQ(logged("PodGroup API: scheduling.k8s.io/v1beta1"), 1u);
}

TEST_F(WatchesTest, AReplicaThatLeadsAgainDoesNotWaitForPodGroupsThatThereAreNot) {
  cluster.serve_groups("");
  cluster.put_pod("plain", 1);
  lead(Millis(120'000), Millis(120'000));
  ASSERT_TRUE(until([&] { return is_bound("plain"); }));
  watches->stop();
  leader_term.reset();
  begin();
  cluster.put_pod("later", 1);
  EXPECT_TRUE(until([&] { return is_bound("later"); })) << "the next look for a version is minutes away";
}

TEST_F(WatchesTest, RightsThatAreTakenAwayFromOptionalKindsStopNothingElse) {
  cluster.refuse("podgroups", 403);
  cluster.refuse("priorityclasses", 403);
  cluster.put_pod("plain", 1);
  cluster.put_pod("member", 1, "g");
  lead();
  ASSERT_TRUE(until([&] { return is_bound("plain"); }));
  EXPECT_EQ(hold_of("member"), "PodGroupsUnreadable: PodGroups cannot be read: HTTP 403: refused");
  ASSERT_TRUE(until([&] { return cluster.count({"GET /apis/scheduling.k8s.io/v1beta1/podgroups?"}) >= 3; }));
  EXPECT_EQ(logged("podgroups: HTTP 403"), 1u);
  EXPECT_EQ(logged("priorityclasses: HTTP 403"), 1u);
  EXPECT_FALSE(facts()["podgroups"].is_listed);
  EXPECT_FALSE(facts()["priorityclasses"].is_listed);
  EXPECT_TRUE(facts()["pods"].is_listed);
  cluster.put_group("g", 1);
  cluster.refuse("podgroups", 200);
  ASSERT_TRUE(until([&] { return is_bound("member"); })) << hold_of("member");
  EXPECT_EQ(logged("podgroups can be listed again"), 1u);
  EXPECT_TRUE(facts()["podgroups"].is_listed);
  EXPECT_FALSE(facts()["priorityclasses"].is_listed);
}

TEST_F(WatchesTest, KindsOfVolumesThatWereListedOnceStayAsTheyWere) {
  cluster.refuse("csinodes", 403);
  cluster.put_pod("first", 1);
  lead();
  ASSERT_TRUE(until([&] { return is_bound("first"); }));
  EXPECT_EQ(leader_term->tracker().volumes().problem(), "csinodes cannot be listed: HTTP 403: refused");
  cluster.refuse("csinodes", 200);
  ASSERT_TRUE(until([&] { return leader_term->tracker().volumes().problem().empty(); }));
  cluster.refuse("persistentvolumes", 403);
  ASSERT_TRUE(
      until([&] { return logged("persistentvolumes: HTTP 403") == 1 && !facts()["persistentvolumes"].is_listed; }));
  cluster.put_pod("second", 1);
  ASSERT_TRUE(until([&] { return is_bound("second"); }));
  EXPECT_FALSE(facts()["persistentvolumes"].is_listed);
  EXPECT_EQ(leader_term->tracker().volumes().problem(), "");
}

TEST_F(WatchesTest, ServicesAndControllersAreFollowedWhereSomethingDependsOnThem) {
  cluster.put_pod("p", 1);
  lead();
  ASSERT_TRUE(until([&] { return is_bound("p"); }));
  EXPECT_EQ(cluster.count({"/api/v1/services"}) + cluster.count({"/apis/apps/v1/"}), 0u);
  watches->stop();
  leader_term.reset();
  follows_selecting = true;
  cluster.refuse("services", 403);
  lead();
  ASSERT_TRUE(until([&] { return is_bound("p"); })) << "without them too";
  for (const char* kind : {"replicationcontrollers", "replicasets", "statefulsets"})
    EXPECT_TRUE(facts()[kind].is_listed) << kind;
  EXPECT_FALSE(facts()["services"].is_listed);
  EXPECT_EQ(logged("services: HTTP 403"), 1u);
}

TEST_F(WatchesTest, APodWhoseResourceADeviceClassServesIsHeldAndNotUnschedulable) {
  cluster.put_device_class("accel", "example.com/accel");
  cluster.put_pod("p", 1, "", "example.com/accel");
  cluster.put_device_class("also", "example.com/plugged");
  cluster.put_node("plugged", 1, "example.com/plugged");
  cluster.put_pod("q", 1, "", "example.com/plugged");
  lead();
  ASSERT_TRUE(until([&] { return is_bound("q"); })) << "a device plugin has it";
  EXPECT_TRUE(hold_of("p").starts_with("FieldNotEvaluated")) << hold_of("p");
  EXPECT_NE(why("p").find("DeviceClass accel"), std::string::npos) << why("p");
}

TEST_F(WatchesTest, AServerWithoutDeviceClassesDisturbsNothing) {
  for (const int status : {404, 403}) {
    cluster.refuse("deviceclasses", status);
    const std::string name = "p" + std::to_string(status);
    cluster.put_pod(name, 1);
    lead();
    ASSERT_TRUE(until([&] { return is_bound(name); })) << status;
    EXPECT_EQ(logged("/apis/resource.k8s.io/v1/deviceclasses: HTTP " + std::to_string(status)), 1u);
    EXPECT_FALSE(facts()["deviceclasses"].is_listed);
    watches->stop();
    leader_term.reset();
  }
}

TEST_F(WatchesTest, AGangWhosePriorityClassCannotBeReadSaysSoUntilItCan) {
  cluster.refuse("priorityclasses", 403);
  cluster.put_group("g", 2, "urgent");
  cluster.put_group("h", 2);
  cluster.put_pod("g-0", 1, "g");
  cluster.put_pod("h-0", 1, "h");
  lead();
  ASSERT_TRUE(until(
      [&] { return hold_of("g-0").starts_with("MembersMissing") && hold_of("h-0").starts_with("MembersMissing"); }));
  const std::string trouble =
      R"("priorityTrouble":"PriorityClass urgent of PodGroup g is not known, so the priority of its pods is used: PriorityClasses)"
      R"( cannot be listed: HTTP 403: refused"})";
  EXPECT_TRUE(until([&] { return why("g").find(trouble) != std::string::npos; })) << why("g");
  EXPECT_EQ(why("h").find("priorityTrouble"), std::string::npos) << why("h");
  cluster.refuse("priorityclasses", 200);
  ASSERT_TRUE(until([&] { return logged("priorityclasses can be listed again") == 1; }));
  EXPECT_TRUE(until([&] { return why("g").find("priorityTrouble") == std::string::npos; }))
      << why("g") << ": a class that does not exist yet may come";
}

TEST_F(WatchesTest, AnotherVersionOfPodGroupIsFoundAfterAnUpgradeAndNothingIsTakenForDeleted) {
  cluster.serve_groups("v1alpha2");
  cluster.put_group("g", 2);
  cluster.put_pod("g-0", 1, "g");
  lead();
  ASSERT_TRUE(until([&] { return hold_of("g-0").starts_with("MembersMissing"); }));
  cluster.serve_groups("");
  ASSERT_TRUE(until([&] { return logged("PodGroups cannot be read") == 1; }));
  cluster.put_pod("g-1", 1, "g");
  cluster.put_pod("h-0", 1, "h");
  ASSERT_TRUE(until([&] { return is_bound("g-0") && is_bound("g-1"); })) << "a group that is known stays as it is";
  EXPECT_TRUE(hold_of("h-0").starts_with("PodGroupsUnreadable")) << hold_of("h-0");
  cluster.serve_groups("v1beta1");
  cluster.put_group("h", 1);
  ASSERT_TRUE(until([&] { return is_bound("h-0"); }));
  EXPECT_EQ(logged("PodGroup API: scheduling.k8s.io/v1alpha2"), 1u);
  EXPECT_EQ(logged("PodGroup API: scheduling.k8s.io/v1beta1"), 1u);
}

TEST_F(WatchesTest, PodGroupsThatCanBeListedAreKnownWhoeverHidesTheirVersion) {
  cluster.refuse("podgroups", 404);
  cluster.put_pod("member", 1, "g");
  lead();
  ASSERT_TRUE(until([&] {
    return hold_of("member") == "PodGroupsUnreadable: PodGroups cannot be read: HTTP 404: refused";
  })) << hold_of("member");
  cluster.refuse("v1beta1", 403);
  ASSERT_TRUE(until([&] {
    return hold_of("member") == "PodGroupsUnreadable: PodGroups cannot be read: HTTP 403: refused";
  })) << hold_of("member");
  cluster.refuse("podgroups", 200);
  EXPECT_TRUE(until([&] { return hold_of("member").starts_with("PodGroupMissing"); })) << hold_of("member");
}

TEST_F(WatchesTest, WithoutARequiredKindNothingIsDecided) {
  cluster.refuse("nodes", 403);
  cluster.put_pod("plain", 1);
  lead();
  ASSERT_TRUE(until([&] { return cluster.count({"GET /api/v1/nodes?"}) >= 3; }));
  EXPECT_FALSE(watches->is_synced());
  EXPECT_EQ(logged("nodes: HTTP 403"), 1u);
  EXPECT_EQ(cluster.count({"GET /api/v1/pods?"}), 0u) << "pods come last";
  cluster.refuse("nodes", 200);
  EXPECT_TRUE(until([&] { return is_bound("plain"); }));
}

TEST_F(WatchesTest, AServerInTroubleIsAskedAFewTimesASecondInAll) {
  for (const int status : {503, 429}) {
    cluster.refuse("", status);
    if (!watches) lead(WatchesOptions{}.discovery_min, WatchesOptions{}.discovery_max);
    const auto from = SmallCluster::Clock::now() + std::chrono::milliseconds(500);
    const auto end = from + std::chrono::seconds(3);
    until([&] { return SmallCluster::Clock::now() >= end; });
    // Counted over the three seconds, since requests that left evenly may arrive in a heap on a busy machine.
    EXPECT_LE(cluster.count_between(from, end), 3 * 5u) << status << ": leaves as many for the lease and the writes";
    EXPECT_GE(cluster.count({"GET /api/v1/nodes?"}), 2u);
    cluster.refuse("", 200);
    cluster.put_pod("p" + std::to_string(status), 1);
    EXPECT_TRUE(until([&] { return is_bound("p" + std::to_string(status)); }));
  }
}

TEST_F(WatchesTest, OnlyARequiredKindThatCannotBeListedIsTrouble) {
  cluster.refuse("priorityclasses", 403);
  lead();
  ASSERT_TRUE(until([&] { return watches->is_synced(); }));
  EXPECT_EQ(watches->trouble(), "") << "of an optional kind";
}

TEST_F(WatchesTest, TheRequiredKindThatCannotBeListedIsNamedUntilItCan) {
  cluster.refuse("nodes", 403);
  lead();
  ASSERT_TRUE(until([&] { return !watches->trouble().empty(); }));
  EXPECT_EQ(watches->trouble(), "nodes cannot be listed: HTTP 403: refused");
  cluster.refuse("nodes", 200);
  ASSERT_TRUE(until([&] { return watches->is_synced(); }));
  EXPECT_EQ(watches->trouble(), "");
}

}  // namespace
}  // namespace ashlar::kube
