// What the read API answers: every state of a pod, a gang by its name, what would help, and the nodes.
#include "live/read/read_api.h"

#include "documented/documented.h"
#include "live/lead/leader_term.h"

#include <gtest/gtest.h>

#include <memory>

namespace ashlar::kube {
namespace {

/// A leadership whose clock stands still and whose bindings are never answered.
class Read : public ::testing::Test {
 protected:
  Read() {
    api = Api::create({.access = {.origin = "test", .server = "http://127.0.0.1:1"},
                       .now = [this] { return now; },
                       .monotonic = [this] { return now; }})
              .value();
    options.tracker.levels = {{PooledString("block"), PooledString("l/block")},
                              {PooledString("rack"), PooledString("l/rack")}};
    options.profile = [](const auto&) { return builtin_profile("ashlar").value(); };
  }
  void begin() {
    options.hand_over = [this](HandOver&& news) {
      replica->take(std::move(news));
      EXPECT_TRUE(replica->is_faithful());
    };
    leader_term = std::make_unique<LeaderTerm>(*api, options, metrics, [this] { return may_write; });
    replica = leader_term->begin_replica([this] { return now; });
  }
  static Node node(const std::string& name, std::int64_t gpus, const std::string& rack = "r0") {
    Node n;
    n.name = PooledString(name);
    n.ready = ConditionStatus::kTrue;
    n.allocatable.cpu = MilliCores(64'000);
    n.allocatable.memory = Bytes(std::int64_t{1} << 30);
    n.pods_max = 110;
    n.allocatable.extended = {{PooledString("ashlar.dev/gpu-milli"), gpus * 1000},
                              {PooledString("nvidia.com/gpu"), gpus}};
    n.labels = {{PooledString("l/block"), PooledString("b")}, {PooledString("l/rack"), PooledString(rack)}};
    return n;
  }
  static Pod pod(const std::string& name, std::int64_t gpus, Labels labels = {}) {
    Pod p;
    p.ns = PooledString("ns");
    p.name = PooledString(name);
    p.uid = PooledString("uid-" + name);
    p.scheduler_name = PooledString("ashlar");
    p.requests.cpu = MilliCores(500);
    p.requests.extended = {{PooledString("nvidia.com/gpu"), gpus}};
    p.labels = std::make_shared<const Labels>(std::move(labels));
    return p;
  }
  static Pod bound(Pod p, const std::string& node_name, const std::string& devices = "") {
    p.node_name = PooledString(node_name);
    if (!devices.empty())
      p.annotations = std::make_shared<const Labels>(Labels{{PooledString(kDevicesAnnotation), PooledString(devices)}});
    return p;
  }
  static Pod grouped(Pod p, const std::string& group) {
    p.group_name = PooledString(group);
    return p;
  }
  static PodGroup group(const std::string& name, int count) {
    PodGroup g;
    g.ns = PooledString("ns");
    g.name = PooledString(name);
    g.uid = PooledString("uid-" + name);
    g.min_count = count;
    return g;
  }
  static Pod gang_pod(const std::string& gang, int index, int size, std::int64_t gpus, Labels more = {}) {
    Labels labels{{PooledString("ashlar.dev/gang"), PooledString(gang)},
                  {PooledString("ashlar.dev/gang-size"), PooledString(std::to_string(size))}};
    labels.insert(labels.end(), more.begin(), more.end());
    return pod(gang + "-" + std::to_string(index), gpus, std::move(labels));
  }
  template <class T>
  void see(T object) {
    leader_term->take(Change<T>{Change<T>::Kind::kAdded, std::move(object)});
  }
  http::ServerResponse ask_why(const std::string& name) {
    http::ServerRequest request;
    request.query = "name=" + name;
    return described(answer_why(*replica, request));
  }
  std::string why(const std::string& name) { return ask_why("ns%2F" + name).body; }
  /// state, headline and exit status
  std::string headline(const std::string& name) {
    const std::string body = why(name);
    const std::size_t from = body.find(R"("state":)"), end = body.find_first_of(",}", body.find(R"("exitStatus":)"));
    return from == std::string::npos ? body : body.substr(from, end - from);
  }
  std::string remedies(const std::string& name) {
    const std::string body = why(name);
    const std::size_t from = body.find(R"("remedies":)");
    return from == std::string::npos ? body : body.substr(from);
  }
  /// Every answer of these tests has only fields that are documented.
  static http::ServerResponse described(http::ServerResponse answer) {
    EXPECT_EQ(undocumented(answer.body), "") << answer.body;
    return answer;
  }
  std::string queue() { return described(answer_queue(*replica, {})).body; }
  std::string nodes(const std::string& name = "") {
    http::ServerRequest request;
    if (!name.empty()) request.query = "name=" + name;
    const http::ServerResponse answer = described(answer_nodes(*replica, request));
    EXPECT_EQ(answer.status, 200);
    return answer.body;
  }
  static std::string document(const std::string& kind, const std::string& rest) {
    return R"({"apiVersion":"ashlar.dev/v1alpha1","kind":")" + kind + "\"," + rest + "}\n";
  }

