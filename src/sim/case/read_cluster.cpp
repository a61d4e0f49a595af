// The statements about nodes: cluster, node, class, levels, add, change, cordon, uncordon, device-health, lose, drain.
#include <fmt/format.h>

#include <algorithm>

#include "base/grown.h"
#include "sim/case/node_devices.h"
#include "state/cluster/topology.h"
#include "text/device_text.h"
#include "text/nearest_name.h"

namespace ashlar::sim {
namespace {

constexpr std::int64_t kNodesMax = 100'000, kDevicesMax = 1'000'000;  ///< a case is read and played within seconds
constexpr std::string_view kNodesForm = "a number of nodes and a shape, \"cluster 4 x h100x8\"";

constexpr std::string_view kNodeOptions[] = {"cpu=",     "memory=",   "storage=",  "pods=",   "card-memory=",
                                             "islands=", "numa=",     "switches=", "sliced=", "labels",
                                             "taint",    "untainted", "not-ready", "in"};
constexpr std::string_view kNodeOptionsForm =
    "cpu=, memory=, storage=, pods=, card-memory=, islands=, numa=, switches=, sliced=, labels, taint, untainted, "
    "not-ready, in or at";

/// "racks" is of level "rack".
std::string_view level_of_plural(std::string_view word) {
  return word.ends_with('s') ? word.substr(0, word.size() - 1) : std::string_view();
}

struct LevelSize {
  std::string_view name;
  std::int64_t nodes = 0;
};

/// "racks of 4" or "level rail of 4" at the cursor; an empty name if it is neither.
LevelSize take_level_size(Words& words) {
  LevelSize size;
  if (words.accept("level"))
    size.name = words.take("the name of a level");
  else if (words.peek(1) == "of" && !level_of_plural(words.peek()).empty())
    size.name = level_of_plural(words.take("a level"));
  if (size.name.empty() || words.has_failed()) return {};
  if (!words.accept("of")) {
    words.take("of");
    words.fail("a level needs its number of nodes", "\"level NAME of NODES\"");
  }
  size.nodes = words.take_count("the number of nodes in each domain of the level");
  return size;
}

void set_domain(CaseReading& c, Words& words, NodeFacts& facts, LevelId level, std::string_view name) {
  if (name.empty()) words.fail("a domain needs a name", "\"in rack=rack0\"");
  if (facts.domains.size() <= level.row()) facts.domains.resize(level.row() + 1);
  facts.domains[level.row()] = c.file.names.domains[level.row()].of(name);
}

void take_domains(CaseReading& c, Words& words, NodeFacts& facts) {
  constexpr std::string_view kForm = "domains such as \"in rack=rack0,block=block0\"";
  for (const std::string_view part : split(words.take(kForm), ',')) {
    const KeyValue domain = key_value(part);
    const LevelId level = c.file.names.levels.find(domain.key);
    if (level.is_none() || !domain.has_value)
      words.fail(fmt::format("\"{}\" is not a domain of a level in this case", part), kForm);
    if (words.has_failed()) return;
    set_domain(c, words, facts, level, domain.value);
  }
}

bool take_node_option(CaseReading& c, Words& words, StatedNode& node) {
  NodeFacts& facts = node.facts;
  if (const NamedAmount named = take_amount(words, c.file.names); !named.resource.is_none()) {
    if (facts.allocatable.size() <= named.resource.row()) facts.allocatable.resize(named.resource.row() + 1, 0);
    facts.allocatable[named.resource.row()] = named.amount;
    return true;
  }
  if (take_device_option(words, node.devices)) return true;
  if (words.accept("labels")) {
    for (const std::string_view part : split(words.take("labels such as zone=a,disk=ssd"), ',')) {
      const KeyValue label = key_value(part);
      if (!label.has_value || label.key.empty())
        words.fail(fmt::format("\"{}\" is not a label", part), "labels such as zone=a,disk=ssd");
      const NodeLabel added = label_of(c.file.names, label.key, label.value);
      std::erase_if(facts.labels, [&](const NodeLabel& l) { return l.key == added.key; });
      facts.labels.push_back(added);
    }
    return true;
  }
  if (words.accept("taint") || words.accept("taints")) {
    constexpr std::string_view kForm = "taints such as dedicated=team-a:NoSchedule";
    for (const std::string_view part : split(words.take(kForm), ',')) {
      const KeyValue effect = key_value(part, ':');
      if (!effect.has_value || effect.key.empty()) words.fail(fmt::format("\"{}\" is not a taint", part), kForm);
      if (words.has_failed()) return true;
      facts.taints.push_back({c.file.names.label_keys.of(key_value(effect.key).key), c.file.names.labels.of(effect.key),
                              effect_of(words, effect.value),
                              label_of(c.file.names, key_value(effect.key).key, key_value(effect.key).value).number});
    }
    return true;
  }
  if (words.accept("untainted")) {
    facts.taints.clear();
    return true;
  }
  if (words.accept("not-ready")) {
    facts.is_ready = false;
    return true;
  }
  if (words.accept("in")) {
    take_domains(c, words, facts);
    return true;
  }
  return false;
}

void refuse_node_option(Words& words, std::string_view form) {
  const std::string_view word = words.take("an option");
  words.fail(fmt::format("unknown node option \"{}\"{}", word, suggestion(key_value(word).key, kNodeOptions)), form);
}

void take_node_options(CaseReading& c, Words& words, StatedNode& node) {
  while (!words.is_at_end() && words.peek() != "at")
    if (!take_node_option(c, words, node)) refuse_node_option(words, kNodeOptionsForm);
}

/// The statement's facts of the node, with what every node of a case has.
NodeFacts with_own_names(CaseReading& c, NodeId node, NodeFacts facts) {
  const NodeLabel own = label_of(c.file.names, "node", c.file.names.nodes.name(node));
  std::erase_if(facts.labels, [&](const NodeLabel& l) { return l.key == own.key; });
  facts.labels.push_back(own);
  std::sort(facts.labels.begin(), facts.labels.end(),
            [](const NodeLabel& a, const NodeLabel& b) { return a.key < b.key; });
  const LevelId nvlink = c.file.names.levels.find("nvlink");
  if (!nvlink.is_none()) {
    if (facts.domains.size() <= nvlink.row()) facts.domains.resize(nvlink.row() + 1);
    if (facts.domains[nvlink.row()].is_none())
      facts.domains[nvlink.row()] = c.file.names.domains[nvlink.row()].of(c.file.names.nodes.name(node));
  }
  return facts;
}

void finish_node(CaseReading& c, NodeId node, NodeFacts stated, Millis at) {
  const NodeFacts facts = with_own_names(c, node, std::move(stated));
  if (c.facts.size() <= node.row()) c.facts.resize(node.row() + 1);
  c.facts[node.row()] = facts;
  std::erase(c.lost, node);
  add_event(c, at, EventBody(NodeSeen{node, facts}));
}

void set_ready(CaseReading& c, Words& words, bool is_ready) {
  const NodeId node = take_node_that_is_there(c, words);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  NodeFacts facts = c.facts[node.row()];
  facts.is_ready = is_ready;
  finish_node(c, node, std::move(facts), at);
}

}  // namespace

void find_levels(CaseReading& c) {
  std::vector<std::pair<std::string, std::int64_t>> found;
  std::vector<std::string> stated, across;
  bool is_nvlink_used = false;
  for (const std::string& line : c.file.lines) {
    Words words(line, 1);
    const std::string_view first = words.is_at_end() ? std::string_view() : words.take("a statement");
    if (first == "levels") {
      while (!words.is_at_end() && !words.accept("across")) stated.emplace_back(words.take("a level"));
      while (!words.is_at_end()) across.emplace_back(words.take("a level"));
    }
    while (!words.is_at_end()) {
      if (first == "cluster") {
        if (const LevelSize size = take_level_size(words); !size.name.empty()) {
          const auto it = std::find_if(found.begin(), found.end(), [&](const auto& f) { return f.first == size.name; });
          if (it == found.end())
            found.emplace_back(size.name, size.nodes);
          else
            it->second = std::max(it->second, size.nodes);
          continue;
        }
      }
      const std::string_view word = words.take("a word");
      is_nvlink_used = is_nvlink_used || ((word == "within" || word == "prefer") && words.peek() == "nvlink");
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  for (const std::string& name : stated) c.file.names.levels.of(name);
  for (const auto& [name, nodes] : found)
    if (std::find(across.begin(), across.end(), name) == across.end()) c.file.names.levels.of(name);
  if (is_nvlink_used && std::find(across.begin(), across.end(), "nvlink") == across.end())
    c.file.names.levels.of("nvlink");
  c.nested = static_cast<std::uint32_t>(c.file.names.levels.size());
  for (const std::string& name : across) c.file.names.levels.of(name);
  const auto levels =
      static_cast<std::uint32_t>(std::min<std::size_t>(c.file.names.levels.size(), Topology::kLevelsMax));
  // too many levels included: nodes are read before the case is rejected
  c.file.names.domains.resize(c.file.names.levels.size());
  c.next_domain.resize(c.file.names.levels.size(), 0);
  add_event(c, Millis(0), EventBody(LevelsDefined{std::min(c.nested, levels), levels - std::min(c.nested, levels)}));
}

/// The levels themselves were read by find_levels.
/// The models of a class stay: nodes and jobs name them by its row.
void read_class(CaseReading& c, Words& words) {
  StatedClass stated{.name = std::string(words.take("the name of a device class")), .models = {}, .capabilities = {}};
  const auto known = std::ranges::find(c.classes, stated.name, &StatedClass::name);
  const bool is_new = known == c.classes.end();
  if (!is_new) stated.models = known->models;
  if (words.accept("models")) {
    stated.models = take_names(words, "names of models such as h100-sxm,h100-pcie");
    if (!is_new) return words.fail("the models of a class do not change", "the class with its capabilities alone");
  }
  if (words.accept("capabilities")) stated.capabilities = take_names(words, "names of capabilities such as fp8,nvlink");
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  std::vector<StatedClass> others = c.classes;
  std::erase_if(others, [&](const StatedClass& other) { return other.name == stated.name; });
  if (const std::optional<ClassProblem> problem = validate(stated, others)) return words.fail(problem->message);
  for (const std::string& model : stated.models)
    if (is_new && model != stated.name && !c.file.names.models.find(model).is_none())
      return words.fail(fmt::format("the model \"{}\" is named above", model), "a class before its models are named");
  others.push_back(stated);
  c.classes = std::move(others);
  add_event(c, at, EventBody(c.file.names.models.define(stated)));
}

void read_levels(CaseReading& c, Words& words) {
  std::vector<std::string_view> stated;
  while (!words.is_at_end()) {
    const std::string_view level = words.take("a level");
    if (std::ranges::find(stated, level) != stated.end()) words.fail(fmt::format("level \"{}\" is given twice", level));
    stated.push_back(level);
  }
  if (c.file.names.levels.size() > Topology::kLevelsMax)
    words.fail("too many levels", fmt::format("at most {}", Topology::kLevelsMax));
  if (!c.facts.empty()) words.fail("levels must come before the first node");
}

/// Domains of nested levels contain whole domains of smaller ones.
void add_level_size(const CaseReading& c, Words& words, const LevelSize& size, std::vector<LevelSize>& sizes) {
  const auto is_nested = [&](const LevelSize& s) { return c.file.names.levels.find(s.name).row() < c.nested; };
  for (const LevelSize& other : sizes) {
    if (other.name == size.name) words.fail(fmt::format("level \"{}\" is given twice", size.name));
    const auto [small, large] = std::minmax(size.nodes, other.nodes);
    if (large % small != 0 && is_nested(size) && is_nested(other))
      words.fail(fmt::format("domains of {} nodes cannot contain whole domains of {}", large, small),
                 "a multiple, or a level after \"across\" in a line \"levels\"");
  }
  sizes.push_back(size);
}

void read_cluster(CaseReading& c, Words& words) {
  const std::int64_t count = words.take_count(kNodesForm);
  if (count + static_cast<std::int64_t>(c.file.names.nodes.size()) > kNodesMax)
    words.fail(fmt::format("{} nodes in total", count + static_cast<std::int64_t>(c.file.names.nodes.size())),
               fmt::format("at most {}", kNodesMax));
  if (!words.accept("x")) {
    words.take("x");
    words.fail("no \"x\" between number and shape", kNodesForm);
  }
  StatedNode node;
  take_shape(c, words, node);
  if (!words.has_failed() && (c.devices += count * node.facts.devices.count) > kDevicesMax)
    words.fail(fmt::format("{} GPUs in total", c.devices), fmt::format("at most {}", kDevicesMax));
  std::vector<LevelSize> sizes;
  while (!words.is_at_end() && words.peek() != "at") {
    if (const LevelSize size = take_level_size(words); !size.name.empty())
      add_level_size(c, words, size, sizes);
    else if (!take_node_option(c, words, node)) {
      refuse_node_option(words, fmt::format("\"racks of N\", \"level NAME of N\", {}", kNodeOptionsForm));
    }
  }
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  settle_devices(c, node, at);
  const std::vector<std::uint32_t> first_domain = c.next_domain;
  for (std::int64_t i = 0; i < count; ++i) {
    NodeFacts one = node.facts;
    for (const LevelSize& size : sizes) {
      const LevelId level = c.file.names.levels.find(size.name);
      const auto number = first_domain[level.row()] + static_cast<std::uint32_t>(i / size.nodes);
      c.next_domain[level.row()] = std::max(c.next_domain[level.row()], number + 1);
      set_domain(c, words, one, level, fmt::format("{}{}", size.name, number));
    }
    finish_node(c, c.file.names.nodes.of(fmt::format("node{}", c.file.names.nodes.size())), std::move(one), at);
  }
}

void read_node(CaseReading& c, Words& words) {
  const std::string_view name = words.take("the node's name and shape, \"node big h100x8\"");
  if (!c.file.names.nodes.find(name).is_none()) words.fail(fmt::format("node \"{}\" already exists", name));
  StatedNode node;
  take_shape(c, words, node);
  take_node_options(c, words, node);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  settle_devices(c, node, at);
  finish_node(c, c.file.names.nodes.of(name), std::move(node.facts), at);
}

void read_add(CaseReading& c, Words& words) {
  if (!words.accept("node")) {
    words.take("node");
    words.fail("only nodes can be added", "\"add node SHAPE\" or \"add node NAME SHAPE\"");
  }
  const bool is_named = !words.peek(1).empty() &&
                        (words.peek(1) == "cpu" || words.peek(1).find_first_of('=') == std::string_view::npos) &&
                        words.peek(1) != "at" && words.peek(1) != "labels" && words.peek(1) != "taint" &&
                        words.peek(1) != "taints" && words.peek(1) != "in" && words.peek(1) != "not-ready";
  const std::string name =
      is_named ? std::string(words.take("a name")) : fmt::format("node{}", c.file.names.nodes.size());
  StatedNode node;
  take_shape(c, words, node);
  take_node_options(c, words, node);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  settle_devices(c, node, at);
  finish_node(c, c.file.names.nodes.of(name), std::move(node.facts), at);
}

void read_change(CaseReading& c, Words& words) {
  const NodeId node = take_node_that_is_there(c, words);
  if (words.has_failed()) return;
  NodeFacts& before = c.facts[node.row()];
  StatedNode stated{before, devices_of(c, before)};
  take_node_options(c, words, stated);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  settle_devices(c, stated, at);
  const NodeFacts after = with_own_names(c, node, std::move(stated.facts));
  for (EventBody& change : node_changes(node, before, after)) add_event(c, at, std::move(change));
  before = after;
}

void read_cordon(CaseReading& c, Words& words) { set_ready(c, words, false); }

void read_uncordon(CaseReading& c, Words& words) { set_ready(c, words, true); }

void read_device_health(CaseReading& c, Words& words) {
  constexpr std::string_view kForm = "GPUs of the node such as 2 or 0-3,6";
  const NodeId node = take_node_that_is_there(c, words);
  const std::string_view list = words.take(kForm);
  const DeviceMask devices = parse_devices(list);
  const std::int32_t count = words.has_failed() ? 0 : c.facts[node.row()].devices.count;
  if (devices.is_empty())
    words.fail(fmt::format("\"{}\" is not a list of GPUs", list), kForm);
  else if (devices.among(count) != devices)
    words.fail(fmt::format("the node has {} GPU{}", count, count == 1 ? "" : "s"),
               count == 0 ? std::string("a node with GPUs") : fmt::format("0 to {}", count - 1));
  const bool is_healthy = words.accept("healthy");
  if (!is_healthy && !words.accept("unhealthy")) {
    const std::string_view word = words.take("healthy or unhealthy");
    words.fail(fmt::format("unknown health \"{}\"", word), "\"healthy\" or \"unhealthy\"");
  }
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  DeviceMask& unhealthy = grown(c.unhealthy, node.row());
  devices.each([&](int i) { unhealthy.set(i, !is_healthy); });
  add_event(c, at, EventBody(DeviceHealthChanged{node, unhealthy}));
}

void read_lose(CaseReading& c, Words& words) {
  const NodeId node = take_node(c, words, true);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  c.lost.push_back(node);
  if (node.row() < c.unhealthy.size()) c.unhealthy[node.row()] = {};
  add_event(c, at, EventBody(NodeGone{node}));
}

/// Everything on the node is lost, and nothing new is placed on it.
/// "drain NODE", or "drain queue NAME".
void read_drain(CaseReading& c, Words& words) {
  if (words.peek() == "queue") return read_drain_queue(c, words);
  const NodeId node = take_node_that_is_there(c, words);
  const Millis at = take_at(c, words);
  if (words.has_failed()) return;
  NodeFacts facts = c.facts[node.row()];
  facts.is_ready = false;
  if (node.row() < c.unhealthy.size()) c.unhealthy[node.row()] = {};
  add_event(c, at, EventBody(NodeGone{node}));
  finish_node(c, node, std::move(facts), at);
}

}  // namespace ashlar::sim
