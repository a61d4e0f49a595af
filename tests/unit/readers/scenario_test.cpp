#include "sim/scenario/scenario.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "files.h"
#include "sim/scenario/name_pattern.h"
#include "sim/scenario/units.h"
#include "text/amount_text.h"

namespace ashlar::sim {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

constexpr const char* kWhole = R"(title: Two teams share a hall
seed: 7
horizon: 2d
profile: [ashlar, fifo]
topology:
  - block
  - {name: rack, label: example.com/rack}
nodes:
  - count: 4
    name: "gpu-{i:2}"
    cpu: 96
    memory: 1Ti
    gpus: 8
    gpu_memory: 80Gi
    model: H100
    labels: {zone: a}
    topology: {block: "b{i/4}", rack: "r{i/2}"}
  - {cpu: 500m, memory: 512Mi, pods: 10}
queues:
  - {name: vision, parent: research}
  - {name: research, quota: {gpus: 24, cpu: 200, memory: 2Ti}}
  - {name: product}
arrivals:
  - name: training
    load: 0.85
    count: 1000
    queue: vision
    jobs:
      - {weight: 9, gpus: 1, cpu: 8, memory: 64Gi, duration: 30m}
      - name: gang
        members: 4
        gpus: 8
        within: rack
        prefer: block
        models: H100
        priority: 10
        duration: {lognormal: {median: 1h, sigma: 1.5}, min: 1m, max: 1d}
        estimate: {error: 0.4}
        queues: {vision: 3, product: 1}
  - {process: uniform, rate: 120/h, start: 1h, until: 3h, seed: 5, queue: product, jobs: [{gpu_milli: 500, duration: {exponential: 10m}, estimate: none}]}
failures:
  - {node: gpu-03, at: 5h, for: 30m}
  - {node: gpu-01, at: 1h}
)";

Scenario parsed(const std::string& text) {
  auto scenario = parse_scenario(text, "dir/s.yaml");
  EXPECT_TRUE(scenario.ok()) << scenario.error().message;
  return scenario.ok() ? *scenario : Scenario{};
}

TEST(Scenario, ReadsHeadTopologyAndNodes) {
  const Scenario s = parsed(kWhole);
  EXPECT_EQ(s.title, "Two teams share a hall");
  EXPECT_EQ(s.horizon, Millis(172'800'000));
  EXPECT_THAT(s.profiles, ElementsAre("ashlar", "fifo"));
  ASSERT_EQ(s.levels.size(), 2u);
  EXPECT_EQ(s.levels[0].label, "ashlar.dev/block");
  EXPECT_EQ(s.levels[1].label, "example.com/rack");
  ASSERT_EQ(s.nodes.size(), 5u);
  EXPECT_EQ(s.devices(), 32);
  EXPECT_EQ(s.nodes[3].name, "gpu-03");
  EXPECT_EQ(s.nodes[3].gpu_memory, MiB(81920));
  EXPECT_THAT(s.nodes[3].labels,
              ElementsAre(Pair("ashlar.dev/block", "b0"), Pair("example.com/rack", "r1"), Pair("zone", "a")));
  EXPECT_EQ(s.nodes[4].name, "node-4");
  EXPECT_EQ(s.nodes[4].cpu, MilliCores(500));
  EXPECT_EQ(s.nodes[4].pods, 10);
}

/// The scenario's only node.
Result<ScenarioNode> node_of(const std::string& gpus) {
  const auto scenario = parse_scenario(
      "nodes: [{cpu: 8, memory: 1Gi, " + gpus + "}]\narrivals: [{count: 1, rate: 1/h, jobs: [{duration: 1s}]}]\n", "s");
  if (!scenario) return scenario.error();
  return scenario->nodes.at(0);
}

