// Pods that state no topology spread get one by what selects them, and another when that changes.
#include <algorithm>

#include "base/rng.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

constexpr const char* kHost = "kubernetes.io/hostname";
constexpr const char* kZone = "topology.kubernetes.io/zone";

LabelSelector selector_of(Labels labels) {
  LabelSelector selector{.present = !labels.empty(), .match_labels = std::move(labels), .expressions = {}};
  std::ranges::sort(selector.match_labels, {}, [](const KeyValue& l) { return l.key.view(); });
  return selector;
}

template <class T>
T selecting(const std::string& name, Labels labels, const std::string& ns = "ns") {
  T object;
  object.ns = PooledString(ns);
  object.name = PooledString(name);
  object.selector = selector_of(std::move(labels));
  return object;
}

class SelectingBookTest : public ::testing::Test {
 protected:
  template <class T>
  void see(T object) {
    book.take(Change<T>{Change<T>::Kind::kModified, std::move(object)});
  }
  template <class T>
  void gone(T object) {
    book.take(Change<T>{Change<T>::Kind::kDeleted, std::move(object)});
  }
  Labels of(const Labels& labels, SelectingKind kind = SelectingKind::kNone, const char* name = "") {
    return book.selector_of("ns", labels, kind, name).match_labels;
  }
  SelectingBook book;
};

TEST_F(SelectingBookTest, ServicesThatSelectAPodAreMerged) {
  const Labels pod{{"app", "web"}, {"tier", "front"}, {"zone", "x"}};
  EXPECT_FALSE(book.selector_of("ns", pod, SelectingKind::kNone, {}).present);
  see(selecting<Service>("a", {{"app", "web"}}));
  see(selecting<Service>("b", {{"tier", "front"}, {"app", "web"}}));
  see(selecting<Service>("c", {{"app", "db"}}));
  see(selecting<Service>("d", {{"app", "web"}, {"tier", "back"}}));
  see(selecting<Service>("e", {{"zone", "x"}}, "other"));
  EXPECT_EQ(of(pod), (Labels{{"app", "web"}, {"tier", "front"}}));
  EXPECT_EQ(of({{"app", "web"}}), (Labels{{"app", "web"}}));
  EXPECT_FALSE(book.selector_of("ns", {{"tier", "front"}}, SelectingKind::kNone, {}).present);
  gone(selecting<Service>("b", {}));
  EXPECT_EQ(of(pod), (Labels{{"app", "web"}}));
  see(selecting<Service>("a", {{"tier", "front"}}));
  EXPECT_EQ(of(pod), (Labels{{"tier", "front"}})) << "it has another selector now";
}

TEST_F(SelectingBookTest, AControllerAddsItsOwn) {
  const Labels pod{{"app", "web"}, {"hash", "1"}};
  see(selecting<Service>("s", {{"app", "web"}}));
  see(selecting<ReplicaSet>("r", {{"app", "web"}, {"hash", "1"}}));
  EXPECT_EQ(of(pod, SelectingKind::kReplicaSet, "r"), (Labels{{"app", "web"}, {"hash", "1"}}));
  EXPECT_EQ(of(pod, SelectingKind::kStatefulSet, "r"), (Labels{{"app", "web"}})) << "of another kind";
  EXPECT_EQ(of(pod, SelectingKind::kReplicaSet, "q"), (Labels{{"app", "web"}})) << "not there yet";
  ReplicaSet odd = selecting<ReplicaSet>("odd", {{"app", "db"}});
  odd.selector.expressions = {{"hash", SelectorOp::kExists, {}}};
  see(std::move(odd));
  const LabelSelector both = book.selector_of("ns", pod, SelectingKind::kReplicaSet, "odd");
  EXPECT_EQ(both.match_labels, (Labels{{"app", "web"}}));
  ASSERT_EQ(both.expressions.size(), 2u) << "no pod has both";
  EXPECT_EQ(both.expressions[0], (Requirement{"app", SelectorOp::kIn, {"db"}}));
  see(selecting<ReplicationController>("c", {{"app", "db"}}));
  EXPECT_EQ(of(pod, SelectingKind::kReplicationController, "c"), (Labels{{"app", "db"}})) << "as upstream merges it";
}

