#include "engine/place/some_members.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/place/choice.h"
#include "engine/place/one_by_one.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

/// Domains in which members are placed one by one; each costs a search for each of them.
constexpr std::size_t kDomainsTriedMax = 8;
/// Nodes that are looked at for members placed one by one, in all domains and orders together; about half a second.
constexpr std::size_t kNodesLookedAtMax = 8'000'000;

class SomeMembers {
 public:
  SomeMembers(RunPlacer& placer, const PlacementContext& context, JobId job)
      : placer_(placer),
        context_(context),
        state_(context.trial.state()),
        job_(job),
        minimum_(state_, job),
        work_before_(state_.cluster().counts().work()) {}

  bool place() {
    return std::ranges::any_of(scopes_by_room(), [&](const Scope& scope) { return place_in(scope); });
  }
  bool place_within(const std::function<bool()>& is_within) {
    is_within_ = &is_within;
    return std::ranges::any_of(scopes_by_room(), [&](const Scope& scope) {
      const std::vector<MemberId> members = with_room(scope);
      return are_enough(members) && place_each_in_turn(scope, members);
    });
  }

 private:
  /// Everywhere, the domain of those that are placed, or the domains of the gang's level with enough room for any,
  /// those with most first, of these the ones with most idle devices.
  std::vector<Scope> scopes_by_room() {
    const Job& j = state_.job(job_);
    if (j.within.is_none()) return {Scope{}};
    if (j.members_placed > 0) {
      const DomainId anchor = state_.anchor(job_, j.within);
      return anchor.is_none() ? std::vector<Scope>{} : std::vector<Scope>{{j.within, anchor}};
    }
    std::vector<std::uint64_t> room(state_.cluster().topology().domain_count(j.within), 0);
    for (const Run& run : runs_of(state_, minimum_.waiting()))
      for (std::size_t d = 0; d < room.size(); ++d) room[d] += members_with_room({j.within, DomainId(d)}, run);
    std::vector<std::tuple<std::uint64_t, std::int64_t, DomainId>> enough;
    for (std::size_t d = 0; d < room.size(); ++d)
      if (room[d] >= j.members_needed()) enough.emplace_back(room[d], idle_in(j.within, DomainId(d)), d);
    std::ranges::stable_sort(enough, [](const auto& a, const auto& b) {
      return std::pair(std::get<0>(a), std::get<1>(a)) > std::pair(std::get<0>(b), std::get<1>(b));
    });
    std::vector<Scope> scopes;
    for (const auto& [members, idle, domain] : enough) scopes.push_back({j.within, domain});
    if (scopes.size() > kDomainsTriedMax) scopes.resize(kDomainsTriedMax);
    return scopes;
  }
  /// Devices that nobody has: kinds that each have room for themselves may not have it together.
  std::int64_t idle_in(LevelId level, DomainId domain) const {
    std::int64_t idle = 0;
    for (const NodeId n : state_.cluster().topology().nodes_of(level, domain))
      idle += state_.cluster().idle_devices()[n.row()];
    return idle;
  }

  /// How many of the run there is room for, if it is alone.
  std::size_t members_with_room(const Scope& scope, const Run& run) {
    if (opens_with_pods(state_.cluster().constraint(run.constraint))) return run.members.size();
    FitTable& table = placer_.view(run);
    const std::uint64_t room =
        scope.is_everywhere() ? table.room_everywhere() : table.room(state_, scope.level)[scope.domain.row()];
    return static_cast<std::size_t>(std::min<std::uint64_t>(room, run.members.size()));
  }

  bool place_in(const Scope& scope) {
    const std::vector<MemberId> members = with_room(scope);
    if (!are_enough(members)) return false;
    std::vector<MemberId> admitted = members;
    keep_within_quota(state_, job_, admitted);
    if (admitted.size() > context_.members_max) admitted.resize(context_.members_max);
    const bool is_placed =
        are_enough(admitted) && placer_.place_parts(scope, parts_of(state_, job_, runs_of(state_, admitted)));
    return is_placed || place_each_in_turn(scope, members) || place_a_choice(scope, members);
  }

  /// As many as must be placed together, in every combination of kinds.
  bool place_a_choice(const Scope& scope, std::span<const MemberId> members) {
    return std::ranges::any_of(minimum_.choices(state_, members).all, [&](std::vector<MemberId> chosen) {
      if (chosen.size() > context_.members_max) return false;
      const std::vector<Part> parts = parts_of(state_, job_, runs_of(state_, chosen));
      keep_within_quota(state_, job_, chosen);
      const bool are_admitted = chosen.size() == static_cast<std::size_t>(state_.job(job_).members_needed());
      return are_admitted && (placer_.place_parts(scope, parts) || placer_.place_exactly(scope, parts));
    });
  }

  /// By their ranks, else the smallest first.
  bool place_each_in_turn(const Scope& scope, std::vector<MemberId> members) {
    if (place_each(scope, members)) return true;
    sort_smallest_first(state_, members);
    return place_each(scope, members);
  }

