// GangSpec: the groups of a gang (leader and workers, prefill and decode, segments of ranks): how many members of each
// must start together with the others, and the domain of each group inside the gang's. What a member requests stands
// with the member, since members come and go one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"

namespace ashlar {

/// Members of a gang that must start with at least `members_min` of them, and share a domain.
struct GangGroup {
  std::uint32_t members_min = 0;  ///< 0: all of them are surplus
  LevelId within;                 ///< hard: all members of the group in one domain of this level, inside the gang's
  LevelId prefer;                 ///< soft: the same, if possible; none = what the gang prefers
  friend bool operator==(const GangGroup&, const GangGroup&) = default;
};

/// In the order of their first ranks. Gangs of like groups share a row.
struct GangSpec {
  static constexpr std::size_t kGroupsMax = 4096;
  static constexpr std::uint32_t kMinimumMax = 1u << 20;  ///< of one group, so that sums of minima stay small
  std::vector<GangGroup> groups;
  friend bool operator==(const GangSpec&, const GangSpec&) = default;
};

}  // namespace ashlar
