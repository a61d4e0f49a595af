#include "engine/explain/never_fits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "engine/explain/empty_node.h"
#include "engine/place/choice.h"
#include "engine/place/small_packing.h"
#include "engine/quota.h"
#include "policy/feasible_policy.h"
#include "policy/node/anti_affinity.h"
#include "policy/node/device_fit.h"
#include "state/cluster/usable_devices.h"

namespace ashlar {
namespace {

/// Groups that must each be in one domain of a level of their own.
struct GroupDomains {
  static constexpr std::uint32_t kAnywhere = PackingGroup::kAnyDomain;
  struct Group {
    LevelId level;
    DomainId held;                   ///< where running members of the group are; none = free to choose
    std::vector<std::size_t> needs;  ///< its kinds
  };
  std::vector<Group> groups;
  std::vector<std::uint32_t> of_need;  ///< index of its group, or kAnywhere
};

/// The empty nodes of one domain, or of the cluster, and how many members of each kind each of them could take.
class EmptyDomain {
 public:
  EmptyDomain(const State& state, const std::vector<MemberNeed>& needs, EmptyFits& empty, const GroupDomains& domains)
      : state_(state), needs_(needs), empty_(empty), group_domains_(domains) {
    for (const MemberNeed& need : needs) kinds_.push_back(&empty.kind(need.demand, need.constraint));
  }

  void add(NodeId n) {
    if (!state_.cluster().is_live(n)) return;
    const std::size_t at = fits_.size();
    bool is_useful = false;
    for (std::size_t a = 0; a < needs_.size(); ++a) {
      fits_.push_back(may_be_in_domain_of(a, n) ? empty_.on(*kinds_[a], n) : 0);
      is_useful = is_useful || fits_.back() > 0;
    }
    if (is_useful)
      nodes_.push_back(n);
    else
      fits_.resize(at);
  }

  EverFits judge(std::uint32_t& steps) const {
    if (!has_room_for_each() || (needs_.size() > 1 && !has_enough_for_all())) return EverFits::kNo;
    if (!has_each_group_a_domain()) return EverFits::kNo;
    if (needs_.size() == 1 || fits_apart()) return EverFits::kYes;
    return nodes_.size() > kPackingNodesMax ? EverFits::kUnproven : search(steps);
  }

 private:
  const HeldOfNode& held_on(NodeId n) const { return empty_.held_on(n); }
  std::uint64_t fits(std::size_t node, std::size_t need) const { return fits_[node * needs_.size() + need]; }

  bool has_room_for_each() const {
    for (std::size_t a = 0; a < needs_.size(); ++a) {
      std::uint64_t room = 0;
      for (std::size_t n = 0; n < nodes_.size(); ++n) room += fits(n, a);
      if (room < needs_[a].members) return false;
    }
    return true;
  }

  /// Whether there is as much of each resource, and of devices, as all of them request together.
  bool has_enough_for_all() const {
    const Cluster& cluster = state_.cluster();
    double milli = 0;
    // sums of int64 amounts may leave the range; a relative error of 2^-50 does not matter
    std::vector<double> asked(cluster.resource_count(), 0);
    for (const MemberNeed& need : needs_) {
      const Demand& demand = state_.demand(need.demand);
      for (const ResourceAmount& a : demand.amounts)
        if (a.resource.row() < asked.size())
          asked[a.resource.row()] += static_cast<double>(a.amount) * static_cast<double>(need.members);
      milli += static_cast<double>(demand.devices.milli_total()) * static_cast<double>(need.members);
    }
    for (std::size_t r = 0; r < asked.size(); ++r) {
      double total = 0;
      for (const NodeId n : nodes_)
        total += static_cast<double>(cluster.allocatable(ResourceId(r))[n.row()] - held_on(n).of(r));
      if (asked[r] > total * (1 + 1e-12)) return false;
    }
    double devices = 0;
    for (const NodeId n : nodes_)
      devices += kWholeDevice * static_cast<double>(std::max(cluster.devices()[n.row()] - held_on(n).devices, 0));
    return milli <= devices;
  }

  DomainId domain(LevelId level, std::size_t node) const {
    return state_.cluster().topology().domain_of(level, nodes_[node]);
  }
  bool may_be_in_domain_of(std::size_t need, NodeId n) const {
    if (group_domains_.of_need[need] == GroupDomains::kAnywhere) return true;
    const GroupDomains::Group& group = group_domains_.groups[group_domains_.of_need[need]];
    const DomainId d = state_.cluster().topology().domain_of(group.level, n);
    return !d.is_none() && (group.held.is_none() || group.held == d);
  }

