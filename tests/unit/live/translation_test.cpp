// What pods and nodes mean to the engine.
#include <algorithm>

#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

class Translation : public TrackerBench {};

TEST_F(Translation, DeviceListsAreReadAndWritten) {
  EXPECT_EQ(devices_text(parse_devices("0-2,7,64")), "0,1,2,7,64");
  for (const char* good : {"0", "127", "5,6", "63,64,126"}) EXPECT_EQ(devices_text(parse_devices(good)), good);
  EXPECT_EQ(devices_text(parse_devices("5-5")), "5");
  EXPECT_EQ(parse_devices("0-127").count(), 128);
  for (const char* bad : {"", "a", "1,", "3-1", "128", "-1", "1;2", ",1", "1-", "1-128", "1-a", "1 ", "1,,2", "1-2-3",
                          "0x1", "99999999999", "1,-2", "0-"})
    EXPECT_TRUE(parse_devices(bad).is_empty()) << bad;
}

TEST_F(Translation, ANodeHasTheLargerOfItsTwoDeviceCounts) {
  Node n = node("n", 4);
  n.allocatable.extended = {{PooledString("ashlar.dev/gpu-milli"), 8000}, {PooledString("nvidia.com/gpu"), 4}};
  see(n);
  step();
  EXPECT_EQ(state.cluster().devices()[0], 8);
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
  EXPECT_EQ(tracker.names().nodes.find(PooledString("d")), NodeId(0u));
  EXPECT_EQ(tracker.names().nodes.find(PooledString("c")), NodeId(2u));
}

TEST_F(Translation, AnUnschedulableNodeIsLeftAlone) {
  Node n = node("n", 8);
  n.unschedulable = true;
  see(n);
  see(pod("p", 1));
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_EQ(verdict_text({tracker.tables(), state}, record("p").job, engine.verdict_of(record("p").job)).message,
            "0/1 nodes are available: 1 node(s) were unschedulable.");
}

TEST_F(Translation, ATolerationOfEverythingEntersAnUnreadyNode) {
  Node n = node("n", 8);
  n.ready = ConditionStatus::kFalse;
  see(n);
  PodRules rules;
  rules.tolerations.push_back({PooledString(), PooledString(), true, TaintEffect::kAny});
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
  rules.required_affinity.push_back({{}, {{PooledString("metadata.name"), SelectorOp::kIn, {PooledString("b")}}}});
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
  see(node("a", 8, {{PooledString("nvidia.com/gpu.product"), PooledString("A100")}}));
  see(node("h", 8, {{PooledString("nvidia.com/gpu.product"), PooledString("H100")}}));
  PodRules rules;
  rules.node_selector = {{PooledString("nvidia.com/gpu.product"), PooledString("H100")}};
  Pod p = pod("p", 1);
  p.rules = std::make_shared<const PodRules>(rules);
  see(p);
  step();
  EXPECT_EQ(where("p"), "h");
  EXPECT_EQ(state.cluster().constraint(record("p").constraint).models.size(), 1u);
}

TEST_F(Translation, PodsOfOneTemplateShareOneDemand) {
  see(pod("p", 2));
  see(pod("q", 2));
  see(pod("r", 3));
  EXPECT_EQ(record("p").demand, record("q").demand);
  EXPECT_NE(record("p").demand, record("r").demand);
}

TEST_F(Translation, ADemandListsItsResourcesInTheOrderOfTheirColumns) {
  for (const char* resource : {"z.example/nic", "a.example/nic"}) {
    Node n = node(std::string("n-") + resource[0], 8);
    n.allocatable.extended.push_back({PooledString(resource), 4});
    see(n);
  }
  Pod p = pod("p", 1);
  p.requests.extended = {
      {PooledString("a.example/nic"), 1}, {PooledString("nvidia.com/gpu"), 1}, {PooledString("z.example/nic"), 2}};
  see(p);
  const std::vector<ResourceAmount>& amounts = tracker.translator().demand_of(record("p").demand).amounts;
  EXPECT_EQ(amounts.size(), 5u) << "with CPU and pods";
  EXPECT_TRUE(std::is_sorted(amounts.begin(), amounts.end(),
                             [](const auto& a, const auto& b) { return a.resource.row() < b.resource.row(); }));
}

TEST_F(Translation, SharesBeyondOneDeviceMustBeWholeDevices) {
  see(node("n", 8));
  see(share("two", 2000));
  see(share("odd", 1500));
  step();
  EXPECT_EQ(where("two"), "n");
  EXPECT_EQ(record("odd").hold, HoldReason::kMalformed);
  EXPECT_EQ(idle_devices("n"), 6);
}

