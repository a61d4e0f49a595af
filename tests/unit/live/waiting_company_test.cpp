// Rules of waiting pods about others: they hold from the moment that the pod has a place, whether it is bound yet or
// not, and mean the pod itself by the labels that its namespace has now.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class WaitingCompany : public TrackerBench {
 protected:
  WaitingCompany() { is_answering = false; }
  static KeyValue label(const char* key, const std::string& value) { return {PooledString(key), PooledString(value)}; }
  static PodAffinityTerm pods_with(const char* key, const char* value) {
    PodAffinityTerm term;
    term.selector = {.present = true, .match_labels = {label(key, value)}, .expressions = {}};
    term.topology_key = PooledString("host");
    return term;
  }
  /// The same in the namespaces of the red team.
  static PodAffinityTerm red_pods_with(const char* key, const char* value) {
    PodAffinityTerm term = pods_with(key, value);
    term.namespace_selector = {.present = true, .match_labels = {label("team", "red")}, .expressions = {}};
    return term;
  }
  static Pod away_from(PodAffinityTerm term, Pod of) {
    PodRules rules;
    rules.required_anti_affinity = {std::move(term)};
    return under(std::move(of), std::move(rules));
  }
  static Pod near(PodAffinityTerm term, Pod of) {
    PodRules rules;
    rules.required_pod_affinity = {std::move(term)};
    return under(std::move(of), std::move(rules));
  }
  void see_host(const std::string& name) { see(node(name, 8, {label("host", name)})); }
  void see_team(const std::string& team) {
    Namespace ns;
    ns.name = PooledString("ns");
    ns.labels = {label("team", team)};
    see(std::move(ns));
  }
  /// All members that have a place.
  std::string places(const std::string& a, const std::string& b) { return where(a) + "," + where(b); }
};

TEST_F(WaitingCompany, APodThatHasAPlaceKeepsOthersAwayThatAreDecidedWithIt) {
  see_host("n");
  see(away_from(pods_with("app", "web"), pod("alone", 1)));
  see(pod("web", 1, {label("app", "web")}));
  see(pod("other", 1, {label("app", "batch")}));
  step();
  EXPECT_EQ(where("alone"), "n");
  EXPECT_EQ(where("web"), "");
  EXPECT_EQ(where("other"), "n");
}

TEST_F(WaitingCompany, APodWhoseBindingIsNotAnsweredKeepsAwayThoseThatComeThen) {
  see_host("n");
  const Pod alone = away_from(pods_with("app", "web"), pod("alone", 1));
  see(alone);
  step();
  ASSERT_EQ(record("alone").phase, PodRecord::Phase::kAssumed);
  see(pod("web", 1, {label("app", "web")}));
  step();
  EXPECT_EQ(where("web"), "");
  gone(alone);
  step();
  EXPECT_EQ(where("web"), "n");
}

TEST_F(WaitingCompany, AMemberKeepsThoseOfItsGangAwayThatHaveNoRules) {
  see_host("n");
  see(with(away_from(pods_with("role", "worker"), gang_pod("g", 0, 2, 4)), "role", "leader"));
  see(with(gang_pod("g", 1, 2, 2), "role", "worker"));
  step();
  EXPECT_EQ(places("g-0", "g-1"), ",");
  see_host("m");
  step();
  EXPECT_NE(where("g-0"), "");
  EXPECT_NE(where("g-1"), "");
  EXPECT_NE(where("g-0"), where("g-1"));
}

TEST_F(WaitingCompany, RowsOfWaitingPodsThatKeepOthersAwayAreGivenBack) {
  see(away_from(pods_with("app", "web"), pod("alone", 1)));
  see(pod("web", 1, {label("app", "web")}));
  step();
  EXPECT_EQ(tracker.translator().company().selector_count(), 1u);
  gone(pod("alone", 1));
  gone(pod("web", 1));
  for (int i = 0; i < 3; ++i) step();
  EXPECT_EQ(tracker.translator().company().selector_count(), 0u);
}

TEST_F(WaitingCompany, ANamespaceThatGetsALabelMakesAPodTheFirstOfItsKind) {
  see_host("n");
  see_team("blue");
  see(near(red_pods_with("app", "a"), pod("p", 1, {label("app", "a")})));
  step();
  EXPECT_EQ(where("p"), "");
  see_team("red");
  step();
  EXPECT_EQ(where("p"), "n");
}

TEST_F(WaitingCompany, APodOfANamespaceThatIsNotKnownYetIsNoFirstOfItsKind) {
  see_host("n");
  see(near(red_pods_with("app", "a"), pod("p", 1, {label("app", "a")})));
  step();
  EXPECT_EQ(where("p"), "") << "it may be none of the pods that it must be near";
  see_team("blue");
  step();
  EXPECT_EQ(where("p"), "") << "it is none of them";
  see_team("red");
  step();
  EXPECT_EQ(where("p"), "n");
}

TEST_F(WaitingCompany, MembersKeepEachOtherAwayOnceTheirNamespaceHasTheLabel) {
  see_team("blue");
  for (int i = 0; i < 2; ++i) see(away_from(red_pods_with("app", "a"), with(gang_pod("g", i, 2, 1), "app", "a")));
  step();
  see_team("red");
  see_host("n");
  step();
  EXPECT_EQ(places("g-0", "g-1"), ",");
  see_host("m");
  step();
  EXPECT_NE(where("g-0"), where("g-1"));
  EXPECT_NE(where("g-0"), "");
}

}  // namespace
}  // namespace ashlar::kube
