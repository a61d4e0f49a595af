#include "state/jobs/gangs.h"

#include <algorithm>

#include "base/check.h"
#include "base/grown.h"

namespace ashlar {

void Gangs::define(GangSpecId id, const GangSpec& spec) {
  if (id.row() < specs_.size() && specs_[id.row()] == spec) return;  // duplicate
  ASHLAR_CHECK(!is_used(id));
  grown(specs_, id.row()) = spec;
  uses_.resize(specs_.size());
}

void Gangs::enter(JobId job, GangSpecId id) {
  ASHLAR_CHECK(id.row() < specs_.size());
  ++uses_[id.row()];
  groups_[job].resize(spec(id).groups.size());
}

void Gangs::leave(JobId job, GangSpecId id) {
  --uses_[id.row()];
  groups_.erase(job);
}

void Gangs::note_present(JobId job, std::uint32_t group, int change) {
  std::vector<GroupCount>& groups = groups_.at(job);
  ASHLAR_CHECK(group < groups.size());
  groups[group].present += static_cast<std::uint32_t>(change);
}

bool Gangs::note_placed(JobId job, GangSpecId id, std::uint32_t group, int change) {
  GroupCount& count = groups_.at(job)[group];
  const std::uint32_t before = count.placed;
  count.placed += static_cast<std::uint32_t>(change);
  return std::min(before, count.placed) < spec(id).groups[group].members_min;
}

std::uint32_t Gangs::minimum(GangSpecId id) const {
  std::uint32_t sum = 0;
  for (const GangGroup& group : spec(id).groups) sum += group.members_min;
  return sum;
}

std::vector<std::uint32_t> Gangs::lacking(JobId job, GangSpecId id) const {
  const std::vector<GroupCount>& counts = groups_of(job);
  std::vector<std::uint32_t> lacking;
  for (std::size_t g = 0; g < counts.size(); ++g) {
    const std::uint32_t minimum = spec(id).groups[g].members_min;
    lacking.push_back(minimum - std::min(minimum, counts[g].placed));
  }
  return lacking;
}

bool Gangs::has_minimum_present(JobId job, GangSpecId id) const {
  return std::ranges::equal(spec(id).groups, groups_of(job), [](const GangGroup& group, const GroupCount& has) {
    return has.present >= group.members_min;
  });
}

}  // namespace ashlar