  /// Whether each group with a level of its own has a domain with room for each of its kinds.
  bool has_each_group_a_domain() const {
    return std::all_of(group_domains_.groups.begin(), group_domains_.groups.end(),
                       [&](const GroupDomains::Group& group) { return !domains_for(group, {}).empty(); });
  }

  /// The domains with room for each of the group's kinds on nodes that are not taken, tightest first.
  std::vector<DomainId> domains_for(const GroupDomains::Group& group, std::span<const std::uint8_t> is_taken) const {
    const std::size_t kinds = group.needs.size();
    std::vector<std::uint64_t> room(state_.cluster().topology().domain_count(group.level) * kinds, 0);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const DomainId d = domain(group.level, n);
      if (d.is_none() || (!is_taken.empty() && is_taken[n] != 0)) continue;
      for (std::size_t k = 0; k < kinds; ++k) room[d.row() * kinds + k] += fits(n, group.needs[k]);
    }
    std::vector<std::pair<std::uint64_t, DomainId>> domains;
    for (std::size_t d = 0; d * kinds < room.size(); ++d) {
      std::uint64_t left = 0;
      bool has_room = true;
      for (std::size_t k = 0; k < kinds; ++k) {
        has_room = has_room && room[d * kinds + k] >= needs_[group.needs[k]].members;
        left += room[d * kinds + k] - needs_[group.needs[k]].members;
      }
      if (has_room) domains.emplace_back(left, DomainId(d));
    }
    std::sort(domains.begin(), domains.end());
    std::vector<DomainId> sorted;
    for (const auto& [left, d] : domains) sorted.push_back(d);
    return sorted;
  }

  /// Whether this is enough if each node takes members of one kind only, and each group in turn the tightest domain.
  bool fits_apart() const {
    std::vector<std::uint8_t> is_taken(nodes_.size(), 0);
    for (const GroupDomains::Group& group : group_domains_.groups) {
      const std::vector<DomainId> domains = domains_for(group, is_taken);
      const auto takes = [&](DomainId d) {
        return take_nodes(group.needs, is_taken, [&](std::size_t n) { return domain(group.level, n) == d; });
      };
      if (std::none_of(domains.begin(), domains.end(), takes)) return false;
    }
    std::vector<std::size_t> others;
    for (std::size_t a = 0; a < needs_.size(); ++a)
      if (group_domains_.of_need[a] == GroupDomains::kAnywhere) others.push_back(a);
    return take_nodes(others, is_taken, [](std::size_t) { return true; });
  }

  /// Marks nodes for these kinds, one after the other; none if there are too few.
  template <class Allows>
  bool take_nodes(const std::vector<std::size_t>& needs, std::vector<std::uint8_t>& is_taken, Allows&& allows) const {
    if (needs.empty()) return true;
    std::vector<std::size_t> taken;
    std::size_t need = 0;
    std::uint64_t left = needs_[needs[0]].members;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      if (is_taken[n] != 0 || !allows(n)) continue;
      taken.push_back(n);
      left -= std::min(left, fits(n, needs[need]));
      if (left > 0) continue;
      if (++need == needs.size()) {
        for (const std::size_t t : taken) is_taken[t] = 1;
        return true;
      }
      left = needs_[needs[need]].members;
    }
    return false;
  }

  PackingNode node_beside(const HeldOfNode& held, NodeId n) const {
    PackingNode node = node_when_empty(state_.cluster(), n);
    for (std::size_t r = 0; r < node.free.size(); ++r) node.free[r] -= held.of(r);
    const bool is_mixed = node.full_mib.mixed != nullptr;
    const std::int32_t devices =
        std::min(is_mixed ? held.named.among(node.idle_devices).count() : held.devices, node.idle_devices);
    std::int32_t left = devices;
    for (std::size_t c = 0; c < node.milli.size() && left > 0; ++c) {
      if (is_mixed && !held.named.test(static_cast<int>(c))) continue;
      node.milli[c] = 0;
      node.mib[c] = 0;
      --left;
    }
    node.idle_devices -= devices;
    node.ports.insert(node.ports.end(), held.ports.begin(), held.ports.end());
    return node;
  }

