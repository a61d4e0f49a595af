#include "engine/explain/company_terms.h"

#include <algorithm>
#include <map>

#include "engine/explain/refusals.h"
#include "policy/feasible_policy.h"

namespace ashlar {
namespace {

struct Domain {
  std::uint32_t pods = 0;
  bool is_meant = false;   ///< it has a node that the lasting rules allow
  bool is_usable = false;  ///< of those, one that all facts allow
  bool counts = false;     ///< pods of a spread are counted on one of its nodes
  NodeId example;          ///< a node with such a pod
};
using Domains = std::map<LabelId, Domain>;

using Allows = bool (*)(const Constraint&, const NodeFacts&, const NodeContext&);

/// Nodes that are allowed, whatever the rules about other pods.
BitSet nodes_allowed(const Cluster& cluster, ConstraintId id, Allows allows) {
  Constraint alone = cluster.constraint(id);
  alone.seen_as = LabelSetId::none();
  BitSet allowed(cluster.rows());
  for (std::size_t n = 0; n < cluster.rows(); ++n)
    if (cluster.is_live(NodeId(n)) && allows(alone, cluster.facts(NodeId(n)), cluster.context())) allowed.set(n);
  return allowed;
}

CompanyTerm& begin_term(std::vector<CompanyTerm>& terms, PodSelectorId selector, LabelKeyId topology) {
  CompanyTerm& term = terms.emplace_back();
  term.selector = selector;
  term.topology = topology;
  return term;
}

/// Whose pods count wherever they are.
bool is_any_node(NodeId) { return true; }

/// Reads the rules of one constraint.
class TermReader {
 public:
  TermReader(const State& state, ConstraintId id)
      : cluster_(state.cluster()),
        constraint_(cluster_.constraint(id)),
        meant_(nodes_allowed(cluster_, id, is_meant_for)),
        usable_(nodes_allowed(cluster_, id, is_allowed_by_facts)) {}

  std::vector<CompanyTerm> spread() const {
    std::vector<CompanyTerm> terms;
    for (const SpreadTerm& rule : constraint_.spread) {
      CompanyTerm& term = begin_term(terms, rule.selector, rule.topology);
      term.skew_max = rule.skew_max;
      term.domains_min = rule.domains_min;
      const auto counts = [&](NodeId n) {
        return counts_for_spread(constraint_, kNodeRules, rule, constraint_.spread, cluster_.facts(n));
      };
      Domains domains = domains_of(term, counts);
      count_pods(domains, term, counts);
      close_by_skew(domains, rule, term);
    }
    return terms;
  }

  std::vector<CompanyTerm> affinity() const {
    std::vector<CompanyTerm> terms;
    std::uint64_t pods = 0;
    if (constraint_.near.selector.is_none()) return terms;
    for (const LabelKeyId topology : constraint_.near.topologies) {
      CompanyTerm& term = begin_term(terms, constraint_.near.selector, topology);
      Domains domains = domains_of(term, is_any_node);
      count_pods(domains, term, is_any_node);
      for (const auto& [value, domain] : domains) {
        pods += domain.pods;
        term.closed += domain.is_meant && domain.pods == 0 ? 1 : 0;
      }
      name_domains(domains, term, [](const Domain& domain) { return domain.pods > 0; });
    }
    const bool may_be_first = constraint_.near.matches_itself && pods == 0;
    for (CompanyTerm& term : terms) term.closed = may_be_first ? 0 : term.closed;
    return terms;
  }

  std::vector<CompanyTerm> own_anti_affinity() const {
    std::vector<CompanyTerm> terms;
    for (const PodTerm& rule : constraint_.keeps_away) {
      CompanyTerm& term = begin_term(terms, rule.selector, rule.topology);
      Domains domains = domains_of(term, is_any_node);
      count_pods(domains, term, is_any_node);
      close_by_pods(domains, term);
    }
    return terms;
  }

  /// Those of placed pods.
  std::vector<CompanyTerm> anti_affinity() const {
    std::vector<CompanyTerm> terms;
    if (constraint_.seen_as.is_none()) return terms;
    for (const PodTerm& rule : rules_that_mean_it()) {
      CompanyTerm& term = begin_term(terms, rule.selector, rule.topology);
      Domains domains = domains_of(term, is_any_node);
      for (std::size_t n = 0; n < cluster_.rows(); ++n)
        if (cluster_.is_live(NodeId(n))) add_pods(domains, term, NodeId(n), cluster_.counts().owners(rule, NodeId(n)));
      close_by_pods(domains, term);
    }
    return terms;
  }

