// CompanyRows: label sets, selectors of pods and namespaces as rows of the engine, one for each distinct value that a
// constraint uses. New rows and rows given back are announced through EventBuffer. Cost: a hash lookup for each label.
#pragma once

#include <functional>
#include <vector>

#include "kubeclient/objects.h"
#include "live/track/event_buffer.h"
#include "live/track/names.h"
#include "model/event.h"
#include "names/value_rows.h"

namespace ashlar::kube {

/// The rules about other pods of one pod, as its constraint has them.
struct CompanyRules {
  std::vector<PodTerm> keeps_away = {};
  bool keeps_itself_away = false;
  PodAffinity near = {};
  std::vector<SpreadTerm> spread = {};
  std::vector<PodPreference> prefers_pods = {};
  std::vector<SpreadTerm> prefers_spread = {};
  friend bool operator==(const CompanyRules&, const CompanyRules&) = default;
};

class CompanyRows {
 public:
  /// Labels of a namespace; nullptr if it is not known.
  using NamespaceLookup = std::function<const Labels*(const PooledString&)>;
  CompanyRows(ObjectNames& names, EventBuffer& out, NamespaceLookup namespaces)
      : names_(names), out_(out), namespaces_(std::move(namespaces)) {}

  LabelSetId label_set(const PooledString& ns, const Labels& labels, bool is_leaving = false);
  /// What required anti-affinity of a pod of that namespace keeps away.
  std::vector<PodTerm> keeps_away(const PooledString& ns, const std::vector<PodAffinityTerm>& terms);
  /// The pods that one of that namespace prefers or would rather not be near, and those that its required affinity
  /// draws.
  std::vector<PodPreference> prefers_pods(const PooledString& ns, const PodRules& rules);
  /// Of a pod of that namespace with these labels.
  CompanyRules rules_of(const PooledString& ns, const Labels& labels, const PodRules& rules);

  // Pods with these labels are there from now on, or no longer.
  void use(LabelSetId id) { label_sets_.use(id); }
  void leave(LabelSetId id) { label_sets_.leave(id); }
  /// The labels of a namespace have changed, or are no longer known.
  void note_namespace_changed(const PooledString& ns);

  /// A constraint with these rows is in use from now on, or given back.
  void use(const Constraint& constraint);
  void leave(const Constraint& constraint);
  /// The engine has taken all events: unused rows are given back. Returns how many.
  std::size_t note_taken();
  void add_to(ObjectNames::InUse& in_use) const;
  std::size_t label_set_count() const { return label_sets_.size(); }             // for tests
  std::size_t selector_count() const { return selectors_.size(); }               // for tests
  const LabelSet& label_set_of(LabelSetId id) const { return label_sets_[id]; }  // for tests

 private:
  NamespaceId namespace_row(const PooledString& ns);
  NamespaceLabels labels_of_namespace(const PooledString& ns);
  std::vector<PodLabel> pod_labels(const Labels& labels);
  std::vector<LabelExpression> expressions(const LabelSelector& selector);
  /// The pods that a term of a pod of that namespace means.
  PodSelector selector_of(const PooledString& ns, const PodAffinityTerm& term);
  PodSelectorId intern(PodSelector selector);
  /// Those that all of the terms mean.
  PodSelectorId selector_of_all(const PooledString& ns, const std::vector<PodAffinityTerm>& terms);
  /// Those that count for the spread of a pod of that namespace with these labels.
  PodSelectorId selector(const PooledString& ns, const Labels& labels, const TopologySpread& spread);
  SpreadTerm spread_term(const PooledString& ns, const Labels& labels, const TopologySpread& spread,
                         const LabelSet& own);

  ObjectNames& names_;
  EventBuffer& out_;
  NamespaceLookup namespaces_;
  ValueRows<LabelSetId, LabelSet> label_sets_;
  ValueRows<PodSelectorId, PodSelector> selectors_;
  std::vector<NamespaceLabels> reported_;  ///< by row of the namespace
};

}  // namespace ashlar::kube
