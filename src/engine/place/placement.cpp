#include "engine/place/placement.h"

#include <algorithm>

#include "base/check.h"
#include "engine/place/class_quota.h"
#include "engine/place/lifted_holds.h"

namespace ashlar {
namespace {

PlacementOutcome place_scored(const PlacementContext& context, JobId job) {
  State& state = context.trial.state();
  const Job& j = state.job(job);
  const bool is_single = j.members_present == 1 && j.members_placed == 0;
  if (!is_single || !j.within.is_none() || !j.prefer.is_none() || !j.spec.is_none()) return place_gang(context, job);
  const MemberId member = state.first_waiting_member(job);
  ASHLAR_CHECK(!member.is_none());
  const Member& m = state.member(member);
  const std::uint64_t draw = context.draws.next();
  FitTable& table = context.fit_tables.get(state, m.demand, m.constraint, draw);
  const NodeId node = table.best(state);
  if (node.is_none()) return {};
  context.trial.place(member, node, context.profile.device->choose(table.node_view(state), node));
  return {.is_placed = true};
}

PlacementOutcome place_consolidated_or_scored(const PlacementContext& context, JobId job) {
  return is_consolidated(context.trial.state(), job) ? place_consolidated(context, job) : place_scored(context, job);
}

/// By PlacementRule.
constexpr PlacementRow kRows[kPlacementRules] = {
    {.place = place_scored, .is_room_exact = true},
    {.place = place_consolidated_or_scored, .is_room_exact = false},
};

}  // namespace

const PlacementRow& placement_rule(const Profile& profile) {
  return kRows[static_cast<std::size_t>(profile.placement)];
}

PlacementOutcome place_anywhere(const PlacementContext& context, JobId job) {
  return placement_rule(context.profile).place(context, job);
}

PlacementOutcome place_job(const PlacementContext& context, JobId job) {
  const State& state = context.trial.state();
  if (state.yielding().empty()) return place_within_limits(context, job);
  const std::size_t before = context.trial.checkpoint();
  const Millis late_end = late_end_of(state, job, context.at);
  if (late_end != state.job(job).ends_by) context.trial.expect_end(job, late_end);
  const std::vector<MemberId> holds = usable_holds(state, job, late_end);
  const PlacementOutcome outcome =
      holds.empty() ? place_within_limits(context, job) : place_with_holds(context, job, holds);
  if (!outcome.is_placed) context.trial.rollback_to(before);
  return outcome;
}

PlacementOutcome place_within_limits(const PlacementContext& context, JobId job) {
  const State& state = context.trial.state();
  if (!state.queues().is_limited_by_key(state.job(job).queue)) return place_anywhere(context, job);
  const std::size_t before = context.trial.checkpoint();
  const std::uint32_t needed = state.job(job).members_needed();
  const PlacementOutcome outcome = place_anywhere(context, job);
  return outcome.is_placed ? keep_within_class_quota(context, job, before, needed) : outcome;
}

namespace {

/// Of all members of the job, or of those of one group: see stays_within.
bool stays_together(const State& state, JobId job, std::span<const Trial::Step> steps, LevelId level,
                    std::uint32_t group) {
  if (level.is_none()) return true;
  const auto domain_of = [&](NodeId n) { return state.cluster().topology().domain_of(level, n); };
  const auto is_of_group = [&](const Member& m) { return group == State::kAnyGroup || m.group == group; };
  DomainId chosen;
  std::size_t placed_now = 0;
  for (const Trial::Step& step : steps) {
    const auto* placement = std::get_if<Trial::Placement>(&step);
    if (placement == nullptr || !is_of_group(state.member(placement->member))) continue;
    const DomainId domain = domain_of(placement->node);
    if (domain.is_none() || (placed_now > 0 && domain != chosen)) return false;
    chosen = domain;
    ++placed_now;
  }
  std::size_t inside = 0;
  std::vector<DomainId> outside;  // the distinct domains of members placed before, other than the chosen one
  state.each_member(job, [&](MemberId, const Member& m) {
    if (!m.is_placed() || !is_of_group(m)) return;
    const DomainId domain = domain_of(m.node);
    if (domain == chosen)
      ++inside;
    else if (std::find(outside.begin(), outside.end(), domain) == outside.end() && outside.size() < 2)
      outside.push_back(domain);
  });
  const bool is_together = outside.empty();
  const bool was_split = outside.size() > 1 || inside > placed_now;
  return placed_now == 0 || is_together || was_split;
}

}  // namespace

bool stays_within(const State& state, JobId job, std::span<const Trial::Step> steps) {
  const Job& j = state.job(job);
  if (!stays_together(state, job, steps, j.within, State::kAnyGroup)) return false;
  if (j.spec.is_none()) return true;
  const std::vector<GangGroup>& groups = state.gang_spec(j.spec).groups;
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (!stays_together(state, job, steps, groups[g].within, static_cast<std::uint32_t>(g))) return false;
  return true;
}

}  // namespace ashlar
