#include "sim/scenario/scenario.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "config/profile_file.h"
#include "config/scheduler_config.h"
#include "config/yaml/document.h"
#include "sim/scenario/name_pattern.h"
#include "sim/scenario/node_gpus.h"
#include "sim/scenario/scenario_parts.h"
#include "sim/scenario/stop_rules.h"
#include "sim/scenario/units.h"
#include "sim/trace/text_source.h"
#include "state/cluster/topology.h"
#include "state/queues/queue_tree.h"
#include "text/amount_text.h"
#include "text/duration_text.h"
#include "text/nearest_name.h"

namespace ashlar::sim {
namespace {

constexpr std::int64_t kScenarioNodesMax = 1'000'000;  ///< against typing errors; more is an Error

constexpr std::size_t kScenarioBytesMax = std::size_t{16} << 20;
constexpr std::int64_t kPodsPerNode = 110;  ///< the default of Kubernetes
constexpr std::string_view kLabelPrefix = "ashlar.dev/";

constexpr std::size_t kLevelsBesidesNode = Topology::kLevelsMax - 1;
constexpr std::int64_t kNodeMemoryMax = std::int64_t{64} << 40;  ///< sums over 100,000 nodes stay within int64
constexpr int kQueueDepthMax = QueueTree::kDepthMax - 1;         ///< the root is one level of the tree

constexpr IntegerForm kCount{1, kScenarioNodesMax, "a whole number 1..1000000"};
constexpr IntegerForm kPods{1, 100'000, "the number of pods a node may hold, a whole number 1..100000"};

/// A group of nodes before its patterns are written out.
struct NodeGroup {
  std::int64_t count = 1;
  std::string name;
  ScenarioNode node;  ///< labels hold patterns
};

void add_label(YamlMap& map, const std::string& key, std::string value, ScenarioNode& node) {
  const bool is_there =
      std::any_of(node.labels.begin(), node.labels.end(), [&](const auto& label) { return label.first == key; });
  if (is_there) map.reject_self("expected the label " + key + " once, got it twice (labels and topology)");
  node.labels.emplace_back(key, std::move(value));
}

/// `labels:` by label key, and `topology:` by level name.
void read_node_labels(YamlMap& map, YamlMistake& mistake, const Scenario& scenario, ScenarioNode& node) {
  if (const YAML::Node* labels = map.find("labels")) {
    YamlMap pairs(mistake, *labels, map.path("labels"));
    if (labels->IsMap()) {
      for (const auto& pair : *labels) {
        const std::string key = pair.first.IsScalar() ? pair.first.Scalar() : "";
        if (const auto value = pairs.text(key)) add_label(map, key, *value, node);
      }
    }
  }
  if (const YAML::Node* topology = map.find("topology")) {
    YamlMap domains(mistake, *topology, map.path("topology"));
    for (const ScenarioLevel& level : scenario.levels) {
      if (const auto value = domains.text(level.name)) add_label(map, level.label, *value, node);
    }
    domains.finish();
  }
  std::sort(node.labels.begin(), node.labels.end());
}

NodeGroup read_group(YamlMap& map, YamlMistake& mistake, const Scenario& scenario) {
  NodeGroup group;
  group.count = map.integer("count", kCount).value_or(1);
  group.name = map.text("name").value_or("node-{n}");
  ScenarioNode& node = group.node;
  map.require("cpu", kCoresForm);
  map.require("memory", kBytesForm);
  node.cpu = map.amount<MilliCores>("cpu", &parse_cores, kCoresForm).value_or(MilliCores(0));
  node.memory = map.amount<Bytes>("memory", &parse_bytes, kBytesForm).value_or(Bytes(0));
  if (node.memory.value > kNodeMemoryMax) map.reject("memory", "expected at most 64Ti on one node");
  node.pods = static_cast<std::int32_t>(map.integer("pods", kPods).value_or(kPodsPerNode));
  read_gpus(map, mistake, node);
  read_node_labels(map, mistake, scenario, node);
  map.finish();
  return group;
}

/// Expands the patterns of a group. Stops at the first mistake.
void add_nodes(const NodeGroup& group, YamlMap& map, const YamlMistake& mistake, Scenario& scenario) {
  for (std::int64_t i = 0; i < group.count && !mistake.happened(); ++i) {
    const auto n = static_cast<std::int64_t>(scenario.nodes.size());
    const auto expand = [&](const std::string& pattern, const std::string& key) {
      const auto text = expand_pattern(pattern, i, n);
      if (!text || text->empty()) map.reject(key, YamlMap::expected(kPatternForm, pattern));
      return text.value_or("");
    };
    ScenarioNode node = group.node;
    node.name = expand(group.name, "name");
    for (auto& [key, value] : node.labels) value = expand(value, map.has("labels") ? "labels" : "topology");
    scenario.nodes.push_back(std::move(node));
  }
}

/// `restart: 60s`, or one for each size of a job.
void read_restart(YamlMap& root, Scenario& scenario) {
  constexpr std::string_view kForm =
      "a time such as 60s, or three: of jobs of at most one GPU, of up to eight, of more";
  std::vector<std::string> stated = root.words("restart");
  if (stated.size() == 1) stated.resize(scenario.restart.size(), stated.front());
  if (root.has("restart") && stated.size() != scenario.restart.size())
    root.reject("restart", YamlMap::expected(kForm, std::to_string(stated.size()) + " times"));
  for (std::size_t i = 0; i < std::min(stated.size(), scenario.restart.size()); ++i) {
    const Result<Millis> time = parse_duration(stated[i]);
    if (!time || *time > StopTerms::kTimeMax) return root.reject("restart", YamlMap::expected(kForm, stated[i]));
    scenario.restart[i] = *time;
  }
}

void read_head(YamlMap& root, Scenario& scenario) {
  scenario.title = root.text("title").value_or("");
  scenario.seed =
      static_cast<std::uint64_t>(root.integer("seed", {0, INT64_MAX, "a seed, a whole number from 0"}).value_or(1));
  scenario.horizon = root.duration("horizon");
  if (scenario.horizon && scenario.horizon->value <= 0) root.reject("horizon", "expected a time above 0, got 0");
  read_restart(root, scenario);
  scenario.profiles = root.words("profile");
  if (scenario.profiles.empty()) scenario.profiles.emplace_back("ashlar");
  for (const std::string& name : scenario.profiles) {
    const Result<config::ProfileSpec> spec =
        config::find_whole_profile(name, std::filesystem::path(scenario.path).parent_path().string());
    if (!spec) root.reject("profile", spec.error().message);
  }
}

/// YAML to a scenario; yaml-cpp's own exceptions are caught by the caller.
Result<Scenario> build(const YAML::Node& document, const std::string& path) {
  YamlMistake mistake(path);
  Scenario scenario;
  scenario.path = path;
  YamlMap root(mistake, document, "");
  read_head(root, scenario);
  read_levels(root, mistake, scenario);
  read_classes(root, mistake, scenario);
  read_nodes(root, mistake, scenario);
  read_queues(root, mistake, scenario);
  read_failures(root, mistake, scenario);
  read_holds(root, mistake, scenario);
  if (!mistake.happened()) read_arrival_streams(root, mistake, scenario);
  if (!mistake.happened()) read_traces(root, mistake, scenario);
  root.has("arrivals");
  root.has("trace");
  root.finish();
  if (scenario.arrivals.empty() && scenario.traces.empty())
    root.reject_self("expected work: the key \"arrivals\" or \"trace\"");
  if (mistake.happened()) return mistake.error();
  return scenario;
}

}  // namespace

std::int64_t Scenario::devices() const {
  std::int64_t devices = 0;
  for (const ScenarioNode& node : nodes) devices += node.gpus;
  return devices;
}

void read_levels(YamlMap& root, YamlMistake& mistake, Scenario& scenario) {
  for (const auto& [item, where] : root.items("topology")) {
    ScenarioLevel level;
    if (item.IsScalar()) {
      level.name = item.Scalar();
    } else {
      YamlMap map(mistake, item, where);
      map.require("name", "the level's name, such as rack");
      level.name = map.text("name").value_or("");
      level.label = map.text("label").value_or("");
      map.finish();
    }
    if (level.label.empty()) level.label = std::string(kLabelPrefix) + level.name;
    const bool is_there = std::any_of(scenario.levels.begin(), scenario.levels.end(), [&](const ScenarioLevel& other) {
      return other.name == level.name || other.label == level.label;
    });
    if (level.name.empty()) mistake.reject(item.Mark(), where, "expected the level's name, such as rack, got nothing");
    if (level.name == "node")
      mistake.reject(item.Mark(), where, "expected no level \"node\": it is always there, as the innermost");
    if (scenario.levels.size() >= kLevelsBesidesNode)
      mistake.reject(item.Mark(), where,
                     "expected at most " + std::to_string(kLevelsBesidesNode) + " levels besides \"node\"");
    if (is_there)
      mistake.reject(item.Mark(), where, "expected every level and label once, got \"" + level.name + "\" twice");
    scenario.levels.push_back(std::move(level));
  }
}

void read_classes(YamlMap& root, YamlMistake& mistake, Scenario& scenario) {
  for (const auto& [item, where] : root.items("classes")) {
    YamlMap map(mistake, item, where);
    map.require("name", "the name of a device class, such as H100");
    const StatedClass stated{.name = map.text("name").value_or(""),
                             .models = map.words("models"),
                             .capabilities = map.words("capabilities")};
    map.finish();
    if (const std::optional<ClassProblem> problem = validate(stated, scenario.classes)) {
      constexpr const char* kKeys[] = {"name", "models", "capabilities"};  // by Part
      map.reject(kKeys[static_cast<std::size_t>(problem->part)], printable(problem->message));
    }
    scenario.classes.push_back(stated);
  }
}

void read_nodes(YamlMap& root, YamlMistake& mistake, Scenario& scenario) {
  root.require("nodes", "a list of groups of nodes");
  std::int64_t total = 0;
  for (const auto& [item, where] : root.items("nodes")) {
    YamlMap map(mistake, item, where);
    const NodeGroup group = read_group(map, mistake, scenario);
    total += group.count;
    if (total > kScenarioNodesMax)
      map.reject("count", "expected at most 1000000 nodes in all, got " + std::to_string(total));
    add_nodes(group, map, mistake, scenario);
    if (mistake.happened()) return;
  }
  if (scenario.nodes.empty()) return root.reject("nodes", "expected at least one group of nodes, got none");
  std::unordered_set<std::string_view> names;
  for (const ScenarioNode& node : scenario.nodes) {
    if (!names.insert(node.name).second)
      return root.reject(
          "nodes", "expected every node's name once, got \"" + node.name + "\" twice (use {i} or {n} in \"name\")");
  }
}

std::vector<std::string> queue_names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const ScenarioQueue& queue : scenario.queues) names.push_back(queue.name);
  return names;
}

