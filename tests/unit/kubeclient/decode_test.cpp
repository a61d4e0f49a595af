// Recorded answers of a real kube-apiserver 1.37.1 (answers/*.json, *.pb) and garbage made of them.
#include "kubeclient/decode/decode.h"
#include "apijson/api_json.h"
#include "folders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

namespace ashlar::kube {
namespace {

std::string answer(const std::string& name) {
  std::ifstream in(std::string(ASHLAR_SOURCE_DIR) + "/tests/unit/kubeclient/answers/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Encoding encoding_of(const std::string& name) { return name.ends_with(".pb") ? Encoding::kProtobuf : Encoding::kJson; }

const Pod& named(const std::vector<Pod>& pods, const char* name) {
  for (const Pod& pod : pods)
    if (pod.name == name) return pod;
  ADD_FAILURE() << "no pod " << name;
  return pods.front();
}

TEST(Decode, PodMetadataAndPlainFields) {
  Result<ListPage<Pod>> page = decode_list<Pod>(answer("pods.pb"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(page->items.size(), 3u);
  EXPECT_TRUE(page->nameless.empty());
  for (const Pod& pod : page->items) EXPECT_TRUE(pod.problem.empty()) << pod.problem.view();
  EXPECT_FALSE(page->resource_version.empty());
  const Pod& pod = named(page->items, "rich");
  EXPECT_EQ(pod.ns, "default");
  EXPECT_EQ(pod.uid.view().size(), 36u);
  EXPECT_GT(pod.resource_version, 0u);
  EXPECT_EQ(pod.scheduler_name, "ashlar");
  EXPECT_EQ(pod.priority, 1000);
  EXPECT_EQ(pod.priority_class, "critical");
  EXPECT_EQ(pod.group_name, "gang-a");
  EXPECT_EQ(pod.owner_uid, "11111111-2222-3333-4444-555555555555");
  EXPECT_EQ(pod.owner_kind, "Job");
  EXPECT_EQ(pod.scheduling_gates, 1);
  EXPECT_GT(pod.created, Millis(1'700'000'000'000));
  EXPECT_EQ(*find_label(*pod.labels, "ashlar.dev/queue"), "team-a");
  EXPECT_EQ(pod.annotations->size(), 1u) << "only our own annotations are kept";
  EXPECT_EQ(*find_label(*pod.annotations, "ashlar.dev/cards"), "0,1");
  EXPECT_EQ(pod.scheduled.status, ConditionStatus::kFalse);
  EXPECT_EQ(pod.scheduled.reason, "SchedulingGated");
  EXPECT_TRUE(pod.node_name.empty());
  EXPECT_EQ(named(page->items, "plain").node_name, "node-1");
  EXPECT_EQ(named(page->items, "plain").scheduled.status, ConditionStatus::kTrue);
}

TEST(Decode, PodRequestsAreTheEffectiveOnes) {
  Result<ListPage<Pod>> page = decode_list<Pod>(answer("pods.pb"));
  ASSERT_TRUE(page.ok());
  const Resources& rich = named(page->items, "rich").requests;
  EXPECT_EQ(rich.cpu, MilliCores(3100)) << "the init container beside the sidecar before it";
  EXPECT_EQ(rich.memory, Bytes((2ll << 30) + (64ll << 20)));
  EXPECT_EQ(rich.ephemeral_storage, Bytes(1'000'000'000));
  EXPECT_EQ(amount_of(rich, "nvidia.com/gpu"), 2);
  const Resources& level = named(page->items, "level").requests;
  EXPECT_EQ(level.cpu, MilliCores(2000));
  EXPECT_EQ(level.memory, Bytes(1ll << 30));
}

TEST(Decode, PodRulesAreKeptWhole) {
  Result<ListPage<Pod>> page = decode_list<Pod>(answer("pods.pb"));
  ASSERT_TRUE(page.ok());
  const PodRules& rules = *named(page->items, "rich").rules;
  EXPECT_EQ(*find_label(rules.node_selector, "rack"), "r1");
  ASSERT_TRUE(rules.has_required_affinity);
  ASSERT_EQ(rules.required_affinity.size(), 2u);
  EXPECT_EQ(rules.required_affinity[0].expressions[1].op, SelectorOp::kGt);
  EXPECT_EQ(rules.required_affinity[0].expressions[0].values, (std::vector<PooledString>{"a", "b"}));
  EXPECT_EQ(rules.required_affinity[1].fields[0].key, "metadata.name");
  ASSERT_EQ(rules.preferred_affinity.size(), 1u);
  EXPECT_EQ(rules.preferred_affinity[0].weight, 10);
  ASSERT_EQ(rules.tolerations.size(), 2u);
  EXPECT_EQ(rules.tolerations[0], (Toleration{"gpu", "yes", false, TaintEffect::kNoSchedule}));
  EXPECT_TRUE(rules.tolerations[1].exists);
  ASSERT_EQ(rules.host_ports.size(), 2u) << "of the container and of the sidecar";
  ASSERT_EQ(rules.required_anti_affinity.size(), 1u);
  const PodAffinityTerm& term = rules.required_anti_affinity[0];
  EXPECT_EQ(term.topology_key, "kubernetes.io/hostname");
  EXPECT_EQ(term.namespaces, (std::vector<PooledString>{"default", "other"}));
  EXPECT_TRUE(term.namespace_selector.present);
  EXPECT_EQ(*find_label(term.selector.match_labels, "app"), "train");
  EXPECT_EQ(term.selector.expressions[0].op, SelectorOp::kNotIn);
  EXPECT_TRUE(rules.unsupported.empty());
  ASSERT_TRUE(named(page->items, "rich").volumes);
  EXPECT_EQ(named(page->items, "rich").volumes->claims.size(), 1u);
  EXPECT_TRUE(rules.ignored_soft.empty());
  EXPECT_EQ(rules.preferred_anti_affinity.size(), 1u);
  EXPECT_EQ(rules.preferred_spread.size(), 1u);
  EXPECT_TRUE(named(page->items, "plain").rules->unsupported.empty());
}

TEST(Decode, Nodes) {
  Result<ListPage<Node>> page = decode_list<Node>(answer("nodes.pb"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  const Node* node = nullptr;
  for (const Node& item : page->items)
    if (item.name == "node-1") node = &item;
  ASSERT_NE(node, nullptr);
  EXPECT_TRUE(node->unschedulable);
  EXPECT_EQ(node->ready, ConditionStatus::kTrue);
  EXPECT_EQ(node->allocatable.cpu, MilliCores(63'500));
  EXPECT_EQ(node->allocatable.memory, Bytes(515ll << 30));
  EXPECT_EQ(node->pods_max, 110);
  EXPECT_EQ(amount_of(node->allocatable, "nvidia.com/gpu"), 8);
  EXPECT_EQ(*find_label(node->labels, "nvidia.com/gpu.product"), "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(node->annotations.size(), 1u);
  EXPECT_TRUE(std::find(node->taints.begin(), node->taints.end(), Taint{"gpu", "yes", TaintEffect::kNoSchedule}) !=
              node->taints.end());
}

TEST(Decode, WatchEventsInTheirOrder) {
  std::string kinds;
  FrameSplitter frames(Encoding::kProtobuf);
  const std::string stream = answer("watch.pb");
  // One byte at a time: frames may be cut anywhere.
  for (const char c : stream) {
    Result<void> fed = frames.feed(std::string_view(&c, 1), [&](std::string_view frame) {
      Result<WatchEvent<Pod>> event = decode_watch_event<Pod>(frame);
      EXPECT_TRUE(event.ok()) << event.error().message;
      EXPECT_FALSE(event->resource_version.empty());
      kinds += "AMDBE"[static_cast<int>(event->kind)];
      return true;
    });
    ASSERT_TRUE(fed.ok());
  }
  EXPECT_FALSE(frames.has_partial_frame());
  EXPECT_TRUE(kinds.starts_with("AAABMD")) << kinds;
}

TEST(Decode, StatusOfAFailure) {
  for (const char* name : {"not-found.json", "not-found.pb"}) {
    Result<StatusText> status = decode_status(answer(name), encoding_of(name));
    ASSERT_TRUE(status.ok()) << status.error().message;
    EXPECT_EQ(status->code, 404);
    EXPECT_EQ(status->reason, "NotFound");
    EXPECT_EQ(status->message, "pods \"none\" not found");
  }
}

TEST(Decode, PodGroupsOfV1Beta1) {
  Result<ListPage<PodGroup>> page = decode_list<PodGroup>(answer("podgroups-v1beta1.json"));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->items.size(), 2u);
  const PodGroup& gang = page->items[page->items[0].name == "gang-a" ? 0 : 1];
  EXPECT_EQ(gang.min_count, 4);
  EXPECT_EQ(gang.topology_key, "rack");
  EXPECT_EQ(gang.priority_class, "critical");
  EXPECT_EQ(gang.priority, 1000);
  EXPECT_EQ(*find_label(gang.labels, "ashlar.dev/queue"), "team-a");
  EXPECT_TRUE(gang.unsupported.empty()) << gang.unsupported.view();
  const PodGroup& loose = page->items[page->items[0].name == "gang-a" ? 1 : 0];
  EXPECT_EQ(loose.min_count, 0);
  EXPECT_TRUE(loose.topology_key.empty());
}

TEST(Decode, PriorityClassesAndNamespaces) {
  Result<ListPage<PriorityClass>> classes = decode_list<PriorityClass>(answer("priorityclasses.json"));
  ASSERT_TRUE(classes.ok());
  bool found = false;
  for (const PriorityClass& one : classes->items) {
    if (!(one.name == "critical")) continue;
    found = true;
    EXPECT_EQ(one.value, 1000);
    EXPECT_TRUE(one.never_preempts);
  }
  EXPECT_TRUE(found);
  Result<ListPage<Namespace>> namespaces = decode_list<Namespace>(answer("namespaces.json"));
  ASSERT_TRUE(namespaces.ok());
  EXPECT_GE(namespaces->items.size(), 4u);
}

TEST(Decode, ExpiredWatchesAreToldApart) {
  const char* line =
      R"j({"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (214)","reason":"Expired","code":410}})j";
  Result<WatchEvent<Pod>> event = event_of_json<Pod>(line);
  ASSERT_TRUE(event.ok());
  EXPECT_EQ(event->kind, WatchEvent<Pod>::Kind::kError);
  EXPECT_EQ(event->error.kind, Error::Kind::kExpired);
}

TEST(Decode, BookmarksCarryTheirVersionAndTheEndOfInitialEvents) {
  const char* line =
      R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"214","creationTimestamp":null,"annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}})";
  Result<WatchEvent<Pod>> event = event_of_json<Pod>(line);
  ASSERT_TRUE(event.ok()) << event.error().message;
  EXPECT_EQ(event->kind, WatchEvent<Pod>::Kind::kBookmark);
  EXPECT_EQ(event->resource_version, "214");
  EXPECT_TRUE(event->initial_events_end);
}

std::string pod_event(const std::string& spec) {
  return R"({"type":"ADDED","object":{"metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"5"},"spec":)" +
         spec + R"(,"status":{"phase":"Pending"}}})";
}
Pod pod_of(const std::string& spec) {
  Result<WatchEvent<Pod>> event = event_of_json<Pod>(pod_event(spec));
  EXPECT_TRUE(event.ok()) << event.error().message;
  return event.ok() ? event->object : Pod();
}

TEST(Decode, TheOwnerIsTheControllerElseTheFirst) {
  const std::string controller = R"({"uid":"c","kind":"Job","controller":true})", one = R"({"uid":"a","kind":"X"})",
                    two = R"({"uid":"b","kind":"Y"})";
  const auto owner_of = [](const std::string& owners) {
    const std::string event =
        R"({"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"d","uid":"u","resourceVersion":"1","ownerReferences":[)" +
        owners + R"(]},"spec":{},"status":{}}})";
    Result<WatchEvent<Pod>> read = event_of_json<Pod>(event);
    EXPECT_TRUE(read.ok()) << read.error().message;
    return read.ok() ? read->object.owner_uid.str() + " " + read->object.owner_kind.str() : "";
  };
  EXPECT_EQ(owner_of(one + "," + two), "a X");
  EXPECT_EQ(owner_of(one + "," + controller + "," + two), "c Job");
  EXPECT_EQ(owner_of(controller + "," + one), "c Job");
}

TEST(Decode, HardFieldsThatAreNotEvaluatedAreNamed) {
  const struct {
    const char *spec, *path;
  } cases[] = {
      {R"({"volumes":[{"name":"v","azureDisk":{"diskURI":"u","kind":"Dedicated"}}]})", "spec.volumes[].azureDisk.kind"},
      {R"({"volumes":[{"awsElasticBlockStore":{"volumeID":"aws://a/b/c"},"name":"v"}]})",
       "spec.volumes[].awsElasticBlockStore.volumeID (not the name of a disk)"},
      {R"({"resourceClaims":[{"name":"gpu","resourceClaimName":"c"}]})", "spec.resourceClaims"},
      {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Near"}]}]}}}})",
       "spec.affinity.nodeAffinity.required: operator"},
      {R"({"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a"}]}]}}}})",
       "spec.affinity.nodeAffinity.required: operator"},
  };
  for (const auto& c : cases) EXPECT_EQ(pod_of(c.spec).rules->unsupported, c.path) << c.spec;
  for (
      const char* spec :
      {R"({"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[]}},"resourceClaims":[],"volumes":[{"name":"e","emptyDir":{}},{"configMap":{}}]})",
       R"({"affinity":null,"volumes":null,"topologySpreadConstraints":null})"})
    EXPECT_TRUE(pod_of(spec).rules->unsupported.empty()) << spec << pod_of(spec).rules->unsupported.view();
}

TEST(Decode, AmountsBeyondIntegersFillWhateverTheyTouch) {
  const Pod pod = pod_of(R"({"containers":[{"name":"a","resources":{"requests":{"memory":"1e30","cpu":2}}}]})");
  EXPECT_EQ(pod.requests.memory, Bytes(std::int64_t{1} << 50))
      << "more than any node has, and sums of thousands stay within int64";
  EXPECT_EQ(pod.requests.cpu, MilliCores(2000)) << "numbers are accepted for quantities";
}

TEST(Decode, OneUnreadableItemDoesNotHideTheOthers) {
  const std::string body =
      R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"good","uid":"1","resourceVersion":"3"}},
    {"metadata":{"name":"bad","namespace":"n","uid":"2"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"many"}}}]}},
    {"metadata":{"uid":"3"}},{"metadata":{"name":"last","uid":"4","resourceVersion":"3"}}]})";
  Result<ListPage<Pod>> page = list_of_json<Pod>(body);
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->items.size(), 3u);
  EXPECT_EQ(page->nameless.size(), 1u);
  EXPECT_EQ(page->items[1].name, "bad");
  EXPECT_NE(page->items[1].problem.view().find("requests: cpu"), std::string::npos) << page->items[1].problem.view();
  EXPECT_TRUE(page->items[1].lacks_amounts);
  EXPECT_TRUE(page->items[0].problem.empty() && page->items[2].problem.empty());
}

