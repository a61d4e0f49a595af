// What is said of pods that rules about other pods keep off nodes: numbers and names, term by term.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class CompanyTexts : public TrackerBench {
 protected:
  static constexpr const char *kZone = "topology.kubernetes.io/zone", *kHost = "kubernetes.io/hostname";
  /// The sentence of the reason; empty: the pod does not wait for it.
  std::string text(const std::string& name, ReasonCode code, bool is_brief = false) {
    TextContext context{tracker.tables(), state, state.now()};
    context.is_brief = is_brief;
    const JobId job = record(name).job;
    for (const Reason& r : reported_reasons(context, job, engine.verdict_of(job)))
      if (r.code == code) return reason_text(context, job, r);
    return {};
  }
  static Node in_zone(const std::string& name, const std::string& zone) {
    Node n = node(name, 8, {{kHost, PooledString(name)}});
    if (!zone.empty()) n.labels.push_back({kZone, PooledString(zone)});
    return n;
  }
  static Node full(Node n) {
    n.allocatable.cpu = MilliCores(500);
    return n;
  }
  static Node tainted(Node n, const std::string& key, const std::string& value,
                      kube::TaintEffect effect = kube::TaintEffect::kNoSchedule) {
    n.taints.push_back({PooledString(key), PooledString(value), effect});
    return n;
  }
  static Pod web(const std::string& name, PodRules rules = {}) {
    return under(pod(name, 0, {{"app", "web"}}), std::move(rules));
  }
  static LabelSelector selects(const std::string& app) {
    return {.present = true, .match_labels = {{"app", PooledString(app)}}};
  }
  static PodAffinityTerm to(const std::string& app, const char* by) {
    return {.selector = selects(app), .topology_key = by};
  }
  static PodRules spread(const char* by, std::int32_t min_domains = 1) {
    TopologySpread spread;
    spread.selector = selects("web");
    spread.topology_key = by;
    spread.min_domains = min_domains;
    PodRules rules;
    rules.spread = {spread};
    return rules;
  }
  static PodRules near(const std::string& app, const char* by) {
    PodRules rules;
    rules.required_pod_affinity = {to(app, by)};
    return rules;
  }
  static PodRules apart_from(const std::string& app, const char* by) {
    PodRules rules;
    rules.required_anti_affinity = {to(app, by)};
    return rules;
  }
};

TEST_F(CompanyTexts, ASpreadSaysHowManyDomainsAreClosedAndWhereTheFewestPodsAre) {
  see(in_zone("n0", "a"));
  see(in_zone("n1", "b"));
  see(full(in_zone("n2", "c")));
  see(on(web("web-0"), "n0"));
  see(on(web("web-1"), "n1"));
  see(web("web-2", spread(kZone)));
  step();
  const std::string sentence =
      "2 nodes are excluded by its topology spread constraints: 2 of 3 domains of topology.kubernetes.io/zone would "
      "exceed maxSkew 1; the fewest (0) of pods with app=web are in c";
  EXPECT_EQ(text("web-2", ReasonCode::kTopologySpread), sentence);
  EXPECT_EQ(text("web-2", ReasonCode::kTopologySpread, true),
            "2 nodes are excluded by its topology spread constraints");
  EXPECT_EQ(verdict_of("web-2").message.find("maxSkew"), std::string::npos) << "a condition has kube-scheduler's words";
}

TEST_F(CompanyTexts, ASpreadSaysIfTheFewestAreWhereThePodMayNotGo) {
  see(in_zone("n0", "a"));
  see(in_zone("n1", "b"));
  see(tainted(in_zone("n2", "c"), "team", "blue"));
  see(in_zone("bare", ""));
  see(on(web("web-0"), "n0"));
  see(on(web("web-1"), "n1"));
  see(web("web-2", spread(kZone)));
  step();
  EXPECT_EQ(text("web-2", ReasonCode::kTopologySpread),
            "3 nodes are excluded by its topology spread constraints: 2 of 3 domains of topology.kubernetes.io/zone "
            "would exceed maxSkew 1; the fewest (0) of pods with app=web are in c, whose nodes other rules exclude; 1 "
            "node lacks the label");
}

TEST_F(CompanyTexts, ASpreadOverMoreDomainsThanThereAreSaysSo) {
  see(in_zone("n0", "a"));
  see(in_zone("n1", "b"));
  see(on(web("web-0"), "n0"));
  see(on(web("web-1"), "n1"));
  see(web("web-2", spread(kZone, 3)));
  step();
  EXPECT_EQ(text("web-2", ReasonCode::kTopologySpread),
            "2 nodes are excluded by its topology spread constraints: 2 of 2 domains of topology.kubernetes.io/zone "
            "would exceed maxSkew 1 of pods with app=web: the fewest count as 0, since there are fewer than minDomains "
            "3");
}

