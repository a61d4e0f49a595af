// Placing a gang by the scored rule. The search knows how many members each node and domain can take (FitTable), so for
// a gang of like members the choice of a domain is exact: the smallest capacity that suffices. Inside it the members
// are distributed level by level over as few domains as possible: one that holds them all if there is one, else the
// largest ones whole and the last remainder in the tightest that takes it. The order of that walk is the rank order, so
// neighbours in rank share the fastest links. Unlike members are placed kind after kind in a few orders; if that fails
// on few nodes, by exact search. Later members join the others if all of them fit there. Cost: O(domains of the level +
// nodes of the chosen domain).
#include <algorithm>

#include "base/check.h"
#include "engine/place/placement.h"
#include "engine/place/small_packing.h"
#include "engine/place/spreader.h"

namespace ashlar {
namespace {

/// Waiting members that share demand and constraint, in rank order.
struct Run {
  DemandId demand;
  ConstraintId constraint;
  std::vector<MemberId> members;
  std::int64_t devices = 0;
};

std::vector<Run> runs_of(const State& state, JobId job, std::uint32_t members_max) {
  std::vector<Run> runs;
  std::uint32_t taken = 0;
  state.each_member(job, [&](MemberId id, const Member& m) {
    if (m.is_placed() || taken == members_max) return;
    ++taken;
    auto it = std::find_if(runs.begin(), runs.end(),
                           [&](const Run& r) { return r.demand == m.demand && r.constraint == m.constraint; });
    if (it == runs.end())
      it = runs.insert(runs.end(), Run{m.demand, m.constraint, {}, state.demand(m.demand).devices.milli_total()});
    it->members.push_back(id);
  });
  std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.devices > b.devices; });
  return runs;
}

/// Members of at most this many kinds are tried first in the order; more kinds are rare, and the work is bounded.
constexpr std::size_t kRunsInFrontMax = 4;
/// Domains of a preferred level that are tried for all of a gang of unlike members together.
constexpr std::size_t kPreferredTriedMax = 16;
/// Members put on a node by the exact search for one job; about 1 ms.
constexpr std::uint32_t kExactStepsMax = 4'000;

/// One domain, or the whole cluster.
struct Scope {
  LevelId level;
  DomainId domain;
  bool is_everywhere() const { return domain.is_none(); }
  bool holds(const Topology& topology, NodeId n) const {
    return domain.is_none() || topology.domain_of(level, n) == domain;
  }
};

class GangSearch {
 public:
  GangSearch(const PlacementContext& context, JobId job)
      : context_(context), state_(context.trial.state()), job_(job) {}

  PlacementOutcome run() {
    const Job& j = state_.job(job_);
    const std::uint32_t waiting = std::min(j.members_present - j.members_placed, context_.members_max);
    const std::uint32_t needed = j.members_needed();
    if (waiting < needed) return {};
    const bool is_minimum_due = j.members_placed < j.members_min;
    is_last_of_its_job_ = waiting == 1 && j.members_placed > 0;
    const std::size_t before = context_.trial.checkpoint();
    bool is_placed = attempt(waiting);
    if (!is_placed && needed < waiting) {
      const std::uint32_t most = std::min<std::uint32_t>(waiting - 1, room_for_some(waiting, needed));
      is_placed = most >= needed && attempt(most);
    }
    if (is_placed && is_minimum_due) give_back_surplus(before, needed);
    return {.is_placed = is_placed, .is_limit_reached = !is_placed && (runs_left_ == 0 || exact_steps_ == 0)};
  }

 private:
  /// Places exactly the first `count` waiting members, or nothing.
  bool attempt(std::uint32_t count) {
    const std::vector<Run> runs = runs_of(state_, job_, count);
    const Job& j = state_.job(job_);
    if (j.within.is_none()) return place_in({}, runs) || place_exactly({}, runs);
    if (j.members_placed > 0) {
      const Scope anchor{j.within, state_.anchor(job_, j.within)};
      return !anchor.domain.is_none() && (place_in(anchor, runs) || place_exactly(anchor, runs));
    }
    const std::vector<DomainId> candidates = domains_with_room(j.within, runs);
    const auto is_found_by = [&](auto&& place) {
      return std::any_of(candidates.begin(), candidates.end(), [&](DomainId d) {
        return place(Scope{j.within, d}, runs);
      });
    };
    return is_found_by([this](const Scope& s, const std::vector<Run>& r) {
             return has_devices_for_all(s, r) && place_in(s, r);
           }) ||
           is_found_by([this](const Scope& s, const std::vector<Run>& r) {
             return has_devices_for_all(s, r) && place_exactly(s, r);
           });
  }

