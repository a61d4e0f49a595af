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

std::uint64_t hash_of(const LabelSet& set) {
  std::uint64_t h = set.ns.value;
  for (const PodLabel& l : set.labels) h = hash_combine(h, l.id.value);
  return h;
}

std::uint64_t hash_of(const PodSelector& s) {
  std::uint64_t h = s.selects_namespaces ? 1 : 0;
  for (const NamespaceId ns : s.namespaces) h = hash_combine(h, ns.value);
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

LabelSetId CompanyRows::label_set(const PooledString& ns, const Labels& labels) {
  LabelSet set{namespace_row(ns), pod_labels(labels)};
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

PodSelectorId CompanyRows::selector(const PooledString& ns, const PodAffinityTerm& term) {
  PodSelector s;
  for (const PooledString& listed : term.namespaces) s.namespaces.push_back(namespace_row(listed));
  s.selects_namespaces = term.namespace_selector.present;
  if (s.namespaces.empty() && !s.selects_namespaces) s.namespaces.push_back(namespace_row(ns));
  std::sort(s.namespaces.begin(), s.namespaces.end());
  s.namespaces.erase(std::unique(s.namespaces.begin(), s.namespaces.end()), s.namespaces.end());
  if (s.selects_namespaces) s.of_namespace = expressions(term.namespace_selector);
  s.all = expressions(term.selector);
  const std::uint64_t hash = hash_of(s);
  const auto [id, is_new] = selectors_.of(std::move(s), hash);
  if (is_new) out_.add(PodSelectorDefined{id, selectors_[id]});
  return id;
}

void CompanyRows::use(const Constraint& constraint) {
  if (!constraint.seen_as.is_none()) label_sets_.use(constraint.seen_as);
  for (const PodTerm& t : constraint.keeps_away) selectors_.use(t.selector);
}

void CompanyRows::leave(const Constraint& constraint) {
  if (!constraint.seen_as.is_none()) label_sets_.leave(constraint.seen_as);
  for (const PodTerm& t : constraint.keeps_away) selectors_.leave(t.selector);
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
