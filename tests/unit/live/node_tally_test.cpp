// What texts count over all nodes: right at every moment, and counted once for many rules.
#include "live/read/node_tally.h"

#include "live/read/read_api.h"
#include "scripted_api.h"
#include "term_bench.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class Tally : public TrackerBench {
 protected:
  static Node tainted(const std::string& name, const std::string& value, const std::string& rack = "r0") {
    Node n = node(name, 8,
                  {{PooledString("l/block"), PooledString("b")},
                   {PooledString("l/rack"), PooledString(rack)},
                   {PooledString("kubernetes.io/hostname"), PooledString(name)}});
    n.taints = {{PooledString("team"), PooledString(value), kube::TaintEffect::kNoSchedule}};
    return n;
  }
  /// A pod that tolerates a taint that only it knows, and of the nodes' the given one.
  static Pod tolerant(const std::string& name, const std::string& of_team = "") {
    PodRules rules;
    rules.tolerations = {{PooledString("own-" + name), PooledString(""), true, kube::TaintEffect::kNoSchedule}};
    if (!of_team.empty())
      rules.tolerations.push_back({PooledString("team"), PooledString(of_team), false, kube::TaintEffect::kNoSchedule});
    return under(pod(name, 1, {{PooledString("app"), PooledString("web")}}), rules);
  }
  /// It is on that node, and wants no pod of its kind beside it.
  static Pod lonely(const std::string& name, const std::string& node_name,
                    const std::string& key = "kubernetes.io/hostname") {
    PodRules rules;
    rules.required_anti_affinity = {
        {.selector = {.present = true, .match_labels = {{PooledString("app"), PooledString("web")}}},
         .topology_key = PooledString(key)}};
    Pod p = under(pod(name, 0), rules);
    p.node_name = PooledString(node_name);
    return p;
  }
  std::string said_of(const std::string& pod_name) {
    const JobId job = record(pod_name).job;
    return verdict_text({tracker.tables(), state, state.now(), &tally}, job, engine.verdict_of(job)).message;
  }
  NodeTally tally;
};

TEST_F(Tally, TheTaintsOfAllNodesAreCountedOnceForPodsThatTolerateEachItsOwn) {
  for (int n = 0; n < 50; ++n) see(tainted("n" + std::to_string(n), n % 2 == 0 ? "blue" : "red"));
  for (int p = 0; p < 100; ++p) see(tolerant("p" + std::to_string(p)));
  step();
  for (int p = 0; p < 100; ++p)
    EXPECT_EQ(said_of("p" + std::to_string(p)),
              "0/50 nodes are available: 25 node(s) had untolerated taint {team: blue}, 25 node(s) had untolerated "
              "taint {team: red}.");
  EXPECT_EQ(tally.looks(), 50u);
}

TEST_F(Tally, TaintsOfNodesThatThePodDoesNotNameAreNotCounted) {
  for (int n = 0; n < 3; ++n) see(tainted("n" + std::to_string(n), n == 0 ? "blue" : "red"));
  PodRules rules;
  rules.node_selector = {{PooledString("kubernetes.io/hostname"), PooledString("n0")}};
  see(under(pod("p", 1), rules));
  step();
  EXPECT_EQ(said_of("p"),
            "0/3 nodes are available: 1 node(s) had untolerated taint {team: blue}, 2 node(s) didn't match Pod's node "
            "affinity/selector.");
}

TEST_F(Tally, ANodeThatComesGoesOrChangesIsCountedAsItIs) {
  see(tainted("n0", "blue"));
  see(tainted("n1", "blue"));
  see(tolerant("p"));
  step();
  EXPECT_EQ(said_of("p"), "0/2 nodes are available: 2 node(s) had untolerated taint {team: blue}.");
  see(tainted("n1", "red"));
  see(tainted("n2", "red"));
  step();
  EXPECT_EQ(said_of("p"),
            "0/3 nodes are available: 1 node(s) had untolerated taint {team: blue}, 2 node(s) had untolerated taint "
            "{team: red}.");
  gone(tainted("n1", "red"));
  step();
  EXPECT_EQ(said_of("p"),
            "0/2 nodes are available: 1 node(s) had untolerated taint {team: blue}, 1 node(s) had untolerated taint "
            "{team: red}.");
}

TEST_F(Tally, ATaintCountsByTheFirstThatIsNotToleratedOfTheNodes) {
  Node both = tainted("n0", "blue");
  both.taints.push_back({PooledString("disk"), PooledString("slow"), kube::TaintEffect::kNoExecute});
  both.taints.push_back({PooledString("heat"), PooledString("high"), kube::TaintEffect::kPreferNoSchedule});
  see(both);
  Node mild = tainted("n1", "blue");
  mild.taints.push_back({PooledString("heat"), PooledString("low"), kube::TaintEffect::kPreferNoSchedule});
  see(mild);
  see(tolerant("of-blue", "blue"));
  see(tolerant("of-none"));
  for (int p = 0; p < 8; ++p) see(tolerant("full" + std::to_string(p), "blue"));
  step();
  EXPECT_EQ(said_of("of-none"), "0/2 nodes are available: 2 node(s) had untolerated taint {team: blue}.");
  see(tolerant("late", "blue"));
  step();
  EXPECT_EQ(said_of("late"),
            "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) had untolerated taint {disk: slow}.");
}