TEST(Scenario, ReadsGpusThatAreNotAlike) {
  const auto node = node_of(
      "model: A, gpu_memory: 40Gi, islands: 2, numa: 1, switches: 4, gpus: [{count: 2, model: H, gpu_memory: 80Gi}, "
      "{}, {sliced: true}]");
  ASSERT_TRUE(node.ok()) << node.error().message;
  EXPECT_EQ(node->gpus, 4);
  const auto device = [](const char* model, std::int64_t gib, std::uint8_t island, std::uint8_t pcie_switch) {
    return ScenarioDevice{.model = model, .memory = MiB(gib * 1024), .island = island, .pcie_switch = pcie_switch};
  };
  ScenarioDevice sliced = device("A", 40, 1, 3);
  sliced.is_sliced = true;
  EXPECT_THAT(node->devices, ElementsAre(device("H", 80, 0, 0), device("H", 80, 0, 1), device("A", 40, 1, 2), sliced));
}

TEST(Scenario, GpusThatAreAlikeAreANumber) {
  for (const char* const gpus :
       {"model: A, gpus: 2", "model: A, gpus: [{count: 2}]", "model: A, islands: 1, gpus: [{}, {sliced: false}]"}) {
    const auto node = node_of(gpus);
    ASSERT_TRUE(node.ok()) << node.error().message;
    EXPECT_EQ(node->gpus, 2);
    EXPECT_TRUE(node->devices.empty()) << gpus;
  }
}

TEST(Scenario, MistakesInGpusAreNamed) {
  const auto mistake_in = [](const std::string& gpus) {
    const auto node = node_of(gpus);
    return node.ok() ? "no error" : node.error().message.substr(node.error().message.find("nodes[0]"));
  };
  EXPECT_EQ(mistake_in("gpus: [{count: 0}]"),
            "nodes[0].gpus[0].count: expected the number of like GPUs, a whole number 1..128, got \"0\"");
  EXPECT_EQ(mistake_in("gpus: [{count: 100}, {count: 29}]"),
            "nodes[0].gpus: expected at most 128 GPUs on one node, got 129");
  EXPECT_EQ(mistake_in("gpus: [{slice: true}]"), "nodes[0].gpus[0]: unknown key \"slice\"; did you mean \"sliced\"?");
  EXPECT_EQ(mistake_in("gpus: [{sliced: 1}]"), "nodes[0].gpus[0].sliced: expected true or false, got \"1\"");
  EXPECT_EQ(mistake_in("gpus: 8, islands: 3"),
            "nodes[0].islands: expected a number by which 8 GPUs can be divided, got \"3\"");
  EXPECT_EQ(mistake_in("switches: 2"), "nodes[0].switches: expected it only on nodes with GPUs");
  EXPECT_EQ(mistake_in("gpus: {count: 4}"),
            "nodes[0].gpus: expected a number, or a list such as [{count: 4, model: H100}], got a map");
}

TEST(Scenario, PutsParentQueuesBeforeTheirChildren) {
  const Scenario s = parsed(kWhole);
  ASSERT_EQ(s.queues.size(), 3u);
  EXPECT_EQ(s.queues[0].name, "research");
  EXPECT_EQ(s.queues[0].quota[0], 24'000);
  EXPECT_EQ(s.queues[1].name, "product");
  EXPECT_EQ(s.queues[2].name, "vision");
  EXPECT_EQ(s.queues[2].parent, 0);
  EXPECT_EQ(s.queues[2].quota[0], kUnlimited);
}

TEST(Scenario, ReadsArrivalStreams) {
  const Scenario s = parsed(kWhole);
  ASSERT_EQ(s.arrivals.size(), 2u);
  const ArrivalStream& training = s.arrivals[0];
  EXPECT_EQ(training.load, 0.85);
  EXPECT_EQ(training.count, 1000);
  ASSERT_EQ(training.jobs.size(), 2u);
  EXPECT_THAT(training.jobs[0].queues, ElementsAre(Pair(2, 1.0)));
  EXPECT_DOUBLE_EQ(training.jobs[0].duration.first, 1800);
  const JobShape& gang = training.jobs[1];
  EXPECT_EQ(gang.groups[0].members, 4);
  EXPECT_EQ(gang.within, "rack");
  EXPECT_EQ(gang.duration.kind, DurationDistribution::Kind::kLognormal);
  EXPECT_DOUBLE_EQ(gang.duration.second, 1.5);
  EXPECT_EQ(gang.duration.max, Millis(86'400'000));
  EXPECT_DOUBLE_EQ(gang.estimate_error, 0.4);
  EXPECT_THAT(gang.queues, ElementsAre(Pair(1, 1.0), Pair(2, 3.0)));
  const ArrivalStream& uniform = s.arrivals[1];
  EXPECT_EQ(uniform.rate_per_hour, 120);
  EXPECT_EQ(uniform.seed, 5u);
  EXPECT_EQ(uniform.jobs[0].groups[0].gpus, 1);
  EXPECT_EQ(uniform.jobs[0].groups[0].milli_each, MilliGpu(500));
  EXPECT_FALSE(uniform.jobs[0].has_estimate);
}

TEST(Scenario, OrdersFailuresByTime) {
  const Scenario s = parsed(kWhole);
  ASSERT_EQ(s.failures.size(), 2u);
  EXPECT_EQ(s.failures[0].node, 1u);
  EXPECT_EQ(s.failures[0].lasts, std::nullopt);
  EXPECT_EQ(s.failures[1].lasts, Millis(1'800'000));
}

constexpr const char* kSmall = R"(nodes: [{cpu: 8, memory: 1Gi, gpus: 8}]
trace: {path: jobs.swf.gz, format: swf, width: cpu, per_member: 16, limit: 10}
)";

