#include "live/track/company/company_rows.h"

#include <algorithm>

#include "base/digest.h"

namespace ashlar::kube {
namespace {

std::uint64_t hash_of(const std::vector<LabelExpression>& all, std::uint64_t h) {
  for (const LabelExpression& e : all) {
    h = hash_combine(h, (std::uint64_t{e.key.value} << 8) | static_cast<std::uint64_t>(e.op));
    for (const LabelId v : e.values) h = hash_combine(h, v.value);
  }
  return h;
}

/// By how much required affinity of a placed pod draws those that it means: the default hardPodAffinityWeight of
/// kube-scheduler.
constexpr std::int32_t kDrawnByRequired = 1;

std::uint64_t hash_of(const LabelSet& set) {
  std::uint64_t h = set.ns.value * 2 + (set.is_leaving ? 1 : 0);
  for (const PodLabel& l : set.labels) h = hash_combine(h, l.id.value);
  return h;
}

std::uint64_t hash_of(const PodSelector& s) {
  std::uint64_t h = (s.selects_namespaces ? 1u : 0u) + (s.skips_leaving ? 2u : 0u);
  for (const NamespaceId ns : s.namespaces) h = hash_combine(h, ns.value);
  for (const NamespaceScope& scope : s.also_within) {
    for (const NamespaceId ns : scope.namespaces) h = hash_combine(h, ns.value);
    h = hash_of(scope.of_namespace, h + 1);
  }
  return hash_of(s.all, hash_of(s.of_namespace, h) + 1);
}

LabelExpression::Op op_of(SelectorOp op) {
  switch (op) {
    case SelectorOp::kIn:
      return LabelExpression::Op::kIn;
    case SelectorOp::kNotIn:
      return LabelExpression::Op::kNotIn;
    case SelectorOp::kExists:
      return LabelExpression::Op::kExists;
    case SelectorOp::kDoesNotExist:
      return LabelExpression::Op::kDoesNotExist;
    case SelectorOp::kGt:
      return LabelExpression::Op::kGreater;
    case SelectorOp::kLt:
      return LabelExpression::Op::kLess;
  }
  return LabelExpression::Op::kIn;
}

}  // namespace

std::vector<PodLabel> CompanyRows::pod_labels(const Labels& labels) {
  std::vector<PodLabel> out;
  for (const KeyValue& l : labels) out.push_back({names_.label_keys.of(l.key), names_.label(l.key, l.value)});
  std::sort(out.begin(), out.end(), [](const PodLabel& a, const PodLabel& b) { return a.key < b.key; });
  const auto is_same = [](const PodLabel& a, const PodLabel& b) { return a.key == b.key; };
  out.erase(std::unique(out.begin(), out.end(), is_same), out.end());
  return out;
}

NamespaceLabels CompanyRows::labels_of_namespace(const PooledString& ns) {
  const Labels* labels = namespaces_ ? namespaces_(ns) : nullptr;
  return labels == nullptr ? NamespaceLabels{} : NamespaceLabels{true, pod_labels(*labels)};
}

NamespaceId CompanyRows::namespace_row(const PooledString& ns) {
  NamespaceId id = names_.namespaces.find(ns);
  if (!id.is_none()) return id;
  id = names_.namespaces.add(ns);
  if (id.row() >= reported_.size()) reported_.resize(id.row() + 1);
  reported_[id.row()] = labels_of_namespace(ns);
  out_.add(NamespaceSeen{id, reported_[id.row()]});
  return id;
}

void CompanyRows::note_namespace_changed(const PooledString& ns) {
  const NamespaceId id = names_.namespaces.find(ns);
  if (id.is_none()) return;
  NamespaceLabels labels = labels_of_namespace(ns);
  if (labels == reported_[id.row()]) return;
  reported_[id.row()] = std::move(labels);
  out_.add(NamespaceSeen{id, reported_[id.row()]});
}

LabelSetId CompanyRows::label_set(const PooledString& ns, const Labels& labels, bool is_leaving) {
  LabelSet set{.ns = namespace_row(ns), .labels = pod_labels(labels), .is_leaving = is_leaving};
  const std::uint64_t hash = hash_of(set);
  const auto [id, is_new] = label_sets_.of(std::move(set), hash);
  if (is_new) out_.add(LabelSetDefined{id, label_sets_[id]});
  return id;
}

std::vector<LabelExpression> CompanyRows::expressions(const LabelSelector& selector) {
  std::vector<LabelExpression> out;
  for (const KeyValue& l : selector.match_labels)
    out.push_back({names_.label_keys.of(l.key), LabelExpression::Op::kIn, {names_.label(l.key, l.value)}, 0});
  for (const Requirement& r : selector.expressions) {
    LabelExpression& e = out.emplace_back(LabelExpression{names_.label_keys.of(r.key), op_of(r.op), {}, 0});
    for (const PooledString& value : r.values) e.values.push_back(names_.label(r.key, value));
  }
  return out;
}

PodSelectorId CompanyRows::intern(PodSelector selector) {
  const std::uint64_t hash = hash_of(selector);
  const auto [id, is_new] = selectors_.of(std::move(selector), hash);
  if (is_new) out_.add(PodSelectorDefined{id, selectors_[id]});
  return id;
}

PodSelector CompanyRows::selector_of(const PooledString& ns, const PodAffinityTerm& term) {
  PodSelector s;
  for (const PooledString& listed : term.namespaces) s.namespaces.push_back(namespace_row(listed));
  s.selects_namespaces = term.namespace_selector.present;
  if (s.namespaces.empty() && !s.selects_namespaces) s.namespaces.push_back(namespace_row(ns));
  std::sort(s.namespaces.begin(), s.namespaces.end());
  s.namespaces.erase(std::unique(s.namespaces.begin(), s.namespaces.end()), s.namespaces.end());
  if (s.selects_namespaces) s.of_namespace = expressions(term.namespace_selector);
  if (!term.selector.present) return {};  // means no pod
  s.all = expressions(term.selector);
  return s;
}

PodSelectorId CompanyRows::selector_of_all(const PooledString& ns, const std::vector<PodAffinityTerm>& terms) {
  PodSelector all = selector_of(ns, terms.front());
  for (std::size_t i = 1; i < terms.size(); ++i) {
    PodSelector one = selector_of(ns, terms[i]);
    if (!one.selects_namespaces) all.swap_scope(one);
    if (!all.selects_namespaces && !one.selects_namespaces)
      std::erase_if(all.namespaces, [&](NamespaceId id) { return !std::ranges::binary_search(one.namespaces, id); });
    else if (!all.has_scope_of(one))
      all.also_within.push_back({std::move(one.namespaces), one.selects_namespaces, std::move(one.of_namespace)});
    all.all.insert(all.all.end(), one.all.begin(), one.all.end());
  }
  const bool means_none = all.namespaces.empty() && !all.selects_namespaces;
  return intern(means_none ? PodSelector{} : std::move(all));
}

PodSelectorId CompanyRows::selector(const PooledString& ns, const Labels& labels, const TopologySpread& spread) {
  PodAffinityTerm term;
  term.selector = spread.selector;
  PodSelector s = selector_of(ns, term);
  s.skips_leaving = true;
  for (const PooledString& key : spread.match_label_keys)
    if (const PooledString* value = find_label(labels, key); value != nullptr && spread.selector.present)
      s.all.push_back({names_.label_keys.of(key), LabelExpression::Op::kIn, {names_.label(key, *value)}, 0});
  if (s.all.empty()) s = {};  // upstream counts no pods by a selector that requires nothing
  return intern(std::move(s));
}

std::vector<PodTerm> CompanyRows::keeps_away(const PooledString& ns, const std::vector<PodAffinityTerm>& terms) {
  std::vector<PodTerm> out;
  for (const PodAffinityTerm& t : terms) {
    if (!t.selector.present) continue;  // means no pod
    const PodTerm term{intern(selector_of(ns, t)), names_.label_keys.of(t.topology_key)};
    if (std::ranges::find(out, term) == out.end()) out.push_back(term);
  }
  return out;
}

std::vector<PodPreference> CompanyRows::prefers_pods(const PooledString& ns, const PodRules& rules) {
  std::vector<PodPreference> out;
  const auto add = [&](const PodAffinityTerm& t, std::int32_t weight, bool is_required) {
    if (!t.selector.present || weight == 0) return;  // means no pod
    out.push_back({intern(selector_of(ns, t)), names_.label_keys.of(t.topology_key), weight, is_required});
  };
  for (const PreferredPodTerm& p : rules.preferred_pod_affinity) add(p.term, p.weight, false);
  for (const PreferredPodTerm& p : rules.preferred_anti_affinity) add(p.term, -p.weight, false);
  for (const PodAffinityTerm& t : rules.required_pod_affinity) add(t, kDrawnByRequired, true);
  return out;
}

SpreadTerm CompanyRows::spread_term(const PooledString& ns, const Labels& labels, const TopologySpread& s,
                                    const LabelSet& own) {
  SpreadTerm term;
  term.selector = selector(ns, labels, s);
  term.topology = names_.label_keys.of(s.topology_key);
  term.skew_max = s.max_skew;
  term.domains_min = s.min_domains;
  term.matches_itself = selects(selectors_[term.selector], own, reported_[own.ns.row()]);
  term.honors_affinity = s.honors_affinity;
  term.honors_taints = s.honors_taints;
  term.requires_all_labels = s.requires_all_labels;
  return term;
}

CompanyRules CompanyRows::rules_of(const PooledString& ns, const Labels& labels, const PodRules& rules) {
  CompanyRules company;
  const LabelSet own{.ns = namespace_row(ns), .labels = pod_labels(labels)};
  const auto matches_itself = [&](PodSelectorId selector) {
    return selects(selectors_[selector], own, reported_[own.ns.row()]);
  };
  company.keeps_away = keeps_away(ns, rules.required_anti_affinity);
  company.keeps_itself_away = std::ranges::any_of(company.keeps_away, matches_itself, &PodTerm::selector);
  if (!rules.required_pod_affinity.empty()) {
    company.near.selector = selector_of_all(ns, rules.required_pod_affinity);
    // Of a namespace that is not known yet it may be none of them: it waits for others, or for its namespace.
    const PodSelector& near = selectors_[company.near.selector];
    const bool is_certain = reported_[own.ns.row()].is_known || (!near.selects_namespaces && near.also_within.empty());
    company.near.matches_itself = is_certain && matches_itself(company.near.selector);
    for (const PodAffinityTerm& t : rules.required_pod_affinity) {
      const LabelKeyId topology = names_.label_keys.of(t.topology_key);
      if (std::ranges::find(company.near.topologies, topology) == company.near.topologies.end())
        company.near.topologies.push_back(topology);
    }
  }
  company.prefers_pods = prefers_pods(ns, rules);
  for (const TopologySpread& s : rules.spread) company.spread.push_back(spread_term(ns, labels, s, own));
  for (const TopologySpread& s : rules.preferred_spread)
    company.prefers_spread.push_back(spread_term(ns, labels, s, own));
  return company;
}

void CompanyRows::use(const Constraint& constraint) {
  if (!constraint.seen_as.is_none()) label_sets_.use(constraint.seen_as);
  constraint.each_pod_selector([&](PodSelectorId selector) { selectors_.use(selector); });
}

void CompanyRows::leave(const Constraint& constraint) {
  if (!constraint.seen_as.is_none()) label_sets_.leave(constraint.seen_as);
  constraint.each_pod_selector([&](PodSelectorId selector) { selectors_.leave(selector); });
}

std::size_t CompanyRows::note_taken() {
  std::size_t given_back = 0;
  label_sets_.settle([&](LabelSetId id) {
    out_.add_confirmation(LabelSetDefined{id, {}});
    ++given_back;
  });
  selectors_.settle([&](PodSelectorId id) {
    out_.add_confirmation(PodSelectorDefined{id, {}});
    ++given_back;
  });
  return given_back;
}

void CompanyRows::add_to(ObjectNames::InUse& in_use) const {
  label_sets_.each([&](LabelSetId, const LabelSet& set) { in_use.add(set); });
  selectors_.each([&](PodSelectorId, const PodSelector& selector) { in_use.add(selector); });
  for (std::size_t ns = 0; ns < reported_.size(); ++ns)
    if (in_use.namespaces.has(ns)) in_use.add(reported_[ns].labels);
}

}  // namespace ashlar::kube
