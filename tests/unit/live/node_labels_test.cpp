// Labels of nodes: what pods ask for is a fact for the engine, all else (telemetry) costs no event, no row and no walk.
#include <algorithm>

#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class NodeLabels : public TrackerBench {
 protected:
  static Node labelled(const std::string& name, Labels labels) {
    std::sort(labels.begin(), labels.end(),
              [](const KeyValue& a, const KeyValue& b) { return a.key.view() < b.key.view(); });
    return node(name, 8, std::move(labels));
  }
  static KeyValue label(const std::string& key, const std::string& value) {
    return {PooledString(key), PooledString(value)};
  }
  /// A pod that runs only where the label has the value.
  static Pod asking(const std::string& name, const std::string& key, const std::string& value) {
    PodRules rules;
    rules.node_selector.push_back(label(key, value));
    Pod p = pod(name, 1);
    p.rules = std::make_shared<const PodRules>(std::move(rules));
    return p;
  }
  /// A bound pod of another scheduler with required anti-affinity by that label of nodes.
  static Pod loner(const std::string& name, const std::string& node_name, const std::string& topology) {
    PodAffinityTerm term;
    term.selector.present = true;
    term.selector.match_labels = {label("app", "web")};
    term.topology_key = PooledString(topology);
    PodRules rules;
    rules.required_anti_affinity.push_back(term);
    Pod p = pod(name, 0);
    p.scheduler_name = PooledString("default-scheduler");
    p.rules = std::make_shared<const PodRules>(std::move(rules));
    p.node_name = PooledString(node_name);
    return p;
  }
  /// One of another scheduler that keeps nobody away.
  static Pod plain(const std::string& name, const std::string& node_name) {
    Pod p = loner(name, node_name, "");
    p.rules = nullptr;
    return p;
  }
  std::size_t labels_of(const std::string& name) {
    return state.cluster().facts(tracker.names().nodes.find(PooledString(name))).labels.size();
  }
};

TEST_F(NodeLabels, ThatNobodyAsksForAreNoEventsAndGetNoRows) {
  see(labelled("n", {label("power", "0"), label("zone", "a")}));
  see(asking("p", "zone", "b"));
  step();
  const std::size_t names = tracker.names().vocabulary();
  for (int i = 1; i <= 2000; ++i) see(labelled("n", {label("power", std::to_string(i)), label("zone", "a")}));
  EXPECT_EQ(source.size(), 0u);
  EXPECT_EQ(tracker.names().vocabulary(), names);
  EXPECT_EQ(labels_of("n"), 2u) << "the zone and the name";
  EXPECT_EQ(*find_label(tracker.node_labels(NodeId(0u)), "power"), PooledString("2000"));
}

TEST_F(NodeLabels, AFeatureThatAPodNeedsIsNoAffinityByWhichASpreadCountsNodes) {
  const std::string feature(kDeclaredFeaturePrefix);
  see(labelled("a", {label("zone", "a"), label(feature + "f", "")}));
  see(labelled("b", {label("zone", "b")}));
  Pod there = pod("there", 0, {label("app", "web")});
  there.node_name = PooledString("a");
  see(there);
  PodRules rules;
  rules.features = {PooledString(feature + "f")};
  TopologySpread spread;
  spread.topology_key = PooledString("zone");
  spread.selector.present = true;
  spread.selector.match_labels = {label("app", "web")};
  rules.spread = {spread};
  Pod p = pod("p", 1, {label("app", "web")});
  p.rules = std::make_shared<const PodRules>(rules);
  see(p);
  rules.spread.clear();
  Pod free = pod("free", 1);
  free.rules = std::make_shared<const PodRules>(rules);
  see(free);
  step();
  EXPECT_EQ(where("p"), "") << "zone b is empty, though its node lacks the feature";
  EXPECT_EQ(where("free"), "a");
  const ConditionText text = verdict_of("p");
  EXPECT_NE(text.message.find("1 node(s) didn't match Pod's required features"), std::string::npos) << text.message;
  see(labelled("b", {label("zone", "b"), label(feature + "f", "")}));
  step();
  EXPECT_EQ(where("p"), "b");
}

TEST_F(NodeLabels, BecomeFactsWhenAPodAsksForThem) {
  see(labelled("a", {label("power", "high")}));
  see(labelled("b", {label("power", "low")}));
  see(node("c", 8));
  step();
  EXPECT_EQ(labels_of("b"), 1u);
  see(asking("p", "power", "low"));
  EXPECT_TRUE(tracker.has_unsettled());
  step();
  EXPECT_EQ(where("p"), "b") << "in the same decision";
  EXPECT_EQ(labels_of("b"), 2u);
  EXPECT_EQ(labels_of("c"), 1u);
  see(asking("q", "power", "none"));
  step();
  EXPECT_EQ(where("q"), "");
  see(labelled("a", {label("power", "none")}));
  EXPECT_EQ(source.size(), 1u) << "now a change is an event";
  step();
  EXPECT_EQ(where("q"), "a");
}

TEST_F(NodeLabels, OfATopologyAreAskedForByThePodsThatKeepOthersAway) {
  see(labelled("a", {label("power", "1"), label("room", "r0")}));
  see(labelled("b", {label("power", "1"), label("room", "r0")}));
  see(labelled("c", {label("power", "1"), label("room", "r1")}));
  see(loner("loner", "a", "room"));
  see(pod("web", 1, {label("app", "web")}));
  step();
  EXPECT_EQ(where("web"), "c");
}

TEST_F(NodeLabels, AnAnswerBetweenTwoDecisionsSeesThemToo) {
  see(labelled("a", {label("power", "low")}));
  step();
  see(asking("p", "power", "low"));
  tracker.settle_bound();
  driver.catch_up();
  EXPECT_EQ(labels_of("a"), 2u);
}