  Millis now{1'000'000};
  bool may_write = true;
  std::unique_ptr<Api> api;
  SchedulerMetrics metrics;
  LeaderTermOptions options;
  std::unique_ptr<ReadReplica> replica;
  std::unique_ptr<LeaderTerm> leader_term;
};

// ---- refusals -------------------------------------------------------------------------------------------------------

TEST_F(Read, WhatCannotBeAnsweredIsSaidWithItsStatus) {
  begin();
  const auto says = [](const http::ServerResponse& answer, int status, const std::string& reason,
                       const std::string& message) {
    EXPECT_EQ(answer.status, status);
    EXPECT_EQ(answer.content_type, "application/json");
    EXPECT_EQ(answer.body, document("Status", R"("reason":")" + reason + R"(","message":")" + message + "\""));
  };
  says(standby_answer(""), 503, "Standby", "there is no leader at the moment");
  says(standby_answer("a_1"), 503, "Standby", "this replica is on standby; a_1 is the leader");
  says(not_ready_answer(), 503, "NotReady", "the caches are not synced yet; ask again in a few seconds");
  says(not_ready_answer("pods cannot be listed: HTTP 403: no"), 503, "NotReady",
       "the caches are not synced yet; pods cannot be listed: HTTP 403: no");
  says(ask_why(""), 400, "Invalid", "the query parameter is missing: ?name=NAMESPACE/NAME");
  says(ask_why("x"), 404, "NotFound",
       "no pod or gang x known to Ashlar; pods of other schedulers are known only once bound, and no pod after it has "
       "ended");
}

// ---- pods -----------------------------------------------------------------------------------------------------------

TEST_F(Read, ABoundPodRunsSomewhere) {
  begin();
  see(node("n0", 8));
  Pod p = bound(pod("p", 2), "n0", "1,3");
  p.created = now - Millis(5'000);
  p.priority = 7;
  see(p);
  leader_term->turn();
  EXPECT_EQ(
      why("p"),
      document(
          "Why",
          R"("name":"ns/p","state":"Bound","headline":"runs on n0, GPUs 1,3","exitStatus":0,"object":"pod","pod":"ns/p","priority":7,)"
          R"("queue":"default","requests":{"gpus":2,"milliCores":500,"memoryBytes":0},"ageMillis":5000,"node":"n0",)"
          R"("cards":"1,3","grants":[{"gpu":1,"milliGpu":1000,"memoryMiB":0,"slices":0},)"
          R"({"gpu":3,"milliGpu":1000,"memoryMiB":0,"slices":0}])"));
  Pod share = bound(pod("share", 0), "n0");
  share.requests.extended = {{PooledString("ashlar.dev/gpu-milli"), 600}};
  share.annotations =
      std::make_shared<const Labels>(Labels{{PooledString(kDevicesAnnotation), PooledString("5")},
                                            {PooledString(kGrantsAnnotation), PooledString("5:650:4096")}});
  see(share);
  leader_term->turn();
  const std::string of_share = why("share");
  EXPECT_TRUE(of_share.find(R"h("headline":"runs on n0, GPU 5 (650 thousandths, 4096 MiB)")h") != std::string::npos)
      << of_share;
  EXPECT_TRUE(of_share.find(R"("grants":[{"gpu":5,"milliGpu":650,"memoryMiB":4096,"slices":0}])") != std::string::npos)
      << of_share;
  share.name = PooledString("slices");
  share.uid = PooledString("uid-slices");
  share.annotations =
      std::make_shared<const Labels>(Labels{{PooledString(kDevicesAnnotation), PooledString("6")},
                                            {PooledString(kGrantsAnnotation), PooledString("6:650:4096:5")}});
  see(share);
  leader_term->turn();
  const std::string of_slices = why("slices");
  EXPECT_TRUE(of_slices.find("GPU 6 (650 thousandths, 4096 MiB, slices 0,2)") != std::string::npos) << of_slices;
  EXPECT_TRUE(of_slices.find(R"("memoryMiB":4096,"slices":5}])") != std::string::npos) << of_slices;
  see(bound(pod("plain", 0), "n0"));
  leader_term->turn();
  EXPECT_EQ(headline("plain"), R"("state":"Bound","headline":"runs on n0","exitStatus":0)");
}

TEST_F(Read, APodOfTheDefaultNamespaceIsFoundWithoutIt) {
  begin();
  Pod p = pod("p", 0);
  p.ns = PooledString("default");
  see(p);
  leader_term->turn();
  EXPECT_EQ(ask_why("p").status, 200);
  EXPECT_EQ(ask_why("default%2Fp").status, 200);
  EXPECT_EQ(ask_why("ns%2Fp").status, 404);
}

TEST_F(Read, EveryPhaseHasItsHeadline) {
  begin();
  see(node("n0", 8));
  see(pod("assumed", 1));
  see(bound(pod("parked", 1), "elsewhere"));
  Pod gated = pod("gated", 1);
  gated.scheduling_gates = 2;
  gated.gate_names = "example.com/a, example.com/b";
  see(gated);
  see(pod("malformed", 1,
          {{PooledString("ashlar.dev/gang"), PooledString("m")},
           {PooledString("ashlar.dev/gang-size"), PooledString("many")}}));
  PodRules rules;
  rules.unsupported = PooledString("spec.resourceClaims");
  Pod unsupported = pod("unsupported", 1);
  unsupported.rules = std::make_shared<const PodRules>(rules);
  see(unsupported);
  see(pod("queueless", 1, {{PooledString("ashlar.dev/queue"), PooledString("nobodys")}}));
  Pod unread = pod("unread", 1);
  unread.problem = PooledString("spec: odd");
  see(unread);
  Pod nominated = pod("nominated", 1);
  nominated.scheduler_name = PooledString("other");
  nominated.nominated_node_name = PooledString("n0");
  see(nominated);
  may_write = false;
  leader_term->turn();
  may_write = true;
  EXPECT_EQ(headline("assumed"),
            R"("state":"Waiting","headline":"PendingEvaluation: it has not been evaluated yet","exitStatus":4)");
  leader_term->turn();
  EXPECT_EQ(headline("assumed"), R"("state":"Binding","headline":"is being bound to n0","exitStatus":0)");
  EXPECT_EQ(headline("parked"),
            R"("state":"Bound","headline":"is bound to elsewhere, a node that does not exist","exitStatus":0)");
  EXPECT_EQ(
      headline("gated"),
      R"x("state":"Held","headline":"AdmissionGated: the pod has scheduling gates (example.com/a, example.com/b) and waits until they are removed","exitStatus":4)x");
  EXPECT_EQ(
      headline("malformed"),
      R"("state":"Never","headline":"Misconfigured: ashlar.dev/gang-size is 'many'; it must be a whole number from 1 to 100000","exitStatus":5)");
  EXPECT_EQ(
      headline("queueless"),
      R"("state":"Never","headline":"QueueUnknown: queue nobodys is not configured; `ashlar queue` lists the configured queues","exitStatus":5)");
  EXPECT_EQ(headline("unread"),
            R"("state":"Held","headline":"Unreadable: the pod cannot be read: spec: odd","exitStatus":4)");
  EXPECT_EQ(headline("nominated"),
            R"("state":"Waiting","headline":"pod of another scheduler, nominated to n0","exitStatus":4)");
  EXPECT_EQ(ask_why("ns%2Funsupported").body.find(R"("state":"Never")") != std::string::npos, true)
      << why("unsupported");
}

TEST_F(Read, AWaitingPodIsExplainedInFull) {
  begin();
  see(node("n0", 4));
  see(bound(pod("runs", 3), "n0", "0-2"));
  Pod p = pod("p", 4);
  p.created = now;
  see(p);
  leader_term->turn();
  now += Millis(1'500);
  EXPECT_EQ(
      why("p"),
      document(
          "Why",
          R"("name":"ns/p","state":"Waiting","headline":"InsufficientGPU: 1 node has insufficient GPUs: at most 1 GPU free on one node, 4 GPUs )"
          R"(requested","exitStatus":4,"object":"pod","pod":"ns/p","priority":0,"queue":"default","requests":{"gpus":4,"milliCores":500,"memoryBytes":0},)"
          R"("ageMillis":1500,"verdict":"Waits","wakesOn":"JobEnded","verdictAgeMillis":1500,"reasons":[{"code":)"
          R"("InsufficientGPU","message":"1 node has insufficient GPUs: at most 1 GPU free on one node, 4 GPUs requested","subject":1,"numbers":)"
          R"([1,1000,4000]}],"condition":"0/1 nodes are available: 1 Insufficient nvidia.com/gpu.","remedies":[)"
          R"({"kind":"FewerCards","amount":1,"message":"it requested at most 1 GPU"},)"
          R"({"kind":"FreeCards","amount":3,"message":"3 more GPUs were free"},)"
          R"({"kind":"MoreNodes","amount":1,"message":"there was 1 more empty node like n0"}])"));
}

TEST_F(Read, AShareSaysHowMuchOfADeviceItAsks) {
  begin();
  see(node("n0", 1));
  Pod p = pod("p", 0);
  p.requests.extended = {{PooledString("ashlar.dev/gpu-milli"), 300}};
  see(p);
  leader_term->turn();
  EXPECT_NE(why("p").find(R"("requests":{"gpus":0,"milliGpu":300,"milliCores":500,"memoryBytes":0})"),
            std::string::npos)
      << why("p");
}

TEST_F(Read, APodThatOnlyCompanyKeepsAwayIsNotSaidNeverToFit) {
  begin();
  see(node("n0", 8));
  PodRules rules;
  rules.required_anti_affinity = {
      {.selector = {.present = true, .match_labels = {{PooledString("app"), PooledString("web")}}},
       .topology_key = PooledString("l/rack")}};
  Pod first = bound(pod("first", 1), "n0");
  first.rules = std::make_shared<const PodRules>(rules);
  see(first);
  see(pod("web", 1, {{PooledString("app"), PooledString("web")}}));
  see(pod("large", 9));
  leader_term->turn();
  EXPECT_EQ(
      headline("web"),
      R"("state":"Waiting","headline":"PodAntiAffinity: 1 node is excluded by the anti-affinity of existing pods: 1 of 1 domain of l/rack has pods that keep it away, e.g. ns/first on n0","exitStatus":4)");
  EXPECT_EQ(
      headline("large"),
      R"("state":"Never","headline":"ExceedsClusterMax: it would not fit this cluster even if it were empty)"
      R"x( (now: 1 node has insufficient GPUs: at most 7 GPUs free on one node, 9 GPUs requested)","exitStatus":5)x");
}

