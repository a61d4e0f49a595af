// Placing a gang by the scored rule. The search knows how many members each node and domain can take (ClassView), so for a gang of like members
// the choice of a domain is exact: smallest room that suffices. Inside it the members go down level by level into as few domains as possible: one
// that holds them all if there is one, else the roomiest ones whole and the last remainder into the tightest that takes it. The order of that walk
// is the rank order, so neighbours in rank share the fastest links. Cost: O(domains of the level + nodes of the chosen domain).
#include <algorithm>

#include "base/check.h"
#include "engine/placement.h"

namespace ashlar {
namespace {

/// A part of the scope with its room: a domain's nodes, or one node.
struct Part {
  std::uint64_t room = 0;
  std::uint32_t first = 0;  ///< range in the node list
  std::uint32_t count = 0;
  NodeId lowest;  ///< tie-break
};

struct Share {
  NodeId node;
  std::uint32_t members = 0;
};

class Spreader {
 public:
  Spreader(const State& state, const ClassView& view) : state_(state), view_(view) {}

  /// Distributes `count` members over nodes that have room for at least as many. `nodes` is reordered.
  void spread(std::span<NodeId> nodes, std::uint32_t level, std::uint64_t count) {
    if (count == 0) return;
    if (level >= state_.cluster.topology().nested_count()) {
      spread_over_nodes(nodes, count);
      return;
    }
    const std::vector<Part> parts = split(nodes, level);
    std::vector<std::uint8_t> is_used(parts.size(), 0);
    while (count > 0) {
      const std::size_t p = pick(parts, is_used, count);
      is_used[p] = 1;
      const std::uint64_t here = std::min(count, parts[p].room);
      spread(nodes.subspan(parts[p].first, parts[p].count), level + 1, here);
      count -= here;
    }
  }
  const std::vector<Share>& shares() const { return shares_; }

 private:
  /// The tightest part that takes everything, else the roomiest.
  static std::size_t pick(const std::vector<Part>& parts, const std::vector<std::uint8_t>& is_used, std::uint64_t count) {
    std::size_t best = parts.size();
    for (std::size_t p = 0; p < parts.size(); ++p) {
      if (is_used[p] != 0 || parts[p].room == 0) continue;
      if (best == parts.size()) {
        best = p;
        continue;
      }
      const bool holds = parts[p].room >= count;
      const bool best_holds = parts[best].room >= count;
      const bool is_better = holds != best_holds                 ? holds
                             : parts[p].room != parts[best].room ? (holds ? parts[p].room < parts[best].room : parts[p].room > parts[best].room)
                                                                 : parts[p].lowest < parts[best].lowest;
      if (is_better) best = p;
    }
    ASHLAR_CHECK(best < parts.size());
    return best;
  }

  std::vector<Part> split(std::span<NodeId> nodes, std::uint32_t level) const {
    const auto domains = state_.cluster.topology().domains(LevelId(level));
    std::sort(nodes.begin(), nodes.end(),
              [&](NodeId a, NodeId b) { return domains[a.row()] != domains[b.row()] ? domains[a.row()] < domains[b.row()] : a < b; });
    std::vector<Part> parts;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (i == 0 || domains[nodes[i].row()] != domains[nodes[i - 1].row()]) parts.push_back({0, static_cast<std::uint32_t>(i), 0, nodes[i]});
      parts.back().room += view_.fits(nodes[i]);
      ++parts.back().count;
    }
    return parts;
  }

  void spread_over_nodes(std::span<NodeId> nodes, std::uint64_t count) {
    // Roomiest first, better scored first, then by row; the last remainder goes to the tightest node that takes it.
    std::sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
      if (view_.fits(a) != view_.fits(b)) return view_.fits(a) > view_.fits(b);
      if (view_.key(a) != view_.key(b)) return view_.key(a) > view_.key(b);
      return a < b;
    });
    for (std::size_t i = 0; i < nodes.size() && count > 0; ++i) {
      std::size_t chosen = i;
      if (view_.fits(nodes[i]) >= count) {
        std::size_t last = i;
        while (last + 1 < nodes.size() && view_.fits(nodes[last + 1]) >= count) ++last;
        chosen = i;
        for (std::size_t k = i; k <= last; ++k) {
          const bool is_tighter = view_.fits(nodes[k]) < view_.fits(nodes[chosen]);
          if (is_tighter) chosen = k;
        }
      }
      const auto here = static_cast<std::uint32_t>(std::min<std::uint64_t>(count, view_.fits(nodes[chosen])));
      shares_.push_back({nodes[chosen], here});
      count -= here;
    }
    ASHLAR_CHECK(count == 0);
  }

  const State& state_;
  const ClassView& view_;
  std::vector<Share> shares_;
};

/// Waiting members that share demand and constraint, in rank order.
struct Run {
  DemandId demand;
  ConstraintId constraint;
  std::vector<MemberId> members;
  std::int64_t cards = 0;
};

