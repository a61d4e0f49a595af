#include "engine/reserve/holds.h"

#include <algorithm>
#include <vector>

#include "state/ledger.h"

namespace ashlar {

void end_holds(EngineData&, State& state, Cycle& cycle) {
  std::vector<JobId> over;
  for (const Hold& hold : state.holds()) {
    if (hold.until <= cycle.plan.at)
      over.push_back(hold.job);
    else
      cycle.plan.look_again_at = std::min(cycle.plan.look_again_at, hold.until);
  }
  for (const JobId job : over) Ledger(state).end_hold(job, cycle.plan.at);
  cycle.plan.examined += static_cast<std::uint32_t>(over.size());  // so that the step is recorded
}

}  // namespace ashlar