// ---- gangs ----------------------------------------------------------------------------------------------------------

TEST_F(Read, AGangIsFoundByItsNameAndAnsweredByAPodThatWaits) {
  begin();
  see(node("n0", 8));
  see(node("n1", 8));
  see(bound(pod("other", 8), "n1", "0-7"));
  see(group("g", 2));
  leader_term->turn();
  EXPECT_EQ(headline("g"), R"("state":"Waiting","headline":"its pods do not exist yet","exitStatus":4)");
  see(grouped(bound(pod("g-0", 8), "n0", "0-7"), "g"));
  leader_term->turn();
  EXPECT_NE(why("g").find(R"("pod":"ns/g-0")"), std::string::npos) << "the only one there is";
  see(grouped(pod("g-1", 8), "g"));
  leader_term->turn();
  const std::string body = why("g");
  EXPECT_NE(body.find(R"("name":"ns/g","state":"Waiting")"), std::string::npos) << body;
  EXPECT_NE(body.find(R"("pod":"ns/g-1")"), std::string::npos) << body;
  EXPECT_NE(
      body.find(
          R"("gang":{"name":"g","size":2,"present":2,"bound":1,"held":0,"uniform":true,"within":"","prefer":""})"),
      std::string::npos)
      << body;
}

TEST_F(Read, AGangByLabelsHasItsDomainsNamed) {
  begin();
  see(node("n0", 8));
  const Labels domains{{PooledString("ashlar.dev/prefer"), PooledString("rack")},
                       {PooledString("ashlar.dev/within"), PooledString("block")}};
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 3, 1, domains));
  leader_term->turn();
  EXPECT_NE(
      why("g").find(
          R"("gang":{"name":"g","size":3,"present":2,"bound":0,"held":0,"uniform":true,"within":"block","prefer":"rack"})"),
      std::string::npos)
      << why("g");
  EXPECT_EQ(
      headline("g"),
      R"("state":"Waiting","headline":"MembersMissing: gang g waits until 3 of its pods exist without scheduling gates","exitStatus":4)");
}

