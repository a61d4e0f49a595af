#include "engine/place/one_by_one.h"

#include <algorithm>
#include <map>
#include <utility>

#include "state/counts/kept_away.h"

namespace ashlar {
namespace {

/// Nodes that a search for every combination goes through; with more there are too many.
constexpr std::size_t kSearchedNodesMax = 16;
/// Domains of an affinity that are tried.
constexpr std::size_t kDomainsTriedMax = 64;

}  // namespace

void OneByOne::place(const Kind& kind, FitTable& table, NodeId node) {
  context_.trial.place(kind.member, node, context_.profile.device->choose(table.node_view(state_), node));
}

template <class Visit>
void OneByOne::each_open(const FitTable& table, const Scope& scope, Visit&& visit) const {
  const Topology& topology = state_.cluster().topology();
  const Scope& narrower = scope.is_everywhere() ? hard_ : scope;
  const auto look_at = [&](NodeId n) {
    if (table.fits(n) > 0 && hard_.holds(topology, n) && scope.holds(topology, n)) visit(n);
  };
  if (narrower.is_everywhere())
    for (std::size_t n = 0; n < table.fits().size(); ++n) look_at(NodeId(n));
  else
    for (const NodeId n : topology.nodes_of(narrower.level, narrower.domain)) look_at(n);
}

NodeId OneByOne::best_in(FitTable& table, const Scope& scope) const {
  if (hard_.is_everywhere() && scope.is_everywhere()) return table.best(state_);
  std::vector<NodeId> nodes;
  each_open(table, scope, [&](NodeId n) { nodes.push_back(n); });
  return table.best_among(state_, nodes);
}

template <class Best>
bool OneByOne::place_by(std::span<const Kind> members, Best&& best_in) {
  const std::size_t before = context_.trial.checkpoint();
  for (const Kind& kind : members) {
    FitTable& t = table(kind);
    const NodeId best = best_in(t);
    if (best.is_none()) {
      context_.trial.rollback_to(before);
      return false;
    }
    place(kind, t, best);
  }
  return true;
}

bool OneByOne::place_each(std::span<const Kind> members, const Scope& soft) {
  return place_by(members, [&](FitTable& t) { return best_in(t, soft); });
}

bool OneByOne::place_among(std::span<const Kind> members, std::span<const NodeId> nodes) {
  return place_by(members, [&](FitTable& t) { return t.best_among(state_, nodes); });
}

bool OneByOne::place_near_each_other(std::span<const Kind> members) {
  if (members.empty()) return false;
  const PodAffinity near = state_.cluster().constraint(members.front().constraint).near;
  if (!near.matches_itself) return false;
  struct Domain {
    std::uint64_t room = 0;
    std::vector<NodeId> nodes;
  };
  std::map<LabelId, Domain> domains;
  const FitTable& t = table(members.front());
  each_open(t, {}, [&](NodeId n) {
    Domain& domain = domains[value_of(state_.cluster().facts(n), near.topologies.front())];
    domain.room += t.fits(n);
    domain.nodes.push_back(n);
  });
  std::vector<std::pair<std::uint64_t, const Domain*>> by_room;
  for (const auto& [value, domain] : domains)
    if (domain.room >= members.size()) by_room.emplace_back(domain.room, &domain);
  std::stable_sort(by_room.begin(), by_room.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (by_room.size() > kDomainsTriedMax) by_room.resize(kDomainsTriedMax);
  return std::any_of(by_room.begin(), by_room.end(), [&](const auto& domain) {
    return place_by(members, [&](FitTable& t) { return t.best_among(state_, domain.second->nodes); });
  });
}

bool OneByOne::search(std::span<const Kind> members, std::uint32_t& steps) {
  struct Turn {
    std::vector<NodeId> nodes;  ///< the best first
    std::size_t next = 0;
    std::size_t before = 0;  ///< checkpoint
  };
  std::vector<Turn> turns;
  const std::size_t before = context_.trial.checkpoint();
  const auto open_turn = [&] {
    Turn& turn = turns.emplace_back();
    turn.before = context_.trial.checkpoint();
    FitTable& t = table(members[turns.size() - 1]);
    std::vector<std::pair<std::uint64_t, NodeId>> keyed;
    each_open(t, {}, [&](NodeId n) { keyed.emplace_back(t.key(state_, n), n); });
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [key, node] : keyed) turn.nodes.push_back(node);
    return turn.nodes.size() <= kSearchedNodesMax;
  };
  if (members.empty() || !open_turn()) return false;
  while (!turns.empty()) {
    Turn& turn = turns.back();
    context_.trial.rollback_to(turn.before);
    if (turn.next == turn.nodes.size()) {
      turns.pop_back();
      continue;
    }
    if (steps == 0) break;
    --steps;
    const Kind& kind = members[turns.size() - 1];
    const NodeId node = turn.nodes[turn.next++];
    place(kind, table(kind), node);
    if (turns.size() == members.size()) return true;
    if (!open_turn()) break;
  }
  context_.trial.rollback_to(before);
  return false;
}

}  // namespace ashlar
