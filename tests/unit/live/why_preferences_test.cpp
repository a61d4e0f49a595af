// What `ashlar why` says about the preferences of a pod that has a place.
#include <algorithm>

#include "documented/documented.h"
#include "live/read/read_api.h"
#include "term_bench.h"

namespace ashlar::kube {
namespace {

/// Node nN in zone zN, as far as a test sees them.
class WhyPreferences : public ::testing::Test, protected TermBench {
 protected:
  void SetUp() override { begin(); }
  void see_node(int i, std::int64_t gpus = 8, Labels more = {}) { see(zoned(i, gpus, std::move(more))); }
  static Node zoned(int i, std::int64_t gpus, Labels more = {}) {
    Labels labels{{"zone", "z" + std::to_string(i)}};
    labels.insert(labels.begin(), more.begin(), more.end());
    return node("n" + std::to_string(i), gpus, std::move(labels));
  }
  static PodAffinityTerm pods_of(const std::string& app) {
    PodAffinityTerm term;
    term.selector = {.present = true, .match_labels = {{"app", app}}, .expressions = {}};
    term.topology_key = "zone";
    return term;
  }
  static PreferredTerm in_zone(std::int32_t weight, const std::string& zone) {
    PreferredTerm preferred;
    preferred.weight = weight;
    preferred.term.expressions.push_back({.key = "zone", .op = SelectorOp::kIn, .values = {zone}});
    return preferred;
  }
  static Pod app(const std::string& name, const std::string& of_app, std::int64_t gpus = 0) {
    return pod(name, gpus, {{"app", of_app}});
  }
  std::string why(const std::string& name) {
    leader_term->turn();
    http::ServerRequest request;
    request.query = "name=ns%2F" + name;
    const std::string body = answer_why(*replica, request).body;
    EXPECT_EQ(undocumented(body), "") << body;
    leader_term->turn();  // the readers' state still follows
    return body;
  }
  void expect_says(const std::string& name, const std::string& words) {
    const std::string body = why(name);
    EXPECT_NE(body.find(words), std::string::npos) << body;
  }
};

TEST_F(WhyPreferences, APodWithoutAnyHasNone) {
  see_node(0);
  see(pod("p", 1));
  EXPECT_EQ(why("p").find("preferences"), std::string::npos) << why("p");
}

TEST_F(WhyPreferences, AnUnmetOneNamesWhatRefusesThePodOnTheNodesThatMeetIt) {
  see_node(0);
  see_node(1, 0);
  PodRules rules;
  rules.preferred_affinity = {in_zone(80, "z1"), in_zone(20, "z0")};
  see(under(pod("p", 1), rules));
  expect_says("p", R"({"kind":"NodeAffinity","message":"node affinity (weight 80) zone=z1: not met","best":false,)"
                   R"x("cost":"1 node is better in this and would not take it (1 Insufficient nvidia.com/gpu)"})x");
  expect_says("p", R"({"kind":"NodeAffinity","message":"node affinity (weight 20) zone=z0: met","best":true})");
}

TEST_F(WhyPreferences, AnUnmetOneSaysWhatItWouldHaveCost) {
  see_node(0);
  see_node(1);
  see(on(app("web-0", "web"), "n0"));
  PodRules rules;
  rules.preferred_affinity = {in_zone(10, "z0")};
  rules.preferred_anti_affinity = {{100, pods_of("web")}};
  rules.preferred_pod_affinity = {{1, pods_of("web")}};
  see(under(pod("p", 1), rules));
  expect_says("p", R"("points":500,"pointsMost":500)");
  expect_says("p", R"("message":"pod anti-affinity (weight 100) to app=web by zone: 1 such pod in its domain, )"
                   R"(0 in the best","best":false,"cost":"n1 is better in this and ranks alike"})");
}

TEST_F(WhyPreferences, TermsAboutPodsCountThemInTheDomain) {
  for (int i = 0; i < 3; ++i) see_node(i);
  for (int i = 0; i < 3; ++i) see(on(app("db-" + std::to_string(i), "db"), i == 0 ? "n0" : "n1"));
  for (int i = 0; i < 4; ++i) see(on(app("web-" + std::to_string(i), "web"), "n1"));
  PodRules rules;
  rules.preferred_pod_affinity = {{10, pods_of("db")}};
  rules.preferred_anti_affinity = {{60, pods_of("web")}};
  see(under(pod("p", 1), rules));
  expect_says(
      "p", R"("message":"pod affinity (weight 10) to app=db by zone: 1 such pod in its domain, 2 in the best",)"
           R"("best":false,"cost":"n1 is better in this, at the cost of all preferences together: 300 points against )"
           R"(500 here"})");
  expect_says("p", R"("message":"pod anti-affinity (weight 60) to app=web by zone: 0 such pods in its domain",)"
                   R"("best":true})");
}

TEST_F(WhyPreferences, ASoftSpreadAndItsLabel) {
  see_node(0);
  see_node(1, 0);
  see(on(app("web-0", "web"), "n0"));
  PodRules rules;
  TopologySpread spread;
  spread.selector = {.present = true, .match_labels = {{"app", "web"}}, .expressions = {}};
  spread.topology_key = "zone";
  spread.max_skew = 2;
  rules.preferred_spread = {spread};
  see(under(app("p", "web", 1), rules));
  expect_says("p", R"("message":"spread (maxSkew 2) of app=web by zone: 1 such pod in its domain, 0 in the emptiest")");
  see(node("plain", 16));
  see(under(app("q", "web", 16), rules));
  expect_says("q", R"("message":"spread (maxSkew 2) of app=web by zone: its node does not have the label")");
}

