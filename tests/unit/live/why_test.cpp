// What `ashlar why` answers, from the pod as the API server has it to the document.
#include "documented/documented.h"
#include "live/read/read_api.h"
#include "term_bench.h"

namespace ashlar::kube {
namespace {

TEST(Why, ListsThePreferencesThatAreNotEvaluated) {
  TermBench bench;
  bench.begin();
  PodRules rules;
  rules.ignored_soft = {PooledString("spec.affinity.podAffinity.preferred"),
                        PooledString("spec.topologySpreadConstraints[0]")};
  bench.see(TermBench::under(TermBench::pod("p", 0), rules));
  bench.leader_term->turn();
  http::ServerRequest request;
  request.query = "name=ns%2Fp";
  const http::ServerResponse answer = answer_why(*bench.replica, request);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(undocumented(answer.body), "");
  EXPECT_NE(
      answer.body.find(R"("ignored":["spec.affinity.podAffinity.preferred","spec.topologySpreadConstraints[0]"])"),
      std::string::npos)
      << answer.body;
}

TEST(Why, SaysThatAGangHasTooManyMembersForItsPreferencesAboutItself) {
  for (const int size : {1024, 1025}) {
    TermBench bench;
    bench.begin();
    PodRules rules;
    PodAffinityTerm term;
    term.selector.present = true;
    term.selector.match_labels = {{PooledString("ashlar.dev/gang"), PooledString("g")}};
    term.topology_key = "l/rack";
    rules.preferred_anti_affinity = {{1, term}};
    bench.see(TermBench::node("n0", 8, {{PooledString("l/rack"), PooledString("r0")}}));
    for (int i = 0; i < size; ++i) bench.see(TermBench::under(TermBench::gang_pod("g", i, size, 1), rules));
    bench.leader_term->turn();
    http::ServerRequest request;
    request.query = "name=ns%2Fg";
    const http::ServerResponse answer = answer_why(*bench.replica, request);
    EXPECT_EQ(undocumented(answer.body), "");
    const bool is_said = answer.body.find("pods of its own gang (more than 1024 are alike)") != std::string::npos;
    EXPECT_EQ(is_said, size > 1024) << answer.body.substr(0, 600);
  }
}

TEST(Why, OffersNoOtherDomainToAGangThatHasBegun) {
  TermBench bench;
  bench.begin();
  const auto member = [](int index) {
    return TermBench::with(TermBench::gang_pod("g", index, 2, 8), "ashlar.dev/within", "l/rack");
  };
  const auto remedies = [&] {
    http::ServerRequest request;
    request.query = "name=ns%2Fg";
    const std::string body = answer_why(*bench.replica, request).body;
    return body.substr(std::min(body.find("\"remedies\""), body.size()));
  };
  bench.see(TermBench::node("n0", 8, {{PooledString("l/rack"), PooledString("r0")}}));
  bench.see(TermBench::node("n1", 8, {{PooledString("l/rack"), PooledString("r1")}}));
  for (int i = 0; i < 2; ++i) bench.see(member(i));
  bench.leader_term->turn();
  EXPECT_NE(remedies().find("DropWithin"), std::string::npos) << remedies();
  Pod begun = member(0);
  begun.node_name = PooledString("n0");
  bench.see(begun);
  bench.leader_term->turn();
  EXPECT_EQ(remedies().find("DropWithin"), std::string::npos) << remedies();
}

/// Of nodes n0 and n1 in zone a, each with a pod that keeps its like away by the label.
std::string why_of_third_replica(const char* by) {
  TermBench bench;
  bench.begin();
  for (const char* name : {"n0", "n1"})
    bench.see(TermBench::node(name, 0, {{"kubernetes.io/hostname", name}, {"topology.kubernetes.io/zone", "a"}}));
  PodRules rules;
  rules.required_anti_affinity = {
      {.selector = {.present = true, .match_labels = {{"app", "web"}}}, .topology_key = by}};
  const auto replica = [&](const char* name) {
    return TermBench::under(TermBench::pod(name, 0, {{"app", "web"}}), rules);
  };
  bench.see(TermBench::on(replica("web-0"), "n0"));
  bench.see(TermBench::on(replica("web-1"), "n1"));
  bench.see(replica("web-2"));
  bench.leader_term->turn();
  http::ServerRequest request;
  request.query = "name=ns%2Fweb-2";
  return answer_why(*bench.replica, request).body;
}

TEST(Why, OffersANodeToAReplicaThatOthersOfItsDeploymentKeepAway) {
  const std::string by_host = why_of_third_replica("kubernetes.io/hostname");
  EXPECT_NE(by_host.find(R"("message":"there was 1 more empty node like n0")"), std::string::npos) << by_host;
  EXPECT_NE(by_host.find("2 of 2 domains of kubernetes.io/hostname have pods with app=web, e.g. ns/web-0 on n0"),
            std::string::npos)
      << by_host;
  const std::string by_zone = why_of_third_replica("topology.kubernetes.io/zone");
  EXPECT_NE(by_zone.find(R"(there was 1 more empty node like n0, in another topology.kubernetes.io/zone")"),
            std::string::npos)
      << by_zone;
}

/// A gang x of a leader and two workers that must share a rack.
class WhyOfGroups : public ::testing::Test {
 protected:
  WhyOfGroups() {
    bench.begin();
    see_groups({{"leader", 1}, {"workers", 2}});
    see_member("leader", 0, 1);
  }
  /// Of two members or more: in one rack.
  void see_groups(const std::vector<std::pair<const char*, int>>& groups) {
    for (const auto& [name, min_count] : groups) {
      PodGroup group;
      group.ns = PooledString("ns");
      group.name = PooledString(name);
      group.uid = PooledString(name);
      group.min_count = min_count;
      group.annotations = {{PooledString("ashlar.dev/gang"), PooledString("x")},
                           {PooledString("ashlar.dev/gang-size"), PooledString(std::to_string(groups.size()))}};
      if (min_count > 1) group.topology_key = PooledString("l/rack");
      bench.see(group);
    }
  }
  void see_member(const std::string& group, int index, int gpus, const std::string& node = "") {
    Pod p = TermBench::pod(group + "-" + std::to_string(index), gpus);
    p.group_name = PooledString(group);
    p.node_name = PooledString(node);
    bench.see(p);
  }
  void see_node(const std::string& name, const std::string& rack, int gpus = 8) {
    bench.see(TermBench::node(name, gpus, {{PooledString("l/rack"), PooledString(rack)}}));
  }
  /// It runs; a rack of two nodes is full of its workers.
  void run() {
    see_node("n0", "r0");
    see_node("n1", "r0");
    see_node("n2", "r1", 1);
    see_member("leader", 0, 1, "n2");
    for (int i = 0; i < 2; ++i) see_member("workers", i, 8, "n" + std::to_string(i));
  }
  void expect_says(const std::string& name, const std::string& words) {
    const std::string body = why(name);
    EXPECT_NE(body.find(words), std::string::npos) << body;
  }
  std::string why(const std::string& name) {
    bench.leader_term->turn();
    http::ServerRequest request;
    request.query = "name=ns%2F" + name;
    const http::ServerResponse answer = answer_why(*bench.replica, request);
    EXPECT_EQ(undocumented(answer.body), "") << answer.body;
    return answer.body;
  }
  TermBench bench;
};

TEST_F(WhyOfGroups, ListsThemForTheGangAPodGroupAndAPod) {
  for (const char* name : {"x", "leader", "leader-0"}) {
    const std::string body = why(name);
    EXPECT_NE(body.find("MembersMissing: PodGroup workers waits until 2 of its pods exist"), std::string::npos) << body;
    EXPECT_NE(body.find(R"("groups":[{"name":"leader","size":1,"present":1,"bound":0)"), std::string::npos) << body;
    EXPECT_NE(body.find(R"({"name":"workers","size":2,"present":0,"bound":0)"), std::string::npos) << body;
  }
  EXPECT_NE(why("workers").find("MembersMissing"), std::string::npos) << "it has no pods";
}

TEST_F(WhyOfGroups, NamesThePodGroupWhoseDomainIsInTheWay) {
  bench.see(TermBench::node("n0", 8, {{PooledString("l/rack"), PooledString("r0")}}));
  bench.see(TermBench::node("n1", 8, {{PooledString("l/rack"), PooledString("r1")}}));
  bench.see(TermBench::node("n2", 1, {{PooledString("l/rack"), PooledString("r1")}}));
  for (int i = 0; i < 2; ++i) see_member("workers", i, 8);
  const std::string body = why("x");
  EXPECT_NE(body.find("PodGroup workers could be on any nodes (without its topology"), std::string::npos) << body;
  EXPECT_NE(body.find("PodGroup workers needs one rack, and none has capacity for it"), std::string::npos) << body;
}

TEST_F(WhyOfGroups, SaysWhatEachPodGroupNeeds) {
  see_node("n0", "r0");
  see_node("n1", "r1");
  see_node("n2", "r1", 1);
  for (int i = 0; i < 2; ++i) see_member("workers", i, 8);
  expect_says("x", "there was 1 more empty node like n1 in one rack for PodGroup workers\"");
  expect_says("x", "PodGroup workers had 1 member\"");
  Pod busy = TermBench::pod("busy", 8);
  busy.node_name = PooledString("n0");
  bench.see(busy);
  Pod other = TermBench::pod("other", 1);
  other.node_name = PooledString("n2");
  bench.see(other);
  expect_says("x",
              "there was 1 more empty node like n0 for PodGroup leader, and there was 1 more empty node like n1 in "
              "one rack for PodGroup workers\"");
}

TEST_F(WhyOfGroups, OneThatIsAddedToARunningGangSaysWhatItWaitsFor) {
  run();
  expect_says("x", "\"state\":\"Bound\"");
  see_groups({{"leader", 1}, {"workers", 2}, {"extra", 2}});
  expect_says("extra", "MembersMissing: PodGroup extra waits until 2 of its pods exist");
  for (int i = 0; i < 2; ++i) see_member("extra", i, 8);
  expect_says("extra", "PodGroup extra needs one rack, and none has capacity for it");
  see_node("n3", "r2");
  see_node("n4", "r3");
  expect_says("extra", "there was 1 more empty node like n3 in one rack for PodGroup extra\"");
  expect_says("extra", "PodGroup extra could be on any nodes (without its topology");
  expect_says("workers", "\"state\":\"Bound\"");
}

TEST_F(WhyOfGroups, OneThatIsAddedWhileBindingsAreUnderWayWaitsForTheirAnswers) {
  see_node("n0", "r0");
  see_node("n1", "r0");
  see_node("n2", "r1", 1);
  for (int i = 0; i < 2; ++i) see_member("workers", i, 8);
  expect_says("x", "\"state\":\"Binding\"");
  see_groups({{"leader", 1}, {"workers", 2}, {"extra", 2}});
  for (int i = 0; i < 2; ++i) see_member("extra", i, 8);
  expect_says("extra", "gang x has other PodGroups now: it waits for the answers to its bindings under way");
}

TEST_F(WhyOfGroups, OfSeveralObjectsOfOneNameItSaysWhichItMeans) {
  EXPECT_EQ(why("x").find("namesakes"), std::string::npos);
  bench.see(TermBench::pod("x", 1));
  bench.see(TermBench::pod("leader", 1));
  expect_says("x", R"("object":"pod","namesakes":["gang"])");
  expect_says("x&kind=gang", R"("object":"gang","namesakes":["pod"])");
  expect_says("x&kind=gang", R"("gang":{"name":"x")");
  expect_says("leader&kind=podgroup", R"("object":"podgroup","namesakes":["pod"])");
  expect_says("leader-0", R"("object":"pod","pod")");
  http::ServerRequest request;
  request.query = "name=ns%2Fx&kind=podgroup";
  const http::ServerResponse answer = answer_why(*bench.replica, request);
  EXPECT_EQ(answer.status, 404);
  EXPECT_NE(answer.body.find(R"(there is no PodGroup \"ns/x\"; a pod has that name)"), std::string::npos)
      << answer.body;
}

}  // namespace
}  // namespace ashlar::kube
