// Pods already bound that refuse company keep others out of their domain.
#include "bench_of_intake.h"

namespace ashlar::kube {
namespace {

class AntiAffinityTest : public IntakeBench {
 protected:
  /// A bound pod of another scheduler that refuses pods with app=web in its rack.
  Pod loner(const std::string& node_name) {
    PodRules rules;
    PodAffinityTerm term;
    term.selector.present = true;
    term.selector.match_labels = {{Text("app"), Text("web")}};
    term.topology_key = Text("l/rack");
    rules.required_anti_affinity.push_back(term);
    rules.unsupported = Text("spec.affinity.podAntiAffinity.required");
    Pod p = pod("loner", 0);
    p.scheduler_name = Text("default-scheduler");
    p.rules = std::make_shared<const PodRules>(rules);
    p.node_name = Text(node_name);
    return p;
  }
  void see_two_racks() {
    see(node("a", 8, {{Text("l/block"), Text("b")}, {Text("l/rack"), Text("r0")}}));
    see(node("b", 8, {{Text("l/block"), Text("b")}, {Text("l/rack"), Text("r0")}}));
    see(node("c", 8, {{Text("l/block"), Text("b")}, {Text("l/rack"), Text("r1")}}));
  }
};

TEST_F(AntiAffinityTest, TheWholeDomainIsLeftOut) {
  see_two_racks();
  see(loner("a"));
  see(pod("web", 1, {{Text("app"), Text("web")}}));
  see(pod("other", 1, {{Text("app"), Text("batch")}}));
  step();
  EXPECT_EQ(where("web"), "c");
  EXPECT_NE(where("other"), "");
}

TEST_F(AntiAffinityTest, PodsOfOtherNamespacesAreNotMeant) {
  see_two_racks();
  see(loner("a"));
  see(pod("web", 8, {{Text("app"), Text("web")}}, "elsewhere"));
  see(pod("web2", 8, {{Text("app"), Text("web")}}, "elsewhere"));
  see(pod("web3", 8, {{Text("app"), Text("web")}}, "elsewhere"));
  step();
  EXPECT_EQ(record("web3", "elsewhere").phase, PodRecord::Phase::kBound);
}

TEST_F(AntiAffinityTest, WaitingPodsFollowWhatComesAndGoes) {
  see_two_racks();
  see(pod("filler", 8));
  see(loner("a"));
  see(loner("c"));  // the loner is somewhere else now: the same pod, told anew
  step();
  Pod web = pod("web", 8, {{Text("app"), Text("web")}});
  see(web);
  step();
  const std::string first = where("web");
  EXPECT_NE(first, "c");
  gone(web);
  gone(loner("c"));
  step();
  for (const char* name : {"w1", "w2"}) see(pod(name, 8, {{Text("app"), Text("web")}}));
  step();
  EXPECT_NE(where("w1"), "");
  EXPECT_NE(where("w2"), "");
}

TEST_F(AntiAffinityTest, ATolerationAddedToABoundPodLeavesNothingBehind) {
  see_two_racks();
  see(loner("a"));
  Pod tolerant = loner("a");
  PodRules rules = *tolerant.rules;
  rules.tolerations.push_back({Text(), Text(), true, TaintEffect::kAny});
  tolerant = under(tolerant, rules);
  see(tolerant);
  gone(tolerant);
  for (const char* name : {"w1", "w2", "w3"}) see(pod(name, 8, {{Text("app"), Text("web")}}));
  step();
  for (const char* name : {"w1", "w2", "w3"}) EXPECT_NE(where(name), "") << name;
}

TEST_F(AntiAffinityTest, TermsThatChangeUnderABoundPodAreFollowed) {
  see_two_racks();
  see(loner("a"));
  see(under(loner("a"), PodRules{}));
  for (const char* name : {"w1", "w2", "w3"}) see(pod(name, 8, {{Text("app"), Text("web")}}));
  step();
  for (const char* name : {"w1", "w2", "w3"}) EXPECT_NE(where(name), "") << name;
}

TEST_F(AntiAffinityTest, ANamespaceThatIsLabelledLaterIsLookedAtAgain) {
  see_two_racks();
  Pod p = loner("a");
  PodRules rules = *p.rules;
  rules.required_anti_affinity[0].namespace_selector.present = true;
  rules.required_anti_affinity[0].namespace_selector.match_labels = {{Text("team"), Text("red")}};
  see(under(p, rules));
  see(pod("filler", 8));
  Namespace elsewhere;
  elsewhere.name = Text("elsewhere");
  elsewhere.labels = {{Text("team"), Text("red")}};
  see(elsewhere);
  step();
  ASSERT_EQ(where("filler"), "c");
  see(pod("web", 8, {{Text("app"), Text("web")}}, "elsewhere"));
  step();
  EXPECT_EQ(record("web", "elsewhere").phase, PodRecord::Phase::kWaiting);
  elsewhere.labels = {{Text("team"), Text("blue")}};
  see(elsewhere);
  step();
  EXPECT_EQ(record("web", "elsewhere").phase, PodRecord::Phase::kBound);
}

TEST_F(AntiAffinityTest, NodesThatAreLeftOutForItAreCountedInKubeSchedulersWords) {
  see_two_racks();
  see(loner("a"));
  PodRules rules;
  rules.node_selector = {{Text("l/block"), Text("b")}, {Text("l/rack"), Text("r0")}};
  see(under(pod("web", 8, {{Text("app"), Text("web")}}), rules));
  step();
  EXPECT_EQ(verdict_of("web").message,
            "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't satisfy existing pods anti-affinity "
            "rules.");
}

}  // namespace
}  // namespace ashlar::kube
