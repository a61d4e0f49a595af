#include "kube/live_anti_affinity.h"

#include <algorithm>

namespace ashlar::kube {

void AntiAffinity::count(const Text& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels, int by) {
  if (!rules || rules->required_anti_affinity.empty()) return;
  auto owner = std::find_if(owners_.begin(), owners_.end(), [&](const Owner& o) {
    return o.ns == ns && (o.rules == rules || o.rules->required_anti_affinity == rules->required_anti_affinity);
  });
  if (owner == owners_.end()) owner = owners_.insert(owner, {ns, rules, {}});
  for (std::size_t t = 0; t < rules->required_anti_affinity.size(); ++t) {
    const Text& key = rules->required_anti_affinity[t].topology_key;
    const Text* value = find_label(node_labels, key);
    if (value == nullptr) continue;
    auto entry = std::find_if(owner->values.begin(), owner->values.end(), [&](const Value& v) { return v.term == t && v.value == *value; });
    if (entry == owner->values.end()) entry = owner->values.insert(entry, {key, *value, 0, t});
    const bool was_there = entry->count > 0;
    entry->count += by;
    if (was_there != (entry->count > 0)) ++change_count_;
    if (entry->count <= 0) owner->values.erase(entry);
  }
  if (owner->values.empty()) owners_.erase(owner);
}

void AntiAffinity::note_namespace_changed() {
  const bool matters = std::any_of(owners_.begin(), owners_.end(), [](const Owner& owner) {
    const auto& terms = owner.rules->required_anti_affinity;
    return std::any_of(terms.begin(), terms.end(), [](const PodAffinityTerm& t) { return t.namespace_selector.present; });
  });
  if (matters) ++change_count_;
}

bool AntiAffinity::applies(const PodAffinityTerm& term, const Text& owner_ns, const Text& ns, const Labels& labels) const {
  if (!matches(term.selector, labels)) return false;
  if (term.namespaces.empty() && !term.namespace_selector.present) return ns == owner_ns;
  if (std::find(term.namespaces.begin(), term.namespaces.end(), ns) != term.namespaces.end()) return true;
  if (!term.namespace_selector.present) return false;
  const Labels* of_namespace = namespaces_ ? namespaces_(ns) : nullptr;
  return of_namespace == nullptr || matches(term.namespace_selector, *of_namespace);  // a namespace that we do not know may match
}

Exclusions AntiAffinity::exclusions_for(const Text& ns, const Labels& labels) const {
  Exclusions out;
  for (const Owner& owner : owners_) {
    const auto& terms = owner.rules->required_anti_affinity;
    std::vector<bool> does_apply(terms.size());
    for (std::size_t t = 0; t < terms.size(); ++t) does_apply[t] = applies(terms[t], owner.ns, ns, labels);
    for (const Value& v : owner.values)
      if (does_apply[v.term]) out.emplace_back(v.key, v.value);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace ashlar::kube
