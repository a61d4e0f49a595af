#include "engine/place/scope.h"

#include <algorithm>

namespace ashlar {

namespace {

void add(std::vector<Run>& runs, const State& state, MemberId id, const Member& m) {
  auto it = std::find_if(runs.begin(), runs.end(), [&](const Run& r) {
    return r.demand == m.demand && r.constraint == m.constraint && r.group == m.group;
  });
  if (it == runs.end())
    it =
        runs.insert(runs.end(), Run{m.demand, m.constraint, m.group, {}, state.demand(m.demand).devices.milli_total()});
  it->members.push_back(id);
}

void order_by_devices(std::vector<Run>& runs) {
  if (runs.size() > 1)  // of one, sorting would still allocate
    std::stable_sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.devices > b.devices; });
}

}  // namespace

std::vector<Run> runs_of(const State& state, JobId job, std::uint32_t members_max) {
  std::vector<Run> runs;
  std::uint32_t taken = 0;
  if (members_max == 0) return runs;
  state.each_waiting(job, [&](MemberId id, const Member& m) {
    add(runs, state, id, m);
    return ++taken < members_max;
  });
  order_by_devices(runs);
  return runs;
}

std::vector<Run> runs_of(const State& state, std::span<const MemberId> members) {
  std::vector<Run> runs;
  for (const MemberId id : members) add(runs, state, id, state.member(id));
  order_by_devices(runs);
  return runs;
}

std::int64_t Part::devices() const {
  std::int64_t sum = 0;
  for (const Run& run : runs) sum += run.devices_of_all();
  return sum;
}

bool Part::is_like(const Part& other) const {
  return within == other.within && prefer == other.prefer &&
         std::ranges::equal(runs, other.runs, [](const Run& a, const Run& b) { return a.is_like(b); });
}

std::vector<Part> parts_of(const State& state, JobId job, std::vector<Run> runs) {
  const Job& j = state.job(job);
  if (j.spec.is_none()) return {Part{.within = {}, .prefer = j.prefer, .runs = std::move(runs)}};
  const std::vector<GangGroup>& groups = state.gang_spec(j.spec).groups;
  std::vector<Part> parts(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    parts[g] = {.group = static_cast<std::uint32_t>(g),
                .within = groups[g].within,
                .prefer = groups[g].prefer.is_none() ? j.prefer : groups[g].prefer,
                .runs = {}};
  for (Run& run : runs) parts[run.group].runs.push_back(std::move(run));
  std::erase_if(parts, [](const Part& part) { return part.runs.empty(); });
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    if (a.within.is_none() != b.within.is_none()) return b.within.is_none();
    return a.devices() > b.devices();
  });
  return parts;
}

}  // namespace ashlar
