#include "live/track/volumes/node_terms.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "live/track/hashes.h"

namespace ashlar::kube {
namespace {

constexpr std::string_view kZone = "topology.kubernetes.io/zone", kRegion = "topology.kubernetes.io/region";
constexpr std::string_view kOldZone = "failure-domain.beta.kubernetes.io/zone",
                           kOldRegion = "failure-domain.beta.kubernetes.io/region";
constexpr std::array kTopologyLabels = {kOldZone, kOldRegion, kZone, kRegion};
constexpr std::string_view kDelimiter = "__";

Requirement requirement(std::string_view key, SelectorOp op, std::vector<PooledString> values = {}) {
  return {.key = key, .op = op, .values = std::move(values)};
}

std::string_view new_label(std::string_view key) {
  return key == kOldZone ? kZone : key == kOldRegion ? kRegion : std::string_view();
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

/// "a__b" as a and b; `has_empty`: one of them is empty.
std::vector<PooledString> zones_of(std::string_view text, bool& has_empty) {
  std::vector<PooledString> zones;
  has_empty = false;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(kDelimiter, at);
    const std::string_view zone = trimmed(text.substr(at, end == std::string_view::npos ? end : end - at));
    has_empty = has_empty || zone.empty();
    if (!zone.empty() && std::find(zones.begin(), zones.end(), zone) == zones.end()) zones.emplace_back(zone);
    if (end == std::string_view::npos) return zones;
    at = end + kDelimiter.size();
  }
}

bool names_key(const std::vector<NodeTerm>& terms, std::string_view key) {
  return std::ranges::any_of(terms, [&](const NodeTerm& term) {
    return std::ranges::any_of(term.expressions, [&](const Requirement& r) { return r.key == key; });
  });
}

bool has_values(const std::vector<NodeTerm>& terms, std::string_view key) {
  return std::ranges::any_of(terms, [&](const NodeTerm& term) {
    return std::ranges::any_of(term.expressions,
                               [&](const Requirement& r) { return r.key == key && !r.values.empty(); });
  });
}

void replace_key(std::vector<NodeTerm>& terms, std::string_view from, std::string_view to) {
  for (NodeTerm& term : terms)
    for (Requirement& r : term.expressions)
      if (r.key == from) r.key = to;
}

/// Terms on fields are not compared with volumes' nodes, as upstream: nothing else remains of a term on fields alone.
AnyOf without_fields(const std::vector<NodeTerm>& terms) {
  std::vector<NodeTerm> out;
  for (const NodeTerm& term : terms) {
    if (term.expressions.empty() && term.fields.empty()) continue;  // matches nothing
    if (term.expressions.empty()) return std::nullopt;
    out.push_back({.expressions = term.expressions, .fields = {}});
  }
  return out;
}

/// The affinity of the volume as its CSI driver has it (translateTopologyFromInTreeToCSI).
AnyOf migrated_affinity(const PersistentVolume& volume, std::string_view topology_key) {
  std::vector<NodeTerm> terms = volume.affinity;
  const bool is_old = !names_key(terms, kZone) &&
                      (names_key(terms, kOldZone) ||
                       (find_label(volume.labels, kZone) == nullptr && find_label(volume.labels, kOldZone) != nullptr));
  const std::string_view zone = is_old ? kOldZone : kZone;
  bool has_affinity = volume.has_affinity;
  if (has_values(terms, zone)) {
    replace_key(terms, zone, topology_key);
  } else if (const PooledString* label = find_label(volume.labels, zone); label != nullptr) {
    bool has_empty = false;
    const std::vector<PooledString> zones = zones_of(label->view(), has_empty);
    if (!zones.empty()) {
      if (terms.empty()) terms.emplace_back();
      has_affinity = true;
      for (NodeTerm& term : terms) term.expressions.push_back(requirement(topology_key, SelectorOp::kIn, zones));
    }
  }
  if (is_old && has_values(terms, kOldRegion)) replace_key(terms, kOldRegion, kRegion);
  return has_affinity ? without_fields(terms) : AnyOf();
}

/// The list where the label is (or is not) on a node besides.
std::vector<NodeTerm> where(const AnyOf& terms, const Requirement& also) {
  std::vector<NodeTerm> out = terms.value_or(std::vector<NodeTerm>(1));
  for (NodeTerm& term : out) term.expressions.push_back(also);
  return out;
}

bool is_plain(const NodeTerm& term) {
  if (term.expressions.size() + term.fields.size() != 1) return false;
  const Requirement& only = term.fields.empty() ? term.expressions[0] : term.fields[0];
  return only.op == SelectorOp::kIn;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                   : std::nullopt;
}

bool holds(const Requirement& r, const Labels& labels) {
  const PooledString* value = find_label(labels, r.key);
  switch (r.op) {
    case SelectorOp::kExists:
      return value != nullptr;
    case SelectorOp::kDoesNotExist:
      return value == nullptr;
    case SelectorOp::kIn:
      return value != nullptr && std::ranges::find(r.values, *value) != r.values.end();
    case SelectorOp::kNotIn:
      return value == nullptr || std::ranges::find(r.values, *value) == r.values.end();
    case SelectorOp::kGt:
    case SelectorOp::kLt:
      break;
  }
  if (value == nullptr || r.values.size() != 1) return false;
  const std::optional<std::int64_t> have = number_of(value->view()), bound = number_of(r.values[0].view());
  return have && bound && (r.op == SelectorOp::kGt ? *have > *bound : *have < *bound);
}

}  // namespace

std::shared_ptr<const VolumeTerms> terms_of(std::vector<std::vector<NodeTerm>> lists) {
  const std::uint64_t hash = hash_of(lists);
  return std::make_shared<const VolumeTerms>(VolumeTerms{std::move(lists), hash});
}

AnyOf affinity_terms(const PersistentVolume& volume) {
  const AnyOf plain = volume.has_affinity ? without_fields(volume.affinity) : AnyOf();
  const MigratedPluginRow& plugin = row_of(volume.plugin);
  if (plugin.topology_key.empty()) return plain;
  const AnyOf migrated = migrated_affinity(volume, plugin.topology_key);
  if (migrated == plain) return plain;
  const std::string label = std::string(kCsiMigratedLabel) + std::string(plugin.name);
  std::vector<NodeTerm> terms = where(plain, requirement(label, SelectorOp::kDoesNotExist));
  for (NodeTerm& term : where(migrated, requirement(label, SelectorOp::kExists))) terms.push_back(std::move(term));
  return terms;
}

std::vector<std::vector<NodeTerm>> zone_terms(const PersistentVolume& volume) {
  std::vector<std::vector<NodeTerm>> lists;
  for (const std::string_view key : kTopologyLabels) {
    const PooledString* label = find_label(volume.labels, key);
    if (label == nullptr) continue;
    bool has_empty = false;
    const std::vector<PooledString> values = zones_of(label->view(), has_empty);
    if (has_empty) continue;  // is ignored, as upstream
    NodeTerm without;
    for (const std::string_view any : kTopologyLabels)
      without.expressions.push_back(requirement(any, SelectorOp::kDoesNotExist));
    std::vector<NodeTerm>& list = lists.emplace_back();
    list.push_back(std::move(without));
    list.push_back({.expressions = {requirement(key, SelectorOp::kIn, values)}, .fields = {}});
    if (const std::string_view renamed = new_label(key); !renamed.empty())
      list.push_back(
          {.expressions = {requirement(key, SelectorOp::kDoesNotExist), requirement(renamed, SelectorOp::kIn, values)},
           .fields = {}});
  }
  return lists;
}

AnyOf topology_terms(const StorageClass& storage_class) {
  if (storage_class.allowed_topologies.empty()) return std::nullopt;
  std::vector<NodeTerm> terms;
  for (const NodeTerm& term : storage_class.allowed_topologies)
    if (!term.expressions.empty()) terms.push_back(term);
  return terms;
}

AnyOf selector_terms(const LabelSelector& selector) {
  if (!selector.present) return std::vector<NodeTerm>();
  NodeTerm term;
  for (const KeyValue& label : selector.match_labels)
    term.expressions.push_back(requirement(label.key.view(), SelectorOp::kIn, {label.value}));
  term.expressions.insert(term.expressions.end(), selector.expressions.begin(), selector.expressions.end());
  if (term.expressions.empty()) return std::nullopt;
  return std::vector<NodeTerm>{std::move(term)};
}

std::vector<NodeTerm> driver_terms(const PooledString& driver, bool is_migrated) {
  std::vector<NodeTerm> terms(1);
  terms[0].expressions.push_back(requirement(std::string(kCsiDriverLabel) + driver.str(), SelectorOp::kExists));
  if (is_migrated)
    terms.push_back({.expressions = {requirement(kCsiNodeLabel, SelectorOp::kDoesNotExist)}, .fields = {}});
  return terms;
}

NodeTerm named_nodes(std::vector<PooledString> names) {
  return {.expressions = {requirement(kNodeNameKey, SelectorOp::kIn, std::move(names))}, .fields = {}};
}

AnyOf either(AnyOf a, AnyOf b) {
  if (!a || !b) return std::nullopt;
  for (NodeTerm& term : *b) a->push_back(std::move(term));
  return a;
}

std::optional<AnyOf> both(const AnyOf& a, const AnyOf& b, std::size_t terms_max) {
  if (!a) return b;
  if (!b) return a;
  if (a->size() * b->size() > terms_max) return std::nullopt;
  std::vector<NodeTerm> out;
  for (const NodeTerm& left : *a)
    for (const NodeTerm& right : *b) {
      NodeTerm& term = out.emplace_back(left);
      term.expressions.insert(term.expressions.end(), right.expressions.begin(), right.expressions.end());
    }
  return AnyOf(std::move(out));
}

namespace {

/// An order of their texts.
bool is_before(const NodeTerm& a, const NodeTerm& b) {
  const auto parts = [](const Requirement& r) { return std::tie(r.key, r.op, r.values); };
  const auto are_before = [&](const std::vector<Requirement>& left, const std::vector<Requirement>& right) {
    return std::ranges::lexicographical_compare(left, right, {}, parts, parts);
  };
  return a.expressions == b.expressions ? are_before(a.fields, b.fields) : are_before(a.expressions, b.expressions);
}

}  // namespace

void merge_terms(std::vector<NodeTerm>& terms) {
  std::vector<NodeTerm> out;
  std::map<PooledString, std::vector<PooledString>> by_key;
  for (NodeTerm& term : terms) {
    if (is_plain(term) && term.fields.empty()) {
      std::vector<PooledString>& values = by_key[term.expressions[0].key];
      values.insert(values.end(), term.expressions[0].values.begin(), term.expressions[0].values.end());
    } else {
      out.push_back(std::move(term));
    }
  }
  std::ranges::sort(out, is_before);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  for (auto& [key, values] : by_key) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    out.push_back({.expressions = {requirement(key.view(), SelectorOp::kIn, std::move(values))}, .fields = {}});
  }
  terms = std::move(out);
}

bool holds(const AnyOf& terms, const Labels& labels) {
  if (!terms) return true;
  return std::ranges::any_of(*terms, [&](const NodeTerm& term) {
    return !term.expressions.empty() &&
           std::ranges::all_of(term.expressions, [&](const Requirement& r) { return holds(r, labels); });
  });
}

}  // namespace ashlar::kube
