#include "engine/victims/victim.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace ashlar {

std::vector<MemberId> surplus_members(const State& state, JobId job) {
  const Job& j = state.job(job);
  if (!j.waits_for_surplus() || j.stopping.leaves_whole) return {};  // each is needed, or some are missing
  std::vector<std::uint32_t> beyond;                                 // by group
  if (j.spec.is_none()) {
    beyond.push_back(j.members_placed - j.members_min);
  } else {
    const std::vector<GangGroup>& groups = state.gang_spec(j.spec).groups;
    const std::vector<GroupCount>& counts = state.groups_of(job);
    for (std::size_t group = 0; group < groups.size(); ++group)
      beyond.push_back(counts[group].placed - std::min(counts[group].placed, groups[group].members_min));
  }
  std::vector<MemberId> placed;
  state.each_member(job, [&](MemberId id, const Member& m) {
    if (m.is_placed()) placed.push_back(id);
  });
  std::vector<MemberId> surplus;
  for (auto id = placed.rbegin(); id != placed.rend(); ++id) {
    std::uint32_t& left = beyond[j.spec.is_none() ? 0 : state.member(*id).group];
    if (left == 0) continue;
    --left;
    surplus.push_back(*id);
  }
  return surplus;
}

std::vector<Victim> without_the_covered(const std::vector<Victim>& victims) {
  std::vector<Victim> left;
  std::ranges::copy_if(victims, std::back_inserter(left), [&](const Victim& victim) {
    return victim.is_whole() || std::ranges::find(victims, Victim{victim.job}) == victims.end();
  });
  return left;
}

}  // namespace ashlar
