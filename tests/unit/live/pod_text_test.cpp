// What is said about a pod that waits: every sentence in full, of one and of many.
#include "live/track/nodes/node_trouble.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

// ---- amounts, durations, words of holds -----------------------------------------------------------------------------

TEST(TextForms, EqualHashesMeanEqualReasonsAndMessages) {
  EXPECT_EQ(condition_hash("a", "b"), condition_hash("a", "b"));
  EXPECT_NE(condition_hash("a", "b"), condition_hash("a", "c"));
  EXPECT_NE(condition_hash("a", "b"), condition_hash("c", "b"));
  EXPECT_NE(condition_hash("", ""), 0u);
}

TEST(TextForms, WordsAreTheSameWhereOnlyNumbersDiffer) {
  const auto same = [](const char* a, const char* b) { return condition_words("r", a) == condition_words("r", b); };
  EXPECT_TRUE(same("0/64 nodes are available: 60 Insufficient cpu.", "0/8 nodes are available: 5 Insufficient cpu."));
  EXPECT_TRUE(same("uses 8 of its 12 GPUs", "uses 10 of its 12 GPUs"));
  EXPECT_TRUE(same("short of 80GiB, for 1h30m", "short of 7.5GiB, for 2h5m"));
  EXPECT_TRUE(same("room for (3 of 4)", "room for (2 of 4)"));
  EXPECT_FALSE(same("4 node(s) had taint a", "4 node(s) had taint b"));
  EXPECT_FALSE(same("in rack-007", "in rack-008")) << "a name";
  EXPECT_FALSE(same("job 7b-llama waits", "job 8b-llama waits")) << "a name";
  EXPECT_FALSE(same("80GiB", "80MiB"));
  EXPECT_FALSE(same("waits", "waits 3"));
  EXPECT_NE(condition_words("a", "x"), condition_words("b", "x"));
}

std::shared_ptr<const PodRules> of_a_refused_field() {
  PodRules rules;
  rules.unsupported = PooledString("X");
  return std::make_shared<const PodRules>(std::move(rules));
}

TEST(TextForms, EveryHoldHasItsTokenNameAndSentence) {
  struct Case {
    HoldReason reason;
    const char *token, *name, *sentence;
  };
  const Case cases[] = {
      {HoldReason::kNone, "SchedulerError", "None", ""},
      {HoldReason::kGated, "SchedulingGated", "AdmissionGated",
       "the pod has scheduling gates (X) and waits until they are removed"},
      {HoldReason::kDeleting, "SchedulerError", "Deleting", "the pod is being deleted"},
      {HoldReason::kUnsupported, "SchedulerError", "FieldNotEvaluated",
       "X is not evaluated by Ashlar, so the pod is not placed: remove the field or use another scheduler"},
      {HoldReason::kUnknownField, "SchedulerError", "FieldUnknown",
       "the pod's spec has what this release of Ashlar does not know (X), so the pod is not placed: use a newer "
       "release "
       "or another scheduler; an administrator may list it in acceptUnknownFields"},
      {HoldReason::kMalformed, "SchedulerError", "Misconfigured", "X"},
      {HoldReason::kQueueUnknown, "SchedulerError", "QueueUnknown",
       "queue X is not configured; `ashlar queue` lists the configured queues"},
      {HoldReason::kQueueForbidden, "SchedulerError", "QueueForbidden", "X"},
      {HoldReason::kQuarantined, "SchedulerError", "Quarantined", "X"},
      {HoldReason::kBindFailed, "SchedulerError", "BindFailed",
       "the pod is not bound yet; the binding is retried later: X"},
      {HoldReason::kUnreadable, "SchedulerError", "Unreadable", "the pod cannot be read: X"},
      {HoldReason::kForeign, "SchedulerError", "OtherScheduler", "another scheduler's pod (X)"},
      {HoldReason::kMembersMissing, "SchedulerError", "MembersMissing", "X"},
      {HoldReason::kGroupMissing, "SchedulerError", "PodGroupMissing", "X"},
      {HoldReason::kGroupsUnreadable, "SchedulerError", "PodGroupsUnreadable", "X"},
      {HoldReason::kGroupRefused, "SchedulerError", "GangHeld", "X"},
      {HoldReason::kNoSuchDomain, "Unschedulable", "NoSuchDomain", "X"},
  };
  for (const Case& c : cases) {
    PodRecord pod;
    pod.rules = of_a_refused_field();
    pod.hold = c.reason;
    pod.hold_detail = PooledString("X");
    EXPECT_EQ(hold_reason_token(c.reason), c.token) << c.name;
    EXPECT_EQ(hold_reason_name(c.reason), c.name);
    EXPECT_EQ(hold_text(pod), c.sentence) << c.name;
  }
}

// ---- reasons --------------------------------------------------------------------------------------------------------