std::vector<Run> runs_of(const State& state, JobId job, std::uint32_t members_max) {
  std::vector<Run> runs;
  std::uint32_t taken = 0;
  state.each_member(job, [&](MemberId id, const Member& m) {
    if (m.is_placed() || taken == members_max) return;
    ++taken;
    auto it = std::find_if(runs.begin(), runs.end(), [&](const Run& r) { return r.demand == m.demand && r.constraint == m.constraint; });
    if (it == runs.end()) it = runs.insert(runs.end(), Run{m.demand, m.constraint, {}, state.demand(m.demand).cards.milli_total()});
    it->members.push_back(id);
  });
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.cards > b.cards; });
  return runs;
}

/// Members of so many kinds get their turn to be placed first; more kinds are rare, and the work is bounded.
constexpr std::size_t kRunsInFrontMax = 4;

class GangSearch {
 public:
  GangSearch(const PlacementContext& context, JobId job) : context_(context), state_(context.trial.state()), job_(job) {}

  PlacementOutcome run() {
    const Job& j = state_.job(job_);
    const std::uint32_t waiting = std::min(j.members_present - j.members_placed, context_.members_max);
    const std::uint32_t needed = j.members_needed();
    if (waiting < needed) return {};
    PlacementOutcome outcome = attempt(waiting);
    if (!outcome.is_placed && needed < waiting) {
      const std::uint32_t most = std::min<std::uint32_t>(waiting - 1, room_for_some(waiting, needed));
      if (most >= needed) outcome = attempt(most);
      if (!outcome.is_placed && most > needed) outcome = attempt(needed);
    }
    return outcome;
  }

 private:
  /// Places exactly the first `count` waiting members, or nothing.
  PlacementOutcome attempt(std::uint32_t count) {
    const std::vector<Run> runs = runs_of(state_, job_, count);
    const Job& j = state_.job(job_);
    if (j.within.is_none()) return {.is_placed = place_in({}, LevelId::none(), runs)};
    if (j.members_placed > 0) {
      const DomainId anchor = state_.anchor(job_, j.within);
      return {.is_placed = !anchor.is_none() && place_in(anchor, j.within, runs)};
    }
    const std::vector<DomainId> candidates = domains_with_room(j.within, runs);
    const std::size_t tries = std::min(candidates.size(), kDomainsTriedMax);
    for (std::size_t i = 0; i < tries; ++i)
      if (place_in(candidates[i], j.within, runs)) return {.is_placed = true};
    return {.is_placed = false, .is_limit_reached = tries < candidates.size()};
  }

  /// Domains whose room suffices for each run taken alone, tightest first.
  std::vector<DomainId> domains_with_room(LevelId level, const std::vector<Run>& runs) {
    std::vector<std::uint64_t> tightness;
    for (const Run& run : runs) {
      const auto room = view(run).room(state_, level);
      if (tightness.empty()) tightness.assign(room.size(), 0);
      for (std::size_t d = 0; d < room.size(); ++d) {
        if (room[d] < run.members.size())
          tightness[d] = UINT64_MAX;
        else if (tightness[d] != UINT64_MAX)
          tightness[d] += room[d] - run.members.size();
      }
    }
    std::vector<DomainId> domains;
    for (std::size_t d = 0; d < tightness.size(); ++d)
      if (tightness[d] != UINT64_MAX) domains.emplace_back(d);
    std::stable_sort(domains.begin(), domains.end(), [&](DomainId a, DomainId b) { return tightness[a.row()] < tightness[b.row()]; });
    return domains;
  }