TEST(Decode, ABrokenStatusLeavesWhatTheSpecAsksFor) {
  const std::string pod =
      R"({"metadata":{"name":"p","namespace":"n","uid":"u","resourceVersion":"5"},"spec":{"nodeName":"w","schedulerName":"ashlar",)"
      R"("containers":[{"name":"c","resources":{"requests":{"cpu":"2","nvidia.com/gpu":"8"}}}]},)"
      R"("status":{"phase":"Running","containerStatuses":[{"name":"c","allocatedResources":{"cpu":"-1"}}]}})";
  const Result<WatchEvent<Pod>> event = event_of_json<Pod>(R"({"type":"MODIFIED","object":)" + pod + "}");
  ASSERT_TRUE(event.ok()) << event.error().message;
  EXPECT_EQ(event->object.problem, R"(status.containerStatuses[].allocatedResources: cpu: quantity "-1" is negative)");
  EXPECT_EQ(event->object.node_name, "w");
  EXPECT_EQ(amount_of(event->object.requests, "nvidia.com/gpu"), 8);
  EXPECT_FALSE(event->object.lacks_amounts);
  EXPECT_EQ(event->resource_version, "5");
}

TEST(Decode, AnObjectThatIsNotTheJsonExpectedIsStillNamed) {
  const std::string group =
      R"({"metadata":{"name":"g","namespace":"n","uid":"u","resourceVersion":"5"},"spec":{"schedulingPolicy":[]}})";
  const auto expect_named = [](const PodGroup& read) {
    EXPECT_NE(read.problem.view().find("is not the JSON expected"), std::string::npos) << read.problem.view();
    EXPECT_EQ(read.ns.str() + "/" + read.name.str() + " " + read.uid.str(), "n/g u");
    EXPECT_EQ(read.resource_version, 5u);
  };
  const Result<WatchEvent<PodGroup>> event = decode_watch_event<PodGroup>(R"({"type":"ADDED","object":)" + group + "}");
  ASSERT_TRUE(event.ok()) << event.error().message;
  expect_named(event->object);
  const Result<ListPage<PodGroup>> page = decode_list<PodGroup>(R"({"items":[{"metadata":{"name":"good"}},)" + group +
                                                                R"(,7],"metadata":{"resourceVersion":"9"}})");
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->items.size(), 2u);
  EXPECT_TRUE(page->items[0].problem.empty());
  expect_named(page->items[1]);
  EXPECT_EQ(page->nameless.size(), 1u);
  EXPECT_EQ(page->resource_version, "9");
}

