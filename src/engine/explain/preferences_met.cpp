#include "engine/explain/preferences_met.h"

#include <algorithm>

#include "engine/explain/refusals.h"
#include "engine/place/tables/fit_table.h"
#include "policy/node/preferred.h"
#include "policy/node/selector.h"
#include "policy/score/prefer.h"
#include "state/trial.h"

namespace ashlar {
namespace {

using Column = std::vector<std::int64_t>;  ///< by node row
using PointColumn = std::vector<Points>;

std::optional<std::size_t> tier_of_prefer(const Profile& profile) {
  for (std::size_t t = 0; t < profile.tiers.size(); ++t)
    for (const ScorePolicy* policy : profile.tiers[t])
      if (policy->add == add_prefer) return t;
  return std::nullopt;
}

/// Points of all nodes in one tier. What a policy draws counts as nothing.
PointColumn points_of_tier(const State& state, const NodeView& view, const std::vector<const ScorePolicy*>& tier) {
  const Topology& topology = state.cluster().topology();
  PointColumn points(state.cluster().rows(), 0);
  for (const ScorePolicy* policy : tier) {
    if (policy->is_drawn) continue;
    if (policy->add != nullptr) policy->add(view, {0, points.size()}, points);
    if (policy->add_domain == nullptr) continue;
    PointColumn of_groups(topology.group_count(), 0);
    policy->add_domain(view, of_groups);
    for (std::size_t n = 0; n < points.size(); ++n)
      if (const GroupId group = topology.group_of(NodeId(n)); !group.is_none()) points[n] += of_groups[group.row()];
  }
  return points;
}

template <class Amount>
Column column_of(const State& state, Amount&& amount) {
  Column column(state.cluster().rows(), 0);
  for (std::size_t n = 0; n < column.size(); ++n)
    if (state.cluster().is_live(NodeId(n))) column[n] = amount(NodeId(n));
  return column;
}

/// Pods that a term of the constraint means, by its domains, times its weight.
Column pods_near(const State& state, const PodPreference& term) {
  const Cluster& cluster = state.cluster();
  const auto value_at = [&](NodeId n) {
    for (const NodeLabel& label : cluster.facts(n).labels)
      if (label.key == term.topology) return label.id;
    return LabelId::none();
  };
  std::vector<std::pair<LabelId, std::int64_t>> pods;
  for (const NodeCount& count : cluster.counts().by_node(term.selector))
    if (cluster.is_live(count.node)) pods.emplace_back(value_at(count.node), count.pods);
  std::ranges::sort(pods);
  return column_of(state, [&](NodeId n) {
    const LabelId value = value_at(n);
    std::int64_t sum = 0;
    for (auto it = std::ranges::lower_bound(pods, std::pair(value, std::int64_t{0})); it != pods.end(); ++it) {
      if (it->first != value || value.is_none()) break;
      sum += it->second;
    }
    return sum * term.weight;
  });
}

struct Term {
  PreferenceKind kind;
  std::uint32_t index;
  Column amounts;
};

void add_about_pods_and_images(const State& state, const Constraint& c, ConstraintId id, std::vector<Term>& terms) {
  if (!state.cluster().has_pod_preferences(id)) return;
  const PodPreferences& sums = state.cluster().pod_preferences(id, kNodeRules);
  Column drawn(sums.affinity().begin(), sums.affinity().end());
  drawn.resize(state.cluster().rows(), 0);
  std::uint32_t index = 0;
  for (const PodPreference& preference : c.prefers_pods) {
    if (preference.is_required) continue;
    terms.push_back({PreferenceKind::kPods, index++, pods_near(state, preference)});
    for (std::size_t n = 0; n < drawn.size(); ++n) drawn[n] -= terms.back().amounts[n];
  }
  terms.push_back({PreferenceKind::kDrawn, 0, std::move(drawn)});
  if (!sums.images().empty())
    terms.push_back({PreferenceKind::kImages, 0, Column(sums.images().begin(), sums.images().end())});
  index = 0;
  for (const PodPreferences::Spread& spread : sums.spreads())
    terms.push_back({PreferenceKind::kSpread, index++, column_of(state, [&](NodeId n) {
                       const std::uint32_t domain = spread.domains_of->at(n);
                       return domain == LabelDomains::kNone ? PreferenceMet::kNoDomain
                                                            : -static_cast<std::int64_t>(spread.pods[domain]);
                     })});
}

std::vector<Term> terms_of(const State& state, ConstraintId id) {
  const Constraint& c = state.cluster().constraint(id);
  std::vector<Term> terms;
  for (std::uint32_t i = 0; i < c.preferred.size(); ++i)
    terms.push_back({PreferenceKind::kNodeAffinity, i, column_of(state, [&](NodeId n) {
                       return term_holds(c.preferred[i].term, state.cluster().facts(n))
                                  ? std::int64_t{c.preferred[i].weight}
                                  : std::int64_t{0};
                     })});
  terms.push_back({PreferenceKind::kSoftTaints, 0, column_of(state, [&](NodeId n) {
                     return -std::int64_t{untolerated_soft_taints(c, state.cluster().facts(n))};
                   })});
  add_about_pods_and_images(state, c, id, terms);
  return terms;
}

/// Where the others of its gang, and of its group, hold it.
class Home {
 public:
  Home(const State& state, const Member& m) : topology_(state.cluster().topology()) {
    const Job& job = state.job(m.job);
    keep(state, m.job, job.within, State::kAnyGroup);
    if (!job.spec.is_none() && m.group < state.gang_spec(job.spec).groups.size())
      keep(state, m.job, state.gang_spec(job.spec).groups[m.group].within, m.group);
  }
  bool holds(NodeId n) const {
    return std::ranges::all_of(domains_, [&](const auto& d) { return topology_.domain_of(d.first, n) == d.second; });
  }