std::int32_t queue_index(const std::string& name, YamlMap& map, const std::string& key, const Scenario& scenario) {
  for (std::size_t i = 0; i < scenario.queues.size(); ++i) {
    if (scenario.queues[i].name == name) return static_cast<std::int32_t>(i);
  }
  map.reject(key, YamlMap::no_such("queue", name, queue_names(scenario)));
  return -1;
}

/// The other names: no queue is its own parent.
std::vector<std::string> without(std::vector<std::string> names, const std::string& name) {
  std::erase(names, name);
  return names;
}

void read_quota(YamlMap& map, QuotaVector& quota) {
  constexpr const char* kKeys[kQuotaDimensions] = {"gpus", "cpu", "memory"};  // by QuotaDimension
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
    const std::optional<std::string> text = map.text(kKeys[d]);
    if (!text) continue;
    const Result<std::int64_t> limit = parse_quota(static_cast<std::int64_t>(d), *text);
    if (!limit) map.reject(kKeys[d], printable(limit.error().message));
    if (limit) quota[d] = *limit;
  }
}

/// Amounts by dimension below the key; kUnlimited: not named.
QuotaVector quota_below(YamlMap& map, YamlMistake& mistake, const std::string& key) {
  QuotaVector amounts{kUnlimited, kUnlimited, kUnlimited};
  if (const YAML::Node* node = map.find(key)) {
    YamlMap quota(mistake, *node, map.path(key));
    read_quota(quota, amounts);
    quota.finish();
  }
  return amounts;
}

