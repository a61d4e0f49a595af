#include "engine/explain/new_nodes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "policy/feasible_policy.h"
#include "state/counts/kept_away.h"
#include "state/ledger.h"

namespace ashlar {
namespace {

/// The number of a new node counts from 0.
void take_own_labels(NodeFacts& facts, const OwnLabels& own, std::size_t number) {
  for (NodeLabel& label : facts.labels)
    if (std::ranges::find(own.keys, label.key) != own.keys.end())
      label = {label.key, LabelId(static_cast<std::uint32_t>(own.first + number))};
}

bool is_large_enough(const NodeFacts& facts, const Demand& demand) {
  return facts.devices.count >= demand.devices.count &&
         std::ranges::all_of(demand.amounts, [&](const ResourceAmount& a) {
           return a.resource.row() < facts.allocatable.size() && facts.allocatable[a.resource.row()] >= a.amount;
         });
}

/// By which the member's rules about other pods tell nodes apart, without the labels in `own`.
std::vector<LabelKeyId> labels_of_domains(const Constraint& constraint, const OwnLabels& own) {
  std::vector<LabelKeyId> keys = constraint.near.topologies;
  for (const SpreadTerm& term : constraint.spread) keys.push_back(term.topology);
  for (const PodTerm& term : constraint.keeps_away) keys.push_back(term.topology);
  std::erase_if(keys, [&](LabelKeyId key) { return std::ranges::find(own.keys, key) != own.keys.end(); });
  return keys;
}

}  // namespace

OwnLabels own_labels(const Cluster& cluster, std::span<const LabelKeyId> names) {
  OwnLabels own{.keys = {names.begin(), names.end()}, .first = 0};
  const auto note = [&](const std::vector<NodeTerm>& terms) {
    for (const NodeTerm& term : terms)
      for (const LabelExpression& e : term.all)
        for (const LabelId value : e.values) own.first = std::max(own.first, value.value + 1);
  };
  for (std::size_t n = 0; n < cluster.rows(); ++n)
    for (const NodeLabel& label : cluster.facts(NodeId(n)).labels) own.first = std::max(own.first, label.id.value + 1);
  for (const Constraint& c : cluster.constraints()) {
    note({c.selector});
    note(c.any_of);
    for (const std::vector<NodeTerm>& list : c.volumes) note(list);
  }
  return own;
}

std::vector<NodeId> templates_for(const State& state, const MemberSpec& member, const std::vector<NodeId>& nodes,
                                  const OwnLabels& own) {
  const Cluster& cluster = state.cluster();
  const Constraint& constraint = cluster.constraint(member.constraint);
  const Demand& demand = state.demand(member.demand);
  const std::vector<LabelKeyId> keys = labels_of_domains(constraint, own);
  const bool needs_devices = demand.devices.count > 0;
  const auto is_better = [&](NodeId a, NodeId b) {
    const std::int32_t of_a = cluster.facts(a).devices.count, of_b = cluster.facts(b).devices.count;
    return needs_devices ? of_a > of_b : of_a < of_b;
  };
  const BitSet& open = cluster.allowed(member.constraint, kNodeRules);
  std::map<std::pair<bool, std::vector<LabelId>>, NodeId> best;  // nodes that are closed to it come last
  NodeFacts facts;
  for (const NodeId n : nodes) {
    if (!is_large_enough(cluster.facts(n), demand)) continue;
    facts = cluster.facts(n);
    take_own_labels(facts, own, 0);
    if (!is_allowed_by_facts(constraint, facts, cluster.context())) continue;
    std::pair<bool, std::vector<LabelId>> domains{!open.test(n.row()), {}};
    for (const LabelKeyId key : keys) domains.second.push_back(value_of(facts, key));
    const auto [it, is_first] = best.try_emplace(std::move(domains), n);
    if (!is_first && is_better(n, it->second)) it->second = n;
  }
  std::vector<NodeId> templates;
  for (const auto& [domains, node] : best)
    if (templates.size() < kTemplatesMax) templates.push_back(node);
  return templates;
}

std::vector<LabelKeyId> labels_that_part(const Cluster& cluster, const Constraint& constraint, const OwnLabels& own) {
  std::vector<LabelKeyId> keys;
  for (const PodTerm& term : constraint.keeps_away) keys.push_back(term.topology);
  for (const SpreadTerm& term : constraint.spread)
    if (term.domains_min > 1) keys.push_back(term.topology);
  if (!constraint.seen_as.is_none()) {
    std::vector<PodSelectorId> meant_by;
    cluster.counts().index().selectors_of(constraint.seen_as, meant_by);
    for (const Constraint& other : cluster.constraints())
      for (const PodTerm& term : other.keeps_away)
        if (std::ranges::find(meant_by, term.selector) != meant_by.end()) keys.push_back(term.topology);
  }
  std::erase_if(keys, [&](LabelKeyId key) { return std::ranges::find(own.keys, key) != own.keys.end(); });
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

NewNodes::NewNodes(Rehearsal& r, std::vector<NodeFacts> kinds, const OwnLabels& own)
    : r_(r), first_(static_cast<std::uint32_t>(r.state().cluster().rows())), kinds_(std::move(kinds)), own_(own) {}

bool NewNodes::start_with(std::span<const std::int64_t> counts) {
  std::vector<std::size_t> wanted;
  for (std::size_t kind = 0; kind < counts.size(); ++kind)
    wanted.insert(wanted.end(), static_cast<std::size_t>(counts[kind]), kind);
  shrink_to(static_cast<std::size_t>(std::ranges::mismatch(there_, wanted).in1 - there_.begin()));
  while (there_.size() < wanted.size()) {
    const std::size_t kind = wanted[there_.size()];
    NodeFacts facts = kinds_[kind];
    take_own_labels(facts, own_, there_.size());
    ashlar::apply(r_.state(), {r_.state().now(), NodeSeen{next(), std::move(facts)}});
    there_.push_back(kind);
  }
  return r_.starts({});
}

void NewNodes::shrink_to(std::size_t count) {
  while (there_.size() > count) {
    there_.pop_back();
    ashlar::apply(r_.state(), {r_.state().now(), NodeGone{next()}});
  }
}

}  // namespace ashlar
