#include "kube/live_company.h"

#include <utility>

namespace ashlar::kube {

/// Of what tells most rules apart; the strings stay where they are as long as the rules do.
std::size_t CompanyConstraints::KindHash::operator()(const Kind& kind) const {
  std::size_t sum = std::hash<const void*>()(kind.list);
  const auto add = [&](const Text& text) { sum = sum * 31 + text.hash(); };
  for (const auto& [key, value] : kind.rules->node_selector) add(key), add(value);
  for (const Toleration& t : kind.rules->tolerations) add(t.key), add(t.value);
  for (const NodeTerm& term : kind.rules->required_affinity) {
    for (const Requirement& r : term.expressions) {
      add(r.key);
      for (const Text& value : r.values) add(value);
    }
  }
  return sum;
}

ConstraintId CompanyConstraints::of(const Text& ns, const Labels& labels, const std::shared_ptr<const PodRules>& rules) {
  if (company_.is_empty()) return translator_.constraint(rules);
  AntiAffinity::Meant meant = company_.rules_for(ns, labels);
  if (meant.empty()) return translator_.constraint(rules);
  if (edition_ != company_.edition() || kept_ > kKeptMax) forget();
  edition_ = company_.edition();
  static const auto kNoRules = std::make_shared<const PodRules>();
  const Kind kind{&list_for(std::move(meant)), rules ? rules : kNoRules};
  const auto [row, is_new] = rows_.try_emplace(kind);
  if (is_new) {
    ++work_.rows;
    row->second = translator_.constraint(*kind.rules, *kind.list);
  }
  return row->second;
}

const Exclusions& CompanyConstraints::list_for(AntiAffinity::Meant&& rules) {
  const auto [list, is_new] = lists_.try_emplace(std::move(rules));
  if (is_new) {
    ++work_.lists;
    list->second = AntiAffinity::exclusions_of(list->first);
    kept_ += list->second.size();
  }
  return list->second;
}

void CompanyConstraints::forget() {
  lists_ = {};
  rows_ = {};
  kept_ = 0;
}

}  // namespace ashlar::kube