std::string field_of(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) + std::string(1, static_cast<char>(bytes.size())) + bytes;
}

TEST(Decode, AnObjectThatIsNoSoundProtobufIsStillNamed) {
  const std::string meta = field_of(1, "p") + field_of(3, "n") + field_of(5, "u") + field_of(6, "5");
  const std::string container = field_of(8, "\xff\xff");  // resources that are cut off in the middle of a tag
  const std::string pod = field_of(1, meta) + field_of(2, field_of(2, container) + field_of(10, "w"));
  const auto envelope = [](const std::string& raw) { return std::string("k8s\0", 4) + field_of(2, raw); };
  const auto expect_named = [](const Pod& read) {
    EXPECT_EQ(read.problem, "it is not a valid protobuf message");
    EXPECT_EQ(read.ns.str() + "/" + read.name.str() + " " + read.uid.str() + " on " + read.node_name.str(),
              "n/p u on w");
    EXPECT_EQ(read.resource_version, 5u);
    EXPECT_TRUE(read.lacks_amounts);
  };
  const std::string frame = field_of(1, "ADDED") + field_of(2, field_of(1, envelope(pod)));
  const Result<WatchEvent<Pod>> event = decode_watch_event<Pod>(frame);
  ASSERT_TRUE(event.ok()) << event.error().message;
  expect_named(event->object);
  const std::string list =
      field_of(1, field_of(2, "9")) + field_of(2, field_of(1, field_of(1, "good"))) + field_of(2, pod);
  const Result<ListPage<Pod>> page = decode_list<Pod>(envelope(list));
  ASSERT_TRUE(page.ok()) << page.error().message;
  ASSERT_EQ(page->items.size(), 2u);
  EXPECT_TRUE(page->items[0].problem.empty());
  expect_named(page->items[1]);
}