TEST_F(Translation, HostPortsClashOnANode) {
  see(node("n", 8));
  PodRules rules;
  rules.host_ports.push_back({HostPort::Protocol::kTcp, 8080, PooledString()});
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
  p.scheduler_name = PooledString("default-scheduler");
  p.node_name = PooledString("n");
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
  p.scheduler_name = PooledString("default-scheduler");
  p.nominated_node_name = PooledString("n");
  p.priority = 100;
  see(p);
  see(pod("q", 4));
  step();
  EXPECT_EQ(where("q"), "");
  p.nominated_node_name = PooledString();
  see(p);
  step();
  EXPECT_EQ(where("q"), "n");
}

TEST_F(Translation, DevicesAreReadBackAfterARestart) {
  see(node("n", 2));
  Pod p = share("p", 600);
  p.node_name = PooledString("n");
  p.annotations = std::make_shared<const Labels>(Labels{{PooledString("ashlar.dev/cards"), PooledString("1")}});
  see(p);
  step();
  EXPECT_EQ(state.cluster().device_free_milli(NodeId(0u))[0], 1000);
  EXPECT_EQ(state.cluster().device_free_milli(NodeId(0u))[1], 400);
}

TEST_F(Translation, APodOnAnUnknownNodeCountsOnceTheNodeIsThere) {
  Pod p = pod("p", 5);
  p.node_name = PooledString("n");
  see(p);
  step();
  EXPECT_EQ(tracker.on_unknown_nodes_count(), 1u);
  see(node("n", 8));
  step();
  EXPECT_EQ(idle_devices("n"), 3);
  gone(node("n", 8));
  step();
  EXPECT_EQ(tracker.on_unknown_nodes_count(), 1u);
  see(node("n", 8));
  step();
  EXPECT_EQ(idle_devices("n"), 3);
  gone(node("n", 8));
  gone(p);
  EXPECT_EQ(tracker.on_unknown_nodes_count(), 0u) << "nobody waits for the node any more";
}

TEST_F(Translation, AnUnknownQueueIsNamed) {
  see(node("n", 8));
  see(pod("p", 1, {{PooledString("ashlar.dev/queue"), PooledString("nowhere")}}));
  step();
  EXPECT_EQ(where("p"), "");
  EXPECT_EQ(record("p").hold, HoldReason::kQueueUnknown);
  EXPECT_EQ(hold_text(record("p")), "queue nowhere is not configured; `ashlar queue` lists the configured queues");
  EXPECT_EQ(due, std::vector<std::string>{"p"});
}

// ---- what bound pods hold -------------------------------------------------------------------------------------------

class Held : public TrackerBench {
 protected:
  static Pod bound(Pod p, const std::string& node_name = "n") {
    p.scheduler_name = PooledString("default-scheduler");
    p.node_name = PooledString(node_name);
    return p;
  }
};

TEST_F(Held, ABoundPodWithAnUnreadableAnnotationKeepsItsDevices) {
  see(node("n", 8));
  see(bound(annotated(pod("p", 8), "ashlar.dev/gpu-memory", "lots")));
  see(pod("q", 1));
  step();
  EXPECT_EQ(idle_devices("n"), 0);
  EXPECT_EQ(where("q"), "");
}

TEST_F(Held, AnUnreadableAnnotationOnARunningPodFreesNothing) {
  see(node("n", 8));
  see(bound(pod("p", 8)));
  step();
  see(bound(annotated(pod("p", 8), "ashlar.dev/gpu-memory", "lots")));
  step();
  EXPECT_EQ(idle_devices("n"), 0);
}

TEST_F(Held, DevicesAskedForInTwoWaysAreCountedWhole) {
  see(node("n", 8));
  Pod p = pod("p", 2);
  p.requests.extended = {{PooledString("ashlar.dev/gpu-milli"), 500}, {PooledString("nvidia.com/gpu"), 2}};
  see(bound(p));
  step();
  EXPECT_EQ(idle_devices("n"), 5);
}

TEST_F(Held, AShareBeyondOneDeviceIsRoundedUpToWholeDevices) {
  see(node("n", 8));
  see(bound(share("p", 1500)));
  step();
  EXPECT_EQ(idle_devices("n"), 6);
}

TEST_F(Held, PortsAndOtherResourcesAreKeptToo) {
  Node n = node("n", 8);
  n.allocatable.extended.insert(n.allocatable.extended.begin(), {PooledString("example.com/nic"), 4});
  see(n);
  PodRules rules;
  rules.host_ports.push_back({HostPort::Protocol::kTcp, 8080, PooledString()});
  Pod p = annotated(under(pod("p", 8), rules), "ashlar.dev/gpu-memory", "lots");
  p.requests.extended.insert(p.requests.extended.begin(), {PooledString("example.com/nic"), 3});
  see(bound(p));
  Pod nic = pod("nic", 0);
  nic.requests.extended = {{PooledString("example.com/nic"), 2}};
  see(nic);
  see(under(pod("port", 0), rules));
  step();
  EXPECT_EQ(where("nic"), "");
  EXPECT_EQ(where("port"), "");
}