TEST_F(SelectingBookTest, NothingOfWhatIsGoneIsKept) {
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) {
      see(selecting<Service>("s" + std::to_string(i), {{"app", std::to_string(i)}, {"all", "x"}},
                             "ns-" + std::to_string(i % 7)));
      see(selecting<StatefulSet>("s" + std::to_string(i), {{"app", std::to_string(i)}}, "ns-" + std::to_string(i % 7)));
    }
    EXPECT_EQ(book.size(), 200u);
    for (int i = 0; i < 100; ++i) {
      gone(selecting<Service>("s" + std::to_string(i), {}, "ns-" + std::to_string(i % 7)));
      gone(selecting<StatefulSet>("s" + std::to_string(i), {}, "ns-" + std::to_string(i % 7)));
    }
    EXPECT_EQ(book.size() + book.namespaces(), 0u);
  }
}

TEST_F(SelectingBookTest, AnUpdateThatChangesNoSelectorIsNoNews) {
  see(selecting<Service>("s", {{"app", "web"}}));
  const std::uint64_t edition = book.edition("ns");
  EXPECT_GT(edition, 0u);
  EXPECT_EQ(book.take_news().size(), 1u);
  see(selecting<Service>("s", {{"app", "web"}}));
  see(selecting<Service>("without", {}));
  gone(selecting<Service>("without", {}));
  EXPECT_FALSE(book.has_news());
  EXPECT_EQ(book.edition("ns"), edition);
  see(selecting<Service>("s", {{"app", "db"}}));
  const auto news = book.take_news();
  ASSERT_EQ(news.at("ns").size(), 1u);
  const auto concerns = [&](const Labels& labels) {
    return news.at("ns")[0].concerns(labels, SelectingKind::kNone, {});
  };
  EXPECT_TRUE(concerns({{"app", "web"}}));
  EXPECT_TRUE(concerns({{"app", "db"}}));
  EXPECT_FALSE(concerns({{"app", "cache"}}));
}

TEST_F(SelectingBookTest, ServicesWithOneSelectorAreOne) {
  for (int i = 0; i < 3; ++i) see(selecting<Service>("s" + std::to_string(i), {{"app", "web"}}));
  EXPECT_EQ(book.take_news().at("ns").size(), 1u) << "of the first";
  const std::uint64_t edition = book.edition("ns");
  const auto is_selected = [&] { return book.selector_of("ns", {{"app", "web"}}, SelectingKind::kNone, {}).present; };
  gone(selecting<Service>("s0", {}));
  see(selecting<Service>("s1", {{"app", "db"}}));
  const auto to_db = book.take_news();
  ASSERT_EQ(to_db.at("ns").size(), 1u);
  EXPECT_FALSE(to_db.at("ns")[0].before.present) << "s2 has it still";
  EXPECT_TRUE(to_db.at("ns")[0].after.present);
  EXPECT_GT(book.edition("ns"), edition);
  EXPECT_TRUE(is_selected());
  see(selecting<Service>("s2", {{"app", "db"}}));
  const auto from_web = book.take_news();
  ASSERT_EQ(from_web.at("ns").size(), 1u);
  EXPECT_TRUE(from_web.at("ns")[0].before.present);
  EXPECT_FALSE(from_web.at("ns")[0].after.present) << "s1 had it already";
  EXPECT_FALSE(is_selected());
  gone(selecting<Service>("s1", {}));
  EXPECT_FALSE(book.has_news());
}

