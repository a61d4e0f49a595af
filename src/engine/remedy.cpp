// The smallest change that would let a waiting job run now. Each candidate is checked against the present columns with the rules of the profile; for
// gangs of like members the check is exact, for others it is made for the members that differ from what is placed first.
#include <algorithm>

#include "engine/explain.h"

namespace ashlar {
namespace {

struct Shortage {
  const Job& job;
  DemandId demand;
  ConstraintId constraint;
  std::uint64_t needed = 0;
};

Shortage shortage_of(const State& state, JobId id) {
  const Job& j = state.job(id);
  Shortage s{j, {}, {}, j.members_needed()};
  const MemberId first = state.first_waiting_member(id);
  if (!first.is_none()) {
    s.demand = state.member(first).demand;
    s.constraint = state.member(first).constraint;
  }
  return s;
}

std::uint64_t roomiest(std::span<const std::uint32_t> room) { return room.empty() ? 0 : *std::max_element(room.begin(), room.end()); }

/// Room for a demand that nobody has interned, in the best domain of `within` or everywhere.
std::uint64_t room_for(State& state, const Profile& profile, const Demand& demand, const Shortage& s) {
  const NodeView view{state.cluster, demand, state.cluster.constraint(s.constraint), &profile.mix, 0};
  const std::size_t rows = state.cluster.rows();
  const BitSet& allowed = state.cluster.allowed(s.constraint);
  std::vector<std::uint16_t> fits(rows);
  for (std::size_t n = 0; n < rows; ++n) fits[n] = allowed.test(n) ? kFitsMax : 0;
  for (const FeasiblePolicy* policy : profile.feasible)
    if (!policy->is_static) policy->lower(view, {0, rows}, fits);
  if (s.job.within.is_none()) {
    std::uint64_t sum = 0;
    for (const std::uint16_t f : fits) sum += f;
    return sum;
  }
  std::vector<std::uint32_t> room(state.cluster.topology().domain_count(s.job.within), 0);
  for (std::size_t n = 0; n < rows; ++n)
    if (const DomainId d = state.cluster.topology().domain_of(s.job.within, NodeId(n)); !d.is_none()) room[d.row()] += fits[n];
  return roomiest(room);
}

void add_topology_remedies(State& state, ClassView& view, const Shortage& s, std::vector<Remedy>& out) {
  if (s.job.within.is_none() || roomiest(view.room(state, s.job.within)) >= s.needed) return;
  const std::uint32_t nested = state.cluster.topology().nested_count();
  for (std::uint32_t l = std::min(s.job.within.value, nested); l-- > 0;) {
    if (roomiest(view.room(state, LevelId(l))) < s.needed) continue;
    out.push_back({Remedy::Kind::kWidenWithin, static_cast<std::int64_t>(s.needed), LevelId(l), QueueId::none()});
    break;
  }
  if (view.room_everywhere() >= s.needed)
    out.push_back({Remedy::Kind::kDropWithin, static_cast<std::int64_t>(s.needed), LevelId::none(), QueueId::none()});
}

}  // namespace

std::vector<Remedy> find_remedies(State& state, ViewCache& views, const Profile& profile, JobId id) {
  std::vector<Remedy> out;
  const Shortage s = shortage_of(state, id);
  if (s.demand.is_none()) return out;
  const Demand demand = state.demand(s.demand);
  ClassView& view = views.get(state, s.demand, s.constraint, 0);
  const std::uint64_t room = s.job.within.is_none() ? view.room_everywhere() : roomiest(view.room(state, s.job.within));
  QuotaVector asked = state.quota_of_demand(s.demand);
  for (std::int64_t& a : asked) a *= static_cast<std::int64_t>(s.needed);
  if (const auto refusal = state.queues.refusal(s.job.queue, asked)) {
    const auto dimension = static_cast<std::size_t>(refusal->numbers[0]);
    const QueueId queue(refusal->subject);
    const std::int64_t lacking = state.queues.used(queue)[dimension] + asked[dimension] - state.queues.quota(queue)[dimension];
    out.push_back({Remedy::Kind::kMoreQuota, lacking, LevelId::none(), queue, static_cast<QuotaDimension>(dimension)});
    return out;
  }
  if (room >= s.needed) return out;
  add_topology_remedies(state, view, s, out);
  if (s.needed > 1 && room > 0) out.push_back({Remedy::Kind::kFewerMembers, static_cast<std::int64_t>(room), s.job.within, QueueId::none()});
  for (std::int32_t cards = demand.cards.count - 1; cards > 0 && demand.cards.is_whole(); --cards) {
    Demand fewer = demand;
    fewer.cards.count = cards;
    if (room_for(state, profile, fewer, s) < s.needed) continue;
    out.push_back({Remedy::Kind::kFewerCards, cards, s.job.within, QueueId::none()});
    break;
  }
  if (demand.cards.count > 0)
    out.push_back({Remedy::Kind::kFreeCards, static_cast<std::int64_t>(s.needed - room) * demand.cards.count, s.job.within, QueueId::none()});
  out.push_back({Remedy::Kind::kMoreNodes, static_cast<std::int64_t>(s.needed - room), s.job.within, QueueId::none()});
  return out;
}

}  // namespace ashlar
