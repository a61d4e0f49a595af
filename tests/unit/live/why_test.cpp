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

/// A gang x of a leader and two workers that must share a rack.
class WhyOfGroups : public ::testing::Test {
 protected:
  WhyOfGroups() {
    bench.begin();
    for (const auto& [name, min_count] : {std::pair("leader", 1), std::pair("workers", 2)}) {
      PodGroup group;
      group.ns = PooledString("ns");
      group.name = PooledString(name);
      group.uid = PooledString(name);
      group.min_count = min_count;
      group.annotations = {{PooledString("ashlar.dev/gang"), PooledString("x")},
                           {PooledString("ashlar.dev/gang-size"), PooledString("2")}};
      if (min_count == 2) group.topology_key = PooledString("l/rack");
      bench.see(group);
    }
    see_member("leader", 0, 1);
  }
  void see_member(const std::string& group, int index, int gpus) {
    Pod p = TermBench::pod(group + "-" + std::to_string(index), gpus);
    p.group_name = PooledString(group);
    bench.see(p);
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
}

}  // namespace
}  // namespace ashlar::kube
