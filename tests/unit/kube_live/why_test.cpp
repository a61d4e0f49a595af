// What `ashlar why` answers, from the pod as the API server has it to the document.
#include <gtest/gtest.h>

#include <memory>

#include "kube/live_read.h"

namespace ashlar::kube {
namespace {

TEST(Why, ListsThePreferencesThatAreNotEvaluated) {
  auto api = Api::create({.access = {.origin = "test", .server = "http://127.0.0.1:1"}});
  ASSERT_TRUE(api.ok());
  LiveMetrics metrics;
  ReignOptions options;
  options.profile = [](const auto&) { return builtin_profile("ashlar").value(); };
  LiveReign reign(**api, options, metrics, [] { return false; });
  PodRules rules;
  rules.ignored_soft = {Text("spec.affinity.podAffinity.preferred"), Text("spec.topologySpreadConstraints[0]")};
  Pod p;
  p.ns = Text("ns");
  p.name = Text("p");
  p.uid = Text("uid-p");
  p.scheduler_name = Text("ashlar");
  p.rules = std::make_shared<const PodRules>(rules);
  reign.take(Change<Pod>{Change<Pod>::Kind::kAdded, std::move(p)});
  http::ServerRequest request;
  request.query = "name=ns%2Fp";
  const http::ServerResponse answer = answer_why(reign, request);
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.body.find(R"("ignored":["spec.affinity.podAffinity.preferred","spec.topologySpreadConstraints[0]"])"), std::string::npos)
      << answer.body;
}

}  // namespace
}  // namespace ashlar::kube
