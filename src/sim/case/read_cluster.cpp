// The statements about nodes: cluster, node, levels, add, change, cordon, uncordon, lose, drain.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/case/case_reader.h"
#include "state/cluster/topology.h"

namespace ashlar::sim {
namespace {

constexpr std::int64_t kTiB = std::int64_t{1} << 40;
constexpr std::string_view kShapeForm = "a shape such as h100x8 (model and cards) or cpu (no cards)";
constexpr std::int64_t kNodesMax = 100'000, kDevicesMax = 1'000'000;  ///< a case is read and played within seconds
constexpr std::string_view kNodesForm = "a number of nodes and a shape, \"cluster 4 x h100x8\"";

/// "racks" is of level "rack".
std::string_view level_of_plural(std::string_view word) { return word.ends_with('s') ? word.substr(0, word.size() - 1) : std::string_view(); }

struct LevelSize {
  std::string_view name;
  std::int64_t nodes = 0;
};

/// "racks of 4" or "level rail of 4" at the cursor; an empty name where it is neither.
LevelSize take_level_size(Words& words) {
  LevelSize size;
  if (words.accept("level"))
    size.name = words.take("the name of a level");
  else if (words.peek(1) == "of" && !level_of_plural(words.peek()).empty())
    size.name = level_of_plural(words.take("a level"));
  if (size.name.empty() || words.has_failed()) return {};
  if (!words.accept("of")) {
    words.take("of");
    words.fail("a level has a size", "\"level NAME of NODES\"");
  }
  size.nodes = words.take_count("the number of nodes in each domain of the level");
  return size;
}

}  // namespace

void CaseReader::find_levels() {
  std::vector<std::pair<std::string, std::int64_t>> found;
  std::vector<std::string> stated, across;
  bool is_nvlink_used = false;
  for (const std::string& line : file_.lines) {
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
  for (const std::string& name : stated) file_.names.levels.intern(name);
  for (const auto& [name, nodes] : found)
    if (std::find(across.begin(), across.end(), name) == across.end()) file_.names.levels.intern(name);
  if (is_nvlink_used && std::find(across.begin(), across.end(), "nvlink") == across.end()) file_.names.levels.intern("nvlink");
  nested_ = static_cast<std::uint32_t>(file_.names.levels.size());
  for (const std::string& name : across) file_.names.levels.intern(name);
  const auto levels = static_cast<std::uint32_t>(std::min<std::size_t>(file_.names.levels.size(), Topology::kLevelsMax));
  file_.names.domains.resize(file_.names.levels.size());  // of too many levels as well: nodes are read before the case is refused
  next_domain_.resize(file_.names.levels.size(), 0);
  happen(Millis(0), EventBody(LevelsDefined{std::min(nested_, levels), levels - std::min(nested_, levels)}));
}

/// The levels themselves were read by find_levels.
void CaseReader::read_levels(Words& words) {
  while (!words.is_at_end()) words.take("a level");
  if (file_.names.levels.size() > Topology::kLevelsMax) words.fail("too many levels", fmt::format("at most {}", Topology::kLevelsMax));
  if (!facts_.empty()) words.fail("levels are stated before the first node");
}

void CaseReader::take_shape(Words& words, NodeFacts& facts) {
  const std::string_view shape = words.take(kShapeForm);
  facts.allocatable = {256'000, 2 * kTiB, 16 * kTiB, 1000};
  if (shape == "cpu") return;
  const std::size_t x = shape.rfind('x');
  int devices = 0;
  const std::string_view number = x == std::string_view::npos ? std::string_view() : shape.substr(x + 1);
  const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), devices);
  if (number.empty() || x == 0 || failure != std::errc() || end != number.data() + number.size()) {
    words.fail(fmt::format("\"{}\" is not a shape", shape), kShapeForm);
    return;
  }
  if (devices < 1 || devices > kDevicesPerNodeMax)
    return words.fail(fmt::format("a node with {} cards", devices), fmt::format("1 to {}", kDevicesPerNodeMax));
  facts.devices = devices;
  facts.model = file_.names.models.intern(shape.substr(0, x));
}

void CaseReader::set_domain(Words& words, NodeFacts& facts, LevelId level, std::string_view name) {
  if (name.empty()) words.fail("a domain needs a name", "\"in rack=rack0\"");
  if (facts.domains.size() <= level.row()) facts.domains.resize(level.row() + 1);
  facts.domains[level.row()] = file_.names.domains[level.row()].intern(name);
}

void CaseReader::take_domains(Words& words, NodeFacts& facts) {
  constexpr std::string_view kForm = "domains such as \"in rack=rack0,block=block0\"";
  for (const std::string_view part : split(words.take(kForm), ',')) {
    const KeyValue domain = key_value(part);
    const LevelId level = file_.names.levels.find(domain.key);
    if (level.is_none() || !domain.has_value) words.fail(fmt::format("\"{}\" is not a domain of a level in this case", part), kForm);
    if (words.has_failed()) return;
    set_domain(words, facts, level, domain.value);
  }
}

bool CaseReader::take_node_option(Words& words, NodeFacts& facts) {
  if (const NamedAmount named = take_amount(words, file_.names); !named.resource.is_none()) {
    if (facts.allocatable.size() <= named.resource.row()) facts.allocatable.resize(named.resource.row() + 1, 0);
    facts.allocatable[named.resource.row()] = named.amount;
    return true;
  }
  if (const KeyValue pair = key_value(words.peek()); pair.key == "card-memory" && pair.has_value) {
    words.take(kAmountForm);
    facts.memory_per_device = MiB(bytes_of(words, pair.value) >> 20);
    return true;
  }
  if (words.accept("labels")) {
    for (const std::string_view part : split(words.take("labels such as zone=a,disk=ssd"), ',')) {
      const KeyValue label = key_value(part);
      if (!label.has_value || label.key.empty()) words.fail(fmt::format("\"{}\" is not a label", part), "labels such as zone=a,disk=ssd");
      const NodeLabel added = label_of(file_.names, label.key, label.value);
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
      facts.taints.push_back(
          {file_.names.label_keys.intern(key_value(effect.key).key), file_.names.labels.intern(effect.key), effect_of(words, effect.value)});
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
    take_domains(words, facts);
    return true;
  }
  return false;
}

void CaseReader::finish_node(NodeId node, NodeFacts facts, Millis at) {
  const NodeLabel own = label_of(file_.names, "node", file_.names.nodes.name(node));
  std::erase_if(facts.labels, [&](const NodeLabel& l) { return l.key == own.key; });
  facts.labels.push_back(own);
  std::sort(facts.labels.begin(), facts.labels.end(), [](const NodeLabel& a, const NodeLabel& b) { return a.key < b.key; });
  const LevelId nvlink = file_.names.levels.find("nvlink");
  if (!nvlink.is_none()) {
    if (facts.domains.size() <= nvlink.row()) facts.domains.resize(nvlink.row() + 1);
    if (facts.domains[nvlink.row()].is_none()) facts.domains[nvlink.row()] = file_.names.domains[nvlink.row()].intern(file_.names.nodes.name(node));
  }
  if (facts_.size() <= node.row()) facts_.resize(node.row() + 1);
  facts_[node.row()] = facts;
  std::erase(lost_, node);
  happen(at, EventBody(NodeSeen{node, std::move(facts)}));
}

void CaseReader::read_cluster(Words& words) {
  const std::int64_t count = words.take_count(kNodesForm);
  if (count + static_cast<std::int64_t>(file_.names.nodes.size()) > kNodesMax)
    words.fail(fmt::format("{} nodes in all", count + static_cast<std::int64_t>(file_.names.nodes.size())), fmt::format("at most {}", kNodesMax));
  if (!words.accept("x")) {
    words.take("x");
    words.fail("no \"x\" between number and shape", kNodesForm);
  }
  NodeFacts facts;
  take_shape(words, facts);
  if (!words.has_failed() && (devices_ += count * facts.devices) > kDevicesMax)
    words.fail(fmt::format("{} cards in all", devices_), fmt::format("at most {}", kDevicesMax));
  std::vector<LevelSize> sizes;
  while (!words.is_at_end() && words.peek() != "at") {
    if (const LevelSize size = take_level_size(words); !size.name.empty())
      sizes.push_back(size);
    else if (!take_node_option(words, facts)) {
      words.take("an option");
      words.fail("not an option of nodes", "cpu=, memory=, card-memory=, labels, taint, not-ready, \"racks of N\" or \"level NAME of N\"");
    }
  }
  const Millis at = take_at(words);
  if (words.has_failed()) return;
  const std::vector<std::uint32_t> first_domain = next_domain_;
  for (std::int64_t i = 0; i < count; ++i) {
    NodeFacts one = facts;
    for (const LevelSize& size : sizes) {
      const LevelId level = file_.names.levels.find(size.name);
      const auto number = first_domain[level.row()] + static_cast<std::uint32_t>(i / size.nodes);
      next_domain_[level.row()] = std::max(next_domain_[level.row()], number + 1);
      set_domain(words, one, level, fmt::format("{}{}", size.name, number));
    }
    finish_node(file_.names.nodes.intern(fmt::format("node{}", file_.names.nodes.size())), std::move(one), at);
  }
}

void CaseReader::read_node(Words& words) {
  const std::string_view name = words.take("the node's name and shape, \"node big h100x8\"");
  if (!file_.names.nodes.find(name).is_none()) words.fail(fmt::format("there is a node \"{}\" already", name));
  NodeFacts facts;
  take_shape(words, facts);
  while (take_node_option(words, facts)) {
  }
  const Millis at = take_at(words);
  if (!words.has_failed()) finish_node(file_.names.nodes.intern(name), std::move(facts), at);
}

void CaseReader::read_add(Words& words) {
  if (!words.accept("node")) {
    words.take("node");
    words.fail("only nodes are added", "\"add node SHAPE\" or \"add node NAME SHAPE\"");
  }
  const bool is_named = !words.peek(1).empty() && (words.peek(1) == "cpu" || words.peek(1).find_first_of('=') == std::string_view::npos) &&
                        words.peek(1) != "at" && words.peek(1) != "labels" && words.peek(1) != "taint" && words.peek(1) != "taints" &&
                        words.peek(1) != "in" && words.peek(1) != "not-ready";
  const std::string name = is_named ? std::string(words.take("a name")) : fmt::format("node{}", file_.names.nodes.size());
  NodeFacts facts;
  take_shape(words, facts);
  while (take_node_option(words, facts)) {
  }
  const Millis at = take_at(words);
  if (!words.has_failed()) finish_node(file_.names.nodes.intern(name), std::move(facts), at);
}

NodeId CaseReader::take_node_that_is_there(Words& words) {
  const NodeId node = take_node(words);
  if (std::count(lost_.begin(), lost_.end(), node) > 0)
    words.fail(fmt::format("node \"{}\" is lost", file_.names.nodes.name(node)), "a node that is there; \"add node NAME SHAPE\" lets one join again");
  return node;
}

void CaseReader::read_change(Words& words) {
  const NodeId node = take_node_that_is_there(words);
  if (words.has_failed()) return;
  NodeFacts facts = facts_[node.row()];
  while (take_node_option(words, facts)) {
  }
  const Millis at = take_at(words);
  if (!words.has_failed()) finish_node(node, std::move(facts), at);
}

void CaseReader::set_ready(Words& words, bool is_ready) {
  const NodeId node = take_node_that_is_there(words);
  const Millis at = take_at(words);
  if (words.has_failed()) return;
  NodeFacts facts = facts_[node.row()];
  facts.is_ready = is_ready;
  finish_node(node, std::move(facts), at);
}

void CaseReader::read_cordon(Words& words) { set_ready(words, false); }
void CaseReader::read_uncordon(Words& words) { set_ready(words, true); }

void CaseReader::read_lose(Words& words) {
  const NodeId node = take_node(words, true);
  const Millis at = take_at(words);
  if (words.has_failed()) return;
  lost_.push_back(node);
  happen(at, EventBody(NodeGone{node}));
}

/// Everything on the node is lost, and nothing new comes to it.
void CaseReader::read_drain(Words& words) {
  const NodeId node = take_node_that_is_there(words);
  const Millis at = take_at(words);
  if (words.has_failed()) return;
  NodeFacts facts = facts_[node.row()];
  facts.is_ready = false;
  happen(at, EventBody(NodeGone{node}));
  finish_node(node, std::move(facts), at);
}

}  // namespace ashlar::sim