  EverFits search(std::uint32_t& steps) const {
    std::vector<PackingNode> nodes;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      nodes.push_back(node_beside(held_on(nodes_[n]), nodes_[n]));
      for (std::size_t a = 0; a < needs_.size(); ++a) nodes.back().allows.push_back(fits(n, a) > 0 ? 1 : 0);
      for (const GroupDomains::Group& group : group_domains_.groups)
        nodes.back().domains.push_back(domain(group.level, n));
    }
    std::vector<PackingGroup> groups;
    for (std::size_t a = 0; a < needs_.size(); ++a)
      groups.push_back({&state_.demand(needs_[a].demand), static_cast<std::uint32_t>(needs_[a].members),
                        &state_.cluster().constraint(needs_[a].constraint), group_domains_.of_need[a]});
    switch (SmallPacking(std::move(nodes), groups).search(steps)) {
      case SmallPacking::Outcome::kFound:
        return EverFits::kYes;
      case SmallPacking::Outcome::kImpossible:
        return EverFits::kNo;
      case SmallPacking::Outcome::kBudgetSpent:
        break;
    }
    return EverFits::kUnproven;
  }

  const State& state_;
  const std::vector<MemberNeed>& needs_;
  EmptyFits& empty_;
  const GroupDomains& group_domains_;
  std::vector<EmptyFits::Kind*> kinds_;  ///< by need
  std::vector<NodeId> nodes_;
  std::vector<std::uint64_t> fits_;  ///< [node][request]
};

}  // namespace

bool could_ever_take(const State& state, DemandId demand, ConstraintId constraint, NodeId n) {
  const Constraint& asked = state.cluster().constraint(constraint);
  return fits_when_empty(state.cluster(), state.demand(demand), asked, n, {}) > 0 &&
         is_meant_for(asked, state.cluster().facts(n), state.cluster().context());
}

namespace {

/// Accepts as many members of each kind as these nodes could take if they were empty and the kind were alone.
class EmptyRoom {
 public:
  EmptyRoom(const State& state, EmptyFits& empty, std::vector<NodeId> nodes)
      : state_(state), empty_(empty), nodes_(std::move(nodes)) {}

  bool operator()(MemberId member) {
    const Member& m = state_.member(member);
    const auto [left, is_new] = left_.try_emplace({m.demand, m.constraint}, 0);
    if (is_new) {
      EmptyFits::Kind& kind = empty_.kind(m.demand, m.constraint);
      for (const NodeId n : nodes_) left->second += empty_.on(kind, n);
    }
    if (left->second == 0) return false;
    --left->second;
    return true;
  }

 private:
  const State& state_;
  EmptyFits& empty_;
  std::vector<NodeId> nodes_;
  std::map<std::pair<DemandId, ConstraintId>, std::uint64_t> left_;
};

std::vector<NodeId> all_nodes(const State& state) {
  std::vector<NodeId> nodes;
  for (std::size_t n = 0; n < state.cluster().rows(); ++n) nodes.emplace_back(n);
  return nodes;
}

}  // namespace

std::vector<MemberId> members_judged(const State& state, JobId job) {
  std::vector<MemberId> members;
  const auto first_ones = [&] {
    std::vector<MemberId> needed;
    state.each_needed(job, [&](MemberId id, const Member&) { needed.push_back(id); });
    return needed;
  };
  if (!has_choice(state, job)) return first_ones();
  const Minimum minimum(state, job);
  std::vector<MemberId> others;
  const HeldByNode nothing;
  EmptyFits empty(state, nothing);
  EmptyRoom room(state, empty, all_nodes(state));
  for (const MemberId id : minimum.waiting()) (room(id) ? members : others).push_back(id);
  std::vector<MemberId> admitted = members, all(minimum.waiting().begin(), minimum.waiting().end());
  keep_within_quota(state, job, admitted);
  keep_within_quota(state, job, all);
  if (all.size() == minimum.waiting().size()) all.clear();  // none is kept out
  for (std::vector<MemberId> some : {admitted, all, members}) {
    std::ranges::sort(some);
    if (auto first = minimum.first_among(some); first) return *first;
  }
  if (state.job(job).groups_lack > 0) return first_ones();  // else another group than the one that lacks members
  members.insert(members.end(), others.begin(), others.end());
  members.resize(state.job(job).members_needed());
  return members;
}

std::vector<MemberNeed> needs_of(const State& state, std::span<const MemberId> members) {
  std::vector<MemberNeed> needs;
  std::map<std::tuple<DemandId, ConstraintId, std::uint32_t>, std::size_t> index;
  for (const MemberId id : members) {
    const Member& m = state.member(id);
    const auto [at, is_new] = index.try_emplace({m.demand, m.constraint, m.group}, needs.size());
    if (is_new) needs.push_back({m.demand, m.constraint, 0, m.group});
    ++needs[at->second].members;
  }
  return needs;
}