TEST_F(CompanyTexts, AnAffinitySaysWhereThePodsAre) {
  see(in_zone("n0", "a"));
  see(full(in_zone("n1", "b")));
  see(in_zone("n2", "c"));
  see(web("web-0", near("db", kZone)));
  step();
  EXPECT_EQ(text("web-0", ReasonCode::kPodAffinity),
            "3 nodes are excluded by its pod affinity: no domain of topology.kubernetes.io/zone has pods with app=db");
  see(on(pod("db", 0, {{"app", "db"}}), "n1"));
  step();
  EXPECT_EQ(text("web-0", ReasonCode::kPodAffinity),
            "2 nodes are excluded by its pod affinity: pods with app=db are in 1 of 3 domains of "
            "topology.kubernetes.io/zone (b)");
  see(tainted(full(in_zone("n1", "b")), "team", "blue"));
  step();
  EXPECT_EQ(text("web-0", ReasonCode::kPodAffinity),
            "2 nodes are excluded by its pod affinity: pods with app=db are only in domains of "
            "topology.kubernetes.io/zone whose nodes other rules exclude (b)");
}

TEST_F(CompanyTexts, AnAffinityThatNamesNoPodsIsCalledSo) {
  see(in_zone("n0", "a"));
  PodRules rules = near("db", kZone);
  rules.required_pod_affinity.front().selector.present = false;
  see(web("web-0", rules));
  step();
  EXPECT_EQ(text("web-0", ReasonCode::kPodAffinity),
            "1 node is excluded by its pod affinity: it names no pods: a term has no labelSelector, or its terms have "
            "no namespace in common");
}

TEST_F(CompanyTexts, AnAntiAffinityNamesAPodAndItsNode) {
  for (const char* name : {"n0", "n1"}) see(in_zone(name, "a"));
  see(on(web("web-0", apart_from("web", kHost)), "n0"));
  see(on(web("web-1", apart_from("web", kHost)), "n1"));
  see(web("web-2", apart_from("web", kHost)));
  see(web("plain"));
  step();
  EXPECT_EQ(
      text("web-2", ReasonCode::kOwnAntiAffinity),
      "2 nodes are excluded by its own pod anti-affinity: 2 of 2 domains of kubernetes.io/hostname have pods with "
      "app=web, e.g. ns/web-0 on n0");
  EXPECT_EQ(text("plain", ReasonCode::kPodAntiAffinity),
            "2 nodes are excluded by the anti-affinity of existing pods: 2 of 2 domains of kubernetes.io/hostname have "
            "pods that keep it away, e.g. ns/web-0 on n0");
}

TEST_F(CompanyTexts, APodOfAnotherNamespaceIsNamedWithIt) {
  see(in_zone("n0", "a"));
  PodRules rules = apart_from("web", kZone);
  rules.required_anti_affinity[0].namespaces = {"other"};
  see(on(under(pod("w", 0, {{"app", "web"}}, "other"), {}), "n0"));
  see(web("mine", rules));
  step();
  EXPECT_EQ(text("mine", ReasonCode::kOwnAntiAffinity),
            "1 node is excluded by its own pod anti-affinity: 1 of 1 domain of topology.kubernetes.io/zone has pods "
            "with app=web of other namespaces, e.g. other/w on n0");
}

TEST_F(CompanyTexts, NamespacesOfARuleAreThoseThatItSelects) {
  see(in_zone("n0", "a"));
  see(on(web("web-0"), "n0"));
  const auto text_of = [&](const std::string& name, const std::function<void(PodAffinityTerm&)>& scope) {
    PodRules rules = apart_from("web", kZone);
    scope(rules.required_anti_affinity[0]);
    see(web(name, rules));
    step();
    return text(name, ReasonCode::kOwnAntiAffinity);
  };
  const std::string begins =
      "1 node is excluded by its own pod anti-affinity: 1 of 1 domain of topology.kubernetes.io/zone has pods with "
      "app=web";
  EXPECT_EQ(text_of("own", [](PodAffinityTerm&) {}), begins + ", e.g. ns/web-0 on n0");
  EXPECT_EQ(text_of("listed",
                    [](PodAffinityTerm& t) {
                      t.namespaces = {"ns", "other"};
                    }),
            begins + " of selected namespaces, e.g. ns/web-0 on n0");
  EXPECT_EQ(text_of("any", [](PodAffinityTerm& t) { t.namespace_selector.present = true; }),
            begins + " of all namespaces, e.g. ns/web-0 on n0");
}

}  // namespace
}  // namespace ashlar::kube
