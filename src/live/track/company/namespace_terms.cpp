#include "live/track/company/namespace_terms.h"

#include <utility>

#include "base/digest.h"
#include "live/track/hashes.h"

namespace ashlar::kube {
namespace {

struct Terms {
  std::uint64_t hash = 0;
  std::uint32_t count = 0;

  void add(std::uint64_t term, std::uint64_t what) {
    hash = hash_combine(hash, hash_combine(term, what));
    ++count;
  }
};

std::uint64_t hash_of(const TopologySpread& spread, const Labels& labels) {
  std::uint64_t h = hash_combine(kube::hash_of(spread.selector), spread.topology_key.hash());
  for (const PooledString& key : spread.match_label_keys) {
    const PooledString* value = find_label(labels, key);
    h = hash_combine(hash_combine(h, key.hash()), value == nullptr ? 0 : value->hash());
  }
  return h;
}

Terms terms_of(const PodRules& rules, const Labels& labels) {
  Terms terms;
  for (const PodAffinityTerm& t : rules.required_anti_affinity) terms.add(hash_of(t), 1);
  for (const PodAffinityTerm& t : rules.required_pod_affinity) terms.add(hash_of(t), 2);
  for (const PreferredPodTerm& t : rules.preferred_anti_affinity)
    terms.add(hash_of(t.term), 3 + 4 * static_cast<std::uint64_t>(t.weight));
  for (const PreferredPodTerm& t : rules.preferred_pod_affinity)
    terms.add(hash_of(t.term), 4 + 4 * static_cast<std::uint64_t>(t.weight));
  for (const TopologySpread& s : rules.spread) terms.add(hash_of(s, labels), 5);
  for (const TopologySpread& s : rules.preferred_spread) terms.add(hash_of(s, labels), 6);
  return terms;
}

}  // namespace

void NamespaceTerms::note(PodRecord& pod) {
  const bool has_any = pod.rules && pod.rules->has_company();
  const std::uint32_t now = has_any ? use(pod.ns, *pod.rules, pod.its_labels()) : kNoTerms;
  if (pod.terms != kNoTerms) leave(pod.terms);
  pod.terms = now;
}

void NamespaceTerms::forget(PodRecord& pod) {
  if (pod.terms != kNoTerms) leave(std::exchange(pod.terms, kNoTerms));
}

std::uint32_t NamespaceTerms::use(const PooledString& ns, const PodRules& rules, const Labels& labels) {
  const Terms terms = terms_of(rules, labels);
  const std::uint64_t hash = hash_combine(terms.hash, ns.hash());
  const auto [at, is_new] = by_hash_.try_emplace(hash, 0);
  if (is_new) {
    at->second = static_cast<std::uint32_t>(spare_.empty() ? kinds_.size() : spare_.back());
    spare_.empty() ? static_cast<void>(kinds_.emplace_back()) : spare_.pop_back();
    kinds_[at->second] = Kind{.ns = ns, .hash = hash, .terms = terms.count, .held = {}};
    ++namespaces_[ns].kinds;
  }
  ++kinds_[at->second].pods;
  return at->second;
}

void NamespaceTerms::leave(std::uint32_t id) {
  Kind& kind = kinds_[id];
  if (--kind.pods > 0) return;
  const auto found = namespaces_.find(kind.ns);
  OfNamespace& of = found->second;
  if (kind.is_in) of.terms -= kind.terms;
  if (kind.waits_since != 0) of.waiting.erase(kind.waits_since);
  if (!of.waiting.empty() && !std::exchange(of.is_news, true)) news_.push_back(kind.ns);
  by_hash_.erase(kind.hash);
  if (--of.kinds == 0 && !of.is_news) namespaces_.erase(found);
  kind = Kind();
  spare_.push_back(id);
}

void NamespaceTerms::let_in(std::uint32_t id, OfNamespace& of) {
  Kind& kind = kinds_[id];
  kind.is_in = true;
  of.terms += kind.terms;
  if (kind.waits_since != 0) of.waiting.erase(std::exchange(kind.waits_since, 0));
  let_in_.insert(let_in_.end(), kind.held.begin(), kind.held.end());
  kind.held.clear();
}

bool NamespaceTerms::lets_in(const PodRecord& pod, PodSlot slot) {
  if (pod.terms == kNoTerms || kinds_[pod.terms].is_in) return true;
  Kind& kind = kinds_[pod.terms];
  OfNamespace& of = namespaces_[kind.ns];
  if (of.waiting.empty() && of.terms + kind.terms <= kMax) {
    let_in(pod.terms, of);
    return true;
  }
  if (kind.waits_since == 0) {
    kind.waits_since = ++waits_;
    of.waiting.emplace(kind.waits_since, pod.terms);
  }
  kind.held.insert(slot);
  return false;
}

void NamespaceTerms::note_bound(const PodRecord& pod) {
  if (pod.terms == kNoTerms || kinds_[pod.terms].is_in) return;
  let_in(pod.terms, namespaces_[pod.ns]);
}

std::vector<PodSlot> NamespaceTerms::take_let_in() {
  for (const PooledString& ns : std::exchange(news_, {})) {
    const auto found = namespaces_.find(ns);
    OfNamespace& of = found->second;
    of.is_news = false;
    while (!of.waiting.empty() && of.terms + kinds_[of.waiting.begin()->second].terms <= kMax)
      let_in(of.waiting.begin()->second, of);
    if (of.kinds == 0) namespaces_.erase(found);
  }
  return std::exchange(let_in_, {});
}

std::size_t NamespaceTerms::terms_in(const PooledString& ns) const {
  const auto found = namespaces_.find(ns);
  return found == namespaces_.end() ? 0 : found->second.terms;
}

}  // namespace ashlar::kube