class Texts : public TrackerBench {
 protected:
  static TrackerOptions options() {
    return {
        .levels = {{PooledString("block"), PooledString("l/block")}, {PooledString("rack"), PooledString("l/rack")}},
        .queues = {{"research", "", {2'000, 1'000, kUnlimited}}},
        .device_classes = {{"H100", {}, {"fp8", "nvlink"}}}};
  }
  Texts() : TrackerBench(options()) {}
  static Node tainted(const std::string& name, const std::string& key, const std::string& value,
                      kube::TaintEffect effect = kube::TaintEffect::kNoSchedule) {
    Node n = node(name, 8);
    n.taints = {{PooledString(key), PooledString(value), effect}};
    return n;
  }
  static Node in_rack(const std::string& name, const std::string& rack, std::int64_t gpus = 8) {
    return node(name, gpus,
                {{PooledString("l/block"), PooledString("b")}, {PooledString("l/rack"), PooledString(rack)}});
  }
  static Pod within_rack(Pod p) { return with(std::move(p), "ashlar.dev/within", "rack"); }
  /// A node of which a part cannot be read.
  static Node unread(const std::string& name) {
    Node n = node(name, 8);
    n.problem = PooledString("status: " + name + " is odd");
    return n;
  }
  TextContext context() { return {tracker.tables(), state, state.now()}; }
  std::string text(ReasonCode code, std::array<std::int64_t, 3> numbers = {}, std::uint32_t subject = 0) {
    return reason_text(context(), JobId::none(), {code, subject, numbers});
  }
  ConditionText said_of(const std::string& pod_name, std::vector<Reason> reasons,
                        VerdictKind kind = VerdictKind::kWaits) {
    Verdict verdict;
    verdict.kind = kind;
    verdict.reasons = std::move(reasons);
    return verdict_text(context(), record(pod_name).job, verdict);
  }
};

