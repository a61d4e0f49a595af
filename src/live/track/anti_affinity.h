// AntiAffinity: required anti-affinity of bound pods; each term excludes, for every pod it may match, the whole domain
// (value of its topology key) of its owner. Rules are found by namespace and by a label that they require, so that a
// pod costs a few hash lookups and one match per rule that may apply to it, however many other rules there are.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kubeclient/objects.h"
#include "live/track/translate.h"

namespace ashlar::kube {

class AntiAffinity {
 public:
  /// One term of one or more bound pods, and the domains that it excludes.
  struct Rule {
    PooledString ns;                        ///< of its pods, where the term does not list namespaces itself
    std::shared_ptr<const PodRules> rules;  ///< of the first pod that had it
    std::size_t number = 0;                 ///< of the term there
    std::uint64_t hash = 0;                 ///< of namespace and term
    /// of its topology key, and how many pods sit there; empty: kept until forget_news()
    std::map<PooledString, std::int64_t> values;
    std::vector<std::uint32_t> at;  ///< its index in the list of each of its places
    std::unique_ptr<Rule> next;     ///< of the same hash
    bool has_news = false;
    const PodAffinityTerm& term() const { return rules->required_anti_affinity[number]; }
  };
  /// Rules that apply to a pod and exclude something, in an order that is stable until edition() grows.
  using Meant = std::vector<const Rule*>;
  /// Labels of a namespace; nullptr if it is not known.
  using NamespaceLabels = std::function<const Labels*(const PooledString&)>;
  explicit AntiAffinity(NamespaceLabels namespaces) : namespaces_(std::move(namespaces)) {}

  /// A pod with these rules runs in a domain with this value of `key`; counted, since several may.
  void add(const PooledString& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels) {
    count(ns, rules, node_labels, 1);
  }
  void remove(const PooledString& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels) {
    count(ns, rules, node_labels, -1);
  }
  /// The labels of a namespace have changed; terms may select by them.
  void note_namespace_changed(const PooledString& ns);

  /// True if no bound pod has anti-affinity terms. One whose node does not have the label yet counts.
  bool is_empty() const { return pods_ == 0; }
  Meant rules_for(const PooledString& ns, const Labels& labels) const;
  /// Sorted, without duplicates.
  static Exclusions exclusions_of(const Meant& rules);
  /// Whether any rule keeps such a pod off a node with these labels. Builds no list.
  bool refuses(const PooledString& ns, const Labels& labels, const Labels& node_labels) const;
  /// Grows whenever the rules or what they exclude change.
  std::uint64_t edition() const { return edition_; }

  struct Work {
    /// comparisons between rules and with pods, and list entries written, in total
    std::uint64_t compared = 0, matched = 0, listed = 0;
  };
  const Work& work() const { return work_; }

  // ---- since the last forget_news() ---------------------------------------------------------------------------------
  bool has_news() const { return !changed_.empty() || !relabelled_.empty(); }
  /// Whether the answer for such a pod may have changed, provided its own labels have not.
  bool concerns(const PooledString& ns, const Labels& labels) const;
  void forget_news();

 private:
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
  /// The rules of a place, those with changes first. A rule that names several namespaces is in the list of each.
  struct Entry {
    Rule* rule = nullptr;
    std::uint32_t number = 0;  ///< of the place among those of the rule
  };
  struct RulesHere {
    std::vector<Entry> rules;
    std::size_t with_news = 0;
    void put(std::size_t index, const Entry& entry) {
      rules[index] = entry;
      entry.rule->at[entry.number] = static_cast<std::uint32_t>(index);
    }
  };
  void count(const PooledString& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels, int by);
  Rule& rule_of(const PooledString& ns, const std::shared_ptr<const PodRules>& rules, std::size_t number);
  /// Calls `use(place, number)` for the places where a rule is found.
  template <class Use>
  static void each_place(const Rule& rule, Use&& use);
  void enlist(Rule& rule);
  void forget(Rule& rule);
  void note_changed(Rule& rule);
  bool applies(const PodAffinityTerm& term, const PooledString& ns, const Labels& labels) const;
  enum class Which : std::uint8_t { kAll, kWithNews };
  /// Calls `is_it(rule)` for the rules of a scope (a namespace, or empty) that apply to the pod, until one returns
  /// true.
  template <class Question>
  bool any_of(Which which, const PooledString& scope, const PooledString& ns, const Labels& labels,
              Question&& is_it) const;

  NamespaceLabels namespaces_;
  boost::unordered_flat_map<Place, RulesHere, PlaceHash> places_;
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Rule>> rules_;  ///< by hash, each the first of a chain
  /// rules that select namespaces by their labels
  std::size_t selecting_ = 0;
  std::vector<Rule*> changed_;                                                   ///< each once
  boost::unordered_flat_set<PooledString, std::hash<PooledString>> scopes_;      ///< of the changed rules
  boost::unordered_flat_set<PooledString, std::hash<PooledString>> relabelled_;  ///< namespaces
  std::int64_t pods_ = 0;                                                        ///< with anti-affinity terms
  std::uint64_t edition_ = 0;
  mutable Work work_;
};

}  // namespace ashlar::kube