TEST_F(SelectingBookTest, OneThatMoreServicesSelectThanAreMergedIsSelectedByNone) {
  Labels labels;
  for (std::size_t i = 0; i <= SelectingBook::kServicesMax; ++i)
    labels.push_back({PooledString("l" + std::to_string(i)), "x"});
  for (const KeyValue& label : labels) {
    const bool is_last = &label == &labels.back();
    see(selecting<Service>("s-" + label.key.str(), {label}));
    see(selecting<Service>("like-" + label.key.str(), {label}));
    EXPECT_EQ(of(labels).empty(), is_last);
  }
  EXPECT_EQ(of({labels[0], labels[1]}).size(), 2u) << "fewer select this one";
  gone(selecting<Service>("s-l3", {}));
  EXPECT_TRUE(of(labels).empty()) << "another has its selector";
  gone(selecting<Service>("like-l3", {}));
  EXPECT_EQ(of(labels).size(), SelectingBook::kServicesMax);
}

TEST_F(SelectingBookTest, LabelsOfSeveralAreInTheOrderOfTheirKeysAndEachRequirementIsThereOnce) {
  see(selecting<Service>("a", {{"m", "1"}}));
  see(selecting<Service>("b", {{"z", "1"}}));
  see(selecting<Service>("c", {{"a", "1"}, {"m", "1"}}));
  const LabelSelector all = book.selector_of("ns", {{"z", "1"}, {"m", "1"}, {"a", "1"}}, SelectingKind::kNone, {});
  EXPECT_EQ(all.match_labels, (Labels{{"a", "1"}, {"m", "1"}, {"z", "1"}}));
  EXPECT_TRUE(all.expressions.empty());
}

TEST_F(SelectingBookTest, AControllerOfExpressionsAloneSelects) {
  ReplicaSet odd = selecting<ReplicaSet>("odd", {});
  odd.selector.present = true;
  odd.selector.expressions = {{"app", SelectorOp::kExists, {}}};
  see(std::move(odd));
  const LabelSelector all = book.selector_of("ns", {{"app", "web"}}, SelectingKind::kReplicaSet, "odd");
  EXPECT_TRUE(all.present);
  EXPECT_TRUE(all.match_labels.empty());
  EXPECT_EQ(all.expressions.size(), 1u);
}

TEST_F(SelectingBookTest, NewsConcernThePodsOfThatControllerAndThoseThatTheServiceSelects) {
  see(selecting<ReplicaSet>("r", {{"app", "web"}}));
  const auto of_controller = book.take_news().at("ns").at(0);
  const Labels web{{"app", "web"}};
  EXPECT_TRUE(of_controller.concerns(web, SelectingKind::kReplicaSet, "r"));
  EXPECT_FALSE(of_controller.concerns(web, SelectingKind::kReplicaSet, "q"));
  EXPECT_FALSE(of_controller.concerns(web, SelectingKind::kStatefulSet, "r"));
  see(selecting<Service>("s", {{"app", "web"}}));
  const auto comes = book.take_news().at("ns").at(0);
  EXPECT_FALSE(comes.concerns({{"app", "db"}}, SelectingKind::kNone, {})) << "there was none before";
  gone(selecting<Service>("s", {}));
  const auto goes = book.take_news().at("ns").at(0);
  EXPECT_FALSE(goes.concerns({{"app", "db"}}, SelectingKind::kNone, {})) << "there is none now";
}

TEST_F(SelectingBookTest, TheEditionOfANamespaceWithoutAnyIsNoneWhateverIsElsewhere) {
  see(selecting<Service>("s", {{"app", "web"}}, "other"));
  EXPECT_EQ(book.edition("ns"), 0u);
  see(selecting<Service>("without", {}));
  EXPECT_EQ(book.namespaces(), 1u);
}

