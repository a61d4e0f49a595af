// Placing a gang by the scored rule. The search knows how many members each node and domain can take (FitTable), so for
// a gang of like members the choice of a domain is exact: the smallest capacity that suffices. Inside it the members
// are distributed level by level over as few domains as possible: one that holds them all if there is one, else the
// largest ones whole and the last remainder in the tightest that takes it. The order of that walk is the rank order, so
// neighbours in rank share the fastest links. Unlike members are placed kind after kind in a few orders; if that fails
// on few nodes, by exact search; if some may start without the others, those that can. Groups with a domain of their
// own take the tightest one that holds them inside the gang's, the largest group first. Later members join the others
// if all of them fit there. Cost: O(domains of the level + nodes of the chosen domain) for each group.
#include <algorithm>
#include <optional>

#include "engine/place/choice.h"
#include "engine/place/placement.h"
#include "engine/place/run_placer.h"
#include "engine/place/scope.h"
#include "engine/place/some_members.h"
#include "engine/quota.h"

namespace ashlar {
namespace {

class GangSearch {
 public:
  GangSearch(const PlacementContext& context, JobId job)
      : context_(context), state_(context.trial.state()), job_(job), placer_(context, job) {}

  PlacementOutcome run() {
    const Job& j = state_.job(job_);
    const std::uint32_t waiting = std::min(j.members_present - j.members_placed, context_.members_max);
    const std::uint32_t needed = j.members_needed();
    if (waiting < needed) return {};
    const bool is_minimum_due = j.members_lacking() > 0;
    if (is_minimum_due && needed < waiting) minimum_.emplace(state_, job_);
    placer_.is_last_of_its_job(waiting == 1 && j.members_placed > 0);
    const std::size_t before = context_.trial.checkpoint();
    bool is_placed = attempt(waiting);
    if (!is_placed && needed < waiting) {
      const std::uint32_t most = std::min<std::uint32_t>(waiting - 1, room_for_some(waiting, needed));
      is_placed = most >= needed && attempt(most);
      if (!is_placed && needed < most && are_members_mutual()) is_placed = attempt(needed);
    }
    if (!is_placed && has_choice(state_, job_)) is_placed = place_some(placer_, context_, job_);
    if (is_placed && minimum_) give_back_surplus(before);
    return {.is_placed = is_placed, .limit = is_placed ? std::nullopt : placer_.limit()};
  }

 private:
  /// Whether the queue admits the first `count` waiting members: it may admit others only.
  bool are_admitted(std::uint32_t count) const {
    if (!state_.queues().is_limited(state_.job(job_).queue) || !has_choice(state_, job_)) return true;
    std::vector<MemberId> members;
    state_.each_waiting(job_, [&](MemberId id, const Member&) {
      members.push_back(id);
      return members.size() < count;
    });
    keep_within_quota(state_, job_, members);
    return members.size() == count;
  }

  /// Places exactly the first `count` waiting members, or nothing.
  bool attempt(std::uint32_t count) {
    if (!are_admitted(count)) return false;
    const std::vector<Part> parts = parts_of(state_, job_, runs_of(state_, job_, count));
    std::vector<Run> of_all;
    for (const Part& part : parts)
      if (parts.size() > 1) of_all.insert(of_all.end(), part.runs.begin(), part.runs.end());
    const std::span<const Run> runs = parts.size() == 1 ? parts.front().runs : of_all;
    const Job& j = state_.job(job_);
    if (j.within.is_none()) return placer_.place_parts({}, parts) || placer_.place_exactly({}, parts);
    if (j.members_placed > 0) {
      const Scope anchor{j.within, state_.anchor(job_, j.within)};
      return !anchor.domain.is_none() && (placer_.place_parts(anchor, parts) || placer_.place_exactly(anchor, parts));
    }
    std::vector<Scope> candidates;
    for (const DomainId d : placer_.domains_with_room({}, j.within, runs)) candidates.push_back({j.within, d});
    const auto is_found_by = [&](auto&& place) {
      return std::any_of(candidates.begin(), candidates.end(),
                         [&](const Scope& scope) { return placer_.has_devices_for_all(scope, runs) && place(scope); });
    };
    return is_found_by([&](const Scope& scope) { return placer_.place_parts(scope, parts); }) ||
           is_found_by([&](const Scope& scope) { return placer_.place_exactly(scope, parts); });
  }

  /// Members above the minimum wait until every minimum of the decision has had its turn; they come back as a class of
  /// their own. Here they only influence the choice of the domain: one with capacity for as many as possible. They stay
  /// where the rules of those that must start allow these to be there beside them only.
  void give_back_surplus(std::size_t before) {
    Trial& trial = context_.trial;
    std::vector<Trial::Placement> steps;
    each_placement(std::span(trial.steps()).subspan(before),
                   [&](const Trial::Placement& step) { steps.push_back(step); });
    std::vector<MemberId> placed;
    for (const Trial::Placement& step : steps) placed.push_back(step.member);
    std::ranges::sort(placed);
    std::vector<MemberId> needed = *minimum_->first_among(placed);
    std::ranges::sort(needed);
    const auto is_kept = [&](const Trial::Placement& step) { return std::ranges::binary_search(needed, step.member); };
    const auto first = std::find_if_not(steps.begin(), steps.end(), is_kept);
    if (first == steps.end()) return;
    const std::size_t before_surplus = before + static_cast<std::size_t>(first - steps.begin());
    trial.rollback_to(before_surplus);
    for (auto it = first; it != steps.end(); ++it) {
      if (!is_kept(*it)) continue;
      if (is_allowed(*it)) {
        trial.place(it->member, it->node, it->devices);
        continue;
      }
      trial.rollback_to(before_surplus);
      for (it = first; it != steps.end(); ++it) trial.place(it->member, it->node, it->devices);
      return;
    }
  }

  bool is_allowed(const Trial::Placement& step) const {
    return state_.cluster().allowed(state_.member(step.member).constraint, kNodeRules).test(step.node.row());
  }

  /// Members that the best domain (or the cluster, or the anchor) could take; for elastic gangs. Of unlike members, and
  /// of groups, those needed are worth a try.
  std::uint32_t room_for_some(std::uint32_t waiting, std::uint32_t needed) {
    const std::vector<Run> runs = runs_of(state_, job_, waiting);
    const Job& j = state_.job(job_);
    if (runs.size() != 1 || !j.spec.is_none()) return needed;
    FitTable& v = placer_.view(runs[0]);
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

  /// One that is placed may close nodes that were counted as room for others of them.
  bool are_members_mutual() const {
    bool are_so = false;
    state_.each_waiting(job_, [&](MemberId, const Member& m) {
      are_so = state_.cluster().constraint(m.constraint).is_mutual();
      return !are_so;
    });
    return are_so;
  }

  const PlacementContext& context_;
  State& state_;
  JobId job_;
  RunPlacer placer_;
  std::optional<Minimum> minimum_;  ///< if more are tried than must start together
};

}  // namespace

PlacementOutcome place_gang(const PlacementContext& context, JobId job) { return GangSearch(context, job).run(); }

}  // namespace ashlar