TEST(Decode, MalformedEventsAreErrors) {
  const std::string good =
      R"({"type":"ADDED","object":{"metadata":{"name":"p","uid":"u","resourceVersion":"5"},"status":{}}})";
  ASSERT_TRUE(decode_watch_event<Namespace>(good).ok());
  for (std::string line : std::vector<std::string>{
           "", "{", "null", "[]", "5", "{}", R"({"type":"ADDED"})", R"({"object":{}})",
           R"({"type":"ADDED","object":5})", R"({"type":"STRANGE","object":{}})", R"({"type":"ADDED","object":{}})",
           R"({"type":7,"object":{}})", good.substr(0, good.size() - 20)})
    EXPECT_FALSE(decode_watch_event<Namespace>(line).ok()) << line;
  for (std::string body :
       std::vector<std::string>{"", "{}", "[]", R"({"items":[]})", R"({"metadata":{"resourceVersion":"1"}})",
                                R"({"metadata":{"resourceVersion":"1"},"items":[{]})"})
    EXPECT_FALSE(decode_list<Namespace>(body).ok()) << body;
  for (std::string body :
       std::vector<std::string>{"", "k8s", std::string("k8s\0", 4), std::string("k8s\0\x12\xff\xff\xff\xff\x0f", 10),
                                "{}", std::string("k8s\0\x12\x02\xff\xff", 8)}) {
    EXPECT_FALSE(decode_list<Pod>(body).ok());
    EXPECT_FALSE(decode_watch_event<Pod>(body).ok());
  }
}