/// Services come and go; a pod's selector is that of all of them, read one by one.
TEST_F(SelectingBookTest, FindsWhatAWalkOverAllServicesFinds) {
  Rng rng(7);
  const auto below = [&](std::uint64_t bound) { return static_cast<int>(rng.below(bound)); };
  const auto some = [&](int most) {
    Labels labels;
    for (const char* key : {"a", "b", "c", "d"})
      if (below(4) < most) labels.push_back({key, std::to_string(below(2))});
    return labels;
  };
  std::map<std::string, LabelSelector> all;
  int selected = 0;
  for (int step = 0; step < 3000; ++step) {
    const std::string name = "s" + std::to_string(below(30));
    if (below(4) == 0) {
      gone(selecting<Service>(name, {}));
      all.erase(name);
    } else {
      Service service = selecting<Service>(name, some(2));
      all[name] = service.selector;
      see(std::move(service));
    }
    const Labels pod = some(3);
    std::map<std::string, std::string> expected;
    for (const auto& [of, selector] : all)
      if (selector.present && matches(selector, pod))
        for (const KeyValue& l : selector.match_labels) expected[l.key.str()] = l.value.str();
    std::map<std::string, std::string> found;
    const LabelSelector selector = book.selector_of("ns", pod, SelectingKind::kNone, {});
    for (const KeyValue& l : selector.match_labels) found[l.key.str()] = l.value.str();
    ASSERT_EQ(found, expected) << step;
    ASSERT_EQ(selector.present, !expected.empty());
    selected += selector.present ? 1 : 0;
  }
  EXPECT_GT(selected, 500);
}

TrackerOptions options_with(SpreadDefaults defaults) {
  TrackerOptions options{.levels = {{PooledString("rack"), PooledString("l/rack")}}};
  options.spread_defaults = std::move(defaults);
  return options;
}

class DefaultSpreadTest : public TrackerBench {
 protected:
  explicit DefaultSpreadTest(SpreadDefaults defaults = system_spread_defaults())
      : TrackerBench(options_with(std::move(defaults))) {}
  using TrackerBench::gone;
  using TrackerBench::see;
  template <SelectingKind kKind>
  void see(SelectingObject<kKind> object) {
    tracker.take(Change<SelectingObject<kKind>>{Change<SelectingObject<kKind>>::Kind::kModified, std::move(object)});
  }
  template <SelectingKind kKind>
  void gone(SelectingObject<kKind> object) {
    tracker.take(Change<SelectingObject<kKind>>{Change<SelectingObject<kKind>>::Kind::kDeleted, std::move(object)});
  }
  void see_node(const std::string& name, const std::string& zone, std::int64_t gpus = 8) {
    Labels labels{{kHost, name}};
    if (!zone.empty()) labels.push_back({kZone, zone});
    see(node(name, gpus, std::move(labels)));
  }
  static Pod app(const std::string& name, const std::string& of, std::int64_t gpus = 0) {
    return pod(name, gpus, {{"app", of}});
  }
  static Pod of_set(Pod p, const std::string& set) {
    p.controller_kind = SelectingKind::kReplicaSet;
    p.controller_name = set;
    return p;
  }
  const Constraint& constraint_of(const std::string& name) {
    return tracker.translator().constraint_of(record(name).constraint);
  }
  std::size_t spreads_of(const std::string& name) { return constraint_of(name).prefers_spread.size(); }
};

TEST_F(DefaultSpreadTest, PodsOfAServiceGoToTheEmptiestZoneAndHost) {
  see_node("a1", "a");
  see_node("a2", "a");
  see_node("b1", "b");
  see(selecting<Service>("web", {{"app", "web"}}));
  std::map<std::string, int> on;
  for (int i = 0; i < 6; ++i) {
    see(app("p" + std::to_string(i), "web"));
    step();
    ++on[where("p" + std::to_string(i))];
  }
  // zone b has one host: what the zone is ahead, the host is behind
  EXPECT_EQ(on, (std::map<std::string, int>{{"a1", 2}, {"a2", 2}, {"b1", 2}}));
  see(app("lone", "db"));
  step();
  EXPECT_EQ(spreads_of("lone"), 0u) << "nothing selects it";
}

