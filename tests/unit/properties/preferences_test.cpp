// Preferences about other pods rank nodes as kube-scheduler's score plugins do, one by one and from scratch.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

#include "engine/explain/preferences_met.h"
#include "engine/place/tables/fit_table.h"
#include "history.h"
#include "policy/node/selector.h"
#include "policy/node/taints.h"
#include "state/cluster/usable_devices.h"
#include "state/state_fields.h"
#include "state/trial.h"

namespace ashlar {
namespace {

using Scores = std::map<NodeId, std::int64_t>;

LabelId label_at(const State& state, NodeId node, LabelKeyId key) {
  for (const NodeLabel& l : state.cluster().facts(node).labels)
    if (l.key == key) return l.id;
  return LabelId::none();
}

bool is_selected_by(const State& state, PodSelectorId selector, LabelSetId labels) {
  return !labels.is_none() && state.cluster().counts().index().matches(selector, labels);
}

/// Calls `visit(member, node)` for each placed pod.
template <class Visit>
void each_pod(const State& state, Visit&& visit) {
  for (std::size_t row = 0; row < state.member_rows(); ++row)
    if (state.is_live(MemberId(row)) && state.member(MemberId(row)).is_placed())
      visit(state.member(MemberId(row)), state.member(MemberId(row)).node);
}

/// InterPodAffinity: a map of the values of each topology key, as upstream keeps it.
Scores inter_pod_affinity(const State& state, const Constraint& c, const Scores& feasible) {
  std::map<std::pair<LabelKeyId, LabelId>, std::int64_t> topology_score;
  const auto process = [&](const PodPreference& term, bool matches, NodeId node) {
    const LabelId value = label_at(state, node, term.topology);
    if (matches && !value.is_none()) topology_score[{term.topology, value}] += term.weight;
  };
  each_pod(state, [&](const Member& m, NodeId node) {
    for (const PodPreference& term : c.prefers_pods)
      if (!term.is_required) process(term, is_selected_by(state, term.selector, m.labels), node);
    for (const PodPreference& term : state.cluster().constraint(m.constraint).prefers_pods)
      process(term, is_selected_by(state, term.selector, c.seen_as), node);
  });
  Scores scores = feasible;
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  for (auto& [node, score] : scores) {
    for (const auto& [at, weight] : topology_score)
      if (label_at(state, node, at.first) == at.second) score += weight;
    least = std::min(least, score), most = std::max(most, score);
  }
  for (auto& [node, score] : scores)
    score = most == least ? 0
                          : static_cast<std::int64_t>(
                                100.0 * (static_cast<double>(score - least) / static_cast<double>(most - least)));
  return scores;
}

/// PodTopologySpread, of constraints with ScheduleAnyway.
Scores pod_topology_spread(const State& state, const Constraint& c, const Scores& feasible) {
  Scores scores = feasible;
  if (c.prefers_spread.empty()) return scores;
  const bool requires_all = c.prefers_spread.front().requires_all_labels;  // not of the defaults of the system
  const auto has_all_labels = [&](NodeId n) {
    return !requires_all || std::ranges::none_of(c.prefers_spread, [&](const SpreadTerm& t) {
      return label_at(state, n, t.topology).is_none();
    });
  };
  std::map<NodeId, double> sums;
  for (const SpreadTerm& term : c.prefers_spread) {
    std::map<LabelId, std::int64_t> pods;
    for (const auto& [node, score] : feasible)
      if (has_all_labels(node)) pods[label_at(state, node, term.topology)] = 0;
    each_pod(state, [&](const Member& m, NodeId n) {
      const NodeFacts& facts = state.cluster().facts(n);
      const bool counts = has_all_labels(n) && (!term.honors_affinity || is_selected(c, facts)) &&
                          (!term.honors_taints || taints_tolerated(c, facts));
      if (counts && is_selected_by(state, term.selector, m.labels)) ++pods[label_at(state, n, term.topology)];
    });
    std::map<LabelId, int> of_feasible;
    for (const auto& [node, score] : feasible)
      if (has_all_labels(node)) of_feasible[label_at(state, node, term.topology)] = 1;
    for (const auto& [node, score] : feasible)
      if (has_all_labels(node))
        sums[node] += label_at(state, node, term.topology).is_none()
                          ? 0
                          : static_cast<double>(pods[label_at(state, node, term.topology)]) *
                                    std::log(static_cast<double>(of_feasible.size() + 2)) +
                                (term.skew_max - 1);
  }
  std::int64_t least = INT64_MAX, most = 0;
  for (const auto& [node, sum] : sums) {
    const std::int64_t score = std::llround(sum);
    least = std::min(least, score), most = std::max(most, score);
  }
  for (const auto& [node, sum] : sums) scores[node] = most == 0 ? 100 : 100 * (most + least - std::llround(sum)) / most;
  return scores;
}

/// Sums by node, scaled to the largest of them.
template <class Amount>
Scores scaled(const State& state, const Scores& feasible, bool is_less_better, Amount&& amount) {
  Scores scores = feasible;
  std::int64_t most = 0;
  for (auto& [node, score] : scores) most = std::max(most, score = amount(state.cluster().facts(node)));
  for (auto& [node, score] : scores) {
    if (most > 0) score = 100 * score / most;
    if (is_less_better) score = 100 - score;
  }
  return scores;
}

/// ImageLocality, of the rows that the state has.
Scores image_locality(const State& state, const Constraint& c, const Scores& feasible) {
  constexpr std::int64_t kMb = 1024 * 1024;
  Scores scores = feasible;
  std::int64_t nodes = 0;
  for (std::size_t n = 0; n < state.cluster().rows(); ++n) nodes += state.cluster().is_live(NodeId(n)) ? 1 : 0;
  for (auto& [node, score] : scores) {
    std::int64_t sum = 0;
    for (const ImageId image : c.images.on_nodes) {
      const Images::Row& row = state.cluster().images().row(image);
      const double spread = static_cast<double>(row.nodes.size()) / static_cast<double>(nodes);
      if (std::ranges::find(row.nodes, node) != row.nodes.end())
        sum += static_cast<std::int64_t>(static_cast<double>(row.bytes) * spread);
    }
    const std::int64_t most = 1000 * kMb * std::max<std::int64_t>(c.images.count, 1);
    if (sum < 23 * kMb) sum = 23 * kMb;
    if (sum > most) sum = most;
    score = 100 * (sum - 23 * kMb) / (most - 23 * kMb);
  }
  return scores;
}

/// By the default weights.
Scores as_kube_scheduler(const State& state, const Constraint& c, const Scores& feasible) {
  const Scores affinity = inter_pod_affinity(state, c, feasible), spread = pod_topology_spread(state, c, feasible),
               images = image_locality(state, c, feasible);
  const Scores nodes = scaled(state, feasible, false, [&](const NodeFacts& facts) {
    std::int64_t sum = 0;
    for (const PreferredTerm& p : c.preferred) sum += term_holds(p.term, facts) ? p.weight : 0;
    return sum;
  });
  const Scores taints = scaled(state, feasible, true, [&](const NodeFacts& facts) {
    return std::ranges::count_if(facts.taints, [&](const Taint& taint) {
      return taint.effect == TaintEffect::kPreferNoSchedule &&
             std::ranges::none_of(c.tolerations, [&](const Toleration& t) { return t.tolerates(taint); });
    });
  });
  Scores all = feasible;
  for (auto& [node, score] : all)
    score = 3 * taints.at(node) + 2 * nodes.at(node) + 2 * spread.at(node) + 2 * affinity.at(node) + images.at(node);
  return all;
}

class Ranking {
 public:
  /// Checks the tables of all constraints with preferences about pods, for some demands.
  void expect_as_upstream(const State& state) {
    for (std::size_t row = 0; row < state.cluster().constraint_rows(); ++row)
      for (const std::uint32_t demand : {0u, 3u, 10u}) {
        const ConstraintId id(row);
        FitTable& table = tables_.counted(state, DemandId(demand), id, 0);
        Scores feasible;
        for (std::size_t n = 0; n < table.fits().size(); ++n)
          if (table.fits(NodeId(n)) > 0) feasible[NodeId(n)] = 0;
        const std::span<const Points> points = table.node_view(state).preferences;
        RC_ASSERT(points.empty() != state.cluster().has_pod_preferences(id));
        const NodeId best = table.best(state);
        RC_ASSERT(best.is_none() == feasible.empty());
        if (points.empty() || feasible.empty()) continue;
        const Scores expected = as_kube_scheduler(state, state.cluster().constraint(id), feasible);
        std::int64_t most = 0;
        for (const auto& [node, score] : expected) {
          RC_ASSERT(points[node.row()] == score);
          most = std::max(most, score);
        }
        RC_ASSERT(expected.at(best) == most);
      }
  }

