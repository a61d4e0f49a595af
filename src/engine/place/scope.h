// Scope: where members are placed: everywhere, in one domain, or in the part of one domain that lies in another. Runs:
// the waiting members of a job by kind.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "state/state.h"

namespace ashlar {

struct Scope {
  LevelId level;
  DomainId domain;  ///< none = everywhere
  LevelId outer_level = {};
  DomainId outer = {};  ///< the nodes must be in this domain too; none = need not

  bool is_everywhere() const { return domain.is_none(); }
  bool is_whole_domain() const { return !domain.is_none() && outer.is_none(); }
  bool holds(const Topology& topology, NodeId n) const {
    return (domain.is_none() || topology.domain_of(level, n) == domain) &&
           (outer.is_none() || topology.domain_of(outer_level, n) == outer);
  }
  /// The part of a domain that lies in this scope, which is everywhere or a whole domain.
  Scope part(LevelId of, DomainId one) const { return {of, one, level, domain}; }
};

/// Waiting members of one group that share demand and constraint, in rank order.
struct Run {
  DemandId demand;
  ConstraintId constraint;
  std::uint32_t group = 0;
  std::vector<MemberId> members;
  std::int64_t devices = 0;  ///< milli, of one member
  std::int64_t devices_of_all() const { return devices * static_cast<std::int64_t>(members.size()); }
  bool is_like(const Run& other) const {
    return demand == other.demand && constraint == other.constraint && members.size() == other.members.size();
  }
};

/// Of the first `members_max` waiting members; runs with the largest device requests first.
std::vector<Run> runs_of(const State& state, JobId job, std::uint32_t members_max);
/// Of these members of one job.
std::vector<Run> runs_of(const State& state, std::span<const MemberId> members);

/// The waiting members of one group, or of all, with what holds for them inside the gang's domain.
struct Part {
  std::uint32_t group = State::kAnyGroup;
  LevelId within;  ///< a level of their own; none = wherever the gang may be
  LevelId prefer;
  std::vector<Run> runs;
  std::int64_t devices() const;
  bool is_like(const Part& other) const;
};

/// One part for each group, those with a domain of their own first, and among those the largest; one for all if the job
/// has no groups.
std::vector<Part> parts_of(const State& state, JobId job, std::vector<Run> runs);

}  // namespace ashlar
