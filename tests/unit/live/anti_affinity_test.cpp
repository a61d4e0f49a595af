// Pods already bound that refuse company keep others out of their domain.
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class AntiAffinityTest : public TrackerBench {
 protected:
  /// A bound pod of another scheduler that refuses pods with app=web in its rack.
  Pod loner(const std::string& node_name) {
    PodRules rules;
    PodAffinityTerm term;
    term.selector.present = true;
    term.selector.match_labels = {{PooledString("app"), PooledString("web")}};
    term.topology_key = PooledString("l/rack");
    rules.required_anti_affinity.push_back(term);
    rules.unsupported = PooledString("spec.affinity.podAntiAffinity.required");
    Pod p = pod("loner", 0);
    p.scheduler_name = PooledString("default-scheduler");
    p.rules = std::make_shared<const PodRules>(rules);
    p.node_name = PooledString(node_name);
    return p;
  }
  void see_two_racks() {
    see(node("a", 8, {{PooledString("l/block"), PooledString("b")}, {PooledString("l/rack"), PooledString("r0")}}));
    see(node("b", 8, {{PooledString("l/block"), PooledString("b")}, {PooledString("l/rack"), PooledString("r0")}}));
    see(node("c", 8, {{PooledString("l/block"), PooledString("b")}, {PooledString("l/rack"), PooledString("r1")}}));
  }
};

TEST_F(AntiAffinityTest, TheWholeDomainIsLeftOut) {
  see_two_racks();
  see(loner("a"));
  see(pod("web", 1, {{PooledString("app"), PooledString("web")}}));
  see(pod("other", 1, {{PooledString("app"), PooledString("batch")}}));
  step();
  EXPECT_EQ(where("web"), "c");
  EXPECT_NE(where("other"), "");
}

TEST_F(AntiAffinityTest, PodsOfOtherNamespacesAreNotMeant) {
  see_two_racks();
  see(loner("a"));
  see(pod("web", 8, {{PooledString("app"), PooledString("web")}}, "elsewhere"));
  see(pod("web2", 8, {{PooledString("app"), PooledString("web")}}, "elsewhere"));
  see(pod("web3", 8, {{PooledString("app"), PooledString("web")}}, "elsewhere"));
  step();
  EXPECT_EQ(record("web3", "elsewhere").phase, PodRecord::Phase::kBound);
}

TEST_F(AntiAffinityTest, WaitingPodsFollowWhatComesAndGoes) {
  see_two_racks();
  see(pod("filler", 8));
  see(loner("a"));
  see(loner("c"));  // the loner is somewhere else now: the same pod, told anew
  step();
  Pod web = pod("web", 8, {{PooledString("app"), PooledString("web")}});
  see(web);
  step();
  const std::string first = where("web");
  EXPECT_NE(first, "c");
  gone(web);
  gone(loner("c"));
  step();
  for (const char* name : {"w1", "w2"}) see(pod(name, 8, {{PooledString("app"), PooledString("web")}}));
  step();
  EXPECT_NE(where("w1"), "");
  EXPECT_NE(where("w2"), "");
}

TEST_F(AntiAffinityTest, ATolerationAddedToABoundPodLeavesNothingBehind) {
  see_two_racks();
  see(loner("a"));
  Pod tolerant = loner("a");
  PodRules rules = *tolerant.rules;
  rules.tolerations.push_back({PooledString(), PooledString(), true, TaintEffect::kAny});
  tolerant = under(tolerant, rules);
  see(tolerant);
  gone(tolerant);
  for (const char* name : {"w1", "w2", "w3"}) see(pod(name, 8, {{PooledString("app"), PooledString("web")}}));
  step();
  for (const char* name : {"w1", "w2", "w3"}) EXPECT_NE(where(name), "") << name;
}