TEST_F(Texts, SentencesAboutNodesAgreeInNumber) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  EXPECT_EQ(text(ReasonCode::kInsufficientResource, {1, 500, 1'000}, resource::kCpu.value),
            "1 node has insufficient cpu: at most 0.5 cores free on one node, 1 core requested");
  EXPECT_EQ(text(ReasonCode::kInsufficientResource, {2, kGiB, 2 * kGiB}, resource::kMemory.value),
            "2 nodes have insufficient memory: at most 1 GiB free on one node, 2 GiB requested");
  EXPECT_EQ(text(ReasonCode::kInsufficientGpu, {1, 500, 8'000}),
            "1 node has insufficient GPUs: at most 0.5 GPU free on one node, 8 GPUs requested");
  EXPECT_EQ(text(ReasonCode::kInsufficientGpu, {0, 0, 1'000}),
            "0 nodes have insufficient GPUs: at most 0 GPUs free on one node, 1 GPU requested");
  EXPECT_EQ(text(ReasonCode::kInsufficientGpuMemory, {1, 7, 9}),
            "1 node has no GPU with enough memory: at most 7 MiB free on one GPU, 9 MiB requested");
  EXPECT_EQ(text(ReasonCode::kInsufficientGpuMemory, {2, 7, 9}),
            "2 nodes have no GPU with enough memory: at most 7 MiB free on one GPU, 9 MiB requested");
  EXPECT_EQ(text(ReasonCode::kModelMismatch, {1}), "1 node has GPUs of another model");
  EXPECT_EQ(text(ReasonCode::kModelMismatch, {2}), "2 nodes have GPUs of another model");
  EXPECT_EQ(text(ReasonCode::kCapabilityMissing, {1}, 1), "1 node has no GPU with the capability nvlink");
  EXPECT_EQ(text(ReasonCode::kCapabilityMissing, {2}), "2 nodes have no GPU with the capability fp8");
  EXPECT_EQ(text(ReasonCode::kSelectorMismatch, {1}), "1 node does not match the node selector or affinity");
  EXPECT_EQ(text(ReasonCode::kSelectorMismatch, {2}), "2 nodes do not match the node selector or affinity");
  EXPECT_EQ(text(ReasonCode::kFeatureMissing, {1}), "1 node does not declare a feature that it needs");
  EXPECT_EQ(text(ReasonCode::kFeatureMissing, {2}), "2 nodes do not declare a feature that it needs");
  EXPECT_EQ(text(ReasonCode::kTaintNotTolerated, {1}), "1 node has a taint that is not tolerated");
  EXPECT_EQ(text(ReasonCode::kTaintNotTolerated, {2}), "2 nodes have taints that are not tolerated");
  EXPECT_EQ(text(ReasonCode::kPortTaken, {1}), "1 node has the host port in use");
  EXPECT_EQ(text(ReasonCode::kPortTaken, {2}), "2 nodes have the host port in use");
  EXPECT_EQ(text(ReasonCode::kNominatedElsewhere, {1}), "1 node is held for pods that other schedulers nominated");
  EXPECT_EQ(text(ReasonCode::kNominatedElsewhere, {2}), "2 nodes are held for pods that other schedulers nominated");
  EXPECT_EQ(text(ReasonCode::kCapacityHeld, {1, INT64_MAX}), "1 node is held for a maintenance or reservation");
  EXPECT_EQ(text(ReasonCode::kCapacityHeld, {2, INT64_MAX}), "2 nodes are held for a maintenance or reservation");
}

TEST_F(Texts, NodesThatAreClosedAreNamedWithTheTroubleOfTheFirst) {
  EXPECT_EQ(text(ReasonCode::kNotReady, {0}), "0 nodes are closed: none");
  for (int n = 0; n < 4; ++n) see(node("n" + std::to_string(n), 8));
  see(unread("n1"));
  EXPECT_EQ(text(ReasonCode::kNotReady, {1}), "1 node is closed: node n1 (status: n1 is odd)");
  see(unread("n2"));
  see(unread("n3"));
  EXPECT_EQ(text(ReasonCode::kNotReady, {3}), "3 nodes are closed: node n1 (status: n1 is odd) and 2 more");
}

TEST_F(Texts, ANodeIsClosedForThePodThatCannotBeRead) {
  see(node("n0", 8));
  see(node("n1", 8));
  for (const char* name : {"n0", "n1"}) {
    Pod p = pod(std::string("on-") + name, 0);
    p.node_name = PooledString(name);
    p.problem = PooledString(std::string("spec: odd on ") + name);
    p.lacks_amounts = true;
    see(p);
  }
  EXPECT_EQ(node_trouble(tracker.tables(), NodeId(0u)), "pod ns/on-n0: spec: odd on n0");
  EXPECT_EQ(node_trouble(tracker.tables(), NodeId(1u)), "pod ns/on-n1: spec: odd on n1");
  EXPECT_EQ(text(ReasonCode::kNotReady, {2}), "2 nodes are closed: node n0 (pod ns/on-n0: spec: odd on n0) and 1 more");
}

TEST_F(Texts, SentencesAboutGangsNameTheLevelAndTheDomain) {
  see(in_rack("n0", "r0"));
  see(in_rack("n1", "r1"));
  step();
  EXPECT_EQ(text(ReasonCode::kTopologyFragmented, {2, 3, 1}, 1), "the best rack (r1) has capacity for 2 of 3 members");
  EXPECT_EQ(text(ReasonCode::kTopologyFragmented, {0, 1, 0}, 0), "the best block (b) has capacity for 0 of 1 member");
  EXPECT_EQ(text(ReasonCode::kTopologyFragmented, {0, 2, 0}, 2), "the best domain () has capacity for 0 of 2 members")
      << "a level that is gone";
  EXPECT_EQ(text(ReasonCode::kGangPartial, {3, 4}), "all nodes together have capacity for 3 of 4 members");
  EXPECT_EQ(text(ReasonCode::kGangPartial, {0, 1}), "all nodes together have capacity for 0 of 1 member");
  EXPECT_EQ(text(ReasonCode::kNoSuchDomain, {}, 1), "no node has the label l/rack");
  EXPECT_EQ(text(ReasonCode::kNoSuchDomain, {}, 2), "no node has the label ?");
  EXPECT_EQ(text(ReasonCode::kMembersMissing, {1, 2}), "1 of 2 members exists");
  EXPECT_EQ(text(ReasonCode::kMembersMissing, {2, 3}), "2 of 3 members exist");
}

TEST_F(Texts, SentencesAboutQueuesAndTurns) {
  const std::uint32_t research = tracker.names().queues.find(PooledString("research")).value;
  EXPECT_EQ(text(ReasonCode::kQuotaExhausted, {0, 1'000, 2'000}, research), "queue research uses 1 of its 2 GPUs");
  EXPECT_EQ(text(ReasonCode::kExceedsQuota, {1, 3'000, 1'000}, research),
            "it requests 3 cores, but queue research may use at most 1 core");
  EXPECT_EQ(text(ReasonCode::kQueueUnknown), "its queue is not configured");
  EXPECT_EQ(text(ReasonCode::kBehindHead), "a job ahead of it in its queue must start first");
  EXPECT_EQ(text(ReasonCode::kExceedsCluster), "it would not fit this cluster even if it were empty");
  EXPECT_EQ(text(ReasonCode::kNoNodes), "there are no nodes");
  EXPECT_EQ(text(ReasonCode::kSearchPutOff),
            "searches for gangs of its namespace take long, and it waits for its turn");
  EXPECT_EQ(text(ReasonCode::kNone), "");
  const std::string ended = "the search for a place ended at its limit of 70 ";
  EXPECT_EQ(text(ReasonCode::kLimitReached, {70}, kLimitOfKinds), ended + "kinds of members placed");
  EXPECT_EQ(text(ReasonCode::kLimitReached, {70}, kLimitOfSteps), ended + "steps of exact search");
  EXPECT_EQ(text(ReasonCode::kLimitReached, {70}, kLimitOfLooks), ended + "nodes looked at");
  EXPECT_EQ(text(ReasonCode::kLimitReached, {80}, kLimitOfProof),
            "whether it would fit an otherwise empty cluster could not be determined in 80 steps");
}

TEST_F(Texts, APromiseIsSaidWithTheTimeThatIsLeft) {
  see(node("n0", 8));
  see(pod("p", 1));
  step();
  const std::int64_t now = state.now().value;
  ASSERT_GT(now, 0);
  const std::string delay = "it may fit, but starting it now would delay a job ahead of it";
  EXPECT_EQ(text(ReasonCode::kReservationHeld, {now + 90'000}),
            delay + ", which can start in 1m30s at the latest if running jobs end as estimated");
  EXPECT_EQ(text(ReasonCode::kReservationHeld, {now + 1}),
            delay + ", which can start in 1ms at the latest if running jobs end as estimated");
  EXPECT_EQ(text(ReasonCode::kReservationHeld, {now}), delay);
  EXPECT_EQ(text(ReasonCode::kCapacityHeld, {2, now + 90'000}),
            "2 nodes are held for a maintenance or reservation, the first of them for 1m30s");
  EXPECT_EQ(text(ReasonCode::kCapacityHeld, {1, now}), "1 node is held for a maintenance or reservation");
  const ConditionText said = said_of("p", {{ReasonCode::kReservationHeld, 0, {now + 90'000}}});
  EXPECT_EQ(said.reason, "SchedulerError");
  EXPECT_EQ(said.message, "ReservationHeld: " + delay) << "a time would be out of date when it is read";
}

// ---- conditions -----------------------------------------------------------------------------------------------------

TEST_F(Texts, AutoscalersAreToldOfWhatNodesWouldHelpWith) {
  see(node("n0", 8));
  see(pod("p", 1));
  step();
  const std::pair<ReasonCode, const char*> about_nodes[] = {
      {ReasonCode::kInsufficientResource, "0/1 nodes are available: 1 Insufficient cpu."},
      {ReasonCode::kInsufficientGpu, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."},
      {ReasonCode::kInsufficientGpuMemory, "0/1 nodes are available: 1 Insufficient GPU memory."},
      {ReasonCode::kModelMismatch, "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."},
      {ReasonCode::kCapabilityMissing, "0/1 nodes are available: 1 node(s) had no GPU with the capability fp8."},
      {ReasonCode::kSelectorMismatch, "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."},
      {ReasonCode::kFeatureMissing, "0/1 nodes are available: 1 node(s) didn't match Pod's required features."},
      {ReasonCode::kTaintNotTolerated, "0/1 nodes are available."},
      {ReasonCode::kNotReady, "0/1 nodes are available: 1 node(s) were closed by the scheduler."},
      {ReasonCode::kPortTaken,
       "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."},
      {ReasonCode::kNominatedElsewhere, "0/1 nodes are available: 1 node(s) are held for nominated pods."},
      {ReasonCode::kCapacityHeld, "0/1 nodes are available: 1 node(s) are held for a maintenance or reservation."},
      {ReasonCode::kTopologyFragmented, "0/1 nodes are available. The best block () has capacity for 1 of 0 members."},
      {ReasonCode::kGroupFragmented,
       "0/1 nodes are available. Group 1 of the gang needs one block, and none has capacity for it."},
      {ReasonCode::kGangPartial, "0/1 nodes are available. All nodes together have capacity for 1 of 0 members."},
      {ReasonCode::kNoSuchDomain, "0/1 nodes are available. No node has the label l/block."},
      {ReasonCode::kExceedsCluster, "0/1 nodes are available. It would not fit this cluster even if it were empty."},
      {ReasonCode::kNoNodes, "0/1 nodes are available."},
      {ReasonCode::kLimitReached,
       "0/1 nodes are available. The search for a place ended at its limit of 1 kinds of members placed."},
      {ReasonCode::kNone, "0/1 nodes are available."},
  };
  for (const auto& [code, message] : about_nodes) {
    const ConditionText said = said_of("p", {{code, 0, {1, 0, 0}}});
    EXPECT_EQ(said.reason, "Unschedulable") << message;
    EXPECT_EQ(said.message, message);
  }
  const std::pair<ReasonCode, const char*> about_turns[] = {
      {ReasonCode::kQuotaExhausted, "QuotaExhausted: queue root uses 0 of its 0 cores"},
      {ReasonCode::kExceedsQuota, "ExceedsMaxQuota: it requests 0 cores, but queue root may use at most 0 cores"},
      {ReasonCode::kQueueUnknown, "QueueNotFound: its queue is not configured"},
      {ReasonCode::kBehindHead, "BehindHead: a job ahead of it in its queue must start first"},
      {ReasonCode::kMembersMissing, "MembersMissing: 1 of 0 members exists"},
  };
  for (const auto& [code, message] : about_turns) {
    const ConditionText said = said_of("p", {{code, 0, {1, 0, 0}}});
    EXPECT_EQ(said.reason, "SchedulerError") << message;
    EXPECT_EQ(said.message, message);
  }
  EXPECT_EQ(said_of("p", {}).message, "0/1 nodes are available.");
}

TEST_F(Texts, OneSentenceCountsAllThatRefusesNodes) {
  see(node("n0", 8));
  see(pod("p", 1));
  step();
  EXPECT_EQ(said_of("p", {{ReasonCode::kExceedsCluster, 0, {}},
                          {ReasonCode::kModelMismatch, 0, {2}},
                          {ReasonCode::kSelectorMismatch, 0, {3}},
                          {ReasonCode::kNotReady, 0, {4}},
                          {ReasonCode::kPortTaken, 0, {5}},
                          {ReasonCode::kNominatedElsewhere, 0, {6}},
                          {ReasonCode::kInsufficientGpuMemory, 0, {7}},
                          {ReasonCode::kGangPartial, 0, {1, 2}}})
                .message,
            "0/1 nodes are available: 4 node(s) were closed by the scheduler, 5 node(s) didn't have free ports for the "
            "requested pod ports, 5 node(s) "
            "didn't match "
            "Pod's node affinity/selector, 6 node(s) are held for nominated pods, 7 Insufficient GPU memory. It would "
            "not fit this cluster even if it "
            "were empty (now: all nodes together have capacity for 1 of 2 members).");
}

TEST_F(Texts, AClusterWithoutNodesHasKubeSchedulersWords) {
  see(pod("p", 1));
  step();
  EXPECT_EQ(verdict_of("p").reason, "Unschedulable");
  EXPECT_EQ(verdict_of("p").message, "no nodes available to schedule pods");
}

TEST_F(Texts, TaintsAreNamedAndPreferencesAreNone) {
  Node cordoned = node("n0", 8);
  cordoned.unschedulable = true;
  see(cordoned);
  see(tainted("n1", "team", "blue"));
  see(tainted("n2", "team", "blue", kube::TaintEffect::kNoExecute));
  see(tainted("n3", "team", ""));
  Node busy = tainted("n4", "slow", "yes", kube::TaintEffect::kPreferNoSchedule);
  busy.allocatable.cpu = MilliCores(500);
  see(busy);
  Node both = tainted("n5", "slow", "yes", kube::TaintEffect::kPreferNoSchedule);
  both.taints.push_back({PooledString("team"), PooledString("red"), kube::TaintEffect::kNoSchedule});
  see(both);
  Node gone_soon = tainted("n6", "team", "green");
  see(gone_soon);
  see(pod("p", 1));
  gone(gone_soon);
  step();
  EXPECT_EQ(verdict_of("p").reason, "Unschedulable");
  EXPECT_EQ(verdict_of("p").message,
            "0/6 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint {team: red}, 1 node(s) had "
            "untolerated taint {team: }, 1 "
            "node(s) were unschedulable, 2 node(s) had untolerated taint {team: blue}.");
  PodRules tolerant;
  tolerant.tolerations = {{PooledString("team"), PooledString("blue"), false, kube::TaintEffect::kNoSchedule}};
  see(node("full", 0));
  see(under(pod("t", 8), tolerant));
  step();
  EXPECT_EQ(where("t"), "n1");
}

TEST_F(Texts, AsManyTaintsAsNodesAreCutOff) {
  for (int n = 0; n < 400; ++n) {
    Node own = node("n" + std::to_string(n), 8);
    own.taints = {{PooledString("dedicated"), PooledString("user-" + std::to_string(n)), TaintEffect::kNoSchedule}};
    see(own);
  }
  see(pod("p", 1));
  step();
  const std::string text = verdict_of("p").message;
  EXPECT_TRUE(text.starts_with("0/400 nodes are available: 1 node(s) had untolerated taint {dedicated: user-0}, "));
  EXPECT_LE(text.size(), 8'000u);
}

TEST_F(Texts, AShareOfADeviceIsShortOfTheResourceThatItAsksFor) {
  see(node("n0", 1));
  see(pod("whole", 1));
  step();
  see(share("part", 500));
  step();
  EXPECT_EQ(verdict_of("part").message, "0/1 nodes are available: 1 Insufficient ashlar.dev/gpu-milli.");
  see(pod("second", 1));
  step();
  EXPECT_EQ(verdict_of("second").message, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
}

TEST_F(Texts, ANodeIsCountedOnceWhereNoNodeHasDevices) {
  const auto without_devices = [](const std::string& name) {
    Node n = node(name, 0);
    n.allocatable.extended.clear();
    return n;
  };
  see(without_devices("n0"));
  see(pod("whole", 1));
  see(share("part", 500));
  step();
  EXPECT_EQ(verdict_of("whole").message.find("0/1 nodes are available: 1 Insufficient nvidia.com/gpu."), 0u)
      << verdict_of("whole").message;
  EXPECT_EQ(verdict_of("part").message.find("0/1 nodes are available: 1 Insufficient ashlar.dev/gpu-milli."), 0u)
      << verdict_of("part").message;
}

TEST_F(Texts, AShortageOfDevicesIsToldOnceWithTheLargerCount) {
  see(node("n0", 8));
  step();
  const std::uint32_t gpu = tracker.names().find_resource(PooledString("nvidia.com/gpu")).value;
  const std::uint32_t milli = tracker.names().find_resource(PooledString("ashlar.dev/gpu-milli")).value;
  Verdict verdict;
  verdict.reasons = {{ReasonCode::kInsufficientResource, gpu, {4, 1, 2}},
                     {ReasonCode::kInsufficientResource, resource::kCpu.value, {9, 0, 0}},
                     {ReasonCode::kInsufficientGpu, 0, {3, 1'000, 2'000}},
                     {ReasonCode::kInsufficientResource, milli, {2, 1, 2}},
                     {ReasonCode::kPortTaken, gpu, {1, 0, 0}}};
  const std::vector<Reason> expected{{ReasonCode::kInsufficientResource, resource::kCpu.value, {9, 0, 0}},
                                     {ReasonCode::kInsufficientGpu, 0, {4, 1'000, 2'000}},
                                     {ReasonCode::kPortTaken, gpu, {1, 0, 0}}};
  EXPECT_EQ(reported_reasons(context(), JobId::none(), verdict), expected);
  verdict.reasons = {{ReasonCode::kInsufficientGpu, 0, {3, 1, 2}}, {ReasonCode::kInsufficientResource, gpu, {2, 1, 2}}};
  EXPECT_EQ(reported_reasons(context(), JobId::none(), verdict),
            (std::vector<Reason>{{ReasonCode::kInsufficientGpu, 0, {3, 1, 2}}}));
  verdict.reasons = {{ReasonCode::kInsufficientResource, gpu, {4, 1, 2}}};
  EXPECT_EQ(reported_reasons(context(), JobId::none(), verdict), verdict.reasons)
      << "said as it is where no reason is about cards";
}

TEST_F(Texts, SharesThatNodesWithIdleDevicesDoNotOfferAreSaidToBeShort) {
  for (const auto& [name, gpus] : {std::pair("n0", 8), std::pair("n1", 0)}) {
    Node n = node(name, gpus);
    n.allocatable.extended = {{PooledString("nvidia.com/gpu"), gpus}};
    see(n);
  }
  see(share("part", 500));
  step();
  const Verdict verdict = engine.verdict_of(record("part").job);
  EXPECT_EQ(verdict_of("part").message,
            "0/2 nodes are available: 2 Insufficient ashlar.dev/gpu-milli. It would not fit this cluster even if it "
            "were empty.");
  const std::vector<Reason> reported = reported_reasons(context(), record("part").job, verdict);
  ASSERT_EQ(reported.size(), 2u);
  EXPECT_EQ(reason_text(context(), record("part").job, reported[1]),
            "2 nodes have insufficient ashlar.dev/gpu-milli: at most 0 free on one node, 500 requested");
}

TEST_F(Texts, WhatNoNodeHasOfASelectorIsNamedWithWhatWasProbablyMeant) {
  see(in_rack("n0", "r0"));
  see(in_rack("n1", "r1"));
  int count = 0;
  const auto trouble = [&](PodRules rules) {
    const std::string name = "p" + std::to_string(count++);
    see(under(pod(name, 1), rules));
    step();
    const std::string text =
        reason_text(context(), record(name).job, {ReasonCode::kSelectorMismatch, record(name).constraint.value, {2}});
    const std::string always = "2 nodes do not match the node selector or affinity";
    EXPECT_TRUE(text.starts_with(always)) << text;
    TextContext brief = context();
    brief.is_brief = true;
    EXPECT_EQ(reason_text(brief, record(name).job, {ReasonCode::kSelectorMismatch, record(name).constraint.value, {2}}),
              always);
    return text.substr(std::min(always.size(), text.size()));
  };
  const auto selects = [](const std::string& key, const std::string& value) {
    PodRules rules;
    rules.node_selector = {{PooledString(key), PooledString(value)}};
    return rules;
  };
  const auto one_of = [](std::vector<std::vector<kube::Requirement>> terms) {
    PodRules rules;
    rules.has_required_affinity = true;
    for (auto& term : terms) rules.required_affinity.push_back({.expressions = std::move(term)});
    return rules;
  };
  const auto in = [](const std::string& key, std::vector<PooledString> values) {
    return kube::Requirement{.key = PooledString(key), .values = std::move(values)};
  };
  const auto compares = [](const std::string& key, const std::string& value) {
    return kube::Requirement{.key = PooledString(key), .op = kube::SelectorOp::kGt, .values = {PooledString(value)}};
  };
  EXPECT_EQ(trouble(selects("l/rack", "")), R"(: no node has l/rack=""; known: r0, r1)");
  EXPECT_EQ(trouble(one_of({{compares("l/rack", "99999999999999999999")}})),
            ": no node satisfies l/rack compared with what is no 64-bit number");
  EXPECT_EQ(trouble(one_of({{}, {}})), ": no node satisfies an empty term");
  const PooledString r0("r0"), far("far"), farther("farther");
  EXPECT_EQ(trouble(selects("l/rack", "r00")), R"(: no node has l/rack=r00; did you mean "r0"?)");
  EXPECT_EQ(trouble(selects("l/rack", "elsewhere")), ": no node has l/rack=elsewhere; known: r0, r1");
  EXPECT_EQ(trouble(selects("l/rak", "r0")), R"(: no node has the label l/rak (did you mean "l/rack"?))");
  EXPECT_EQ(trouble(one_of({{in("l/rack", {far, farther})}})),
            ": no node satisfies l/rack in (far, farther); known: r0, r1");
  EXPECT_EQ(trouble(one_of({{in("l/rack", {far})}, {in("l/rack", {r0}), in("l/block", {farther})}})),
            ": no node satisfies l/rack=far, l/block=farther");
  EXPECT_EQ(trouble(one_of({{in("l/rack", {far})}, {in("l/rack", {r0})}})), "") << "one of the terms can be met";
  PodRules both = selects("l/rack", "r0");
  both.node_selector.push_back({PooledString("l/block"), PooledString("b")});
  EXPECT_EQ(trouble(both), "") << "nodes have each";
}

TEST_F(Texts, AGangIsNamedWithItsSize) {
  see(in_rack("n0", "r0"));
  for (int i = 0; i < 2; ++i) see(within_rack(gang_pod("g", i, 2, 8)));
  step();
  EXPECT_EQ(verdict_of("g-0").message.find("0/1 nodes are available"), 0u);
  EXPECT_EQ(
      said_of("g-0", {{ReasonCode::kInsufficientGpu, 0, {1, 0, 8'000}}}).message,
      "0/1 nodes are available: 1 Insufficient nvidia.com/gpu. Gang g of 2: no capacity for all members at once.");
  EXPECT_EQ(said_of("g-0", {{ReasonCode::kGangPartial, 0, {1, 2}}}).message,
            "0/1 nodes are available. Gang g of 2: all nodes together have capacity for 1 of 2 members.");
  EXPECT_EQ(said_of("g-0", {{ReasonCode::kBehindHead, 0, {}}}).message,
            "BehindHead: gang g of 2: a job ahead of it in its queue must start first");
}

TEST_F(Texts, ALabelThatNoNodeHasAnyMoreIsSaidAsSuch) {
  see(in_rack("n0", "r0"));
  step();
  see(node("n0", 8));
  for (int i = 0; i < 2; ++i) see(within_rack(gang_pod("g", i, 2, 4)));
  step();
  EXPECT_EQ(verdict_of("g-0").message, "0/1 nodes are available. Gang g of 2: no node has the label l/rack.");
  see(in_rack("n0", "r0"));
  step();
  EXPECT_EQ(where("g-0"), "n0");
}

TEST_F(Texts, WhatIsBoundOfAGangIsSaidOfOneAndOfMany) {
  for (const int bound : {1, 2}) {
    const std::string gang = "g" + std::to_string(bound);
    for (int i = 0; i < bound; ++i) see(in_rack(gang + "-n" + std::to_string(i), gang));
    for (int i = 0; i < 3; ++i) {
      Pod p = within_rack(gang_pod(gang, i, 3, 8));
      if (i < bound) p.node_name = PooledString(gang + "-n" + std::to_string(i));
      see(p);
    }
  }
  step();
  const std::vector<Reason> ahead{{ReasonCode::kBehindHead, 0, {}}};
  EXPECT_EQ(said_of("g1-2", ahead).message,
            "BehindHead: gang g1: 1 member is bound and stays bound, 2 must be placed in the same domain: a job ahead "
            "of it in its queue must start first");
  EXPECT_EQ(said_of("g2-2", ahead).message,
            "BehindHead: gang g2: 2 members are bound and stay bound, 1 must be placed in the same domain: a job ahead "
            "of it in its queue must start "
            "first");
}

TEST_F(Texts, NodesThatOnlyCompanyKeepsAwayAreCountedAsSuch) {
  const auto with_zone = [](Node n, const std::string& zone) {
    n.labels.push_back({PooledString("l/zone"), PooledString(zone)});
    return n;
  };
  see(with_zone(in_rack("a", "r0"), "z"));
  see(with_zone(in_rack("b", "r0"), "z"));
  see(with_zone(in_rack("other-rack", "r1"), "z"));
  see(with_zone(in_rack("other-zone", "r0"), "y"));
  Node closed = with_zone(in_rack("tainted", "r0"), "z");
  closed.taints = {{PooledString("team"), PooledString("blue"), kube::TaintEffect::kNoSchedule}};
  see(closed);
  see(with_zone(in_rack("gone", "r0"), "z"));
  PodRules rules;
  rules.required_anti_affinity = {
      {.selector = {.present = true, .match_labels = {{PooledString("app"), PooledString("web")}}},
       .topology_key = PooledString("l/rack")}};
  Pod first = under(pod("first", 1), rules);
  first.node_name = PooledString("a");
  see(first);
  PodRules here;
  here.node_selector = {{PooledString("l/rack"), PooledString("r0")}};
  here.has_required_affinity = true;
  here.required_affinity = {{.expressions = {{.key = PooledString("l/zone"), .values = {PooledString("z")}}}},
                            {.expressions = {{.key = PooledString("l/zone"), .values = {PooledString("x")}}}}};
  see(under(pod("web", 1, {{PooledString("app"), PooledString("web")}}), here));
  gone(node("gone", 8));
  step();
  const Verdict of_web = engine.verdict_of(record("web").job);
  EXPECT_TRUE(waits_for_pods_or_volumes(context(), record("web").job, of_web));
  EXPECT_EQ(headline_text(context(), record("web").job, reported_reasons(context(), record("web").job, of_web), "now"),
            "3 nodes are excluded by the anti-affinity of existing pods: 1 of 1 domain of l/rack has pods that keep it "
            "away, e.g. ns/first on a")
      << "the tainted one among them";
  EXPECT_EQ(verdict_of("web").message,
            "0/5 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, 3 node(s) didn't satisfy "
            "existing pods anti-affinity rules.");
  const std::uint32_t rule = record("web").constraint.value;
  EXPECT_EQ(said_of("web", {{ReasonCode::kExceedsCluster, 0, {}}, {ReasonCode::kPodAntiAffinity, rule, {2}}}).message,
            "0/5 nodes are available: 2 node(s) didn't satisfy existing pods anti-affinity rules.")
      << "its size is not the trouble";
  see(under(pod("elsewhere", 1), here));
  see(pod("large", 9));
  step();
  EXPECT_EQ(where("elsewhere"), "a") << "company of another kind is none";
  EXPECT_FALSE(waits_for_pods_or_volumes(context(), record("large").job, engine.verdict_of(record("large").job)));
}

TEST_F(Texts, OnlyHoldsThatTheOwnerCanEndAreSaidOnThePod) {
  const std::pair<HoldReason, const char*> cases[] = {
      {HoldReason::kGated, ""},
      {HoldReason::kDeleting, ""},
      {HoldReason::kForeign, ""},
      {HoldReason::kUnsupported,
       "FieldNotEvaluated: X is not evaluated by Ashlar, so the pod is not placed: remove the field or use another "
       "scheduler"},
      {HoldReason::kUnknownField,
       "FieldUnknown: the pod's spec has what this release of Ashlar does not know (X), so the pod is not placed: use "
       "a "
       "newer release or another scheduler; an administrator may list it in acceptUnknownFields"},
      {HoldReason::kMalformed, "Misconfigured: X"},
      {HoldReason::kUnreadable, "Unreadable: the pod cannot be read: X"},
      {HoldReason::kQueueUnknown,
       "QueueUnknown: queue X is not configured; `ashlar queue` lists the configured queues"},
      {HoldReason::kQueueForbidden, "QueueForbidden: X"},
      {HoldReason::kQuarantined, "Quarantined: X"},
      {HoldReason::kBindFailed, "BindFailed: the pod is not bound yet; the binding is retried later: X"},
  };
  for (const auto& [reason, message] : cases) {
    PodRecord pod;
    pod.phase = PodRecord::Phase::kHeld;
    pod.rules = of_a_refused_field();
    pod.hold = reason;
    pod.hold_detail = PooledString("X");
    EXPECT_EQ(tracker.hold_condition(pod).message, message);
    EXPECT_EQ(tracker.hold_condition(pod).reason, *message == '\0' ? "" : "SchedulerError");
    pod.phase = PodRecord::Phase::kBound;
    EXPECT_EQ(tracker.hold_condition(pod).message, "");
    pod.phase = PodRecord::Phase::kWaiting;
    EXPECT_EQ(tracker.hold_condition(pod).message, "") << "of no gang";
  }
}

}  // namespace
}  // namespace ashlar::kube
