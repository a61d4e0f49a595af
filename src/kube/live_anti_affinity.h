// Where must a new pod not go because pods already there refuse its company? Required anti-affinity of bound pods: each term excludes, for every pod
// it may match, the whole domain (value of its topology key) in which its owner sits. Costs nothing while no bound pod has such a term; otherwise
// one match per distinct term and new pod.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "kube/live_translate.h"
#include "kube/objects.h"

namespace ashlar::kube {

class AntiAffinity {
 public:
  /// Labels of a namespace; nullptr where it is not known.
  using NamespaceLabels = std::function<const Labels*(const Text&)>;
  explicit AntiAffinity(NamespaceLabels namespaces) : namespaces_(std::move(namespaces)) {}

  /// A pod with these rules sits in a domain with this value of `key`; counted, since several may.
  void add(const Text& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels) { count(ns, rules, node_labels, 1); }
  void remove(const Text& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels) { count(ns, rules, node_labels, -1); }

  /// A namespace has other labels now, which terms may select by.
  void note_namespace_changed();
  bool is_empty() const { return owners_.empty(); }
  /// Sorted, without doubles.
  Exclusions exclusions_for(const Text& ns, const Labels& labels) const;
  /// Grows whenever the answer of exclusions_for may have changed for somebody.
  std::uint64_t change_count() const { return change_count_; }

 private:
  struct Value {
    Text key, value;
    std::int64_t count = 0;
    std::size_t term = 0;
  };
  struct Owner {
    Text ns;
    std::shared_ptr<const PodRules> rules;
    std::vector<Value> values;
  };
  void count(const Text& ns, const std::shared_ptr<const PodRules>& rules, const Labels& node_labels, int by);
  bool applies(const PodAffinityTerm& term, const Text& owner_ns, const Text& ns, const Labels& labels) const;

  NamespaceLabels namespaces_;
  std::vector<Owner> owners_;  ///< one for each namespace and distinct list of terms, whatever else the rules say
  std::uint64_t change_count_ = 0;
};

}  // namespace ashlar::kube
