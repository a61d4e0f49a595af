#include "live/track/volumes/node_terms.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
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

using Terms = std::vector<NodeTerm>;
constexpr std::size_t kMergedByMax = 8;  ///< labels by which terms are merged, those that most terms list values of

/// An order of their texts.
bool is_less(const Requirement& a, const Requirement& b) {
  return std::tie(a.key, a.op, a.values) < std::tie(b.key, b.op, b.values);
}
bool is_before(const NodeTerm& a, const NodeTerm& b) {
  return a.expressions == b.expressions ? std::ranges::lexicographical_compare(a.fields, b.fields, is_less)
                                        : std::ranges::lexicographical_compare(a.expressions, b.expressions, is_less);
}

template <class T, class IsLess>
void sort_once(std::vector<T>& list, IsLess&& is_less) {
  std::ranges::sort(list, is_less);
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Terms that say the same are equal then.
void put_in_order(Terms& terms) {
  for (NodeTerm& term : terms)
    for (auto* list : {&term.expressions, &term.fields}) {
      for (Requirement& r : *list)
        if (r.op == SelectorOp::kIn || r.op == SelectorOp::kNotIn) sort_once(r.values, std::less<>());
      sort_once(*list, is_less);
    }
  sort_once(terms, is_before);
}

/// Where the term lists values of the label; its end: it does not.
std::vector<Requirement>::const_iterator listing(const NodeTerm& term, const PooledString& key) {
  return std::ranges::find_if(term.expressions,
                              [&](const Requirement& r) { return r.op == SelectorOp::kIn && r.key == key; });
}

/// Those of which most terms list values, in the order of their texts among equal ones.
std::vector<PooledString> labels_listed(const Terms& terms) {
  std::map<PooledString, std::size_t> uses;
  for (const NodeTerm& term : terms)
    for (const Requirement& r : term.expressions)
      if (r.op == SelectorOp::kIn) ++uses[r.key];
  std::vector<PooledString> keys;
  for (const auto& [key, count] : uses)
    if (count > 1) keys.push_back(key);
  std::ranges::stable_sort(keys, std::greater<>(), [&](const PooledString& key) { return uses.find(key)->second; });
  if (keys.size() > kMergedByMax) keys.resize(kMergedByMax);
  return keys;
}

Terms merged_by(const Terms& terms, const PooledString& key) {
  Terms out;
  std::map<NodeTerm, std::vector<PooledString>, decltype(&is_before)> values_by_rest(&is_before);
  for (const NodeTerm& term : terms) {
    const auto at = listing(term, key);
    if (at == term.expressions.end()) {
      out.push_back(term);
      continue;
    }
    NodeTerm rest = term;
    rest.expressions.erase(rest.expressions.begin() + (at - term.expressions.begin()));
    std::vector<PooledString>& values = values_by_rest[std::move(rest)];
    values.insert(values.end(), at->values.begin(), at->values.end());
  }
  for (const auto& [rest, values] : values_by_rest) {
    NodeTerm& term = out.emplace_back(rest);
    term.expressions.push_back(requirement(key.view(), SelectorOp::kIn, values));
  }
  return out;
}

/// Those of one requirement, which most terms are: in one pass.
void merge_plain(Terms& terms) {
  Terms out;
  std::map<PooledString, std::vector<PooledString>> values_by_key;
  for (NodeTerm& term : terms) {
    const bool is_plain =
        term.fields.empty() && term.expressions.size() == 1 && term.expressions[0].op == SelectorOp::kIn;
    if (is_plain) {
      std::vector<PooledString>& values = values_by_key[term.expressions[0].key];
      values.insert(values.end(), term.expressions[0].values.begin(), term.expressions[0].values.end());
    } else {
      out.push_back(std::move(term));
    }
  }
  for (auto& [key, values] : values_by_key)
    out.push_back({.expressions = {requirement(key.view(), SelectorOp::kIn, std::move(values))}, .fields = {}});
  terms = std::move(out);
}

}  // namespace

void merge_terms(std::vector<NodeTerm>& terms) {
  merge_plain(terms);
  put_in_order(terms);
  for (bool are_fewer = terms.size() > 1; are_fewer;) {
    Terms fewest;
    for (const PooledString& key : labels_listed(terms))
      if (Terms merged = merged_by(terms, key); fewest.empty() || merged.size() < fewest.size())
        fewest = std::move(merged);
    are_fewer = !fewest.empty() && fewest.size() < terms.size();
    if (!are_fewer) continue;
    terms = std::move(fewest);
    put_in_order(terms);
  }
}

bool holds(const AnyOf& terms, const Labels& labels) {
  if (!terms) return true;
  return std::ranges::any_of(*terms, [&](const NodeTerm& term) {
    return !term.expressions.empty() &&
           std::ranges::all_of(term.expressions, [&](const Requirement& r) { return holds(r, labels); });
  });
}

}  // namespace ashlar::kube