TEST_F(AntiAffinityTest, TermsThatChangeUnderABoundPodAreFollowed) {
  see_two_racks();
  see(loner("a"));
  see(under(loner("a"), PodRules{}));
  for (const char* name : {"w1", "w2", "w3"}) see(pod(name, 8, {{PooledString("app"), PooledString("web")}}));
  step();
  for (const char* name : {"w1", "w2", "w3"}) EXPECT_NE(where(name), "") << name;
}

TEST_F(AntiAffinityTest, ANamespaceThatIsLabelledLaterIsLookedAtAgain) {
  see_two_racks();
  Pod p = loner("a");
  PodRules rules = *p.rules;
  rules.required_anti_affinity[0].namespace_selector.present = true;
  rules.required_anti_affinity[0].namespace_selector.match_labels = {{PooledString("team"), PooledString("red")}};
  see(under(p, rules));
  see(pod("filler", 8));
  Namespace elsewhere;
  elsewhere.name = PooledString("elsewhere");
  elsewhere.labels = {{PooledString("team"), PooledString("red")}};
  see(elsewhere);
  step();
  ASSERT_EQ(where("filler"), "c");
  see(pod("web", 8, {{PooledString("app"), PooledString("web")}}, "elsewhere"));
  step();
  EXPECT_EQ(record("web", "elsewhere").phase, PodRecord::Phase::kWaiting);
  elsewhere.labels = {{PooledString("team"), PooledString("blue")}};
  see(elsewhere);
  step();
  EXPECT_EQ(record("web", "elsewhere").phase, PodRecord::Phase::kBound);
}

/// How often waiting pods were looked at anew, and what was made for it, by an event.
class CompanyWork : public AntiAffinityTest {
 protected:
  struct Done {
    std::uint64_t renewals = 0, rows = 0;
    friend bool operator==(const Done&, const Done&) = default;
    friend std::ostream& operator<<(std::ostream& out, const Done& d) {
      return out << d.renewals << " renewals, " << d.rows << " rows";
    }
  };
  Done so_far() const { return {tracker.constraints_renewed(), tracker.exclusion_work().rows}; }
  template <class Event>
  Done done_by(Event&& event) {
    const Done before = so_far();
    event();
    tracker.settle();
    const Done after = so_far();
    driver.step();
    tracker.note_taken();
    return {after.renewals - before.renewals, after.rows - before.rows};
  }
  Pod loner_in(const std::string& ns, const std::string& node_name, const std::string& name = "loner") {
    Pod p = loner(node_name);
    p.ns = PooledString(ns);
    p.name = PooledString(name);
    p.uid = PooledString(ns + "/" + name);
    return p;
  }
  /// Pods that are too large for every node, so that they wait.
  void see_waiting(int count) {
    see_two_racks();
    for (int i = 0; i < count; ++i) see(pod("w" + std::to_string(i), 9, {{PooledString("app"), PooledString("web")}}));
    tracker.settle();
    driver.step();
    tracker.note_taken();
  }
  /// The nodes from which the pod is kept away.
  std::string excluded_for(const std::string& name, const std::string& ns = "ns") {
    std::string text;
    const LabelSetId seen_as = tracker.translator().constraint_of(record(name, ns).constraint).seen_as;
    for (const char* node : {"a", "b", "c"}) {
      const NodeFacts& facts = state.cluster().facts(tracker.names().nodes.find(PooledString(node)));
      if (!seen_as.is_none() && state.cluster().counts().keeps_away(seen_as, facts)) text += node;
    }
    return text;
  }
};