  /// Members above the minimum wait until every minimum of the decision has had its turn; they come back as a class of
  /// their own. Here they only influence the choice of the domain: one with capacity for as many as possible.
  void give_back_surplus(std::size_t before, std::uint32_t needed) {
    Trial& trial = context_.trial;
    std::vector<Trial::Placement> steps;
    each_placement(std::span(trial.steps()).subspan(before),
                   [&](const Trial::Placement& step) { steps.push_back(step); });
    if (steps.size() <= needed) return;
    std::vector<MemberId> placed, kept;
    for (const Trial::Placement& step : steps) placed.push_back(step.member);
    std::sort(placed.begin(), placed.end());
    state_.each_member(job_, [&](MemberId id, const Member&) {
      if (kept.size() < needed && std::binary_search(placed.begin(), placed.end(), id)) kept.push_back(id);
    });
    std::sort(kept.begin(), kept.end());
    const auto is_kept = [&](const Trial::Placement& step) {
      return std::binary_search(kept.begin(), kept.end(), step.member);
    };
    const auto first = std::find_if_not(steps.begin(), steps.end(), is_kept);
    trial.rollback_to(before + static_cast<std::size_t>(first - steps.begin()));
    for (auto it = first; it != steps.end(); ++it)
      if (is_kept(*it)) trial.place(it->member, it->node, it->devices);
  }