TEST_F(Tally, CompanyIsCountedByItsReason) {
  for (int n = 0; n < 40; ++n) {
    const std::string name = "n" + std::to_string(n);
    see(tainted(name, "blue"));
    see(lonely("l" + std::to_string(n), name));
  }
  for (int p = 0; p < 5; ++p) see(tolerant("p" + std::to_string(p), "blue"));
  step();
  for (int turn = 0; turn < 3; ++turn)
    for (int p = 0; p < 5; ++p)
      EXPECT_EQ(said_of("p" + std::to_string(p)),
                "0/40 nodes are available: 40 node(s) didn't satisfy existing pods anti-affinity rules.");
  EXPECT_EQ(tally.looks(), 0u) << "the rule's own reason counts them";
}

TEST_F(Tally, NodesThatAreTooSmallOrKeptForOtherPodsAreNotCountedUnderTheirTaints) {
  Node small = tainted("small", "green");
  small.allocatable.extended = {};
  see(small);
  see(tainted("fits", "blue"));
  see(tainted("crowded", "blue", "r1"));
  see(lonely("l", "crowded"));
  see(tolerant("p"));
  step();
  EXPECT_EQ(said_of("p"),
            "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) didn't satisfy existing pods "
            "anti-affinity rules, 1 node(s) had untolerated taint {team: blue}.");
  EXPECT_EQ(reason_text({tracker.tables(), state, state.now(), &tally}, record("p").job,
                        engine.verdict_of(record("p").job).reasons.at(0)),
            "1 node has a taint that is not tolerated: team=blue:NoSchedule; tolerated by {key: team, value: \"blue\", "
            "effect: NoSchedule}");
}

// ---- the same in a leadership ---------------------------------------------------------------------------------------

class TextsOfATerm : public ::testing::Test, public TermBench {
 protected:
  TextsOfATerm() { begin(server.api()); }
  ~TextsOfATerm() override { leader_term.reset(); }
  void see_waiting(int count) {
    for (int n = 0; n < 3; ++n) {
      Node tainted = node("n" + std::to_string(n), 8);
      tainted.taints = {{PooledString("team"), PooledString("blue"), kube::TaintEffect::kNoSchedule}};
      see(tainted);
    }
    for (int p = 0; p < count; ++p) {
      PodRules rules;
      rules.tolerations = {
          {PooledString("own-" + std::to_string(p)), PooledString(""), true, kube::TaintEffect::kNoSchedule}};
      see(under(pod("p" + std::to_string(p), 1), rules));
    }
  }
  std::uint64_t asked() const {
    return leader_term->status_writer().counters().conditions + leader_term->status_writer().counters().events;
  }

  ScriptedApi server{[](const http::ServerRequest&) { return http::json(200, "{}"); }, [this] { return now; }};
};

TEST_F(TextsOfATerm, ADecisionAboutAThousandPodsMakesNoTextAndEachIsMadeWithItsRequest) {
  see_waiting(1'000);
  leader_term->turn();
  ASSERT_EQ(leader_term->steps(), 1u);
  EXPECT_EQ(leader_term->status_writer().depth() + leader_term->status_writer().in_flight(), 2'000u)
      << "a condition and an event each";
  EXPECT_GT(asked(), 0u);
  EXPECT_EQ(leader_term->texts_made(), asked()) << "what went out at once";
  ASSERT_TRUE(server.until([&] {
    leader_term->turn();
    return leader_term->status_writer().depth() == 0 && leader_term->status_writer().in_flight() == 0;
  }));
  EXPECT_EQ(asked(), 2'000u);
  EXPECT_LE(leader_term->texts_made(), asked() + 1) << "one to see whether the conditions still say how things are";
  const std::string words = "0/3 nodes are available: 3 node(s) had untolerated taint {team: blue}.";
  EXPECT_EQ(server.count({"POST", R"("reason":"FailedScheduling")", words}), 1'000u);
  EXPECT_EQ(server.count({"PATCH", words}), 1'000u);
}

TEST_F(TextsOfATerm, AnswersCountTheNodesOnceForAll) {
  Pod lonely = pod("lonely", 0);
  PodRules rules;
  rules.required_anti_affinity = {
      {.selector = {.present = true, .match_labels = {{PooledString("app"), PooledString("web")}}},
       .topology_key = PooledString("l/rack")}};
  lonely = under(std::move(lonely), rules);
  lonely.node_name = PooledString("crowded");
  for (const char* name : {"crowded", "a", "b"}) see(node_in("r0", name));
  Node closed = node_in("r1", "c");
  closed.taints = {{PooledString("team"), PooledString("blue"), kube::TaintEffect::kNoSchedule}};
  see(closed);
  see(lonely);
  for (int p = 0; p < 5; ++p) {
    Pod web = pod("web" + std::to_string(p), 1, {{PooledString("app"), PooledString("web")}});
    web.requests.memory = Bytes(1024 + p);
    see(web);
  }
  leader_term->turn();
  const NodeTally& tally = *replica->text_context().kept;
  http::ServerRequest request;
  request.query = "name=ns%2Fweb0";
  constexpr std::uint64_t kAnswers = 3;
  for (std::uint64_t i = 0; i < kAnswers; ++i) {
    answer_queue(*replica, {});
    EXPECT_NE(answer_why(*replica, request).body.find("untolerated taint"), std::string::npos);
  }
  EXPECT_EQ(tally.looks(), 4u + 2 * kAnswers)
      << "for their taints; each text asks whether company excludes the tainted one";
}

}  // namespace
}  // namespace ashlar::kube
