// What a leadership does about single pods beside placing them: devices that others changed are written back, devices
// that are claimed twice are reported, and what a decision stopped the process for goes into the quarantine.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "live/lead/leader_term.h"
#include "scripted_api.h"
#include "state/cluster/usable_devices.h"

namespace ashlar::kube {
namespace {

class TermWrites : public ::testing::Test {
 protected:
  TermWrites() {
    options.tracker.levels = {{PooledString("rack"), PooledString("l/rack")}};
    options.profile = [](const auto&) { return builtin_profile("ashlar").value(); };
    options.log = [this](LogLevel level, const LogLine& line) {
      if (level == LogLevel::kWarning) warnings.push_back(line);
      if (level == LogLevel::kInfo) told.push_back(line.message);
    };
  }
  void begin() {
    leader_term = std::make_unique<LeaderTerm>(server.api(), options, metrics, [this] { return is_leading; });
  }
  void see(const std::string& node_name, std::int64_t gpus) {
    Node n;
    n.name = PooledString(node_name);
    n.ready = ConditionStatus::kTrue;
    n.allocatable.cpu = MilliCores(64'000);
    n.pods_max = 110;
    n.allocatable.extended = {{PooledString("nvidia.com/gpu"), gpus}};
    n.labels = {{PooledString("l/rack"), PooledString("r0")}};
    leader_term->take(Change<Node>{Change<Node>::Kind::kAdded, std::move(n)});
  }
  static Pod pod(const std::string& name, std::int64_t gpus, Labels labels = {}) {
    Pod p;
    p.ns = PooledString("ns");
    p.name = PooledString(name);
    p.uid = PooledString("uid-" + name);
    p.scheduler_name = PooledString("ashlar");
    p.requests.extended = {{PooledString("nvidia.com/gpu"), gpus}};
    p.labels = std::make_shared<const Labels>(std::move(labels));
    return p;
  }
  static Pod on(Pod p, const std::string& node_name, const std::string& devices) {
    p.node_name = PooledString(node_name);
    if (!devices.empty())
      p.annotations = std::make_shared<const Labels>(Labels{{PooledString(kDevicesAnnotation), PooledString(devices)}});
    return p;
  }
  void see(Pod p) { leader_term->take(Change<Pod>{Change<Pod>::Kind::kModified, std::move(p)}); }
  std::vector<std::string> warned() {
    std::vector<std::string> lines;
    for (const LogLine& line : std::exchange(warnings, {})) lines.push_back(line.message);
    return lines;
  }

  int status = 200;
  std::vector<LogLine> warnings;
  std::vector<std::string> told;
  bool is_leading = true;
  ScriptedApi server{[this](const http::ServerRequest&) {
    return status == 200 ? http::json(200, "{}") : ScriptedApi::status(status);
  }};
  SchedulerMetrics metrics;
  LeaderTermOptions options;
  std::unique_ptr<LeaderTerm> leader_term;
};

TEST_F(TermWrites, DevicesThatSomebodyChangedAreWrittenBackOnceForEachChange) {
  begin();
  see("n0", 8);
  see(on(pod("p", 2), "n0", "1,3"));
  EXPECT_EQ(warned(), std::vector<std::string>());
  for (int i = 0; i < 2; ++i) see(on(pod("p", 2), "n0", "4,5"));
  leader_term->turn();
  ASSERT_TRUE(server.settle());
  EXPECT_EQ(warned(),
            std::vector<std::string>{
                "the GPUs of pod ns/p were changed from 1,3 to '4,5'; the pod keeps the GPUs it was bound with"});
  EXPECT_EQ(server.seen({}),
            std::vector<std::string>{
                R"(PATCH /api/v1/namespaces/ns/pods/p/status {"metadata":{"uid":"uid-p",)"
                R"("annotations":{"ashlar.dev/cards":"1,3","ashlar.dev/gpu-grants":"1:1000,3:1000"}}})"});
  see(on(pod("p", 2), "n0", "1,3"));
  see(on(pod("p", 2), "n0", ""));
  leader_term->turn();
  ASSERT_TRUE(server.settle());
  EXPECT_EQ(server.count({"PATCH"}), 2u);
  EXPECT_EQ(warned(),
            std::vector<std::string>{
                "the GPUs of pod ns/p were changed from 1,3 to ''; the pod keeps the GPUs it was bound with"});
}

TEST_F(TermWrites, DevicesThatCannotBeWrittenBackAreTold) {
  status = 403;
  begin();
  see("n0", 8);
  see(on(pod("p", 1), "n0", "1"));
  see(on(pod("p", 1), "n0", "2"));
  leader_term->turn();
  ASSERT_TRUE(server.settle());
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_EQ(warnings[1].message, "the GPUs of pod ns/p could not be written back: HTTP 403: no");
  EXPECT_EQ(warnings[1].kind, "pod");
  EXPECT_EQ(warnings[1].ns, PooledString("ns"));
  EXPECT_EQ(warnings[1].name, PooledString("p"));
}

TEST_F(TermWrites, NothingIsWrittenBackWithoutTheRightToWrite) {
  begin();
  see("n0", 8);
  see(on(pod("p", 1), "n0", "1"));
  is_leading = false;
  see(on(pod("p", 1), "n0", "2"));
  ASSERT_TRUE(server.settle());
  EXPECT_EQ(warned().size(), 1u);
  EXPECT_EQ(server.seen({}), std::vector<std::string>());
}

TEST_F(TermWrites, DevicesThatAreClaimedTwiceAreToldWithWhoseClaimsTheyAre) {
  begin();
  see("n0", 8);
  see("n1", 128);
  see("n2", 8);
  see(on(pod("a", 1), "n0", "1"));
  see(on(pod("b", 2), "n0", "1,2"));
  see(on(pod("c", 1), "n0", "3"));
  see(on(pod("far", 1), "n2", "1"));
  leader_term->turn();
  EXPECT_EQ(warnings.at(0).kind, "node");
  EXPECT_EQ(warnings.at(0).name, PooledString("n0"));
  EXPECT_EQ(warned(),
            std::vector<std::string>{
                "GPU 1 of node n0 is overclaimed by ns/a, ns/b; it takes no new pods until this is resolved"});
  see(on(pod("d", 1), "n2", "2"));
  leader_term->turn();
  EXPECT_EQ(warned(), std::vector<std::string>()) << "nothing new of that kind";
  see(on(pod("x", 2), "n1", "100,127"));
  see(on(pod("y", 2), "n1", "100,127"));
  leader_term->turn();
  EXPECT_EQ(
      warned(),
      (std::vector<std::string>{
          "GPUs 100,127 of node n1 are overclaimed by ns/x, ns/y; they take no new pods until this is resolved"}));
  leader_term->take(Change<Pod>{Change<Pod>::Kind::kDeleted, pod("x", 2)});
  leader_term->turn();
  EXPECT_EQ(warned(), std::vector<std::string>()) << "one less is no news";
  see(on(pod("x", 2), "n1", "100,127"));
  leader_term->turn();
  EXPECT_EQ(warned().size(), 1u) << "again one more; what stood all the time is not said again";
}

TEST_F(TermWrites, AGangOfOneIsNotSaidToBeMany) {
  begin();
  see("n0", 8);
  see(pod("g-0", 1,
          {{PooledString("ashlar.dev/gang"), PooledString("g")},
           {PooledString("ashlar.dev/gang-size"), PooledString("1")}}));
  leader_term->turn();
  EXPECT_EQ(told, std::vector<std::string>{"placed gang ns/g: 1 pod on one node"});
}

TEST_F(TermWrites, WhoseVerdictIsNewIsToldBeforeWhoeverIsHeld) {
  options.status_writer.writes = AdaptiveWindow::fixed(1);
  begin();
  see("n0", 8);
  for (const char* name : {"h-0", "h-1"})
    see(pod(name, 1, {{PooledString("ashlar.dev/queue"), PooledString("nobody's")}}));
  see(pod("large", 9));
  leader_term->turn();
  ASSERT_TRUE(server.settle());
  std::vector<std::string> told_in_order;
  for (const std::string& line : server.seen({"PATCH"})) told_in_order.push_back(line.substr(0, line.find(" {")));
  EXPECT_EQ(told_in_order, (std::vector<std::string>{"PATCH /api/v1/namespaces/ns/pods/large/status",
                                                     "PATCH /api/v1/namespaces/ns/pods/h-0/status",
                                                     "PATCH /api/v1/namespaces/ns/pods/h-1/status"}));
}

TEST_F(TermWrites, APodGroupIsToldWhenSoManyOfItsPodsAreBoundAsMustStartTogether) {
  begin();
  leader_term->take(PodGroupsNote{PodGroupVersion::kV1Beta1, ""});
  see("n0", 8);
  for (const auto& [name, count] : std::map<std::string, int>{{"one", 1}, {"two", 2}, {"three", 3}}) {
    PodGroup group;
    group.ns = PooledString("ns");
    group.name = PooledString(name);
    group.uid = PooledString("uid-" + name);
    group.min_count = count;
    leader_term->take(Change<PodGroup>{Change<PodGroup>::Kind::kAdded, std::move(group)});
    for (int i = 0; i < 2; ++i) {
      Pod member = on(pod(name + "-" + std::to_string(i), 1), "n0", "");
      member.group_name = PooledString(name);
      see(std::move(member));
    }
  }
  leader_term->turn();
  ASSERT_TRUE(server.settle());
  const auto is_told = [&](const std::string& name, const std::string& message) {
    return server.count({"PATCH", "/podgroups/" + name + "/status", R"("status":"True")", "\"" + message + "\""}) == 1;
  };
  EXPECT_TRUE(is_told("one", "the one pod that must start is bound"));
  EXPECT_TRUE(is_told("two", "all 2 pods that must start together are bound"));
  EXPECT_EQ(server.count({"/podgroups/three/status", R"("status":"True")"}), 0u);
}

// ---- the quarantine -------------------------------------------------------------------------------------------------

/// What no policy may do: the node whose devices it chooses moves to a rack of its own, behind the back of the search.
const DevicePolicy kMover{"mover", [](const NodeView& view, NodeId node) {
                            NodeFacts facts = view.nodes.facts(node);
                            facts.domains = {DomainId(static_cast<std::uint32_t>(50 + node.row()))};
                            auto& cluster = const_cast<Cluster&>(static_cast<const Cluster&>(view.nodes));
                            cluster.upsert_node(node, facts);
                            return choose_devices(cluster, node, view.demand.devices, view.constraint);
                          }};

class TermStops : public ::testing::Test {
 protected:
  TermStops() : folder(std::filesystem::temp_directory_path() / ("ashlar-stops-" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    api = Api::create({.access = {.origin = "test", .server = "http://127.0.0.1:1"},
                       .now = [] { return Millis(1'795'000'000'000); }})
              .value();
    options.tracker = {.levels = {{PooledString("rack"), PooledString("l/rack")}}};
    options.profile = [](const auto&) {
      Profile profile = builtin_profile("ashlar").value();
      profile.device = &kMover;
      return profile;
    };
    options.log = [](LogLevel level, const LogLine& line) {
      if (level == LogLevel::kError)
        std::fprintf(stderr, "E %s [%s %s/%s]\n", line.message.c_str(), line.kind.data(), line.ns.str().c_str(),
                     line.name.str().c_str());
    };
  }
  ~TermStops() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  /// Decides about a gang of which the first member is bound already.
  void decide(int size) {
    SchedulerMetrics metrics;
    LeaderTerm leader_term(*api, options, metrics, [] { return true; });
    for (const char* name : {"n0", "n1", "n2"}) {
      Node n;
      n.name = PooledString(name);
      n.ready = ConditionStatus::kTrue;
      n.allocatable.cpu = MilliCores(64'000);
      n.pods_max = 110;
      n.allocatable.extended = {{PooledString("nvidia.com/gpu"), 8}};
      n.labels = {{PooledString("l/rack"), PooledString("r0")}};
      leader_term.take(Change<Node>{Change<Node>::Kind::kAdded, std::move(n)});
    }
    const Labels gang{{PooledString(kGangLabel), PooledString("g")},
                      {PooledString(kGangSizeLabel), PooledString(std::to_string(size))},
                      {PooledString(kWithinLabel), PooledString("rack")}};
    for (int i = 0; i < size; ++i) {
      Pod p;
      p.ns = PooledString("ns");
      p.name = PooledString("p-" + std::to_string(i));
      p.uid = PooledString("uid-" + std::to_string(i));
      p.scheduler_name = PooledString("ashlar");
      p.requests.extended = {{PooledString("nvidia.com/gpu"), 8}};
      p.labels = std::make_shared<const Labels>(gang);
      if (i == 0) p.node_name = PooledString("n0");
      leader_term.take(Change<Pod>{Change<Pod>::Kind::kAdded, std::move(p)});
    }
    leader_term.turn();
  }
  std::string file() const { return (folder / "quarantine").string(); }
  /// The lines of the file without its heading.
  std::vector<std::string> kept() const {
    std::ifstream in(file());
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
      if (!line.empty() && line.front() != '#') lines.push_back(line);
    return lines;
  }

  std::filesystem::path folder;
  std::unique_ptr<Api> api;
  LeaderTermOptions options;
};
using TermStopsDeathTest = TermStops;

TEST_F(TermStopsDeathTest, TheOnlyMemberThatDoesNotRunIsKept) {
  Quarantine list = Quarantine::open(file()).value();
  options.tracker.quarantine = &list;
  EXPECT_DEATH(decide(2), "E stopping because of a bug in a decision about pod ns/p-1; it is recorded in " + file() +
                              " and will not be tried again .pod ns/p-1.");
  EXPECT_EQ(kept(), std::vector<std::string>{"uid-1 ns/p-1 2026-11-18T11:06:40Z"});
}

TEST_F(TermStopsDeathTest, OfAGangThoseThatDoNotRunAreKept) {
  Quarantine list = Quarantine::open(file()).value();
  options.tracker.quarantine = &list;
  EXPECT_DEATH(
      decide(3),
      "E stopping because of a bug in a decision about pod ns/p-1 and the rest of its gang; it is recorded in " +
          file() + " and will not be tried again .pod ns/p-1.");
  EXPECT_EQ(kept(),
            (std::vector<std::string>{"uid-1 ns/p-1 2026-11-18T11:06:40Z", "uid-2 ns/p-2 2026-11-18T11:06:40Z"}));
}

TEST_F(TermStopsDeathTest, WithoutAFileItSaysThatItWillHappenAgain) {
  EXPECT_DEATH(decide(2),
               "pod ns/p-1; it could not be recorded and will be tried again: no quarantineFile is configured");
}

}  // namespace
}  // namespace ashlar::kube