void read_shares(YamlMap& map, YamlMistake& mistake, ScenarioQueue& queue) {
  const QuotaVector guarantee = quota_below(map, mistake, "guarantee"), lends = quota_below(map, mistake, "lendLimit"),
                    borrows = quota_below(map, mistake, "borrowLimit");
  for (std::size_t d = 0; d < kQuotaDimensions; ++d) {
    QuotaShare share{.of = quota_key(static_cast<std::int64_t>(d)), .borrows = borrows[d], .lends = lends[d]};
    if (guarantee[d] != kUnlimited) share.guarantee = guarantee[d];
    if (share != QuotaShare{.of = share.of}) queue.shares.push_back(share);
  }
  if (const auto weight = map.real("weight", 0.001, 1e6, "a number from 0.001 to 1000000"))
    queue.rank.weight = std::llround(*weight * static_cast<double>(QueueRank::kWeightOne));
  constexpr IntegerForm kPriority{INT32_MIN, INT32_MAX, "a priority such as 5"};
  queue.rank.priority = static_cast<std::int32_t>(map.integer("priority", kPriority).value_or(0));
}

void read_queues(YamlMap& root, YamlMistake& mistake, Scenario& scenario) {
  struct Draft {
    ScenarioQueue queue;
    std::string parent;
    YAML::Mark mark;
    std::string where;
  };
  std::vector<Draft> builders;
  std::vector<std::string> names;
  for (const auto& [item, where] : root.items("queues")) {
    YamlMap map(mistake, item, where);
    map.require("name", "the queue's name");
    Draft builder;
    builder.queue.name = map.text("name").value_or("");
    builder.parent = map.text("parent").value_or("");
    builder.mark = item.Mark();
    builder.where = where;
    if (builder.queue.name.empty()) map.reject_self("expected the queue's name, got nothing");
    if (builder.queue.name == "root") map.reject("name", std::string(config::kRootIsNoQueue));
    if (std::find(names.begin(), names.end(), builder.queue.name) != names.end())
      map.reject("name", "expected every queue once, got \"" + builder.queue.name + "\" twice");
    builder.queue.quota = quota_below(map, mistake, "quota");
    read_shares(map, mistake, builder.queue);
    builder.queue.stops = read_stop_rules(map, mistake);
    map.finish();
    names.push_back(builder.queue.name);
    builders.push_back(std::move(builder));
  }
  // Parents before children: pass over the drafts until no pass adds one; what then remains is a cycle.
  std::unordered_map<std::string, std::int32_t> rows;
  std::vector<bool> is_placed(builders.size(), false);
  for (bool has_added = true; has_added && !mistake.happened();) {
    has_added = false;
    for (std::size_t i = 0; i < builders.size(); ++i) {
      Draft& builder = builders[i];
      const auto parent = rows.find(builder.parent);
      if (is_placed[i] || (!builder.parent.empty() && parent == rows.end())) continue;
      builder.queue.parent = builder.parent.empty() ? -1 : parent->second;
      int depth = 1;
      for (std::int32_t above = builder.queue.parent; above >= 0;
           above = scenario.queues[static_cast<std::size_t>(above)].parent)
        ++depth;
      if (depth > kQueueDepthMax)
        return mistake.reject(builder.mark, builder.where + ".parent",
                              "expected queues at most " + std::to_string(kQueueDepthMax) + " below one another");
      rows.emplace(builder.queue.name, static_cast<std::int32_t>(scenario.queues.size()));
      scenario.queues.push_back(builder.queue);
      is_placed[i] = has_added = true;
    }
  }
  for (std::size_t i = 0; i < builders.size(); ++i) {
    if (is_placed[i]) continue;
    const bool is_known = std::find(names.begin(), names.end(), builders[i].parent) != names.end();
    mistake.reject(builders[i].mark, builders[i].where + ".parent",
                   is_known ? "expected a tree, got a circle through \"" + builders[i].queue.name + "\""
                            : YamlMap::no_such("queue", builders[i].parent, without(names, builders[i].queue.name)));
  }
  if (scenario.queues.empty()) scenario.queues.push_back({.name = "default"});
}