TEST_F(Held, DevicesCountAlthoughAllResourceColumnsAreTaken) {
  Node n = node("n", 8);
  for (int i = 0; i < 70; ++i)
    n.allocatable.extended.insert(n.allocatable.extended.begin(),
                                  {PooledString("example.com/r" + std::to_string(i)), 1});
  see(n);
  Pod p = pod("p", 8);
  p.requests.extended.insert(p.requests.extended.begin(), {PooledString("example.com/one-more"), 1});
  see(bound(p));
  step();
  EXPECT_EQ(idle_devices("n"), 0);
}

TEST_F(Held, AnEndlessDeviceMemoryIsATypingError) {
  see(node("n", 8));
  see(annotated(pod("p", 1), "ashlar.dev/gpu-memory", "8Ei"));
  EXPECT_EQ(record("p").hold, HoldReason::kMalformed);
}

TEST_F(Held, ADeviceMemoryWithoutItsUnitIsATypingError) {
  see(node("n", 8));
  see(annotated(pod("p", 1), "ashlar.dev/gpu-memory", "40"));
  EXPECT_EQ(hold_text(record("p")), "ashlar.dev/gpu-memory \"40\" is less than 1Mi; name the unit (40Gi)");
  see(annotated(pod("q", 1), "ashlar.dev/gpu-memory", "1048575"));
  EXPECT_EQ(record("q").hold, HoldReason::kMalformed);
  for (const char* fine : {"0", "1Mi", "1048576"}) {
    see(annotated(pod(fine, 1), "ashlar.dev/gpu-memory", fine));
    EXPECT_NE(record(fine).hold, HoldReason::kMalformed) << fine;
  }
}

// ---- queues ---------------------------------------------------------------------------------------------------------

class Queues : public TrackerBench {
 protected:
  Queues() : TrackerBench(TrackerOptions{.queues = {{"red"}, {"blue"}}}) {}
  static Namespace labelled(const std::string& queue) {
    Namespace n;
    n.name = PooledString("ns");
    if (!queue.empty()) n.labels = {{PooledString("ashlar.dev/queue"), PooledString(queue)}};
    return n;
  }
  std::string queue_of(const std::string& name) {
    const PodRecord& r = record(name);
    return r.is_in_engine() ? tracker.names().queues.name(state.job(r.job).queue).str() : "";
  }
};

TEST_F(Queues, AWaitingPodMovesWithItsLabelAndKeepsItsAge) {
  see(pod("p", 1, {{PooledString("ashlar.dev/queue"), PooledString("red")}}));
  step();
  EXPECT_EQ(queue_of("p"), "red");
  const Millis submitted = state.job(record("p").job).submitted;
  time = time + Millis(1000);
  see(pod("p", 1, {{PooledString("ashlar.dev/queue"), PooledString("blue")}}));
  step();
  EXPECT_EQ(queue_of("p"), "blue");
  EXPECT_EQ(state.job(record("p").job).submitted, submitted);
}

TEST_F(Queues, ANamespaceThatIsLabelledLaterMovesItsWaitingPods) {
  see(pod("p", 1));
  see(gang_pod("g", 0, 2, 1));
  see(gang_pod("g", 1, 2, 1));
  see(pod("own", 1, {{PooledString("ashlar.dev/queue"), PooledString("blue")}}));
  step();
  EXPECT_EQ(queue_of("p"), "default");
  see(labelled("red"));
  EXPECT_TRUE(tracker.has_unsettled());
  step();
  EXPECT_EQ(queue_of("p"), "red");
  EXPECT_EQ(queue_of("g-0"), "red");
  EXPECT_EQ(queue_of("own"), "blue") << "its own label counts more";
}

TEST_F(Queues, APodWhoseNamespaceNamesAnUnknownQueueIsHeldUntilItNamesAnother) {
  see(labelled("nowhere"));
  see(pod("p", 1));
  step();
  EXPECT_EQ(record("p").hold, HoldReason::kQueueUnknown);
  see(labelled("red"));
  step();
  EXPECT_EQ(queue_of("p"), "red");
  see(labelled("nowhere"));
  step();
  EXPECT_EQ(record("p").hold, HoldReason::kQueueUnknown);
  EXPECT_EQ(state.backlog_size(), 0u);
}