TEST_F(DefaultSpreadTest, TheConstraintsAreThoseOfKubeScheduler) {
  see_node("n", "a", 0);
  see(selecting<ReplicaSet>("r", {{"app", "web"}, {"hash", "1"}}));
  see(of_set(pod("p", 1, {{"app", "web"}, {"hash", "1"}}), "r"));
  see(of_set(pod("q", 0, {{"app", "web"}, {"hash", "1"}}), "r"));
  see(of_set(pod("other", 0, {{"app", "web"}, {"hash", "1"}}, "else"), "r"));
  Pod stated = of_set(app("stated", "web"), "r");
  PodRules rules;
  rules.preferred_spread.emplace_back().topology_key = "l/rack";
  see(under(std::move(stated), rules));
  step();
  EXPECT_EQ(spreads_of("p"), 0u) << "it requests a GPU";
  ASSERT_EQ(where("q"), "n");
  Node closed = node("n", 0, {{kHost, "n"}, {kZone, "a"}});
  closed.unschedulable = true;
  see(closed);
  see(of_set(pod("w", 0, {{"app", "web"}, {"hash", "1"}}), "r"));
  see(under(of_set(app("stated-2", "web"), "r"), rules));
  step();
  const std::vector<SpreadTerm>& spreads = constraint_of("w").prefers_spread;
  ASSERT_EQ(spreads.size(), 2u);
  EXPECT_EQ(tracker.names().label_keys.name(spreads[0].topology), kHost);
  EXPECT_EQ(spreads[0].skew_max, 3);
  EXPECT_EQ(tracker.names().label_keys.name(spreads[1].topology), kZone);
  EXPECT_EQ(spreads[1].skew_max, 5);
  EXPECT_FALSE(spreads[0].requires_all_labels || spreads[1].requires_all_labels);
  EXPECT_TRUE(spreads[0].honors_affinity && !spreads[0].honors_taints);
  EXPECT_EQ(spreads[0].selector, spreads[1].selector);
  EXPECT_EQ(spreads_of("stated-2"), 1u) << "its own";
  EXPECT_TRUE(constraint_of("stated-2").prefers_spread[0].requires_all_labels);
}

TEST_F(DefaultSpreadTest, PodsThatStateSpreadsWhichMustHoldGetNoOthers) {
  see(selecting<Service>("s", {{"app", "web"}}));
  PodRules rules;
  rules.spread.emplace_back().topology_key = "l/rack";
  see(under(app("stated", "web"), rules));
  step();
  EXPECT_EQ(constraint_of("stated").spread.size(), 1u);
  EXPECT_EQ(spreads_of("stated"), 0u);
}

TEST_F(DefaultSpreadTest, PodsKeepTheirOwnRulesWhereThereAreServicesAndWhereThereAreNone) {
  for (const char* zone : {"a", "b", "c"}) see_node(zone, zone);
  see(selecting<Service>("s", {{"app", "web"}}));
  PodRules rules;
  rules.node_selector = {{kZone, "b"}};
  see(under(app("selected", "web"), rules));
  see(under(app("beside", "db"), rules));
  rules.node_selector = {{kZone, "c"}};
  see(under(pod("elsewhere", 0, {{"app", "web"}}, "other"), rules));
  step();
  EXPECT_EQ(where("selected"), "b");
  EXPECT_EQ(where("beside"), "b");
  const PodRecord& elsewhere = record("elsewhere", "other");
  ASSERT_FALSE(elsewhere.node.is_none());
  EXPECT_EQ(tracker.names().nodes.name(elsewhere.node), "c");
}