TEST(Decode, OverlongFramesAreRefused) {
  FrameSplitter lines(Encoding::kJson, 10);
  EXPECT_FALSE(lines.feed("0123456789ab", [](std::string_view) { return true; }).ok());
  FrameSplitter frames(Encoding::kProtobuf, 10);
  EXPECT_FALSE(frames.feed(std::string_view("\0\0\1\0", 4), [](std::string_view) { return true; }).ok());
}

std::string mutated(std::string text, std::mt19937& rng) {
  for (int edits = 1 + static_cast<int>(rng() % 8); edits > 0; --edits) {
    const std::size_t at = rng() % text.size();
    switch (rng() % 4) {
      case 0:
        text[at] = static_cast<char>(rng());
        break;
      case 1:
        text.erase(at, rng() % 40);
        break;
      case 2:
        text.insert(at, text.substr(rng() % text.size(), rng() % 40));
        break;
      case 3:
        text.resize(at + 1);
        break;
    }
    if (text.empty()) text = "x";
  }
  return text;
}

/// Whether it is refused as a list of the kind.
template <class T>
bool feed_decoders(const std::string& bytes) {
  static_cast<void>(decode_object<T>(bytes).ok());
  FrameSplitter frames(kEncodingOf<T>);
  const auto take = [](std::string_view frame) { return static_cast<void>(decode_watch_event<T>(frame).ok()), true; };
  static_cast<void>(frames.feed(bytes, take).ok());
  return !decode_list<T>(bytes).ok();
}

