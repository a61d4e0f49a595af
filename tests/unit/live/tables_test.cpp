// The side tables of the live scheduler: names, rows, ranks, caches, and what the metrics say of the watches.
#include <algorithm>
#include <map>

#include "live/track/gang_table.h"
#include "live/track/hashes.h"
#include "live/watch/standby_cache.h"
#include "live/watch/watches.h"
#include "small_cluster.h"
#include "tracker_bench.h"

namespace ashlar::kube {
namespace {

// ---- names ----------------------------------------------------------------------------------------------------------

TEST(ObjectNames, ModelsThatTheConfigurationNamesKeepTheirRows) {
  ObjectNames names;
  EXPECT_EQ(names.configured_model(PooledString("A100")), DeviceClassId(0u));
  EXPECT_EQ(names.configured_model(PooledString("H100")), DeviceClassId(1u));
  EXPECT_EQ(names.configured_model(PooledString("A100")), DeviceClassId(0u));
  names.models.of(PooledString("L4"));
  names.keep_only({});
  EXPECT_EQ(names.models.find(PooledString("A100")), DeviceClassId(0u));
  EXPECT_EQ(names.models.find(PooledString("H100")), DeviceClassId(1u))
      << "the second naming of the first did not lower the mark";
  EXPECT_TRUE(names.models.find(PooledString("L4")).is_none());
}

TEST(ObjectNames, WhatTaintsTolerationsAndPortsNameStays) {
  ObjectNames names;
  const LabelKeyId taint_key = names.label_keys.of(PooledString("taint")),
                   tolerated_key = names.label_keys.of(PooledString("tolerated"));
  names.label_keys.of(PooledString("nobody's"));
  const LabelId taint = names.label(PooledString("taint"), PooledString("x")),
                tolerated = names.label(PooledString("tolerated"), PooledString("y"));
  names.label(PooledString("nobody's"), PooledString("z"));
  EXPECT_EQ(names.address(PooledString("10.0.0.1")), 1u);
  EXPECT_EQ(names.address(PooledString("10.0.0.2")), 2u);
  for (const char* everywhere : {"", "0.0.0.0"}) EXPECT_EQ(names.address(PooledString(everywhere)), 0u) << everywhere;
  EXPECT_EQ(names.address(PooledString("::")), 3u) << "an address like others, as upstream";
  NodeFacts facts;
  facts.taints = {{taint_key, taint, ashlar::TaintEffect::kNoSchedule}};
  Constraint constraint;
  constraint.tolerations = {{tolerated_key, tolerated, ashlar::TaintEffect::kAny}};
  Demand demand;
  demand.ports = {{6, 0, 80}, {6, 2, 80}};
  ObjectNames::InUse in_use;
  in_use.add(facts);
  in_use.add(constraint);
  in_use.add(demand);
  names.keep_only(in_use);
  EXPECT_EQ(names.label_text(taint), "taint=x");
  EXPECT_EQ(names.label_text(tolerated), "tolerated=y");
  EXPECT_EQ(names.label_text(LabelId(2u)), "");
  EXPECT_EQ(names.label_keys.find(PooledString("taint")), taint_key);
  EXPECT_EQ(names.label_keys.find(PooledString("tolerated")), tolerated_key);
  EXPECT_TRUE(names.label_keys.find(PooledString("nobody's")).is_none());
  EXPECT_EQ(names.address(PooledString("10.0.0.2")), 2u) << "still the second row";
  EXPECT_EQ(names.address(PooledString("10.0.0.9")), 1u) << "the first was given back";
}

TEST(ObjectNames, LevelsAreFoundByNameAndByLabelUpToTheLimit) {
  ObjectNames names({{PooledString("rack"), PooledString("l/rack")}});
  EXPECT_EQ(names.find_level(PooledString("rack")), LevelId(0u));
  EXPECT_EQ(names.find_level(PooledString("l/rack")), LevelId(0u));
  EXPECT_TRUE(names.find_level(PooledString("other")).is_none());
  for (std::size_t l = 1; l < Topology::kLevelsMax; ++l)
    EXPECT_EQ(names.add_level(PooledString("l/" + std::to_string(l)), LevelId::none()), LevelId(l));
  EXPECT_FALSE(names.has_room_for_level());
  EXPECT_TRUE(names.add_level(PooledString("one too many"), LevelId::none()).is_none());
  EXPECT_EQ(names.add_level(PooledString("instead"), LevelId(1u)), LevelId(1u));
  EXPECT_EQ(names.find_level(PooledString("instead")), LevelId(1u));
  EXPECT_TRUE(names.find_level(PooledString("l/1")).is_none());
  EXPECT_EQ(names.nested_count(), 1u);
  const DomainId r0 = names.domain(LevelId(0u), DomainId::none(), PooledString("r0"));
  EXPECT_EQ(names.domain_name(LevelId(0u), r0), PooledString("r0"));
  EXPECT_EQ(names.domain_name(LevelId(Topology::kLevelsMax), r0), PooledString()) << "no such level";
}

TEST(ObjectNames, ACopyHasTheNamesInTheSameRowsEmptyOnesToo) {
  const std::vector<LevelName> levels{{PooledString("rack"), PooledString("l/rack")}};
  ObjectNames names(levels), copy(levels);
  names.start_journal();
  const DomainId unnamed = names.domain(LevelId(0u), DomainId::none(), PooledString()),
                 r0 = names.domain(LevelId(0u), DomainId::none(), PooledString("r0"));
  const DeviceClassId model = names.models.of(PooledString());
  const LabelId label = names.label(PooledString(), PooledString());
  const NodeId node = names.nodes.of(PooledString("n"));
  copy.put(names.take_changes());
  EXPECT_EQ(copy.domain_name(LevelId(0u), r0), PooledString("r0"));
  EXPECT_EQ(copy.domain(LevelId(0u), DomainId::none(), PooledString()), unnamed);
  EXPECT_EQ(copy.models.find(PooledString()), model);
  EXPECT_EQ(copy.label(PooledString(), PooledString()), label);
  EXPECT_EQ(copy.nodes.find(PooledString("n")), node);
  names.nodes.remove(node);
  copy.put(names.take_changes());
  EXPECT_TRUE(copy.nodes.find(PooledString("n")).is_none());
  EXPECT_EQ(copy.models.find(PooledString()), model) << "what was removed is not what is empty";
  names.keep_only({});
  const DeviceClassId again = names.models.of(PooledString("H100"));
  const DomainId r1 = names.domain(LevelId(0u), DomainId::none(), PooledString("r1"));
  copy.put(names.take_changes());
  EXPECT_EQ(again, model) << "the row that was given back";
  EXPECT_TRUE(copy.models.find(PooledString()).is_none());
  EXPECT_EQ(copy.models.find(PooledString("H100")), again);
  EXPECT_EQ(copy.domain_name(LevelId(0u), r1), PooledString("r1"));
}

TEST(ObjectNames, ResourcesBeyondTheColumnsAreRefusedByNameOnce) {
  ObjectNames names;
  for (std::uint32_t r = resource::kFirstExtended; r < resource::kColumnsMax - 2; ++r)
    EXPECT_EQ(names.resource(PooledString("x/" + std::to_string(r))), ResourceId(r));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(names.resource(PooledString("x/more")).is_none());
  EXPECT_EQ(names.refused_resources(), std::vector<PooledString>{PooledString("x/more")});
  EXPECT_EQ(names.resource(PooledString("ashlar.dev/gpu-milli")), ResourceId(resource::kColumnsMax - 2));
  EXPECT_TRUE(names.resource(PooledString("x/more")).is_none());
  EXPECT_EQ(names.resource(PooledString("nvidia.com/gpu")), ResourceId(resource::kColumnsMax - 1));
  EXPECT_EQ(names.column_count(), resource::kColumnsMax);
  EXPECT_TRUE(names.is_refused(PooledString("x/more")));
  EXPECT_FALSE(names.is_refused(PooledString("x/4")));
  EXPECT_EQ(names.wished_resource(PooledString("x/more")), ResourceId(resource::kColumnsMax));
  EXPECT_EQ(names.wished_resource(PooledString("x/4")), ResourceId(4u));
  EXPECT_EQ(names.resource_name(ResourceId(resource::kColumnsMax)), PooledString("x/more"));
  EXPECT_EQ(names.resource_name(ResourceId(4u)), PooledString("x/4"));
  const char* const fixed[] = {"cpu", "memory", "ephemeral-storage", "pods"};
  for (std::uint32_t r = 0; r < 4; ++r) {
    EXPECT_EQ(names.resource_name(ResourceId(r)), PooledString(fixed[r]));
    EXPECT_EQ(names.find_resource(PooledString(fixed[r])), ResourceId(r));
  }
}

// ---- gangs ----------------------------------------------------------------------------------------------------------

TEST(Ranks, AreReadFromTheControllersIndexAndElseFromTheName) {
  const auto order = [](const std::vector<std::pair<std::string, Labels>>& named) {
    PodTable pods;
    std::vector<PodSlot> slots;
    for (const auto& [name, labels] : named) {
      slots.push_back(pods.add(PooledString("ns"), PooledString(name)));
      pods.edit(slots.back()).name = PooledString(name);
      pods.edit(slots.back()).labels = std::make_shared<const Labels>(labels);
    }
    sort_by_rank(pods, slots);
    std::vector<std::string> names;
    for (const PodSlot slot : slots) names.push_back(pods[slot].name.str());
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(order({{"p-10", {}}, {"p-9", {}}, {"p-2", {}}}), (Names{"p-2", "p-9", "p-10"}));
  for (const char* key : {"batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index",
                          "leaderworkerset.sigs.k8s.io/worker-index"})
    EXPECT_EQ(order({{"a", {{PooledString(key), PooledString("10")}}},
                     {"b", {{PooledString(key), PooledString("9")}}},
                     {"c", {{PooledString(key), PooledString("0")}}}}),
              (Names{"c", "b", "a"}))
        << key;
  const PooledString index("apps.kubernetes.io/pod-index");
  EXPECT_EQ(order({{"a", {{index, PooledString("x")}}},
                   {"b", {{index, PooledString("3")}}},
                   {"c", {{index, PooledString("1x")}}}}),
            (Names{"b", "a", "c"}))
      << "what is no number comes last, by name";
}

// ---- what pods and nodes ask for ------------------------------------------------------------------------------------

class Asks : public TrackerBench {
 protected:
  std::int64_t memory_asked(const std::string& text) {
    Pod p = pod("p" + text, 1);
    p.annotations = std::make_shared<const Labels>(Labels{{PooledString("ashlar.dev/gpu-memory"), PooledString(text)}});
    see(p);
    const PodRecord& r = record("p" + text);
    return r.demand.is_none() ? -1 : tracker.translator().demand_of(r.demand).devices.memory_each.value;
  }
};

TEST_F(Asks, DeviceMemoryIsRoundedUpToWholeMebibytes) {
  EXPECT_EQ(memory_asked("16Gi"), 16'384);
  EXPECT_EQ(memory_asked("1048576"), 1);
  EXPECT_EQ(memory_asked("1048577"), 2);
  EXPECT_EQ(memory_asked("0"), 0);
  EXPECT_EQ(memory_asked("1125899906842623"), std::int64_t{1} << 30) << "the last that is believed";
  memory_asked("1125899906842624");
  EXPECT_EQ(hold_text(record("p1125899906842624")),
            "ashlar.dev/gpu-memory \"1125899906842624\" is more than any GPU has");
  memory_asked("-1");
  EXPECT_EQ(hold_text(record("p-1")), "ashlar.dev/gpu-memory \"-1\" is not a quantity such as 40Gi");
}

TEST_F(Asks, ABlankDeviceMemoryIsRefusedWhateverWasReadBefore) {
  see(pod("plain", 1));
  memory_asked("");
  EXPECT_EQ(hold_text(record("p")), "ashlar.dev/gpu-memory \"\" is not a quantity such as 40Gi");
}

TEST_F(Asks, DeviceMemoryOfANodeIsItsLabelWhereThatIsANumber) {
  const auto memory_of = [&](const std::string& value) {
    see(node("n", 1, {{PooledString("nvidia.com/gpu.memory"), PooledString(value)}}));
    step();
    return state.cluster().facts(NodeId(0u)).devices.memory_each.value;
  };
  EXPECT_EQ(memory_of("81559"), 81'559);
  EXPECT_EQ(memory_of("-5"), 0);
  EXPECT_EQ(memory_of("9999999999"), std::int64_t{1} << 30);
  EXPECT_EQ(memory_of("80G"), 0) << "no number";
}

TEST_F(Asks, ANodeAffinityOfModelsAloneIsADemandForModels) {
  const auto rules_of = [](SelectorOp op, std::vector<PooledString> values,
                           const char* key = "nvidia.com/gpu.product") {
    PodRules rules;
    rules.has_required_affinity = true;
    rules.required_affinity = {{.expressions = {{.key = PooledString(key), .op = op, .values = std::move(values)}}}};
    return rules;
  };
  const auto constraint_of = [&](const std::string& name, const PodRules& rules) {
    see(under(pod(name, 1), rules));
    return tracker.translator().constraint_of(record(name).constraint);
  };
  const Constraint models =
      constraint_of("models", rules_of(SelectorOp::kIn, {PooledString("A100"), PooledString("H100")}));
  EXPECT_EQ(models.models, (std::vector<DeviceClassId>{tracker.names().models.find(PooledString("A100")),
                                                       tracker.names().models.find(PooledString("H100"))}));
  EXPECT_TRUE(models.any_of.empty());
  for (const auto& [name, rules] :
       {std::pair("not-in", rules_of(SelectorOp::kNotIn, {PooledString("A100")})),
        std::pair("none", rules_of(SelectorOp::kIn, {})),
        std::pair("other-key", rules_of(SelectorOp::kIn, {PooledString("A100")}, "l/rack"))}) {
    const Constraint c = constraint_of(name, rules);
    EXPECT_TRUE(c.models.empty()) << name;
    EXPECT_EQ(c.any_of.size(), 1u) << name;
  }
  PodRules both = rules_of(SelectorOp::kIn, {PooledString("A100")});
  both.node_selector = {{PooledString("nvidia.com/gpu.product"), PooledString("H100")}};
  const Constraint c = constraint_of("both", both);
  EXPECT_EQ(c.models, std::vector<DeviceClassId>{tracker.names().models.find(PooledString("H100"))});
  EXPECT_EQ(c.any_of.size(), 1u) << "both must hold, so the second stays a rule about labels";
  PodRules two = rules_of(SelectorOp::kIn, {PooledString("A100")});
  two.required_affinity.push_back(two.required_affinity[0]);
  EXPECT_EQ(constraint_of("two", two).any_of.size(), 2u);
}

TEST_F(Asks, AShareIsOfOneDeviceAndWholeDevicesMayBeAskedInThousandths) {
  see(share("half", 500));
  see(share("one", 1'000));
  see(share("three", 3'000));
  const auto devices = [&](const char* name) { return tracker.translator().demand_of(record(name).demand).devices; };
  EXPECT_EQ(devices("half"), (DeviceRequest{1, MilliGpu(500), MiB(0)}));
  EXPECT_EQ(devices("one"), (DeviceRequest{1, MilliGpu(1'000), MiB(0)}));
  EXPECT_EQ(devices("three"), (DeviceRequest{3, MilliGpu(1'000), MiB(0)}));
}

// ---- hashes ---------------------------------------------------------------------------------------------------------

/// A table of rules is as quick as its hash tells them apart: what equality compares and the hash leaves out, a tenant
/// can vary at will.
TEST(Hashes, TellRulesApartByWhateverEqualityComparesOfThem) {
  const Requirement in_x{PooledString("k"), SelectorOp::kIn, {PooledString("x")}},
      in_y{PooledString("k"), SelectorOp::kIn, {PooledString("y")}};
  const auto affinity = [](std::vector<NodeTerm> terms) {
    return PodRules{.has_required_affinity = true, .required_affinity = std::move(terms)};
  };
  const auto anti = [](PodAffinityTerm term) { return PodRules{.required_anti_affinity = {std::move(term)}}; };
  const LabelSelector all{.present = true, .match_labels = {}, .expressions = {}};
  const LabelSelector some{.present = true, .match_labels = {}, .expressions = {in_x}};
  const LabelSelector one{.present = true, .match_labels = {{PooledString("k"), PooledString("x")}}, .expressions = {}};
  const Toleration t{PooledString("k"), PooledString("x"), false, TaintEffect::kNoSchedule};
  const std::vector<PodRules> different = {
      {},
      {.node_selector = {{PooledString("k"), PooledString("x")}}},
      {.node_selector = {{PooledString("k"), PooledString("y")}}},
      affinity({}),
      affinity({{{in_x}, {}}}),
      affinity({{{in_y}, {}}}),
      affinity({{{}, {in_x}}}),
      affinity({{{in_x}, {}}, {{in_x}, {}}}),
      affinity({{{in_x, in_x}, {}}}),
      affinity({{{{PooledString("k"), SelectorOp::kNotIn, {PooledString("x")}}}, {}}}),
      {.preferred_affinity = {{1, {{in_x}, {}}}}},
      {.preferred_affinity = {{1, {{in_y}, {}}}}},
      {.preferred_affinity = {{2, {{in_x}, {}}}}},
      {.tolerations = {t}},
      {.tolerations = {{t.key, t.value, true, t.effect}}},
      {.tolerations = {{t.key, t.value, false, TaintEffect::kNoExecute}}},
      {.tolerations = {{t.key, PooledString("y"), false, t.effect}}},
      {.host_ports = {{HostPort::Protocol::kTcp, 80, PooledString()}}},
      {.host_ports = {{HostPort::Protocol::kTcp, 81, PooledString()}}},
      {.host_ports = {{HostPort::Protocol::kUdp, 80, PooledString()}}},
      {.host_ports = {{HostPort::Protocol::kTcp, 80, PooledString("10.0.0.1")}}},
      anti({all, {}, {}, PooledString("zone")}),
      anti({some, {}, {}, PooledString("zone")}),
      anti({one, {}, {}, PooledString("zone")}),
      anti({one, {}, {}, PooledString("rack")}),
      anti({one, all, {}, PooledString("zone")}),
      anti({one, {}, {PooledString("a")}, PooledString("zone")}),
      anti({one, {}, {PooledString("b")}, PooledString("zone")}),
      {.unsupported = PooledString("spec.a")},
      {.ignored_soft = {PooledString("spec.a")}},
  };
  std::map<std::uint64_t, std::size_t> had;
  for (std::size_t i = 0; i < different.size(); ++i) {
    const auto [it, is_new] = had.emplace(hash_of(different[i]), i);
    EXPECT_TRUE(is_new) << i << " and " << it->second;
    EXPECT_EQ(hash_of(PodRules(different[i])), it->first) << i;
  }
}

// ---- caches ---------------------------------------------------------------------------------------------------------

TEST(StandbyCache, HandsOverByAgeThenNameWithWhatWasNotReadAfterwards) {
  StandbyCache<Pod> cache;
  const auto pod = [](const char* ns, const char* name, std::int64_t created, const char* problem = "") {
    Pod p;
    p.ns = PooledString(ns);
    p.name = PooledString(name);
    p.created = Millis(created);
    p.problem = PooledString(problem);
    return p;
  };
  const auto take = [&](Pod p, Change<Pod>::Kind kind = Change<Pod>::Kind::kAdded) {
    cache.take(Change<Pod>{kind, std::move(p)});
  };
  take(pod("b", "x", 5));
  take(pod("a", "y", 5));
  take(pod("a", "x", 5));
  take(pod("z", "old", 1));
  take(pod("a", "gone", 0));
  take(pod("a", "gone", 0), Change<Pod>::Kind::kDeleted);
  take({}, Change<Pod>::Kind::kSynced);
  take(pod("a", "x", 5, "odd"), Change<Pod>::Kind::kModified);
  take(pod("a", "never", 9, "odd"));
  EXPECT_EQ(cache.size(), 5u);
  std::vector<std::string> told;
  cache.drain([&](Change<Pod>&& change) {
    told.push_back(std::string(change.kind == Change<Pod>::Kind::kAdded ? "+" : "~") + change.object.ns.str() + "/" +
                   change.object.name.str() + change.object.problem.str());
  });
  EXPECT_EQ(told, (std::vector<std::string>{"+z/old", "+a/x", "~a/xodd", "+a/y", "+b/x", "+a/neverodd"}));
  EXPECT_EQ(cache.size(), 0u);
}

// ---- what is said of the watches ------------------------------------------------------------------------------------

TEST(WatchFacts, AreThoseOfEachReflector) {
  SmallCluster cluster;
  cluster.put_node("n", 8);
  cluster.put_pod("p", 1);
  cluster.put_pod("q", 1);
  auto api = Api::create({.access = cluster.access(), .seed = 7}).value();
  Watches watches(*api, {});
  std::map<std::string_view, ProcessFacts::Watch> facts;
  watches.add_facts(facts);
  EXPECT_TRUE(facts.empty()) << "nothing is followed yet";
  watches.start();
  const auto deadline = SmallCluster::Clock::now() + std::chrono::seconds(60);
  while (!watches.is_synced() && SmallCluster::Clock::now() < deadline) {
    watches.advance();
    api->poll(Millis(5));
  }
  watches.add_facts(facts);
  ASSERT_EQ(facts.size(), 13u);
  for (const char* resource :
       {"pods", "nodes", "namespaces", "priorityclasses", "deviceclasses", "podgroups", "persistentvolumeclaims",
        "persistentvolumes", "storageclasses", "csinodes", "csidrivers", "csistoragecapacities", "volumeattachments"}) {
    ASSERT_TRUE(facts.contains(resource)) << resource;
    EXPECT_EQ(facts[resource].resource, resource);
    EXPECT_TRUE(facts[resource].is_listed) << resource;
    EXPECT_GE(facts[resource].lists, 1u) << resource;
    EXPECT_EQ(facts[resource].unreadable, 0u) << resource;
    EXPECT_EQ(facts[resource].expired, 0u) << resource;
    EXPECT_LT(facts[resource].silent.value_or(Millis::max()), Millis(10'000)) << resource;
  }
  EXPECT_EQ(facts["pods"].objects, 2u);
  EXPECT_EQ(facts["nodes"].objects, 1u);
  EXPECT_EQ(facts["namespaces"].objects, 0u);
  EXPECT_EQ(watches.known_nodes(), 1u);
  EXPECT_EQ(watches.known_pods(), 2u);
  watches.stop();
  std::map<std::string_view, ProcessFacts::Watch> after;
  watches.add_facts(after);
  EXPECT_TRUE(after.empty());
  EXPECT_EQ(watches.known_nodes(), 0u);
  EXPECT_EQ(watches.known_pods(), 0u);
}

TEST(WatchFacts, AreSeriesOfTheMetrics) {
  ProcessFacts facts;
  facts.version = "1.2";
  facts.is_leading = true;
  facts.requests = 11;
  facts.request_failures = 12;
  facts.replicas_given_up = 13;
  facts.is_replica_given_up = true;
  facts.watches["pods"] = {.resource = "pods",
                           .lists = 3,
                           .watches = 4,
                           .events = 5,
                           .errors = 6,
                           .objects = 7,
                           .unreadable = 8,
                           .silent = Millis(1'500),
                           .is_listed = true,
                           .expired = 9};
  facts.watches["nodes"] = {.resource = "nodes"};
  SchedulerMetrics metrics;
  const std::string text = metrics.text(nullptr, facts);
  for (const char* line :
       {"ashlar_build_info{version=\"1.2\"} 1\n", "ashlar_leader 1\n", "ashlar_ready 0\n", "ashlar_readers_differ 1\n",
        "ashlar_readers_given_up_total 13\n", "ashlar_http_client_requests_total 11\n",
        "ashlar_http_client_failures_total 12\n", "ashlar_watch_lag_seconds{resource=\"pods\"} 1.5\n",
        "ashlar_watch_events_total{resource=\"pods\"} 5\n", "ashlar_watch_relists_total{resource=\"pods\"} 3\n",
        "ashlar_watch_expired_total{resource=\"pods\"} 9\n", "ashlar_watch_errors_total{resource=\"pods\"} 6\n",
        "ashlar_watch_objects{resource=\"pods\"} 7\n", "ashlar_watch_listed{resource=\"pods\"} 1\n",
        "ashlar_watch_listed{resource=\"nodes\"} 0\n", "ashlar_unreadable_objects{resource=\"pods\"} 8\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  EXPECT_EQ(text.find("ashlar_watch_lag_seconds{resource=\"nodes\"}"), std::string::npos)
      << "not watched yet: no lag, rather than 0";
}

}  // namespace
}  // namespace ashlar::kube