TEST_F(NodeLabels, KeysThatOnlyPodsOfThePastAskedForAreForgotten) {
  see(labelled("n", {label("power", "1")}));
  for (int i = 0; i < 3000; ++i) {
    const Pod p = asking("p" + std::to_string(i), "key-" + std::to_string(i), "1");
    see(p);
    if (i % 50 == 0) step();
    gone(p);
    if (i % 50 == 0) step();
  }
  step();
  EXPECT_LE(tracker.translator().asked_keys().size(), 1000u);
  see(asking("q", "power", "1"));
  step();
  EXPECT_EQ(where("q"), "n");
}

TEST_F(NodeLabels, TheNodesPodsWithATermAreLookedAtOnlyIfATopologyOfATermChanges) {
  const auto changed = [&](const std::string& power, const std::string& room) {
    const std::uint64_t before = tracker.owners_moved();
    Labels labels{label("power", power)};
    if (!room.empty()) labels.push_back(label("room", room));
    see(labelled("a", std::move(labels)));
    step();
    return tracker.owners_moved() - before;
  };
  changed("1", "r0");
  see(labelled("b", {label("room", "r1")}));
  EXPECT_EQ(changed("1", "r9"), 0u) << "no pod keeps others away";
  for (int i = 0; i < 20; ++i) see(plain("plain" + std::to_string(i), "a"));
  see(loner("loner", "a", "room"));
  see(loner("elsewhere", "b", "host"));
  step();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(changed(std::to_string(i), "r9"), 0u);
  EXPECT_EQ(changed("1", "r1"), 1u);
  see(pod("web", 1, {label("app", "web")}));
  step();
  EXPECT_EQ(where("web"), "") << "both nodes are in the room of the pod that keeps it away";
  EXPECT_EQ(changed("1", ""), 1u) << "the label is gone";
  EXPECT_NE(where("web"), "") << "the pod that keeps it away is in no room";
  EXPECT_EQ(changed("1", "r2"), 1u) << "it is back";
  EXPECT_EQ(changed("2", "r2"), 0u);
  gone(loner("loner", "a", "room"));
  step();
  EXPECT_EQ(changed("1", "r3"), 0u);
}

/// The terms of a pod move with its node's labels as long as the pod is bound there, and no longer.
/// A kubelet may label its own node so. Pods that other nodes are named for must not come to it.
TEST_F(NodeLabels, ThatAreCalledLikeTheFieldOfTheNameAreNoNames) {
  see(labelled("a", {label("metadata.name", "b")}));
  see(labelled("b", {label("metadata.name", "a")}));
  PodRules by_field;
  by_field.has_required_affinity = true;
  by_field.required_affinity.push_back({{}, {{PooledString("metadata.name"), SelectorOp::kIn, {PooledString("b")}}}});
  see(under(pod("p", 1), by_field));
  see(asking("q", "metadata.name", "b"));
  step();
  EXPECT_EQ(where("p"), "b");
  EXPECT_EQ(where("q"), "a") << "by the label";
}

TEST_F(NodeLabels, ThePodsLookedAtAreThoseThatAreBoundThereNow) {
  int room = 0;
  const auto moved = [&] {
    const std::uint64_t before = tracker.owners_moved();
    see(labelled("a", {label("room", "r" + std::to_string(++room))}));
    step();
    return tracker.owners_moved() - before;
  };
  see(labelled("a", {label("room", "r0")}));
  see(labelled("b", {label("room", "q")}));
  for (const char* name : {"x", "y", "z"}) see(loner(name, "a", "room"));
  see(loner("elsewhere", "b", "room"));
  EXPECT_EQ(moved(), 3u);
  see(plain("y", "a"));
  EXPECT_EQ(moved(), 2u) << "it has no terms any more";
  see(loner("y", "a", "room"));
  gone(loner("x", "a", "room"));
  EXPECT_EQ(moved(), 2u);
  tracker.take(Change<Node>{Change<Node>::Kind::kDeleted, labelled("a", {})});
  step();
  see(labelled("a", {label("room", "back")}));
  step();
  EXPECT_EQ(moved(), 2u) << "they are still bound there";
  gone(loner("y", "a", "room"));
  gone(loner("z", "a", "room"));
  EXPECT_EQ(moved(), 0u);
  see(pod("web", 1, {label("app", "web")}));
  step();
  EXPECT_EQ(where("web"), "a") << "none is left of its rules";
}

TEST(AskedKeys, WhatIsAskedForStaysNewsUntilItIsReported) {
  ObjectNames names;
  AskedKeys keys(names);
  Constraint constraint;
  constraint.selector.all = {{names.label_keys.of(PooledString("power")), LabelExpression::Op::kIn, {}, 0}};
  const auto again = [&](AskedKeys& k) { k.ask(constraint); };
  const auto never = [](AskedKeys&) {};
  const auto on_nodes = [](bool are) { return [are](const PooledString&) { return are; }; };
  keys.ask(constraint);
  keys.renew(again, on_nodes(false));
  EXPECT_EQ(keys.news().size(), 1u) << "nobody has reported it";
  keys.forget_news();
  keys.renew(again, on_nodes(false));
  EXPECT_EQ(keys.news().size(), 0u);
  keys.renew(never, on_nodes(true));
  EXPECT_EQ(keys.size(), 1u) << "nodes have it";
  keys.ask(constraint);
  EXPECT_EQ(keys.news().size(), 0u);
  keys.renew(never, on_nodes(false));
  EXPECT_EQ(keys.size(), 0u);
  keys.ask(constraint);
  EXPECT_EQ(keys.news().size(), 1u);
}

}  // namespace
}  // namespace ashlar::kube
