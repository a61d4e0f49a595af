// placement: places one job's waiting members inside a trial: a single member on the best node, a gang by best-fit
// domain (scored rule) or by whole nodes (consolidate rule). All-or-nothing at the members needed; the trial is
// unchanged on failure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/rng.h"
#include "engine/place/tables/fit_table.h"
#include "state/trial.h"

namespace ashlar {

/// Kinds of members placed, in one domain after the other, during the search for a gang of unlike members; bounds the
/// work to some ms.
inline constexpr std::uint32_t kRunsTriedMax = 4096;

/// A step of an exact search costs as much as a look at that many nodes.
inline constexpr std::uint64_t kLooksOfAStep = 4;

/// So does each of the counts that change when a pod is placed or taken off, on as many nodes: see Counts::work.
inline constexpr std::uint64_t kLooksOfACount = 2;

struct PlacementContext {
  Trial& trial;
  FitTables& fit_tables;
  const Profile& profile;
  Rng& draws;
  std::uint32_t members_max = UINT32_MAX;  ///< at most this many of the waiting members, e.g. by quota
  Millis at = Millis::max();               ///< when the job would start; max(): not said
};

struct PlacementOutcome {
  bool is_placed = false;
  std::optional<Reason> limit = std::nullopt;  ///< kLimitReached: at this one the search ended
  /// a place was found, but it would exceed this limit, which depends on the node
  std::optional<Reason> over_quota = std::nullopt;
};

/// How devices are found: one row for each PlacementRule.
struct PlacementRow {
  PlacementOutcome (*place)(const PlacementContext& context, JobId job);
  bool is_room_exact;  ///< whether a job that fits by the count of members on each node is always placed
};
const PlacementRow& placement_rule(const Profile& profile);

/// By Profile::placement, wherever there is capacity. For a gang below its minimum the minimum is placed, in a domain
/// with capacity for as many as possible; for one that has it, as many as fit.
PlacementOutcome place_anywhere(const PlacementContext& context, JobId job);

/// The same within the limits that depend on the node.
PlacementOutcome place_within_limits(const PlacementContext& context, JobId job);

/// The same with what is held for the job: see place_with_holds.
PlacementOutcome place_job(const PlacementContext& context, JobId job);

/// Whether the members that these steps place are in one domain of the level that their job must stay within, that of
/// the members placed before; and those of each group in one of the group's level. If labels or external binds have
/// split those since, any domain will do. Cost: O(members) for each such level of the job and its groups.
bool stays_within(const State& state, JobId job, std::span<const Trial::Step> steps);

/// The scored rule for gangs. `members` share one demand and constraint when is_uniform.
PlacementOutcome place_gang(const PlacementContext& context, JobId job);
/// The consolidate rule (Helios): see docs/reference/policies.md.
bool is_consolidated(const State& state, JobId job);  ///< whether the rule covers such a job
PlacementOutcome place_consolidated(const PlacementContext& context, JobId job);

}  // namespace ashlar