  /// Domains with enough capacity for each run taken alone, tightest first.
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
    std::stable_sort(domains.begin(), domains.end(),
                     [&](DomainId a, DomainId b) { return tightness[a.row()] < tightness[b.row()]; });
    return domains;
  }

  /// Unlike members share what is free: if that is less than the sum of their requests there is no need to try.
  bool has_devices_for_all(const Scope& scope, const std::vector<Run>& runs) const {
    if (runs.size() == 1) return true;
    std::int64_t milli = 0;
    for (const Run& run : runs) milli += run.devices * static_cast<std::int64_t>(run.members.size());
    const auto free = state_.cluster().free_milli();
    for (const NodeId n : state_.cluster().topology().nodes_of(scope.level, scope.domain)) milli -= free[n.row()];
    return milli <= 0;
  }

  /// Members that the best domain (or the cluster, or the anchor) could take; for elastic gangs. Of unlike members,
  /// those needed are worth a try.
  std::uint32_t room_for_some(std::uint32_t waiting, std::uint32_t needed) {
    const std::vector<Run> runs = runs_of(state_, job_, waiting);
    if (runs.size() != 1) return needed;
    const Job& j = state_.job(job_);
    FitTable& v = view(runs[0]);
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

  /// All runs inside the hard scope. Unlike members that prefer a level try its domains for all of them together first.
  bool place_in(const Scope& hard, const std::vector<Run>& runs) {
    const Job& j = state_.job(job_);
    if (runs.size() > 1 && !j.prefer.is_none() && j.members_placed == 0) {
      std::vector<DomainId> candidates = domains_with_room(j.prefer, runs);
      if (candidates.size() > kPreferredTriedMax) candidates.resize(kPreferredTriedMax);
      for (const DomainId d : candidates)
        if (place_in_some_order(hard, {j.prefer, d}, runs)) return true;
    }
    return place_in_some_order(hard, {}, runs);
  }

  /// Each run after the other: the largest device requests first and, if the others then do not fit, each other run in
  /// front once.
  bool place_in_some_order(const Scope& hard, const Scope& soft, const std::vector<Run>& runs) {
    if (place_in_order(hard, soft, runs)) return true;
    std::vector<Run> other = runs;
    for (std::size_t first = 1; first < std::min(runs.size(), kRunsInFrontMax); ++first) {
      std::rotate(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(first),
                  other.begin() + static_cast<std::ptrdiff_t>(first) + 1);
      if (place_in_order(hard, soft, other)) return true;
      other = runs;
    }
    return false;
  }

  bool place_in_order(const Scope& hard, const Scope& soft, const std::vector<Run>& runs) {
    const std::size_t before = context_.trial.checkpoint();
    for (const Run& run : runs) {
      if (runs_left_ > 0 && place_run(hard, soft, run)) continue;
      context_.trial.rollback_to(before);
      return false;
    }
    return true;
  }

  /// `soft` holds all of the run, or nothing is placed; everywhere: the run looks for its own scope.
  bool place_run(const Scope& hard, const Scope& soft, const Run& run) {
    --runs_left_;
    const std::uint64_t draw = context_.draws.next();
    FitTable& v = context_.fit_tables.counted(state_, run.demand, run.constraint, draw);
    const std::uint64_t count = run.members.size();
    const std::uint64_t room =
        hard.is_everywhere() ? v.room_everywhere() : v.room(state_, hard.level)[hard.domain.row()];
    if (room < count || (!soft.is_everywhere() && room_in(v, hard, soft) < count)) return false;
    Scope start = soft;
    if (start.is_everywhere()) start = scope_of_the_others(v, hard, count);
    if (start.is_everywhere()) start = preferred_scope(v, hard, count);
    const bool is_by_points = !context_.profile.is_default_domain_search || is_last_of_its_job_;
    if (hard.is_everywhere() && start.is_everywhere() && is_by_points) return place_each(run);
    gather(v, hard, start);
    Spreader spreader(state_, v);
    const Scope& from = start.is_everywhere() ? hard : start;
    spreader.spread(nodes_, from.is_everywhere() ? 0 : next_level(from.level), count);
    take(v, run, spreader.shares());
    return true;
  }

  /// Unlike members that do not fit one kind after the other: on few nodes every combination is tried, within a budget
  /// for the whole job.
  bool place_exactly(const Scope& hard, const std::vector<Run>& runs) {
    if (runs.size() == 1 || exact_steps_ == 0) return false;
    const std::vector<NodeId> nodes = nodes_for_exact_search(hard, runs);
    if (nodes.empty()) return false;
    std::vector<PackingNode> free;
    free.reserve(nodes.size());
    for (const NodeId n : nodes) free.push_back(node_as_it_is(state_.cluster(), n));
    std::vector<PackingGroup> groups;
    for (const Run& run : runs) {
      FitTable& v = view(run);
      for (std::size_t n = 0; n < nodes.size(); ++n) free[n].allows.push_back(v.fits(nodes[n]) > 0 ? 1 : 0);
      groups.push_back({&state_.demand(run.demand), static_cast<std::uint32_t>(run.members.size()),
                        &state_.cluster().constraint(run.constraint)});
    }
    SmallPacking packing(std::move(free), groups);
    if (packing.search(exact_steps_) != SmallPacking::Outcome::kFound) return false;
    const std::size_t before = context_.trial.checkpoint();
    auto node = packing.node_of_member().begin();
    for (const Run& run : runs) {
      for (const MemberId member : run.members) {
        const std::uint64_t draw = context_.draws.next();
        const FitTable& v = context_.fit_tables.counted(state_, run.demand, run.constraint, draw);
        const NodeId n = nodes[*node++];
        if (v.fits(n) == 0) {  // the profile chose other devices for a share than the search did
          context_.trial.rollback_to(before);
          return false;
        }
        context_.trial.place(member, n, context_.profile.device->choose(v.node_view(state_), n));
      }
    }
    return true;
  }

  /// Nodes where any of them fits, in ascending order; none if there are too many to try everything.
  std::vector<NodeId> nodes_for_exact_search(const Scope& hard, const std::vector<Run>& runs) {
    std::vector<NodeId> nodes;
    const Topology& topology = state_.cluster().topology();
    const std::size_t count =
        hard.is_everywhere() ? state_.cluster().rows() : topology.nodes_of(hard.level, hard.domain).size();
    for (const Run& run : runs) {
      FitTable& v = view(run);
      for (std::size_t i = 0; i < count; ++i) {
        const NodeId n = hard.is_everywhere() ? NodeId(i) : topology.nodes_of(hard.level, hard.domain)[i];
        if (v.fits(n) == 0 || std::find(nodes.begin(), nodes.end(), n) != nodes.end()) continue;
        if (nodes.size() == kPackingNodesMax) return {};
        nodes.push_back(n);
      }
    }
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  }

  /// No domain is requested and the profile prefers none: each member goes where the tiers of points rank highest, one
  /// after the other.
  bool place_each(const Run& run) {
    for (const MemberId member : run.members) {
      const std::uint64_t draw = context_.draws.next();
      FitTable& v = context_.fit_tables.get(state_, run.demand, run.constraint, draw);
      const NodeId best = v.best(state_);
      if (best.is_none()) return false;
      context_.trial.place(member, best, context_.profile.device->choose(v.node_view(state_), best));
    }
    return true;
  }

  /// The nodes that the members may use. Only this function gives the search its nodes, so that nothing soft leads out
  /// of the hard domain.
  void gather(const FitTable& v, const Scope& hard, const Scope& soft) {
    const Topology& topology = state_.cluster().topology();
    nodes_.clear();
    const auto add = [&](NodeId n) {
      if (v.fits(n) > 0 && hard.holds(topology, n) && soft.holds(topology, n)) nodes_.push_back(n);
    };
    const Scope& narrower = soft.is_everywhere() ? hard : soft;
    if (narrower.is_everywhere())
      for (std::size_t n = 0; n < state_.cluster().rows(); ++n) add(NodeId(n));
    else
      for (const NodeId n : topology.nodes_of(narrower.level, narrower.domain)) add(n);
  }

  std::uint64_t room_in(const FitTable& v, const Scope& hard, const Scope& part) const {
    const Topology& topology = state_.cluster().topology();
    std::uint64_t room = 0;
    for (const NodeId n : topology.nodes_of(part.level, part.domain))
      room += hard.holds(topology, n) ? std::uint64_t{v.fits(n)} : 0;
    return room;
  }

  /// The domain of the members already placed, if all of these fit there: the preferred level's domain, else the
  /// innermost that holds them all.
  Scope scope_of_the_others(const FitTable& v, const Scope& hard, std::uint64_t count) const {
    const Job& j = state_.job(job_);
    if (j.members_placed == 0) return {};
    const auto joined = [&](LevelId level) {
      const Scope scope{level, domain_of_the_others(level)};
      return scope.is_everywhere() || room_in(v, hard, scope) < count ? Scope{} : scope;
    };
    if (!j.prefer.is_none()) return joined(j.prefer);
    if (hard.is_everywhere() && !context_.profile.is_default_domain_search) return {};
    const std::uint32_t outermost = hard.is_everywhere() ? 0 : next_level(hard.level);
    for (std::uint32_t level = state_.cluster().topology().nested_count(); level-- > outermost;)
      if (const Scope scope = joined(LevelId(level)); !scope.is_everywhere()) return scope;
    return {};
  }

  /// None if they are in several, or in none.
  DomainId domain_of_the_others(LevelId level) const {
    DomainId domain;
    bool is_first = true, is_one = true;
    state_.each_member(job_, [&](MemberId, const Member& m) {
      if (!m.is_placed()) return;
      const DomainId d = state_.cluster().topology().domain_of(level, m.node);
      is_one = is_one && (is_first || d == domain);
      domain = d;
      is_first = false;
    });
    return is_one ? domain : DomainId::none();
  }

  /// The tightest domain of the preferred level whose part inside the hard domain holds everything; everywhere if there
  /// is none.
  Scope preferred_scope(FitTable& v, const Scope& hard, std::uint64_t count) {
    const LevelId prefer = state_.job(job_).prefer;
    if (prefer.is_none()) return {};
    const std::span<const std::uint32_t> room =
        hard.is_everywhere() ? v.room(state_, prefer) : room_inside(v, hard, prefer);
    DomainId best;
    for (std::size_t d = 0; d < room.size(); ++d)
      if (room[d] >= count && (best.is_none() || room[d] < room[best.row()])) best = DomainId(d);
    return best.is_none() ? Scope{} : Scope{prefer, best};
  }

  /// Members that fit in each domain of `level`, counting the nodes of `hard` alone.
  std::span<const std::uint32_t> room_inside(const FitTable& v, const Scope& hard, LevelId level) {
    const Topology& topology = state_.cluster().topology();
    room_inside_.assign(topology.domain_count(level), 0);
    for (const NodeId n : topology.nodes_of(hard.level, hard.domain))
      if (const DomainId d = topology.domain_of(level, n); !d.is_none()) room_inside_[d.row()] += v.fits(n);
    return room_inside_;
  }

  /// The nested level to split by below `level`; independent levels are split from the outermost on.
  std::uint32_t next_level(LevelId level) const {
    return level.value < state_.cluster().topology().nested_count() ? level.value + 1 : 0;
  }

  void take(const FitTable& v, const Run& run, const std::vector<Spreader::Share>& shares) {
    std::size_t rank = 0;
    for (const Spreader::Share& share : shares)
      for (std::uint32_t k = 0; k < share.members; ++k)
        context_.trial.place(run.members[rank++], share.node,
                             context_.profile.device->choose(v.node_view(state_), share.node));
    ASHLAR_CHECK(rank == run.members.size());
  }

  FitTable& view(const Run& run) {
    return context_.fit_tables.counted(state_, run.demand, run.constraint, context_.draws.next());
  }

  const PlacementContext& context_;
  State& state_;
  JobId job_;
  bool is_last_of_its_job_ = false;  ///< one member that comes after the others
  std::uint32_t runs_left_ = kRunsTriedMax;
  std::uint32_t exact_steps_ = kExactStepsMax;
  std::vector<NodeId> nodes_;
  std::vector<std::uint32_t> room_inside_;
};

}  // namespace

PlacementOutcome place_gang(const PlacementContext& context, JobId job) { return GangSearch(context, job).run(); }

}  // namespace ashlar
