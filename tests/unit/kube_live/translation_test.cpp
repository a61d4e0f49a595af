// What pods and nodes mean to the engine.
#include "bench_of_intake.h"

namespace ashlar::kube {
namespace {

class Translation : public IntakeBench {};

TEST_F(Translation, CardListsAreReadAndWritten) {
  EXPECT_EQ(cards_text(parse_cards("0-2,7,64")), "0,1,2,7,64");
  for (const char* bad : {"", "a", "1,", "3-1", "128", "-1", "1;2"}) EXPECT_TRUE(parse_cards(bad).is_empty()) << bad;
}

TEST_F(Translation, DurationsAreReadInTheFormsPeopleWrite) {
  EXPECT_EQ(parse_duration("90s").value(), Millis(90'000));
  EXPECT_EQ(parse_duration("1h30m").value(), Millis(5'400'000));
  EXPECT_EQ(parse_duration("250ms").value(), Millis(250));
  EXPECT_EQ(parse_duration("3600").value(), Millis(3'600'000));
  for (const char* bad : {"", "-1s", "1w", "h", "1h30", "99999999999999999999s"}) EXPECT_FALSE(parse_duration(bad).ok()) << bad;
}

TEST_F(Translation, ANodeHasTheLargerOfItsTwoCardCounts) {
  Node n = node("n", 4);
  n.allocatable.extended = {{Text("ashlar.dev/gpu-milli"), 8000}, {Text("nvidia.com/gpu"), 4}};
  see(n);
  step();
  EXPECT_EQ(state.cluster.cards()[0], 8);
}

TEST_F(Translation, AHeartbeatIsNoNews) {
  see(node("n", 8));
  step();
  see(node("n", 8));
  EXPECT_EQ(source.size(), 0u);
}

TEST_F(Translation, NodesTakeTheLowestFreeRow) {
  see(node("a", 8));
  see(node("b", 8));
  see(node("c", 8));
  gone(node("a", 8));
  gone(node("b", 8));
  see(node("d", 8));
  EXPECT_EQ(intake.names().nodes.find(Text("d")), NodeId(0u));
  EXPECT_EQ(intake.names().nodes.find(Text("c")), NodeId(2u));
}

TEST_F(Translation, AnUnschedulableNodeIsLeftAlone) {
  Node n = node("n", 8);
  n.unschedulable = true;
  see(n);
  see(pod("p", 1));
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_EQ(verdict_text({intake, state}, record("p").job, engine.verdict_of(record("p").job)).message,
            "0/1 nodes are available: 1 node(s) were unschedulable.");
}

TEST_F(Translation, ATolerationOfEverythingEntersAnUnreadyNode) {
  Node n = node("n", 8);
  n.ready = ConditionStatus::kFalse;
  see(n);
  PodRules rules;
  rules.tolerations.push_back({Text(), Text(), true, TaintEffect::kAny});
  Pod p = pod("p", 1);
  p.rules = std::make_shared<const PodRules>(rules);
  see(p);
  see(pod("q", 1));
  step();
  EXPECT_EQ(where("p"), "n");
  EXPECT_EQ(where("q"), "");
}

TEST_F(Translation, ANodeNameFieldSelectsThatNode) {
  see(node("a", 8));
  see(node("b", 8));
  PodRules rules;
  rules.has_required_affinity = true;
  rules.required_affinity.push_back({{}, {{Text("metadata.name"), SelectorOp::kIn, {Text("b")}}}});
  Pod p = pod("p", 1);
  p.rules = std::make_shared<const PodRules>(rules);
  see(p);
  step();
  EXPECT_EQ(where("p"), "b");
}

TEST_F(Translation, AnEmptyAffinityTermMatchesNothing) {
  see(node("a", 8));
  PodRules rules;
  rules.has_required_affinity = true;
  rules.required_affinity.emplace_back();
  Pod p = pod("p", 1);
  p.rules = std::make_shared<const PodRules>(rules);
  see(p);
  step();
  EXPECT_EQ(where("p"), "");
}

TEST_F(Translation, AModelByNodeSelector) {
  see(node("a", 8, {{Text("nvidia.com/gpu.product"), Text("A100")}}));
  see(node("h", 8, {{Text("nvidia.com/gpu.product"), Text("H100")}}));
  PodRules rules;
  rules.node_selector = {{Text("nvidia.com/gpu.product"), Text("H100")}};
  Pod p = pod("p", 1);
  p.rules = std::make_shared<const PodRules>(rules);
  see(p);
  step();
  EXPECT_EQ(where("p"), "h");
  EXPECT_EQ(state.cluster.constraint(record("p").constraint).models.size(), 1u);
}

TEST_F(Translation, PodsOfOneTemplateShareOneDemand) {
  see(pod("p", 2));
  see(pod("q", 2));
  see(pod("r", 3));
  EXPECT_EQ(record("p").demand, record("q").demand);
  EXPECT_NE(record("p").demand, record("r").demand);
}

TEST_F(Translation, SharesBeyondOneCardMustBeWholeCards) {
  see(node("n", 8));
  see(share("two", 2000));
  see(share("odd", 1500));
  step();
  EXPECT_EQ(where("two"), "n");
  EXPECT_EQ(record("odd").hold, HoldReason::kMalformed);
  EXPECT_EQ(idle_cards("n"), 6);
}

TEST_F(Translation, HostPortsClashOnANode) {
  see(node("n", 8));
  PodRules rules;
  rules.host_ports.push_back({HostPort::Protocol::kTcp, 8080, Text()});
  Pod p = pod("p", 0), q = pod("q", 0);
  p.rules = q.rules = std::make_shared<const PodRules>(rules);
  see(p);
  see(q);
  step();
  EXPECT_EQ(where("p"), "n");
  EXPECT_EQ(where("q"), "");
}

TEST_F(Translation, BoundPodsOfOthersAreAccounted) {
  see(node("n", 8));
  Pod p = pod("p", 5);
  p.scheduler_name = Text("default-scheduler");
  p.node_name = Text("n");
  see(p);
  see(pod("q", 4));
  step();
  EXPECT_EQ(where("q"), "");
  gone(p);
  step();
  EXPECT_EQ(where("q"), "n");
}

TEST_F(Translation, ThePlaceOfANominatedPodIsKept) {
  see(node("n", 8));
  Pod p = pod("p", 8);
  p.scheduler_name = Text("default-scheduler");
  p.nominated_node_name = Text("n");
  p.priority = 100;
  see(p);
  see(pod("q", 4));
  step();
  EXPECT_EQ(where("q"), "");
  p.nominated_node_name = Text();
  see(p);
  step();
  EXPECT_EQ(where("q"), "n");
}

TEST_F(Translation, CardsAreReadBackAfterARestart) {
  see(node("n", 2));
  Pod p = share("p", 600);
  p.node_name = Text("n");
  p.annotations = std::make_shared<const Labels>(Labels{{Text("ashlar.dev/cards"), Text("1")}});
  see(p);
  step();
  EXPECT_EQ(state.cluster.card_free_milli(NodeId(0u))[0], 1000);
  EXPECT_EQ(state.cluster.card_free_milli(NodeId(0u))[1], 400);
}

TEST_F(Translation, APodOnAnUnknownNodeCountsOnceTheNodeIsThere) {
  Pod p = pod("p", 5);
  p.node_name = Text("n");
  see(p);
  step();
  EXPECT_EQ(intake.parked_count(), 1u);
  see(node("n", 8));
  step();
  EXPECT_EQ(idle_cards("n"), 3);
  gone(node("n", 8));
  step();
  EXPECT_EQ(intake.parked_count(), 1u);
  see(node("n", 8));
  step();
  EXPECT_EQ(idle_cards("n"), 3);
}

TEST_F(Translation, AnUnknownQueueIsNamed) {
  see(node("n", 8));
  see(pod("p", 1, {{Text("ashlar.dev/queue"), Text("nowhere")}}));
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_EQ(record("p").hold, HoldReason::kQueueUnknown);
  EXPECT_EQ(hold_text(record("p")), "queue nowhere is not configured");
  EXPECT_EQ(due, std::vector<std::string>{"p"});
}

TEST_F(Translation, GatedPodsWaitWithoutAWord) {
  see(node("n", 8));
  Pod p = pod("p", 1);
  p.scheduling_gates = 1;
  see(p);
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_TRUE(due.empty());
  p.scheduling_gates = 0;
  see(p);
  step();
  EXPECT_EQ(where("p"), "n");
}

TEST_F(Translation, ProfilesThatStopRunningJobsAreRefused) {
  const Result<Profile> refused = live_profile(builtin_profile("srtf").value());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("stops running jobs"), std::string::npos);
  EXPECT_TRUE(live_profile(builtin_profile("fgd").value()).ok());
}

}  // namespace
}  // namespace ashlar::kube
