// Fields that the recorded answers do not have, written as JSON and read from protobuf.
#include <gtest/gtest.h>

#include "apijson/api_json.h"
#include "envelope.h"
#include "kubeclient/decode/decode.h"
#include "kubeclient/pod_builder.h"
#include "kubeclient/proto/messages.h"

namespace ashlar::kube {
namespace {

/// A pod named p with these members beside its metadata.
Pod pod_with(const std::string& members) {
  const Result<Pod> pod = object_of_json<Pod>(R"({"metadata":{"name":"p"},)" + members + "}");
  EXPECT_TRUE(pod.ok()) << members;
  return pod.ok() ? *pod : Pod();
}

TEST(DecodeFields, AStatusThatHoldsMoreThanTheSpecCountsByItself) {
  const Pod pod = pod_with(
      R"("spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}],)"
      R"("initContainers":[{"name":"i","resources":{"requests":{"memory":"1"}}}]},)"
      R"("status":{"nominatedNodeName":"n7","containerStatuses":[{"name":"c"},{"name":"c","allocatedResources":{"cpu":"2"},)"
      R"("resources":{"requests":{"cpu":"3"},"limits":{"cpu":"9"}}}],"initContainerStatuses":[{"name":"i","resources":)"
      R"({"requests":{"memory":"5"}}}]})");
  EXPECT_EQ(pod.requests.cpu, MilliCores(3'000));
  EXPECT_EQ(pod.requests.memory, Bytes(5));
  EXPECT_EQ(pod.nominated_node_name, PooledString("n7"));
}

TEST(DecodeFields, AResizeThatCannotBeLeavesTheStatus) {
  for (const char* reason : {"Infeasible", "Deferred"}) {
    const bool is_infeasible = std::string(reason) == "Infeasible";
    const Pod pod =
        pod_with(R"("spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"8"}}}]},"status":{"conditions":[)"
                 R"({"type":"PodResizePending","reason":")" +
                 std::string(reason) + R"("}],"containerStatuses":[{"name":"c","allocatedResources":{"cpu":"2"}}]})");
    EXPECT_EQ(pod.requests.cpu, MilliCores(is_infeasible ? 2'000 : 8'000)) << reason;
    EXPECT_EQ(pod.scheduled.status, ConditionStatus::kAbsent) << "another condition";
  }
}