TEST_F(Queues, AnExhaustedQuotaAsksNoAutoscalerForNodes) {
  Verdict verdict{VerdictKind::kOverQuota, WakeOn::kQuota, time, {}};
  see(pod("p", 1));
  step();
  verdict.reasons.push_back(
      {ReasonCode::kQuotaExhausted, tracker.names().queues.find(PooledString("red")).value, {0, 8000, 8000}});
  const ConditionText text = verdict_text({tracker.tables(), state}, record("p").job, verdict);
  EXPECT_EQ(text.reason, "SchedulerError");
  EXPECT_EQ(text.message, "QuotaExhausted: queue red uses 8 of its 8 GPUs");
}

// ---- selectors, taints, preferences ---------------------------------------------------------------------------------

class Selectors : public TrackerBench {
 protected:
  /// Nodes "one", "two" and "none" with the label rank=1, rank=2 and without it.
  void see_ranks() {
    see(node("one", 8, {{PooledString("rank"), PooledString("1")}}));
    see(node("two", 8, {{PooledString("rank"), PooledString("2")}}));
    see(node("none", 8));
  }
  /// The nodes on which a pod with this requirement may run, in order of name.
  std::vector<std::string> allowed(SelectorOp op, std::vector<PooledString> values) {
    PodRules rules;
    rules.has_required_affinity = true;
    rules.required_affinity.push_back({{{PooledString("rank"), op, std::move(values)}}, {}});
    std::vector<std::string> on;
    for (int i = 0; i < 4; ++i) see(under(pod("p" + std::to_string(i), 8), rules));
    step();
    for (int i = 0; i < 4; ++i)
      if (const std::string name = where("p" + std::to_string(i)); !name.empty()) on.push_back(name);
    std::sort(on.begin(), on.end());
    return on;
  }
  using Names = std::vector<std::string>;
};

TEST_F(Selectors, Greater) {
  see_ranks();
  EXPECT_EQ(allowed(SelectorOp::kGt, {PooledString("1")}), Names{"two"});
}

TEST_F(Selectors, Less) {
  see_ranks();
  EXPECT_EQ(allowed(SelectorOp::kLt, {PooledString("2")}), Names{"one"});
}

TEST_F(Selectors, GreaterThanNoNumberMatchesNothing) {
  see_ranks();
  EXPECT_EQ(allowed(SelectorOp::kGt, {PooledString("many")}), Names{});
}

TEST_F(Selectors, NotInMatchesNodesWithoutTheLabelToo) {
  see_ranks();
  EXPECT_EQ(allowed(SelectorOp::kNotIn, {PooledString("1")}), (Names{"none", "two"}));
}

TEST_F(Selectors, Exists) {
  see_ranks();
  EXPECT_EQ(allowed(SelectorOp::kExists, {}), (Names{"one", "two"}));
}

TEST_F(Selectors, DoesNotExist) {
  see_ranks();
  EXPECT_EQ(allowed(SelectorOp::kDoesNotExist, {}), Names{"none"});
}

TEST_F(Selectors, ATaintOfPreferNoScheduleKeepsNobodyOut) {
  Node n = node("n", 8);
  n.taints = {{PooledString("team"), PooledString("blue"), TaintEffect::kPreferNoSchedule}};
  see(n);
  see(pod("p", 1));
  step();
  EXPECT_EQ(where("p"), "n");
}

TEST_F(Selectors, ANominationKeepsOutPodsOfItsPriorityAndLetsHigherOnesIn) {
  see(node("n", 8));
  Pod nominated = pod("nominated", 8);
  nominated.scheduler_name = PooledString("default-scheduler");
  nominated.nominated_node_name = PooledString("n");
  nominated.priority = 100;
  see(nominated);
  Pod equal = pod("equal", 8), higher = pod("higher", 8);
  equal.priority = 100;
  higher.priority = 101;
  see(equal);
  step();
  EXPECT_EQ(where("equal"), "");
  see(higher);
  step();
  EXPECT_EQ(where("equal"), "");
  EXPECT_EQ(where("higher"), "n");
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

TEST_F(Translation, ProfilesThatStopRunningJobsBeforeAPlaceIsKnownAreRefused) {
  const Result<Profile> refused = live_profile(builtin_profile("srtf").value());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("stops running jobs before a place is known"), std::string::npos);
  EXPECT_TRUE(live_profile(builtin_profile("fgd").value()).ok());
  Profile stopping = builtin_profile("ashlar").value();
  stopping.victim = VictimRule::kLostWork;
  EXPECT_TRUE(live_profile(std::move(stopping)).ok());
}

}  // namespace
}  // namespace ashlar::kube
