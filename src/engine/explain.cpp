#include "engine/explain.h"

#include <algorithm>

#include "engine/placement.h"

namespace ashlar {
namespace {

struct Tally {
  std::vector<Reason> reasons;  ///< one per rule that refused nodes; numbers[0] counts them
  Reason& of(ReasonCode code, std::uint32_t subject) {
    for (Reason& r : reasons)
      if (r.code == code && r.subject == subject) return r;
    reasons.push_back({code, subject, {0, 0, 0}});
    return reasons.back();
  }
};

/// Milli-GPU that an ask could use on the node: of its idle cards, or of the one card with most left for a share.
std::int64_t free_for(const Cluster& cluster, const CardAsk& ask, NodeId n) {
  const std::int64_t idle = std::max(cluster.idle_cards()[n.row()], 0);
  if (ask.is_whole()) return kWholeCard * idle;
  if (cluster.idle_cards()[n.row()] < 0) return 0;
  std::int64_t most = 0;
  for (const std::int32_t milli : cluster.card_free_milli(n))
    if (milli < kWholeCard || idle > 0) most = std::max<std::int64_t>(most, milli);
  return most;
}

/// Free MiB on the card of the node that has most.
std::int64_t most_card_memory(const Cluster& cluster, NodeId n) {
  const auto mib = cluster.card_free_mib(n);
  return mib.empty() ? 0 : *std::max_element(mib.begin(), mib.end());
}

/// Would the ask fit on the node if it did not speak of card memory?
bool lacks_only_memory(const FeasiblePolicy& card_fit, const NodeView& view, NodeId n) {
  if (view.demand.cards.memory_each.value <= 0) return false;
  Demand without = view.demand;
  without.cards.memory_each = MiB(0);
  std::uint16_t fits = kFitsMax;
  card_fit.lower({view.cluster, without, view.constraint, view.mix, view.draw}, {n.row(), 1}, {&fits, 1});
  return fits > 0;
}

/// Counts the node under everything that refuses it: as kube-scheduler does, the first static rule, or every resource that is short.
void count_node(const State& state, const Profile& profile, const NodeView& view, NodeId n, Tally& tally) {
  const auto refuses = [&](const FeasiblePolicy& policy) {
    std::uint16_t fits = kFitsMax;
    policy.lower(view, {n.row(), 1}, {&fits, 1});
    return fits == 0;
  };
  for (const FeasiblePolicy* policy : profile.feasible) {
    if (!policy->is_static || !refuses(*policy)) continue;
    ++tally.of(policy->reason, 0).numbers[0];
    return;
  }
  for (const ResourceAmount& a : view.demand.amounts) {
    const std::int64_t free = a.resource.row() < state.cluster.resource_count() ? state.cluster.free(a.resource)[n.row()] : 0;
    if (free >= a.amount) continue;
    Reason& r = tally.of(ReasonCode::kInsufficientResource, a.resource.value);
    ++r.numbers[0];
    r.numbers[1] = std::max(r.numbers[1], free);
    r.numbers[2] = a.amount;
  }
  for (const FeasiblePolicy* policy : profile.feasible) {
    if (policy->is_static || policy->reason == ReasonCode::kInsufficientResource || !refuses(*policy)) continue;
    if (policy->reason == ReasonCode::kInsufficientGpu && lacks_only_memory(*policy, view, n)) {
      Reason& r = tally.of(ReasonCode::kInsufficientGpuMemory, 0);
      ++r.numbers[0];
      r.numbers[1] = std::max(r.numbers[1], most_card_memory(state.cluster, n));
      r.numbers[2] = view.demand.cards.memory_each.value;
      continue;
    }
    Reason& r = tally.of(policy->reason, 0);
    ++r.numbers[0];
    if (policy->reason == ReasonCode::kInsufficientGpu) {
      r.numbers[1] = std::max(r.numbers[1], free_for(state.cluster, view.demand.cards, n));
      r.numbers[2] = view.demand.cards.milli_total();
    }
  }
}

/// Members that the empty node could take, by allocatable amounts.
std::uint64_t fits_when_empty(const Cluster& cluster, const Demand& demand, NodeId n) {
  std::int64_t fits = kFitsMax;
  for (const ResourceAmount& a : demand.amounts) {
    const std::int64_t total = a.resource.row() < cluster.resource_count() ? cluster.allocatable(a.resource)[n.row()] : 0;
    fits = std::min(fits, total / a.amount);
  }
  if (demand.cards.count > 0) {
    const std::int64_t cards = cluster.cards()[n.row()];
    const std::int64_t per_card = demand.cards.is_whole() ? 1 : kWholeCard / std::max(demand.cards.milli_each.value, 1);
    const std::int64_t memory = cluster.facts(n).memory_per_card.value;  // 0 = not known, not checked
    const bool has_memory = memory == 0 || demand.cards.memory_each.value <= memory;
    fits = std::min(fits, has_memory ? (demand.cards.is_whole() ? cards / demand.cards.count : cards * per_card) : 0);
  }
  if (!demand.ports.empty()) fits = std::min<std::int64_t>(fits, 1);
  return static_cast<std::uint64_t>(std::max<std::int64_t>(fits, 0));
}

std::vector<std::int64_t> idle_by_domain(const Cluster& cluster, LevelId level) {
  std::vector<std::int64_t> idle(cluster.topology().domain_count(level), 0);
  for (std::size_t n = 0; n < cluster.rows(); ++n)
    if (const DomainId d = cluster.topology().domain_of(level, NodeId(n)); !d.is_none()) idle[d.row()] += std::max(cluster.idle_cards()[n], 0);
  return idle;
}

/// Like members of a job that are needed together.
struct Ask {
  DemandId demand;
  ConstraintId constraint;
  std::uint64_t members = 0;
};

std::vector<Ask> asks_of(const State& state, JobId job) {
  const Job& j = state.job(job);
  std::uint32_t left = j.members_needed();
  std::vector<Ask> asks;
  for (MemberId id = j.first; !id.is_none() && left > 0; id = state.member(id).next) {
    const Member& m = state.member(id);
    if (m.is_placed()) continue;
    --left;
    auto it = std::find_if(asks.begin(), asks.end(), [&](const Ask& a) { return a.demand == m.demand && a.constraint == m.constraint; });
    if (it == asks.end()) it = asks.insert(asks.end(), {m.demand, m.constraint, 0});
    ++it->members;
  }
  return asks;
}

/// Room for the job's needed members, group by group: everywhere, and in each domain of the level it must stay within. A group that is alone counts
/// all its room, of several none counts more than is needed of it.
struct Room {
  std::uint64_t needed = 0;
  std::uint64_t everywhere = 0;
  std::vector<std::uint64_t> by_domain;
  std::size_t shortest = 0;  ///< the group that lacks most
};

Room room_of(State& state, ViewCache& views, const std::vector<Ask>& asks, LevelId within) {
  Room room;
  std::uint64_t lack_most = 0;
  for (std::size_t a = 0; a < asks.size(); ++a) {
    const std::uint64_t members = asks[a].members;
    const std::uint64_t cap = asks.size() == 1 ? UINT64_MAX : members;
    ClassView& view = views.get(state, asks[a].demand, asks[a].constraint, 0);
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

/// Most nodes first; of as many, what a job's end can help comes before facts of the nodes.
bool is_told_first(const Reason& a, const Reason& b) {
  const auto rank = [](const Reason& r) { return r.code == ReasonCode::kInsufficientGpu ? -1 : static_cast<int>(r.code); };
  if (a.numbers[0] != b.numbers[0]) return a.numbers[0] > b.numbers[0];
  return rank(a) != rank(b) ? rank(a) < rank(b) : a.subject < b.subject;
}

std::size_t nodes_kept_for_others(const State& state) {
  std::vector<NodeId> nodes;
  for (const MemberId m : state.nominations())
    if (state.member(m).is_placed()) nodes.push_back(state.member(m).node);
  std::sort(nodes.begin(), nodes.end());
  return static_cast<std::size_t>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

bool could_ever_run(const State& state, const Ask& ask, LevelId within) {
  const Cluster& cluster = state.cluster;
  std::vector<std::uint64_t> by_domain(within.is_none() ? 1 : cluster.topology().domain_count(within) + 1, 0);
  for (std::size_t n = 0; n < cluster.rows(); ++n) {
    if (!cluster.is_live(NodeId(n))) continue;
    const Constraint& c = cluster.constraint(ask.constraint);
    const NodeFacts& f = cluster.facts(NodeId(n));
    if (!c.models.empty() && std::find(c.models.begin(), c.models.end(), f.model) == c.models.end()) continue;
    if (!term_holds(c.selector, f)) continue;
    if (!c.any_of.empty() && std::none_of(c.any_of.begin(), c.any_of.end(), [&](const NodeTerm& t) { return term_holds(t, f); })) continue;
    const DomainId d = within.is_none() ? DomainId(0u) : cluster.topology().domain_of(within, NodeId(n));
    if (!d.is_none()) by_domain[d.row()] += fits_when_empty(cluster, state.demand(ask.demand), NodeId(n));
  }
  return std::any_of(by_domain.begin(), by_domain.end(), [&](std::uint64_t room) { return room >= ask.members; });
}

}  // namespace

Verdict explain_shortage(State& state, ViewCache& views, const Profile& profile, JobId job, Millis now) {
  Verdict verdict{VerdictKind::kWaits, WakeOn::kCapacity, now, {}, {}};
  if (state.cluster.live_count() == 0) {
    verdict.reasons.push_back({ReasonCode::kNoNodes, 0, {}});
    return verdict;
  }
  const Job& j = state.job(job);
  const std::vector<Ask> asks = asks_of(state, job);
  const Room room = room_of(state, views, asks, j.within);
  const Ask& short_ask = asks[room.shortest];
  ClassView& view = views.get(state, short_ask.demand, short_ask.constraint, 0);
  const NodeView node_view = view.node_view(state, 0);
  Tally tally;
  for (std::size_t n = 0; n < state.cluster.rows(); ++n)
    if (state.cluster.is_live(NodeId(n)) && view.fits(NodeId(n)) == 0) count_node(state, profile, node_view, NodeId(n), tally);
  if (const std::size_t kept = nodes_kept_for_others(state); kept > 0)
    tally.of(ReasonCode::kNominatedElsewhere, 0).numbers[0] = static_cast<std::int64_t>(kept);
  std::sort(tally.reasons.begin(), tally.reasons.end(), is_told_first);
  const auto members = static_cast<std::int64_t>(room.needed);
  const auto everywhere = static_cast<std::int64_t>(room.everywhere);
  if (!j.within.is_none()) {
    const std::vector<std::uint64_t>& by_domain = room.by_domain;
    const std::vector<std::int64_t> idle = idle_by_domain(state.cluster, j.within);
    std::size_t best = 0;
    for (std::size_t d = 1; d < by_domain.size(); ++d)
      if (by_domain[d] != by_domain[best] ? by_domain[d] > by_domain[best] : idle[d] > idle[best]) best = d;
    const DomainId anchor = j.members_placed > 0 ? state.anchor(job, j.within) : DomainId::none();
    if (!anchor.is_none() && anchor.row() < by_domain.size()) best = anchor.row();
    if (by_domain.empty())
      verdict.reasons.push_back({ReasonCode::kNoSuchDomain, j.within.value, {}});
    else
      verdict.reasons.push_back(
          {ReasonCode::kTopologyFragmented, j.within.value, {static_cast<std::int64_t>(by_domain[best]), members, static_cast<std::int64_t>(best)}});
    if (everywhere < members) verdict.reasons.push_back({ReasonCode::kGangPartial, 0, {everywhere, members, 0}});
  } else if (members > 1) {
    verdict.reasons.push_back({ReasonCode::kGangPartial, 0, {everywhere, members, 0}});
  }
  verdict.reasons.insert(verdict.reasons.end(), tally.reasons.begin(), tally.reasons.end());
  if (!std::all_of(asks.begin(), asks.end(), [&](const Ask& ask) { return could_ever_run(state, ask, j.within); })) {
    verdict.kind = VerdictKind::kNeverFits;
    verdict.reasons.insert(verdict.reasons.begin(), Reason{ReasonCode::kExceedsCluster, 0, {everywhere, members, 0}});
  }
  return verdict;
}

}  // namespace ashlar
