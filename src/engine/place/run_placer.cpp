#include "engine/place/run_placer.h"

#include <algorithm>

#include "base/check.h"
#include "engine/place/one_by_one.h"

namespace ashlar {
namespace {

/// This many counts that change when a run is placed (Counts::work) cost as much as to try another run.
constexpr std::uint64_t kCountsOfARun = 512;

/// Parts or runs of at most this many kinds are tried first in the order; more kinds are rare, and the work is bounded.
constexpr std::size_t kInFrontMax = 4;

/// Whether `place` succeeds with the parts or runs in their order or, if the others then do not fit, with each other
/// one in front once that is unlike the first.
template <class T, class Place>
bool place_in_some_order(const std::vector<T>& items, Place&& place) {
  if (place(items)) return true;
  for (std::size_t first = 1; first < std::min(items.size(), kInFrontMax); ++first) {
    if (items[first].is_like(items[0])) continue;
    std::vector<T> other = items;
    std::rotate(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(first),
                other.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    if (place(other)) return true;
  }
  return false;
}

/// Domains of a preferred level that are tried for all of a gang of unlike members together.
constexpr std::size_t kPreferredTriedMax = 16;
/// Large requests fit on fewer nodes than that in a cluster in use.
constexpr std::size_t kNodesMostly = 128;

}  // namespace

bool has_wishes_about_itself(const State& state, MemberId member) {
  const Member& m = state.member(member);
  if (m.labels.is_none()) return false;
  const Constraint& constraint = state.cluster().constraint(m.constraint);
  const auto is_itself = [&](PodSelectorId s) { return state.cluster().counts().index().matches(s, m.labels); };
  return std::ranges::any_of(constraint.prefers_pods, is_itself, &PodPreference::selector) ||
         std::ranges::any_of(constraint.prefers_spread, is_itself, &SpreadTerm::selector);
}

std::vector<std::uint64_t> RunPlacer::room_to_open(const Scope& hard, LevelId level, const Run& run) {
  const Cluster& cluster = state_.cluster();
  const Topology& topology = cluster.topology();
  const Constraint& constraint = cluster.constraint(run.constraint);
  if (!opens_with_pods(constraint)) return {};
  std::vector<std::uint64_t> room(topology.domain_count(level), 0);
  const NodeView view{cluster, state_.demand(run.demand), constraint, &context_.profile.mix, 0};
  const BitSet& open = cluster.allowed(run.constraint, kNodeRules);
  for (std::size_t n = 0; n < cluster.rows(); ++n) {
    if (!cluster.is_live(NodeId(n)) || open.test(n) || !hard.holds(topology, NodeId(n))) continue;
    const DomainId d = topology.domain_of(level, NodeId(n));
    if (d.is_none() || !is_allowed_by_facts(constraint, cluster.facts(NodeId(n)), cluster.context())) continue;
    if (cluster.is_refused(run.constraint, kNodeRules, NodeId(n), CompanyRule::kAntiAffinity)) continue;
    std::uint16_t fits = kFitsMax;
    context_.profile.lower_by_what_is_free(view, {n, 1}, {&fits, 1});
    room[d.row()] += fits;
  }
  return room;
}

std::vector<DomainId> RunPlacer::domains_with_room(const Scope& hard, LevelId level, std::span<const Run> runs) {
  constexpr std::uint64_t kNoRoom = UINT64_MAX, kMayOpen = UINT64_MAX - 1;  // the last
  std::vector<std::uint64_t> tightness, wishes;
  for (const Run& run : runs) {
    FitTable& v = view(run);
    add_wishes(v, hard, level, wishes);
    const auto room = hard.is_everywhere() ? v.room(state_, level) : room_inside(v, hard, level);
    const std::vector<std::uint64_t> to_open = room_to_open(hard, level, run);
    if (tightness.empty()) tightness.assign(room.size(), 0);
    for (std::size_t d = 0; d < room.size(); ++d) {
      if (tightness[d] == kNoRoom || room[d] + value_at(to_open, d) < run.members.size())
        tightness[d] = kNoRoom;
      else if (tightness[d] == kMayOpen || room[d] < run.members.size())
        tightness[d] = kMayOpen;
      else
        tightness[d] += room[d] - run.members.size();
    }
  }
  std::vector<DomainId> domains;
  domains.reserve(tightness.size());
  for (std::size_t d = 0; d < tightness.size(); ++d)
    if (tightness[d] != kNoRoom) domains.emplace_back(d);
  std::sort(domains.begin(), domains.end(), [&](DomainId a, DomainId b) {
    if (tightness[a.row()] != tightness[b.row()]) return tightness[a.row()] < tightness[b.row()];
    if (!wishes.empty() && wishes[a.row()] != wishes[b.row()]) return wishes[a.row()] > wishes[b.row()];
    return a < b;
  });
  return domains;
}

/// By domain: what preferences about other pods give the nodes of `hard` that take such members. Nothing without any.
void RunPlacer::add_wishes(const FitTable& v, const Scope& hard, LevelId level,
                           std::vector<std::uint64_t>& wishes) const {
  const Topology& topology = state_.cluster().topology();
  if (!v.preferences().empty()) wishes.resize(topology.domain_count(level), 0);
  for (std::size_t n = 0; n < v.preferences().size(); ++n) {
    const DomainId domain = topology.domain_of(level, NodeId(n));
    if (!domain.is_none() && hard.holds(topology, NodeId(n))) wishes[domain.row()] += v.wishes_met(NodeId(n));
  }
}

std::vector<std::uint64_t> RunPlacer::members_by_domain(const Scope& hard, const Part& part) {
  std::vector<std::uint64_t> members(state_.cluster().topology().domain_count(part.within), 0);
  for (const Run& run : part.runs) {
    FitTable& v = view(run);
    const auto room = hard.is_everywhere() ? v.room(state_, part.within) : room_inside(v, hard, part.within);
    for (std::size_t d = 0; d < members.size(); ++d) members[d] += std::min<std::uint64_t>(room[d], run.members.size());
  }
  return members;
}

bool RunPlacer::has_devices_for_all(const Scope& scope, std::span<const Run> runs) const {
  if (runs.size() == 1) return true;
  std::int64_t milli = 0;
  for (const Run& run : runs) milli += run.devices_of_all();
  const Topology& topology = state_.cluster().topology();
  const auto free = state_.cluster().free_milli();
  for (const NodeId n : topology.nodes_of(scope.level, scope.domain))
    if (scope.holds(topology, n)) milli -= free[n.row()];
  return milli <= 0;
}

bool RunPlacer::place_part(const Scope& hard, const Part& part) {
  if (part.within.is_none()) return place_in(hard, part);
  std::vector<DomainId> candidates;
  if (placed_of(part) == 0)
    candidates = domains_with_room(hard, part.within, part.runs);
  else if (const DomainId anchor = state_.anchor(job_, part.within, part.group); !anchor.is_none())
    candidates.push_back(anchor);
  const auto is_found_by = [&](auto&& place) {
    return std::any_of(candidates.begin(), candidates.end(), [&](DomainId d) {
      const Scope scope = hard.part(part.within, d);
      return has_devices_for_all(scope, part.runs) && place(scope);
    });
  };
  return is_found_by([&](const Scope& scope) { return place_in(scope, part); }) || is_found_by([&](const Scope& scope) {
           return place_exactly(scope, {&part, 1});
         });
}

/// All runs of a part inside the hard scope. Unlike members that prefer a level try its domains for all of them
/// together first.
bool RunPlacer::place_in(const Scope& hard, const Part& part) {
  if (part.runs.size() > 1 && !part.prefer.is_none() && placed_of(part) == 0) {
    std::vector<DomainId> candidates = domains_with_room({}, part.prefer, part.runs);
    if (candidates.size() > kPreferredTriedMax) candidates.resize(kPreferredTriedMax);
    for (const DomainId d : candidates)
      if (place_runs(hard, {part.prefer, d}, part)) return true;
  }
  return place_runs(hard, {}, part);
}

bool RunPlacer::place_parts(const Scope& hard, const std::vector<Part>& parts) {
  return place_in_some_order(parts, [&](const std::vector<Part>& order) {
    const std::size_t before = context_.trial.checkpoint();
    for (const Part& part : order) {
      if (place_part(hard, part)) continue;
      context_.trial.rollback_to(before);
      return false;
    }
    return true;
  });
}

void RunPlacer::stop_after_looks(std::size_t nodes) {
  looks_ = nodes;
  runs_left_ = 0;
}

std::optional<Reason> RunPlacer::limit() const {
  const auto reached = [](std::uint32_t which, std::size_t most) {
    return Reason{ReasonCode::kLimitReached, which, {static_cast<std::int64_t>(most), 0, 0}};
  };
  if (looks_ > 0) return reached(kLimitOfLooks, looks_);
  if (runs_left_ == 0) return reached(kLimitOfKinds, kRunsTriedMax);
  if (exact_steps_ == 0) return reached(kLimitOfSteps, kExactStepsMax);
  return std::nullopt;
}

/// Each run after the other, the largest device requests first.
bool RunPlacer::place_runs(const Scope& hard, const Scope& soft, const Part& part) {
  return place_in_some_order(part.runs,
                             [&](const std::vector<Run>& runs) { return place_in_order(hard, soft, part, runs); });
}

bool RunPlacer::place_in_order(const Scope& hard, const Scope& soft, const Part& part, std::span<const Run> runs) {
  const std::size_t before = context_.trial.checkpoint();
  for (const Run& run : runs) {
    const std::uint64_t counted = state_.cluster().counts().work();
    if (runs_left_ > 0 && place_run(hard, soft, part, run)) {
      if (runs.size() > 1) note_counted(counted);
      continue;
    }
    context_.trial.rollback_to(before);
    return false;
  }
  return true;
}

void RunPlacer::note_counted(std::uint64_t before) {
  const std::uint64_t cost = (state_.cluster().counts().work() - before) / kCountsOfARun;
  runs_left_ -= static_cast<std::uint32_t>(std::min<std::uint64_t>(runs_left_, cost));
}

/// `soft` holds all of the run, or nothing is placed; everywhere: the run looks for its own scope.
bool RunPlacer::place_run(const Scope& hard, const Scope& soft, const Part& part, const Run& run) {
  --runs_left_;
  const std::uint64_t draw = context_.draws.next();
  FitTable& v = context_.fit_tables.counted(state_, run.demand, run.constraint, draw);
  const std::uint64_t count = run.members.size();
  const std::uint64_t room = hard.is_everywhere()     ? v.room_everywhere()
                             : hard.is_whole_domain() ? v.room(state_, hard.level)[hard.domain.row()]
                                                      : room_in(v, hard, hard);
  // rules may open nodes to members once others are placed
  const Constraint& constraint = state_.cluster().constraint(run.constraint);
  const bool may_open = constraint.is_mutual() && opens_with_pods(constraint);
  if (!may_open && (room < count || (!soft.is_everywhere() && room_in(v, hard, soft) < count))) return false;
  Scope start = soft;
  if (start.is_everywhere()) start = scope_of_the_others(v, hard, part, count);
  if (start.is_everywhere()) start = preferred_scope(v, hard, part.prefer, count);
  if (constraint.is_mutual()) return place_one_by_one(hard, start, run);
  const bool is_by_points = !context_.profile.is_default_domain_search || is_last_of_its_job_;
  if (hard.is_everywhere() && start.is_everywhere() && is_by_points) return place_each(run);
  gather(v, hard, start);
  Spreader spreader(state_, v);
  const Scope& from = start.is_everywhere() ? hard : start;
  spreader.spread(nodes_, from.is_everywhere() ? 0 : next_level(from.level), count);
  const bool is_seen = run.members.size() <= kSeenMembersMax && has_wishes_about_itself(state_, run.members.front());
  if (is_seen && place_in_same_domains(run, hard, spreader.shares())) return true;
  take(v, run, spreader.shares());
  return true;
}

/// One after the other, each on the best node of the groups that were chosen for all.
bool RunPlacer::place_in_same_domains(const Run& run, const Scope& hard, const std::vector<Spreader::Share>& shares) {
  const Topology& topology = state_.cluster().topology();
  BitSet is_chosen(topology.group_count() + 1);  // last: nodes in no group
  const auto group_of = [&](NodeId n) {
    const GroupId group = topology.group_of(n);
    return group.is_none() ? topology.group_count() : group.row();
  };
  for (const Spreader::Share& share : shares) is_chosen.set(group_of(share.node));
  std::vector<NodeId> nodes = nodes_;
  std::erase_if(nodes, [&](NodeId n) { return !is_chosen.test(group_of(n)); });
  std::ranges::sort(nodes);
  std::vector<OneByOne::Kind> members;
  for (const MemberId member : run.members) members.push_back({member, run.demand, run.constraint});
  return OneByOne(context_, hard).place_among(members, nodes);
}

bool RunPlacer::place_one_by_one(const Scope& hard, const Scope& soft, const Run& run) {
  std::vector<OneByOne::Kind> members;
  for (const MemberId member : run.members) members.push_back({member, run.demand, run.constraint});
  OneByOne placer(context_, hard);
  return (!soft.is_everywhere() && placer.place_each(members, soft)) || placer.place_each(members, {}) ||
         placer.place_near_each_other(members);
}

/// Everything that waits, on all nodes that the rules about other pods leave open.
bool RunPlacer::search_one_by_one(const Scope& hard, std::span<const Part> parts) {
  std::vector<OneByOne::OwnRun> runs;
  for (const Part& part : parts) {
    DomainId domain;
    if (!part.within.is_none() && placed_of(part) > 0) {
      domain = state_.anchor(job_, part.within, part.group);
      if (domain.is_none()) return false;
    }
    for (const Run& run : part.runs) runs.push_back({run, part.within, domain});
  }
  const std::uint32_t steps_before = exact_steps_;
  // the pods of a gang are of one namespace
  const LabelSetId any = runs.empty() ? LabelSetId::none() : state_.member(runs.front().run.members.front()).labels;
  const bool is_found = OneByOne(context_, hard).search(runs, selectors_about(state_, any), exact_steps_);
  context_.fit_tables.note_looks(kLooksOfAStep * std::uint64_t{steps_before - exact_steps_});
  return is_found;
}

bool RunPlacer::place_exactly(const Scope& hard, std::span<const Part> parts) {
  const bool has_company = std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    return std::any_of(part.runs.begin(), part.runs.end(),
                       [&](const Run& run) { return state_.cluster().constraint(run.constraint).has_company(); });
  });
  if (has_company) return search_one_by_one(hard, parts);
  const bool are_alike = parts.size() == 1 && parts.front().runs.size() == 1;
  if (are_alike || exact_steps_ == 0) return false;
  const std::vector<NodeId> nodes = nodes_for_exact_search(hard, parts);
  if (nodes.empty()) return false;
  const Topology& topology = state_.cluster().topology();
  std::vector<PackingNode> free;
  free.reserve(nodes.size());
  for (const NodeId n : nodes) free.push_back(node_as_it_is(state_.cluster(), n));
  std::vector<PackingGroup> groups;
  std::uint32_t choices = 0;
  for (const Part& part : parts) {
    const bool has_domain = !part.within.is_none();
    const DomainId anchor = has_domain ? state_.anchor(job_, part.within, part.group) : DomainId::none();
    for (std::size_t n = 0; n < nodes.size() && has_domain; ++n)
      free[n].domains.push_back(topology.domain_of(part.within, nodes[n]));
    for (const Run& run : part.runs) {
      FitTable& v = view(run);
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        const DomainId domain = has_domain ? free[n].domains.back() : DomainId::none();
        const bool is_inside = !has_domain || (!domain.is_none() && (placed_of(part) == 0 || domain == anchor));
        free[n].allows.push_back(is_inside && v.fits(nodes[n]) > 0 ? 1 : 0);
      }
      groups.push_back({&state_.demand(run.demand), static_cast<std::uint32_t>(run.members.size()),
                        &state_.cluster().constraint(run.constraint), has_domain ? choices : PackingGroup::kAnyDomain});
    }
    choices += has_domain ? 1 : 0;
  }
  SmallPacking packing(std::move(free), groups);
  const std::uint32_t steps_before = exact_steps_;
  const bool is_found = packing.search(exact_steps_) == SmallPacking::Outcome::kFound;
  context_.fit_tables.note_looks(kLooksOfAStep * std::uint64_t{steps_before - exact_steps_});
  return is_found && carry_out(nodes, packing, parts);
}

