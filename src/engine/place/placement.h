// placement: places one job's waiting members inside a trial: a single member on the best node, a gang by best-fit domain (scored rule) or by whole
// nodes (consolidate rule). All-or-nothing at the members needed; the trial is unchanged on failure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/place/fit_table.h"
#include "state/trial.h"

namespace ashlar {

/// Kinds of members placed, in one domain after the other, while a gang of unlike members looks for its place; bounds the work to some ms.
inline constexpr std::uint32_t kRunsTriedMax = 4096;

struct PlacementContext {
  Trial& trial;
  FitTables& fit_tables;
  const Profile& profile;
  Rng& draws;
  std::uint32_t members_max = UINT32_MAX;  ///< no more of the waiting members than this, e.g. by quota
};

struct PlacementOutcome {
  bool is_placed = false;
  bool is_limit_reached = false;  ///< a work budget ended the search
};

/// How devices are found: one row for each PlacementRule.
struct PlacementRow {
  PlacementOutcome (*place)(const PlacementContext& context, JobId job);
  bool is_room_exact;  ///< is a job that fits by the count of members on each node placed?
};
const PlacementRow& placement_rule(const Profile& profile);

/// By Profile::placement. Of a gang that is below its minimum the minimum is placed, in a domain with room for as many as possible; of one that has it,
/// as many as fit.
PlacementOutcome place_job(const PlacementContext& context, JobId job);

/// Do the members that these steps place sit in one domain of the level that their job must stay within, the one of those placed before? Where labels or
/// binds from outside have split those since, any domain will do. Cost: O(members) where the job has such a level.
bool stays_within(const State& state, JobId job, std::span<const Trial::Step> steps);

/// The scored rule for gangs. `members` share one demand and constraint when is_uniform.
PlacementOutcome place_gang(const PlacementContext& context, JobId job);
/// The consolidate rule (Helios): see docs/reference/policies.md.
bool is_consolidated(const State& state, JobId job);  ///< does the rule speak of such a job?
PlacementOutcome place_consolidated(const PlacementContext& context, JobId job);

}  // namespace ashlar