TEST_F(DefaultSpreadTest, WhatSelectsAWaitingPodMayComeLaterAndGo) {
  see(app("web", "web"));
  see(of_set(app("db", "db"), "r"));
  see(pod("else", 0, {{"app", "web"}}, "other"));
  step();
  EXPECT_EQ(spreads_of("web") + spreads_of("db"), 0u);
  std::uint64_t renewed = tracker.constraints_renewed();
  see(selecting<Service>("s", {{"app", "web"}}));
  EXPECT_TRUE(tracker.has_unsettled());
  step();
  EXPECT_EQ(spreads_of("web"), 2u);
  EXPECT_EQ(spreads_of("db"), 0u);
  EXPECT_EQ(tracker.constraints_renewed(), renewed + 1) << "no other pod is looked at";
  see(selecting<ReplicaSet>("r", {{"app", "db"}}));
  see(selecting<ReplicaSet>("of-nobody", {{"app", "db"}}));
  step();
  EXPECT_EQ(spreads_of("db"), 2u);
  EXPECT_EQ(tracker.constraints_renewed(), renewed + 2);
  see(selecting<Service>("s", {{"app", "cache"}}));
  gone(selecting<ReplicaSet>("r", {}));
  step();
  EXPECT_EQ(spreads_of("web") + spreads_of("db"), 0u);
  renewed = tracker.constraints_renewed();
  for (int i = 0; i < 100; ++i) see(selecting<Service>("s" + std::to_string(i), {{"app", "x" + std::to_string(i)}}));
  see(selecting<Service>("t", {{"app", "web"}}));
  step();
  EXPECT_EQ(spreads_of("web"), 2u) << "among many";
  EXPECT_LE(tracker.constraints_renewed(), renewed + 2);
}

TEST_F(DefaultSpreadTest, MembersOfGangsAndPodsWithGpusAreSpared) {
  see_node("a", "a");
  see(selecting<Service>("s", {{"ashlar.dev/gang", "g"}}));
  see(selecting<Service>("w", {{"app", "web"}}));
  see(gang_pod("g", 0, 2, 0));
  see(app("p", "web", 9));
  Pod part = share("half", 500);
  part.labels = std::make_shared<const Labels>(Labels{{"app", "web"}});
  see(part);
  step();
  EXPECT_EQ(spreads_of("g-0") + spreads_of("p"), 0u);
  EXPECT_EQ(where("half"), "a");
  EXPECT_EQ(spreads_of("half"), 0u);
}

TEST_F(DefaultSpreadTest, PodsOfOneTemplateAreEvaluatedOnce) {
  see(selecting<ReplicaSet>("r", {{"app", "web"}}));
  const Pod made = of_set(app("p0", "web"), "r");
  see(made);
  step();
  for (int i = 1; i < 50; ++i) {
    Pod next = made;
    next.name = "p" + std::to_string(i);
    next.uid = "u" + std::to_string(i);
    see(std::move(next));
  }
  step();
  EXPECT_EQ(spreads_of("p49"), 2u);
  EXPECT_EQ(record("p0").constraint, record("p49").constraint);
}

TEST_F(DefaultSpreadTest, OneTemplateMoreThanAreKeptDoesNotCostAllOfThemAnew) {
  constexpr int kTemplates = 1025, kRounds = 4;
  for (int i = 0; i < kTemplates; ++i) see(selecting<Service>("s" + std::to_string(i), {{"app", std::to_string(i)}}));
  step();
  for (int round = 0; round < kRounds; ++round)
    for (int i = 0; i < kTemplates; ++i) see(app(std::to_string(i) + "-" + std::to_string(round), std::to_string(i)));
  step();
  EXPECT_EQ(spreads_of("1024-3"), 2u);
  EXPECT_LT(tracker.default_spread().made(), kTemplates + 10u * kRounds);
}

TEST_F(DefaultSpreadTest, AChangedServiceIsComparedWithTemplatesThatShareALabelWithIt) {
  const auto compared = [&] { return tracker.default_spread().waiting().compared(); };
  for (int i = 0; i < 200; ++i)
    for (const char* name : {"p", "twin-"})
      see(of_set(pod(name + std::to_string(i), 0, {{"app", std::to_string(i)}, {"team", "all"}}),
                 "r" + std::to_string(i)));
  step();
  const std::uint64_t renewed = tracker.constraints_renewed();
  see(selecting<Service>("s", {{"app", "7"}, {"team", "all"}}));
  step();
  EXPECT_EQ(compared(), 1u) << "a template, not its pods nor those of others";
  EXPECT_EQ(tracker.constraints_renewed(), renewed + 2);
  EXPECT_EQ(spreads_of("p7") + spreads_of("twin-7"), 4u);
  see(selecting<Service>("s", {{"app", "8"}}));
  step();
  EXPECT_EQ(compared(), 3u) << "the one before and the one after";
  EXPECT_EQ(spreads_of("p7"), 0u);
  EXPECT_EQ(spreads_of("p8"), 2u);
  see(selecting<ReplicaSet>("r9", {{"app", "9"}}));
  see(selecting<ReplicaSet>("r-of-nobody", {{"app", "10"}}));
  step();
  EXPECT_EQ(compared(), 4u);
  EXPECT_EQ(spreads_of("twin-9"), 2u);
  EXPECT_EQ(tracker.constraints_renewed(), renewed + 8);
}

