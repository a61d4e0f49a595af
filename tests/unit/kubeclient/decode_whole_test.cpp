// Objects that say everything a decoder knows, read in full: what each member becomes, and what a member that is absent
// leaves.
#include <gtest/gtest.h>

#include "apijson/api_json.h"
#include "kubeclient/decode/decode.h"
#include "whole_objects.h"

namespace ashlar::kube {
namespace {

template <class T>
T read(const std::string& json) {
  const Result<T> object = object_of_json<T>(json);
  EXPECT_TRUE(object.ok()) << (object.ok() ? "" : object.error().message);
  return object.ok() ? *object : T();
}
std::string words(const Labels& labels) {
  std::string all;
  for (const KeyValue& label : labels) all += label.key.str() + "=" + label.value.str() + " ";
  return all;
}
std::string words(const Condition& c) {
  return std::to_string(static_cast<int>(c.status)) + " " + c.reason.str() + " " + c.message.str() + " " +
         std::to_string(c.last_transition.value);
}
std::string words(const std::vector<Requirement>& requirements) {
  std::string all;
  for (const Requirement& r : requirements) {
    all += r.key.str() + "/" + std::to_string(static_cast<int>(r.op));
    for (const PooledString& value : r.values) all += "," + value.str();
    all += " ";
  }
  return all;
}
std::string words(const Resources& r) {
  std::string all = std::to_string(r.cpu.value) + " " + std::to_string(r.memory.value) + " " +
                    std::to_string(r.ephemeral_storage.value);
  for (const Amount& amount : r.extended) all += " " + amount.name.str() + "=" + std::to_string(amount.value);
  return all;
}
template <class T>
std::string name_of(const T& object) {
  return object.ns.str() + "/" + object.name.str() + " " + object.uid.str() + " " +
         std::to_string(object.resource_version);
}

TEST(DecodeWhole, Namespaces) {
  const Namespace all =
      read<Namespace>("{" + kMeta + R"(,"status":{"conditions":[],"phase":"Terminating","other":"Active"}})");
  EXPECT_EQ(name_of(all), "s/x u 7");
  EXPECT_EQ(words(all.labels), "a=1 b=2 ");
  EXPECT_EQ(words(all.annotations), "ashlar.dev/y=8 ashlar.dev/z=9 ");
  EXPECT_TRUE(all.is_terminating);
  EXPECT_FALSE(
      read<Namespace>(R"({"metadata":{"name":"x"},"status":{"phase":"Active","other":"Terminating"}})").is_terminating);
  EXPECT_FALSE(read<Namespace>(R"({"metadata":{"name":"x"},"spec":{"phase":"Terminating"}})").is_terminating);
}

TEST(DecodeWhole, PriorityClasses) {
  const PriorityClass all = read<PriorityClass>(
      "{" + kMeta + R"(,"value":-5,"globalDefault":true,"preemptionPolicy":"Never","description":"Never"})");
  EXPECT_EQ(name_of(all), "s/x u 7");
  EXPECT_EQ(all.value, -5);
  EXPECT_TRUE(all.is_global_default);
  EXPECT_TRUE(all.never_preempts);
  const PriorityClass none =
      read<PriorityClass>(R"({"metadata":{"name":"x"},"preemptionPolicy":"PreemptLowerPriority"})");
  EXPECT_EQ(none.value, 0);
  EXPECT_FALSE(none.is_global_default);
  EXPECT_FALSE(none.never_preempts);
}

TEST(DecodeWhole, PodGroups) {
  const PodGroup all = read<PodGroup>(
      "{" + kMeta +
      R"(,"spec":{"schedulingPolicy":{"gang":{"minCount":3,"other":4},"basic":null},"priorityClassName":"high","priority":-2,)"
      R"("schedulingConstraints":{"topology":[{"other":"o","key":"rack"}],"later":null},"parentCompositePodGroupName":null,)"
      R"("resourceClaims":[]},"status":{"other":[],"conditions":[{"type":"Odd","status":"True"},{"type":"PodGroupScheduled",)"
      R"("status":"False","reason":"r","message":"m","lastTransitionTime":"1970-01-01T00:00:03Z"},{"type":"Later","status":"True"}]}})");
  EXPECT_EQ(name_of(all), "s/x u 7");
  EXPECT_EQ(words(all.labels), "a=1 b=2 ");
  EXPECT_EQ(words(all.annotations), "ashlar.dev/y=8 ashlar.dev/z=9 ");
  EXPECT_EQ(all.created, Millis(1'000));
  EXPECT_EQ(all.deletion_requested, Millis(2'000));
  EXPECT_EQ(all.min_count, 3);
  EXPECT_EQ(all.priority_class, "high");
  EXPECT_EQ(all.priority, -2);
  EXPECT_EQ(all.topology_key, "rack");
  EXPECT_EQ(words(all.scheduled), "2 r m 3000");
  EXPECT_EQ(all.unsupported, "");
  EXPECT_EQ(read<PodGroup>(R"({"metadata":{"name":"x"},"spec":{"priority":null}})").priority, std::nullopt);
  const auto group = [](const std::string& spec) {
    return read<PodGroup>(R"({"metadata":{"name":"x"},"spec":{)" + spec + "}}");
  };
  const std::pair<const char*, const char*> refused[] = {
      {R"("schedulingPolicy":{"basic":{}})", ""},
      {R"("parentCompositePodGroupName":"p")", "spec.parentCompositePodGroupName"},
      {R"("resourceClaims":[{}],"parentCompositePodGroupName":"p")", "spec.resourceClaims"},
      {R"("schedulingConstraints":{"topology":[{"key":"a"},{"key":"b"}]})", "spec.schedulingConstraints.topology[1]"},
  };
  for (const auto& [spec, path] : refused) EXPECT_EQ(group(spec).unsupported, path) << spec;
  EXPECT_EQ(group(R"("schedulingConstraints":{"topology":[{"key":"a"},{"key":"b"}]})").topology_key, "a");
  EXPECT_EQ(all.unknown_spec_fields,
            (std::vector<PooledString>{"GangSchedulingPolicy.other", "TopologyConstraint.other"}));
  EXPECT_EQ(all.unknown_fields, "PodGroupStatus.other");
  EXPECT_TRUE(group(R"("schedulingPolicy":{"odd":null},"later":null)").unknown_spec_fields.empty());
}

TEST(DecodeWhole, Leases) {
  const Lease all =
      read<Lease>("{" + kMeta +
                  R"(,"spec":{"holderIdentity":"h","leaseDurationSeconds":15,"leaseTransitions":4,"acquireTime":)"
                  R"("1970-01-01T00:00:03.5Z","renewTime":"1970-01-01T00:00:04Z","other":"o"}})");
  EXPECT_EQ(all.ns.str() + "/" + all.name.str() + " " + all.uid.str() + " " + all.resource_version, "s/x u 7");
  EXPECT_EQ(all.holder, "h");
  EXPECT_EQ(all.duration_seconds, 15);
  EXPECT_EQ(all.transitions, 4);
  EXPECT_EQ(all.acquired, Millis(3'500));
  EXPECT_EQ(all.renewed, Millis(4'000));
  const Lease none = read<Lease>(R"({"metadata":{"name":"x"},"spec":{"acquireTime":null,"renewTime":null}})");
  EXPECT_EQ(none.acquired, Millis(0));
  EXPECT_EQ(none.renewed, Millis(0));
  const auto problem = [](const std::string& json) { return decode_object<Lease>(json).error().message; };
  const std::string no_time = R"("once" is not a time such as 2026-01-31T12:00:00Z)";
  EXPECT_EQ(problem(R"({"metadata":{"name":"x","namespace":"n"},"spec":{"acquireTime":"once"}})"),
            "n/x: spec.acquireTime: " + no_time);
  EXPECT_EQ(problem(R"({"metadata":{"name":"x"},"spec":{"renewTime":"once"}})"), "x: spec.renewTime: " + no_time);
  EXPECT_EQ(problem(R"({"metadata":{}})"), "metadata.name is missing");
}

TEST(DecodeWhole, Nodes) {
  const Node all = read<Node>(kNode);
  EXPECT_EQ(name_of(all), "s/x u 7");
  EXPECT_EQ(words(all.labels), "a=1 b=2 ");
  EXPECT_EQ(words(all.annotations), "ashlar.dev/y=8 ashlar.dev/z=9 ");
  EXPECT_EQ(all.created, Millis(1'000));
  EXPECT_EQ(all.deletion_requested, Millis(2'000));
  EXPECT_TRUE(all.unschedulable);
  EXPECT_EQ(all.taints, (std::vector<Taint>{{"k", "v", TaintEffect::kNoExecute}, {"e", "", TaintEffect::kNoSchedule}}));
  EXPECT_EQ(words(all.allocatable), "4000 2048 3 a.b/c=1 nvidia.com/gpu=8");
  EXPECT_EQ(all.pods_max, 110);
  EXPECT_EQ(all.ready, ConditionStatus::kFalse);
  EXPECT_EQ(all.problem, "");
  const auto problem = [](const std::string& members) {
    return read<Node>(R"({"metadata":{"name":"x"},)" + members + "}").problem.str();
  };
  EXPECT_EQ(problem(R"("status":{"allocatable":{"cpu":"?","memory":"!"}})"),
            "status.allocatable: cpu: quantity \"?\" is not a number; write for example 640, 1500m, 2.5 or 4Ti");
}

TEST(DecodeWhole, WhatPodsSayOfThemselves) {
  const Pod all = read<Pod>(kPod);
  EXPECT_EQ(name_of(all), "s/x u 7");
  EXPECT_EQ(words(*all.labels), "a=1 b=2 ");
  EXPECT_EQ(words(*all.annotations), "ashlar.dev/y=8 ashlar.dev/z=9 ");
  EXPECT_EQ(all.created, Millis(1'000));
  EXPECT_EQ(all.generation, 5);
  EXPECT_EQ(all.deletion_requested, Millis(2'000));
  EXPECT_EQ(all.node_name.str() + " " + all.scheduler_name.str() + " " + all.nominated_node_name.str() + " " +
                all.priority_class.str() + " " + all.group_name.str(),
            "n sched m high g");
  EXPECT_EQ(all.priority, -3);
  EXPECT_EQ(all.phase, PodPhase::kRunning);
  EXPECT_EQ(all.scheduling_gates, 2);
  EXPECT_EQ(all.gate_names, "a, b");
  EXPECT_EQ(words(all.scheduled), "1 r m 3000");
  EXPECT_EQ(words(all.requests), "3010 5 0 nvidia.com/gpu=2");
  std::string ports;
  for (const HostPort& port : all.rules->host_ports)
    ports += std::to_string(static_cast<int>(port.protocol)) + "/" + port.host_ip.str() + ":" +
             std::to_string(port.port) + " ";
  EXPECT_EQ(ports, "0/:80 1/1.2.3.4:81 2/:82 0/:84 0/:90 ")
      << "an init container that ends is gone before the others begin";
  std::string gates = R"({"metadata":{"name":"x"},"spec":{"schedulingGates":[{})";
  for (int i = 1; i < 300; ++i) gates += ",{}";
  EXPECT_EQ(read<Pod>(gates + "]}}").scheduling_gates, 255);
}

TEST(DecodeWhole, WhatPodsAskOfNodes) {
  const Pod all = read<Pod>(kAskingPod);
  const PodRules& rules = *all.rules;
  EXPECT_EQ(words(rules.node_selector), "y=2 z=1 ");
  EXPECT_EQ(rules.tolerations, (std::vector<Toleration>{{"k", "", true, TaintEffect::kNoSchedule},
                                                        {"l", "v", false, TaintEffect::kAny},
                                                        {"", "", true, TaintEffect::kAny},
                                                        {"m", "w", false, TaintEffect::kNoExecute}}));
  EXPECT_TRUE(rules.has_required_affinity);
  ASSERT_EQ(rules.required_affinity.size(), 2u);
  EXPECT_EQ(words(rules.required_affinity[0].expressions), "a/0,1,2 b/4,5 ");
  EXPECT_EQ(words(rules.required_affinity[0].fields), "metadata.name/1,n ");
  EXPECT_EQ(words(rules.required_affinity[1].expressions), "c/2 ");
  ASSERT_EQ(rules.preferred_affinity.size(), 2u);
  EXPECT_EQ(
      std::to_string(rules.preferred_affinity[0].weight) + " " + words(rules.preferred_affinity[0].term.expressions),
      "7 d/3 ");
  EXPECT_EQ(std::to_string(rules.preferred_affinity[1].weight) + " " + words(rules.preferred_affinity[1].term.fields),
            "8 e/5,1 ");
  ASSERT_EQ(rules.required_anti_affinity.size(), 2u);
  const PodAffinityTerm& term = rules.required_anti_affinity[0];
  EXPECT_TRUE(term.selector.present);
  EXPECT_EQ(words(term.selector.match_labels) + words(term.selector.expressions), "p=2 q=1 f/0,3 ");
  EXPECT_TRUE(term.namespace_selector.present);
  EXPECT_EQ(words(term.namespace_selector.match_labels), "n=4 ");
  EXPECT_EQ(term.namespaces, (std::vector<PooledString>{"x", "y"}));
  EXPECT_EQ(term.topology_key, "rack");
  EXPECT_FALSE(rules.required_anti_affinity[1].selector.present);
  EXPECT_FALSE(rules.required_anti_affinity[1].namespace_selector.present);
  EXPECT_EQ(rules.unsupported, "");
  EXPECT_EQ(rules.ignored_soft, std::vector<PooledString>{"spec.tolerations[]: operator or effect"});
  EXPECT_EQ(rules.preferred_pod_affinity.size(), 1u);
  EXPECT_EQ(rules.preferred_anti_affinity.size(), 1u);
  EXPECT_EQ(rules.preferred_spread.size(), 1u);
  const PodRules none =
      *read<Pod>(
           R"({"metadata":{"name":"x"},"spec":{"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":)"
           R"(null},"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[]},"podAntiAffinity":)"
           R"({"requiredDuringSchedulingIgnoredDuringExecution":[]}}}})")
           .rules;
  EXPECT_EQ(none, PodRules());
}

TEST(DecodeWhole, Statuses) {
  const auto status = [](const std::string& json) { return decode_status(json, Encoding::kJson).value(); };
  const StatusText all = status(
      R"({"kind":"Status","status":"Success","message":"m","reason":"r","code":5,"details":{"other":1,"retryAfterSeconds":9}})");
  EXPECT_TRUE(all.is_success);
  EXPECT_EQ(all.message, "m");
  EXPECT_EQ(all.reason, "r");
  EXPECT_EQ(all.code, 5);
  EXPECT_EQ(all.retry_after_seconds, 9);
  EXPECT_FALSE(status(R"({"kind":"Status","status":"Failure"})").is_success);
  EXPECT_FALSE(status(R"({"kind":"Pod","status":"Success"})").is_success);
  EXPECT_FALSE(decode_status("[]", Encoding::kJson).ok());
  for (const char* reason : {"Expired", "Gone"})
    EXPECT_EQ(watch_error({.message = "m", .reason = reason}).kind, Error::Kind::kExpired);
  EXPECT_EQ(watch_error({.message = "m", .reason = "Odd", .code = 411}).kind, Error::Kind::kUnavailable);
}

TEST(DecodeWhole, ListsAndEvents) {
  const auto list = [](const std::string& json) {
    const Result<ListPage<Namespace>> page = decode_list<Namespace>(json);
    if (!page.ok()) return "!" + page.error().message;
    std::string all = page->resource_version + " " + page->continue_token;
    for (const Namespace& item : page->items) all += " " + item.name.str() + (item.problem.empty() ? "" : "?");
    for (const std::string& why : page->nameless) all += " -" + why;
    return all;
  };
  const std::string no_list = "!the answer is not a list: items or metadata.resourceVersion is missing";
  EXPECT_EQ(
      list(
          R"({"metadata":{"resourceVersion":"5","continue":"t","other":"o"},"items":[{"metadata":{"name":"a"}},{"metadata":{}}]})"),
      "5 t a -metadata.name is missing");
  EXPECT_EQ(list(R"({"items":null,"metadata":{"resourceVersion":"5"}})"), "5 ");
  EXPECT_EQ(list(R"({"metadata":{"resourceVersion":"5"}})"), no_list);
  EXPECT_EQ(list(R"({"items":[]})"), no_list);
  EXPECT_EQ(
      list(
          R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b","labels":5}}]})"),
      "5  a b?");
  const auto event = [](const std::string& json) {
    const Result<WatchEvent<Namespace>> read = decode_watch_event<Namespace>(json);
    if (!read.ok()) return "!" + read.error().message;
    return std::to_string(static_cast<int>(read->kind)) + " " + read->object.name.str() + " " + read->resource_version +
           " " + (read->initial_events_end ? "end" : "") + (read->object.problem.empty() ? "" : "?");
  };
  const auto said = [](const std::string& type, const std::string& meta) {
    return R"({"object":{"metadata":{)" + meta + R"(}},"type":")" + type + "\"}";
  };
  const std::string a = R"("name":"a","resourceVersion":"6")";
  EXPECT_EQ(event(said("ADDED", a)), "0 a 6 ");
  EXPECT_EQ(event(said("MODIFIED", a)), "1 a 6 ");
  EXPECT_EQ(event(said("DELETED", a)), "2 a 6 ");
  EXPECT_EQ(event(said("ADDED", a + R"(,"labels":5)")), "0 a 6 ?");
  EXPECT_EQ(event(said("ADDED", R"("uid":"u")")), "!metadata.name is missing");
  EXPECT_EQ(event(said("BOOKMARK", R"("resourceVersion":"8")")), "3  8 ");
  EXPECT_EQ(event(said("BOOKMARK",
                       R"("resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"false","other":"true"})")),
            "3  8 ");
  EXPECT_EQ(event(said("BOOKMARK", R"("annotations":{"k8s.io/initial-events-end":"true"})")), "3   end");
  EXPECT_EQ(event(said(std::string(50, 'O'), a)), "!watch event of unknown type \"" + std::string(40, 'O') + "\"");
}

TEST(DecodeWhole, FramesAreCutAtTheirLengths) {
  const auto frames_of = [](Encoding encoding, std::size_t most, const std::string& bytes, std::size_t piece) {
    FrameSplitter splitter(encoding, most);
    std::string all;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const Result<void> fed = splitter.feed(std::string_view(bytes).substr(at, piece), [&](std::string_view frame) {
        all += "[" + std::string(frame) + "]";
        return true;
      });
      if (!fed.ok()) return all + fed.error().message;
    }
    return all + (splitter.has_partial_frame() ? "..." : "");
  };
  using std::string_literals::operator""s;
  const std::string binary = "\0\0\0\3abc\0\0\0\0\0\0\1\4"s + std::string(260, 'x') + "\0\0\0\1y"s,
                    cut = "[abc][" + std::string(260, 'x') + "][y]";
  // An empty frame says nothing.
  for (const std::size_t piece : {1, 2, 3, 7, 1000}) {
    EXPECT_EQ(frames_of(Encoding::kJson, 5, "ab\n\ncdefg\nhi", piece), "[ab][cdefg]...") << piece;
    EXPECT_EQ(frames_of(Encoding::kProtobuf, 260, binary, piece), cut) << piece;
    EXPECT_EQ(frames_of(Encoding::kProtobuf, 259, binary, piece), "[abc]a watch event is longer than 259 bytes")
        << piece;
    EXPECT_EQ(frames_of(Encoding::kProtobuf, 260, binary.substr(0, 6), piece), "...") << piece;
  }
  EXPECT_EQ(frames_of(Encoding::kJson, 5, "abcde", 1), "...");
  EXPECT_EQ(frames_of(Encoding::kJson, 5, "abcdef", 1), "a watch event is longer than 5 bytes");
  const std::string line(1'000, 'l');
  std::string many, expected;
  for (int i = 0; i < 300; ++i) many += line + "\n", expected += "[" + line + "]";
  EXPECT_EQ(frames_of(Encoding::kJson, 5'000, many, 777), expected) << "the buffer moves up as it is read";
}

}  // namespace
}  // namespace ashlar::kube