TEST_F(WhyPreferences, SoftTaintsAndWhatPlacedPodsSayOfIt) {
  Node tainted = zoned(0, 8);
  tainted.taints = {{"busy", "yes", TaintEffect::kPreferNoSchedule}};
  see(tainted);
  see_node(1, 0);
  see(pod("p", 1));
  expect_says("p", R"("message":"PreferNoSchedule taints: 1 not tolerated, 0 on the best node")");
  PodRules rules;
  rules.preferred_pod_affinity = {{7, pods_of("web")}};
  see(on(under(pod("friend", 0), rules), "n1"));
  see(app("web-0", "web", 1));
  expect_says(
      "web-0",
      R"("kind":"OtherPods","message":"what affinity of placed pods says of it: weights add up to 0, 7 on the best node")");
}

TEST_F(WhyPreferences, ImagesThatOtherNodesHave) {
  see_node(0);
  Node with_image = zoned(1, 0);
  with_image.images = {{"app:1", std::int64_t{10} << 30}};
  see(with_image);
  PodRules rules;
  rules.images = {"app:1"};
  see(under(pod("p", 1), rules));
  expect_says("p", R"("kind":"Images","message":"images that the node has: 0 of 100 points, 100 on the best node")");
}

TEST_F(WhyPreferences, NodesAreComparedAsTheyAreNow) {
  see_node(0);
  PodRules rules;
  rules.preferred_affinity = {in_zone(80, "z1")};
  see(under(pod("p", 1), rules));
  expect_says("p", R"("message":"node affinity (weight 80) zone=z1: not met","best":true})");
  see_node(1);
  expect_says("p", "n1 is better in this and would rank first now: prefer ");
  Node closed = zoned(0, 8);
  closed.taints = {{"gone", "", TaintEffect::kNoSchedule}};
  see(closed);
  const std::string body = why("p");
  EXPECT_NE(body.find("n1 is better in this and would take it now, unlike its own node"), std::string::npos) << body;
  EXPECT_EQ(body.find("\"points\""), std::string::npos) << body;
}

TEST_F(WhyPreferences, AMemberStaysInTheDomainOfItsGang) {
  for (int i = 0; i < 3; ++i)
    see(node("n" + std::to_string(i), 8,
             {{"l/block", "b"}, {"l/rack", i < 2 ? "r0" : "r1"}, {"zone", "z" + std::to_string(i)}}));
  PodRules rules;
  rules.preferred_affinity = {in_zone(80, "z2")};
  for (int i = 0; i < 2; ++i) see(with(under(gang_pod("g", i, 2, 8), rules), "ashlar.dev/within", "l/rack"));
  expect_says("g-0", "1 node is better in this and would not take it (1 outside the domain of its gang)");
}

TEST_F(WhyPreferences, OfAPodThatAnotherLeaderHasPlacedTheyAreNotCompared) {
  see_node(0);
  PodRules rules;
  rules.preferred_affinity = {in_zone(80, "z1")};
  see(on(under(pod("p", 1), rules), "n0"));
  see(on(pod("q", 1), "n0"));
  expect_says("p", R"("preferences":{"unknown":"it was placed before this scheduler was the leader"})");
  EXPECT_EQ(why("q").find("preferences"), std::string::npos);
}

/// Packing comes first, preferences last.
class WhyOtherTiers : public WhyPreferences {
 protected:
  WhyOtherTiers() {
    options.profile = [](const auto&) {
      Profile profile = builtin_profile("ashlar").value();
      std::ranges::reverse(profile.tiers);
      return profile;
    };
  }
};

TEST_F(WhyOtherTiers, TheTierThatDecidesIsNamed) {
  see_node(0);
  see_node(1);
  see(on(pod("half", 4), "n0"));
  PodRules rules;
  rules.preferred_affinity = {in_zone(80, "z1")};
  see(under(pod("p", 4), rules));
  expect_says("p", "n1 is better in this, at the cost of pack-tight: ");
}

TEST_F(WhyPreferences, NamesExpressionsOfEveryOperator) {
  see_node(0, 8, {{"disk", "ssd"}});
  PodRules rules;
  PreferredTerm preferred = in_zone(1, "z0");
  auto& all = preferred.term.expressions;
  all.push_back({.key = "disk", .op = SelectorOp::kNotIn, .values = {"a", "b"}});
  all.push_back({.key = "disk", .op = SelectorOp::kExists, .values = {}});
  all.push_back({.key = "tape", .op = SelectorOp::kDoesNotExist, .values = {}});
  all.push_back({.key = "age", .op = SelectorOp::kGt, .values = {"3"}});
  all.push_back({.key = "age", .op = SelectorOp::kLt, .values = {"9"}});
  preferred.term.fields.push_back({.key = "metadata.name", .op = SelectorOp::kIn, .values = {"n0", "n1"}});
  rules.preferred_affinity = {preferred};
  see(under(pod("p", 1), rules));
  expect_says("p", "zone=z0, disk not in (a, b), disk exists, no tape, age > 3, age < 9, metadata.name in (n0, n1)");
}

TEST_F(WhyPreferences, ABindingSaysWhatItWaitsFor) {
  see_node(0);
  see(pod("p", 1));
  expect_says("p", R"("headline":"is being bound to n0")");
  leader_term->tracker().note_bind_wait(slot_of("p"), "persistentvolumeclaim ns/data is not bound yet");
  expect_says("p", R"("headline":"is being bound to n0; waits: persistentvolumeclaim ns/data is not bound yet")");
}

}  // namespace
}  // namespace ashlar::kube
