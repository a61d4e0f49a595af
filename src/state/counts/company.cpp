#include "state/counts/company.h"

#include <algorithm>
#include <limits>

#include "base/grown.h"

namespace ashlar {
namespace {

/// Flips remembered, in multiples of the nodes: a step may open one domain and close another.
constexpr std::size_t kFlipsKept = 4;

/// But for the constraint's selector and affinity.
bool counts_where_selected(const Constraint& constraint, const NodeRules& rules, const SpreadTerm& term,
                           std::span<const SpreadTerm> together, const NodeFacts& facts) {
  if (term.honors_taints && rules.tolerates != nullptr && !rules.tolerates(constraint, facts)) return false;
  return !term.requires_all_labels || std::all_of(together.begin(), together.end(), [&](const SpreadTerm& other) {
    return !value_of(facts, other.topology).is_none();
  });
}

}  // namespace

bool counts_for_spread(const Constraint& constraint, const NodeRules& rules, const SpreadTerm& term,
                       std::span<const SpreadTerm> together, const NodeFacts& facts) {
  if (term.honors_affinity && rules.is_selected != nullptr && !rules.is_selected(constraint, facts)) return false;
  return counts_where_selected(constraint, rules, term, together, facts);
}

bool SpreadNodes::count(const SpreadTerm& term, NodeId node, const NodeFacts& facts) {
  if (term.honors_affinity && rules_.is_selected != nullptr) {
    if (node.row() >= is_selected_.size()) is_selected_.resize(node.row() + 1, -1);
    std::int8_t& is_selected = is_selected_[node.row()];
    if (is_selected < 0) is_selected = rules_.is_selected(constraint_, facts) ? 1 : 0;
    if (is_selected == 0) return false;
  }
  return counts_where_selected(constraint_, rules_, term, together_, facts);
}

void Company::list_terms(const Constraint& constraint) {
  terms_.clear();
  for (const SpreadTerm& term : constraint.spread)
    terms_.push_back(
        {.rule = CompanyRule::kSpread, .selector = term.selector, .topology = term.topology, .spread = term});
  if (!constraint.near.selector.is_none())
    for (const LabelKeyId topology : constraint.near.topologies)
      terms_.push_back({.rule = CompanyRule::kAffinity, .selector = constraint.near.selector, .topology = topology});
  for (const PodTerm& term : constraint.keeps_away)
    terms_.push_back({.rule = CompanyRule::kAntiAffinity, .selector = term.selector, .topology = term.topology});
  is_first_allowed_ = constraint.near.matches_itself;
}

void Company::count_nodes(const World& world, SpreadNodes& spread_nodes, Term& term) const {
  term.domains_of = world.domains.of(term.topology, world.nodes, world.nodes_edition);
  const LabelDomains::Domains& domains = *term.domains_of;
  term.pods.assign(domains.nodes.size(), 0);
  term.is_closed.assign(domains.nodes.size(), 0);
  term.steps = world.counts.step_count(term.selector);
  const bool is_spread = term.rule == CompanyRule::kSpread;
  std::vector<std::uint8_t> has_counted(is_spread ? domains.nodes.size() : 0);
  if (is_spread) {
    term.counted = BitSet(world.nodes.rows());
    for (std::size_t n = 0; n < domains.of_node.size(); ++n) {
      if (domains.of_node[n] == LabelDomains::kNone) continue;
      if (!spread_nodes.count(term.spread, NodeId(n), world.nodes.facts(NodeId(n)))) continue;
      term.counted.set(n);
      has_counted[domains.of_node[n]] = 1;
    }
  }
  for (const NodeCount& c : world.counts.by_node(term.selector)) {
    const std::uint32_t domain = domains.at(c.node);
    if (domain == LabelDomains::kNone || (is_spread && !term.counted.test(c.node.row()))) continue;
    term.pods[domain] += c.pods;
  }
  term.with_so_many.clear();
  term.domains = 0;
  term.fewest = 0;
  if (!is_spread) return;
  for (std::size_t d = 0; d < term.pods.size(); ++d) {
    if (has_counted[d] == 0) continue;
    term.fewest = term.domains == 0 ? term.pods[d] : std::min(term.fewest, term.pods[d]);
    ++term.domains;
    ++grown(term.with_so_many, term.pods[d]);
  }
}

std::int64_t Company::pods_allowed(const Term& term) {
  const bool has_few = term.domains < static_cast<std::uint32_t>(std::max(term.spread.domains_min, 0));
  const std::int64_t fewest = has_few ? 0 : term.fewest;
  return fewest + term.spread.skew_max - (term.spread.matches_itself ? 1 : 0);
}

bool Company::should_close(const Term& term, std::size_t domain) const {
  switch (term.rule) {
    case CompanyRule::kSpread:
      return term.pods[domain] > pods_allowed(term);
    case CompanyRule::kAffinity:
      return term.pods[domain] == 0 && !may_be_first();
    case CompanyRule::kAntiAffinity:
      return term.pods[domain] > 0;
    case CompanyRule::kNone:
      return false;
  }
  return false;
}

/// Without the label a node has no domain: there is no pod to be kept from, and none to be near to or spread with.
bool Company::refuses(const Term& term, std::uint32_t domain) {
  return domain == LabelDomains::kNone ? term.rule != CompanyRule::kAntiAffinity : term.is_closed[domain] != 0;
}

void Company::start_anew(const World& world) {
  list_terms(world.constraint);
  closed_by_.assign(world.nodes.rows(), 0);
  near_pods_ = 0;
  SpreadNodes spread_nodes(world.constraint, world.rules, world.constraint.spread);
  for (Term& term : terms_) {
    count_nodes(world, spread_nodes, term);
    if (term.rule != CompanyRule::kAffinity) continue;
    for (const std::uint32_t pods : term.pods) near_pods_ += pods;
  }
  for (Term& term : terms_) {
    for (std::size_t d = 0; d < term.is_closed.size(); ++d) term.is_closed[d] = should_close(term, d) ? 1 : 0;
    const std::vector<std::uint32_t>& of_node = term.domains_of->of_node;
    for (std::size_t n = 0; n < of_node.size(); ++n)
      if (refuses(term, of_node[n])) ++closed_by_[n];
  }
  open_ = BitSet(world.nodes.rows());
  for (std::size_t n = 0; n < closed_by_.size(); ++n)
    if (closed_by_[n] == 0) open_.set(n);
  flips_before_ += flips_.size() + 1;
  flips_.clear();
  nodes_edition_ = world.nodes_edition;
  is_started_ = true;
}

void Company::set_closed(Term& term, std::size_t domain, bool is_closed) {
  if ((term.is_closed[domain] != 0) == is_closed) return;
  term.is_closed[domain] = is_closed ? 1 : 0;
  for (const NodeId n : term.domains_of->nodes[domain]) {
    std::uint32_t& closed_by = closed_by_[n.row()];
    is_closed ? ++closed_by : --closed_by;
    if (closed_by != (is_closed ? 1 : 0)) continue;
    open_.assign(n.row(), !is_closed);
    flips_.push_back(n);
  }
}

/// All domains of the term: what it allows has changed.
void Company::close_again(Term& term) {
  for (std::size_t d = 0; d < term.is_closed.size(); ++d) set_closed(term, d, should_close(term, d));
}

void Company::move_count(Term& term, std::uint32_t before, std::uint32_t after) {
  --term.with_so_many[before];
  ++grown(term.with_so_many, after);
  term.fewest = std::min(term.fewest, after);
  while (term.with_so_many[term.fewest] == 0) ++term.fewest;
}

void Company::step(Term& term, const Counts::Step& step) {
  const std::uint32_t domain = term.domains_of->at(step.node);
  const bool is_spread = term.rule == CompanyRule::kSpread;
  if (domain == LabelDomains::kNone || (is_spread && !term.counted.test(step.node.row()))) return;
  const std::int64_t allowed_before = is_spread ? pods_allowed(term) : 0;
  const bool was_first = may_be_first();
  const std::uint32_t before = term.pods[domain];
  term.pods[domain] = static_cast<std::uint32_t>(static_cast<std::int64_t>(before) + step.by);
  if (is_spread) move_count(term, before, term.pods[domain]);
  if (term.rule == CompanyRule::kAffinity)
    near_pods_ = static_cast<std::uint64_t>(static_cast<std::int64_t>(near_pods_) + step.by);
  if (term.rule == CompanyRule::kAffinity && may_be_first() != was_first) {
    for (Term& other : terms_)
      if (other.rule == CompanyRule::kAffinity) close_again(other);
  } else if (is_spread && pods_allowed(term) != allowed_before) {
    close_again(term);
  } else {
    set_closed(term, domain, should_close(term, domain));
  }
}

void Company::refresh(const World& world) {
  const bool is_known = is_started_ && nodes_edition_ == world.nodes_edition &&
                        std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
                          return world.counts.remembers(term.selector, term.steps);
                        });
  if (!is_known) return start_anew(world);
  for (Term& term : terms_) {
    for (const Counts::Step& one : world.counts.steps_since(term.selector, term.steps)) step(term, one);
    term.steps = world.counts.step_count(term.selector);
  }
  if (flips_.size() > kFlipsKept * closed_by_.size() + kFlipsKept) {
    flips_before_ += flips_.size();
    flips_.clear();
  }
}

std::size_t Company::bytes() const {
  std::size_t sum = sizeof(*this) + sizeof(NodeId) * flips_.size() + sizeof(std::uint32_t) * closed_by_.size() +
                    closed_by_.size() / 8;
  for (const Term& term : terms_)
    sum += sizeof(term) + (sizeof(std::uint32_t) + 1) * term.pods.size() + term.counted.size() / 8 +
           sizeof(std::uint32_t) * term.with_so_many.size();
  return sum;
}

bool Company::refuses(CompanyRule rule, NodeId node) const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [&](const Term& term) { return term.rule == rule && refuses(term, term.domains_of->at(node)); });
}

}  // namespace ashlar
