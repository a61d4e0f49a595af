#include "engine/explain/explain.h"

#include <algorithm>
#include <set>
#include <span>

#include "engine/explain/never_fits.h"
#include "engine/explain/refusals.h"
#include "engine/place/lifted_holds.h"
#include "engine/place/placement.h"
#include "engine/place/run_placer.h"

namespace ashlar {
namespace {

std::vector<std::int64_t> idle_by_domain(const Cluster& cluster, LevelId level) {
  std::vector<std::int64_t> idle(cluster.topology().domain_count(level), 0);
  for (std::size_t n = 0; n < cluster.rows(); ++n)
    if (const DomainId d = cluster.topology().domain_of(level, NodeId(n)); !d.is_none())
      idle[d.row()] += std::max(cluster.idle_devices()[n], 0);
  return idle;
}

/// Whether any domain of the level has a node. Domains outlive their last node.
bool has_nodes(const Cluster& cluster, LevelId level) {
  for (std::size_t n = 0; n < cluster.rows(); ++n)
    if (cluster.is_live(NodeId(n)) && !cluster.topology().domain_of(level, NodeId(n)).is_none()) return true;
  return false;
}

/// Capacity for the job's needed members, group by group: everywhere, and in each domain of the level it must stay
/// within. A single group counts all its capacity; of several groups none counts more than it needs.
struct Room {
  std::uint64_t needed = 0;
  std::uint64_t everywhere = 0;
  std::vector<std::uint64_t> by_domain;
  std::size_t shortest = 0;  ///< the group that lacks most
};

Room room_of(State& state, FitTables& fit_tables, const std::vector<MemberNeed>& needs, LevelId within) {
  Room room;
  std::uint64_t lack_most = 0;
  for (std::size_t a = 0; a < needs.size(); ++a) {
    const std::uint64_t members = needs[a].members;
    const std::uint64_t cap = needs.size() == 1 ? UINT64_MAX : members;
    FitTable& view = fit_tables.counted(state, needs[a].demand, needs[a].constraint, 0);
    room.needed += members;
    room.everywhere += std::min(view.room_everywhere(), cap);
    if (const std::uint64_t lack = members - std::min(view.room_everywhere(), members); lack > lack_most) {
      lack_most = lack;
      room.shortest = a;
    }
    if (within.is_none()) continue;
    const auto domains = view.room(state, within);
    room.by_domain.resize(domains.size(), 0);
    for (std::size_t d = 0; d < domains.size(); ++d) room.by_domain[d] += std::min<std::uint64_t>(domains[d], cap);
  }
  return room;
}

/// Each kind of unlike members may fit by itself while all of them together do not: counts the needed members that do
/// find a place, one after the other, in the domain or anywhere. Never all of them, since the search has found no place
/// for all. `refused`, unless it is null: why the nodes refuse the first that finds none. Leaves the state unchanged.
std::uint64_t members_together(State& state, FitTables& fit_tables, const Profile& profile, JobId job,
                               std::span<const MemberId> judged, DomainId domain, std::vector<Reason>* refused) {
  Trial trial(state);
  std::uint64_t placed = 0;
  const Job& j = state.job(job);
  const std::uint32_t needed = j.members_needed();
  for (const MemberId id : judged) {
    const Member& m = state.member(id);
    FitTable& view = fit_tables.counted(state, m.demand, m.constraint, 0);
    const NodeId best = domain.is_none()
                            ? view.best(state)
                            : view.best_among(state, state.cluster().topology().nodes_of(j.within, domain));
    if (best.is_none()) {
      if (refused != nullptr && refused->empty()) {
        *refused = binding_first(refusals(state, profile, view, {m.demand, m.constraint}));
        fit_tables.note_looks(looks_of_refusals(state, m.constraint));
      }
      continue;
    }
    trial.place(id, best, profile.device->choose(view.node_view(state), best));
    ++placed;
  }
  return std::min<std::uint64_t>(placed, needed - 1);
}

/// The first group that finds no domain of its own level inside the gang's domain, where its groups are placed one
/// after the other; and the domain with capacity for most of its members then. Nothing if another thing is short.
std::vector<Reason> groups_shortage(State& state, FitTables& fit_tables, const Profile& profile, JobId job,
                                    std::span<const MemberId> judged, const Scope& scope) {
  if (state.job(job).spec.is_none()) return {};
  Trial trial(state);
  Rng draws(1);
  const PlacementContext context{trial, fit_tables, profile, draws};
  RunPlacer placer(context, job);
  for (const Part& part : parts_of(state, job, runs_of(state, judged))) {
    if (placer.place_part(scope, part)) continue;
    if (part.within.is_none()) return {};
    if (!has_nodes(state.cluster(), part.within)) return {{ReasonCode::kNoSuchDomain, part.within.value, {}}};
    const std::vector<std::uint64_t> room = placer.members_by_domain(scope, part);
    const DomainId anchor = state.anchor(job, part.within, part.group);
    const auto best = anchor.row() < room.size() ? room.begin() + static_cast<std::ptrdiff_t>(anchor.row())
                                                 : std::max_element(room.begin(), room.end());
    std::size_t members = 0;
    for (const Run& run : part.runs) members += run.members.size();
    // together they may be too many though each kind fits
    const std::uint64_t most = std::min<std::uint64_t>(*best, members - 1);
    return {{ReasonCode::kGroupFragmented, part.within.value, {part.group + 1, 0, 0}},
            {ReasonCode::kTopologyFragmented,
             part.within.value,
             {static_cast<std::int64_t>(most), static_cast<std::int64_t>(members), best - room.begin()}}};
  }
  return {};
}

/// Nodes of which something is held for others and that do not take the member; the hold among these that ends first,
/// until when it lasts, and for whom.
Reason held_capacity(const State& state, const FitTable& view) {
  std::set<NodeId> nodes;
  const Hold* first = nullptr;
  for (const Hold& hold : state.holds())
    for (const HoldPart& part : hold.parts) {
      const NodeId node = state.member(part.member.member).node;
      if (node.is_none() || state.is_lifted(part.member.member) || view.fits(node) > 0) continue;
      nodes.insert(node);
      if (first == nullptr || hold.until < first->until) first = &hold;
    }
  if (first == nullptr) return {ReasonCode::kCapacityHeld, 0, {}};
  return {ReasonCode::kCapacityHeld,
          first->job.value,
          {static_cast<std::int64_t>(nodes.size()), first->until.value, owner_number(first->owner)}};
}

std::size_t nodes_kept_for_others(const State& state) {
  std::set<NodeId> nodes;
  for (const MemberId m : state.nominations())
    if (state.member(m).is_placed()) nodes.insert(state.member(m).node);
  return nodes.size();
}

/// What nodes keep for others.
void add_kept(const State& state, const FitTable& view, Tally& tally) {
  if (const std::size_t kept = nodes_kept_for_others(state); kept > 0)
    tally.add({ReasonCode::kNominatedElsewhere, 0, {static_cast<std::int64_t>(kept), 0, 0}});
  if (const Reason held = held_capacity(state, view); held.numbers[0] > 0) tally.add(held);
}

/// Of the level that the job must stay within: where its members are, else with most room, else with most idle devices.
std::size_t best_domain(const State& state, JobId job, const std::vector<std::uint64_t>& room) {
  const LevelId within = state.job(job).within;
  const DomainId anchor = state.job(job).members_placed > 0 ? state.anchor(job, within) : DomainId::none();
  if (!anchor.is_none() && anchor.row() < room.size()) return anchor.row();
  const std::vector<std::int64_t> idle = idle_by_domain(state.cluster(), within);
  std::size_t best = 0;
  for (std::size_t d = 1; d < room.size(); ++d)
    if (room[d] != room[best] ? room[d] > room[best] : idle[d] > idle[best]) best = d;
  return best;
}

}  // namespace

Verdict explain_shortage(State& state, FitTables& fit_tables, const Profile& profile, JobId job, Millis now) {
  Verdict verdict{VerdictKind::kWaits, WakeOn::kCapacity, now, {}};
  if (state.cluster().live_count() == 0) {
    verdict.reasons.push_back({ReasonCode::kNoNodes, 0, {}});
    return verdict;
  }
  Trial lifting(state);  // what is held for the job is free for it
  const LiftedHolds lifted(lifting, usable_holds(state, job, late_end_of(state, job, std::max(now, state.now()))));
  const Job& j = state.job(job);
  const std::vector<MemberId> judged = members_judged(state, job);
  const std::vector<MemberNeed> needs = needs_of(state, judged);
  const Room room = room_of(state, fit_tables, needs, j.within);
  const MemberNeed& short_need = needs[room.shortest];
  FitTable& view = fit_tables.counted(state, short_need.demand, short_need.constraint, 0);
  Tally tally = refusals(state, profile, view, {short_need.demand, short_need.constraint});
  fit_tables.note_looks(looks_of_refusals(state, short_need.constraint));
  add_kept(state, view, tally);
  std::vector<Reason> of_nodes = binding_first(tally);
  const auto members = static_cast<std::int64_t>(room.needed);
  const bool are_apart = std::none_of(needs.begin(), needs.end(), [&](const MemberNeed& need) {
    return state.cluster().constraint(need.constraint).has_company();
  });
  const auto together = [&](std::uint64_t alone, DomainId domain) {
    const bool is_exact = are_apart && (needs.size() == 1 || alone < room.needed);
    if (is_exact || room.needed == 1) return static_cast<std::int64_t>(alone);
    std::vector<Reason> refused;
    const std::uint64_t placed =
        members_together(state, fit_tables, profile, job, judged, domain, are_apart ? nullptr : &refused);
    if (!refused.empty()) of_nodes = std::move(refused);  // beside those that found a place
    return static_cast<std::int64_t>(placed);
  };
  const std::int64_t everywhere =
      j.within.is_none() ? together(room.everywhere, DomainId::none()) : static_cast<std::int64_t>(room.everywhere);
  const bool has_domain = !j.within.is_none() && !room.by_domain.empty() && has_nodes(state.cluster(), j.within);
  const std::size_t best = has_domain ? best_domain(state, job, room.by_domain) : 0;
  std::vector<Reason> of_groups;
  const bool has_scope = j.within.is_none() || has_domain;
  if (has_scope)
    of_groups = groups_shortage(state, fit_tables, profile, job, judged,
                                has_domain ? Scope{j.within, DomainId(best)} : Scope{});
  const bool is_short_as_a_whole = (has_domain ? room.by_domain[best] : room.everywhere) < room.needed;
  const bool is_of_a_group = !of_groups.empty() && !is_short_as_a_whole;  // then that is all there is to say
  // wherever it is placed: its domains are not the trouble
  const bool is_for_none = has_scope && everywhere == 0 && !of_nodes.empty() && is_fact(of_nodes.front().code);
  const auto add_of_nodes = [&] { verdict.reasons.insert(verdict.reasons.end(), of_nodes.begin(), of_nodes.end()); };
  if (is_for_none) add_of_nodes();
  if (!j.within.is_none() && !is_of_a_group) {
    if (!has_domain)
      verdict.reasons.push_back({ReasonCode::kNoSuchDomain, j.within.value, {}});
    else
      verdict.reasons.push_back(
          {ReasonCode::kTopologyFragmented,
           j.within.value,
           {together(room.by_domain[best], DomainId(best)), members, static_cast<std::int64_t>(best)}});
    if (everywhere < members) verdict.reasons.push_back({ReasonCode::kGangPartial, 0, {everywhere, members, 0}});
  } else if (members > 1 && !is_of_a_group) {
    verdict.reasons.push_back({ReasonCode::kGangPartial, 0, {everywhere, members, 0}});
  }
  verdict.reasons.insert(verdict.reasons.end(), of_groups.begin(), of_groups.end());
  if (!is_for_none) add_of_nodes();
  const EverFits on_empty_cluster = ever_fits(state, job);
  fit_tables.note_looks(kLooksOfAStep * (on_empty_cluster == EverFits::kUnproven ? kProofStepsMax : 0));
  if (on_empty_cluster == EverFits::kNo) {
    verdict.kind = VerdictKind::kNeverFits;
    verdict.reasons.insert(verdict.reasons.begin(), Reason{ReasonCode::kExceedsCluster, 0, {everywhere, members, 0}});
  } else if (on_empty_cluster == EverFits::kUnproven) {
    verdict.reasons.push_back({ReasonCode::kLimitReached, kLimitOfProof, {kProofStepsMax, 0, 0}});
  }
  return verdict;
}

}  // namespace ashlar
