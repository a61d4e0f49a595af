#include "model/pod_labels.h"

#include <algorithm>
#include <functional>

#include "model/label_operator.h"

namespace ashlar {
namespace {

template <class Row>
bool is_in_bounds(Row row) {
  return row.value < kLabelRowsMax;
}

bool is_sound(const LabelExpression& e) {
  return is_in_bounds(e.key) && std::all_of(e.values.begin(), e.values.end(), is_in_bounds<LabelId>);
}

}  // namespace

bool are_sound_labels(const std::vector<PodLabel>& labels) {
  const auto is_out_of_order = [](const PodLabel& a, const PodLabel& b) { return !(a.key < b.key); };
  return std::adjacent_find(labels.begin(), labels.end(), is_out_of_order) == labels.end() &&
         std::all_of(labels.begin(), labels.end(),
                     [](const PodLabel& l) { return is_in_bounds(l.key) && is_in_bounds(l.id); });
}

bool is_sound_label_set(const LabelSet& set) {
  return (set.ns.is_none() || is_in_bounds(set.ns)) && are_sound_labels(set.labels);
}

namespace {

/// Of a selector, or of a scope of one.
template <class Scope>
bool is_sound_scope(const Scope& s) {
  return std::adjacent_find(s.namespaces.begin(), s.namespaces.end(), std::greater_equal<>()) == s.namespaces.end() &&
         std::all_of(s.namespaces.begin(), s.namespaces.end(), is_in_bounds<NamespaceId>) &&
         std::all_of(s.of_namespace.begin(), s.of_namespace.end(), is_sound);
}

template <class Scope>
bool is_within(const Scope& s, NamespaceId ns, const NamespaceLabels& labels) {
  return std::binary_search(s.namespaces.begin(), s.namespaces.end(), ns) ||
         (s.selects_namespaces && means(s.of_namespace, labels));
}

}  // namespace

bool is_sound_selector(const PodSelector& s) {
  return is_sound_scope(s) && std::all_of(s.all.begin(), s.all.end(), is_sound) &&
         std::all_of(s.also_within.begin(), s.also_within.end(), is_sound_scope<NamespaceScope>);
}

bool means_namespace(const PodSelector& s, NamespaceId ns, const NamespaceLabels& labels) {
  return is_within(s, ns, labels) &&
         std::all_of(s.also_within.begin(), s.also_within.end(),
                     [&](const NamespaceScope& scope) { return is_within(scope, ns, labels); });
}

bool has_known_selectors(const Constraint& constraint, std::size_t rows) {
  bool are_known = true;
  constraint.each_pod_selector([&](PodSelectorId selector) { are_known = are_known && selector.row() < rows; });
  return are_known;
}

bool is_sound_company(const Constraint& constraint) {
  const auto is_number = [](std::int32_t number) { return number >= 1; };
  const auto are_spreads = [&](const std::vector<SpreadTerm>& terms) {
    return std::all_of(terms.begin(), terms.end(), [&](const SpreadTerm& t) {
      return is_in_bounds(t.topology) && is_number(t.skew_max) && is_number(t.domains_min);
    });
  };
  const auto is_preference = [](const PodPreference& t) {
    return is_in_bounds(t.topology) && t.weight >= -kPodWeightMax && t.weight <= kPodWeightMax;
  };
  return std::all_of(constraint.near.topologies.begin(), constraint.near.topologies.end(), is_in_bounds<LabelKeyId>) &&
         constraint.near.topologies.empty() == constraint.near.selector.is_none() && are_spreads(constraint.spread) &&
         are_spreads(constraint.prefers_spread) &&
         std::all_of(constraint.prefers_pods.begin(), constraint.prefers_pods.end(), is_preference);
}

bool holds(const LabelExpression& e, const std::vector<PodLabel>& labels) {
  const auto it = std::lower_bound(labels.begin(), labels.end(), e.key,
                                   [](const PodLabel& l, LabelKeyId key) { return l.key < key; });
  const bool is_present = it != labels.end() && it->key == e.key;
  const bool is_listed = is_present && std::find(e.values.begin(), e.values.end(), it->id) != e.values.end();
  return holds(e.op, is_present, is_listed);
}

bool hold(const std::vector<LabelExpression>& all, const std::vector<PodLabel>& labels) {
  return std::all_of(all.begin(), all.end(), [&](const LabelExpression& e) { return holds(e, labels); });
}

bool means(const std::vector<LabelExpression>& of_namespace, const NamespaceLabels& labels) {
  return !labels.is_known || hold(of_namespace, labels.labels);
}

bool selects(const PodSelector& s, const LabelSet& set, const NamespaceLabels& of_its_namespace) {
  if (set.ns.is_none() || (set.is_leaving && s.skips_leaving)) return false;
  return means_namespace(s, set.ns, of_its_namespace) && hold(s.all, set.labels);
}

}  // namespace ashlar
