#include "kube/live_anti_affinity.h"

#include <algorithm>

namespace ashlar::kube {

namespace {

/// A label without which the selector matches nothing; empty where there is no such. Most are written in one of these two ways.
KeyValue label_asked_for(const LabelSelector& selector) {
  if (!selector.match_labels.empty()) return selector.match_labels.front();
  for (const Requirement& r : selector.expressions)
    if (r.op == SelectorOp::kIn && r.values.size() == 1) return {r.key, r.values.front()};
  return {};
}

}  // namespace

void AntiAffinity::count(const Text& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels, int by) {
  if (!rules || rules->required_anti_affinity.empty()) return;
  pods_ += by;
  for (std::size_t t = 0; t < rules->required_anti_affinity.size(); ++t) {
    const PodAffinityTerm& term = rules->required_anti_affinity[t];
    const Text* value = find_label(node_labels, term.topology_key);
    if (value == nullptr) continue;
    const Rule rule{.rules = rules, .number = t, .values = {}};
    if (term.namespace_selector.present) {
      count_for({}, rule, *value, by);
    } else if (term.namespaces.empty()) {
      count_for(ns, rule, *value, by);
    } else {
      for (const Text& name : term.namespaces) count_for(name, rule, *value, by);  // a name that is there twice goes twice
    }
  }
}

void AntiAffinity::count_for(const Text& ns, const Rule& rule, const Text& value, int by) {
  const PodAffinityTerm& term = rule.term();
  const Place place{ns, label_asked_for(term.selector)};
  RulesHere& here = places_[place];
  auto it = std::find_if(here.begin(), here.end(),
                         [&](const auto& r) { return (r->rules == rule.rules && r->number == rule.number) || r->term() == term; });
  if (it == here.end()) {
    it = here.insert(it, std::make_unique<Rule>(rule));
    if (term.namespace_selector.present) ++selecting_;
    note_changed(place, **it);  // looked at by forget_news() whatever it comes to exclude
  }
  Rule& known = **it;
  std::int64_t& pods = known.values[value];
  const bool was_there = pods > 0;
  pods += by;
  if (was_there != (pods > 0)) note_changed(place, known);
  if (pods <= 0) known.values.erase(value);
}

void AntiAffinity::note_changed(const Place& place, Rule& rule) {
  ++edition_;
  if (rule.has_news) return;
  rule.has_news = true;
  changed_.emplace_back(place, &rule);
  scopes_.insert(place.ns);
}

void AntiAffinity::note_namespace_changed(const Text& ns) {
  if (selecting_ > 0) relabelled_.insert(ns);
}

/// For a rule that stands where its namespace says, or that selects namespaces by their labels.
bool AntiAffinity::applies(const PodAffinityTerm& term, const Text& ns, const Labels& labels) const {
  if (!term.namespace_selector.present) return matches(term.selector, labels);
  if (std::find(term.namespaces.begin(), term.namespaces.end(), ns) == term.namespaces.end()) {
    const Labels* of_namespace = namespaces_ ? namespaces_(ns) : nullptr;
    if (of_namespace != nullptr && !matches(term.namespace_selector, *of_namespace)) return false;  // one that we do not know may match
  }
  return matches(term.selector, labels);
}

template <class Question>
bool AntiAffinity::any_of(const Text& scope, const Text& ns, const Labels& labels, Question&& is_it) const {
  const auto any_by = [&](const KeyValue& by) {
    const auto here = places_.find(Place{scope, by});
    return here != places_.end() &&
           std::any_of(here->second.begin(), here->second.end(), [&](const auto& rule) { return applies(rule->term(), ns, labels) && is_it(*rule); });
  };
  return any_by({}) || std::any_of(labels.begin(), labels.end(), any_by);
}

AntiAffinity::Meant AntiAffinity::rules_for(const Text& ns, const Labels& labels) const {
  Meant out;
  const auto take = [&](const Rule& rule) {
    if (!rule.values.empty()) out.push_back(&rule);
    return false;
  };
  any_of(ns, ns, labels, take);
  if (selecting_ > 0) any_of({}, ns, labels, take);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

Exclusions AntiAffinity::exclusions_of(const Meant& rules) {
  Exclusions out;
  for (const Rule* rule : rules)
    for (const auto& [value, pods] : rule->values) out.emplace_back(rule->term().topology_key, value);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool AntiAffinity::refuses(const Text& ns, const Labels& labels, const Labels& node_labels) const {
  const auto is_here = [&](const Rule& rule) {
    const Text* value = find_label(node_labels, rule.term().topology_key);
    return value != nullptr && rule.values.contains(*value);
  };
  return any_of(ns, ns, labels, is_here) || (selecting_ > 0 && any_of({}, ns, labels, is_here));
}

bool AntiAffinity::concerns(const Text& ns, const Labels& labels) const {
  if (relabelled_.contains(ns)) return true;
  const auto has_news = [](const Rule& rule) { return rule.has_news; };
  return (scopes_.contains(ns) && any_of(ns, ns, labels, has_news)) || (scopes_.contains(Text()) && any_of({}, ns, labels, has_news));
}

void AntiAffinity::forget_news() {
  for (const auto& [place, rule] : changed_) {
    rule->has_news = false;
    if (!rule->values.empty()) continue;
    if (rule->term().namespace_selector.present) --selecting_;
    const auto here = places_.find(place);
    std::erase_if(here->second, [gone = rule](const auto& r) { return r.get() == gone; });
    if (here->second.empty()) places_.erase(here);
  }
  changed_ = {};
  scopes_ = {};
  relabelled_ = {};
  constexpr std::size_t kSpareMax = 256;
  if (places_.bucket_count() > 4 * places_.size() + kSpareMax) places_.rehash(0);
}

}  // namespace ashlar::kube