TEST_F(Read, OfAGangThatRunsTheNodesAreNamed) {
  begin();
  for (int i = 0; i < 5; ++i) {
    const std::string name = "n" + std::to_string(i);
    see(node(name, 8));
    for (const char* gang : {"wide", "narrow"}) {
      Pod p = gang_pod(gang, i, 5, 1);
      p.node_name = PooledString(gang == std::string("wide") ? name : "n0");
      see(p);
    }
  }
  leader_term->turn();
  EXPECT_EQ(headline("wide"), R"("state":"Bound","headline":"runs on 5 nodes: n0, n1, n2 and 2 more","exitStatus":0)");
  EXPECT_EQ(headline("narrow"), R"("state":"Bound","headline":"runs on n0","exitStatus":0)");
  EXPECT_EQ(why("wide").find(R"("node":)"), std::string::npos) << "of no single pod";
  EXPECT_EQ(headline("wide-3").find(R"("state":"Bound","headline":"runs on n3)"), 0u);
}

TEST_F(Read, AGangThatIsHeldSaysWhy) {
  options.tracker.queues = {{"team", "", {}}};
  begin();
  see(node("n0", 8));
  see(gang_pod("far", 0, 1, 1, {{PooledString("ashlar.dev/within"), PooledString("l/nothing")}}));
  see(gang_pod("mixed", 0, 2, 1, {{PooledString("ashlar.dev/queue"), PooledString("default")}}));
  see(gang_pod("mixed", 1, 2, 1, {{PooledString("ashlar.dev/queue"), PooledString("team")}}));
  see(grouped(pod("early", 1), "none"));
  leader_term->turn();
  EXPECT_EQ(
      headline("far-0"),
      R"("state":"Never","headline":"NoSuchDomain: gang far must stay within one domain of l/nothing, but no node has that label","exitStatus":5)");
  EXPECT_EQ(
      headline("mixed"),
      R"("state":"Held","headline":"GangHeld: the pods of gang mixed belong to different queues: pod mixed-0 to default, pod mixed-1 to team; all must belong to the same","exitStatus":4)");
  const std::string held = queue().substr(queue().find(R"("held":)"));
  EXPECT_NE(held.find(R"x({"name":"ns/none","queue":"default","pods":1,)x"), std::string::npos) << held;
  EXPECT_NE(held.find(R"x({"name":"ns/far","queue":"default","pods":1,)x"), std::string::npos) << held;
  EXPECT_NE(held.find(R"x({"name":"ns/mixed","queue":"default","pods":2,)x"), std::string::npos) << held;
  EXPECT_NE(held.find(R"x("reason":"GangHeld","message":"the pods of gang mixed belong)x"), std::string::npos) << held;
  EXPECT_TRUE(held.ends_with("\"heldTotal\":3}\n")) << held;
  const std::string told = metrics.text(replica.get(), {});
  EXPECT_NE(told.find("ashlar_pods_held{reason=\"GangHeld\"} 2\n"), std::string::npos) << told;
  EXPECT_NE(told.find("ashlar_pods_held{reason=\"NoSuchDomain\"} 1\n"), std::string::npos) << told;
  EXPECT_EQ(
      headline("early"),
      R"x("state":"Held","headline":"PodGroupMissing: PodGroup none does not exist (yet): create it in namespace ns, or create the pods without spec.schedulingGroup","exitStatus":4)x");
  see(group("none", 1));
  leader_term->turn();
  EXPECT_TRUE(queue().ends_with("\"heldTotal\":2}\n")) << "nothing holds it any more: " << queue();
}

// ---- remedies -------------------------------------------------------------------------------------------------------

TEST_F(Read, MoreQuotaIsNamedForEachQueueThatLacksIt) {
  options.tracker.queues = {{"team", "", {3'000, kUnlimited, kUnlimited}},
                            {"group", "team", {2'000, kUnlimited, kUnlimited}}};
  begin();
  see(node("n0", 8));
  const Labels in_group{{PooledString("ashlar.dev/queue"), PooledString("group")}};
  see(bound(pod("runs", 2, in_group), "n0", "0-1"));
  see(pod("p", 2, in_group));
  see(pod("q", 1, in_group));
  leader_term->turn();
  EXPECT_EQ(
      remedies("p"),
      R"("remedies":[{"kind":"MoreQuota","amount":0,"message":"queue group had 2 GPUs more quota and queue team had 1 GPU more quota"}]})"
      "\n");
}

TEST_F(Read, WhereTheQueueMayBorrowTooLittleNotItsQuotaIsNamed) {
  options.tracker.queues = {
      {.name = "team", .shares = {{.resource = "nvidia.com/gpu", .model = "", .guarantee = 2'000, .borrows = 0}}}};
  begin();
  see(node("n0", 8));
  const Labels in_team{{PooledString("ashlar.dev/queue"), PooledString("team")}};
  see(pod("p", 3, in_team));
  leader_term->turn();
  EXPECT_NE(why("p").find("it requests 3 GPUs, but queue team may use at most 2 GPUs"), std::string::npos) << why("p");
  EXPECT_NE(remedies("p").find(R"("message":"queue team had 1 GPU more borrowLimit")"), std::string::npos)
      << remedies("p");
}

TEST_F(Read, ALimitOnAModelIsReadWithItsUsageAndRefusesWithARemedy) {
  options.tracker.queues = {{"team",
                             "",
                             {kUnlimited, 8'000, kUnlimited},
                             {{"nvidia.com/gpu", "H100", 2'000}, {"nvidia.com/gpu", "H10O", 9'000}, {"x/nic", "", 3}}}};
  begin();
  Node big = node("n0", 8);
  big.labels.push_back({PooledString("nvidia.com/gpu.product"), PooledString("H100")});
  see(big);
  const Labels of_team{{PooledString("ashlar.dev/queue"), PooledString("team")}};
  see(bound(pod("runs", 2, of_team), "n0", "0-1"));
  see(pod("p", 3, of_team));
  leader_term->turn();
  const std::string of_h100 =
      R"({"resource":"nvidia.com/gpu","model":"H100","unit":"milliGpu","used":2000,"limit":2000,"nodes":1})";
  EXPECT_NE(queue().find(of_h100), std::string::npos) << queue();
  const std::string of_none =
      R"({"resource":"nvidia.com/gpu","model":"H10O","unit":"milliGpu","used":0,"limit":9000,"nodes":0})";
  EXPECT_NE(queue().find(of_none), std::string::npos) << queue();
  EXPECT_NE(queue().find(R"({"resource":"x/nic","model":"","unit":"count","used":0,"limit":3})"), std::string::npos)
      << queue();
  EXPECT_NE(queue().find(R"({"resource":"cpu","model":"","unit":"milliCores",)"), std::string::npos) << queue();
  EXPECT_NE(queue().find(R"("reason":"QuotaExhausted","message":"queue team uses 2 of its 2 GPUs on H100 nodes")"),
            std::string::npos)
      << queue();
  EXPECT_EQ(
      remedies("p"),
      R"("remedies":[{"kind":"MoreQuota","amount":0,"message":"queue team had 3 GPUs more quota on H100 nodes"}]})"
      "\n");
}

TEST_F(Read, WhatWouldHelpIsSaidOfOneAndOfMany) {
  begin();
  for (const char* name : {"a", "b"}) see(node(name, 8, "r0"));
  for (const char* name : {"c", "d"}) see(node(name, 8, "r1"));
  see(bound(pod("runs-a", 1), "a", "0"));
  see(bound(pod("runs-c", 1), "c", "0"));
  for (int i = 0; i < 2; ++i) see(gang_pod("g", i, 2, 8, {{PooledString("ashlar.dev/within"), PooledString("rack")}}));
  see(pod("p", 9));
  leader_term->turn();
  EXPECT_EQ(
      remedies("g"),
      R"x("remedies":[{"kind":"WidenWithin","amount":2,"message":"it could be spread over one block (ashlar.dev/within: block)"},)x"
      R"x({"kind":"DropWithin","amount":2,"message":"it could be spread over any nodes (without ashlar.dev/within)"},)x"
      R"x({"kind":"FewerMembers","amount":1,"message":"it had 1 member"},)x"
      R"x({"kind":"FewerCards","amount":7,"message":"each of its pods requested at most 7 GPUs"},)x"
      R"x({"kind":"FreeCards","amount":1,"message":"1 more GPU was free in one rack"},)x"
      R"x({"kind":"MoreNodes","amount":1,"message":"there was 1 more empty node like a in one rack"}]})x"
      "\n");
  EXPECT_EQ(remedies("p"), R"("remedies":[{"kind":"FewerCards","amount":8,"message":"it requested at most 8 GPUs"}]})"
                           "\n");
}

TEST_F(Read, WhatWouldHelpAGangOfAPodGroupIsAChangeOfThePodGroup) {
  begin();
  see(node("a", 8, "r0"));
  see(node("b", 8, "r1"));
  PodGroup within_a_rack = group("g", 2);
  within_a_rack.topology_key = PooledString("l/rack");
  see(within_a_rack);
  for (int i = 0; i < 2; ++i) see(grouped(pod("g-" + std::to_string(i), 8), "g"));
  leader_term->turn();
  const std::string told = remedies("g");
  EXPECT_NE(told.find("it could be spread over one block (key l/block, in a new PodGroup, since "
                      "spec.schedulingConstraints cannot be changed)"),
            std::string::npos)
      << told;
  EXPECT_NE(told.find("it could be spread over any nodes (without its topology, in a new PodGroup, since "
                      "spec.schedulingConstraints cannot be changed)"),
            std::string::npos)
      << told;
}

TEST_F(Read, HeldPodsAreListedBesideTheQueuesButNotThoseThatWaitForNothing) {
  begin();
  see(node("n0", 8));
  Pod gated = pod("gated", 1), going = pod("going", 1);
  gated.scheduling_gates = 1;
  going.deletion_requested = now;
  see(gated);
  see(going);
  see(pod("lost", 1, {{PooledString("ashlar.dev/queue"), PooledString("nowhere")}}));
  leader_term->turn();
  const std::string held = queue().substr(queue().find(R"("held":)"));
  EXPECT_NE(held.find(R"x("reason":"AdmissionGated")x"), std::string::npos) << held;
  EXPECT_NE(held.find(R"x({"name":"ns/lost","queue":"","pods":1,)x"), std::string::npos) << held;
  EXPECT_TRUE(held.ends_with("\"heldTotal\":2}\n")) << held;
}

TEST_F(Read, APodThatMustStayInADomainKeepsItsNameEverywhere) {
  begin();
  see(node("n0", 1));
  const auto within = [](const char* level) {
    return Labels{{PooledString("ashlar.dev/within"), PooledString(level)}};
  };
  see(pod("waits", 2, within("rack")));
  see(pod("held", 1, within("zone")));
  leader_term->turn();
  EXPECT_NE(queue().find(R"("jobs":[{"name":"ns/waits",)"), std::string::npos) << queue();
  EXPECT_NE(queue().find(R"("held":[{"name":"ns/held",)"), std::string::npos) << queue();
  EXPECT_NE(why("waits").find(R"("gang":{"name":"waits","size":1,)"), std::string::npos) << why("waits");
}

TEST_F(Read, AQueueIsAskedForByItsName) {
  options.tracker.queues = {{"team", "", {}}};
  begin();
  see(node("n0", 1));
  const Labels of_team{{PooledString("ashlar.dev/queue"), PooledString("team")}};
  see(bound(pod("runs", 1), "n0", "0"));
  see(pod("a", 1));
  see(pod("b", 1, of_team));
  see(gang_pod("half", 0, 2, 1, of_team));
  see(gang_pod("part", 0, 2, 1));
  leader_term->turn();
  const auto asked = [&](const std::string& name) {
    http::ServerRequest request;
    request.query = "queue=" + name;
    return described(answer_queue(*replica, request)).body;
  };
  const std::string team = asked("team"), nobodys = asked("nobodys");
  EXPECT_NE(team.find("ns/b"), std::string::npos) << team;
  EXPECT_NE(team.find("ns/half"), std::string::npos) << team;
  EXPECT_EQ(team.find("ns/a"), std::string::npos) << team;
  EXPECT_EQ(team.find("ns/part"), std::string::npos) << team;
  EXPECT_NE(team.find(R"("shown":1,"total":1,)"), std::string::npos) << team;
  EXPECT_TRUE(team.ends_with("\"heldTotal\":1}\n")) << team;
  EXPECT_NE(nobodys.find(R"("shown":0,"total":0,"held":[],"heldTotal":0})"), std::string::npos) << nobodys;
  EXPECT_NE(queue().find(R"("shown":2,"total":2,)"), std::string::npos) << queue();
}

TEST_F(Read, QueuesAreToldInFull) {
  options.tracker.queues = {{"team", "", {2'000, kUnlimited, kUnlimited}},
                            {"sub", "team", {kUnlimited, kUnlimited, kUnlimited}}};
  begin();
  see(node("n0", 4));
  const Labels of_team{{PooledString("ashlar.dev/queue"), PooledString("team")}},
      of_sub{{PooledString("ashlar.dev/queue"), PooledString("sub")}};
  see(bound(pod("runs", 1, of_sub), "n0", "0"));
  const auto aged = [&](Pod p, std::int64_t age) {
    p.created = now - Millis(age);
    return p;
  };
  see(aged(pod("a", 5), 3'000));
  see(aged(pod("b", 6), 2'000));
  see(aged(pod("c", 2, of_team), 1'000));
  see(aged(pod("lost", 1, {{PooledString("ashlar.dev/queue"), PooledString("nowhere")}}), 500));
  see(aged(gang_pod("g", 0, 2, 1, of_team), 400));
  for (int i = 0; i < 2; ++i) see(gang_pod("h", i, 2, 4));
  leader_term->turn();
  now += Millis(10);
  const auto job = [](const std::string& numbers, const std::string& why, int age) {
    return R"({"name":"ns/)" + numbers + R"(,"priority":0,"ageMillis":)" + std::to_string(age) + R"(,"reason":)" + why +
           "}";
  };
  const auto exceeds = [](const std::string& now) {
    return R"("ExceedsClusterMax","message":"it would not fit this cluster even if it were empty (at the time of the verdict: )" +
           now + R"x()")x";
  };
  const auto asks = [&](int devices) {
    return exceeds("1 node has insufficient GPUs: at most 3 GPUs free on one node, " + std::to_string(devices) +
                   " GPUs requested");
  };
  EXPECT_EQ(
      queue(),
      document(
          "QueueList",
          R"("jobs":[)" +
              job(R"(a","queue":"default","position":1,"gpus":5,"gpusAhead":0,"members":1)", asks(5), 3010) + "," +
              job(R"(b","queue":"default","position":2,"gpus":6,"gpusAhead":5,"members":1)", asks(6), 2010) + "," +
              job(R"(c","queue":"team","position":1,"gpus":2,"gpusAhead":0,"members":1)",
                  R"("QuotaExhausted","message":"queue team uses 1 of its 2 GPUs, 2 requested")", 1010) +
              "," +
              job(R"(h","queue":"default","position":3,"gpus":8,"gpusAhead":11,"members":2)",
                  exceeds("all nodes together have capacity for 0 of 2 members"), 10) +
              R"(],"queues":[{"name":"root","parent":"","usedMilliGpu":1000,"quotaMilliGpu":null,"limits":[],"guarantees":[],"pendingJobs":0,"pendingGpus":0},)"
              R"({"name":"team","parent":"root","usedMilliGpu":1000,"quotaMilliGpu":2000,"limits":[{"resource":"nvidia.com/gpu","model":"","unit":"milliGpu","used":1000,"limit":2000}],"guarantees":[],"pendingJobs":1,"pendingGpus":2},)"
              R"({"name":"sub","parent":"team","usedMilliGpu":1000,"quotaMilliGpu":null,"limits":[],"guarantees":[],"pendingJobs":0,"pendingGpus":0},)"
              R"({"name":"default","parent":"root","usedMilliGpu":0,"quotaMilliGpu":null,"limits":[],"guarantees":[],"pendingJobs":3,"pendingGpus":19}],)"
              R"("shown":4,"total":4,"held":[{"name":"ns/g","queue":"team","pods":1,"ageMillis":410,"reason":"MembersMissing",)"
              R"("message":"gang g waits until 2 of its pods exist without scheduling gates"},{"name":"ns/lost","queue":"","pods":1,"ageMillis":510,)"
              R"("reason":"QueueUnknown","message":"queue nowhere is not configured; `ashlar queue` lists the configured queues"}],"heldTotal":2)"));
}

TEST_F(Read, AQueueThatIsNotOpenSaysSo) {
  options.tracker.queues = {{"held", "", {kUnlimited, kUnlimited, kUnlimited}},
                            {"draining", "", {kUnlimited, kUnlimited, kUnlimited}},
                            {"stopped", "", {kUnlimited, kUnlimited, kUnlimited}}};
  for (std::size_t i = 0; i < 3; ++i)
    options.tracker.queues[i].gate.is =
        std::array{QueueGate::Is::kHeld, QueueGate::Is::kDraining, QueueGate::Is::kStopped}[i];
  begin();
  leader_term->turn();
  const std::string list = queue();
  for (const auto& [name, word] : {std::pair("held", "Held"), {"draining", "Draining"}, {"stopped", "Stopped"}})
    EXPECT_NE(list.find(R"({"name":")" + std::string(name) + R"(","parent":"root","gate":")" + word + "\""),
              std::string::npos)
        << list;
  EXPECT_NE(list.find(R"({"name":"default","parent":"root","usedMilliGpu":)"), std::string::npos) << list;
}

TEST_F(Read, JobsAreListedInTheOrderOfTheirQueuesIfTheProfileHasOne) {
  options.tracker.queues = {{"busy", "", {4'000, kUnlimited, kUnlimited}},
                            {"idle", "", {4'000, kUnlimited, kUnlimited}}};
  options.profile = [](const auto&) {
    Profile profile = builtin_profile("ashlar").value();
    profile.queue_order = find_queue_order("least-share");
    return profile;
  };
  begin();
  see(node("n0", 2));
  const auto in = [](const char* queue) { return Labels{{PooledString("ashlar.dev/queue"), PooledString(queue)}}; };
  see(bound(pod("runs", 2, in("busy")), "n0", "0-1"));
  for (const auto& [name, queue, age] :
       {std::tuple("first", "busy", 3'000), std::tuple("second", "idle", 2'000), std::tuple("third", "busy", 1'000)}) {
    Pod p = pod(name, 1, in(queue));
    p.created = now - Millis(age);
    see(p);
  }
  leader_term->turn();
  const std::string list = queue();
  const std::size_t first = list.find("ns/first"), second = list.find("ns/second"), third = list.find("ns/third");
  ASSERT_NE(third, std::string::npos) << list;
  EXPECT_LT(second, first) << "its queue uses nothing: " << list;
  EXPECT_LT(first, third) << list;
}

TEST_F(Read, AllJobsAreListedWhenAskedFor) {
  begin();
  see(node("n0", 1));
  for (std::size_t i = 0; i < kJobsShownMax + 1; ++i) {
    see(pod("p" + std::to_string(i), 2));
    see(pod("q" + std::to_string(i), 1, {{PooledString("ashlar.dev/queue"), PooledString("nowhere")}}));
  }
  leader_term->turn();
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  http::ServerRequest all;
  all.query = "all=1";
  const std::string some = queue(), every = answer_queue(*replica, all).body;
  EXPECT_NE(some.find(R"("shown":500,"total":501,)"), std::string::npos);
  EXPECT_TRUE(some.ends_with("\"heldTotal\":501}\n"));
  EXPECT_EQ(count(some, R"("name":"ns/p)"), 500u);
  EXPECT_EQ(count(some, R"("name":"ns/q)"), 500u);
  EXPECT_NE(every.find(R"("shown":501,"total":501,)"), std::string::npos);
  EXPECT_EQ(count(every, R"("name":"ns/p)"), 501u);
  EXPECT_EQ(count(every, R"("name":"ns/q)"), 501u);
}

// ---- nodes ----------------------------------------------------------------------------------------------------------

TEST_F(Read, NodesAreListedByTheNumbersInTheirNames) {
  begin();
  for (const char* name : {"n-10", "n-9", "n-1", "m-20"}) see(node(name, 1));
  leader_term->turn();
  std::string names;
  for (std::size_t at = 0; (at = nodes().find(R"("name":")", at)) != std::string::npos; ++at)
    names += nodes().substr(at + 8, nodes().find('"', at + 8) - at - 8) + " ";
  EXPECT_EQ(names, "m-20 n-1 n-9 n-10 ");
}

TEST_F(Read, NodesAreToldWithDevicesDomainsTaintsAndWhatClosesThem) {
  begin();
  Node n = node("n0", 2);
  n.taints = {{PooledString("team"), PooledString("blue"), kube::TaintEffect::kNoSchedule},
              {PooledString("node.kubernetes.io/unschedulable"), PooledString(), kube::TaintEffect::kNoSchedule},
              {PooledString("old"), PooledString("y="), kube::TaintEffect::kPreferNoSchedule},
              {PooledString("x"), PooledString(), kube::TaintEffect::kNoExecute}};
  see(n);
  Node bare = node("n1", 0);
  bare.labels = {{PooledString("nvidia.com/gpu.product"), PooledString("H100")}};
  see(bare);
  n.annotations = {{PooledString("ashlar.dev/unhealthy-gpus"), PooledString("1")}};
  see(n);
  see(node("gone", 1));
  see(bound(pod("p", 1), "n0", "0"));
  see(bound(pod("q", 1), "n0", "0"));
  see(bound(pod("r", 1), "n0", "0"));
  Pod unread = bound(pod("unread", 0), "n1");
  unread.problem = PooledString("spec: odd");
  unread.lacks_amounts = true;
  see(unread);
  leader_term->turn();
  leader_term->take(Change<Node>{Change<Node>::Kind::kDeleted, node("gone", 1)});
  now += Millis(1'000);
  leader_term->turn();
  const std::string n0 =
      R"({"name":"n0","model":"","cards":2,"idleCards":0,"cardFreeMilli":[-2000,0],"closedCards":"0","unhealthyCards":"1",)"
      R"("freeMilliCores":62500,)"
      R"("freeMemoryBytes":1073741824,"freePods":107,"domains":{"block":"b","rack":"r0"},"taints":["team=blue:NoSchedule",)"
      R"("node.kubernetes.io/unschedulable:NoSchedule","old=y=:PreferNoSchedule","x:NoExecute"]})";
  const std::string n1 =
      R"({"name":"n1","model":"H100","cards":0,"idleCards":0,"cardFreeMilli":[],"freeMilliCores":63500,"freeMemoryBytes":1073741824,"freePods":109,)"
      R"("closed":"pod ns/unread: spec: odd","domains":{},"taints":[]})";
  EXPECT_EQ(nodes(), document("NodeList", R"("nodes":[)" + n0 + "," + n1 + "]"));
  EXPECT_EQ(nodes("n1"), document("NodeList", R"("nodes":[)" + n1 + "]"));
  EXPECT_EQ(nodes("gone"), document("NodeList", R"("nodes":[])"));
}

TEST_F(Read, APodThatWaitsForAResourceWhichADeviceClassServesIsHeldNotRefusedForGood) {
  begin();
  see(node("n0", 8));
  DeviceClassObject accel;
  accel.name = PooledString("accel");
  accel.uid = PooledString("uid-accel");
  accel.extended_resource = PooledString("example.com/accel");
  see(accel);
  Pod asking = pod("p", 0);
  asking.requests.extended = {{PooledString("example.com/accel"), 1}};
  see(asking);
  leader_term->turn();
  EXPECT_EQ(
      headline("p"),
      R"("state":"Held","headline":"FieldNotEvaluated: spec.containers[].resources.requests (example.com/accel, which no node has and DeviceClass accel serves) is not evaluated by Ashlar, so the pod is not placed: remove the field or use another scheduler, or wait until a node has it","exitStatus":4)");
}

TEST_F(Read, TheCapabilitiesOfDeviceClassesAreShownOfNodesAndOfGroups) {
  options.tracker.device_classes = {{"H100", {"H100-SXM"}, {"fp8", "nvlink"}}, {"A100", {}, {"mig"}}, {"L4", {}, {}}};
  begin();
  const auto of_model = [&](const char* name, const char* model) {
    Node n = node(name, 2);
    n.labels = {{PooledString("nvidia.com/gpu.product"), PooledString(model)}};
    return n;
  };
  see(of_model("h", "H100-SXM"));
  see(of_model("l", "L4"));
  Node both = node("m", 2);
  both.annotations = {{PooledString("ashlar.dev/gpus"), PooledString("0 model=H100-SXM; 1 model=A100")}};
  see(both);
  leader_term->turn();
  const auto shows = [&](const std::string& text) { return nodes().find(text) != std::string::npos; };
  EXPECT_TRUE(shows(R"("name":"h","model":"H100","capabilities":["fp8","nvlink"],"cards":2,)")) << nodes();
  EXPECT_TRUE(shows(R"("name":"l","model":"L4","cards":2,)")) << nodes();
  EXPECT_TRUE(shows(R"("name":"m","model":"","cards":2,)")) << nodes();
  EXPECT_TRUE(shows(R"({"cards":"0","model":"H100","capabilities":["fp8","nvlink"],"memoryMiB":0,)")) << nodes();
  EXPECT_TRUE(shows(R"({"cards":"1","model":"A100","capabilities":["mig"],"memoryMiB":0,)")) << nodes();
}

TEST_F(Read, NodesWithUnlikeDevicesAreToldByGroups) {
  begin();
  Node n = node("n0", 3);
  n.annotations = {{PooledString("ashlar.dev/gpus"), PooledString("0,2 model=H100 memory=80Gi island=1; 1 sliced")}};
  see(n);
  leader_term->turn();
  const std::string told =
      R"("name":"n0","model":"","cards":3,"idleCards":3,"cardFreeMilli":[1000,1000,1000],"cardGroups":[)"
      R"({"cards":"0,2","model":"H100","memoryMiB":81920,"island":1,"numaNode":0,"pcieSwitch":0,"sliced":false},)"
      R"({"cards":"1","model":"","memoryMiB":0,"island":0,"numaNode":0,"pcieSwitch":0,"sliced":true}],"free)";
  EXPECT_NE(nodes().find(told), std::string::npos) << nodes();
}

}  // namespace
}  // namespace ashlar::kube