  /// Members that the best domain (or the cluster, or the anchor) could take; for elastic gangs. Of unlike members, those needed are worth a try.
  std::uint32_t room_for_some(std::uint32_t waiting, std::uint32_t needed) {
    const std::vector<Run> runs = runs_of(state_, job_, waiting);
    if (runs.size() != 1) return needed;
    const Job& j = state_.job(job_);
    ClassView& v = view(runs[0]);
    std::uint64_t best = v.room_everywhere();
    if (!j.within.is_none()) {
      const auto room = v.room(state_, j.within);
      best = room.empty() ? 0 : *std::max_element(room.begin(), room.end());
      if (j.members_placed > 0) {
        const DomainId anchor = state_.anchor(job_, j.within);
        best = anchor.is_none() || anchor.row() >= room.size() ? 0 : room[anchor.row()];
      }
    }
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(best, UINT32_MAX));
  }

  /// All runs inside one domain (none = the whole cluster), each after the other: those that ask most cards first and, should the others then find no
  /// room, each other run in front once.
  bool place_in(DomainId domain, LevelId level, const std::vector<Run>& runs) {
    if (place_in_order(domain, level, runs)) return true;
    std::vector<Run> other = runs;
    for (std::size_t first = 1; first < std::min(runs.size(), kRunsInFrontMax); ++first) {
      std::rotate(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(first), other.begin() + static_cast<std::ptrdiff_t>(first) + 1);
      if (place_in_order(domain, level, other)) return true;
      other = runs;
    }
    return false;
  }

  bool place_in_order(DomainId domain, LevelId level, const std::vector<Run>& runs) {
    const std::size_t before = context_.trial.checkpoint();
    for (const Run& run : runs) {
      if (place_run(domain, level, run)) continue;
      context_.trial.rollback_to(before);
      return false;
    }
    return true;
  }

  bool place_run(DomainId domain, LevelId level, const Run& run) {
    const std::uint64_t draw = context_.draws.next();
    ClassView& v = context_.views.get(state_, run.demand, run.constraint, draw);
    const std::uint64_t count = run.members.size();
    const std::uint64_t room = domain.is_none() ? v.room_everywhere() : v.room(state_, level)[domain.row()];
    if (room < count) return false;
    const Scope hard{level, domain};
    // A soft wish: start in the tightest preferred domain that holds everything.
    const Scope soft = preferred_scope(v, hard, count);
    if (!context_.profile.is_default_domain_search && hard.is_everywhere() && soft.is_everywhere()) return place_each(run);
    gather(v, hard, soft);
    Spreader spreader(state_, v);
    const Scope& start = soft.is_everywhere() ? hard : soft;
    spreader.spread(nodes_, start.is_everywhere() ? 0 : next_level(start.level), count);
    take(v, draw, run, spreader.shares());
    return true;
  }

  /// No domain is asked for and the profile looks for none: each member goes where the tiers of points say, one after the other.
  bool place_each(const Run& run) {
    for (const MemberId member : run.members) {
      const std::uint64_t draw = context_.draws.next();
      ClassView& v = context_.views.get(state_, run.demand, run.constraint, draw);
      const NodeId best = v.best(state_);
      if (best.is_none()) return false;
      context_.trial.take(member, best, context_.profile.card->choose(v.node_view(state_, draw), best));
    }
    return true;
  }

  /// One domain, or the whole cluster.
  struct Scope {
    LevelId level;
    DomainId domain;
    bool is_everywhere() const { return domain.is_none(); }
    bool holds(const Topology& topology, NodeId n) const { return domain.is_none() || topology.domain_of(level, n) == domain; }
  };

  /// The nodes that the members may go to. No other place gives the search its nodes, so that nothing soft leads out of the hard domain.
  void gather(const ClassView& v, const Scope& hard, const Scope& soft) {
    const Topology& topology = state_.cluster.topology();
    nodes_.clear();
    const auto add = [&](NodeId n) {
      if (v.fits(n) > 0 && hard.holds(topology, n) && soft.holds(topology, n)) nodes_.push_back(n);
    };
    const Scope& narrower = soft.is_everywhere() ? hard : soft;
    if (narrower.is_everywhere())
      for (std::size_t n = 0; n < state_.cluster.rows(); ++n) add(NodeId(n));
    else
      for (const NodeId n : topology.nodes_of(narrower.level, narrower.domain)) add(n);
  }

  /// The tightest domain of the preferred level whose part inside the hard domain holds everything; everywhere if there is none.
  Scope preferred_scope(ClassView& v, const Scope& hard, std::uint64_t count) {
    const LevelId prefer = state_.job(job_).prefer;
    if (prefer.is_none()) return {};
    const std::span<const std::uint32_t> room = hard.is_everywhere() ? v.room(state_, prefer) : room_inside(v, hard, prefer);
    DomainId best;
    for (std::size_t d = 0; d < room.size(); ++d)
      if (room[d] >= count && (best.is_none() || room[d] < room[best.row()])) best = DomainId(d);
    return best.is_none() ? Scope{} : Scope{prefer, best};
  }

  /// Members that fit in each domain of `level`, counting the nodes of `hard` alone.
  std::span<const std::uint32_t> room_inside(const ClassView& v, const Scope& hard, LevelId level) {
    const Topology& topology = state_.cluster.topology();
    room_inside_.assign(topology.domain_count(level), 0);
    for (const NodeId n : topology.nodes_of(hard.level, hard.domain))
      if (const DomainId d = topology.domain_of(level, n); !d.is_none()) room_inside_[d.row()] += v.fits(n);
    return room_inside_;
  }

  /// The nested level to split by below `level`; free-standing levels are split from the outermost on.
  std::uint32_t next_level(LevelId level) const { return level.value < state_.cluster.topology().nested_count() ? level.value + 1 : 0; }

  void take(const ClassView& v, std::uint64_t draw, const Run& run, const std::vector<Share>& shares) {
    std::size_t rank = 0;
    for (const Share& share : shares)
      for (std::uint32_t k = 0; k < share.members; ++k)
        context_.trial.take(run.members[rank++], share.node, context_.profile.card->choose(v.node_view(state_, draw), share.node));
    ASHLAR_CHECK(rank == run.members.size());
  }

  ClassView& view(const Run& run) { return context_.views.get(state_, run.demand, run.constraint, context_.draws.next()); }

  const PlacementContext& context_;
  State& state_;
  JobId job_;
  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> room_inside_;
};

}  // namespace

PlacementOutcome place_gang(const PlacementContext& context, JobId job) { return GangSearch(context, job).run(); }

}  // namespace ashlar