TEST_F(CompanyWork, TenThousandAlikePodsAreRenewedOnceAndShareOneRow) {
  see_waiting(10'000);
  EXPECT_EQ(done_by([&] { see(loner("a")); }), (Done{10'000, 1}));
  EXPECT_EQ(excluded_for("w9999"), "ab");
  EXPECT_EQ(done_by([&] { see(loner_in("ns", "c", "other")); }), Done()) << "its term is known";
  EXPECT_EQ(excluded_for("w9999"), "abc");
  EXPECT_EQ(done_by([&] { see(loner_in("ns", "b", "third")); }), Done()) << "where one sits already";
  EXPECT_EQ(done_by([&] { gone(loner_in("ns", "c", "other")); }), Done());
  EXPECT_EQ(excluded_for("w9999"), "ab");
  EXPECT_EQ(done_by([&] { gone(loner("a")), gone(loner_in("ns", "b", "third")); }), Done()) << "the last goes";
  EXPECT_EQ(excluded_for("w9999"), "");
  EXPECT_EQ(done_by([&] { see(loner("a")); }), Done()) << "and comes back";
  EXPECT_EQ(excluded_for("w9999"), "ab");
}

TEST_F(CompanyWork, ATermThatAsksForNothingNewRenewsNobody) {
  see_waiting(1000);
  EXPECT_EQ(done_by([&] { see(loner("a")); }), (Done{1000, 1}));
  Pod p = loner_in("ns", "c", "other");
  PodRules rules = *p.rules;
  rules.required_anti_affinity[0].selector.expressions = {
      {PooledString("tier"), SelectorOp::kNotIn, {PooledString("back")}}};
  EXPECT_EQ(done_by([&] { see(under(p, rules)); }), Done());
  EXPECT_EQ(excluded_for("w0"), "abc");
}

TEST_F(CompanyWork, PodsThatComeTogetherShareARow) {
  see_waiting(0);
  see(loner("a"));
  tracker.settle();
  EXPECT_EQ(done_by([&] {
              for (int i = 0; i < 1000; ++i)
                see(with(pod("w" + std::to_string(i), 9, {{PooledString("app"), PooledString("web")}}), "index",
                         std::to_string(i)));
            }),
            (Done{0, 1}))
      << "labels of their own make no difference where no rule asks for them";
  EXPECT_EQ(excluded_for("w999"), "ab");
}

/// What sets pods apart may be anything that a tenant writes into them.
TEST_F(CompanyWork, PodsThatEachWishForSomethingElseAreNotComparedWithEachOther) {
  constexpr int kPods = 1000;
  see_waiting(0);
  for (int i = 0; i < kPods; ++i) {
    PodRules rules;
    rules.preferred_affinity = {
        {1, {{{PooledString("data"), SelectorOp::kIn, {PooledString("d" + std::to_string(i))}}}, {}}}};
    see(under(pod("w" + std::to_string(i), 9, {{PooledString("app"), PooledString("web")}}), rules));
  }
  EXPECT_EQ(done_by([] {}), Done());
  EXPECT_EQ(done_by([&] { see(loner("a")); }), (Done{kPods, kPods}));
  EXPECT_LE(tracker.exclusion_work().compared, static_cast<std::uint64_t>(kPods)) << "by chance a few";
}

TEST_F(CompanyWork, RulesThatMeanOthersRenewNobody) {
  see_waiting(1000);
  EXPECT_EQ(done_by([&] { see(loner_in("elsewhere", "a")); }), Done()) << "another namespace";
  Pod p = loner_in("ns", "a");
  PodRules rules = *p.rules;
  rules.required_anti_affinity[0].selector.match_labels = {{PooledString("app"), PooledString("batch")}};
  EXPECT_EQ(done_by([&] { see(under(p, rules)); }), Done()) << "other labels";
  // A term that asks for no label may mean every pod of its namespace.
  rules.required_anti_affinity[0].selector.match_labels.clear();
  rules.required_anti_affinity[0].selector.expressions = {
      {PooledString("app"), SelectorOp::kNotIn, {PooledString("web")}}};
  EXPECT_EQ(done_by([&] { see(under(p, rules)); }), (Done{1000, 1}));
  EXPECT_EQ(excluded_for("w0"), "");
  EXPECT_EQ(done_by([&] { gone(p); }), Done());
}

TEST_F(CompanyWork, ANodesLabelRenewsNobody) {
  see_waiting(1000);
  EXPECT_EQ(done_by([&] { see(loner("a")); }), (Done{1000, 1}));
  EXPECT_EQ(
      done_by([&] {
        see(node("a", 8, {{PooledString("l/block"), PooledString("b")}, {PooledString("l/rack"), PooledString("r1")}}));
      }),
      Done());
  EXPECT_EQ(excluded_for("w0"), "ac");
}

TEST_F(CompanyWork, ANamespacesLabelsRenewNobody) {
  see_waiting(1000);
  see(pod("web", 9, {{PooledString("app"), PooledString("web")}}, "elsewhere"));
  Namespace elsewhere;
  elsewhere.name = PooledString("elsewhere");
  see(elsewhere);
  EXPECT_EQ(done_by([] {}), Done()) << "no rule selects by them";
  PodRules rules = *loner("a").rules;
  rules.required_anti_affinity[0].namespace_selector = {
      .present = true, .match_labels = {{PooledString("team"), PooledString("red")}}, .expressions = {}};
  rules.required_anti_affinity[0].namespaces = {PooledString("third")};
  EXPECT_EQ(done_by([&] { see(under(loner("a"), rules)); }), (Done{1001, 2}));
  EXPECT_EQ(excluded_for("w0"), "ab") << "ns is not known, and may match";
  EXPECT_EQ(excluded_for("web", "elsewhere"), "");
  elsewhere.labels = {{PooledString("team"), PooledString("red")}};
  EXPECT_EQ(done_by([&] { see(elsewhere); }), Done());
  EXPECT_EQ(excluded_for("web", "elsewhere"), "ab");
}

TEST_F(CompanyWork, RowsThatNobodyUsesAreGivenBack) {
  see_waiting(10);
  done_by([&] { see(loner("a")); });
  EXPECT_EQ(tracker.translator().company().label_set_count(), 1u);
  EXPECT_EQ(tracker.translator().company().selector_count(), 1u);
  for (int i = 0; i < 10; ++i) gone(pod("w" + std::to_string(i), 9));
  gone(loner("a"));
  done_by([] {});
  done_by([] {});
  EXPECT_EQ(tracker.translator().company().label_set_count(), 0u);
  EXPECT_EQ(tracker.translator().company().selector_count(), 0u);
  EXPECT_FALSE(state.cluster().counts().is_used(PodSelectorId(0u)));
}

/// How much is looked at to follow rules that ask for no one label, which all stand in one list.
class RuleWork : public ::testing::Test {
 protected:
  using Rules = std::shared_ptr<const PodRules>;
  static constexpr int kPods = 500, kTerms = 4;
  static PodAffinityTerm term_for(const std::string& key) {
    PodAffinityTerm term;
    term.selector.present = true;
    term.selector.expressions = {{PooledString(key), SelectorOp::kExists, {}}};
    term.topology_key = PooledString("host");
    return term;
  }
  /// Each call makes another object, equal to that of the same number.
  static Rules rules_of(int number) {
    PodRules rules;
    for (int t = 0; t < kTerms; ++t)
      rules.required_anti_affinity.push_back(term_for("k" + std::to_string(number * kTerms + t)));
    return std::make_shared<const PodRules>(std::move(rules));
  }
  template <class Event>
  AntiAffinity::Work done_by(Event&& event) {
    const AntiAffinity::Work before = company.work();
    event();
    return {company.work().compared - before.compared, company.work().matched - before.matched,
            company.work().listed - before.listed};
  }
  bool refuses(const std::string& space, const std::string& key) const {
    return company.refuses(PooledString(space), {{PooledString(key), PooledString()}}, host);
  }
  const PooledString ns{"ns"};
  const Labels host{{PooledString("host"), PooledString("n0")}};
  AntiAffinity company{{}};
};

TEST_F(RuleWork, TermsOfOneListAreNotComparedWithEachOther) {
  constexpr std::uint64_t kAll = std::uint64_t{kPods} * kTerms;
  const auto come = done_by([&] {
    for (int p = 0; p < kPods; ++p) company.add(ns, rules_of(p), host);
  });
  EXPECT_EQ(come.compared, 0u);
  EXPECT_LE(come.listed, kAll);
  const auto again = done_by([&] {
    for (int p = 0; p < kPods; ++p) company.add(ns, rules_of(p), host);
  });
  EXPECT_EQ(again.compared, kAll) << "each with its equal";
  EXPECT_EQ(again.listed, 0u);
  EXPECT_TRUE(refuses("ns", "k7"));
  const auto go = done_by([&] {
    for (int p = 0; p < kPods; ++p) company.remove(ns, rules_of(p), host), company.remove(ns, rules_of(p), host);
  });
  EXPECT_EQ(go.compared, 2 * kAll);
  EXPECT_LE(go.listed, kAll);
  EXPECT_TRUE(company.is_empty());
  EXPECT_FALSE(refuses("ns", "k7"));
}

TEST_F(RuleWork, ATermThatNamesManyNamespacesIsOneRule) {
  PodRules rules;
  rules.required_anti_affinity.push_back(term_for("app"));
  for (const char* name : {"a", "b", "c", "b"}) rules.required_anti_affinity.back().namespaces.emplace_back(name);
  const auto shared = std::make_shared<const PodRules>(rules);
  company.add(ns, shared, host);
  company.add(PooledString("other"), shared, host);
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(refuses(name, "app")) << name;
  for (const char* name : {"ns", "d"}) EXPECT_FALSE(refuses(name, "app")) << name;
  company.remove(ns, shared, host);
  EXPECT_TRUE(refuses("b", "app")) << "of the other pod";
  company.remove(PooledString("other"), shared, host);
  for (const char* name : {"a", "b", "c"}) EXPECT_FALSE(refuses(name, "app")) << name;
}

/// Which labels of a pod matter, and for whom something has changed.
class Asked : public ::testing::Test {
 protected:
  static PodAffinityTerm term(Labels match, std::vector<Requirement> expressions = {}) {
    PodAffinityTerm t;
    t.selector = {.present = true, .match_labels = std::move(match), .expressions = std::move(expressions)};
    return t;
  }
  static KeyValue label(const char* key, const char* value) { return {PooledString(key), PooledString(value)}; }
  std::string seen(const Labels& labels, const char* space = "ns") const {
    const std::optional<Labels> found = asked.seen_of(PooledString(space), labels);
    if (!found) return "not at all";
    std::string text;
    for (const KeyValue& l : *found) text += l.key.str() + "=" + l.value.str() + " ";
    return text;
  }
  AskedLabels asked;
  const PooledString ns{"ns"};
  const Labels web{label("app", "web"), label("tier", "back"), label("index", "7")};
};

TEST_F(Asked, APodIsSeenByWhatTermsNameIfOneMayMeanIt) {
  EXPECT_EQ(seen(web), "not at all");
  asked.use(ns, term({label("app", "web")}));
  EXPECT_EQ(seen(web), "app=web ");
  EXPECT_EQ(seen(web, "elsewhere"), "not at all");
  EXPECT_EQ(seen({label("app", "batch")}), "not at all");
  asked.use(ns, term({}, {{PooledString("app"), SelectorOp::kIn, {PooledString("batch")}},
                          {PooledString("tier"), SelectorOp::kNotIn, {PooledString("back")}}}));
  EXPECT_EQ(seen(web), "app=web tier=back ") << "whether the second means it depends on the tier";
  asked.use(ns, term({}, {{PooledString("index"), SelectorOp::kExists, {}}}));
  EXPECT_EQ(seen(web), "app=web tier=back index=7 ");
}

TEST_F(Asked, WhatIsNewConcernsThoseThatMayBeSeenOtherwise) {
  asked.use(ns, term({label("app", "web")}));
  EXPECT_TRUE(asked.concerns(ns, web));
  EXPECT_FALSE(asked.concerns(ns, {label("app", "batch")}));
  EXPECT_FALSE(asked.concerns(PooledString("elsewhere"), web));
  asked.forget_news();
  asked.use(ns, term({label("app", "web")}));
  asked.leave(ns, term({label("app", "web")}));
  asked.leave(ns, term({label("app", "web")}));
  EXPECT_FALSE(asked.has_news()) << "what comes and goes is kept for a while";
  asked.use(ns, term({label("app", "batch")}, {{PooledString("tier"), SelectorOp::kNotIn, {PooledString("back")}}}));
  EXPECT_TRUE(asked.concerns(ns, web)) << "its tier matters now";
  EXPECT_FALSE(asked.concerns(ns, {label("tier", "back")})) << "no term means it whatever its tier";
}

TEST_F(Asked, WhatNoTermAsksForIsForgottenWhenItHasBecomeMuch) {
  asked.use(ns, term({label("app", "web")}));
  for (int i = 0; i < 5000; ++i) {
    const std::string own = "own" + std::to_string(i);
    asked.use(ns, term({label("app", own.c_str())}));
    asked.leave(ns, term({label("app", own.c_str())}));
  }
  EXPECT_LE(asked.size(), 1100u);
  EXPECT_EQ(seen(web), "app=web ");
}

TEST_F(Asked, OneLabelMoreThanIsKeptIsNotNewsWheneverItComesAgain) {
  constexpr int kLabels = 513, kRounds = 5;  // each is asked for in two ways
  int news = 0;
  for (int round = 0; round < kRounds; ++round)
    for (int i = 0; i < kLabels; ++i) {
      const std::string own = "own" + std::to_string(i);
      asked.use(ns, term({label("app", own.c_str())}));
      EXPECT_EQ(seen({label("app", own.c_str())}), "app=" + own + " ");
      asked.leave(ns, term({label("app", own.c_str())}));
      news += round > 0 && asked.has_news() ? 1 : 0;
      asked.forget_news();
    }
  EXPECT_LT(news, 50);
}

TEST_F(Asked, PodsThatAreToldApartForNothingAreRenewedWithTheNextNews) {
  for (int i = 0; i < 600; ++i) asked.use(ns, term({label("app", std::to_string(i).c_str())}));
  asked.forget_news();
  for (int i = 0; i < 600; ++i) asked.leave(ns, term({label("app", std::to_string(i).c_str())}));
  EXPECT_FALSE(asked.has_news()) << "nothing is wrong with them";
  asked.use(ns, term({label("app", "new")}));
  int renewed = 0;
  for (int i = 0; i < 600; ++i) {
    const Labels labels{label("app", std::to_string(i).c_str())};
    const bool is_forgotten = seen(labels) != "app=" + std::to_string(i) + " ";
    EXPECT_TRUE(!is_forgotten || asked.concerns(ns, labels)) << i;
    renewed += is_forgotten ? 1 : 0;
  }
  EXPECT_GT(renewed, 80);
}

TEST_F(AntiAffinityTest, ANodeThatIsLabelledUnderItsFirstLonerIsLeftOut) {
  see(node("a", 8));
  see(loner("a"));
  tracker.settle();
  see(node("a", 8, {{PooledString("l/rack"), PooledString("r0")}}));
  see(pod("web", 1, {{PooledString("app"), PooledString("web")}}));
  step();
  EXPECT_EQ(where("web"), "");
}

TEST_F(AntiAffinityTest, NodesThatAreLeftOutForItAreCountedInKubeSchedulersWords) {
  see_two_racks();
  see(loner("a"));
  PodRules rules;
  rules.node_selector = {{PooledString("l/block"), PooledString("b")}, {PooledString("l/rack"), PooledString("r0")}};
  see(under(pod("web", 8, {{PooledString("app"), PooledString("web")}}), rules));
  step();
  EXPECT_EQ(verdict_of("web").message,
            "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't satisfy "
            "existing pods anti-affinity "
            "rules.");
}

}  // namespace
}  // namespace ashlar::kube
