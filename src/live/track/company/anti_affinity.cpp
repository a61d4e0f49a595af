#include "live/track/company/anti_affinity.h"

#include <algorithm>

#include "base/digest.h"
#include "live/track/hashes.h"

namespace ashlar::kube {

namespace {

constexpr std::size_t kSpareMax = 256;

/// A label without which the selector matches nothing; empty if there is none. Most selectors are written in one of
/// these two ways.
KeyValue label_asked_for(const LabelSelector& selector) {
  if (!selector.match_labels.empty()) return selector.match_labels.front();
  for (const Requirement& r : selector.expressions)
    if (r.op == SelectorOp::kIn && r.values.size() == 1) return {r.key, r.values.front()};
  return {};
}

}  // namespace

void AntiAffinity::count(const PooledString& ns, const std::shared_ptr<const PodRules>& rules,
                         const Labels& node_labels, int by) {
  if (!rules || rules->required_anti_affinity.empty()) return;
  pods_ += by;
  for (std::size_t t = 0; t < rules->required_anti_affinity.size(); ++t) {
    const PodAffinityTerm& term = rules->required_anti_affinity[t];
    const auto topology = topologies_.try_emplace(term.topology_key, 0).first;
    topology->second += by;
    if (topology->second == 0) topologies_.erase(topology);
    const PooledString* value = find_label(node_labels, term.topology_key);
    if (value == nullptr) continue;
    Rule& rule = rule_of(term.namespace_selector.present || !term.namespaces.empty() ? PooledString() : ns, rules, t);
    std::int64_t& pods = rule.values[*value];
    pods += by;
    if (pods <= 0) rule.values.erase(*value);
    if (rule.values.empty()) forget(rule);
  }
}

bool AntiAffinity::is_by_any_of(const Labels& before, const Labels& after) const {
  if (topologies_.empty()) return false;
  const auto differs = [&](const KeyValue& label, const Labels& other) {
    if (!topologies_.contains(label.key)) return false;
    const PooledString* there = find_label(other, label.key);
    return there == nullptr || *there != label.value;
  };
  return std::ranges::any_of(after, [&](const KeyValue& label) { return differs(label, before); }) ||
         std::ranges::any_of(before, [&](const KeyValue& label) { return differs(label, after); });
}

AntiAffinity::Rule& AntiAffinity::rule_of(const PooledString& ns, const std::shared_ptr<const PodRules>& rules,
                                          std::size_t number) {
  const PodAffinityTerm& term = rules->required_anti_affinity[number];
  const std::uint64_t hash = hash_combine(hash_of(term), ns.hash());
  std::unique_ptr<Rule>& first = rules_[hash];
  for (Rule* rule = first.get(); rule != nullptr; rule = rule->next.get()) {
    ++work_.compared;
    if (rule->ns == ns && ((rule->rules == rules && rule->number == number) || rule->term() == term)) return *rule;
  }
  auto added = std::make_unique<Rule>();
  added->ns = ns;
  added->rules = rules;
  added->number = number;
  added->hash = hash;
  added->next = std::move(first);
  first = std::move(added);
  Rule& rule = *first;
  if (term.namespace_selector.present) ++selecting_;
  enlist(rule);
  asked_.use(ns, term);
  return rule;
}

template <class Use>
void AntiAffinity::each_place(const Rule& rule, Use&& use) {
  const PodAffinityTerm& term = rule.term();
  Place place{rule.ns, label_asked_for(term.selector)};
  if (term.namespace_selector.present || term.namespaces.empty()) return use(std::as_const(place), 0u);
  for (std::uint32_t i = 0; i < term.namespaces.size(); ++i) {  // a namespace listed twice gets two entries
    place.ns = term.namespaces[i];
    use(std::as_const(place), i);
  }
}

void AntiAffinity::enlist(Rule& rule) {
  each_place(rule, [&](const Place& place, std::uint32_t number) {
    std::vector<Entry>& here = places_[place];
    rule.at.push_back(static_cast<std::uint32_t>(here.size()));
    here.push_back({&rule, number});
    ++work_.listed;
  });
}

/// For a rule found under its own namespace, or one that selects namespaces by their labels.
bool AntiAffinity::applies(const PodAffinityTerm& term, const PooledString& ns, const Labels& labels) const {
  if (!term.namespace_selector.present) return matches(term.selector, labels);
  if (std::find(term.namespaces.begin(), term.namespaces.end(), ns) == term.namespaces.end()) {
    const Labels* of_namespace = namespaces_ ? namespaces_(ns) : nullptr;
    // an unknown namespace may match
    if (of_namespace != nullptr && !matches(term.namespace_selector, *of_namespace)) return false;
  }
  return matches(term.selector, labels);
}

template <class Question>
bool AntiAffinity::any_of(const PooledString& scope, const PooledString& ns, const Labels& labels,
                          Question&& is_it) const {
  const auto any_by = [&](const KeyValue& by) {
    const auto found = places_.find(Place{scope, by});
    if (found == places_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const Entry& e) {
      ++work_.matched;
      return applies(e.rule->term(), ns, labels) && is_it(*e.rule);
    });
  };
  return any_by({}) || std::any_of(labels.begin(), labels.end(), any_by);
}

bool AntiAffinity::refuses(const PooledString& ns, const Labels& labels, const Labels& node_labels) const {
  const auto is_here = [&](const Rule& rule) {
    const PooledString* value = find_label(node_labels, rule.term().topology_key);
    return value != nullptr && rule.values.contains(*value);
  };
  return any_of(ns, ns, labels, is_here) || (selecting_ > 0 && any_of({}, ns, labels, is_here));
}

void AntiAffinity::forget(Rule& rule) {
  if (rule.term().namespace_selector.present) --selecting_;
  asked_.leave(rule.ns, rule.term());
  each_place(rule, [&](const Place& place, std::uint32_t number) {
    const auto here = places_.find(place);
    std::vector<Entry>& list = here->second;
    list[rule.at[number]] = list.back();
    list[rule.at[number]].rule->at[list.back().number] = rule.at[number];
    ++work_.listed;
    list.pop_back();
    if (list.capacity() > 4 * list.size() + kSpareMax) list.shrink_to_fit();
    if (list.empty()) places_.erase(here);
  });
  const auto chain = rules_.find(rule.hash);
  std::unique_ptr<Rule>* at = &chain->second;
  for (; at->get() != &rule; at = &(*at)->next) ++work_.compared;
  *at = std::unique_ptr<Rule>(std::move((*at)->next));
  if (!chain->second) rules_.erase(chain);
  if (places_.bucket_count() > 4 * places_.size() + kSpareMax) places_.rehash(0);
  if (rules_.bucket_count() > 4 * rules_.size() + kSpareMax) rules_.rehash(0);
}

}  // namespace ashlar::kube