TEST(DecodeFields, AmountsOfTheWholePodReplaceThoseOfItsContainers) {
  const Pod pod = pod_with(
      R"("spec":{"containers":[{"resources":{"requests":{"cpu":"1","ephemeral-storage":"7","hugepages-2Mi":"4Mi","memory":"1",)"
      R"("x/y":"3"}}}],"resources":{"requests":{"cpu":"4","hugepages-2Mi":"6Mi","hugepages-1Gi":"1Gi","memory":"2","x/y":"9"}},)"
      R"("overhead":{"cpu":"250m"}})");
  EXPECT_EQ(pod.requests.cpu, MilliCores(4'250));
  EXPECT_EQ(pod.requests.memory, Bytes(2));
  EXPECT_EQ(pod.requests.ephemeral_storage, Bytes(7));
  const std::vector<Amount> extended{
      {PooledString("hugepages-1Gi"), 1 << 30}, {PooledString("hugepages-2Mi"), 6 << 20}, {PooledString("x/y"), 3}};
  EXPECT_EQ(pod.requests.extended, extended);
}

TEST(DecodeFields, AmountsThatCannotBeReadAreNamed) {
  struct Case {
    const char *json, *problem;
    bool lacks_amounts;
  };
  const Case cases[] = {
      {R"("spec":{"containers":[{"resources":{"requests":{"cpu":"x","memory":"y"}}}]})",
       "spec.containers[].resources.requests: cpu: quantity \"x\" is not a number; write for example 640, 1500m, 2.5 "
       "or 4Ti",
       true},
      {R"("spec":{"overhead":{"cpu":"-1"}})", "spec.overhead: cpu: quantity \"-1\" is negative", true},
      {R"("spec":{"resources":{"requests":{"memory":"-2"}}})",
       "spec.resources.requests: memory: quantity \"-2\" is negative", true},
      {R"("status":{"containerStatuses":[{"name":"c","allocatedResources":{"cpu":"-3"}}]})",
       "status.containerStatuses[].allocatedResources: cpu: quantity \"-3\" is negative", false},
      {R"("status":{"initContainerStatuses":[{"name":"c","resources":{"requests":{"cpu":"-4"}}}]})",
       "status.containerStatuses[].resources: cpu: quantity \"-4\" is negative", false},
  };
  for (const Case& c : cases) {
    const Pod pod = pod_with(c.json);
    EXPECT_EQ(pod.problem.str(), c.problem);
    EXPECT_EQ(pod.lacks_amounts, c.lacks_amounts) << c.problem;
  }
}

TEST(DecodeFields, HardFieldsAreRefusedAndSoftOnesIgnoredByName) {
  struct Case {
    const char *json, *refused, *ignored;
  };
  const Case cases[] = {
      {R"("tolerations":[{"key":"k","operator":"Near"}])", "", "spec.tolerations[]: operator or effect"},
      {R"("tolerations":[{"key":"k","effect":"NoExecuteEver"}])", "", "spec.tolerations[]: operator or effect"},
      {R"("affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":3,"preference":{"matchExpressions":)"
       R"([{"key":"k","operator":"Near"}]}}]}})",
       "", "spec.affinity.nodeAffinity.preferred: operator"},
      {R"("resourceClaims":[{"name":"x"}])", "spec.resourceClaims", ""},
      {R"("containers":[{"resources":{"requests":{"deviceclass.resource.kubernetes.io/gpu":"1"}}}])",
       "spec.containers[].resources.requests (deviceclass.resource.kubernetes.io/gpu)", ""},
      {R"("containers":[{"resources":{"requests":{"deviceclass.resource.kubernetes.io/gpu":"0"}}}])", "", ""},
  };
  for (const Case& c : cases) {
    const Pod pod = pod_with(R"("spec":{)" + std::string(c.json) + "}");
    EXPECT_EQ(pod.rules->unsupported.str(), c.refused);
    const std::vector<PooledString> ignored =
        *c.ignored == '\0' ? std::vector<PooledString>{} : std::vector<PooledString>{PooledString(c.ignored)};
    EXPECT_EQ(pod.rules->ignored_soft, ignored);
    EXPECT_TRUE(pod.rules->tolerations.empty());
    EXPECT_TRUE(pod.rules->preferred_affinity.empty());
  }
}

TEST(DecodeFields, RulesAboutOtherPodsAreRead) {
  const Pod pod = pod_with(
      R"("spec":{"topologySpreadConstraints":[{"whenUnsatisfiable":"DoNotSchedule","topologyKey":"zone","maxSkew":2,)"
      R"("minDomains":3,"nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor","labelSelector":{},)"
      R"("matchLabelKeys":["hash"]}],"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"([{"topologyKey":"rack","namespaceSelector":{}}]}}})");
  EXPECT_EQ(pod.rules->unsupported, "");
  TopologySpread wanted;
  wanted.selector.present = true;
  wanted.topology_key = "zone";
  wanted.max_skew = 2;
  wanted.min_domains = 3;
  wanted.honors_affinity = false;
  wanted.honors_taints = true;
  wanted.match_label_keys = {"hash"};
  EXPECT_EQ(pod.rules->spread, std::vector<TopologySpread>{wanted});
  PodAffinityTerm term;
  term.topology_key = "rack";
  term.namespace_selector.present = true;
  EXPECT_EQ(pod.rules->required_pod_affinity, std::vector<PodAffinityTerm>{term});
}

TEST(DecodeFields, PreferencesAboutOtherPodsAreRead) {
  const Pod pod = pod_with(
      R"("spec":{"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[)"
      R"({"weight":7,"podAffinityTerm":{"topologyKey":"zone","namespaces":["other"]}},)"
      R"({"weight":101,"podAffinityTerm":{"topologyKey":"zone","namespaces":["other"]}}]},)"
      R"("podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":2,)"
      R"("podAffinityTerm":{"topologyKey":"rack","namespaceSelector":{}}}]}},)"
      R"("topologySpreadConstraints":[{"whenUnsatisfiable":"ScheduleAnyway","topologyKey":"zone","maxSkew":3}]})");
  EXPECT_TRUE(pod.rules->ignored_soft.empty());
  EXPECT_TRUE(pod.rules->has_company());
  PodAffinityTerm near;
  near.topology_key = "zone";
  near.namespaces = {"other"};
  EXPECT_EQ(pod.rules->preferred_pod_affinity, (std::vector<PreferredPodTerm>{{7, near}, {100, near}}));
  PodAffinityTerm apart_from;
  apart_from.topology_key = "rack";
  apart_from.namespace_selector.present = true;
  EXPECT_EQ(pod.rules->preferred_anti_affinity, (std::vector<PreferredPodTerm>{{2, apart_from}}));
  ASSERT_EQ(pod.rules->preferred_spread.size(), 1u);
  EXPECT_EQ(pod.rules->preferred_spread[0].max_skew, 3);
  EXPECT_TRUE(pod.rules->spread.empty());
}

TEST(DecodeFields, TolerationsCompareNumbers) {
  const Pod pod = pod_with(R"("spec":{"tolerations":[{"key":"load","operator":"Lt","value":"5"},)"
                           R"({"key":"load","operator":"Gt","value":"5"}]})");
  ASSERT_EQ(pod.rules->tolerations.size(), 2u);
  EXPECT_EQ(pod.rules->tolerations[0].compares, Toleration::Compares::kLess);
  EXPECT_EQ(pod.rules->tolerations[1].compares, Toleration::Compares::kGreater);
  EXPECT_EQ(pod.rules->tolerations[1].value, "5");
}

TEST(DecodeFields, NumbersOfASpreadAreAtLeastOne) {
  const Pod pod = pod_with(R"("spec":{"topologySpreadConstraints":[{"maxSkew":2147483647,"minDomains":-3}]})");
  ASSERT_EQ(pod.rules->spread.size(), 1u);
  EXPECT_EQ(pod.rules->spread[0].max_skew, INT32_MAX);
  EXPECT_EQ(pod.rules->spread[0].min_domains, 1);
}

TEST(DecodeFields, TermsThatSelectNamespacesByUnlikeLabelsAreRead) {
  const Pod pod = pod_with(R"("spec":{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
                           R"([{"namespaceSelector":{}},{"namespaces":["x"]}]}}})");
  EXPECT_EQ(pod.rules->unsupported, "");
  EXPECT_EQ(pod.rules->required_pod_affinity.size(), 2u);
}

TEST(DecodeFields, ASelectorWithAnUnknownOperatorIsRefused) {
  const Pod pod = pod_with(
      R"("spec":{"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":)"
      R"({"matchExpressions":[{"key":"k","operator":"Near"}]},"topologyKey":"l/rack"}]}}})");
  EXPECT_EQ(pod.rules->unsupported, PooledString("labelSelector: operator")) << "named before what holds it";
}

TEST(DecodeFields, EveryWordOfTheVocabulary) {
  const std::pair<const char*, SelectorOp> ops[] = {
      {"In", SelectorOp::kIn},         {"NotIn", SelectorOp::kNotIn},
      {"Exists", SelectorOp::kExists}, {"DoesNotExist", SelectorOp::kDoesNotExist},
      {"Gt", SelectorOp::kGt},         {"Lt", SelectorOp::kLt}};
  for (const auto& [text, expected] : ops) {
    SelectorOp op = expected == SelectorOp::kIn ? SelectorOp::kLt : SelectorOp::kIn;
    EXPECT_TRUE(read_selector_op(text, op)) << text;
    EXPECT_EQ(op, expected) << text;
  }
  SelectorOp op = SelectorOp::kIn;
  EXPECT_FALSE(read_selector_op("in", op));
  const std::pair<const char*, TaintEffect> effects[] = {{"", TaintEffect::kAny},
                                                         {"NoSchedule", TaintEffect::kNoSchedule},
                                                         {"PreferNoSchedule", TaintEffect::kPreferNoSchedule},
                                                         {"NoExecute", TaintEffect::kNoExecute}};
  for (const auto& [text, expected] : effects) {
    TaintEffect effect = expected == TaintEffect::kAny ? TaintEffect::kNoExecute : TaintEffect::kAny;
    EXPECT_TRUE(read_taint_effect(text, effect)) << text;
    EXPECT_EQ(effect, expected) << text;
  }
  TaintEffect effect = TaintEffect::kAny;
  EXPECT_FALSE(read_taint_effect("Never", effect));
  EXPECT_EQ(read_phase(""), PodPhase::kPending);
  EXPECT_EQ(read_phase("Pending"), PodPhase::kPending);
  EXPECT_EQ(read_phase("Running"), PodPhase::kRunning);
  EXPECT_EQ(read_phase("Succeeded"), PodPhase::kSucceeded);
  EXPECT_EQ(read_phase("Failed"), PodPhase::kFailed);
  EXPECT_EQ(read_phase("Odd"), PodPhase::kUnknown);
  EXPECT_EQ(read_condition_status("True"), ConditionStatus::kTrue);
  EXPECT_EQ(read_condition_status("False"), ConditionStatus::kFalse);
  EXPECT_EQ(read_condition_status(""), ConditionStatus::kAbsent);
  EXPECT_EQ(read_condition_status("Unknown"), ConditionStatus::kUnknown);
  EXPECT_EQ(read_resource_version("18446744073709551615"), 18446744073709551615ull);
  for (const char* bad : {"", "1x", "x", "-1", "18446744073709551616"})
    EXPECT_EQ(read_resource_version(bad), 0u) << bad;
}

TEST(DecodeFields, AnAmountThatIsSaidTwiceIsTheLastOne) {
  Resources resources;
  for (const char* amount : {"1", "2"}) ASSERT_TRUE(add_quantity(resources, "x/y", amount).ok());
  EXPECT_EQ(resources.extended, (std::vector<Amount>{{PooledString("x/y"), 2}}));
  ASSERT_TRUE(add_quantity(resources, "a/b", "0").ok());
  EXPECT_EQ(resources.extended, (std::vector<Amount>{{PooledString("a/b"), 0}, {PooledString("x/y"), 2}}));
  Node node;
  ASSERT_TRUE(add_allocatable(node, "pods", "110").ok());
  EXPECT_EQ(node.pods_max, 110);
  ASSERT_TRUE(add_allocatable(node, "pods", "-3").ok());
  EXPECT_EQ(node.pods_max, 0);
  ASSERT_TRUE(add_allocatable(node, "pods", "9223372036854775807").ok());
  EXPECT_EQ(node.pods_max, std::int64_t{1} << 50) << "more would be refused by the decision log's readers";
  EXPECT_EQ(add_allocatable(node, "pods", "x").error().message.find("pods: "), 0u);
  ASSERT_TRUE(add_allocatable(node, "cpu", "2").ok());
  EXPECT_EQ(node.allocatable.cpu, MilliCores(2'000));
}

TEST(DecodeFields, LabelsAreSortedByKey) {
  Labels labels{{PooledString("c"), PooledString("1")},
                {PooledString("a"), PooledString("2")},
                {PooledString("b"), PooledString("3")}};
  sort_by_key(labels);
  EXPECT_EQ(labels, (Labels{{PooledString("a"), PooledString("2")},
                            {PooledString("b"), PooledString("3")},
                            {PooledString("c"), PooledString("1")}}));
}

TEST(DecodeFields, TaintsOfUnknownEffectAreTheStrictestThatASchedulerKnows) {
  const Result<Node> node =
      object_of_json<Node>(R"({"metadata":{"name":"n"},"spec":{"taints":[{"effect":"Odd"},{"effect":""},)"
                           R"({"effect":"PreferNoSchedule"}]}})");
  ASSERT_TRUE(node.ok());
  ASSERT_EQ(node->taints.size(), 3u);
  EXPECT_EQ(node->taints[0].effect, TaintEffect::kNoSchedule);
  EXPECT_EQ(node->taints[1].effect, TaintEffect::kNoSchedule);
  EXPECT_EQ(node->taints[2].effect, TaintEffect::kPreferNoSchedule);
}

// ---- events and refusals of a protobuf watch ------------------------------------------------------------------------

std::string watch_frame(const std::string& type, const std::string& raw) {
  pb::WatchEvent event;
  event.set_type(type);
  event.mutable_object()->set_raw(raw);
  return event.SerializeAsString();
}

TEST(DecodeFields, AnErrorOfAProtobufWatchSaysWhatItMeans) {
  for (const auto& [code, kind] : {std::pair(410, Error::Kind::kExpired), std::pair(500, Error::Kind::kUnavailable)}) {
    pb::Status status;
    status.set_message("too old");
    status.set_reason("Because");
    status.set_code(code);
    const Result<WatchEvent<Pod>> event = decode_watch_event<Pod>(watch_frame("ERROR", in_envelope(status)));
    ASSERT_TRUE(event.ok());
    EXPECT_EQ(event->kind, WatchEventKind::kError);
    EXPECT_EQ(event->error.kind, kind) << code;
    EXPECT_EQ(event->error.message, "Because: too old");
  }
  EXPECT_EQ(decode_watch_event<Pod>(watch_frame("ERROR", "odd")).error().message,
            "the answer is not Kubernetes protobuf: it does not begin with k8s\\0");
  EXPECT_EQ(decode_watch_event<Pod>(watch_frame("ADDED", "odd")).error().message,
            "the answer is not Kubernetes protobuf: it does not begin with k8s\\0");
  EXPECT_EQ(decode_watch_event<Pod>(watch_frame("ODD", "")).error().message, "watch event of unknown type \"ODD\"");
}

TEST(DecodeFields, WhatIsNoEnvelopeIsRefused) {
  EXPECT_EQ(decode_object<Pod>("{}").error().message,
            "the answer is not Kubernetes protobuf: it does not begin with k8s\\0");
  const std::string magic("k8s\0", 4);
  EXPECT_EQ(decode_object<Pod>(magic + "\x08\x01").error().message, "the protobuf envelope holds an unexpected field");
  EXPECT_EQ(decode_object<Pod>(magic + "\x12\x05x").error().message, "the protobuf envelope is cut off");
  EXPECT_EQ(decode_object<Pod>(magic + "\x12").error().message, "the protobuf envelope is cut off");
  EXPECT_EQ(decode_object<Pod>(magic).error().message, "metadata.name is missing");
  EXPECT_FALSE(decode_object<Namespace>(magic).ok()) << "only pods and nodes are read so";
  EXPECT_FALSE(decode_watch_event<Namespace>(magic).ok());
  EXPECT_FALSE(decode_list<Namespace>(magic).ok());
}

TEST(DecodeFields, ADeviceClassTellsWhichExtendedResourceItServes) {
  const auto read = [](const std::string& spec) {
    return decode_object<DeviceClassObject>(R"({"metadata":{"name":"accel","uid":"u","resourceVersion":"7"},"spec":{)" +
                                            spec + "}}")
        .value();
  };
  const DeviceClassObject serving = read(R"("selectors":[{"cel":{"expression":"true"}}],"config":[],)"
                                         R"("extendedResourceName":"example.com/accel")");
  EXPECT_EQ(serving.name, "accel");
  EXPECT_EQ(serving.uid, "u");
  EXPECT_EQ(serving.resource_version, 7u);
  EXPECT_EQ(serving.extended_resource, "example.com/accel");
  EXPECT_EQ(serving.problem, "");
  EXPECT_EQ(read(R"("selectors":[])").extended_resource, "") << "only the resource named after it";
  EXPECT_EQ(read(R"("extendedResourceName":null)").extended_resource, "");
  const DeviceClassObject odd = read(R"("extendedResourceName":7)");
  EXPECT_EQ(odd.name, "accel");
  EXPECT_EQ(odd.extended_resource, "");
  EXPECT_NE(odd.problem, "");
}

TEST(DecodeFields, OfAQueueTheSpecIsKeptAndItsConditionRead) {
  const Result<QueueObject> read = decode_object<QueueObject>(
      R"({"metadata":{"name":"q","uid":"u","generation":3},"spec":{"quota":{"cpu":"4"}},"status":{"used":{"cpu":"1"},)"
      R"("conditions":[{"type":"Other","status":"True"},{"type":"Accepted","status":"False","reason":"Invalid",)"
      R"("lastTransitionTime":"2026-12-01T10:00:00Z"}]}})");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->name, "q");
  EXPECT_EQ(read->uid, "u");
  EXPECT_EQ(read->generation, 3);
  EXPECT_EQ(read->spec, R"({"quota":{"cpu":"4"}})");
  EXPECT_EQ(read->accepted.status, ConditionStatus::kFalse);
  EXPECT_EQ(read->accepted.last_transition, Millis(1'796'119'200'000));
  EXPECT_EQ(decode_object<QueueObject>(R"({"metadata":{"name":"q"}})")->spec, "");
  EXPECT_FALSE(decode_object<QueueObject>(R"({"spec":{}})").ok()) << "without a name";
}

TEST(DecodeFields, APriorityClassMayBeTheDefault) {
  for (const bool is_default : {false, true}) {
    const Result<PriorityClass> read = decode_object<PriorityClass>(
        std::string(R"({"metadata":{"name":"c"},"value":7,"globalDefault":)") + (is_default ? "true" : "false") + "}");
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(read->is_global_default, is_default);
    EXPECT_EQ(read->value, 7);
  }
}

TEST(DecodeFields, ALongStreamIsCutAtItsLinesAlsoWhereTheBufferIsMovedUp) {
  FrameSplitter splitter(Encoding::kJson);
  const std::string line(70'000, 'a');
  std::vector<std::string> frames;
  const auto keep = [&](std::string_view frame) {
    frames.emplace_back(frame);
    return true;
  };
  ASSERT_TRUE(splitter.feed(line + "\nbb", keep).ok());
  ASSERT_TRUE(splitter.feed("b", keep).ok());
  EXPECT_TRUE(splitter.has_partial_frame());
  ASSERT_TRUE(splitter.feed("b\ncc\n", keep).ok());
  EXPECT_EQ(frames, (std::vector<std::string>{line, "bbbb", "cc"}));
  EXPECT_FALSE(splitter.has_partial_frame());
}

TEST(DecodeFields, LabelSelectorsDoNotCompareNumbers) {
  const Labels labels{{PooledString("n"), PooledString("5")}};
  for (const SelectorOp op : {SelectorOp::kGt, SelectorOp::kLt}) {
    LabelSelector selector;
    selector.present = true;
    selector.expressions = {{PooledString("n"), op, {PooledString("1")}}};
    EXPECT_FALSE(matches(selector, labels));
  }
}

}  // namespace
}  // namespace ashlar::kube