namespace {
/// The domain of a broken gang's running members, or of those of one group, which the rest must join; none if nothing
/// runs, or if external changes have split them.
DomainId domain_held(const State& state, JobId job, LevelId level, std::uint32_t group) {
  const Job& j = state.job(job);
  if (level.is_none() || j.members_placed == 0 || j.waits_for_surplus()) return DomainId::none();
  const DomainId held = state.anchor(job, level, group);
  bool is_one = true;
  state.each_member(job, [&](MemberId, const Member& m) {
    if (m.is_placed() && (group == State::kAnyGroup || m.group == group))
      is_one = is_one && state.cluster().topology().domain_of(level, m.node) == held;
  });
  return is_one ? held : DomainId::none();
}

GroupDomains group_domains_of(const State& state, JobId job, const std::vector<MemberNeed>& needs) {
  GroupDomains domains{.groups = {}, .of_need = std::vector<std::uint32_t>(needs.size(), GroupDomains::kAnywhere)};
  const GangSpecId spec = state.job(job).spec;
  if (spec.is_none()) return domains;
  std::map<std::uint32_t, std::uint32_t> index;
  for (std::size_t a = 0; a < needs.size(); ++a) {
    const LevelId level = state.gang_spec(spec).groups[needs[a].group].within;
    if (level.is_none()) continue;
    const auto [at, is_new] = index.try_emplace(needs[a].group, static_cast<std::uint32_t>(domains.groups.size()));
    if (is_new) domains.groups.push_back({level, domain_held(state, job, level, needs[a].group), {}});
    domains.groups[at->second].needs.push_back(a);
    domains.of_need[a] = at->second;
  }
  return domains;
}

/// Of a job of which exactly these must be placed together, in no more than these steps.
EverFits ever_fit(const State& state, JobId job, std::vector<MemberNeed> needs, EmptyFits& empty,
                  std::uint32_t& steps) {
  // Largest device requests first: what is left for the others is then what they can use.
  std::stable_sort(needs.begin(), needs.end(), [&](const MemberNeed& a, const MemberNeed& b) {
    return state.demand(a.demand).devices.milli_total() > state.demand(b.demand).devices.milli_total();
  });
  const GroupDomains group_domains = group_domains_of(state, job, needs);
  const LevelId within = state.job(job).within;
  const Topology& topology = state.cluster().topology();
  if (within.is_none()) {
    EmptyDomain all(state, needs, empty, group_domains);
    for (std::size_t n = 0; n < state.cluster().rows(); ++n) all.add(NodeId(n));
    return all.judge(steps);
  }
  const DomainId only = domain_held(state, job, within, State::kAnyGroup);
  EverFits best = EverFits::kNo;
  for (std::size_t d = 0; d < topology.domain_count(within); ++d) {
    if (!only.is_none() && only != DomainId(d)) continue;
    EmptyDomain domain(state, needs, empty, group_domains);
    for (const NodeId n : topology.nodes_of(within, DomainId(d))) domain.add(n);
    const EverFits verdict = domain.judge(steps);
    if (verdict == EverFits::kYes) return verdict;
    if (verdict == EverFits::kUnproven) best = verdict;
  }
  return best;
}

/// Of a job with a choice: whether its nodes, or those of one domain of its level, could take enough members if each
/// kind were alone.
bool may_some_fit(const State& state, JobId job, const Minimum& minimum, EmptyFits& empty) {
  const auto has_enough = [&](std::vector<NodeId> nodes) {
    return minimum.first(EmptyRoom(state, empty, std::move(nodes))).has_value();
  };
  const LevelId within = state.job(job).within;
  if (within.is_none()) return has_enough(all_nodes(state));
  const Topology& topology = state.cluster().topology();
  const DomainId only = domain_held(state, job, within, State::kAnyGroup);
  for (std::size_t d = 0; d < topology.domain_count(within); ++d) {
    const auto nodes = topology.nodes_of(within, DomainId(d));
    if ((only.is_none() || only == DomainId(d)) && has_enough({nodes.begin(), nodes.end()})) return true;
  }
  return false;
}

}  // namespace

EverFits ever_fits(const State& state, JobId job) {
  std::uint32_t steps = kProofStepsMax;
  // Surplus may wait for members of its own job too: when they end it can take their place.
  const HeldByNode nothing, held = state.job(job).waits_for_surplus() ? HeldByNode{} : held_by(state, job);
  EmptyFits beside(state, held);
  if (!has_choice(state, job)) return ever_fit(state, job, needs_of(state, members_judged(state, job)), beside, steps);
  const Minimum minimum(state, job);
  EmptyFits empty(state, nothing);
  if (!may_some_fit(state, job, minimum, held.empty() ? beside : empty)) return EverFits::kNo;
  const Choices choices = minimum.choices(state, minimum.waiting());
  bool are_shown = choices.are_complete;
  for (const std::vector<MemberId>& members : choices.all) {
    if (exceed_quota(state, job, members)) continue;
    const EverFits verdict = ever_fit(state, job, needs_of(state, members), beside, steps);
    if (verdict == EverFits::kYes) return verdict;
    are_shown = are_shown && verdict == EverFits::kNo;
  }
  return are_shown ? EverFits::kNo : EverFits::kUnproven;
}

}  // namespace ashlar
