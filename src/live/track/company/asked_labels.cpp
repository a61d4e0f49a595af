#include "live/track/company/asked_labels.h"

#include <algorithm>
#include <type_traits>

namespace ashlar::kube {
namespace {
constexpr std::size_t kFewNews = 16;
}

void AskedLabels::count(const Asked& asked, int by) {
  const auto [it, is_new] = asked_.try_emplace(asked, 0u);
  if (is_new)
    news_.insert(asked);
  else if (it->second == 0)
    idle_.erase(asked);
  it->second = static_cast<std::uint32_t>(static_cast<int>(it->second) + by);
  if (it->second == 0) {
    if (idle_.is_full()) forget(idle_.forget_one().first);
    idle_[asked];
  }
  if (!forgotten_.empty() && (is_new || forgotten_.size() >= kIdleMax)) {
    news_.insert(forgotten_.begin(), forgotten_.end());
    forgotten_.clear();
  }
}

void AskedLabels::forget(const Asked& idle) {
  asked_.erase(idle);
  forgotten_.insert(idle);
}

void AskedLabels::count(const PooledString& scope, const LabelSelector& selector, int by) {
  // Of what the selector requires, one thing tells that it may mean a pod: a single value if there is one.
  const KeyValue* single = selector.match_labels.empty() ? nullptr : &selector.match_labels.front();
  const Requirement* required = nullptr;
  const auto rank = [](const Requirement& r) {
    if (r.op == SelectorOp::kIn) return r.values.size() == 1 ? 0 : 1;
    return r.op == SelectorOp::kExists ? 2 : 3;
  };
  for (const Requirement& r : selector.expressions)
    if (single == nullptr && rank(r) < (required == nullptr ? 3 : rank(*required))) required = &r;
  if (single != nullptr) {
    count({scope, single->key, single->value, Kind::kMeans, false}, by);
  } else if (required == nullptr) {
    count({scope, {}, {}, Kind::kMeans, false}, by);
  } else if (required->op == SelectorOp::kExists) {
    count({scope, required->key, {}, Kind::kMeans, true}, by);
  } else {
    for (const PooledString& value : required->values) count({scope, required->key, value, Kind::kMeans, false}, by);
  }
  for (const KeyValue& l : selector.match_labels) count({scope, l.key, l.value, Kind::kNames, false}, by);
  for (const Requirement& r : selector.expressions) {
    const bool is_by_key = r.op == SelectorOp::kExists || r.op == SelectorOp::kDoesNotExist;
    if (is_by_key) count({scope, r.key, {}, Kind::kNames, true}, by);
    if (!is_by_key)
      for (const PooledString& value : r.values) count({scope, r.key, value, Kind::kNames, false}, by);
  }
}

void AskedLabels::count(const PooledString& ns, const PodAffinityTerm& term, int by) {
  if (!term.selector.present) return;  // means no pod
  if (term.namespace_selector.present)
    count(PooledString(), term.selector, by);
  else if (term.namespaces.empty())
    count(ns, term.selector, by);
  else
    for (const PooledString& listed : term.namespaces) count(listed, term.selector, by);
}

template <class Table>
bool AskedLabels::has(const Table& table, Kind kind, const PooledString& ns, const KeyValue& label) {
  const auto is_in = [&](const PooledString& scope) {
    return table.contains(Asked{scope, label.key, label.value, kind, false}) ||
           table.contains(Asked{scope, label.key, {}, kind, true});
  };
  return is_in(ns) || is_in({});
}

template <class Table>
bool AskedLabels::has_any(const Table& table, Kind kind, const PooledString& ns, const Labels& labels) {
  if (table.empty()) return false;
  if constexpr (std::is_same_v<Table, Set>)  // asked of every waiting pod: a few are compared faster than looked up
    if (table.size() <= kFewNews)
      return std::any_of(table.begin(), table.end(), [&](const Asked& a) {
        if (a.kind != kind || !(a.scope.empty() || a.scope == ns)) return false;
        const auto is_asked = [&](const KeyValue& l) { return l.key == a.key && (a.is_key || l.value == a.value); };
        return a.key.empty() || std::any_of(labels.begin(), labels.end(), is_asked);
      });
  if (kind == Kind::kMeans &&
      (table.contains(Asked{ns, {}, {}, kind, false}) || table.contains(Asked{{}, {}, {}, kind, false})))
    return true;
  return std::any_of(labels.begin(), labels.end(), [&](const KeyValue& l) { return has(table, kind, ns, l); });
}

std::optional<Labels> AskedLabels::seen_of(const PooledString& ns, const Labels& labels) const {
  if (!has_any(asked_, Kind::kMeans, ns, labels)) return std::nullopt;
  Labels seen;
  for (const KeyValue& l : labels)
    if (has(asked_, Kind::kNames, ns, l)) seen.push_back(l);
  return seen;
}

bool AskedLabels::concerns(const PooledString& ns, const Labels& labels) const {
  if (has_any(news_, Kind::kMeans, ns, labels)) return true;
  return has_any(news_, Kind::kNames, ns, labels) && has_any(asked_, Kind::kMeans, ns, labels);
}

}  // namespace ashlar::kube
