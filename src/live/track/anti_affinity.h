// AntiAffinity: required anti-affinity of bound pods; each term excludes, for every pod it may match, the whole domain (value of its topology key) in
// which its owner sits. Rules are found by the namespace and a label that they ask for, so that a pod costs a few hash lookups and one match for each
// rule that may mean it, however many others there are.
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
  /// One term of one or more bound pods, and the domains that it keeps others out of.
  struct Rule {
    PooledString ns;                              ///< of its pods, where the term leaves the namespaces to that
    std::shared_ptr<const PodRules> rules;        ///< of the first pod that had it
    std::size_t number = 0;                       ///< of the term there
    std::uint64_t hash = 0;                       ///< of namespace and term
    std::map<PooledString, std::int64_t> values;  ///< of its topology key, and how many pods sit there; empty: kept until forget_news()
    std::vector<std::uint32_t> at;                ///< its index in the list of each of its places
    std::unique_ptr<Rule> next;                   ///< of the same hash
    bool has_news = false;
    const PodAffinityTerm& term() const { return rules->required_anti_affinity[number]; }
  };
  /// Rules that mean a pod and exclude something, in an order that holds until edition() grows.
  using Meant = std::vector<const Rule*>;
  /// Labels of a namespace; nullptr where it is not known.
  using NamespaceLabels = std::function<const Labels*(const PooledString&)>;
  explicit AntiAffinity(NamespaceLabels namespaces) : namespaces_(std::move(namespaces)) {}

  /// A pod with these rules sits in a domain with this value of `key`; counted, since several may.
  void add(const PooledString& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels) { count(ns, rules, node_labels, 1); }
  void remove(const PooledString& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels) { count(ns, rules, node_labels, -1); }
  /// A namespace has other labels now, which terms may select by.
  void note_namespace_changed(const PooledString& ns);

  /// Does no pod refuse company? One whose node has no such label yet does.
  bool is_empty() const { return pods_ == 0; }
  Meant rules_for(const PooledString& ns, const Labels& labels) const;
  /// Sorted, without doubles.
  static Exclusions exclusions_of(const Meant& rules);
  /// Does anything keep such a pod away from a node with these labels? Makes no list.
  bool refuses(const PooledString& ns, const Labels& labels, const Labels& node_labels) const;
  /// Grows whenever the rules or what they exclude change.
  std::uint64_t edition() const { return edition_; }

  struct Work {
    std::uint64_t compared = 0, matched = 0, listed = 0;  ///< rules with each other and with pods, and entries of lists written, ever
  };
  const Work& work() const { return work_; }

  // ---- since the last forget_news() -------------------------------------------------------------------------------------------------------
  bool has_news() const { return !changed_.empty() || !relabelled_.empty(); }
  /// May the answer for such a pod have changed, as long as its own labels have not?
  bool concerns(const PooledString& ns, const Labels& labels) const;
  void forget_news();

 private:
  /// Where a rule is looked for: by the namespace that it is about, and by a label that it asks for.
  struct Place {
    PooledString ns;  ///< empty: the namespaces are selected by their labels
    KeyValue by;      ///< empty: it asks for no one value of a label
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct PlaceHash {
    std::size_t operator()(const Place& p) const { return (p.ns.hash() * 31 + p.by.key.hash()) * 31 + p.by.value.hash(); }
  };
  /// The rules of a place, those with news first. A rule that names many namespaces stands in the list of each.
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
  /// Calls `use(place, number)` for the places where a rule is looked for.
  template <class Use>
  static void each_place(const Rule& rule, Use&& use);
  void enlist(Rule& rule);
  void forget(Rule& rule);
  void note_changed(Rule& rule);
  bool applies(const PodAffinityTerm& term, const PooledString& ns, const Labels& labels) const;
  enum class Which : std::uint8_t { kAll, kWithNews };
  /// Calls `is_it(rule)` for the rules of a scope (a namespace, or empty) that mean the pod, until one is it.
  template <class Question>
  bool any_of(Which which, const PooledString& scope, const PooledString& ns, const Labels& labels, Question&& is_it) const;

  NamespaceLabels namespaces_;
  boost::unordered_flat_map<Place, RulesHere, PlaceHash> places_;
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Rule>> rules_;        ///< by hash, each the first of a chain
  std::size_t selecting_ = 0;                                                    ///< rules that select namespaces by their labels
  std::vector<Rule*> changed_;                                                   ///< each once
  boost::unordered_flat_set<PooledString, std::hash<PooledString>> scopes_;      ///< that those are about
  boost::unordered_flat_set<PooledString, std::hash<PooledString>> relabelled_;  ///< namespaces
  std::int64_t pods_ = 0;                                                        ///< that refuse company
  std::uint64_t edition_ = 0;
  mutable Work work_;
};

}  // namespace ashlar::kube
