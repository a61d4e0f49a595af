// What `ashlar why` answers, from the pod as the API server has it to the document.
#include "kube/live_read.h"
#include "reign_bench.h"

namespace ashlar::kube {
namespace {

TEST(Why, ListsThePreferencesThatAreNotEvaluated) {
  ReignBench bench;
  bench.begin();
  PodRules rules;
  rules.ignored_soft = {Text("spec.affinity.podAffinity.preferred"), Text("spec.topologySpreadConstraints[0]")};
  bench.see(ReignBench::under(ReignBench::pod("p", 0), rules));
  http::ServerRequest request;
  request.query = "name=ns%2Fp";
  const http::ServerResponse answer = answer_why(*bench.reign, request);
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find(R"("ignored":["spec.affinity.podAffinity.preferred","spec.topologySpreadConstraints[0]"])"), std::string::npos)
      << answer.body;
}

}  // namespace
}  // namespace ashlar::kube
