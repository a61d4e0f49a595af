// Every key of a scenario's work at its edges: what is taken as it stands, and the whole message where it is not.
#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"

namespace ashlar::sim {
namespace {

std::string message_of(const std::string& text) {
  const auto scenario = parse_scenario(text, "s");
  return scenario.ok() ? "no error" : scenario.error().message;
}

const std::string kNode = "nodes: [{cpu: 8, memory: 1Gi, gpus: 8, model: A}]\n";

struct Line {
  const char* text;
  const char* message;
};

constexpr Line kStreams[] = {
    {"{count: 1, until: 1s, jobs: [{duration: 1s}]}", "no error"},
    {"{count: 1, jobs: [{duration: 1s}]}",
     "s:3:3: arrivals[0]: expected \"rate\" or \"load\" (or \"count\" with \"until\" or a horizon), got none"},
    {"{until: 1s, jobs: [{duration: 1s}]}",
     "s:3:3: arrivals[0]: expected \"rate\" or \"load\" (or \"count\" with \"until\" or a horizon), got none"},
    {"{rate: 1/h, jobs: [{duration: 1s}]}",
     "s:3:3: arrivals[0]: expected an end: \"count\" or \"until\" here, or \"horizon\" of the scenario"},
    {"{rate: 1/h, count: 0, jobs: [{duration: 1s}]}",
     "s:3:22: arrivals[0].count: expected a number of jobs, a whole number 1..100000000, got \"0\""},
    {"{rate: 1/h, count: 100000000, jobs: [{duration: 1s}]}", "no error"},
    {"{rate: 1/h, count: 100000001, jobs: [{duration: 1s}]}",
     "s:3:22: arrivals[0].count: expected a number of jobs, a whole number 1..100000000, got \"100000001\""},
    {"{rate: 1/h, until: 1s, jobs: [{duration: 1s}]}", "no error"},
    {"{rate: 1/h, until: 1s, start: 1s, jobs: [{duration: 1s}]}",
     "s:3:3: arrivals[0]: expected \"start\" before \"until\" and the horizon"},
    {"{rate: 1/h, until: 1s, seed: -1, jobs: [{duration: 1s}]}",
     "s:3:32: arrivals[0].seed: expected a seed, a whole number from 0, got \"-1\""},
    {"{rate: 1/h, until: 1s, seed: 0, jobs: [{duration: 1s}]}", "no error"},
    {"{rate: 1/h, until: 1s, process: poison, jobs: [{duration: 1s}]}",
     "s:3:35: arrivals[0].process: expected poisson or uniform, got \"poison\"; did you mean \"poisson\"?"},
    {"{load: 0.5, until: 1s, jobs: [{duration: 1s}]}",
     "s:3:10: arrivals[0].load: expected jobs that request GPUs, which make up the load"},
    {"{load: 0.5, until: 1s, jobs: [{gpus: 1, duration: 1s}]}", "no error"},
    {"{load: 100, until: 1s, jobs: [{gpus: 1, duration: 1s}]}", "no error"},
    {"{load: 100.5, until: 1s, jobs: [{gpus: 1, duration: 1s}]}",
     "s:3:10: arrivals[0].load: expected the requested fraction of all GPUs, such as 0.85, got \"100.5\""},
    {"{load: 0.5, rate: 1/h, until: 1s, jobs: [{gpus: 1, duration: 1s}]}",
     "s:3:3: arrivals[0]: expected either \"rate\" or \"load\", got both"},
    {"{rate: 1/h, count: 1}", "s:3:3: arrivals[0]: expected the key \"jobs\": a list of job shapes"},
    {"{rate: 1/h, count: 1, jobs: []}", "s:3:3: arrivals[0]: expected at least one job shape in \"jobs\", got none"},
    {"{rate: 1/h, count: 1, jobs: {gpus: 1}}", "s:3:31: arrivals[0].jobs: expected a list (- ...), got a map"},
};

constexpr Line kJobs[] = {
    {"{gpus: 8}",
     "s:6:5: arrivals[0].jobs[0]: expected the key \"duration\": a time, or a distribution such as {exponential: 1h}"},
    {"{duration: 0.5}", "no error"},
    {"{duration: {fixed: 1s}}", "no error"},
    {"{duration: {fixed: 0s}}", "s:6:16: arrivals[0].jobs[0].duration: expected a time above 0, got 0"},
    {"{duration: {fixed: 1s, exponential: 1s}}",
     "s:6:16: arrivals[0].jobs[0].duration: expected exactly one of fixed, exponential, lognormal, uniform, "
     "got 2"},
    {"{duration: {lognorm: {median: 1s, sigma: 1}}}",
     "s:6:17: arrivals[0].jobs[0].duration: unknown key \"lognorm\"; did you mean \"lognormal\"?"},
    {"{duration: {max: 1s}}",
     "s:6:16: arrivals[0].jobs[0].duration: expected one of fixed, exponential, lognormal, uniform, got none"},
    {"{duration: {lognormal: {median: 1s, sigm: 1}}}",
     "s:6:41: arrivals[0].jobs[0].duration.lognormal: unknown key \"sigm\"; did you mean \"sigma\"?"},
    {"{duration: {lognormal: {sigma: 1}}}",
     "s:6:28: arrivals[0].jobs[0].duration.lognormal: expected the key \"median\": a time such as 90s, 5m, 1h30m or "
     "2d, at most 100 years"},
    {"{duration: {lognormal: {median: 1s}}}",
     "s:6:28: arrivals[0].jobs[0].duration.lognormal: expected the key \"sigma\": the standard deviation of the "
     "logarithm, 0..10"},
    {"{duration: {lognormal: {median: 1s, sigma: 0}}}", "no error"},
    {"{duration: {lognormal: {median: 1s, sigma: 10}}}", "no error"},
    {"{duration: {lognormal: {median: 1s, sigma: 10.5}}}",
     "s:6:48: arrivals[0].jobs[0].duration.lognormal.sigma: expected the standard deviation of the logarithm, 0..10, "
     "got \"10.5\""},
    {"{duration: {lognormal: {median: 1s, sigma: 1, mean: 1s}}}",
     "s:6:51: arrivals[0].jobs[0].duration.lognormal: unknown key \"mean\"; known: median, sigma"},
    {"{duration: {lognormal: 1s}}",
     "s:6:28: arrivals[0].jobs[0].duration.lognormal: expected a map (key: value), got \"1s\""},
    {"{duration: {uniform: {from: 1s}}}",
     "s:6:26: arrivals[0].jobs[0].duration.uniform: expected the key \"to\": a time such as 90s, 5m, 1h30m or 2d, at "
     "most 100 years"},
    {"{duration: {uniform: {to: 1s}}}",
     "s:6:26: arrivals[0].jobs[0].duration.uniform: expected the key \"from\": a time such as 90s, 5m, 1h30m or 2d, at "
     "most 100 years"},
    {"{duration: {uniform: {from: 2s, to: 1s}}}",
     "s:6:41: arrivals[0].jobs[0].duration.uniform.to: expected a time not before \"from\""},
    {"{duration: {uniform: {from: 0s, to: 0s}}}", "no error"},
    {"{duration: {uniform: {from: 1s, to: 2s, by: 1s}}}",
     "s:6:45: arrivals[0].jobs[0].duration.uniform: unknown key \"by\"; known: from, to"},
    {"{duration: {fixed: 1s, min: 1s, max: 1s}}", "no error"},
    {"{duration: {fixed: 1s, mean: 1s}}",
     "s:6:28: arrivals[0].jobs[0].duration: unknown key \"mean\"; known: fixed, exponential, lognormal, uniform, min, "
     "max"},
    {"{duration: 1s, estimate: {error: 0}}", "no error"},
    {"{duration: 1s, estimate: {error: 11}}",
     "s:6:38: arrivals[0].jobs[0].estimate.error: expected the standard deviation of the logarithm of estimate / "
     "duration, 0..10, got \"11\""},
    {"{duration: 1s, estimate: {}}",
     "s:6:30: arrivals[0].jobs[0].estimate: expected the key \"error\": the standard deviation of the logarithm of "
     "estimate / duration, 0..10"},
    {"{duration: 1s, estimate: {error: 1, bias: 2}}",
     "s:6:41: arrivals[0].jobs[0].estimate: unknown key \"bias\"; known: p90, error"},
    {"{duration: 1s, estimate: {p90: 1}}", "no error"},
    {"{duration: 1s, estimate: {error: 1, p90: 1000000}}", "no error"},
    {"{duration: 1s, estimate: {p90: 0.9}}",
     "s:6:36: arrivals[0].jobs[0].estimate.p90: expected the p90 as a multiple of the estimate, 1..1000000, got "
     "\"0.9\""},
    {"{duration: 1s, estimate: [exact]}", "s:6:30: arrivals[0].jobs[0].estimate: expected one value, got a list"},
    {"{duration: 1s, members: 0}",
     "s:6:29: arrivals[0].jobs[0].members: expected the size of the gang, a whole number from 1, got \"0\""},
    {"{duration: 1s, members: 1000000}", "no error"},
    {"{duration: 1s, members: 1000001}",
     "s:6:29: arrivals[0].jobs[0].members: expected the size of the gang, a whole number from 1, got \"1000001\""},
    {"{duration: 1s, gpus: 128}", "no error"},
    {"{duration: 1s, gpus: 129}",
     "s:6:26: arrivals[0].jobs[0].gpus: expected the GPUs of each member, a whole number 0..128, got \"129\""},
    {"{duration: 1s, gpus: -1}",
     "s:6:26: arrivals[0].jobs[0].gpus: expected the GPUs of each member, a whole number 0..128, got \"-1\""},
    {"{duration: 1s, gpu_milli: 0}",
     "s:6:31: arrivals[0].jobs[0].gpu_milli: expected thousandths of the GPU, a whole number 1..1000, got \"0\""},
    {"{duration: 1s, gpu_milli: 1000}", "no error"},
    {"{duration: 1s, gpu_milli: 1001}",
     "s:6:31: arrivals[0].jobs[0].gpu_milli: expected thousandths of the GPU, a whole number 1..1000, got \"1001\""},
    {"{duration: 1s, groups: [{cpu: 1}, {members: 4, gpus: 8}], kinds: 10000}", "no error"},
    {"{duration: 1s, groups: []}",
     "s:6:28: arrivals[0].jobs[0].groups: expected at least one group of members, got none"},
    {"{duration: 1s, groups: [{gpus: 1}], cpu: 1}",
     "s:6:46: arrivals[0].jobs[0].cpu: expected it in the items of \"groups\", not beside them"},
    {"{duration: 1s, groups: [{gpus: 1, within: node, prefer: node}]}", "no error"},
    {"{duration: 1s, groups: [{members: 0}]}",
     "s:6:39: arrivals[0].jobs[0].groups[0].members: expected the number of members of the group, a whole number from "
     "1, "
     "got \"0\""},
    {"{duration: 1s, groups: [{gpus: 1, within: hall}]}",
     "s:6:47: arrivals[0].jobs[0].groups[0].within: there is no level \"hall\"; known: node"},
    {"{duration: 1s, groups: [{gpus: 1, kinds: 2}]}",
     "s:6:39: arrivals[0].jobs[0].groups[0]: unknown key \"kinds\"; known: members, gpus, gpu_milli, gpu_memory, cpu, "
     "memory, models, capabilities, within, prefer"},
    {"{duration: 1s, groups: [{members: 1000000}, {}]}",
     "s:6:28: arrivals[0].jobs[0].groups: expected at most 1000000 members in all, got 1000001"},
    {"{duration: 1s, kinds: 0}",
     "s:6:27: arrivals[0].jobs[0].kinds: expected a number of kinds, a whole number 1..10000, got \"0\""},
    {"{duration: 1s, priority: 2147483647}", "no error"},
    {"{duration: 1s, priority: 2147483648}",
     "s:6:30: arrivals[0].jobs[0].priority: expected a priority, a whole number, got \"2147483648\""},
    {"{duration: 1s, weight: 0}", "s:6:28: arrivals[0].jobs[0].weight: expected a weight above 0, got \"0\""},
    {"{duration: 1s, weight: 1e10}", "s:6:28: arrivals[0].jobs[0].weight: expected a weight above 0, got \"1e10\""},
    {"{duration: 1s, cpu: x}", "s:6:25: arrivals[0].jobs[0].cpu: expected CPU cores such as 8, 0.5 or 500m, got \"x\""},
    {"{duration: 1s, memory: x}",
     "s:6:28: arrivals[0].jobs[0].memory: expected memory such as 64Gi, 512Mi or 1Ti, got \"x\""},
    {"{duration: 1s, gpu_memory: x}", "s:6:32: arrivals[0].jobs[0].gpu_memory: \"x\" is not a quantity such as 40Gi"},
    {"{duration: 1s, gpu_memory: 40}",
     "s:6:32: arrivals[0].jobs[0].gpu_memory: \"40\" is less than 1Mi; name the unit (40Gi)"},
    {"{duration: 1s, estimate: exakt}",
     "s:6:30: arrivals[0].jobs[0].estimate: expected exact, none or {error: SIGMA, p90: FACTOR}, got \"exakt\"; did "
     "you mean "
     "\"exact\"?"},
    {"{duration: 1s, models: [A, [B]]}", "s:6:32: arrivals[0].jobs[0].models[1]: expected a word, got a list"},
    {"{duration: 1s, models: {A: 1}}", "s:6:28: arrivals[0].jobs[0].models: expected a list (- ...), got a map"},
    {"{duration: 1s, models: A}", "no error"},
    {"{duration: 1s, models: C}", "s:6:28: arrivals[0].jobs[0].models: there is no model \"C\"; known: A"},
    {"{duration: 1s, within: node, prefer: node}", "no error"},
    {"{duration: 1s, within: nod}",
     "s:6:28: arrivals[0].jobs[0].within: there is no level \"nod\"; did you mean \"node\"?"},
    {"{duration: 1s, queue: default}", "no error"},
    {"{duration: 1s, queue: other}", "s:6:27: arrivals[0].jobs[0].queue: there is no queue \"other\"; known: default"},
    {"{duration: 1s, queues: {default: 0}}",
     "s:6:38: arrivals[0].jobs[0].queues.default: expected a weight above 0, got \"0\""},
    {"{duration: 1s, queues: {other: 1}}", "s:6:29: arrivals[0].jobs[0].queues: unknown key \"other\"; known: default"},
    {"{duration: 1s, queues: {}}",
     "s:6:28: arrivals[0].jobs[0].queues: expected at least one queue with its weight, got none"},
    {"{duration: 1s, queue: default, queues: {default: 1}}",
     "s:6:44: arrivals[0].jobs[0].queues: expected either \"queue\" or \"queues\", got both"},
    {"{duration: 1s, colour: red}",
     "s:6:20: arrivals[0].jobs[0]: unknown key \"colour\"; known: name, weight, members, gpus, gpu_milli, gpu_memory, "
     "cpu, memory, models, capabilities, groups, kinds, within, "
     "prefer, priority, duration, estimate, queue, queues"},
    {"[gpus]", "s:6:5: arrivals[0].jobs[0]: expected a map (key: value), got a list"},
    {"3", "s:6:5: arrivals[0].jobs[0]: expected a map (key: value), got \"3\""},
};

constexpr Line kTraces[] = {
    {"{path: a, format: swf}", "no error"},
    {"{format: swf}",
     "s:2:8: trace: expected the key \"path\": the path of the trace, absolute or from the scenario's folder"},
    {"{path: a}", "s:2:8: trace: expected the key \"format\": swf or csv"},
    {"{path: a, format: tsv}", "s:2:26: trace.format: expected swf or csv, got \"tsv\"; did you mean \"csv\"?"},
    {"{path: a, format: cvs}", "s:2:26: trace.format: expected swf or csv, got \"cvs\"; did you mean \"csv\"?"},
    {"{path: a, format: csv, width: nodes}", "s:2:38: trace.width: expected gpus or cpu, got \"nodes\""},
    {"{path: a, format: csv, per_member: 0}",
     "s:2:43: trace.per_member: expected the width of one member, a whole number from 1, got \"0\""},
    {"{path: a, format: csv, per_member: 128}", "no error"},
    {"{path: a, format: csv, per_member: 129}", "s:2:43: trace.per_member: expected at most 128 GPUs on one node"},
    {"{path: a, format: csv, width: cpu, per_member: 100000}", "no error"},
    {"{path: a, format: csv, width: cpu, per_member: 100001}",
     "s:2:55: trace.per_member: expected the width of one member, a whole number from 1, got \"100001\""},
    {"{path: a, format: csv, cpu_per_gpu: x}",
     "s:2:44: trace.cpu_per_gpu: expected CPU cores such as 8, 0.5 or 500m, got \"x\""},
    {"{path: a, format: csv, memory_per_gpu: x}",
     "s:2:47: trace.memory_per_gpu: expected memory such as 64Gi, 512Mi or 1Ti, got \"x\""},
    {"{path: a, format: csv, queue: x}", "s:2:38: trace.queue: there is no queue \"x\"; known: default"},
    {"{path: a, format: csv, limit: 0}",
     "s:2:38: trace.limit: expected a number of jobs, a whole number 1..100000000, got \"0\""},
    {"{path: a, format: csv, time_scale: 0}",
     "s:2:43: trace.time_scale: expected a factor for submit times, above 0, got \"0\""},
    {"{path: a, format: csv, time_scale: 1000001}",
     "s:2:43: trace.time_scale: expected a factor for submit times, above 0, got \"1000001\""},
    {"{path: a, format: csv, speed: 1}",
     "s:2:31: trace: unknown key \"speed\"; known: path, format, width, per_member, cpu_per_gpu, memory_per_gpu, "
     "queue, priority, limit, time_scale"},
    {"{path: a, format: csv, priority: high}",
     "s:2:41: trace.priority: expected a priority, a whole number, got \"high\""},
    {"[{path: a, format: csv}, {path: b}]", "s:2:33: trace[1]: expected the key \"format\": swf or csv"},
    {"[a]", "s:2:9: trace[0]: expected a map (key: value), got \"a\""},
};

constexpr Line kFailures[] = {
    {"{mean_between: 30d, for: 1h, start: 1h, until: 90d, seed: 3}", "no error"},
    {"{mean_between: 30d}", "s:2:12: failures[0]: expected an end: \"until\" here, or \"horizon\" of the scenario"},
    {"{mean_between: 0s, until: 1h}", "s:2:27: failures[0].mean_between: expected a time above 0, got 0"},
    {"{mean_between: 30d, start: 1h, until: 1h}",
     "s:2:12: failures[0]: expected \"start\" before \"until\" and the horizon"},
    {"{mean_between: 30d, until: 1h, node: node-0}",
     "s:2:49: failures[0].node: expected no \"node\" beside \"mean_between\", which is of every node"},
    {"{mean_between: 1ms, start: 59m, until: 1h}", "no error"},
    {"{mean_between: 1ms, until: 1h}",
     "s:2:27: failures[0].mean_between: expected at most 1000000 failures in all, got about 3600000"},
    {"{mean_between: 30d, until: 1h, to: 1h}",
     "s:2:43: failures[0]: unknown key \"to\"; known: mean_between, for, start, until, seed, node, at"},
};

TEST(ScenarioFields, OfRandomFailures) {
  for (const Line& line : kFailures)
    EXPECT_EQ(message_of(kNode + "failures: [" + line.text +
                         "]\narrivals: [{rate: 1/h, count: 1, jobs: [{duration: 1s}]}]\n"),
              line.message)
        << line.text;
}

constexpr Line kMaintenances[] = {
    {"{node: node-0, at: 1h, for: 2h}, {node: node-0, at: 10m}", "no error"},
    {"{at: 1h}", "s:2:15: maintenance[0]: expected the key \"node\": the name of a node"},
    {"{node: node-0}",
     "s:2:15: maintenance[0]: expected the key \"at\": a time such as 90s, 5m, 1h30m or 2d, at most 100 years"},
    {"{node: node-1, at: 1h}", "s:2:22: maintenance[0].node: there is no node \"node-1\"; did you mean \"node-0\"?"},
    {"{node: node-0, at: 1h, for: 0s}", "s:2:43: maintenance[0].for: expected a time above 0, got 0"},
    {"{node: node-0, at: 1h, until: 2h}",
     "s:2:38: maintenance[0]: unknown key \"until\"; known: node, at, for, announced"},
};

constexpr Line kClasses[] = {
    {"{name: H100, models: [SXM, PCIe], capabilities: [fp8]}, {name: L4, capabilities: mig}", "no error"},
    {"{models: [a]}", "s:2:11: classes[0]: expected the key \"name\": the name of a device class, such as H100"},
    {"{name: a, modles: [b]}", "s:2:21: classes[0]: unknown key \"modles\"; did you mean \"models\"?"},
    {"{name: a, models: [b]}, {name: c, models: [b]}",
     "s:2:53: classes[1].models: the model \"b\" is listed by the device class \"a\" too"},
    {"{name: a}, {name: a}", "s:2:29: classes[1].name: there are two device classes \"a\""},
    {"{name: a, capabilities: [fp 8]}",
     "s:2:35: classes[0].capabilities: \"fp 8\" is not the name of a capability; use at most 63 letters, digits, '-', "
     "'_' and '.'"},
};

TEST(ScenarioFields, OfClasses) {
  const auto with_classes = [](const std::string& classes, const std::string& job) {
    return message_of(kNode + "classes: [" + classes + "]\narrivals: [{rate: 1/h, count: 1, jobs: [{" + job + "}]}]\n");
  };
  for (const Line& line : kClasses) EXPECT_EQ(with_classes(line.text, "duration: 1s"), line.message) << line.text;
  const std::string two = "{name: H100, models: [SXM], capabilities: [fp8]}, {name: A, capabilities: [mig]}";
  EXPECT_EQ(with_classes(two, "duration: 1s, models: [H100, SXM, A], capabilities: [mig, fp8]"), "no error");
  EXPECT_EQ(with_classes(two, "duration: 1s, capabilities: fp9"),
            "s:3:70: arrivals[0].jobs[0].capabilities: there is no capability \"fp9\"; did you mean \"fp8\"?");
}

TEST(ScenarioFields, OfMaintenances) {
  for (const Line& line : kMaintenances)
    EXPECT_EQ(message_of(kNode + "maintenance: [" + line.text +
                         "]\narrivals: [{rate: 1/h, count: 1, jobs: [{duration: 1s}]}]\n"),
              line.message)
        << line.text;
}

TEST(ScenarioFields, OfStreams) {
  for (const Line& line : kStreams)
    EXPECT_EQ(message_of(kNode + "arrivals:\n- " + line.text + "\n"), line.message) << line.text;
}

TEST(ScenarioFields, OfJobs) {
  for (const Line& line : kJobs)
    EXPECT_EQ(message_of(kNode + "arrivals:\n- rate: 1/h\n  count: 1\n  jobs:\n  - " + line.text + "\n"), line.message)
        << line.text;
}

TEST(ScenarioFields, OfTraces) {
  for (const Line& line : kTraces)
    EXPECT_EQ(message_of(kNode + "trace: " + line.text + "\n"), line.message) << line.text;
}

TEST(ScenarioFields, ALoadNeedsDevices) {
  EXPECT_EQ(
      message_of("nodes: [{cpu: 1, memory: 1Gi}]\narrivals: [{load: 1, count: 1, jobs: [{gpus: 1, duration: 1s}]}]\n"),
      "s:2:19: arrivals[0].load: expected nodes with GPUs, of which the load is a fraction");
}

TEST(ScenarioFields, WhatIsNotSaidHasItsDefault) {
  const auto scenario = parse_scenario(
      kNode +
          "arrivals: [{rate: 1/h, count: 1, jobs: [{duration: 1s}]}, {rate: 1/h, count: 1, jobs: [{duration: 1s}]}]\n",
      "s");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  EXPECT_EQ(scenario->seed, 1u);
  EXPECT_EQ(scenario->nodes[0].pods, 110);
  EXPECT_EQ(scenario->nodes[0].gpu_memory, MiB(0));
  const ArrivalStream &first = scenario->arrivals[0], &second = scenario->arrivals[1];
  EXPECT_EQ(first.name, "stream-0");
  EXPECT_EQ(second.name, "stream-1");
  EXPECT_EQ(first.seed, 1 + 0x9e3779b97f4a7c15ull);
  EXPECT_EQ(second.seed, 1 + 2 * 0x9e3779b97f4a7c15ull);
  EXPECT_EQ(first.process, ArrivalStream::Process::kPoisson);
  EXPECT_EQ(first.start, Millis(0));
  const JobShape& shape = first.jobs[0];
  EXPECT_EQ(shape.weight, 1);
  EXPECT_EQ(shape.groups[0].members, 1);
  EXPECT_EQ(shape.groups[0].gpus, 0);
  EXPECT_EQ(shape.priority, 0);
  EXPECT_EQ(shape.groups[0].cpu, MilliCores(0));
  EXPECT_EQ(shape.groups[0].memory, Bytes(0));
  EXPECT_EQ(shape.groups[0].gpu_memory, MiB(0));
  EXPECT_TRUE(shape.has_estimate);
  EXPECT_EQ(shape.estimate_error, 0);
  EXPECT_EQ(shape.late_factor, 1);
  EXPECT_EQ(shape.queues, (std::vector<std::pair<std::int32_t, double>>{{0, 1.0}}));
}

TEST(ScenarioFields, AmountsAreInTheirUnits) {
  const auto scenario = parse_scenario(
      kNode +
          "trace: [{path: /x/a, format: csv, cpu_per_gpu: 0.5, memory_per_gpu: 1Ki, limit: 7, time_scale: 0.5}, "
          "{path: /x/b, format: csv, priority: -3}]\n"
          "arrivals: [{rate: 1/h, count: 1, jobs: [{duration: 1s, gpus: 2, gpu_memory: 3Gi, cpu: 1.5, memory: 2Ki, "
          "priority: -3, name: n}]}]\n",
      "dir/s");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  const ScenarioTrace& trace = scenario->traces[0];
  EXPECT_EQ(trace.path, "/x/a");
  EXPECT_FALSE(trace.is_processors);
  EXPECT_EQ(trace.format, ScenarioTrace::Format::kCsv);
  EXPECT_EQ(trace.gpus_per_member, 8);
  EXPECT_EQ(trace.cpu_per_gpu, MilliCores(500));
  EXPECT_EQ(trace.memory_per_gpu, Bytes(1024));
  EXPECT_EQ(trace.limit, 7);
  EXPECT_EQ(trace.time_scale, 0.5);
  EXPECT_EQ(trace.priority, 0);
  EXPECT_EQ(scenario->traces.at(1).priority, -3);
  const JobShape& shape = scenario->arrivals[0].jobs[0];
  EXPECT_EQ(shape.groups[0].gpu_memory, MiB(3072));
  EXPECT_EQ(shape.groups[0].cpu, MilliCores(1500));
  EXPECT_EQ(shape.groups[0].memory, Bytes(2048));
  EXPECT_EQ(shape.priority, -3);
  EXPECT_EQ(shape.name, "n");
}

}  // namespace
}  // namespace ashlar::sim