 private:
  /// By the values of the term's label. `counts(node)`: pods on it count.
  template <class Counts>
  Domains domains_of(CompanyTerm& term, Counts&& counts) const {
    Domains domains;
    for (std::size_t n = 0; n < cluster_.rows(); ++n) {
      if (!cluster_.is_live(NodeId(n))) continue;
      const LabelId value = value_of(cluster_.facts(NodeId(n)), term.topology);
      if (value.is_none()) {
        term.nodes_without += meant_.test(n) ? 1 : 0;
        continue;
      }
      Domain& domain = domains[value];
      domain.is_meant = domain.is_meant || meant_.test(n);
      domain.is_usable = domain.is_usable || usable_.test(n);
      domain.counts = domain.counts || counts(NodeId(n));
    }
    term.is_on_nodes = !domains.empty();
    for (const auto& [value, domain] : domains) term.domains += domain.is_meant ? 1 : 0;
    return domains;
  }

  void add_pods(Domains& domains, const CompanyTerm& term, NodeId n, std::uint32_t pods) const {
    const auto it = domains.find(value_of(cluster_.facts(n), term.topology));
    if (pods == 0 || it == domains.end()) return;
    it->second.pods += pods;
    if (it->second.example.is_none()) it->second.example = n;
  }

  template <class Counts>
  void count_pods(Domains& domains, const CompanyTerm& term, Counts&& counts) const {
    for (const NodeCount& count : cluster_.counts().by_node(term.selector))
      if (cluster_.is_live(count.node) && counts(count.node)) add_pods(domains, term, count.node, count.pods);
  }

  static void close_by_skew(const Domains& domains, const SpreadTerm& rule, CompanyTerm& term) {
    term.fewest = UINT32_MAX;
    for (const auto& [value, domain] : domains) {
      if (!domain.counts) continue;
      ++term.domains_counted;
      term.fewest = std::min(term.fewest, domain.pods);
    }
    if (term.domains_counted == 0) term.fewest = 0;
    const bool has_few = term.domains_counted < static_cast<std::uint32_t>(std::max(rule.domains_min, 0));
    const std::int64_t allowed =
        std::int64_t{has_few ? 0 : term.fewest} + rule.skew_max - (rule.matches_itself ? 1 : 0);
    for (const auto& [value, domain] : domains) term.closed += domain.is_meant && domain.pods > allowed ? 1 : 0;
    name_domains(domains, term, [&](const Domain& d) { return d.counts && d.pods == term.fewest; });
  }

  /// A node without the label is in no domain from which a pod could be kept away.
  static void close_by_pods(const Domains& domains, CompanyTerm& term) {
    term.nodes_without = 0;
    for (const auto& [value, domain] : domains) {
      if (!domain.is_meant || domain.pods == 0) continue;
      ++term.closed;
      if (term.example.is_none()) term.example = domain.example;
    }
  }

  template <class IsMeant>
  static void name_domains(const Domains& domains, CompanyTerm& term, IsMeant&& is_meant) {
    for (const bool is_usable : {true, false}) {
      for (const auto& [value, domain] : domains)
        if (domain.is_usable == is_usable && is_meant(domain)) term.named.push_back(value);
      term.are_named_usable = is_usable;
      if (!term.named.empty()) return;
    }
  }

  std::vector<PodTerm> rules_that_mean_it() const {
    std::vector<PodSelectorId> meant_by;
    cluster_.counts().index().selectors_of(constraint_.seen_as, meant_by);
    std::vector<PodTerm> rules;
    for (const Constraint& other : cluster_.constraints())
      for (const PodTerm& rule : other.keeps_away)
        if (std::ranges::count(meant_by, rule.selector) > 0 && std::ranges::count(rules, rule) == 0)
          rules.push_back(rule);
    return rules;
  }

  const Cluster& cluster_;
  const Constraint& constraint_;
  BitSet meant_;   ///< among which a reason counts those that a rule about pods closes
  BitSet usable_;  ///< taints and readiness allow these too
};

std::vector<CompanyTerm> terms_of(const TermReader& reader, ReasonCode rule) {
  if (rule == ReasonCode::kTopologySpread) return reader.spread();
  if (rule == ReasonCode::kPodAffinity) return reader.affinity();
  if (rule == ReasonCode::kOwnAntiAffinity) return reader.own_anti_affinity();
  return reader.anti_affinity();
}

}  // namespace

std::vector<CompanyTerm> company_terms(const State& state, ConstraintId constraint, ReasonCode rule) {
  if (!is_about_pods(rule) || constraint.row() >= state.cluster().constraint_rows()) return {};
  std::vector<CompanyTerm> terms = terms_of(TermReader(state, constraint), rule);
  std::erase_if(terms, [](const CompanyTerm& term) { return term.closed == 0 && term.nodes_without == 0; });
  return terms;
}

}  // namespace ashlar