bool RunPlacer::carry_out(const std::vector<NodeId>& nodes, const SmallPacking& packing, std::span<const Part> parts) {
  const std::size_t before = context_.trial.checkpoint();
  std::size_t rank = 0;
  for (const Part& part : parts)
    for (const Run& run : part.runs)
      for (const MemberId member : run.members) {
        const std::uint64_t draw = context_.draws.next();
        const FitTable& v = context_.fit_tables.counted(state_, run.demand, run.constraint, draw);
        const NodeId n = nodes[packing.node_of_member()[rank]];
        if (v.fits(n) == 0) {  // the profile chose other devices for a share than the search did
          context_.trial.rollback_to(before);
          return false;
        }
        const DeviceMask found = packing.devices_of_member()[rank++];
        context_.trial.place(member, n,
                             found.is_empty() ? context_.profile.device->choose(v.node_view(state_), n) : found);
      }
  return true;
}

/// Nodes where any of them fits, in ascending order; none if there are too many to try everything.
std::vector<NodeId> RunPlacer::nodes_for_exact_search(const Scope& hard, std::span<const Part> parts) {
  std::vector<NodeId> nodes;
  const Topology& topology = state_.cluster().topology();
  const std::size_t count =
      hard.is_everywhere() ? state_.cluster().rows() : topology.nodes_of(hard.level, hard.domain).size();
  for (const Part& part : parts)
    for (const Run& run : part.runs) {
      FitTable& v = view(run);
      for (std::size_t i = 0; i < count; ++i) {
        const NodeId n = hard.is_everywhere() ? NodeId(i) : topology.nodes_of(hard.level, hard.domain)[i];
        if (v.fits(n) == 0 || !hard.holds(topology, n) || std::find(nodes.begin(), nodes.end(), n) != nodes.end())
          continue;
        if (nodes.size() == kPackingNodesMax) return {};
        nodes.push_back(n);
      }
    }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

/// No domain is requested and the profile prefers none: each member goes where the tiers of points rank highest, one
/// after the other.
bool RunPlacer::place_each(const Run& run) {
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
void RunPlacer::gather(const FitTable& v, const Scope& hard, const Scope& soft) {
  const Topology& topology = state_.cluster().topology();
  nodes_.clear();
  nodes_.reserve(kNodesMostly);
  const auto add = [&](NodeId n) {
    if (v.fits(n) > 0 && hard.holds(topology, n) && soft.holds(topology, n)) nodes_.push_back(n);
  };
  const Scope& narrower = soft.is_everywhere() ? hard : soft;
  if (narrower.is_everywhere()) {
    const auto fits = v.fits();
    for (std::size_t n = 0; n < fits.size(); ++n)
      if (fits[n] > 0) nodes_.emplace_back(n);
  } else {
    for (const NodeId n : topology.nodes_of(narrower.level, narrower.domain)) add(n);
  }
}

std::uint64_t RunPlacer::room_in(const FitTable& v, const Scope& hard, const Scope& part) const {
  const Topology& topology = state_.cluster().topology();
  std::uint64_t room = 0;
  for (const NodeId n : topology.nodes_of(part.level, part.domain))
    room += hard.holds(topology, n) ? std::uint64_t{v.fits(n)} : 0;
  return room;
}

/// Members of the part that are placed: of its group, or of the whole job.
std::uint32_t RunPlacer::placed_of(const Part& part) const {
  return part.group == State::kAnyGroup ? state_.job(job_).members_placed : state_.groups_of(job_)[part.group].placed;
}

/// The domain of the members already placed, if all of these fit there: the preferred level's domain, else the
/// innermost that holds them all.
Scope RunPlacer::scope_of_the_others(const FitTable& v, const Scope& hard, const Part& part,
                                     std::uint64_t count) const {
  if (state_.job(job_).members_placed == 0) return {};
  const auto joined = [&](LevelId level) {
    const Scope scope{level, domain_of_the_others(level, part)};
    return scope.is_everywhere() || room_in(v, hard, scope) < count ? Scope{} : scope;
  };
  if (!part.prefer.is_none()) return joined(part.prefer);
  if (hard.is_everywhere() && !context_.profile.is_default_domain_search) return {};
  const std::uint32_t outermost = hard.is_everywhere() ? 0 : next_level(hard.level);
  for (std::uint32_t level = state_.cluster().topology().nested_count(); level-- > outermost;)
    if (const Scope scope = joined(LevelId(level)); !scope.is_everywhere()) return scope;
  return {};
}

/// Of those of the same group if there are any, else of all. None if they are in several, or in none.
DomainId RunPlacer::domain_of_the_others(LevelId level, const Part& part) const {
  const bool is_of_group = part.group != State::kAnyGroup && placed_of(part) > 0;
  DomainId domain;
  bool is_first = true, is_one = true;
  state_.each_member(job_, [&](MemberId, const Member& m) {
    if (!m.is_placed() || (is_of_group && m.group != part.group)) return;
    const DomainId d = state_.cluster().topology().domain_of(level, m.node);
    is_one = is_one && (is_first || d == domain);
    domain = d;
    is_first = false;
  });
  return is_one ? domain : DomainId::none();
}

/// The tightest domain of the preferred level whose part inside the hard scope holds everything; everywhere if there is
/// none.
Scope RunPlacer::preferred_scope(FitTable& v, const Scope& hard, LevelId prefer, std::uint64_t count) {
  if (prefer.is_none()) return {};
  const std::span<const std::uint32_t> room =
      hard.is_everywhere() ? v.room(state_, prefer) : room_inside(v, hard, prefer);
  std::vector<std::uint64_t> wishes;
  add_wishes(v, hard, prefer, wishes);
  const auto is_better = [&](std::size_t d, DomainId than) {
    if (than.is_none() || room[d] != room[than.row()]) return than.is_none() || room[d] < room[than.row()];
    return !wishes.empty() && wishes[d] > wishes[than.row()];
  };
  DomainId best;
  for (std::size_t d = 0; d < room.size(); ++d)
    if (room[d] >= count && is_better(d, best)) best = DomainId(d);
  return best.is_none() ? Scope{} : Scope{prefer, best};
}

/// Members that fit in each domain of `level`, counting the nodes of `hard` alone.
std::span<const std::uint32_t> RunPlacer::room_inside(FitTable& v, const Scope& hard, LevelId level) {
  const Topology& topology = state_.cluster().topology();
  room_inside_.assign(topology.domain_count(level), 0);
  for (const NodeId n : topology.nodes_of(hard.level, hard.domain)) {
    if (!hard.holds(topology, n)) continue;
    if (const DomainId d = topology.domain_of(level, n); !d.is_none()) room_inside_[d.row()] += v.fits(n);
  }
  return room_inside_;
}

/// The nested level to split by below `level`; independent levels are split from the outermost on.
std::uint32_t RunPlacer::next_level(LevelId level) const {
  return level.value < state_.cluster().topology().nested_count() ? level.value + 1 : 0;
}

void RunPlacer::take(const FitTable& v, const Run& run, const std::vector<Spreader::Share>& shares) {
  std::size_t rank = 0;
  for (const Spreader::Share& share : shares)
    for (std::uint32_t k = 0; k < share.members; ++k)
      context_.trial.place(run.members[rank++], share.node,
                           context_.profile.device->choose(v.node_view(state_), share.node));
  ASHLAR_CHECK(rank == run.members.size());
}

}  // namespace ashlar