TEST_F(DefaultSpreadTest, ManyChangesAtOnceLookAtNoPodThatTheyDoNotConcern) {
  for (int i = 0; i < 50; ++i) see(app("p" + std::to_string(i), "web"));
  step();
  const std::uint64_t renewed = tracker.constraints_renewed();
  for (int i = 0; i < 100; ++i) see(selecting<Service>("s" + std::to_string(i), {{"app", "x" + std::to_string(i)}}));
  step();
  EXPECT_EQ(tracker.constraints_renewed(), renewed);
  see(selecting<Service>("s0", {{"app", "web"}}));
  step();
  EXPECT_EQ(tracker.constraints_renewed(), renewed + 50);
  EXPECT_EQ(spreads_of("p49"), 2u);
}

TEST_F(DefaultSpreadTest, TemplatesWithoutPodsAreForgotten) {
  for (int i = 0; i < 6000; ++i) {
    const Pod p = app("p", std::to_string(i));
    see(p);
    gone(p);
  }
  EXPECT_LE(tracker.default_spread().waiting().templates(), 1100u);
}

TEST_F(DefaultSpreadTest, PodsThatHaveGoneAreNotRemembered) {
  see(selecting<Service>("s", {{"app", "web"}}));
  see_node("a", "a");
  for (int i = 0; i < 6000; ++i) {
    const Pod p = app("p" + std::to_string(i), "web");
    see(p);
    if (i % 50 == 49) step();
    gone(p);
  }
  const DefaultSpread& spread = tracker.default_spread();
  EXPECT_LE(spread.waiting().noted(), 1100u);
}

class NoDefaultSpread : public DefaultSpreadTest {
 protected:
  NoDefaultSpread() : DefaultSpreadTest(SpreadDefaults{}) {}
};

TEST_F(NoDefaultSpread, NothingIsKeptWhereNoPodGetsIt) {
  see(selecting<Service>("s", {{"app", "web"}}));
  see(app("p", "web"));
  step();
  EXPECT_EQ(spreads_of("p"), 0u);
  EXPECT_EQ(tracker.default_spread().book().size() + tracker.default_spread().waiting().noted(), 0u);
}

class ListedSpread : public DefaultSpreadTest {
 protected:
  ListedSpread() : DefaultSpreadTest(listed()) {}
  static SpreadDefaults listed() {
    SpreadDefaults defaults;
    defaults.hard.emplace_back().topology_key = kZone;
    return defaults;
  }
};

TEST_F(ListedSpread, ThatMustHoldAlsoForPodsWithGpusAndGangs) {
  see_node("a1", "a");
  see_node("b1", "b", 1);
  see(selecting<Service>("s", {{"app", "web"}}));
  for (int i = 0; i < 3; ++i) see(app("p" + std::to_string(i), "web", 1));
  step();
  std::vector<std::string> nodes{where("p0"), where("p1"), where("p2")};
  std::ranges::sort(nodes);
  EXPECT_EQ(nodes, (std::vector<std::string>{"a1", "a1", "b1"}));
  see(app("p3", "web", 1));
  step();
  EXPECT_EQ(where("p3"), "") << "zone b has no GPU left";
  EXPECT_NE(verdict_of("p3").message.find("topology spread"), std::string::npos) << verdict_of("p3").message;
  gone(selecting<Service>("s", {}));
  step();
  EXPECT_EQ(where("p3"), "a1");
}

}  // namespace
}  // namespace ashlar::kube
