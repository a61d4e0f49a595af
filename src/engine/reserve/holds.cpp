#include "engine/reserve/holds.h"

#include <algorithm>
#include <vector>

#include "state/ledger.h"

namespace ashlar {

void renew_holds(EngineData&, State& state, Cycle& cycle) {
  std::vector<JobId> over, begun;
  for (const Hold& hold : state.holds()) {
    if (hold.until <= cycle.plan.at) {
      over.push_back(hold.job);
      continue;
    }
    cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, hold.until);
    if (!hold.is_later()) continue;
    if (hold.from <= cycle.plan.at)
      begun.push_back(hold.job);
    else
      cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, hold.from);
  }
  for (const JobId job : over) Ledger(state).end_hold(job, cycle.plan.at);
  for (const JobId job : begun) Ledger(state).begin_hold(job);
  cycle.plan.examined += static_cast<std::uint32_t>(over.size() + begun.size());  // so that the step is recorded
}

}  // namespace ashlar
