#include "state/counts/pod_preferences.h"

#include <algorithm>
#include <map>
#include <utility>

namespace ashlar {

void PodPreferences::add_in_domain(const LabelDomains::Domains& domains, std::uint32_t domain, std::int64_t weight) {
  if (domain == LabelDomains::kNone || weight == 0) return;
  if (affinity_.empty()) affinity_.assign(domains.of_node.size(), 0);
  for (const NodeId n : domains.nodes[domain]) affinity_[n.row()] += weight;
}

void PodPreferences::add_drawn(const Company::World& world, const Drawn::To& to) {
  const auto domains = world.domains.of(to.topology, world.nodes, world.nodes_edition);
  add_in_domain(*domains, domains->of(to.value), to.weight);
}

void PodPreferences::start_spread(const Company::World& world, SpreadNodes& spread_nodes, const SpreadTerm& term) {
  Spread& spread = spreads_.emplace_back(Spread{.term = term, .steps = world.counts.step_count(term.selector)});
  spread.domains_of = world.domains.of(term.topology, world.nodes, world.nodes_edition);
  spread.counted = BitSet(world.nodes.rows());
  const std::vector<std::uint32_t>& domains = spread.domains_of->of_node;
  for (std::size_t n = 0; n < domains.size(); ++n)
    if (domains[n] != LabelDomains::kNone && spread_nodes.count(term, NodeId(n), world.nodes.facts(NodeId(n))))
      spread.counted.set(n);
  spread.pods.assign(spread.domains_of->nodes.size(), 0);
  for (const NodeCount& c : world.counts.by_node(term.selector))
    if (c.node.row() < domains.size() && spread.counted.test(c.node.row()))
      spread.pods[domains[c.node.row()]] += c.pods;
}

/// What is the same everywhere is left empty.
void PodPreferences::start_facts(const Company::World& world) {
  const auto fill = [&](std::vector<std::int32_t>& column, NodeRules::Amount amount) {
    column.clear();
    if (amount == nullptr) return;
    column.resize(world.nodes.rows());
    for (std::size_t n = 0; n < column.size(); ++n)
      if (world.nodes.is_live(NodeId(n))) column[n] = amount(world.constraint, world.nodes.facts(NodeId(n)));
    if (std::all_of(column.begin(), column.end(), [](std::int32_t v) { return v == 0; })) column.clear();
  };
  fill(weights_held_, world.constraint.preferred.empty() ? nullptr : world.rules.weights_held);
  fill(soft_taints_, world.rules.soft_taints);
}

void PodPreferences::score_images(const Company::World& world) {
  images_version_ = world.images.version(world.constraint.images);
  images_.clear();
  if (!world.images.is_on_any(world.constraint.images)) return;
  std::size_t nodes = 0;
  for (std::size_t n = 0; n < world.nodes.rows(); ++n) nodes += world.nodes.is_live(NodeId(n)) ? 1 : 0;
  images_.resize(world.nodes.rows());
  world.images.score(world.constraint.images, nodes, images_);
}

void PodPreferences::start_anew(const Company::World& world) {
  affinity_.clear();
  terms_.clear();
  for (const PodPreference& preference : world.constraint.prefers_pods) {
    if (preference.is_required) continue;
    Term& term = terms_.emplace_back(Term{preference, world.counts.step_count(preference.selector)});
    term.domains_of = world.domains.of(preference.topology, world.nodes, world.nodes_edition);
    std::vector<std::int64_t> pods(term.domains_of->nodes.size(), 0);
    for (const NodeCount& c : world.counts.by_node(preference.selector))
      if (const std::uint32_t domain = term.domains_of->at(c.node); domain != LabelDomains::kNone)
        pods[domain] += c.pods;
    for (std::size_t d = 0; d < pods.size(); ++d)
      add_in_domain(*term.domains_of, static_cast<std::uint32_t>(d), pods[d] * preference.weight);
  }
  seen_as_ = world.constraint.seen_as;
  if (!seen_as_.is_none()) {
    drawn_seen_ = world.counts.drawn_count(seen_as_);
    for (const Drawn::To& to : world.counts.drawn_to(seen_as_)) add_drawn(world, to);
  }
  spreads_.clear();
  SpreadNodes spread_nodes(world.constraint, world.rules, world.constraint.prefers_spread);
  for (const SpreadTerm& term : world.constraint.prefers_spread) start_spread(world, spread_nodes, term);
  start_facts(world);
  score_images(world);
  nodes_edition_ = world.nodes_edition;
  is_started_ = true;
  ++version_;
}

bool PodPreferences::is_known(const Company::World& world) const {
  const auto remembers = [&](PodSelectorId selector, std::uint64_t steps) {
    return world.counts.remembers(selector, steps);
  };
  return is_started_ && nodes_edition_ == world.nodes_edition &&
         std::ranges::all_of(terms_, [&](const Term& t) { return remembers(t.preference.selector, t.steps); }) &&
         std::ranges::all_of(spreads_, [&](const Spread& s) { return remembers(s.term.selector, s.steps); }) &&
         (seen_as_.is_none() || world.counts.remembers_drawn(seen_as_, drawn_seen_));
}

void PodPreferences::refresh(const Company::World& world) {
  if (!is_known(world)) return start_anew(world);
  bool is_changed = false;
  const auto each_step = [&](PodSelectorId selector, std::uint64_t& seen, auto&& take) {
    for (const Counts::Step& step : world.counts.steps_since(selector, seen)) {
      is_changed = true;
      take(step);
    }
    seen = world.counts.step_count(selector);
  };
  // a domain may be large: what has come and gone in it is added once
  std::map<std::uint32_t, std::int64_t> net;
  for (Term& term : terms_) {
    net.clear();
    each_step(term.preference.selector, term.steps,
              [&](const Counts::Step& step) { net[term.domains_of->at(step.node)] += step.by; });
    for (const auto& [domain, pods] : net) add_in_domain(*term.domains_of, domain, pods * term.preference.weight);
  }
  for (Spread& spread : spreads_)
    each_step(spread.term.selector, spread.steps, [&](const Counts::Step& step) {
      if (step.node.row() >= spread.domains_of->of_node.size() || !spread.counted.test(step.node.row())) return;
      std::uint32_t& pods = spread.pods[spread.domains_of->at(step.node)];
      pods = static_cast<std::uint32_t>(static_cast<std::int64_t>(pods) + step.by);
    });
  if (!seen_as_.is_none()) {
    std::map<std::pair<LabelKeyId, LabelId>, std::int64_t> drawn;
    for (const Drawn::To& to : world.counts.drawn_since(seen_as_, drawn_seen_)) {
      is_changed = true;
      drawn[{to.topology, to.value}] += to.weight;
    }
    for (const auto& [domain, weight] : drawn) add_drawn(world, {domain.first, domain.second, weight});
    drawn_seen_ = world.counts.drawn_count(seen_as_);
  }
  if (images_version_ != world.images.version(world.constraint.images)) {
    score_images(world);
    is_changed = true;
  }
  if (is_changed) ++version_;
}

std::size_t PodPreferences::bytes() const {
  std::size_t sum = sizeof(*this) + sizeof(Term) * terms_.size() + sizeof(std::int64_t) * affinity_.size() +
                    sizeof(std::int32_t) * (weights_held_.size() + soft_taints_.size()) + images_.size();
  for (const Spread& spread : spreads_)
    sum += sizeof(spread) + sizeof(std::uint32_t) * spread.pods.size() + spread.counted.size() / 8;
  return sum;
}

}  // namespace ashlar