/// Mutates recorded bytes at random and feeds every decoder; the test is that nothing crashes and time stays bounded.
TEST(Decode, SurvivesRandomMutationsOfRealAnswers) {
  std::mt19937 rng(20260731);
  int refused = 0, rounds = 0;
  for (const char* name : {"pods.pb", "nodes.pb", "watch.pb", "podgroups-v1beta1.json", "namespaces.json"}) {
    const std::string original = answer(name);
    for (int round = 0; round < 300; ++round, ++rounds) {
      const std::string text = mutated(original, rng);
      const bool is_refused[] = {feed_decoders<Pod>(text), feed_decoders<Node>(text), feed_decoders<PodGroup>(text),
                                 feed_decoders<Namespace>(text)};
      refused += is_refused[encoding_of(name) == Encoding::kProtobuf ? 0 : 2];
      static_cast<void>(decode_object<Lease>(text).ok());
      static_cast<void>(decode_status(text, encoding_of(name)).ok());
    }
  }
  EXPECT_GT(refused, rounds / 4) << "most mutations must be noticed";
}

TEST(Decode, APodOfATemplateCostsLessThanAKilobyte) {
  const auto body_of = [](int count) {
    std::string items;
    for (int i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      items +=
          std::string(i == 0 ? "" : ",") + R"({"metadata":{"name":"training-job-worker-)" + n +
          R"(","namespace":"team-a","uid":"0b3f3c1e-93e7-4c8a-9d0a-)" + std::to_string(100000000000 + i) +
          R"(","resourceVersion":")" + std::to_string(1000 + i) +
          R"(","creationTimestamp":"2026-11-21T09:02:02Z","labels":{"app":"train","batch.kubernetes.io/job-completion-index":")" +
          n + R"("}},"spec":{"nodeName":"node-)" + std::to_string(i / 8) +
          R"(","schedulerName":"ashlar","tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute"}],)" +
          R"("containers":[{"name":"main","resources":{"requests":{"cpu":"4","memory":"32Gi","nvidia.com/gpu":"1"}}}]},"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True"}]}})";
    }
    return R"({"metadata":{"resourceVersion":"9"},"items":[)" + items + "]}";
  };
  const std::size_t pool_before = PooledString::pool_size().bytes;
  Result<ListPage<Pod>> page = list_of_json<Pod>(body_of(2000));
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->items.size(), 2000u);
  // Struct, pooled strings (with malloc's 16 bytes each), own label vector and request vector with their blocks.
  const std::size_t own = sizeof(Pod) + (2 * sizeof(KeyValue) + sizeof(Labels) + 48) + (sizeof(Amount) + 16);
  const std::size_t pooled = (PooledString::pool_size().bytes - pool_before) / 2000 + 4 * 16;
  RecordProperty("bytes_per_pod", static_cast<int>(own + pooled));
  EXPECT_LT(own + pooled, 1024u) << "struct " << sizeof(Pod) << " own " << own << " pooled " << pooled;
}

}  // namespace
}  // namespace ashlar::kube