TEST(Scenario, OrdersMaintenancesByTime) {
  const Scenario s =
      parsed(std::string(kSmall) + "maintenance: [{node: node-0, at: 1h, for: 1ms}, {node: node-0, at: 10m}]\n");
  ASSERT_EQ(s.holds.size(), 2u);
  EXPECT_EQ(s.holds[0].at, Millis(600'000));
  EXPECT_EQ(s.holds[0].lasts, std::nullopt);
  EXPECT_EQ(s.holds[1].at, Millis(3'600'000));
  EXPECT_EQ(s.holds[1].lasts, Millis(1));
}

TEST(Scenario, OrdersHoldsByTheTimeWhenTheyAreAnnounced) {
  const Scenario s = parsed(std::string(kSmall) +
                            "queues: [{name: a}, {name: b, parent: a}]\n"
                            "maintenance: [{node: node-0, at: 1h}]\n"
                            "reservations: [{node: node-0, queue: a, at: 2h, for: 1h, announced: 90m}, {node: node-0, "
                            "queue: b, at: 1m, announced: 1h}]\n");
  ASSERT_EQ(s.holds.size(), 3u);
  EXPECT_EQ(s.holds[0].queue, 1);
  EXPECT_EQ(s.holds[0].announced, Millis(60'000)) << "at the start at the earliest";
  EXPECT_EQ(s.holds[1].queue, 0);
  EXPECT_EQ(s.holds[1].lasts, Millis(3'600'000));
  EXPECT_EQ(s.holds[2].queue, -1);
}

TEST(Scenario, FailureProcessesDrawFromSeedsOfTheirOwn) {
  const Scenario s =
      parsed(std::string(kSmall) + "failures: [{mean_between: 1d, until: 2d}, {mean_between: 1d, until: 2d}]\n");
  ASSERT_EQ(s.failure_processes.size(), 2u);
  EXPECT_NE(s.failure_processes[0].seed, s.seed);
  EXPECT_NE(s.failure_processes[0].seed, s.failure_processes[1].seed);
}

TEST(Scenario, ATraceStandsInTheScenariosFolder) {
  const Scenario s = parsed(kSmall);
  ASSERT_EQ(s.traces.size(), 1u);
  EXPECT_EQ(s.traces[0].path, "dir/jobs.swf.gz");
  EXPECT_TRUE(s.traces[0].is_processors);
  EXPECT_EQ(s.traces[0].queue, 0);
  EXPECT_EQ(s.queues[0].name, "default");
  EXPECT_THAT(s.profiles, ElementsAre("ashlar"));
}

struct BadEdit {
  const char* from;
  const char* to;
  const char* message;  ///< what the error must contain
};

const BadEdit kBadEdits[] = {
    {"horizon: 2d", "horizont: 2d", ":3:1: unknown key \"horizont\"; did you mean \"horizon\"?"},
    {"horizon: 2d", "horizon: soon",
     ":3:10: horizon: \"soon\" is not a duration; write for example 90s, 500ms, 1h30m or 2d"},
    {"seed: 7", "seed: -7", ":2:7: seed: expected a seed, a whole number from 0, got \"-7\""},
    {"seed: 7", "seed: [7]", ":2:7: seed: expected one value, got a list"},
    {"seed: 7", "seed: 7\n[a, b]: 8", ":3:1: expected a word as key, got a list"},
    {"seed: 7", "seed: 7\nseed: 8", ":3:1: expected every key once, got \"seed\" twice"},
    {"  - block\n", "  - rack\n", "topology[1]: expected every level and label once, got \"rack\" twice"},
    {"  - block\n", "  - node\n", "topology[0]: expected no level \"node\""},
    {"    gpus: 8\n", "    gpus: 129\n",
     ":13:11: nodes[0].gpus: expected the number of GPUs of a node, a whole number 0..128, got \"129\""},
    {"    gpus: 8\n", "    gpu: 8\n", "unknown key \"gpu\"; did you mean \"gpus\"?"},
    {"    cpu: 96\n", "    cpu: many\n", "nodes[0].cpu: expected CPU cores such as 8, 0.5 or 500m, got \"many\""},
    {"    cpu: 96\n", "", "nodes[0]: expected the key \"cpu\": CPU cores"},
    {"memory: 1Ti", "memory: 1TB", "nodes[0].memory: expected memory such as 64Gi, 512Mi or 1Ti, got \"1TB\""},
    {"gpu-{i:2}", "gpu-{x}", "nodes[0].name: expected a name that may hold {i}"},
    {"gpu-{i:2}", "gpu", "expected every node's name once, got \"gpu\" twice"},
    {"rack: \"r{i/2}\"", "wreck: r", "nodes[0].topology: unknown key \"wreck\"; did you mean \"rack\"?"},
    {"count: 4", "count: 2000000", "nodes[0].count: expected a whole number 1..1000000"},
    {"parent: research", "parent: reserch",
     "queues[0].parent: there is no queue \"reserch\"; did you mean \"research\"?"},
    {"research, quota", "research, parent: vision, quota", "expected a tree, got a circle"},
    {"{name: product}", "{name: vision}", "queues[2].name: expected every queue once"},
    {"quota: {gpus: 24", "quota: {gpus: -1", "queues[1].quota.gpus: \"-1\" is negative"},
    {"quota: {gpus: 24", "quota: {cards: 24", "unknown key \"cards\""},
    {"load: 0.85", "load: 0", "arrivals[0].load: expected the requested fraction"},
    {"load: 0.85", "load: 0.85\n    rate: 1/h", "expected either \"rate\" or \"load\", got both"},
    {"    load: 0.85\n    count: 1000\n", "", "arrivals[0]: expected \"rate\" or \"load\""},
    {"rate: 120/h", "rate: 120", "arrivals[1].rate: expected a rate such as 120/h"},
    {"process: uniform", "process: normal", "expected poisson or uniform, got \"normal\""},
    {"start: 1h, until: 3h", "start: 3h, until: 1h", "expected \"start\" before \"until\""},
    {"within: rack", "within: rak", "jobs[1].within: there is no level \"rak\"; did you mean \"rack\"?"},
    {"models: H100", "models: [H100, A100]", "jobs[1].models: there is no model \"A100\""},
    {"sigma: 1.5", "sigma: -1", "expected the standard deviation of the logarithm"},
    {"duration: 30m", "duration: 0", "duration: expected a time above 0"},
    {"duration: 30m", "duration: {normal: 3h}", "duration: unknown key \"normal\"; known: fixed, exponential"},
    {"min: 1m, max: 1d", "min: 2d, max: 1d", "expected a time not below \"min\""},
    {"queue: product", "queue: produkt", "arrivals[1].queue: there is no queue \"produkt\"; did you mean \"product\"?"},
    {"    count: 1000\n", "    counted: 1000\n", "arrivals[0]: unknown key \"counted\"; did you mean \"count\"?"},
    {"start: 1h, until: 3h", "start: 1h, till: 3h", "arrivals[1]: unknown key \"till\""},
    {"{node: gpu-01, at: 1h}", "{node: gpu-01, at: 1h, fro: 1h}", "failures[1]: unknown key \"fro\""},
    {"{name: product}", "{name: product, quotum: 1}", "queues[2]: unknown key \"quotum\""},
    {"    queue: vision\n", "", "expected \"queue\" (here or in the stream), because there are several queues"},
    {"gpu_milli: 500", "gpu_milli: 500, gpus: 2", "gpu_milli: expected no \"gpus\" beside it"},
    {"gpu_milli: 500", "gpus: 1, gpu_milli: 500", "gpu_milli: expected no \"gpus\" beside it"},
    {"estimate: none", "estimate: perfect", "expected exact, none or {error: SIGMA, p90: FACTOR}, got \"perfect\""},
    {"node: gpu-03", "node: gpu-93", "failures[0].node: there is no node \"gpu-93\"; did you mean"},
    {"at: 5h, ", "", "failures[0]: expected the key \"at\""},
    {"title: Two", "title: \"Two", "not valid YAML: "},
    {"nodes:", "nods:", "unknown key \"nods\"; did you mean \"nodes\"?"},
};

TEST(Scenario, MistakesNameFileLineColumnAndForm) {
  for (const BadEdit& edit : kBadEdits) {
    std::string text = kWhole;
    const std::size_t at = text.find(edit.from);
    ASSERT_NE(at, std::string::npos) << edit.from;
    text.replace(at, std::string(edit.from).size(), edit.to);
    const auto scenario = parse_scenario(text, "s.yaml");
    ASSERT_FALSE(scenario.ok()) << edit.message;
    EXPECT_THAT(scenario.error().message, AllOf(StartsWith("s.yaml:"), HasSubstr(edit.message)));
  }
}

TEST(Scenario, ProfilesThatAreNotThereAreNamedWithTheirPlace) {
  const std::string work =
      "nodes: [{cpu: 1, memory: 1, gpus: 8}]\narrivals: [{count: 1, until: 1s, jobs: [{gpus: 1, duration: 1s}]}]\n";
  EXPECT_THAT(parse_scenario(work + "profile: nosuch\n", "s.yaml").error().message,
              StartsWith("s.yaml:3:10: profile: unknown profile \"nosuch\""));
  EXPECT_THAT(parse_scenario(work + "profile: [ashlar, fgd]\n", "s.yaml").error().message,
              AllOf(StartsWith("s.yaml:3:10: "), HasSubstr("needs a mix")));
  EXPECT_THAT(parse_scenario(work + "profile: ./none.yaml\n", "s.yaml").error().message,
              AllOf(StartsWith("s.yaml:3:10: "), HasSubstr("none.yaml")));
}

TEST(Scenario, LimitsOfTheEngineAreRefusedInWordsAndNotMet) {
  const std::string work =
      "nodes: [{cpu: 1, memory: 1, gpus: 8}]\narrivals: [{count: 1, until: 1s, jobs: [{gpus: 1, duration: 1s}]}]\n";
  std::string levels = "topology: [l0", queues = "queues:\n  - {name: q0, quota: {gpus: 1}}\n";
  for (int i = 1; i < 16; ++i) levels += ", l" + std::to_string(i);
  EXPECT_THAT(parse_scenario(work + levels + "]\n", "s").error().message,
              HasSubstr("topology[15]: expected at most 15 levels besides \"node\""));
  for (int i = 1; i < 16; ++i)
    queues += "  - {name: q" + std::to_string(i) + ", parent: q" + std::to_string(i - 1) + "}\n";
  EXPECT_THAT(parse_scenario(work + queues, "s").error().message,
              HasSubstr("queues[15].parent: expected queues at most 15 below one another"));
  EXPECT_THAT(parse_scenario(work + "---\ntitle: two\n", "s").error().message,
              HasSubstr("s:4:1: expected one YAML document, a second one begins here"));
  EXPECT_THAT(parse_scenario("nodes: [{cpu: 1, memory: 65Ti}]\n", "s").error().message,
              HasSubstr("nodes[0].memory: expected at most 64Ti"));
}

TEST(Scenario, RefusesFilesWithoutWorkOrOfAnotherKind) {
  EXPECT_THAT(parse_scenario("nodes: [{cpu: 1, memory: 1}]\n", "s").error().message, HasSubstr("expected work"));
  EXPECT_THAT(parse_scenario("", "s").error().message, HasSubstr("s:1:1: expected a map"));
  EXPECT_THAT(parse_scenario("- a\n", "s").error().message, HasSubstr("expected a map"));
  EXPECT_THAT(parse_scenario("just words", "s").error().message, HasSubstr("expected a map"));
  EXPECT_THAT(read_scenario("absent.yaml").error().message,
              HasSubstr("absent.yaml: cannot be read: No such file or directory"));
}

TEST(Scenario, GarbageNeverCrashes) {
  std::uint32_t random = 11;
  const auto draw = [&random](std::uint32_t bound) {
    return (random = random * 1664525u + 1013904223u) / 65536 % bound;
  };
  for (int round = 0; round < 1500; ++round) {
    std::string text = round % 2 == 0 ? kWhole : kSmall;
    for (std::uint32_t edits = 1 + draw(5); edits > 0; --edits) {
      const std::size_t at = draw(static_cast<std::uint32_t>(text.size()));
      if (draw(2) == 0) {
        text.erase(at, 1 + draw(9));
      } else {
        text[at] = ":\n-{}[]\"&*!#,0"[draw(14)];
      }
      if (text.empty()) text = "-";
    }
    const auto scenario = parse_scenario(text, "s.yaml");
    EXPECT_TRUE(scenario.ok() || scenario.error().message.rfind("s.yaml:", 0) == 0);
  }
}

TEST(Scenario, DeepNestingIsAnErrorAndNotACrash) {
  for (const char* open : {"[", "{a: ", "- "}) {
    std::string text = "nodes: ";
    for (int i = 0; i < 100'000; ++i) text += open;
    EXPECT_FALSE(parse_scenario(text, "s.yaml").ok());
  }
}

RC_GTEST_PROP(Scenario, AnyTextGivesAScenarioOrAnError, (const std::string& text)) {
  static_cast<void>(parse_scenario(text, "s.yaml").ok());
}

TEST(Units, ReadAmounts) {
  EXPECT_EQ(parse_cores("0.5"), MilliCores(500));
  EXPECT_EQ(parse_cores("250m"), MilliCores(250));
  EXPECT_EQ(parse_cores("0.0001"), MilliCores(1)) << "rounded up, as Kubernetes rounds";
  EXPECT_EQ(parse_cores("-1"), std::nullopt);
  EXPECT_EQ(parse_bytes("64Gi"), Bytes(std::int64_t{64} << 30));
  EXPECT_EQ(parse_bytes("1.5k"), Bytes(1500));
  EXPECT_EQ(parse_bytes("1GiB"), Bytes(std::int64_t{1} << 30));
  EXPECT_EQ(parse_rate_per_hour("2/s"), 7200);
  EXPECT_EQ(parse_rate_per_hour("48/d"), 2);
  EXPECT_EQ(parse_rate_per_hour("0/h"), std::nullopt);
}

TEST(Units, LimitsKeepSumsWithinTheirNumbers) { EXPECT_EQ(parse_rate_per_hour("0.0000000000000001/d"), std::nullopt); }

TEST(NamePattern, WritesNumbersOut) {
  EXPECT_EQ(expand_pattern("plain", 3, 7), "plain");
  EXPECT_EQ(expand_pattern("n{i}-{n}", 3, 7), "n3-7");
  EXPECT_EQ(expand_pattern("{i/8%4:2}", 13, 0), "01");
  EXPECT_EQ(expand_pattern("{n+1:3}", 0, 41), "042");
  for (const char* bad : {"{", "}", "{}", "{x}", "{i/0}", "{i%0}", "{i:}", "{i:2/3}", "{i-1}", "{i", "{i//2}"}) {
    EXPECT_EQ(expand_pattern(bad, 1, 1), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace ashlar::sim