 private:
  void keep(const State& state, JobId job, LevelId level, std::uint32_t group) {
    if (level.is_none()) return;
    if (const DomainId domain = state.anchor(job, level, group); !domain.is_none())
      domains_.emplace_back(level, domain);
  }

  const Topology& topology_;
  std::vector<std::pair<LevelId, DomainId>> domains_;
};

/// What is compared: the nodes with the member taken off.
struct Nodes {
  const State& state;
  const Profile& profile;
  const FitTable& table;
  const Home& home;
  NodeId own;
  std::vector<PointColumn> tiers = {};
  bool is_open(NodeId n) const { return table.fits(n) > 0 && home.holds(n); }
  /// Above 0: `a` ranks before `b`.
  int rank(NodeId a, NodeId b) const {
    for (const PointColumn& points : tiers)
      if (points[a.row()] != points[b.row()]) return points[a.row()] > points[b.row()] ? 1 : -1;
    return 0;
  }
};

PreferenceMet met_of(const Nodes& nodes, const Term& term, Tally tally) {
  const Cluster& cluster = nodes.state.cluster();
  PreferenceMet met{.kind = term.kind, .index = term.index, .here = term.amounts[nodes.own.row()]};
  met.most = met.here;
  const NodeView view = nodes.table.node_view(nodes.state);
  for (std::size_t row = 0; row < term.amounts.size(); ++row) {
    const NodeId n(row);
    if (!cluster.is_live(n) || term.amounts[row] <= met.here) continue;
    met.most = std::max(met.most, term.amounts[row]);
    ++met.better;
    if (!nodes.home.holds(n))
      ++met.outside;
    else if (nodes.table.fits(n) == 0)
      count_node(nodes.state, nodes.profile, view, n, tally);
    else if (met.best.is_none() || nodes.rank(n, met.best) > 0)
      met.best = n;
  }
  std::ranges::stable_sort(tally.reasons, std::greater<>(), [](const Reason& r) { return r.numbers[0]; });
  met.refused_by = std::move(tally.reasons);
  if (met.best.is_none()) return met;
  met.there = term.amounts[met.best.row()];
  for (std::size_t t = 0; t < nodes.tiers.size() && !met.decided_by; ++t)
    if (const Points there = nodes.tiers[t][met.best.row()], here = nodes.tiers[t][nodes.own.row()]; there != here)
      met.decided_by = {t, there, here};
  return met;
}

/// Nodes differ, or it is the member's own and not one of all nodes together.
bool is_worth_telling(const Term& term, const Cluster& cluster) {
  const bool is_own = term.kind != PreferenceKind::kSoftTaints && term.kind != PreferenceKind::kDrawn &&
                      term.kind != PreferenceKind::kImages;
  if (is_own) return true;
  for (std::size_t n = 0; n < term.amounts.size(); ++n)
    if (cluster.is_live(NodeId(n)) && term.amounts[n] != 0) return true;
  return false;
}

}  // namespace

std::optional<PreferencesMet> preferences_met(State& state, const Profile& profile, MemberId id) {
  const std::optional<std::size_t> tier = tier_of_prefer(profile);
  const Member m = state.member(id);
  if (!tier || !m.is_placed() || !state.cluster().is_live(m.node)) return std::nullopt;
  Trial trial(state);
  trial.evict(id);
  FitTable table(profile, m.demand, m.constraint);
  table.open(state, 0);
  table.count(state);
  const Home home(state, m);
  const NodeView view = table.node_view(state);
  Nodes nodes{state, profile, table, home, m.node};
  for (const auto& policies : profile.tiers) nodes.tiers.push_back(points_of_tier(state, view, policies));
  PreferencesMet met{.node = m.node, .is_open = nodes.is_open(m.node), .tier = *tier};
  PointColumn prefer(state.cluster().rows(), 0);
  add_prefer(view, {0, prefer.size()}, prefer);
  met.here = prefer[m.node.row()];
  for (std::size_t n = 0; n < prefer.size(); ++n)
    if (nodes.is_open(NodeId(n))) met.most = std::max(met.most, prefer[n]);
  for (const Term& term : terms_of(state, m.constraint))
    if (is_worth_telling(term, state.cluster())) met.terms.push_back(met_of(nodes, term, {m.demand, m.constraint}));
  return met;
}

}  // namespace ashlar