  /// In their order.
  std::vector<MemberId> with_room(const Scope& scope) {
    std::vector<MemberId> members;
    for (const Run& run : runs_of(state_, minimum_.waiting())) {
      const auto count = static_cast<std::ptrdiff_t>(members_with_room(scope, run));
      members.insert(members.end(), run.members.begin(), run.members.begin() + count);
    }
    std::ranges::sort(members);
    std::vector<MemberId> in_order;
    for (const MemberId id : minimum_.waiting())
      if (std::ranges::binary_search(members, id)) in_order.push_back(id);
    return in_order;
  }

  bool are_enough(std::vector<MemberId> members) const {
    std::ranges::sort(members);
    return minimum_.first_among(members).has_value();
  }

  /// One by one, without those that find no place or that the queue does not admit, until no more of them does: one
  /// that is placed may open nodes to others. Those that are placed are enough, or none is.
  bool place_each(const Scope& scope, std::span<const MemberId> members) {
    const std::size_t before = context_.trial.checkpoint();
    choose_domains(scope, members);
    std::vector<MemberId> placed;
    for (bool has_placed = true; std::exchange(has_placed, false);)
      for (const MemberId id : members) {
        if (placed.size() == context_.members_max || !is_left_to_look()) break;
        if (state_.member(id).is_placed() || !place_one(scope, id)) continue;
        placed.push_back(id);
        has_placed = true;
        if (is_within_ != nullptr && are_enough(placed)) return true;
      }
    if (are_enough(placed)) return true;
    context_.trial.rollback_to(before);
    return false;
  }

  bool is_left_to_look() {
    looked_at_ += state_.cluster().rows();
    context_.fit_tables.note_looks(state_.cluster().rows() / 16);
    const std::uint64_t counted = state_.cluster().counts().work() - work_before_;
    const bool is_left = looked_at_ + kLooksOfACount * counted <= kNodesLookedAtMax;
    if (!is_left) placer_.stop_after_looks(kNodesLookedAtMax);
    return is_left;
  }

  bool place_one(const Scope& scope, MemberId id) {
    const Member& m = state_.member(id);
    const OneByOne::Kind kind{id, m.demand, m.constraint};
    const auto of_group = domains_.find(m.group);
    const std::optional<Scope> soft = of_group == domains_.end() ? Scope{} : of_group->second;
    if (!soft) return false;
    std::vector<MemberId> admitted{id};
    keep_within_quota(state_, job_, admitted);
    if (admitted.empty()) return false;
    return is_within_ == nullptr ? OneByOne(context_, scope).place_each({&kind, 1}, *soft)
                                 : place_one_within(scope, *soft, kind);
  }

  /// On the best node within the limits, which are by the class of nodes.
  bool place_one_within(const Scope& scope, const Scope& soft, const OneByOne::Kind& kind) {
    const Cluster& cluster = state_.cluster();
    const FitTable& table = context_.fit_tables.counted(state_, kind.demand, kind.constraint, context_.draws.next());
    std::vector<NodeId> nodes;
    for (std::size_t n = 0; n < cluster.rows(); ++n)
      if (table.fits(NodeId(n)) > 0 && scope.holds(cluster.topology(), NodeId(n)) &&
          soft.holds(cluster.topology(), NodeId(n)))
        nodes.emplace_back(n);
    while (!nodes.empty()) {
      const std::size_t before = context_.trial.checkpoint();
      if (!OneByOne(context_, scope).place_among({&kind, 1}, nodes)) return false;
      if ((*is_within_)()) return true;
      const DeviceClassId of = cluster.models()[state_.member(kind.member).node.row()];
      context_.trial.rollback_to(before);
      std::erase_if(nodes, [&](NodeId n) { return cluster.models()[n.row()] == of; });
    }
    return false;
  }

  /// For each group with a domain of its own: where its members are, or where most of these have room.
  void choose_domains(const Scope& scope, std::span<const MemberId> members) {
    domains_.clear();
    for (const Part& part : parts_of(state_, job_, runs_of(state_, members))) {
      if (part.within.is_none()) continue;
      const std::vector<std::uint64_t> room = placer_.members_by_domain(scope, part);
      domains_[part.group] = std::nullopt;
      const DomainId anchor = state_.anchor(job_, part.within, part.group);
      const bool is_nowhere = anchor.is_none() && state_.groups_of(job_)[part.group].placed > 0;
      if (room.empty() || is_nowhere) continue;
      const auto most = static_cast<std::size_t>(std::ranges::max_element(room) - room.begin());
      domains_[part.group] = Scope{part.within, anchor.is_none() ? DomainId(most) : anchor};
    }
  }

  RunPlacer& placer_;
  const PlacementContext& context_;
  State& state_;
  JobId job_;
  Minimum minimum_;
  std::size_t looked_at_ = 0;
  std::uint64_t work_before_ = 0;
  const std::function<bool()>* is_within_ = nullptr;
  std::map<std::uint32_t, std::optional<Scope>> domains_;  ///< by group with a level of its own; none: there is none
};

}  // namespace

bool place_some(RunPlacer& placer, const PlacementContext& context, JobId job) {
  return SomeMembers(placer, context, job).place();
}

bool place_some_within(const PlacementContext& context, JobId job, const std::function<bool()>& is_within) {
  RunPlacer placer(context, job);
  return SomeMembers(placer, context, job).place_within(is_within);
}

}  // namespace ashlar
