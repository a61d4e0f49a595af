#include "engine/place/one_by_one.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "state/counts/kept_away.h"

namespace ashlar {
namespace {

/// Nodes of one kind that a search for every combination goes through; with more there are too many.
constexpr std::size_t kSearchedNodesMax = 16;
/// A look at this many nodes costs a step of the search.
constexpr std::uint32_t kNodesOfAStep = 4096;
/// So do this many selectors that may mean the pod.
constexpr std::size_t kSelectorsOfAStep = 128;
/// Domains of an affinity that are tried.
constexpr std::size_t kDomainsTriedMax = 64;

}  // namespace

std::size_t selectors_about(const State& state, LabelSetId labels) {
  if (labels.is_none()) return 0;
  const SelectorIndex& index = state.cluster().counts().index();
  return index.about(index.label_set(labels).ns);
}

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

/// A run's next member on a node.
struct OneByOne::Choice {
  std::uint32_t run = 0;
  Kind kind;
  NodeId node;
};

DomainId OneByOne::domain_of(const OwnRun& run, std::span<const OwnRun> runs, std::span<const Choice> placed) const {
  if (run.level.is_none() || !run.domain.is_none()) return run.domain;
  const auto is_of_group = [&](const Choice& choice) { return runs[choice.run].run.group == run.run.group; };
  const auto first = std::find_if(placed.begin(), placed.end(), is_of_group);
  return first == placed.end() ? DomainId::none() : state_.cluster().topology().domain_of(run.level, first->node);
}

/// Of each run that is not placed whole, in their order, the nodes where its next member fits, the best first. A run
/// with too many nodes has no choice yet; false if that leaves none.
bool OneByOne::list_choices(std::span<const OwnRun> runs, std::span<const Choice> placed, std::vector<Choice>& out,
                            std::uint32_t& steps) {
  bool has_too_many = false;
  const Topology& topology = state_.cluster().topology();
  const auto looked_at = static_cast<std::uint32_t>(nodes_looked_at());
  for (std::uint32_t r = 0; r < runs.size(); ++r) {
    const auto is_of_run = [&](const Choice& choice) { return choice.run == r; };
    const auto members = static_cast<std::size_t>(std::count_if(placed.begin(), placed.end(), is_of_run));
    const Run& run = runs[r].run;
    if (members == run.members.size()) continue;
    looked_at_ += looked_at;
    context_.fit_tables.note_looks(looked_at / 16);
    steps -= std::min(steps, looked_at_ / kNodesOfAStep);
    looked_at_ %= kNodesOfAStep;
    const Kind next = {run.members[members], run.demand, run.constraint};
    const LevelId level = runs[r].level;
    const DomainId domain = domain_of(runs[r], runs, placed);
    const auto is_in_its_domain = [&](NodeId n) {
      if (level.is_none()) return true;
      const DomainId here = topology.domain_of(level, n);
      return domain.is_none() ? !here.is_none() : here == domain;
    };
    FitTable& t = table(next);
    std::vector<NodeId> open;
    each_open(t, {}, [&](NodeId n) {
      if (is_in_its_domain(n)) open.push_back(n);
    });
    if (open.size() > kSearchedNodesMax) {  // before they are compared, which costs far more than a look
      has_too_many = true;
      continue;
    }
    std::vector<std::pair<std::uint64_t, NodeId>> keyed;
    for (const NodeId n : open) keyed.emplace_back(t.key(state_, n), n);
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [key, node] : keyed) out.push_back({r, next, node});
  }
  return !out.empty() || !has_too_many;
}

/// Whether what all members cost in the best case, if each choice is right, is more than these steps; `cost` of each.
bool OneByOne::is_beyond(std::span<const OwnRun> runs, std::size_t members, std::uint32_t steps,
                         std::size_t cost) const {
  const std::size_t listed = std::min(runs.size(), members);  // a member more, at most a run less to look at
  const std::size_t lists = listed * (2 * runs.size() - listed + 1) / 2;
  return members * cost + lists * nodes_looked_at() / kNodesOfAStep > steps;
}

std::size_t OneByOne::nodes_looked_at() const {
  return hard_.is_everywhere() ? state_.cluster().rows()
                               : state_.cluster().topology().nodes_of(hard_.level, hard_.domain).size();
}

bool OneByOne::search(std::span<const OwnRun> runs, std::size_t selectors, std::uint32_t& steps) {
  struct Turn {
    std::vector<Choice> choices;
    std::size_t next = 0;
    std::size_t before = 0;  ///< checkpoint
  };
  std::size_t members = 0;
  for (const OwnRun& own : runs) members += own.run.members.size();
  const auto cost = static_cast<std::uint32_t>(1 + selectors / kSelectorsOfAStep);
  if (is_beyond(runs, members, steps, cost)) {
    steps = 0;
    return false;
  }
  std::vector<Choice> placed;
  // What was placed before, in whatever order: nodes, runs, and labels, since rules tell members of one run apart.
  std::set<std::vector<std::array<std::uint32_t, 3>>> tried;
  const auto is_tried = [&] {
    std::vector<std::array<std::uint32_t, 3>> where;
    for (const Choice& choice : placed)
      where.push_back({choice.node.value, choice.run, state_.member(choice.kind.member).labels.value});
    // Of one node the order counts: the devices of shares depend on it.
    std::ranges::stable_sort(where, {}, [](const auto& at) { return at[0]; });
    return !tried.insert(std::move(where)).second;
  };
  std::vector<Turn> turns;
  const std::size_t before = context_.trial.checkpoint();
  const auto open_turn = [&] {
    turns.push_back({.choices = {}, .before = context_.trial.checkpoint()});
    return list_choices(runs, placed, turns.back().choices, steps);
  };
  if (members == 0 || !open_turn()) return false;
  while (!turns.empty()) {
    Turn& turn = turns.back();
    context_.trial.rollback_to(turn.before);
    placed.resize(turns.size() - 1);
    if (turn.next == turn.choices.size()) {
      turns.pop_back();
      continue;
    }
    const Choice choice = turn.choices[turn.next++];
    placed.push_back(choice);
    if (is_tried()) continue;
    if (steps == 0) break;
    steps -= std::min(steps, cost);
    place(choice.kind, table(choice.kind), choice.node);
    if (turns.size() == members) return true;
    open_turn();  // without a choice, it is left again
  }
  context_.trial.rollback_to(before);
  return false;
}

}  // namespace ashlar
