// AntiAffinity: required anti-affinity of bound pods; each term keeps every pod that it means out of the whole domain
// (value of its topology key) of its owner. The engine counts the same from the pods' constraints; this tells whether a
// place chosen earlier still holds, and which labels of waiting pods matter: for a few hash lookups per pod, and one
// match per rule that may mean it.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kubeclient/objects.h"
#include "live/track/company/asked_labels.h"

namespace ashlar::kube {

class AntiAffinity {
 public:
  /// Labels of a namespace; nullptr if it is not known.
  using NamespaceLabels = std::function<const Labels*(const PooledString&)>;
  explicit AntiAffinity(NamespaceLabels namespaces) : namespaces_(std::move(namespaces)) {}

  /// A pod with these rules runs on a node with these labels; counted, since several may.
  void add(const PooledString& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels) {
    count(ns, rules, node_labels, 1);
  }
  void remove(const PooledString& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels) {
    count(ns, rules, node_labels, -1);
  }

  /// Required terms of pods that wait, or are about to be bound, matter from now on, or no longer: such a pod keeps
  /// others away as soon as it is placed.
  void use_terms(const PooledString& ns, const PodRules& rules) {
    for (const PodAffinityTerm& term : rules.required_anti_affinity) asked_.use(ns, term);
  }
  void leave_terms(const PooledString& ns, const PodRules& rules) {
    for (const PodAffinityTerm& term : rules.required_anti_affinity) asked_.leave(ns, term);
  }

  /// Terms of a bound pod that draw others matter from now on, or no longer.
  void use_draws(const PooledString& ns, const PodRules& rules) {
    each_draw(rules, [&](const PodAffinityTerm& term) { asked_.use(ns, term); });
  }
  void leave_draws(const PooledString& ns, const PodRules& rules) {
    each_draw(rules, [&](const PodAffinityTerm& term) { asked_.leave(ns, term); });
  }

  /// True if no bound pod has anti-affinity terms. One whose node does not have the label yet counts.
  bool is_empty() const { return pods_ == 0; }
  /// Whether the labels of a node differ in a topology key of a bound pod's term.
  bool is_by_any_of(const Labels& before, const Labels& after) const;
  /// Whether any rule keeps such a pod off a node with these labels. Builds no list.
  bool refuses(const PooledString& ns, const Labels& labels, const Labels& node_labels) const;
  /// The labels that matter, with what is new in them.
  const AskedLabels& asked() const { return asked_; }
  void forget_news() { asked_.forget_news(); }

  struct Work {
    /// comparisons between rules and with pods, and list entries written, in total
    std::uint64_t compared = 0, matched = 0, listed = 0;
  };
  const Work& work() const { return work_; }  // for tests

 private:
  /// One term of one or more bound pods, and the domains that it closes.
  struct Rule {
    PooledString ns;                        ///< of its pods, where the term does not list namespaces itself
    std::shared_ptr<const PodRules> rules;  ///< of the first pod that had it
    std::size_t number = 0;                 ///< of the term there
    std::uint64_t hash = 0;                 ///< of namespace and term
    /// by value of its topology key: how many pods sit there
    boost::unordered_flat_map<PooledString, std::int64_t, std::hash<PooledString>> values;
    std::vector<std::uint32_t> at;  ///< its index in the list of each of its places
    std::unique_ptr<Rule> next;     ///< of the same hash
    const PodAffinityTerm& term() const { return rules->required_anti_affinity[number]; }
  };
  /// The key under which a rule is found: the namespace it applies to, and a label that it requires.
  struct Place {
    PooledString ns;  ///< empty: namespaces are selected by their labels
    KeyValue by;      ///< empty: it requires no single value of a label
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& p) const {
      return (p.ns.hash() * 31 + p.by.key.hash()) * 31 + p.by.value.hash();
    }
  };
  /// A rule that names several namespaces is in the list of each.
  struct Entry {
    Rule* rule = nullptr;
    std::uint32_t number = 0;  ///< of the place among those of the rule
  };
  template <class Visit>
  static void each_draw(const PodRules& rules, Visit&& visit) {
    for (const PreferredPodTerm& p : rules.preferred_pod_affinity) visit(p.term);
    for (const PreferredPodTerm& p : rules.preferred_anti_affinity) visit(p.term);
    for (const PodAffinityTerm& t : rules.required_pod_affinity) visit(t);
  }
  void count(const PooledString& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels, int by);
  Rule& rule_of(const PooledString& ns, const std::shared_ptr<const PodRules>& rules, std::size_t number);
  /// Calls `use(place, number)` for the places where a rule is found.
  template <class Use>
  static void each_place(const Rule& rule, Use&& use);
  void enlist(Rule& rule);
  void forget(Rule& rule);
  bool applies(const PodAffinityTerm& term, const PooledString& ns, const Labels& labels) const;
  /// Calls `is_it(rule)` for the rules of a scope (a namespace, or empty) that apply to the pod, until one returns
  /// true.
  template <class Question>
  bool any_of(const PooledString& scope, const PooledString& ns, const Labels& labels, Question&& is_it) const;

  NamespaceLabels namespaces_;
  boost::unordered_flat_map<Place, std::vector<Entry>, PlaceHash> places_;
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Rule>> rules_;  ///< by hash, each the first of a chain
  AskedLabels asked_;
  /// rules that select namespaces by their labels
  std::size_t selecting_ = 0;
  std::int64_t pods_ = 0;  ///< with anti-affinity terms
  /// terms of bound pods by topology key, also of pods on nodes without that label
  boost::unordered_flat_map<PooledString, std::int64_t, std::hash<PooledString>> topologies_;
  mutable Work work_;
};

}  // namespace ashlar::kube