 private:
  Profile profile_ = profile_with(Blocking::kSkip);
  FitTables tables_{profile_};
};

State lived_with_others(const std::vector<Move>& moves, Outside& outside) {
  State state;
  for (const Event& event : outside.begin()) apply(state, event);
  for (const Move& move : moves)
    for (const Event& event : outside.act(move, state)) apply(state, event);
  return state;
}

void expect_ranked_as_upstream(const OutsideOptions& options) {
  Outside outside(options);
  State state = lived_with_others(*some_moves(), outside);
  Ranking ranking;
  ranking.expect_as_upstream(state);
  {
    Trial trial(state);
    for (const Move& move : *some_moves()) {
      const MemberId member(static_cast<std::size_t>(move.a) % std::max<std::size_t>(1, state.member_rows()));
      const NodeId node(static_cast<std::size_t>(move.b % outside.nodes()));
      if (!state.is_live(member) || state.member(member).is_placed() || !state.cluster().is_live(node)) continue;
      const DeviceRequest& request = state.demand(state.member(member).demand).devices;
      trial.place(member, node, choose_devices(state.cluster(), node, request, {}));
      if (move.c % 4 == 0) ranking.expect_as_upstream(state);
    }
  }
  ranking.expect_as_upstream(state);
  for (const Move& move : *some_moves()) {
    for (const Event& event : outside.act(move, state)) apply(state, event);
    if (move.c % 4 == 0) ranking.expect_as_upstream(state);
  }
  State again = state;
  StateFields::forget_caches(again);
  Ranking().expect_as_upstream(again);
}

RC_GTEST_PROP(PodPreferences, RankNodesAsKubeSchedulerDoesAlsoInsideATrialAndAfterARestart, ()) {
  expect_ranked_as_upstream({.has_company = true, .has_images = true, .has_health = true});
}

RC_GTEST_PROP(PodPreferences, RankManyNodesAsKubeSchedulerDoesToo, ()) {
  expect_ranked_as_upstream({.has_company = true, .has_images = true, .has_health = true, .more_nodes = 30});
}

/// Pods of the term in the node's domain but for this member, from scratch.
std::int64_t pods_near(const State& state, const PodPreference& term, NodeId node, MemberId but) {
  const LabelId value = label_at(state, node, term.topology);
  std::int64_t pods = 0;
  for (std::size_t row = 0; row < state.member_rows(); ++row) {
    const MemberId id(row);
    if (id == but || !state.is_live(id) || !state.member(id).is_placed()) continue;
    const bool is_near = !value.is_none() && label_at(state, state.member(id).node, term.topology) == value;
    pods += is_near && is_selected_by(state, term.selector, state.member(id).labels) ? 1 : 0;
  }
  return pods;
}

void expect_counted(const State& state, const PreferenceMet& met, MemberId id, const PodPreference& term) {
  const std::int64_t here = term.weight * pods_near(state, term, state.member(id).node, id);
  std::int64_t most = here, better = 0;
  for (std::size_t n = 0; n < state.cluster().rows(); ++n) {
    if (!state.cluster().is_live(NodeId(n))) continue;
    const std::int64_t there = term.weight * pods_near(state, term, NodeId(n), id);
    most = std::max(most, there);
    better += there > here ? 1 : 0;
    if (NodeId(n) == met.best) RC_ASSERT(there == met.there);
  }
  RC_ASSERT(met.here == here);
  RC_ASSERT(met.most == most);
  RC_ASSERT(static_cast<std::int64_t>(met.better) == better);
}

RC_GTEST_PROP(PodPreferences, WhatTheyComeToForAPlacedMemberIsCountedAndChangesNothing, ()) {
  Outside outside({.has_company = true, .has_images = true, .has_gangs = true, .has_grants = true});
  State state = lived_with_others(*some_moves(), outside);
  const Profile profile = profile_with(Blocking::kSkip);
  const std::uint64_t digest = state.digest();
  for (std::size_t row = 0; row < state.member_rows(); ++row) {
    const MemberId id(row);
    if (!state.is_live(id) || !state.member(id).is_placed()) continue;
    const std::optional<PreferencesMet> met = preferences_met(state, profile, id);
    RC_ASSERT(state.digest() == digest);
    RC_ASSERT(met.has_value() == state.cluster().is_live(state.member(id).node));
    if (!met) continue;
    RC_ASSERT(met->node == state.member(id).node);
    std::vector<PodPreference> wishes = state.cluster().constraint(state.member(id).constraint).prefers_pods;
    std::erase_if(wishes, [](const PodPreference& term) { return term.is_required; });
    std::size_t seen = 0;
    for (const PreferenceMet& one : met->terms)
      if (one.kind == PreferenceKind::kPods) expect_counted(state, one, id, wishes.at(one.index)), ++seen;
    RC_ASSERT(seen == wishes.size());
  }
  RC_ASSERT(state.is_consistent());
}

}  // namespace
}  // namespace ashlar
