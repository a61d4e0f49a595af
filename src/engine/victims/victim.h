// Victim: what gives way at once: a member beyond its gang's minimum, which the gang does without, or all placed
// members of a job.
#pragma once

#include <compare>
#include <vector>

#include "state/state.h"

namespace ashlar {

struct Victim {
  JobId job;
  MemberId member = {};  ///< none: all placed members of the job
  bool is_whole() const { return member.is_none(); }
  friend bool operator==(const Victim&, const Victim&) = default;
};

/// Calls `visit(MemberId, const Member&)` for the placed members that it takes off.
template <class Visit>
void each_placed(const State& state, const Victim& victim, Visit&& visit) {
  if (!victim.is_whole()) {
    if (state.member(victim.member).is_placed()) visit(victim.member, state.member(victim.member));
    return;
  }
  state.each_member(victim.job, [&](MemberId id, const Member& m) {
    if (m.is_placed()) visit(id, m);
  });
}

/// The placed members that the job runs on without, the last in rank order first: as many as each of its groups has
/// beyond its minimum.
std::vector<MemberId> surplus_members(const State& state, JobId job);
/// Without members of jobs that are stopped as a whole.
std::vector<Victim> without_the_covered(const std::vector<Victim>& victims);

}  // namespace ashlar