/// `{mean_between: 30d, for: 1h, until: 90d}`: any node, at random.
ScenarioFailureProcess read_failure_process(YamlMap& map, const Scenario& scenario) {
  constexpr double kFailuresMax = 1e6;  // against typing errors
  // Another odd constant than that of streams, so that failures and work are independent.
  constexpr std::uint64_t kProcessStep = 0xd1342543de82ef95ull;
  ScenarioFailureProcess process;
  process.mean_between = map.duration("mean_between").value_or(Millis(0));
  if (process.mean_between.value <= 0) map.reject("mean_between", "expected a time above 0, got 0");
  process.lasts = map.duration("for");
  process.start = map.duration("start").value_or(Millis(0));
  const std::optional<Millis> until = map.duration("until");
  if (!until && !scenario.horizon) map.reject_self("expected an end: \"until\" here, or \"horizon\" of the scenario");
  process.until = until ? *until : scenario.horizon.value_or(Millis::max());
  if (process.until <= process.start) map.reject_self("expected \"start\" before \"until\" and the horizon");
  const auto seed = map.integer("seed", {0, INT64_MAX, "a seed, a whole number from 0"});
  process.seed =
      seed ? static_cast<std::uint64_t>(*seed) : scenario.seed + kProcessStep * (scenario.failure_processes.size() + 1);
  for (const char* const key : {"node", "at"})
    if (map.has(key))
      map.reject(key, "expected no \"" + std::string(key) + "\" beside \"mean_between\", which is of every node");
  const double expected = static_cast<double>(scenario.nodes.size()) *
                          static_cast<double>((process.until - process.start).value) /
                          static_cast<double>(std::max<std::int64_t>(process.mean_between.value, 1));
  if (expected > kFailuresMax)
    map.reject("mean_between", "expected at most 1000000 failures in all, got about " +
                                   std::to_string(static_cast<std::int64_t>(std::min(expected, 1e18))));
  return process;
}

