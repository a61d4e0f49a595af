// The work of a scenario: streams of generated jobs, and traces.
#include <algorithm>
#include <filesystem>

#include "sim/scenario/node_gpus.h"
#include "sim/scenario/scenario_parts.h"
#include "sim/scenario/units.h"
#include "text/amount_text.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"

namespace ashlar::sim {
namespace {

constexpr double kWeightMax = 1e9;
constexpr std::string_view kWeightForm = "a weight above 0";
constexpr IntegerForm kMembers{1, 1'000'000, "the size of the gang, a whole number from 1"};
constexpr IntegerForm kGroupMembers{1, kMembers.max, "the number of members of the group, a whole number from 1"};
constexpr IntegerForm kMemberGpus{0, 128, "the GPUs of each member, a whole number 0..128"};
constexpr IntegerForm kGpuMilli{1, 1000, "thousandths of the GPU, a whole number 1..1000"};
constexpr IntegerForm kKinds{1, 10'000, "a number of kinds, a whole number 1..10000"};
constexpr IntegerForm kPriority{INT32_MIN, INT32_MAX, "a priority, a whole number"};
constexpr IntegerForm kJobs{1, kScenarioJobsMax, "a number of jobs, a whole number 1..100000000"};

double seconds(const std::optional<Millis>& time) { return time ? static_cast<double>(time->value) / 1000.0 : 0.0; }

/// The one distribution of a `duration:` map.
DurationDistribution read_distribution(YamlMap& map, YamlMistake& mistake) {
  DurationDistribution drawn;
  int kinds = 0;
  if (map.has("fixed")) {
    ++kinds;
    drawn = {.kind = DurationDistribution::Kind::kFixed, .first = seconds(map.duration("fixed")), .second = 0};
  }
  if (map.has("exponential")) {
    ++kinds;
    drawn = {
        .kind = DurationDistribution::Kind::kExponential, .first = seconds(map.duration("exponential")), .second = 0};
  }
  if (const YAML::Node* node = map.find("lognormal")) {
    ++kinds;
    YamlMap pair(mistake, *node, map.path("lognormal"));
    pair.require("median", kDurationForm);
    pair.require("sigma", "the standard deviation of the logarithm, 0..10");
    drawn = {.kind = DurationDistribution::Kind::kLognormal,
             .first = seconds(pair.duration("median")),
             .second = pair.real("sigma", 0, 10, "the standard deviation of the logarithm, 0..10").value_or(0)};
    pair.finish();
  }
  if (const YAML::Node* node = map.find("uniform")) {
    ++kinds;
    YamlMap pair(mistake, *node, map.path("uniform"));
    pair.require("from", kDurationForm);
    pair.require("to", kDurationForm);
    drawn = {.kind = DurationDistribution::Kind::kUniform,
             .first = seconds(pair.duration("from")),
             .second = seconds(pair.duration("to"))};
    if (drawn.second < drawn.first) pair.reject("to", "expected a time not before \"from\"");
    pair.finish();
  }
  if (kinds == 0) map.reject_missing("expected one of fixed, exponential, lognormal, uniform, got none");
  if (kinds > 1)
    map.reject_self("expected exactly one of fixed, exponential, lognormal, uniform, got " + std::to_string(kinds));
  return drawn;
}

/// `duration: 1h`, or a map with a distribution and optionally min and max.
DurationDistribution read_duration(YamlMap& shape, YamlMistake& mistake) {
  shape.require("duration", "a time, or a distribution such as {exponential: 1h}");
  const YAML::Node* node = shape.find("duration");
  DurationDistribution drawn;
  if (node == nullptr) return drawn;
  if (node->IsScalar()) {
    drawn.first = seconds(shape.duration("duration"));
  } else {
    YamlMap map(mistake, *node, shape.path("duration"));
    drawn = read_distribution(map, mistake);
    // a load of jobs that take no time would need infinitely many
    drawn.min = std::max(map.duration("min").value_or(Millis(1)), Millis(1));
    drawn.max = map.duration("max").value_or(Millis::max());
    if (drawn.max.value <= 0)
      map.reject("max", "expected a time above 0, got 0");
    else if (drawn.max < drawn.min)
      map.reject("max", "expected a time not below \"min\"");
    map.finish();
  }
  if (drawn.first <= 0 && drawn.kind != DurationDistribution::Kind::kUniform)
    shape.reject("duration", "expected a time above 0, got 0");
  return drawn;
}

/// A level of the topology, or "node", or empty.
std::string read_level(YamlMap& shape, const std::string& key, const Scenario& scenario) {
  const std::optional<std::string> name = shape.text(key);
  if (!name) return "";
  std::vector<std::string> names = {"node"};
  for (const ScenarioLevel& level : scenario.levels) names.push_back(level.name);
  if (std::find(names.begin(), names.end(), *name) == names.end()) {
    shape.reject(key, YamlMap::no_such("level", *name, names));
  }
  return *name;
}

using QueueShares = std::vector<std::pair<std::int32_t, double>>;

/// `queue: a` or `queues: {a: 3, b: 1}`; empty if the map has neither.
QueueShares read_queue_shares(YamlMap& map, YamlMistake& mistake, const Scenario& scenario) {
  QueueShares shares;
  if (const auto name = map.text("queue")) shares.emplace_back(queue_index(*name, map, "queue", scenario), 1.0);
  if (const YAML::Node* node = map.find("queues")) {
    if (!shares.empty()) map.reject("queues", "expected either \"queue\" or \"queues\", got both");
    YamlMap weights(mistake, *node, map.path("queues"));
    for (const std::string& name : queue_names(scenario)) {
      const auto weight = weights.real(name, 1e-9, kWeightMax, kWeightForm);
      if (weight) shares.emplace_back(queue_index(name, weights, name, scenario), *weight);
    }
    weights.finish();
    if (shares.empty()) map.reject("queues", "expected at least one queue with its weight, got none");
  }
  return shares;
}

void read_estimate(YamlMap& map, YamlMistake& mistake, JobShape& shape) {
  const YAML::Node* node = map.find("estimate");
  if (node == nullptr) return;
  if (node->IsMap()) {
    YamlMap estimate(mistake, *node, map.path("estimate"));
    constexpr std::string_view kErrorForm = "the standard deviation of the logarithm of estimate / duration, 0..10";
    if (!estimate.has("p90")) estimate.require("error", kErrorForm);
    shape.estimate_error = estimate.real("error", 0, 10, kErrorForm).value_or(0);
    shape.late_factor = estimate.real("p90", 1, 1e6, "the p90 as a multiple of the estimate, 1..1000000").value_or(1);
    estimate.finish();
    return;
  }
  const std::string word = map.text("estimate").value_or("exact");
  shape.has_estimate = word != "none";
  if (word != "none" && word != "exact")
    map.reject("estimate", YamlMap::expected("exact, none or {error: SIGMA, p90: FACTOR}", word) +
                               suggestion(word, {"exact", "none"}));
}

/// Those of the nodes, and of the classes, each once, in their order.
std::vector<std::string> models_of(const Scenario& scenario) {
  std::vector<std::string> models;
  const auto add = [&](const std::string& model) {
    if (!model.empty() && std::find(models.begin(), models.end(), model) == models.end()) models.push_back(model);
  };
  for (const ScenarioNode& node : scenario.nodes) {
    if (node.devices.empty()) add(node.model);
    for (const ScenarioDevice& device : node.devices) add(device.model);
  }
  for (const StatedClass& stated : scenario.classes) {
    add(stated.name);
    for (const std::string& model : stated.models) add(model);
  }
  return models;
}

std::vector<std::string> capabilities_of(const Scenario& scenario) {
  std::vector<std::string> all;
  for (const StatedClass& stated : scenario.classes)
    all.insert(all.end(), stated.capabilities.begin(), stated.capabilities.end());
  return all;
}

MemberShape read_members(YamlMap& map, const Scenario& scenario, const IntegerForm& members = kMembers) {
  MemberShape shape;
  shape.members = static_cast<std::int32_t>(map.integer("members", members).value_or(1));
  shape.gpus = static_cast<std::int32_t>(map.integer("gpus", kMemberGpus).value_or(0));
  if (const auto milli = map.integer("gpu_milli", kGpuMilli)) {
    shape.milli_each = MilliGpu(static_cast<std::int32_t>(*milli));
    shape.gpus = 1;
    if (map.has("gpus"))
      map.reject("gpu_milli", "expected no \"gpus\" beside it; a job requests whole GPUs or a fraction of one");
  }
  shape.gpu_memory = read_gpu_memory(map);
  shape.cpu = map.amount<MilliCores>("cpu", &parse_cores, kCoresForm).value_or(MilliCores(0));
  shape.memory = map.amount<Bytes>("memory", &parse_bytes, kBytesForm).value_or(Bytes(0));
  shape.models = map.words("models");
  for (const std::string& model : shape.models) {
    const std::vector<std::string> known = models_of(scenario);
    if (std::find(known.begin(), known.end(), model) == known.end()) {
      map.reject("models", YamlMap::no_such("model", model, known));
    }
  }
  shape.capabilities = map.words("capabilities");
  const std::vector<std::string> known = capabilities_of(scenario);
  for (const std::string& capability : shape.capabilities)
    if (std::find(known.begin(), known.end(), capability) == known.end())
      map.reject("capabilities", YamlMap::no_such("capability", capability, known));
  return shape;
}

/// The members of a shape: alike, or group by group.
std::vector<MemberShape> read_groups(YamlMap& map, YamlMistake& mistake, const Scenario& scenario) {
  const MemberShape alike = read_members(map, scenario);
  if (!map.has("groups")) return {alike};
  for (const char* const key :
       {"members", "gpus", "gpu_milli", "gpu_memory", "cpu", "memory", "models", "capabilities"})
    if (map.has(key)) map.reject(key, "expected it in the items of \"groups\", not beside them");
  std::vector<MemberShape> groups;
  std::int64_t members = 0;
  for (const auto& [item, where] : map.items("groups")) {
    YamlMap group(mistake, item, where);
    groups.push_back(read_members(group, scenario, kGroupMembers));
    groups.back().within = read_level(group, "within", scenario);
    groups.back().prefer = read_level(group, "prefer", scenario);
    group.finish();
    members += groups.back().members;
  }
  if (groups.empty()) map.reject("groups", "expected at least one group of members, got none");
  if (members > kMembers.max)
    map.reject("groups",
               "expected at most " + std::to_string(kMembers.max) + " members in all, got " + std::to_string(members));
  return groups;
}

JobShape read_shape(YamlMap& map, YamlMistake& mistake, const Scenario& scenario) {
  JobShape shape;
  shape.name = map.text("name").value_or("");
  shape.weight = map.real("weight", 1e-9, kWeightMax, kWeightForm).value_or(1);
  shape.groups = read_groups(map, mistake, scenario);
  shape.kinds = static_cast<std::int32_t>(map.integer("kinds", kKinds).value_or(1));
  shape.within = read_level(map, "within", scenario);
  shape.prefer = read_level(map, "prefer", scenario);
  shape.priority = static_cast<std::int32_t>(map.integer("priority", kPriority).value_or(0));
  shape.duration = read_duration(map, mistake);
  read_estimate(map, mistake, shape);
  shape.queues = read_queue_shares(map, mistake, scenario);
  map.finish();
  return shape;
}

/// How many jobs arrive, and when: exactly one rate, and at least one end.
void check_pace(YamlMap& map, const Scenario& scenario, const ArrivalStream& stream) {
  const int paces = (stream.rate_per_hour ? 1 : 0) + (stream.load ? 1 : 0);
  const bool has_window = stream.count && (stream.until || scenario.horizon);
  if (paces > 1) map.reject_self("expected either \"rate\" or \"load\", got both");
  if (paces == 0 && !has_window)
    map.reject_self("expected \"rate\" or \"load\" (or \"count\" with \"until\" or a horizon), got none");
  if (paces == 1 && !stream.count && !stream.until && !scenario.horizon) {
    map.reject_self("expected an end: \"count\" or \"until\" here, or \"horizon\" of the scenario");
  }
  const std::optional<Millis> end = stream.until ? stream.until : scenario.horizon;
  if (end && *end <= stream.start) map.reject_self("expected \"start\" before \"until\" and the horizon");
  if (stream.load && scenario.devices() == 0)
    map.reject("load", "expected nodes with GPUs, of which the load is a fraction");
  const bool uses_devices = std::any_of(stream.jobs.begin(), stream.jobs.end(), [](const JobShape& shape) {
    return std::any_of(shape.groups.begin(), shape.groups.end(),
                       [](const MemberShape& group) { return group.gpus > 0; });
  });
  if (stream.load && !uses_devices) map.reject("load", "expected jobs that request GPUs, which make up the load");
}

ArrivalStream read_stream(YamlMap& map, YamlMistake& mistake, const Scenario& scenario) {
  // Any odd constant keeps the streams of neighbouring seeds apart.
  constexpr std::uint64_t kStreamStep = 0x9e3779b97f4a7c15ull;
  ArrivalStream stream;
  stream.name = map.text("name").value_or("stream-" + std::to_string(scenario.arrivals.size()));
  const std::string process = map.text("process").value_or("poisson");
  if (process != "poisson" && process != "uniform")
    map.reject("process",
               YamlMap::expected("poisson or uniform", process) + suggestion(process, {"poisson", "uniform"}));
  stream.process = process == "uniform" ? ArrivalStream::Process::kUniform : ArrivalStream::Process::kPoisson;
  stream.rate_per_hour = map.amount<double>("rate", &parse_rate_per_hour, kRateForm);
  stream.load = map.real("load", 1e-6, 100, "the requested fraction of all GPUs, such as 0.85");
  stream.count = map.integer("count", kJobs);
  stream.start = map.duration("start").value_or(Millis(0));
  stream.until = map.duration("until");
  const std::uint64_t derived = scenario.seed + kStreamStep * (scenario.arrivals.size() + 1);
  const auto seed = map.integer("seed", {0, INT64_MAX, "a seed, a whole number from 0"});
  stream.seed = seed ? static_cast<std::uint64_t>(*seed) : derived;
  QueueShares shares = read_queue_shares(map, mistake, scenario);
  map.require("jobs", "a list of job shapes");
  for (const auto& [item, where] : map.items("jobs")) {
    YamlMap shape_map(mistake, item, where);
    JobShape shape = read_shape(shape_map, mistake, scenario);
    if (shape.queues.empty()) shape.queues = shares;
    if (shape.queues.empty() && scenario.queues.size() == 1) shape.queues.emplace_back(0, 1.0);
    if (shape.queues.empty())
      shape_map.reject_self("expected \"queue\" (here or in the stream), because there are several queues");
    stream.jobs.push_back(std::move(shape));
  }
  if (stream.jobs.empty()) map.reject_self("expected at least one job shape in \"jobs\", got none");
  check_pace(map, scenario, stream);
  map.finish();
  return stream;
}

ScenarioTrace read_trace(YamlMap& map, const Scenario& scenario) {
  ScenarioTrace trace;
  map.require("path", "the path of the trace, absolute or from the scenario's folder");
  map.require("format", "swf or csv");
  const std::string format = map.text("format").value_or("csv");
  if (format != "swf" && format != "csv")
    map.reject("format", YamlMap::expected("swf or csv", format) + suggestion(format, {"swf", "csv"}));
  trace.format = format == "swf" ? ScenarioTrace::Format::kSwf : ScenarioTrace::Format::kCsv;
  const std::filesystem::path path = map.text("path").value_or("");
  trace.path =
      path.is_absolute() ? path.string() : (std::filesystem::path(scenario.path).parent_path() / path).string();
  const std::string width = map.text("width").value_or("gpus");
  if (width != "gpus" && width != "cpu")
    map.reject("width", YamlMap::expected("gpus or cpu", width) + suggestion(width, {"gpus", "cpu"}));
  trace.is_processors = width == "cpu";
  trace.gpus_per_member = static_cast<std::int32_t>(
      map.integer("per_member", {1, 100'000, "the width of one member, a whole number from 1"}).value_or(8));
  if (!trace.is_processors && trace.gpus_per_member > 128)
    map.reject("per_member", "expected at most 128 GPUs on one node");
  trace.cpu_per_gpu = map.amount<MilliCores>("cpu_per_gpu", &parse_cores, kCoresForm).value_or(MilliCores(0));
  trace.memory_per_gpu = map.amount<Bytes>("memory_per_gpu", &parse_bytes, kBytesForm).value_or(Bytes(0));
  if (const auto queue = map.text("queue")) trace.queue = queue_index(*queue, map, "queue", scenario);
  if (!map.has("queue") && scenario.queues.size() == 1) trace.queue = 0;
  trace.priority = static_cast<std::int32_t>(map.integer("priority", kPriority).value_or(0));
  trace.limit = map.integer("limit", kJobs);
  trace.time_scale = map.real("time_scale", 1e-6, 1e6, "a factor for submit times, above 0").value_or(1);
  map.finish();
  return trace;
}

}  // namespace

void read_arrival_streams(YamlMap& root, YamlMistake& mistake, Scenario& scenario) {
  for (const auto& [item, where] : root.items("arrivals")) {
    YamlMap map(mistake, item, where);
    scenario.arrivals.push_back(read_stream(map, mistake, scenario));
  }
}

void read_traces(YamlMap& root, YamlMistake& mistake, Scenario& scenario) {
  const YAML::Node* node = root.find("trace");
  if (node == nullptr) return;
  if (!node->IsSequence()) {
    YamlMap map(mistake, *node, "trace");
    scenario.traces.push_back(read_trace(map, scenario));
    return;
  }
  for (const auto& [item, where] : root.items("trace")) {
    YamlMap map(mistake, item, where);
    scenario.traces.push_back(read_trace(map, scenario));
  }
}

}  // namespace ashlar::sim
