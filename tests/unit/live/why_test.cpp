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

}  // namespace
}  // namespace ashlar::kube