/// The index of the node that the key "node" names, or 0 with a mistake.
std::uint32_t read_node_name(YamlMap& map, const Scenario& scenario) {
  const std::string name = map.text("node").value_or("");
  const auto node = std::find_if(scenario.nodes.begin(), scenario.nodes.end(),
                                 [&](const ScenarioNode& each) { return each.name == name; });
  if (node != scenario.nodes.end()) return static_cast<std::uint32_t>(node - scenario.nodes.begin());
  std::vector<std::string> names;
  for (const ScenarioNode& each : scenario.nodes) names.push_back(each.name);
  map.reject("node", YamlMap::no_such("node", name, names));
  return 0;
}

/// What happens to a node that is named: a failure, a maintenance.
template <class Incident>
Incident read_of_node(YamlMap& map, const Scenario& scenario) {
  map.require("node", "the name of a node");
  map.require("at", kDurationForm);
  Incident read;
  read.node = read_node_name(map, scenario);
  read.at = map.duration("at").value_or(Millis(0));
  read.lasts = map.duration("for");
  return read;
}

template <class Incident>
void sort_by_time(std::vector<Incident>& all) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
}

void read_failures(YamlMap& root, YamlMistake& mistake, Scenario& scenario) {
  for (const auto& [item, where] : root.items("failures")) {
    YamlMap map(mistake, item, where);
    if (map.has("mean_between")) {
      scenario.failure_processes.push_back(read_failure_process(map, scenario));
      map.finish();
      continue;
    }
    scenario.failures.push_back(read_of_node<ScenarioFailure>(map, scenario));
    map.finish();
  }
  sort_by_time(scenario.failures);
}

namespace {

ScenarioHold read_hold(YamlMap& map, const Scenario& scenario) {
  ScenarioHold hold = read_of_node<ScenarioHold>(map, scenario);
  if (hold.lasts && hold.lasts->value <= 0) map.reject("for", "expected a time above 0, got 0");
  hold.announced = std::min(map.duration("announced").value_or(Millis(0)), hold.at);
  return hold;
}

}  // namespace

void read_holds(YamlMap& root, YamlMistake& mistake, Scenario& scenario) {
  for (const auto& [item, where] : root.items("maintenance")) {
    YamlMap map(mistake, item, where);
    scenario.holds.push_back(read_hold(map, scenario));
    map.finish();
  }
  for (const auto& [item, where] : root.items("reservations")) {
    YamlMap map(mistake, item, where);
    map.require("queue", "the name of a queue");
    ScenarioHold hold = read_hold(map, scenario);
    hold.queue = queue_index(map.text("queue").value_or(""), map, "queue", scenario);
    scenario.holds.push_back(hold);
    map.finish();
  }
  std::stable_sort(scenario.holds.begin(), scenario.holds.end(),
                   [](const auto& a, const auto& b) { return a.at - a.announced < b.at - b.announced; });
}

Result<Scenario> parse_scenario(const std::string& text, const std::string& path) {
  if (text.size() > kScenarioBytesMax)
    return invalid(path + ": expected a scenario of at most 16 MiB, got " + std::to_string(text.size()) + " bytes");
  try {
    const Result<YAML::Node> document = config::only_document(text, path);
    if (!document) return document.error();
    return build(*document, path);
  } catch (const YAML::Exception& error) {
    return config::yaml_error(path, error);
  } catch (const std::exception& error) {
    return invalid(path + ":1:1: not valid YAML: " + error.what());
  }
}

Result<Scenario> read_scenario(const std::string& path) {
  Result<std::string> text = read_text(path);
  if (!text) return text.error();
  return parse_scenario(*text, path);
}

}  // namespace ashlar::sim
